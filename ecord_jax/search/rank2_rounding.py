"""Angles to a cut, and what single and double flips make of it, as a compiled loop.

The loop follows `ecord_jax.graphs.compiled`. Shapes: N vertices, H half-edges.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["RoundingState", "round_angles"]

_LEAST = 1e-9  # of about the largest weight: gains below may be rounding errors


class RoundingState(NamedTuple):
    """Attributes:
    starts, near, weights: int64 [N + 1], int32 [H], float64 [H]: the neighbours of each vertex,
        and the weights of the edges to them, the largest of which is between 1/2 and 1.
    order: int64 [N], the vertices by their angles modulo pi.
    sides: int8 [N], 1 or -1: whether an angle is below pi; at the end those of the cut.
    gains: float64 [N], of each vertex by how much its flip raises the cut.
    """

    starts: Any
    near: Any
    weights: Any
    order: Any
    sides: Any
    gains: Any


def round_angles(r: RoundingState) -> None:
    """Takes the best of all half circles, then single and double flips until none of them pays."""
    _turn(r.starts, r.near, r.weights, r.order, r.sides, r.gains)
    _weigh(r.starts, r.near, r.weights, r.sides, r.gains)
    paid = True
    while paid:
        _flip_singles(r.starts, r.near, r.weights, r.sides, r.gains)
        paid = _flip_pairs(r.starts, r.near, r.weights, r.sides, r.gains)


def _turn(starts: Any, near: Any, weights: Any, order: Any, sides: Any, gains: Any) -> None:
    """Finds the best half circle: one that turns loses or gains one vertex after another."""
    _weigh(starts, near, weights, sides, gains)
    total = best = 0.0
    best_turn = 0
    for turn in range(len(order)):
        total += gains[order[turn]]
        _flip(order[turn], starts, near, weights, sides, gains)
        if total > best + _LEAST:
            best, best_turn = total, turn + 1
    # Now that all are flipped the cut is that of the start.
    for turn in range(best_turn):
        sides[order[turn]] = -sides[order[turn]]


def _weigh(starts: Any, near: Any, weights: Any, sides: Any, gains: Any) -> None:
    for i in range(len(sides)):
        gains[i] = 0.0
        for e in range(starts[i], starts[i + 1]):
            gains[i] += weights[e] * sides[near[e]] * sides[i]


def _flip(vertex: int, starts: Any, near: Any, weights: Any, sides: Any, gains: Any) -> None:
    side = sides[vertex]
    sides[vertex] = -side
    gains[vertex] = -gains[vertex]
    for e in range(starts[vertex], starts[vertex + 1]):
        gains[near[e]] -= 2 * weights[e] * side * sides[near[e]]


def _flip_singles(starts: Any, near: Any, weights: Any, sides: Any, gains: Any) -> None:
    """Goes over the vertices until no flip pays."""
    since, i = 0, 0
    while since < len(sides):
        since += 1
        if gains[i] > _LEAST:
            _flip(i, starts, near, weights, sides, gains)
            since = 0
        i = (i + 1) % len(sides)


def _flip_pairs(starts: Any, near: Any, weights: Any, sides: Any, gains: Any) -> bool:
    """Goes over the edges once; gives whether it paid to flip both ends of any.

    Where no single flip pays, none of two vertices that are not adjacent does.
    """
    paid = False
    for i in range(len(sides)):
        for e in range(starts[i], starts[i + 1]):
            j = near[e]
            if j > i and gains[i] + gains[j] - 2 * weights[e] * sides[i] * sides[j] > _LEAST:
                _flip(i, starts, near, weights, sides, gains)
                _flip(j, starts, near, weights, sides, gains)
                paid = True
    return paid
