"""One walk of `swift` on the host, as a compiled loop: a microsecond a flip at any |V|.

A step changes the weights of the flipped vertex, of its neighbours, and of those whose time since
the last flip crosses an edge of the time curve at this moment, for which a ring of the last flips
is kept. They are collected first, so that their rows come from memory side by side and their
exponentials are computed as vectors. All other weights of `ecord_jax.networks.swift` change only
with the globals, which are refreshed now and then for all vertices. Weights are kept with sums over
32 of them, over 32 sums and so on, so that a vertex is drawn by looking at some of each.

The loop follows `ecord_jax.graphs.compiled`; inner functions take bare arrays, since a NamedTuple
of many is slow to pass. On a large graph a flip's time is that of waiting for memory. What it needs
of a vertex is one row, a cache line; time changes a weight by a factor that the ring has all of, so
that no rows are read for it; and it is computed while the rows of the flip are on their way.
Shapes: N vertices, H half-edges, K edges of the time curve, L levels of sums, S numbers on all of
them, T flips of a chunk.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ecord_jax.graphs.compiled import prefetch

__all__ = [
    "BEST",
    "BEST_STEP",
    "BIAS",
    "BUDGET",
    "CUT",
    "DRIFT",
    "EVERY",
    "FAN",
    "GAIN",
    "LANES",
    "LAST",
    "PAST",
    "PEEK",
    "SIDE",
    "STEP",
    "TOP",
    "UNIT",
    "WalkState",
    "walk",
]

FAN = 32  # numbers that make a sum
LANES = 8  # exponentials are computed in multiples of so many
_SHIFT = 5  # log2(FAN)
_RANGE = 300.0  # exponents are kept within it, around that of the largest weight at the refresh
_CANCELLED = 1e-4  # a sum that falls below this part of what it was is summed anew
_LONGEST_STAGNATION, _DEEPEST = 3.0, -3.0  # see `ecord_jax.networks.swift`
_COUNT_EVERY = 16  # peeks are computed anew when so many flips were done for each of them
_SQUARINGS, _SMALLER = 12, 2.0**-12  # see `_exp`
_MANY = 16  # where one vertex of so many is weighed anew vectors sum all up faster
_CACHED = 1 << 14  # rows of so many vertices lie in the processor's cache anyway
_WIDTH, _NUMBERS = 8, 8  # columns of a row, and numbers in a cache line
_AHEAD = 4  # steps, for which memory is waited less than they take
# Columns of `rows`, places in `shared` and in `counts`.
GAIN, BIAS, DRIFT, PENALTY, PEEK, SIDE, LAST = 0, 1, 2, 3, 4, 5, 6
CUT, BEST, TOP, COLDNESS, PROGRESS, RISE, DIP, UNIT = 0, 1, 2, 3, 4, 5, 6, 7
STEP, BUDGET, BEST_STEP, EVERY, COUNTED, PAST = 0, 1, 2, 3, 4, 5


class WalkState(NamedTuple):
    """A walk between two chunks.

    Attributes:
        starts, near, weights: [N + 1], [H], [H]: the neighbours of each vertex, and the weights of
            the edges to them.
        curve: float64 [K + 1], P.
        edges: int64 [K], see `time_edges`.
        settings: float64 [12], the parameters of the globals: `temperature` [6], `penalty` [3] and
            `bend` [3].
        levels: int64 [L], where in `sums` each level begins.
        rows: float64 [N, 8]: of each vertex gain, bias, drift and penalty, see `SwiftTables`; the
            peek, in units of the weights; the side, 1 or -1; the step of the last flip; and 0,
            which makes it a cache line.
        bins: unsigned [N], those of the time since the last flip.
        held: float64 [K + 1], the curve times M, as of the last refresh.
        ring: int32 [a power of 2 above edges[-1]], the last flips; -1 where the vertex was flipped
            again.
        faded: float64 [as many], the penalty of each of their vertices.
        sums: float64 [S], the weights with which vertices are flipped, up to a factor, and level by
            level the sums of 32 numbers of the level before; each level is filled up with zeros to
            a multiple of 32, the last has no more than 32.
        peaks: float64 [S], the most that each sum has been since its terms were last summed.
        some, exponents: int32 and float64 [., a multiple of 8]: room for the vertices that a step
            weighs anew.
        draws: float64 [T], uniform numbers.
        actions: int32 [T], the vertices flipped.
        cuts: float64 [T + 1], the cut before the first and after each.
        shared: float64 [8]: the cut, the best one, the largest score at the last refresh, 1 / T,
            the progress, the two factors of the bend, and 1 / s.
        counts: int64 [6]: flips done, the budget, when the best was met, flips between refreshes,
            when peeks were last computed, and how many count as done before the first.
    """

    starts: Any
    near: Any
    weights: Any
    curve: Any
    edges: Any
    settings: Any
    levels: Any
    rows: Any
    bins: Any
    held: Any
    ring: Any
    faded: Any
    sums: Any
    peaks: Any
    some: Any
    exponents: Any
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
            _look(w.settings, shared, counts, len(rows), w.curve, w.held)
            _weigh_all(rows, w.bins, w.held, shared, w.sums, w.peaks, w.levels)
        vertex = _draw(w.draws[turn], w.sums, w.levels)
        # What takes no waiting is done between what is asked for and what needs it.
        if len(rows) > _CACHED:
            _fetch(vertex, w.starts, w.near, w.weights, rows)
            _fetch_older(step + _AHEAD, w.edges, w.ring, w.faded, w.bins, w.sums)
        _note(vertex, step, rows, w.bins, w.ring, w.faded)
        many = _age(
            step + 1, w.edges, w.ring, w.faded, w.bins, w.held, shared, w.some, w.exponents, w.sums
        )
        _put(many, w.some, w.exponents, w.sums, w.peaks, w.levels)
        shared[CUT] += rows[vertex, PEEK]
        many = _flip(
            vertex,
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
        _put(many, w.some, w.exponents, w.sums, w.peaks, w.levels)
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


def _look(settings: Any, shared: Any, counts: Any, size: int, curve: Any, held: Any) -> None:
    """Looks at the globals, see `swift_globals`."""
    s = settings
    p = (counts[STEP] + counts[PAST]) / counts[BUDGET]
    q = min((counts[STEP] - counts[BEST_STEP]) / size, _LONGEST_STAGNATION)
    h = math.log(counts[BUDGET] / (6.0 * size))
    level = s[0] + s[1] * p + s[2] * p * p + s[3] * q + s[4] * h + s[5] * h * p
    shared[COLDNESS] = math.exp(-level)
    factor = max(1.0 + s[6] * p + s[7] * q, 0.0) * math.exp(s[8] * h)
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
    _sum_up(sums, peaks, levels)


def _sum_up(sums: Any, peaks: Any, levels: Any) -> None:
    for level in range(1, len(levels)):
        below, here = levels[level - 1], levels[level]
        for j in range((here - below) // FAN):
            sums[here + j] = peaks[here + j] = _sum(sums, below + j * FAN)


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


def _draw(draw: float, sums: Any, levels: Any) -> int:
    """Inverts the cumulated weights, level by level."""
    top = len(levels) - 1
    rest, j = draw * _sum(sums, levels[top]), 0
    for turn in range(len(levels)):
        j = (j << _SHIFT) + levels[top - turn]
        last = j + FAN - 1
        # What comes after the last vertex weighs nothing.
        while j < last and rest >= sums[j] and sums[j + 1] > 0.0:
            rest -= sums[j]
            j += 1
        j -= levels[top - turn]
    return j


def _fetch(vertex: int, starts: Any, near: Any, weights: Any, rows: Any) -> None:
    """Asks the memory for what `_flip` will read first."""
    prefetch(rows, vertex * _WIDTH)
    prefetch(near, starts[vertex])
    prefetch(weights, starts[vertex])


def _fetch_older(step: int, edges: Any, ring: Any, faded: Any, bins: Any, sums: Any) -> None:
    """Asks the memory for what `_age` will read at a step, and for that part of the ring before."""
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
    step: int,
    edges: Any,
    ring: Any,
    faded: Any,
    bins: Any,
    held: Any,
    shared: Any,
    some: Any,
    exponents: Any,
    sums: Any,
) -> int:
    """Weighs the vertices that are in the next bin of the time curve from this step on.

    Gives their number.
    """
    around, many = len(ring) - 1, 0
    for k in range(len(edges)):
        then = step - edges[k]
        if then < 0:
            break
        vertex = ring[then & around]
        if vertex >= 0:
            bins[vertex] = k + 1
            some[many] = vertex
            exponents[many] = faded[then & around] * (held[k] - held[k + 1]) * shared[COLDNESS]
            many += 1
    _exp_all(many, exponents)
    for m in range(many):
        exponents[m] *= sums[some[m]]
    return many


def _flip(
    vertex: int,
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
    """Flips a vertex; weighs it and its neighbours, and gives their number."""
    side, top = rows[vertex, SIDE], shared[TOP]
    rows[vertex, SIDE] = -side
    rows[vertex, PEEK] = -rows[vertex, PEEK]
    some[0], exponents[0] = vertex, _score(vertex, rows, bins, held, shared) - top
    first = starts[vertex]
    many = 1 + starts[vertex + 1] - first
    if len(rows) > _CACHED:
        for e in range(first, first + many - 1):
            prefetch(rows, near[e] * _WIDTH)
            prefetch(bins, near[e])
            prefetch(sums, near[e])
    for m in range(1, many):
        other = near[first + m - 1]
        rows[other, PEEK] -= 2.0 * weights[first + m - 1] * side * rows[other, SIDE]
        some[m], exponents[m] = other, _score(other, rows, bins, held, shared) - top
    _exp_all(many, exponents)
    return many


def _exp_all(many: int, exponents: Any) -> None:
    for m in range((many + LANES - 1) // LANES * LANES):
        exponents[m] = _exp(exponents[m])


def _put(many: int, some: Any, numbers: Any, sums: Any, peaks: Any, levels: Any) -> None:
    """Sets the weights of the collected vertices, and the sums that they are in."""
    if _MANY * many > len(sums):
        for m in range(many):
            sums[some[m]] = numbers[m]
        _sum_up(sums, peaks, levels)
        return
    for m in range(many):
        i = some[m]
        change = numbers[m] - sums[i]
        sums[i] = numbers[m]
        _add(i, change, sums, peaks, levels)


def _add(i: int, change: float, sums: Any, peaks: Any, levels: Any) -> None:
    """Changes the sums of a weight.

    Where little is left of what one has been it is summed anew: rounding errors would be most of
    it.
    """
    j = i
    for level in range(1, len(levels)):
        j >>= _SHIFT
        k = levels[level] + j
        before, total = sums[k], sums[k] + change
        if total < _CANCELLED * peaks[k]:
            total = peaks[k] = _sum(sums, levels[level - 1] + j * FAN)
            change = total - before
        sums[k] = total
        peaks[k] = max(peaks[k], total)


def _sum(numbers: Any, first: int) -> float:
    total = 0.0
    for k in range(FAN):
        total += numbers[first + k]
    return total
