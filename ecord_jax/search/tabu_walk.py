"""One-flip tabu search on the host, as compiled loops: a tenth of a microsecond a flip or so.

Both loops do the same: at each flip the vertices whose tenure is over come back; one of those of
the largest gain is drawn among all that are not barred; it is flipped and barred. They differ in
how they find the largest gain. `walk_buckets` has a bucket for each value that a gain can take, and
remembers the highest that is not empty: for small integer weights. `walk_blocks` has the largest
gain of each 64 vertices: for any weights.

The loops follow `ecord_jax.graphs.compiled`; inner functions take bare arrays, since a NamedTuple
of many is slow to pass. Between two chunks a walk is its labels and tenures; all else is computed
anew. Shapes: N vertices, H half-edges, G values of gains, T flips of a chunk.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

__all__ = ["BEST", "BEST_TURN", "TOTAL", "BlockState", "BucketState", "walk_blocks", "walk_buckets"]

_SHIFT = 6  # 64 vertices a block
# Columns of `rows`, of `buckets`, and places in `summary`.
GAIN, PLACE, SIDE, NEXT = 0, 1, 2, 3
FIRST, END = 0, 1
TOTAL, BEST, BEST_TURN = 0, 1, 2


class BucketState(NamedTuple):
    """A chunk of a walk over a graph of small integer weights.

    Attributes:
        starts, near, effects: int64 [N + 1], int32 [H], int32 [H]: the neighbours of each vertex,
            and twice the weights of the edges to them.
        labels: int8 [N], 0 or 1.
        free: int32 [N], the flip before which each vertex is barred.
        rows: int32 [N, 4]: of each vertex the bucket, which is the gain plus `most`; its place in
            `members`, -1 where it is barred; the side, 1 or -1; and which vertex comes back at the
            same flip, -1 for none.
        buckets: int32 [G, 2], where the members of each begin and end.
        members: int32 [.], the vertices of all buckets, with room for all that can ever be in each.
        slots: int32 [a power of 2 above N], the first vertex that comes back at each flip, or -1.
        draws: float64 [T], uniform numbers.
        tenures: int32 [T], below N.
        actions: int32 [T], the vertices flipped.
        rises: int64 [T + 1], by how much the cut has risen before the first flip and after each.
        summary: int64 [3]: by how much the cut has risen in all; at most; and after how many flips.
        step: flips before this chunk.
        most: the largest gain that there can be.
    """

    starts: Any
    near: Any
    effects: Any
    labels: Any
    free: Any
    rows: Any
    buckets: Any
    members: Any
    slots: Any
    draws: Any
    tenures: Any
    actions: Any
    rises: Any
    summary: Any
    step: Any
    most: Any


class BlockState(NamedTuple):
    """A chunk of a walk over any graph.

    Attributes:
        starts, near, effects: as above, effects float64.
        labels, free: as above.
        gains: float64 [N].
        sides: int8 [N], 1 or -1.
        keys: float64 [N], the gains, -inf where a vertex is barred.
        tops: float64 [ceil(N / 64)], the largest key of each block.
        nexts: int32 [N], which vertex comes back at the same flip.
        slots, draws, tenures, actions: as above.
        rises: float64 [T + 1], as above.
        summary: float64 [3], as above.
        step: flips before this chunk.
    """

    starts: Any
    near: Any
    effects: Any
    labels: Any
    free: Any
    gains: Any
    sides: Any
    keys: Any
    tops: Any
    nexts: Any
    slots: Any
    draws: Any
    tenures: Any
    actions: Any
    rises: Any
    summary: Any
    step: Any


def walk_buckets(w: BucketState) -> None:
    """Does one flip for each draw."""
    rows, buckets, members, slots = w.rows, w.buckets, w.members, w.slots
    _weigh(w.starts, w.near, w.effects, w.labels, rows, w.most)
    top, mask = _sort(rows, buckets, members, w.free, slots, w.step), len(slots) - 1
    total = best = best_turn = 0
    w.rises[0] = 0
    for turn in range(len(w.draws)):
        now = w.step + turn
        back = slots[now & mask]
        slots[now & mask] = -1
        while back >= 0:
            top = max(top, _insert(back, rows, buckets, members))
            back = rows[back, NEXT]
        while buckets[top, END] == buckets[top, FIRST]:
            top -= 1
        first = buckets[top, FIRST]
        vertex = members[first + int(w.draws[turn] * (buckets[top, END] - first))]
        total += top - w.most
        _remove(vertex, rows, buckets, members)
        rows[vertex, GAIN] = 2 * w.most - top
        top = max(top, _flip(vertex, w.starts, w.near, w.effects, rows, buckets, members))
        w.free[vertex] = now + 1 + w.tenures[turn]
        rows[vertex, NEXT] = slots[w.free[vertex] & mask]
        slots[w.free[vertex] & mask] = vertex
        w.actions[turn], w.rises[turn + 1] = vertex, total
        if total > best:
            best, best_turn = total, turn + 1
    w.summary[TOTAL], w.summary[BEST], w.summary[BEST_TURN] = total, best, best_turn
    for i in range(len(rows)):
        w.labels[i] = (1 - rows[i, SIDE]) >> 1


def _weigh(starts: Any, near: Any, effects: Any, labels: Any, rows: Any, most: int) -> None:
    """Computes sides and gains."""
    for i in range(len(rows)):
        rows[i, SIDE] = 1 - 2 * labels[i]
    for i in range(len(rows)):
        doubled = 0
        for e in range(starts[i], starts[i + 1]):
            doubled += effects[e] * rows[near[e], SIDE]
        rows[i, GAIN] = most + (doubled >> 1) * rows[i, SIDE]


def _sort(rows: Any, buckets: Any, members: Any, free: Any, slots: Any, step: int) -> int:
    """Puts each vertex into its bucket, or among those that come back; gives the highest bucket."""
    for slot in range(len(slots)):
        slots[slot] = -1
    for b in range(len(buckets)):
        buckets[b, END] = buckets[b, FIRST]
    top, mask = 0, len(slots) - 1
    for i in range(len(rows)):
        if free[i] <= step:
            top = max(top, _insert(i, rows, buckets, members))
        else:
            rows[i, PLACE], rows[i, NEXT] = -1, slots[free[i] & mask]
            slots[free[i] & mask] = i
    return top


def _insert(vertex: int, rows: Any, buckets: Any, members: Any) -> int:
    """Puts a vertex at the end of its bucket; gives the bucket."""
    bucket = rows[vertex, GAIN]
    place = buckets[bucket, END]
    members[place] = vertex
    rows[vertex, PLACE] = place
    buckets[bucket, END] = place + 1
    return bucket


def _remove(vertex: int, rows: Any, buckets: Any, members: Any) -> None:
    """Takes a vertex out of its bucket; the last one there takes its place."""
    bucket, place = rows[vertex, GAIN], rows[vertex, PLACE]
    end = buckets[bucket, END] - 1
    last = members[end]
    members[place] = last
    rows[last, PLACE] = place
    buckets[bucket, END] = end
    rows[vertex, PLACE] = -1


def _flip(
    vertex: int, starts: Any, near: Any, effects: Any, rows: Any, buckets: Any, members: Any
) -> int:
    """Changes the side of a vertex and moves its neighbours; gives the highest of their buckets."""
    side, top = rows[vertex, SIDE], 0
    rows[vertex, SIDE] = -side
    for e in range(starts[vertex], starts[vertex + 1]):
        other = near[e]
        gain = rows[other, GAIN] - effects[e] * side * rows[other, SIDE]
        if rows[other, PLACE] < 0:
            rows[other, GAIN] = gain
        else:
            _remove(other, rows, buckets, members)
            rows[other, GAIN] = gain
            top = max(top, _insert(other, rows, buckets, members))
    return top


def walk_blocks(w: BlockState) -> None:
    """Does one flip for each draw."""
    gains, sides, keys, tops, slots = w.gains, w.sides, w.keys, w.tops, w.slots
    _weigh_blocks(w.starts, w.near, w.effects, w.labels, gains, sides)
    _sort_blocks(gains, keys, tops, w.free, w.nexts, slots, w.step)
    total, best, best_turn, mask = 0.0, 0.0, 0, len(slots) - 1
    w.rises[0] = 0.0
    for turn in range(len(w.draws)):
        now = w.step + turn
        back = slots[now & mask]
        slots[now & mask] = -1
        while back >= 0:
            _set(back, gains[back], keys, tops)
            back = w.nexts[back]
        vertex = _draw(w.draws[turn], keys, tops)
        total += gains[vertex]
        gains[vertex] = -gains[vertex]
        _set(vertex, -math.inf, keys, tops)
        _flip_blocks(vertex, w.starts, w.near, w.effects, gains, sides, keys, tops)
        w.free[vertex] = now + 1 + w.tenures[turn]
        w.nexts[vertex] = slots[w.free[vertex] & mask]
        slots[w.free[vertex] & mask] = vertex
        w.actions[turn], w.rises[turn + 1] = vertex, total
        if total > best:
            best, best_turn = total, turn + 1
    w.summary[TOTAL], w.summary[BEST], w.summary[BEST_TURN] = total, best, best_turn
    for i in range(len(sides)):
        w.labels[i] = (1 - sides[i]) >> 1


def _weigh_blocks(
    starts: Any, near: Any, effects: Any, labels: Any, gains: Any, sides: Any
) -> None:
    for i in range(len(sides)):
        sides[i] = 1 - 2 * labels[i]
    for i in range(len(sides)):
        gains[i] = 0.0
        for e in range(starts[i], starts[i + 1]):
            gains[i] += effects[e] * sides[near[e]] * sides[i] / 2


def _sort_blocks(
    gains: Any, keys: Any, tops: Any, free: Any, nexts: Any, slots: Any, step: int
) -> None:
    for slot in range(len(slots)):
        slots[slot] = -1
    mask = len(slots) - 1
    for i in range(len(gains)):
        keys[i] = gains[i]
        if free[i] > step:
            keys[i], nexts[i] = -math.inf, slots[free[i] & mask]
            slots[free[i] & mask] = i
    for block in range(len(tops)):
        tops[block] = _largest(keys, block)


def _largest(keys: Any, block: int) -> float:
    top = -math.inf
    for i in range(block << _SHIFT, min((block + 1) << _SHIFT, len(keys))):
        top = max(top, keys[i])
    return top


def _set(vertex: int, key: float, keys: Any, tops: Any) -> None:
    """Changes a key, and the largest one of its block."""
    before, block = keys[vertex], vertex >> _SHIFT
    keys[vertex] = key
    if key >= tops[block]:
        tops[block] = key
    elif before == tops[block]:
        tops[block] = _largest(keys, block)


def _draw(draw: float, keys: Any, tops: Any) -> int:
    """One of the vertices of the largest key."""
    top, count = -math.inf, 0
    for block in range(len(tops)):
        if tops[block] > top:
            top = tops[block]
    for block in range(len(tops)):
        if tops[block] == top:
            for i in range(block << _SHIFT, min((block + 1) << _SHIFT, len(keys))):
                count += keys[i] == top
    rest = int(draw * count)
    for block in range(len(tops)):
        if tops[block] == top:
            for i in range(block << _SHIFT, min((block + 1) << _SHIFT, len(keys))):
                if keys[i] == top:
                    if rest == 0:
                        return i
                    rest -= 1
    return -1


def _flip_blocks(
    vertex: int,
    starts: Any,
    near: Any,
    effects: Any,
    gains: Any,
    sides: Any,
    keys: Any,
    tops: Any,
) -> None:
    side = sides[vertex]
    sides[vertex] = -side
    for e in range(starts[vertex], starts[vertex + 1]):
        other = near[e]
        gains[other] -= effects[e] * side * sides[other]
        if keys[other] > -math.inf:
            _set(other, gains[other], keys, tops)
