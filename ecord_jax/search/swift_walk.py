"""One walk of `swift` on the host, as a compiled loop: a microsecond a flip at any |V|.

A step changes the weights of the flipped vertex, of its neighbours, and of those whose time since
the last flip crosses an edge of the time curve at this moment, for which a ring of the last flips
is kept. They are collected first, so that their rows come from memory side by side and all their
exponentials are computed as vectors, at once. All other weights of `ecord_jax.networks.swift`
change only with the globals, which are refreshed now and then for all vertices. Weights are kept
with sums over 32 of them, over 32 sums and so on, so that a vertex is drawn by looking at some of
each.

The loop follows `ecord_jax.graphs.compiled`; inner functions take bare arrays, since a NamedTuple
of many is slow to pass. On a large graph a flip's time is that of waiting for memory. What it needs
of a vertex is one row, a cache line; and time changes a weight by a factor that the ring has all
of, so that no rows are read for it.
Where a vertex has many neighbours vectors go over all vertices at each flip instead: their numbers
lie side by side in columns, and the weights of their edges in rows of a matrix. Shapes are those of
`ecord_jax.search.swift_state`.
"""

from __future__ import annotations

import math
from typing import Any

from ecord_jax.graphs.compiled import prefetch
from ecord_jax.networks.swift import LONG
from ecord_jax.search.swift_state import (
    BASE,
    BEST,
    BEST_STEP,
    BIAS,
    BUDGET,
    COLDNESS,
    COUNTED,
    CUT,
    DIP,
    DRIFT,
    EVERY,
    FACE,
    FIELD,
    GAIN,
    LANES,
    LAST,
    PAST,
    PEEK,
    PENALTY,
    PROGRESS,
    RISE,
    SIDE,
    STEP,
    TOP,
    UNIT,
    WalkState,
)
from ecord_jax.search.swift_sums import draw, put, sum_up

__all__ = ["walk", "walk_dense"]

_RANGE = 300.0  # exponents are kept within it, around that of the largest weight at the refresh
_LONGEST_STAGNATION, _DEEPEST = 3.0, -3.0  # see `ecord_jax.networks.swift`
_LONG = math.log(LONG)
_COUNT_EVERY = 16  # peeks are computed anew when so many flips were done for each of them
_SQUARINGS, _SMALLER = 12, 2.0**-12  # see `_exp`
_CACHED = 1 << 14  # rows of so many vertices lie in the processor's cache anyway
_WIDTH, _NUMBERS = 8, 8  # columns of a row, and numbers in a cache line
_AHEAD = 4  # steps, for which memory is waited less than they take


def walk(w: WalkState) -> None:
    """Does one flip for each draw."""
    rows, shared, counts = w.rows, w.shared, w.counts
    w.cuts[0] = _begin(w.starts, w.near, w.weights, rows, shared, counts)
    for turn in range(len(w.draws)):
        step = counts[STEP]
        if step % counts[EVERY] == 0:
            _look(w.settings, shared, counts, len(rows), w.curve, w.held)
            _weigh_all(rows, w.bins, w.held, shared, w.sums, w.peaks, w.levels)
        vertex = draw(w.draws[turn], w.sums, w.levels)
        # What takes no waiting is done between what is asked for and what needs it.
        if len(rows) > _CACHED:
            _fetch(vertex, w.starts, w.near, w.weights, rows)
            _fetch_older(step + _AHEAD, w.edges, w.ring, w.faded, w.bins, w.sums)
        _note(vertex, step, rows, w.bins, w.ring, w.faded)
        aged = _age(step + 1, w.edges, w.ring, w.faded, w.bins, w.held, w.some, w.exponents)
        shared[CUT] += rows[vertex, PEEK]
        many = _flip(
            vertex,
            aged,
            w.starts,
            w.near,
            w.weights,
            rows,
            w.bins,
            w.held,
            shared,
            w.some,
            w.exponents,
            w.sums,
        )
        put(many, w.some, w.exponents, w.sums, w.peaks, w.levels)
        w.actions[turn], w.cuts[turn + 1] = vertex, shared[CUT]
        _take(step + 1, shared, counts)


def walk_dense(w: WalkState) -> None:
    """Does one flip for each draw, by passes over all vertices."""
    rows, columns, shared, counts = w.rows, w.columns, w.shared, w.counts
    w.cuts[0] = _begin(w.starts, w.near, w.weights, rows, shared, counts)
    for i in range(len(rows)):
        columns[FACE, i], columns[FIELD, i] = rows[i, SIDE], rows[i, PEEK] * rows[i, SIDE]
    for turn in range(len(w.draws)):
        step = counts[STEP]
        if step % counts[EVERY] == 0:
            _look(w.settings, shared, counts, len(rows), w.curve, w.held)
            _set_peeks(rows, columns)
            _weigh_all(rows, w.bins, w.held, shared, w.sums, w.peaks, w.levels)
            _set_bases(rows, w.bins, w.held, shared, columns[BASE])
        vertex = draw(w.draws[turn], w.sums, w.levels)
        columns[BASE, vertex] += rows[vertex, PENALTY] * (w.held[w.bins[vertex]] - w.held[0])
        _note(vertex, step, rows, w.bins, w.ring, w.faded)
        many = _age(step + 1, w.edges, w.ring, w.faded, w.bins, w.held, w.some, w.exponents)
        for m in range(many):
            columns[BASE, w.some[m]] += w.exponents[m]
        side = columns[FACE, vertex]
        shared[CUT] += columns[FIELD, vertex] * side
        columns[FACE, vertex] = rows[vertex, SIDE] = -side
        _pass(w.matrix[vertex], side, columns, shared, w.sums)
        sum_up(w.sums, w.peaks, w.levels)
        w.actions[turn], w.cuts[turn + 1] = vertex, shared[CUT]
        _take(step + 1, shared, counts)
    _set_peeks(rows, columns)


def _begin(starts: Any, near: Any, weights: Any, rows: Any, shared: Any, counts: Any) -> float:
    """Gives the cut, which is computed anew from time to time with all peeks.

    So rounding errors of float weights do not live for ever.
    """
    if counts[STEP] == 0 or counts[STEP] - counts[COUNTED] > _COUNT_EVERY * len(rows):
        shared[CUT] = _count(starts, near, weights, rows)
        counts[COUNTED] = counts[STEP]
    if counts[STEP] == 0:
        shared[BEST] = shared[CUT]
    return shared[CUT]


def _set_peeks(rows: Any, columns: Any) -> None:
    for i in range(len(rows)):
        rows[i, PEEK] = columns[FIELD, i] * columns[FACE, i]


def _set_bases(rows: Any, bins: Any, held: Any, shared: Any, bases: Any) -> None:
    for i in range(len(rows)):
        bias = rows[i, BIAS] + rows[i, DRIFT] * shared[PROGRESS]
        bases[i] = bias - rows[i, PENALTY] * held[bins[i]]


def _pass(row: Any, side: float, columns: Any, shared: Any, sums: Any) -> None:
    """Changes the fields as a vertex with these weights leaves a side; weighs all vertices."""
    gains, bases, faces, fields = columns[GAIN], columns[BASE], columns[FACE], columns[FIELD]
    unit, rise, dip = shared[UNIT], shared[RISE], shared[DIP]
    coldness, top = shared[COLDNESS], shared[TOP]
    for i in range(len(row)):
        fields[i] -= 2.0 * side * row[i]
        x = fields[i] * faces[i] * unit
        loss = min(max(x, _DEEPEST), 0.0)
        z = gains[i] * x + rise * max(x, 0.0) + dip * loss * loss + bases[i]
        sums[i] = z * coldness - top
    # Apart: both in one loop need more registers than there are.
    for i in range(len(row)):
        sums[i] = _exp(sums[i])


def _take(step: int, shared: Any, counts: Any) -> None:
    """Counts a flip, and keeps the cut if it is the best."""
    counts[STEP] = step
    if shared[CUT] > shared[BEST]:
        shared[BEST], counts[BEST_STEP] = shared[CUT], step


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


def _look(settings: Any, shared: Any, counts: Any, size: int, curve: Any, held: Any) -> None:
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
    for k in range(len(curve)):
        held[k] = factor * curve[k]


def _weigh_all(
    rows: Any, bins: Any, held: Any, shared: Any, sums: Any, peaks: Any, levels: Any
) -> None:
    top = -math.inf
    for i in range(len(rows)):
        sums[i] = _score(i, rows, bins, held, shared)
        top = max(top, sums[i])
    shared[TOP] = top
    for i in range(len(rows)):
        sums[i] = _exp(sums[i] - top)
    sum_up(sums, peaks, levels)


def _score(i: int, rows: Any, bins: Any, held: Any, shared: Any) -> float:
    """z_i / T, see `swift_scores`."""
    x = rows[i, PEEK] * shared[UNIT]
    loss = min(max(x, _DEEPEST), 0.0)
    bend = shared[RISE] * max(x, 0.0) + shared[DIP] * loss * loss
    bias = rows[i, BIAS] + rows[i, DRIFT] * shared[PROGRESS]
    z = rows[i, GAIN] * x + bend + bias - rows[i, PENALTY] * held[bins[i]]
    return z * shared[COLDNESS]


def _exp(x: float) -> float:
    """exp(x) for |x| up to 300, others as these; to 1e-8, by what vectors can do.

    The Taylor series at x / 4096, squared twelve times.
    """
    y = min(max(x, -_RANGE), _RANGE) * _SMALLER
    series = y * (1 / 24 + y * (1 / 120 + y * (1 / 720)))
    power = 1.0 + y * (1.0 + y * (1 / 2 + y * (1 / 6 + series)))
    for _ in range(_SQUARINGS):
        power *= power
    return power


def _fetch(vertex: int, starts: Any, near: Any, weights: Any, rows: Any) -> None:
    """Asks the memory for what `_flip` will read first."""
    prefetch(rows, vertex * _WIDTH)
    for e in (starts[vertex], starts[vertex + 1] - 1):
        prefetch(near, e)
        prefetch(weights, e)


def _fetch_older(step: int, edges: Any, ring: Any, faded: Any, bins: Any, sums: Any) -> None:
    """Asks the memory for what ageing will read at a step, and for that part of the ring before."""
    around = len(ring) - 1
    for k in range(len(edges)):
        place = (step - edges[k]) & around
        prefetch(bins, ring[place])
        prefetch(sums, ring[place])
        if step % _NUMBERS == 0:
            prefetch(ring, (place + 4 * _NUMBERS) & around)
            prefetch(faded, (place + 2 * _NUMBERS) & around)


def _note(vertex: int, step: int, rows: Any, bins: Any, ring: Any, faded: Any) -> None:
    """Keeps a flip in the ring, and the one before of this vertex no more."""
    last, around = int(rows[vertex, LAST]), len(ring) - 1
    # Without a branch, which would have to wait for the row.
    ring[(last if step - last <= around else step) & around] = -1
    ring[step & around], faded[step & around] = vertex, rows[vertex, PENALTY]
    rows[vertex, LAST], bins[vertex] = step, 0


def _age(
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


def _weigh(many: int, aged: int, some: Any, exponents: Any, shared: Any, sums: Any) -> None:
    """Makes weights of the exponents of collected vertices; those of the aged are changes."""
    for m in range(aged):
        exponents[m] *= shared[COLDNESS]
    for m in range((many + LANES - 1) // LANES * LANES):
        exponents[m] = _exp(exponents[m])
    for m in range(aged):
        exponents[m] *= sums[some[m]]


def _flip(
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
    side, top = rows[vertex, SIDE], shared[TOP]
    rows[vertex, SIDE] = -side
    rows[vertex, PEEK] = -rows[vertex, PEEK]
    some[aged], exponents[aged] = vertex, _score(vertex, rows, bins, held, shared) - top
    first, last = starts[vertex], starts[vertex + 1]
    if len(rows) > _CACHED:
        for e in range(first, last):
            prefetch(rows, near[e] * _WIDTH)
            prefetch(bins, near[e])
            prefetch(sums, near[e])
    many = aged + 1
    for e in range(first, last):
        other = near[e]
        rows[other, PEEK] -= 2.0 * weights[e] * side * rows[other, SIDE]
        some[many], exponents[many] = other, _score(other, rows, bins, held, shared) - top
        many += 1
    _weigh(many, aged, some, exponents, shared, sums)
    return many
