"""What the readers of QUBO and Ising files share: lines of coefficients, made a Problem.

A line `i j v` is the linear coefficient of a variable where i = j. Shapes: N variables, L lines.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ecord_jax.errors import EcordError, GraphFileError
from ecord_jax.graphs.coefficients import Entries, collect
from ecord_jax.graphs.cut_form import Kind
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.lines import line_of
from ecord_jax.graphs.io.named import are_integers
from ecord_jax.graphs.problem import Problem

__all__ = [
    "KINDS",
    "check_unused",
    "count_repeats",
    "entry_lines",
    "find_bad_pair",
    "integer_names",
    "make_problem",
    "most_vertices",
    "refuse_repeats",
]

KINDS: dict[str, Kind] = {"SPIN": "ising", "BINARY": "qubo"}  # of dimod's vartypes
# Variables without a coefficient cost memory all the same: what a header may claim, and how much
# more for each coefficient that is there.
_MAX_UNUSED, _UNUSED_EACH = 10**6, 100


def make_problem(
    source: Source,
    kind: Kind,
    names: Sequence[Hashable],
    ends: np.ndarray,
    values: np.ndarray,
    *,
    offset: int | float = 0,
    linear: np.ndarray | None = None,
) -> Problem:
    """Makes a problem, to be minimised, of coefficients.

    Args:
      source: the file, for messages.
      kind: what the coefficients mean.
      names: [N] of the variables.
      ends: int64 [L, 2], places in the names; both the same in a linear one.
      values: int64 or float64 [L]; those of one pair, in either order, add up.
      offset: the constant.
      linear: [N] the linear coefficients where they are not among the others.

    Raises:
      GraphFileError: where they are no problem, or too large.
    """
    try:
        found, merged = collect(Entries(ends, values), len(names))
        couplings = Graph(merged.edges, merged.weights, names)
        return Problem(kind, "min", couplings, found if linear is None else linear, offset)
    except GraphFileError:
        raise
    except EcordError as error:
        raise source.error(str(error)) from None


def most_vertices(num_edges: int) -> int:
    """How many vertices or variables there may be where each of them takes some memory."""
    return _MAX_UNUSED + _UNUSED_EACH * num_edges


def check_unused(source: Source, line: int | None, claimed: int, num_entries: int) -> None:
    """Refuses a number of variables, or vertices, that is out of proportion to the entries."""
    most = most_vertices(num_entries)
    if claimed > most:
        cause = f"{claimed} variables, but {num_entries} coefficients or edges"
        raise source.error(cause, line=line, expected=f"no more than {most} variables")


def find_bad_pair(ends: np.ndarray) -> int | None:
    """Finds a pair that is there a second time, in either order, or of one variable.

    Args:
      ends: int64 [E, 2], places of variables.
    """
    loops = np.flatnonzero(ends[:, 0] == ends[:, 1])
    return int(loops[0]) if loops.size else _find_repeat(ends)


def refuse_repeats(source: Source, body: str, first_line: int, ends: np.ndarray) -> None:
    """Refuses lines of the same variables, in either order.

    Args:
      source: the file, for messages.
      body: what the lines are from, and `first_line` the number of its first one.
      ends: int64 [L, 2], places of variables.
    """
    row = _find_repeat(ends)
    if row is not None:
        line = line_of(body, first_line, row)
        raise source.error("the same variables are there twice", line=line, expected="one line")


def entry_lines(
    problem: Problem, variables: Sequence[Any], linear: Sequence[str], quadratic: Sequence[str]
) -> list[str]:
    """Lines `i i v` of all linear coefficients, zeros too, and then `i j v` of the quadratic ones.

    Args:
      problem: whose coefficients they are.
      variables: [N] what the lines call its variables; of two, the lesser one comes first.
      linear: [N] the coefficients, written.
      quadratic: [E] the same.
    """
    lines = [f"{name} {name} {value}" for name, value in zip(variables, linear, strict=True)]
    for (i, j), value in zip(problem.pairs.tolist(), quadratic, strict=True):
        first, second = sorted((variables[i], variables[j]))
        lines.append(f"{first} {second} {value}")
    return lines


def integer_names(problem: Problem) -> Sequence[int]:
    """The names if they are integers from 0 on, else 0..N-1."""
    names: Any = problem.names
    return names if are_integers(names) else range(problem.num_variables)


def count_repeats(ends: np.ndarray) -> int:
    """How many pairs, int64 [L, 2], are there before, in either order."""
    keys = np.sort(_keys(ends))
    return int(np.count_nonzero(keys[1:] == keys[:-1]))


def _keys(ends: np.ndarray) -> np.ndarray:
    count = int(ends.max(initial=0)) + 1
    return ends.min(axis=1) * count + ends.max(axis=1)


def _find_repeat(ends: np.ndarray) -> int | None:
    """The first pair that is there before, in either order."""
    keys = _keys(ends)
    order = np.argsort(keys, kind="stable")
    again = order[1:][keys[order][1:] == keys[order][:-1]]
    return int(again.min()) if again.size else None
