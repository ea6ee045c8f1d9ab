"""One walk of `swift` on the host over a large graph: vertices are drawn some flips ahead.

A flip of `ecord_jax.search.swift_walk` waits for memory four times: for the weights that its vertex
is drawn by, for its row, for the list of its neighbours, and for theirs. Here vertices are drawn
for a batch of flips at once, by the weights as they are then, and memory is asked for what each
needs while the flips before it are done.

Draws stay exact. A flip changes the weights of few of the blocks whose sums are kept: with U the
sum of all others when the batch was drawn, which has not changed since, and C that of the changed
ones now, the next vertex is of the changed ones with chance C / (C + U), and else as it was drawn
ahead, if that was one of the others. So each try comes from the changed ones with chance C / (C +
W), where W is the sum of all weights when the batch was drawn; from the others with U / (C + W);
and fails else.
"""

from __future__ import annotations

from typing import Any

from ecord_jax.graphs.compiled import prefetch
from ecord_jax.search.swift_state import (
    AT,
    BATCHES,
    CHANGED,
    CUT,
    DRAWN,
    END,
    EVERY,
    FAN,
    INSIDE,
    OTHERS,
    STEP,
    TOTAL,
    WalkState,
)
from ecord_jax.search.swift_step import (
    AHEAD,
    NUMBERS,
    age,
    begin,
    fetch_edges,
    fetch_near,
    fetch_older,
    flip,
    look,
    note,
    take,
    weigh_all,
)
from ecord_jax.search.swift_sums import MANY, SHIFT, draw, find, period, put, sum_up, total

__all__ = ["walk_batches"]

# So many flips before its own a vertex is known, its edges are asked for, and its neighbours.
_KNOWN, _EDGES, _NEAR = 6, 4, 2
_MUCH = 1e6  # what was so many times all others leaves rounding errors still far below them
_MOST = 64  # neighbours that are asked for: those of a hub would drive out all else


def walk_batches(w: WalkState) -> None:
    """Does one flip for each of `choices`."""
    rows, shared, counts, often = w.rows, w.shared, w.counts, period(len(w.rows))
    # Levels of sums that are right after each flip; those above are where a batch begins.
    height = max(len(w.levels) - 1, 2)
    kept = w.levels[:height]
    w.cuts[0] = begin(w.starts, w.near, w.weights, rows, shared, counts)
    counts[DRAWN] = counts[AT] = counts[END] = 0
    for turn in range(len(w.choices)):
        step = counts[STEP]
        if step % counts[EVERY] == 0:
            look(w.settings, shared, counts, len(rows), w.places, w.held)
            weigh_all(rows, w.bins, w.held, shared, w.sums, w.levels)
            counts[AT] = counts[END]
        elif step & (often - 1) == 0:
            sum_up(2, w.sums, w.levels)
            counts[AT] = counts[END]
        if counts[AT] == counts[END]:
            sum_up(height, w.sums, w.levels)
            _begin_batch(w.draws, w.ahead, w.rests, counts, shared, w.sums, w.levels)
        vertex, choice = -1, w.choices[turn]
        while vertex < 0 and counts[AT] < counts[END]:
            _fetch(
                counts[AT],
                counts[END],
                w.ahead,
                w.rests,
                w.starts,
                w.near,
                w.weights,
                rows,
                w.ring,
                w.bins,
                w.sums,
            )
            vertex, choice = _try(
                choice, w.ahead, counts, shared, w.marks, w.changed, w.sums, w.levels
            )
        if vertex < 0:
            sum_up(height, w.sums, w.levels)
            vertex = draw(choice, w.sums, w.levels)
        fetch_older(step + AHEAD, w.edges, w.ring, w.faded, w.bins, w.sums)
        note(vertex, step, rows, w.bins, w.ring, w.faded)
        aged = age(step + 1, w.edges, w.ring, w.faded, w.bins, w.held, w.some, w.exponents)
        shared[CUT] += rows[vertex].peek
        many = flip(
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
        _mark(many, w.some, counts, shared, w.marks, w.changed, w.sums, w.levels)
        _take_over(put(many, w.some, w.exponents, w.sums, kept), many, counts, shared, w.sums)
        w.actions[turn], w.cuts[turn + 1] = vertex, shared[CUT]
        take(step + 1, shared, counts)
    sum_up(height, w.sums, w.levels)


def _begin_batch(
    draws: Any, ahead: Any, rests: Any, counts: Any, shared: Any, sums: Any, levels: Any
) -> None:
    """Draws blocks, level by level, so that memory is waited for once and not for each."""
    many, drawn = min(len(ahead), len(draws) - counts[DRAWN]), counts[DRAWN]
    shared[TOTAL] = shared[OTHERS] = total(sums, levels)
    for k in range(many):
        ahead[k], rests[k] = 0, draws[drawn + k] * shared[TOTAL]
    for level in range(len(levels) - 1, 0, -1):
        for k in range(many):
            place, rests[k] = find(rests[k], levels[level] + ahead[k] * FAN, sums)
            ahead[k] = place - levels[level]
    for k in range(many):
        for line in range(FAN // NUMBERS):
            prefetch(sums, ahead[k] * FAN + line * NUMBERS)
    counts[AT], counts[END], counts[CHANGED], shared[INSIDE] = -_KNOWN, many, 0, 0.0
    counts[BATCHES] += 1


def _fetch(
    at: int,
    end: int,
    ahead: Any,
    rests: Any,
    starts: Any,
    near: Any,
    weights: Any,
    rows: Any,
    ring: Any,
    bins: Any,
    sums: Any,
) -> None:
    """Asks the memory for a part of what flips after one will read and write.

    A block's vertex is drawn late, when the block is there. Where it has changed since, what is
    drawn will not be used.
    """
    k = at + _KNOWN
    if k < end:
        vertex = ahead[k] = find(rests[k], ahead[k] * FAN, sums)[0]
        prefetch(rows, vertex)
        prefetch(bins, vertex)
        prefetch(starts, vertex)
    k = at + _EDGES
    if 0 <= k < end:
        vertex = ahead[k]
        prefetch(ring, rows[vertex].place)
        fetch_edges(vertex, starts, near, weights)
    k = at + _NEAR
    if 0 <= k < end:
        fetch_near(ahead[k], _MOST, starts, near, rows, bins, sums)


def _try(
    choice: float,
    ahead: Any,
    counts: Any,
    shared: Any,
    marks: Any,
    changed: Any,
    sums: Any,
    levels: Any,
) -> tuple[int, float]:
    """Gives the next vertex, or -1, and what is left of a number that has been uniform."""
    at = counts[AT]
    counts[AT] = at + 1
    if at < 0:
        return -1, choice
    counts[DRAWN] += 1
    inside = shared[INSIDE]
    share = inside / (shared[TOTAL] + inside)
    if choice < share:
        return _among(choice / share * inside, counts[CHANGED], changed, sums, levels[1]), 0.0
    good = marks[ahead[at] >> SHIFT] != counts[BATCHES]
    return (ahead[at] if good else -1), (choice - share) / (1.0 - share)


def _among(rest: float, many: int, changed: Any, sums: Any, first: int) -> int:
    """Draws from the blocks that have changed."""
    k = 0
    while k < many - 1 and rest >= sums[first + changed[k]]:
        rest -= sums[first + changed[k]]
        k += 1
    return find(rest, changed[k] * FAN, sums)[0]


def _mark(
    many: int,
    some: Any,
    counts: Any,
    shared: Any,
    marks: Any,
    changed: Any,
    sums: Any,
    levels: Any,
) -> None:
    """Notes the blocks whose weights are about to change."""
    number, so_far = counts[BATCHES], counts[CHANGED]
    others, inside = shared[OTHERS], shared[INSIDE]
    for m in range(many):
        block = some[m] >> SHIFT
        if marks[block] != number:
            marks[block], changed[so_far] = number, block
            others -= sums[levels[1] + block]
            inside += sums[levels[1] + block]
            so_far += 1
    counts[CHANGED], shared[OTHERS], shared[INSIDE] = so_far, others, inside


def _take_over(rise: float, many: int, counts: Any, shared: Any, sums: Any) -> None:
    """Counts what the changed blocks weigh now.

    The batch ends before rounding errors could be seen in what is drawn, and where the sums of all
    vertices are new.
    """
    shared[INSIDE] += rise
    little, much = 2.0 * shared[OTHERS], _MUCH * shared[TOTAL]
    if little < shared[TOTAL] or shared[INSIDE] > much or MANY * many > len(sums):
        counts[AT] = counts[END]
