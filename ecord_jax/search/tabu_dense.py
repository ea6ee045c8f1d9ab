"""One-flip tabu search on dense graphs, as a compiled loop of passes over all vertices.

Where a vertex has many neighbours, side by side in a row of a matrix, vectors go over all vertices
in less time than it takes to find the places of the neighbours among some order of gains. The loop
does what `ecord_jax.search.tabu_walk.walk_blocks` does, draw by draw, and follows
`ecord_jax.graphs.compiled`. Shapes: N vertices, T flips of a chunk.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ecord_jax.search.tabu_walk import BEST, BEST_TURN, TOTAL

__all__ = ["DenseState", "walk_dense"]


class DenseState(NamedTuple):
    """A chunk of a walk.

    Attributes:
        matrix: float [N, N], the weights.
        labels: int8 [N], 0 or 1.
        free: int32 [N], the flip before which each vertex is barred.
        fields: float64 [N], what flipping each vertex would gain if its side were 1.
        sides: float64 [N], 1 or -1.
        keys: float64 [N], the gains, -inf where a vertex is barred.
        draws: float64 [T], uniform numbers.
        tenures: int32 [T], below N.
        actions: int32 [T], the vertices flipped.
        rises: float64 [T + 1], by how much the cut has risen before the first flip and after each.
        summary: float64 [3]: by how much the cut has risen in all; at most; and after how many
            flips.
        step: flips before this chunk.
    """

    matrix: Any
    labels: Any
    free: Any
    fields: Any
    sides: Any
    keys: Any
    draws: Any
    tenures: Any
    actions: Any
    rises: Any
    summary: Any
    step: Any


def walk_dense(w: DenseState) -> None:
    """Does one flip for each draw."""
    fields, sides, keys, free = w.fields, w.sides, w.keys, w.free
    _look(w.matrix, w.labels, fields, sides)
    total, best, best_turn = 0.0, 0.0, 0
    w.rises[0] = 0.0
    for turn in range(len(w.draws)):
        now = w.step + turn
        vertex = _draw(w.draws[turn], _weigh(now, fields, sides, free, keys), keys)
        total += keys[vertex]
        _flip(w.matrix[vertex], sides[vertex], fields)
        sides[vertex] = -sides[vertex]
        free[vertex] = now + 1 + w.tenures[turn]
        w.actions[turn], w.rises[turn + 1] = vertex, total
        if total > best:
            best, best_turn = total, turn + 1
    w.summary[TOTAL], w.summary[BEST], w.summary[BEST_TURN] = total, best, best_turn
    for i in range(len(sides)):
        w.labels[i] = 1 if sides[i] < 0 else 0


def _look(matrix: Any, labels: Any, fields: Any, sides: Any) -> None:
    """Computes sides and fields."""
    for i in range(len(sides)):
        sides[i], fields[i] = 1 - 2 * labels[i], 0.0
    for i in range(len(sides)):
        _flip(matrix[i], -sides[i] / 2, fields)


def _flip(row: Any, side: float, fields: Any) -> None:
    """What the fields become when the vertex of a row leaves a side."""
    for j in range(len(fields)):
        fields[j] -= 2 * side * row[j]


def _weigh(now: int, fields: Any, sides: Any, free: Any, keys: Any) -> float:
    """Computes the keys; gives the largest."""
    top = -math.inf
    for i in range(len(keys)):
        keys[i] = fields[i] * sides[i] if free[i] <= now else -math.inf
        top = max(top, keys[i])
    return top


def _draw(draw: float, top: float, keys: Any) -> int:
    """One of the vertices of the largest key."""
    count = 0
    for i in range(len(keys)):
        count += 1 if keys[i] == top else 0
    rest = int(draw * count)
    for i in range(len(keys)):
        if keys[i] == top:
            if rest == 0:
                return i
            rest -= 1
    return -1
