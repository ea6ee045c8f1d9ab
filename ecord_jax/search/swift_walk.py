"""One walk of `swift` on the host, as a compiled loop: a microsecond or two a flip at any |V|.

The weights of `ecord_jax.networks.swift` are kept with sums over leaves of 32 vertices and over 32
leaves, so that a vertex is drawn by looking at some of each, and a flip changes the flipped vertex,
its neighbours, and those whose time since the last flip crosses an edge of the time curve at this
moment: a ring of the last flips says which. All other weights change only with the globals, which
are refreshed now and then for all of them.

The loop follows `ecord_jax.graphs.compiled`; inner functions take bare arrays, since a NamedTuple
of many is slow to pass. What a flip needs of a vertex is one row of eight numbers, a cache line.
Shapes: N vertices, H half-edges, K edges of the time curve, T flips of a chunk.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

__all__ = [
    "BEST",
    "BEST_STEP",
    "BIN",
    "BUDGET",
    "CHANCE",
    "EVERY",
    "GAIN",
    "LAST",
    "SIDE",
    "STEP",
    "WalkState",
    "walk",
]

_SHIFT = 5  # 32 vertices a leaf, 32 leaves a bough
_RANGE = 300.0  # exponents are kept within it, around that of the largest weight at the refresh
_CANCELLED = 1e-4  # a sum that falls below this part of what it was is summed anew
_LONGEST_STAGNATION, _DEEPEST = 3.0, -3.0  # see `ecord_jax.networks.swift`
_COUNT_EVERY = 16  # peeks are computed anew when so many flips were done for each of them
# Columns of `rows`, places in `shared` and in `counts`.
GAIN, BIAS, PENALTY, PEEK, SIDE, LAST, BIN, CHANCE = 0, 1, 2, 3, 4, 5, 6, 7
CUT, BEST, TOP, COLDNESS, RISE, DIP, UNIT = 0, 1, 2, 3, 4, 5, 6
STEP, BUDGET, BEST_STEP, EVERY, COUNTED = 0, 1, 2, 3, 4


class WalkState(NamedTuple):
    """A walk between two chunks.

    Attributes:
        starts, near, weights: [N + 1], [H], [H]: the neighbours of each vertex, and the weights of
            the edges to them.
        tables: float64 [N, 3], bias, drift and penalty, see `SwiftTables`.
        curve: float64 [K + 1].
        edges: int64 [K], see `time_edges`.
        settings: float64 [14], the parameters of the globals, `temperature` [6], `penalty` [4] and
            `bend` [3], and the log of the mean degree.
        rows: float64 [N, 8]: of each vertex the gain; bias and penalty as the globals have them;
            the peek, in units of the weights; the side, 1 or -1; the step of the last flip; the
            bin of the time since; and the weight with which it is flipped, up to a factor.
        ring: int64 [a power of 2 above edges[-1]], the last flips.
        leaves, boughs: float64 [., 2], sums of the last column over 32 vertices, and over 32
            leaves; and the most that each has been since its terms were last summed.
        draws: float64 [T], uniform numbers.
        actions: int32 [T], the vertices flipped.
        cuts: float64 [T + 1], the cut before the first and after each.
        shared: float64 [7]: the cut, the best one, the largest score at the last refresh, 1 / T,
            the two factors of the bend, and 1 / s.
        counts: int64 [5]: flips done, the budget, when the best was met, flips between refreshes,
            and when peeks were last computed.
    """

    starts: Any
    near: Any
    weights: Any
    tables: Any
    curve: Any
    edges: Any
    settings: Any
    rows: Any
    ring: Any
    leaves: Any
    boughs: Any
    draws: Any
    actions: Any
    cuts: Any
    shared: Any
    counts: Any


def walk(w: WalkState) -> None:
    """Does one flip for each draw."""
    rows, shared, counts = w.rows, w.shared, w.counts
    # Rounding errors of float weights do not live for ever.
    if counts[STEP] == 0 or counts[STEP] - counts[COUNTED] > _COUNT_EVERY * len(rows):
        shared[CUT] = _count(w.starts, w.near, w.weights, rows)
        counts[COUNTED] = counts[STEP]
    if counts[STEP] == 0:
        shared[BEST] = shared[CUT]
    w.cuts[0] = shared[CUT]
    for turn in range(len(w.draws)):
        step = counts[STEP]
        if step % counts[EVERY] == 0:
            _look(w.settings, shared, counts, w.tables, rows)
            _weigh_all(rows, w.curve, shared, w.leaves, w.boughs)
        _age(step, w.edges, w.ring, rows, w.curve, shared, w.leaves, w.boughs)
        vertex = _draw(w.draws[turn], rows, w.leaves, w.boughs)
        shared[CUT] += rows[vertex, PEEK]
        w.ring[step & (len(w.ring) - 1)] = vertex
        rows[vertex, LAST], rows[vertex, BIN] = step, 0
        _flip(vertex, w.starts, w.near, w.weights, rows, w.curve, shared, w.leaves, w.boughs)
        w.actions[turn], w.cuts[turn + 1] = vertex, shared[CUT]
        counts[STEP] = step + 1
        if shared[CUT] > shared[BEST]:
            shared[BEST], counts[BEST_STEP] = shared[CUT], step + 1


def _count(starts: Any, near: Any, weights: Any, rows: Any) -> float:
    """Computes peeks anew; gives the cut."""
    cut = 0.0
    for i in range(len(rows)):
        peek = 0.0
        for e in range(starts[i], starts[i + 1]):
            agreement = weights[e] * rows[i, SIDE] * rows[near[e], SIDE]
            peek += agreement
            cut += (weights[e] - agreement) / 4
        rows[i, PEEK] = peek
    return cut


def _look(settings: Any, shared: Any, counts: Any, tables: Any, rows: Any) -> None:
    """Looks at the globals, see `swift_globals`, and puts them into what each vertex has."""
    s, size = settings, len(rows)
    p = counts[STEP] / counts[BUDGET]
    q = min((counts[STEP] - counts[BEST_STEP]) / size, _LONGEST_STAGNATION)
    h, d = math.log(counts[BUDGET] / (6.0 * size)), s[13]
    shared[COLDNESS] = math.exp(-(s[0] + s[1] * p + s[2] * p * p + s[3] * q + s[4] * h + s[5] * d))
    factor = max(1.0 + s[6] * p + s[7] * q, 0.0) * math.exp(s[8] * h + s[9] * d)
    shared[RISE], shared[DIP] = s[10] + s[11] * p, s[12]
    for i in range(size):
        rows[i, BIAS] = tables[i, 0] + tables[i, 1] * p
        rows[i, PENALTY] = tables[i, 2] * factor


def _weigh_all(rows: Any, curve: Any, shared: Any, leaves: Any, boughs: Any) -> None:
    top = -math.inf
    for i in range(len(rows)):
        rows[i, CHANCE] = _score(i, rows, curve, shared)
        top = max(top, rows[i, CHANCE])
    shared[TOP] = top
    for i in range(len(rows)):
        rows[i, CHANCE] = math.exp(max(rows[i, CHANCE] - top, -_RANGE))
    for j in range(len(leaves)):
        leaves[j, 0] = leaves[j, 1] = _sum(rows, CHANCE, j)
    for k in range(len(boughs)):
        boughs[k, 0] = boughs[k, 1] = _sum(leaves, 0, k)


def _score(i: int, rows: Any, curve: Any, shared: Any) -> float:
    """z_i / T, see `swift_scores`."""
    x = rows[i, PEEK] * shared[UNIT]
    loss = max(x, _DEEPEST)
    bend = shared[RISE] * x if x > 0 else shared[DIP] * loss * loss
    z = rows[i, GAIN] * x + bend + rows[i, BIAS] - rows[i, PENALTY] * curve[int(rows[i, BIN])]
    return z * shared[COLDNESS]


def _age(
    step: int, edges: Any, ring: Any, rows: Any, curve: Any, shared: Any, leaves: Any, boughs: Any
) -> None:
    """Moves the vertices on that enter the next bin of the time curve at this step."""
    for k in range(len(edges)):
        then = step - edges[k]
        if then < 0:
            break
        vertex = ring[then & (len(ring) - 1)]
        if rows[vertex, LAST] == then:
            rows[vertex, BIN] = k + 1
            _weigh(vertex, rows, curve, shared, leaves, boughs)


def _draw(draw: float, rows: Any, leaves: Any, boughs: Any) -> int:
    """Inverts the cumulated weights on three levels."""
    total = 0.0
    for k in range(len(boughs)):
        total += boughs[k, 0]
    rest, k = draw * total, 0
    while k < len(boughs) - 1 and rest >= boughs[k, 0]:
        rest -= boughs[k, 0]
        k += 1
    j, end = k << _SHIFT, min((k + 1) << _SHIFT, len(leaves))
    while j < end - 1 and rest >= leaves[j, 0]:
        rest -= leaves[j, 0]
        j += 1
    i, end = j << _SHIFT, min((j + 1) << _SHIFT, len(rows))
    while i < end - 1 and rest >= rows[i, CHANCE]:
        rest -= rows[i, CHANCE]
        i += 1
    return i


def _flip(
    vertex: int,
    starts: Any,
    near: Any,
    weights: Any,
    rows: Any,
    curve: Any,
    shared: Any,
    leaves: Any,
    boughs: Any,
) -> None:
    """Flips a vertex and weighs it and its neighbours anew."""
    side = rows[vertex, SIDE]
    rows[vertex, SIDE] = -side
    rows[vertex, PEEK] = -rows[vertex, PEEK]
    _weigh(vertex, rows, curve, shared, leaves, boughs)
    for e in range(starts[vertex], starts[vertex + 1]):
        other = near[e]
        rows[other, PEEK] -= 2.0 * weights[e] * side * rows[other, SIDE]
        _weigh(other, rows, curve, shared, leaves, boughs)


def _weigh(i: int, rows: Any, curve: Any, shared: Any, leaves: Any, boughs: Any) -> None:
    """Computes a vertex's weight, and the sums that it is in."""
    exponent = _score(i, rows, curve, shared) - shared[TOP]
    chance = math.exp(min(max(exponent, -_RANGE), _RANGE))
    change = chance - rows[i, CHANCE]
    rows[i, CHANCE] = chance
    change = _add(leaves, i >> _SHIFT, change, rows, CHANCE)
    _add(boughs, i >> 2 * _SHIFT, change, leaves, 0)


def _add(sums: Any, j: int, change: float, parts: Any, column: int) -> float:
    """Changes a sum, and gives by how much.

    Where little is left of what it has been it is summed anew: rounding errors would be most of it.
    """
    before = sums[j, 0]
    total = before + change
    if total < _CANCELLED * sums[j, 1]:
        total = sums[j, 1] = _sum(parts, column, j)
    sums[j, 0] = total
    sums[j, 1] = max(sums[j, 1], total)
    return total - before


def _sum(parts: Any, column: int, j: int) -> float:
    total = 0.0
    for i in range(j << _SHIFT, min((j + 1) << _SHIFT, len(parts))):
        total += parts[i, column]
    return total
