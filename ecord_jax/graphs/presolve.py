"""Making a problem smaller before the search, without loss.

    reduction = presolve(graph)
    labels = reduction.lift(search(reduction.graph))

Vertices are taken away by exact rules, to a fixpoint (`ecord_jax.graphs.shrink`); what is left is
cut into its blocks, and those that are balanced or have one cycle are labelled at once
(`ecord_jax.graphs.blocks`). Shapes: N vertices of the graph, K of the reduced one.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ecord_jax.errors import EcordError
from ecord_jax.graphs.blocks import Settled, Split, settle, split
from ecord_jax.graphs.compiled import always_compiled
from ecord_jax.graphs.edges import exact_sum
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.reductions import Elimination, Problem, eliminate
from ecord_jax.graphs.rows import RULES

__all__ = ["Part", "Reduction", "compile_rules", "presolve"]

_Step = Elimination | Split | Settled

_INT_BITS = 62  # integers whose magnitudes sum to less than 2^62 never overflow in the loop
_FLOAT_BITS = 1000  # and floats that sum to less than 2^1000 do not become infinite
_FLOAT_DIGITS = 53  # up to which floats are added without rounding, so that integers do as well


class Part(NamedTuple):
    """A connected component of a reduced graph.

    Attributes:
      graph: the component; its names are those of its vertices in the reduced graph.
      vertices: int64 [number of its vertices], the same as an array.
    """

    graph: Graph
    vertices: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Reduction:
    """A smaller graph, and how labels of it become labels of the graph that it was made of.

    For all labels, source.cut(lift(labels)) = constant + graph.cut(labels) / scale, exactly for
    integer weights and up to rounding for others; and the best labels of `graph` become best ones
    of `source`.

    Attributes:
      source: the graph as given.
      graph: the reduced one, named 0..K-1. Its connected components are biconnected, unless weights
        are too large for the rules, see `presolve`; a vertex of `source` may have a copy in several
        of them.
      scale: the power of two by which its weights are multiplied, so that they are integers.
      constant: the cut of `source` that labels 0 of `graph` become: an int where the weights of
        `source` are integers.
      vertices: int64 [K], the vertex of `source` that each vertex of `graph` was: labels [N] of the
        one make start labels, labels[vertices], of the other.
      fired: how often each rule was used.
    """

    source: Graph
    graph: Graph
    scale: int
    constant: int | float
    vertices: np.ndarray
    fired: dict[str, int]
    _steps: tuple[_Step, ...] = ()

    @classmethod
    def unchanged(cls, graph: Graph) -> Reduction:
        """The reduction that leaves a graph as it is."""
        nothing = graph.cut(np.zeros(graph.num_vertices, np.int8))
        return cls(graph, graph, 1, nothing, np.arange(graph.num_vertices), {})

    @property
    def bound(self) -> int | float:
        """No cut of `source` is above it: for integer weights what positive edges are left for."""
        if self.source.weights.dtype.kind == "f":  # a constant may have been rounded down
            return self.source.positive_weight
        return self.constant + int(self.graph.positive_weight) // self.scale

    @property
    def optimal(self) -> bool:
        """Whether nothing is left to search for: the labels that `lift` gives are best.

        Up to rounding, where weights are fractions that are no binary ones.
        """
        return self.graph.num_vertices == 0

    @property
    def summary(self) -> str:
        """What became of the graph, on one line."""
        before, after = self.source, self.graph
        return (
            f"{before.num_vertices} vertices and {before.num_edges} edges reduced to "
            f"{after.num_vertices} and {after.num_edges}"
        )

    @functools.cached_property
    def parts(self) -> tuple[Part, ...]:
        """The connected components of `graph`, the largest first: each can be solved apart."""
        import scipy.sparse.csgraph

        matrix = self.graph.adjacency()
        count, number = scipy.sparse.csgraph.connected_components(matrix, directed=False)
        if count <= 1:
            return (Part(self.graph, np.arange(self.graph.num_vertices)),)[:count]
        place, of_edge = np.zeros(len(number), np.int64), number[self.graph.edges[:, 0]]
        by_vertex, by_edge = _group(number, count), _group(of_edge, count)
        parts = []
        for vertices, rows in zip(by_vertex, by_edge, strict=True):
            place[vertices] = np.arange(len(vertices))
            edges, weights = place[self.graph.edges[rows]], self.graph.weights[rows]
            parts.append(Part(Graph(edges, weights, vertices.tolist()), vertices))
        return tuple(sorted(parts, key=lambda part: -part.graph.num_vertices))

    def join(self, labels: Sequence[Any]) -> np.ndarray:
        """Makes labels of `graph` of those of its parts.

        Args:
          labels: for each of `parts`, in their order, its labels.

        Returns:
          int8 [K].

        Raises:
          EcordError: for labels that are not those of the parts.
        """
        if len(labels) != len(self.parts):
            raise EcordError(f"there are {len(labels)} lists of labels for {len(self.parts)} parts")
        joined = np.zeros(self.graph.num_vertices, np.int8)
        for part, own in zip(self.parts, labels, strict=True):
            joined[part.vertices] = part.graph.check_labels(own)
        return joined

    def lift(self, labels: Any) -> np.ndarray:
        """Makes labels of `source` of labels of `graph`: the best ones that agree with them.

        Args:
          labels: [K] integers or booleans, 0 or 1.

        Returns:
          int8 [N].

        Raises:
          EcordError: for labels of another length, type or value.
        """
        return _lift(self._steps, self.graph.check_labels(labels))

    def __repr__(self) -> str:
        return f"Reduction({self.summary})"


def presolve(graph: Graph) -> Reduction:
    """Reduces a graph as far as exact rules go, in time about linear in its edges.

    Args:
      graph: the graph. If the magnitudes of its integer weights sum to 2^62 or more, only
        components that are balanced or have one cycle are taken away.

    Returns:
      The reduced graph and the way back.

    Raises:
      EcordError: where weights sum beyond the largest float64.

    Example:
      >>> reduction = presolve(graph)
      >>> labels = reduction.lift(np.zeros(reduction.graph.num_vertices, int))
      >>> assert graph.cut(labels) == reduction.constant
    """
    kept = np.flatnonzero(graph.weights)
    problem = Problem(graph.num_vertices, graph.edges[kept], graph.weights[kept])
    scaled, exponent = _scale(problem.weights)
    # Forests, cycles and bipartite graphs need no rule, and no compiler for the rules.
    problem, settled = settle(problem._replace(weights=scaled))
    steps: list[_Step] = [settled]
    fired = dict.fromkeys((*RULES, "split", "balanced"), 0)
    fired["balanced"] = settled.num_parts
    more = exponent is not None and problem.num_vertices > 0
    while more:
        problem, elimination, counts = eliminate(problem)
        problem, blocks = split(problem)
        problem, settled = settle(problem)
        steps += [elimination, blocks, settled]
        counts |= {"split": len(blocks.kept) - len(blocks.block), "balanced": settled.num_parts}
        fired = {rule: count + counts[rule] for rule, count in fired.items()}
        # A vertex that lost edges with another block may fall to a rule now.
        more = problem.num_vertices > 0 and counts["split"] + counts["balanced"] > 0
    weights, scale = _unscale(problem.weights, exponent or 0)
    reduced = Graph.from_edges(problem.edges, weights, num_vertices=problem.num_vertices)
    vertices = np.arange(graph.num_vertices)
    for step in steps:
        vertices = vertices[step.kept]
    constant = graph.cut(_lift(steps, np.zeros(problem.num_vertices, np.int8)))
    return Reduction(graph, reduced, scale, constant, vertices, fired, tuple(steps))


def compile_rules(dtype: np.dtype) -> None:
    """Compiles the rules, so that small graphs are done in milliseconds, too; takes seconds.

    Args:
      dtype: of the weights of the graphs to come.
    """
    # Fractions that are no binary ones stay floats.
    weights = np.ones(10, dtype) if dtype.kind == "i" else np.geomspace(0.1, 1.0, 10)
    # Every vertex of a wheel goes by a rule, after which there is nothing to search for.
    spokes = [(0, v) for v in range(1, 6)]
    rim = [(v, v % 5 + 1) for v in range(1, 6)]
    with always_compiled():
        reduction = presolve(Graph.from_edges(spokes + rim, weights, 6))
        reduction.lift(np.zeros(reduction.graph.num_vertices, np.int8))


def _lift(steps: Sequence[_Step], labels: np.ndarray) -> np.ndarray:
    for step in reversed(steps):
        labels = step.lift(labels)
    return labels


def _scale(weights: np.ndarray) -> tuple[np.ndarray, int | None]:
    """Multiplies weights by a power of two, so that they can be halved often without loss.

    Args:
      weights: int64 or float64 [E].

    Returns:
      The weights, as integers where that is exact and they fit, and the power's exponent; None
      where the weights are too large for the rules, and are as they were.
    """
    bits = 0
    if weights.dtype.kind == "f":
        with np.errstate(over="ignore"):
            total = float(np.abs(weights).sum())
        bits, digits = _fraction_bits(weights), math.frexp(total)[1]
        if not math.isfinite(total):
            return weights, None
        if digits + bits > _FLOAT_DIGITS:
            return np.ldexp(weights, _FLOAT_BITS - digits), _FLOAT_BITS - digits
        weights = np.ldexp(weights, bits).astype(np.int64)
    whole = int(exact_sum(weights[weights > 0]) - exact_sum(weights[weights < 0]))
    room = _INT_BITS - whole.bit_length()
    return (weights << room, bits + room) if room >= 0 else (weights, None)


def _fraction_bits(weights: np.ndarray) -> int:
    """Binary digits after the point that floats have, the most that any has."""
    mantissas, exponents = np.frexp(weights)
    digits = np.ldexp(mantissas, _FLOAT_DIGITS).astype(np.int64)
    trailing = np.frexp((digits & -digits).astype(np.float64))[1] - 1
    return max(0, int((_FLOAT_DIGITS - trailing - exponents).max(initial=0)))


def _unscale(weights: np.ndarray, exponent: int) -> tuple[np.ndarray, int]:
    """Undoes `_scale` as far as weights stay integers; gives them and the scale that is left."""
    if weights.dtype.kind == "f":
        return np.ldexp(weights, -exponent), 1
    common = int(np.bitwise_or.reduce(weights)) if weights.size else 0
    spare = min(exponent, (common & -common).bit_length() - 1) if common else exponent
    return weights >> spare, 1 << (exponent - spare)


def _group(numbers: np.ndarray, count: int) -> list[np.ndarray]:
    """Gives the places of each of the numbers 0..count-1, in ascending order."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.cumsum(np.bincount(numbers, minlength=count))[:-1])
