"""The graph whose maximum cuts are the best values of a quadratic problem.

With spins s = 2x - 1 we have 4 x_i x_j = 1 + s_i + s_j + s_i s_j and 4 x_i = 2 + 2 s_i. So four
times a QUBO is, up to a constant, the energy of couplings q_ij and fields 2 q_ii + sum_j q_ij,
which are integers where Q's entries are. A field acts as a coupling to one further spin, the
ancilla, that is +1. Since s_i s_j = 1 - 2 [i and j on different sides], an energy to be minimised
is that of all spins equal, minus twice the cut of the graph whose weights are the couplings.

See F. Barahona, M. Jünger, G. Reinelt, Math. Program. 44 (1989) 127-137. Shapes: N variables, E
pairs of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Literal

import numpy as np

from ecord_jax.errors import EcordError
from ecord_jax.graphs.coefficients import Entries, field_sums, join, merge_entries
from ecord_jax.graphs.graph import Graph

__all__ = ["STEP", "Kind", "cut_graph", "edge_indicator", "rounding"]

Kind = Literal["max-cut", "qubo", "ising"]

# How much better the objective becomes with each unit of cut weight.
STEP = {"max-cut": Fraction(1), "qubo": Fraction(1, 2), "ising": Fraction(2)}

_ANCILLA = "ancilla"


def cut_graph(kind: Kind, maximise: bool, couplings: Graph, linear: np.ndarray) -> Graph:
    """Makes the graph to cut.

    Args:
      kind: what the coefficients mean.
      maximise: whether the objective is to be maximised.
      couplings: the variables, with their quadratic coefficients as weights.
      linear: int64 or float64 [N].

    Returns:
      The variables in their order and, where one of them has a field, the ancilla after them. Its
      weights are the couplings, of a QUBO four times those; integers where all coefficients are,
      else the float nearest to each.

    Raises:
      EcordError: where a weight is beyond 64 bits.
    """
    if kind == "max-cut":
        return couplings
    size = couplings.num_vertices
    variables, fields = np.arange(size), linear
    if kind == "qubo":
        ends = couplings.edges.T
        variables = np.concatenate([variables, variables, *ends])
        fields = join(linear, linear, couplings.weights, couplings.weights)
    variables, fields = field_sums(variables, fields, size)
    kept = fields != 0
    names = _with_ancilla(couplings.names) if kept.any() else couplings.names
    spokes = np.stack([variables[kept], np.full(np.count_nonzero(kept), size)], axis=1)
    ends = np.concatenate([couplings.edges, spokes])
    merged = merge_entries(Entries(ends, join(couplings.weights, fields[kept])), len(names))
    weights = merged.weights if not maximise else _opposite(merged.weights)
    return Graph(merged.edges, weights, names)


def rounding(kind: Kind, couplings: Graph, linear: np.ndarray, graph: Graph) -> float:
    """How far, at most, a cut of `cut_graph` is from what it would be without rounded weights."""
    if kind != "qubo" or graph.weights.dtype.kind == "i":
        return 0.0
    values = join(linear, couplings.weights)
    # Every sum of fields is below `total`. If all coefficients are multiples of its last place, so
    # are the sums, and none of them is rounded.
    total = 4 * np.abs(values).sum()
    if np.isfinite(total) and not np.fmod(values, np.spacing(total)).any():
        return 0.0
    return float(np.spacing(np.abs(graph.weights)).sum())  # twice what is possible


def edge_indicator(graph: Graph) -> tuple[np.ndarray, list[int | float]]:
    """The cut as a function of sides x: the sum of w (x_i + x_j - 2 x_i x_j) over the edges.

    Returns:
      Its linear coefficients [N] and its quadratic ones, of the edges in their order.
    """
    ends = np.concatenate([*graph.edges.T])
    vertices, sums = field_sums(ends, join(graph.weights, graph.weights), graph.num_vertices)
    linear = np.zeros(graph.num_vertices, sums.dtype)
    linear[vertices] = sums
    return linear, [-2 * weight for weight in graph.weights.tolist()]


def _with_ancilla(names: Sequence[Hashable]) -> Sequence[Hashable]:
    """The names and one more that is none of them: the next number after a range."""
    if isinstance(names, range) and names.step == 1:
        return range(names.start, names.stop + 1)
    taken, name = set(names), _ANCILLA
    while name in taken:
        name += "_"
    return (*names, name)


def _opposite(weights: np.ndarray) -> np.ndarray:
    if weights.dtype.kind == "i" and weights.size and weights.min() == np.iinfo(np.int64).min:
        raise EcordError("a coefficient of -2^63 has no opposite of 64 bits")
    return 0 - weights  # not -weights, so that a zero stays positive
