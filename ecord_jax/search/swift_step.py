"""What a flip of `swift` on the host consists of, for the loops that do thousands.

A step changes the weights of the flipped vertex, of its neighbours, and of those whose time since
the last flip crosses an edge of the time curve at this moment, for which a ring of the last flips
is kept. They are collected first, so that all their exponentials are computed as vectors, at once.
All other weights of `ecord_jax.networks.swift` change only with the globals, which are refreshed
now and then for all vertices.

What a step needs of a vertex is one row, half a cache line; and time changes a weight by a factor
that the ring has all of, so that no rows are read for it. Shapes are those of
`ecord_jax.search.swift_state`. Functions take bare arrays, since a NamedTuple of many is slow to
pass, and are compiled with the loops that call them.
"""

from __future__ import annotations

import math
from typing import Any

from ecord_jax.graphs.compiled import prefetch
from ecord_jax.networks.swift import LONG
from ecord_jax.search.swift_state import (
    BEST,
    BEST_STEP,
    BUDGET,
    COLDNESS,
    COUNTED,
    CURVE,
    CUT,
    DIP,
    LANES,
    PAST,
    PROGRESS,
    RISE,
    STEP,
    TOP,
    UNIT,
)
from ecord_jax.search.swift_sums import sum_up

__all__ = [
    "AHEAD",
    "DEEPEST",
    "NUMBERS",
    "age",
    "begin",
    "exp",
    "fetch_edges",
    "fetch_near",
    "fetch_older",
    "flip",
    "look",
    "note",
    "take",
    "weigh_all",
]

_RANGE = 300.0  # exponents are kept within it, around that of the largest weight at the refresh
_LONGEST_STAGNATION, DEEPEST = 3.0, -3.0  # see `ecord_jax.networks.swift`
_LONG = math.log(LONG)
_COUNT_EVERY = 16  # peeks are computed anew when so many flips were done for each of them
_SQUARINGS, _SMALLER = 12, 2.0**-12  # see `exp`
NUMBERS = 8  # in a cache line
AHEAD = 4  # steps, for which memory is waited less than they take


def begin(starts: Any, near: Any, weights: Any, rows: Any, shared: Any, counts: Any) -> float:
    """Gives the cut, which is computed anew from time to time with all peeks.

    So rounding errors of float weights do not live for ever.
    """
    if counts[STEP] == 0 or counts[STEP] - counts[COUNTED] > _COUNT_EVERY * len(rows):
        shared[CUT] = _count(starts, near, weights, rows)
        counts[COUNTED] = counts[STEP]
    if counts[STEP] == 0:
        shared[BEST] = shared[CUT]
    return shared[CUT]


def _count(starts: Any, near: Any, weights: Any, rows: Any) -> float:
    """Computes peeks anew; gives the cut."""
    cut = 0.0
    for i in range(len(rows)):
        peek = 0.0
        for e in range(starts[i], starts[i + 1]):
            agreement = weights[e] * rows[i].side * rows[near[e]].side
            peek += agreement
            cut += (weights[e] - agreement) / 4
        rows[i].peek = peek
    return cut


def look(settings: Any, shared: Any, counts: Any, size: int, places: Any, held: Any) -> None:
    """Looks at the globals, see `swift_globals`."""
    s = settings
    p = (counts[STEP] + counts[PAST]) / counts[BUDGET]
    q = min((counts[STEP] - counts[BEST_STEP]) / size, _LONGEST_STAGNATION)
    h = math.log(counts[BUDGET] / (6.0 * size))
    g = max(h - _LONG, 0.0)
    level = s[0] + s[1] * p + s[2] * p * p + s[3] * q + s[4] * h + s[5] * h * p
    shared[COLDNESS] = math.exp(-level - s[12] * g - s[13] * g * p)
    factor = max(1.0 + s[6] * p + s[7] * q, 0.0) * math.exp(s[8] * h + s[14] * g)
    shared[PROGRESS], shared[RISE], shared[DIP] = p, s[9] + s[10] * p, s[11]
    curve, length = s[CURVE:], len(s) - CURVE - 1.0
    for k in range(len(held) - 1):
        moved = places[0, k] + s[CURVE - 1] * p * places[1, k]
        place = length * min(max(moved, 0.0), 1.0)
        knot = min(int(place), len(curve) - 2)
        held[k] = factor * (curve[knot] + (place - knot) * (curve[knot + 1] - curve[knot]))


def weigh_all(rows: Any, bins: Any, held: Any, shared: Any, sums: Any, levels: Any) -> None:
    top = -math.inf
    for i in range(len(rows)):
        sums[i] = _score(i, rows, bins, held, shared)
        top = max(top, sums[i])
    shared[TOP] = top
    for i in range(len(rows)):
        sums[i] = exp(sums[i] - top)
    sum_up(1, sums, levels)


def _score(i: int, rows: Any, bins: Any, held: Any, shared: Any) -> float:
    """z_i / T, see `swift_scores`."""
    row = rows[i]
    x = row.peek * shared[UNIT]
    loss = min(max(x, DEEPEST), 0.0)
    bend = shared[RISE] * max(x, 0.0) + shared[DIP] * loss * loss
    bias = row.bias + row.drift * shared[PROGRESS]
    z = row.gain * x + bend + bias - row.penalty * held[bins[i]]
    return z * shared[COLDNESS]


def exp(x: float) -> float:
    """exp(x) for |x| up to 300, others as these; to 1e-8, by what vectors can do.

    The Taylor series at x / 4096, squared twelve times.
    """
    y = min(max(x, -_RANGE), _RANGE) * _SMALLER
    series = y * (1 / 24 + y * (1 / 120 + y * (1 / 720)))
    power = 1.0 + y * (1.0 + y * (1 / 2 + y * (1 / 6 + series)))
    for _ in range(_SQUARINGS):
        power *= power
    return power


def fetch_edges(vertex: int, starts: Any, near: Any, weights: Any) -> None:
    """Asks the memory for the first edge of a vertex and for the last."""
    for e in (starts[vertex], starts[vertex + 1] - 1):
        prefetch(near, e)
        prefetch(weights, e)


def fetch_near(
    vertex: int, most: int, starts: Any, near: Any, rows: Any, bins: Any, sums: Any
) -> None:
    """Asks the memory for what `flip` will read of the neighbours, but for so many at most."""
    first = starts[vertex]
    for e in range(first, min(starts[vertex + 1], first + most)):
        prefetch(rows, near[e])
        prefetch(bins, near[e])
        prefetch(sums, near[e])


def fetch_older(step: int, edges: Any, ring: Any, faded: Any, bins: Any, sums: Any) -> None:
    """Asks the memory for what ageing will read at a step, and for that part of the ring before."""
    around = len(ring) - 1
    for k in range(len(edges)):
        place = (step - edges[k]) & around
        prefetch(bins, ring[place])
        prefetch(sums, ring[place])
        if step % NUMBERS == 0:
            prefetch(ring, (place + 4 * NUMBERS) & around)
            prefetch(faded, (place + 2 * NUMBERS) & around)


def note(vertex: int, step: int, rows: Any, bins: Any, ring: Any, faded: Any) -> None:
    """Keeps a flip in the ring, and the one before of this vertex no more."""
    row, place = rows[vertex], step & (len(ring) - 1)
    before = ring[row.place]
    ring[row.place] = -1 if before == vertex else before
    ring[place], faded[place] = vertex, row.penalty
    row.place, bins[vertex] = place, 0


def age(
    step: int, edges: Any, ring: Any, faded: Any, bins: Any, held: Any, some: Any, changes: Any
) -> int:
    """Collects the vertices that are in the next bin of the time curve from this step on.

    Gives their number; `changes` is by how much what they are worth rises.
    """
    around, many = len(ring) - 1, 0
    for k in range(len(edges)):
        then = step - edges[k]
        if then < 0:
            break
        vertex = ring[then & around]
        if vertex >= 0:
            bins[vertex] = k + 1
            some[many], changes[many] = vertex, faded[then & around] * (held[k] - held[k + 1])
            many += 1
    return many


def flip(
    vertex: int,
    aged: int,
    starts: Any,
    near: Any,
    weights: Any,
    rows: Any,
    bins: Any,
    held: Any,
    shared: Any,
    some: Any,
    exponents: Any,
    sums: Any,
) -> int:
    """Flips a vertex; weighs it, its neighbours and those that have aged; gives their number.

    One that is both comes twice, and its last weight is the one that counts.
    """
    side, top = rows[vertex].side, shared[TOP]
    rows[vertex].side = -side
    rows[vertex].peek = -rows[vertex].peek
    some[aged], exponents[aged] = vertex, _score(vertex, rows, bins, held, shared) - top
    first, last = starts[vertex], starts[vertex + 1]
    many = aged + 1
    for e in range(first, last):
        other = near[e]
        rows[other].peek -= 2.0 * weights[e] * side * rows[other].side
        some[many], exponents[many] = other, _score(other, rows, bins, held, shared) - top
        many += 1
    _weigh(many, aged, some, exponents, shared, sums)
    return many


def _weigh(many: int, aged: int, some: Any, exponents: Any, shared: Any, sums: Any) -> None:
    """Makes weights of the exponents of collected vertices; those of the aged are changes."""
    for m in range(aged):
        exponents[m] *= shared[COLDNESS]
    for m in range((many + LANES - 1) // LANES * LANES):
        exponents[m] = exp(exponents[m])
    for m in range(aged):
        exponents[m] *= sums[some[m]]


def take(step: int, shared: Any, counts: Any) -> None:
    """Counts a flip, and keeps the cut if it is the best."""
    counts[STEP] = step
    if shared[CUT] > shared[BEST]:
        shared[BEST], counts[BEST_STEP] = shared[CUT], step
