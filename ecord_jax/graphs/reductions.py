"""Taking vertices away by exact rules, and labelling them afterwards.

The rules are those of `ecord_jax.graphs.shrink`. Shapes: N vertices, E edges, N' and E' of those
that are left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ecord_jax.graphs.compiled import run_loop
from ecord_jax.graphs.rows import NUM_SHELVES, REMOVED, RULES, Rows
from ecord_jax.graphs.shrink import shrink

__all__ = ["Elimination", "Problem", "eliminate"]


class Problem(NamedTuple):
    """A graph as bare arrays.

    Attributes:
      num_vertices: N.
      edges: int64 [E, 2], different, u < v.
      weights: int64 or float64 [E], not 0.
    """

    num_vertices: int
    edges: np.ndarray
    weights: np.ndarray


class Elimination(NamedTuple):
    """Which vertices were taken away, and how to label them.

    Attributes:
      kept: int64 [N'], the others.
      gone: int64 [N - N'], in the order in which they went.
      near: int64 [3 (N - N')], the three vertices that the label of each depends on.
      pulls: [3 (N - N')], the weights of the edges to them; 0 where there are fewer.
    """

    kept: np.ndarray
    gone: np.ndarray
    near: np.ndarray
    pulls: np.ndarray

    def lift(self, labels: np.ndarray) -> np.ndarray:
        """Completes labels int8 [N'] to int8 [N], in the best way that there is."""
        whole = np.zeros(len(self.kept) + len(self.gone), np.int8)
        whole[self.kept] = labels
        record = _Record(whole, self.gone, self.near, self.pulls)
        return run_loop(_complete, record, len(self.gone)).labels


def eliminate(problem: Problem) -> tuple[Problem, Elimination, dict[str, int]]:
    """Takes vertices away until there is no rule for any that is left.

    Args:
      problem: integers must have magnitudes that sum to less than 2^62. Weights are halved where
        they are even, so that those of a high power of two, floats too, lose nothing.

    Returns:
      What is left, how to undo it, and how often each rule was used.
    """
    size = max(problem.num_vertices, len(problem.edges))
    rows = run_loop(shrink, _make_rows(problem), size)
    kept, alive = np.flatnonzero(rows.degrees), np.flatnonzero(rows.weights)
    number = np.zeros(problem.num_vertices, np.int64)
    number[kept] = np.arange(len(kept))
    edges = number[rows.ends.reshape(-1, 2)[alive]]
    removed = int(rows.counts[REMOVED])
    elimination = Elimination(
        kept=kept,
        gone=rows.gone[:removed].copy(),
        near=rows.near[: 3 * removed].copy(),
        pulls=rows.pulls[: 3 * removed].copy(),
    )
    fired = dict(zip(RULES, rows.counts.tolist(), strict=False))
    return Problem(len(kept), edges, rows.weights[alive]), elimination, fired


class _Record(NamedTuple):
    """Labels int8 [N], and the fields of an Elimination."""

    labels: np.ndarray
    gone: np.ndarray
    near: np.ndarray
    pulls: np.ndarray


def _complete(record: _Record) -> None:
    """Labels the vertices that are gone, the last one first."""
    for i in range(len(record.gone) - 1, -1, -1):
        field = record.pulls[3 * i] * (1 - 2 * record.labels[record.near[3 * i]])
        for j in (3 * i + 1, 3 * i + 2):
            field += record.pulls[j] * (1 - 2 * record.labels[record.near[j]])
        record.labels[record.gone[i]] = 1 if field > 0 else 0


def _make_rows(problem: Problem) -> Rows:
    """The state before the loop: no edge is in a row yet."""
    size, halves = problem.num_vertices, 2 * len(problem.edges)
    shelves = halves + 3 * size
    buckets = shelves + NUM_SHELVES
    nodes = np.arange(buckets + _power_of_two(size))
    return Rows(
        rows=halves,
        waiting=halves + size,
        compared=halves + 2 * size,
        shelves=shelves,
        buckets=buckets,
        after=nodes,
        before=nodes.copy(),
        ends=problem.edges.ravel().copy(),
        weights=problem.weights.copy(),
        degrees=np.zeros(size, np.int64),
        shelf=np.full(size, -1),
        table=np.full(_power_of_two(halves), -1),
        row_hashes=np.full(size, -1),
        set_hashes=np.full(size, -1),
        gone=np.zeros(size, np.int64),
        near=np.zeros(3 * size, np.int64),
        pulls=np.zeros(3 * size, problem.weights.dtype),
        counts=np.zeros(len(RULES) + 1, np.int64),
    )


def _power_of_two(least: int) -> int:
    return 1 << max(least - 1, 1).bit_length()
