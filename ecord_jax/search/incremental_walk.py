"""The incremental step of `ecord_jax.search.incremental` on the host, as a compiled loop.

Scores are kept at the leaves of a tree with sixteen children a node. A node knows the largest score
below it and the sum of exp((score - largest) / T): a flip changes the nodes above the vertices that
it touches, a draw walks down from the root, and no temperature is too low. What depends on the
graph alone is shared by all walks; a walk's own arrays take 15 bytes a vertex.

Whatever the scaling there are F = 6 features, those that it lacks with weight 0, for code without a
loop over them. The loop follows `ecord_jax.graphs.compiled`; inner functions take bare arrays,
since a NamedTuple of many is slow to pass. Shapes: N vertices, H half-edges, A width of the head, F
features (K of them times), R flips that are looked at again, T flips of a chunk, M nodes above the
scores.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ecord_jax.env.maxcut import HORIZON_RANGE, HORIZON_UNIT

__all__ = [
    "BEST",
    "BEST_STEP",
    "BUDGET",
    "COLDNESS",
    "COUNTED",
    "CUT",
    "EVERY",
    "PAST",
    "STEP",
    "IncrementalState",
    "walk",
]

_SHIFT = 4  # sixteen children a node
_NOTHING = -40.0  # exponents below it add nothing to a float32
_HALF_SUM, _HALF_DIFFERENCE, _EPSILON = 0.505, 0.495, 1e-6  # of leaky ReLU, of layer norm
_COUNT_EVERY = 4  # peeks are computed anew when so many flips were done for each of them
_TIMES = 2  # features before the times
# Columns of `tables` (those of progress and horizon come last), places in `shared` and `counts`.
SQUARE, LINEAR, GAP, TOP, PRODUCTS, PROGRESS, HORIZON = 0, 1, 2, 3, 4, 10, 11
CUT, BEST, COLDNESS, UNIT, SEEN_GAP, SEEN_TOP, EVEN, LENGTH, BIASED, OUT_BIAS = range(10)
SEEN_PROGRESS, SEEN_HORIZON = 10, 11
STEP, BEST_STEP, EVERY, COUNTED, RECENT, BEFORE, LOGARITHM, PENDING, BUDGET, PAST = range(10)


class IncrementalState(NamedTuple):
    """A walk between two chunks.

    Attributes:
        starts, near, weights: int64 [N + 1], int32 [H], float32 [H]: the neighbours of each vertex,
            and the weights of the edges to them.
        static: float32 [N, A], gamma_f S_fi of `ecord_jax.networks.fast`.
        tables: float32 [N, 4 + F], |S_i|^2 / A, the linear sum, 2 S_i . m / A for gap and largest
            peek, and 2 S_i . O_k / A; [N, 4 + F + 2] for agents that see progress and horizon.
        memory: float32 [1 + globals, A], m where all globals are 0 and what each adds, without
            gamma.
        observed: float32 [F, A], O without gamma.
        gamma, bias, out: float32 [A], layer norm's gamma and beta, and u.
        weighed, inner, slopes: float32 [F, A], [F, F], [F]: gamma O, O_k . O_j / A and
            sum_f u_f gamma_f O_kf.
        rates: float32 [K], by which the times grow each step until they saturate at 1.
        labels, peeks, last_flip: int8, float32, int32 [N], as in `ecord_jax.env.State`.
        tops: float32 [N + M], the tree, level after level, the scores first.
        offsets: int64 [levels + 1], where each begins.
        sums: float32 [M], of the nodes above the scores.
        stamps: int32 [M], the flip for which a node was last listed.
        ring: int64 [a power of 2 of at least R], the last flips.
        pending: int64 [largest degree + 1 + R], what the last flip touched.
        shift, cross: float32 [A], [F], gamma m and 2 O_k . m / A as of the last refresh.
        seen: float32 [F], of the vertex that is looked at.
        draws, actions, cuts: float64 [T], int32 [T], float64 [T + 1]: uniform numbers, the vertices
            flipped, the cut before the first and after each.
        shared: float64 [12]: cut, best cut, 1 / T, what a peek of 1 is seen as; as of the last
            refresh gap and largest peek as observed, sum_f u_f gamma_f m_f and |m|^2 / A; u . beta,
            the last bias; progress and horizon as of the last refresh.
        counts: int64 [10]: flips done, when the best was met, flips between refreshes, when peeks
            were last computed, R, for how long before the start a vertex counts as not flipped,
            whether the gap is seen through a logarithm, how many are pending, flips of the whole
            walk (0 for agents that do not see it), and how many count as done before the first.
    """

    starts: Any
    near: Any
    weights: Any
    static: Any
    tables: Any
    memory: Any
    observed: Any
    gamma: Any
    bias: Any
    out: Any
    weighed: Any
    inner: Any
    slopes: Any
    rates: Any
    labels: Any
    peeks: Any
    last_flip: Any
    tops: Any
    sums: Any
    offsets: Any
    stamps: Any
    ring: Any
    pending: Any
    shift: Any
    cross: Any
    seen: Any
    draws: Any
    actions: Any
    cuts: Any
    shared: Any
    counts: Any


def walk(w: IncrementalState) -> None:
    """Does one flip for each draw."""
    shared, counts, size = w.shared, w.counts, len(w.labels)
    if counts[STEP] == 0 or counts[STEP] - counts[COUNTED] > _COUNT_EVERY * size:
        shared[CUT] = _count(w.starts, w.near, w.weights, w.labels, w.peeks)
        counts[COUNTED] = counts[STEP]
    if counts[STEP] == 0:
        shared[BEST] = shared[CUT]
    w.cuts[0] = shared[CUT]
    for turn in range(len(w.draws)):
        refresh = counts[STEP] % counts[EVERY] == 0
        if refresh:
            _remember(
                w.peeks, w.memory, w.observed, w.gamma, w.out, w.shift, w.cross, shared, counts
            )
        # One place from which vertices are scored, so that a compiler writes the code there.
        for k in range(size if refresh else counts[PENDING]):
            i = k if refresh else w.pending[k]
            _look(i, w.labels, w.peeks, w.last_flip, w.rates, w.seen, shared, counts)
            sigma = _deviation(i, w.tables, w.inner, w.cross, w.seen, shared, counts)
            even = _even(i, w.tables, w.slopes, w.seen, shared) + shared[BIASED] * sigma
            odd = _odd(i, w.static, w.shift, w.bias, w.out, w.weighed, w.seen, sigma)
            w.tops[i] = (_HALF_SUM * even + _HALF_DIFFERENCE * odd) / sigma + shared[OUT_BIAS]
        if refresh:
            _sum_all(w.tops, w.sums, w.offsets, shared)
        else:
            _climb(w.pending, w.tops, w.sums, w.offsets, w.stamps, shared, counts)
        vertex = _draw(w.draws[turn], w.tops, w.sums, w.offsets, shared)
        shared[CUT] += w.peeks[vertex]
        counts[STEP] += 1
        w.last_flip[vertex] = counts[STEP]
        w.ring[counts[STEP] & (len(w.ring) - 1)] = vertex
        _flip(vertex, w.starts, w.near, w.weights, w.labels, w.peeks, w.pending, w.ring, counts)
        w.actions[turn], w.cuts[turn + 1] = vertex, shared[CUT]
        if shared[CUT] > shared[BEST]:
            shared[BEST], counts[BEST_STEP] = shared[CUT], counts[STEP]


def _count(starts: Any, near: Any, weights: Any, labels: Any, peeks: Any) -> float:
    """Computes peeks anew; gives the cut."""
    cut = 0.0
    for i in range(len(labels)):
        peek = 0.0
        for e in range(starts[i], starts[i + 1]):
            if labels[i] == labels[near[e]]:
                peek += weights[e]
            else:
                peek -= weights[e]
                cut += weights[e] / 2.0
        peeks[i] = peek
    return cut


def _remember(
    peeks: Any,
    memory: Any,
    observed: Any,
    gamma: Any,
    out: Any,
    shift: Any,
    cross: Any,
    shared: Any,
    counts: Any,
) -> None:
    """Looks at the globals, and computes what they add at every vertex."""
    top = peeks[0]
    for i in range(1, len(peeks)):
        top = max(top, peeks[i])
    gap, top = (shared[CUT] - shared[BEST]) * shared[UNIT], top * shared[UNIT]
    if counts[LOGARITHM]:
        gap = -math.log1p(-gap)
    shared[SEEN_GAP], shared[SEEN_TOP] = gap, top
    if counts[BUDGET]:
        shared[SEEN_PROGRESS] = min((counts[STEP] + counts[PAST]) / counts[BUDGET], 1.0)
        length = counts[BUDGET] / (HORIZON_UNIT * len(peeks))
        shared[SEEN_HORIZON] = math.log(min(max(length, 1.0 / HORIZON_RANGE), 1.0))
    shared[EVEN] = shared[LENGTH] = 0.0
    cross[:] = 0.0
    for f in range(len(gamma)):
        m = memory[0, f] + memory[1, f] * gap + memory[2, f] * top
        if counts[BUDGET]:
            m += memory[3, f] * shared[SEEN_PROGRESS] + memory[4, f] * shared[SEEN_HORIZON]
        shift[f] = gamma[f] * m
        shared[EVEN] += out[f] * shift[f]
        shared[LENGTH] += m * m / len(gamma)
        for k in range(len(cross)):
            cross[k] += 2.0 * observed[k, f] * m / len(gamma)


def _look(
    i: int, labels: Any, peeks: Any, last_flip: Any, rates: Any, seen: Any, shared: Any, counts: Any
) -> None:
    """What is observed of a vertex, see `ecord_jax.env.observe`."""
    one = np.float32(1.0)
    time = np.float32(min(counts[STEP] - last_flip[i], counts[STEP] + counts[BEFORE]))
    seen[0], seen[1] = labels[i], peeks[i] * shared[UNIT]
    for k in range(4):
        part = time * rates[k]
        seen[_TIMES + k] = part if part < one else one


def _deviation(
    i: int, tables: Any, inner: Any, cross: Any, seen: Any, shared: Any, counts: Any
) -> float:
    """sigma_i of `ecord_jax.networks.fast`."""
    variance = tables[i, SQUARE] + shared[LENGTH]
    variance += tables[i, GAP] * shared[SEEN_GAP] + tables[i, TOP] * shared[SEEN_TOP]
    if counts[BUDGET]:
        variance += tables[i, PROGRESS] * shared[SEEN_PROGRESS]
        variance += tables[i, HORIZON] * shared[SEEN_HORIZON]
    for k in range(6):
        slope = np.float32(0.0)
        for j in range(6):
            slope += inner[k, j] * seen[j]
        variance += seen[k] * (slope + tables[i, PRODUCTS + k] + cross[k])
    return math.sqrt(max(variance, 0.0) + _EPSILON)


def _even(i: int, tables: Any, slopes: Any, seen: Any, shared: Any) -> float:
    """The linear half of the head, without beta's share."""
    total = tables[i, LINEAR] + shared[EVEN]
    for k in range(6):
        total += slopes[k] * seen[k]
    return total


def _odd(
    i: int,
    static: Any,
    shift: Any,
    bias: Any,
    out: Any,
    weighed: Any,
    seen: Any,
    sigma: float,
) -> float:
    """The other half, sum_f u_f |gamma_f y_fi + beta_f sigma_i|; a loop that becomes vectors."""
    total, narrow = np.float32(0.0), np.float32(sigma)
    a, b, c, d, e, g = seen[0], seen[1], seen[2], seen[3], seen[4], seen[5]
    for f in range(len(out)):
        y = static[i, f] + shift[f] + bias[f] * narrow
        y += weighed[0, f] * a + weighed[1, f] * b + weighed[2, f] * c
        y += weighed[3, f] * d + weighed[4, f] * e + weighed[5, f] * g
        total += out[f] * abs(y)
    return float(total)


def _flip(
    vertex: int,
    starts: Any,
    near: Any,
    weights: Any,
    labels: Any,
    peeks: Any,
    pending: Any,
    ring: Any,
    counts: Any,
) -> None:
    """Flips a vertex, and lists it, its neighbours and the last flips as pending."""
    labels[vertex] = 1 - labels[vertex]
    peeks[vertex] = -peeks[vertex]
    pending[0], size = vertex, 1
    for e in range(starts[vertex], starts[vertex + 1]):
        other = near[e]
        # The sides agree after the flip where they did not before.
        agree = labels[other] == labels[vertex]
        peeks[other] += 2 * weights[e] if agree else -2 * weights[e]
        pending[size] = other
        size += 1
    for back in range(1, min(counts[RECENT], counts[STEP])):
        pending[size] = ring[(counts[STEP] - back) & (len(ring) - 1)]
        size += 1
    counts[PENDING] = size


def _sum_all(tops: Any, sums: Any, offsets: Any, shared: Any) -> None:
    """Computes every node of the tree."""
    for level in range(1, len(offsets) - 1):
        for node in range(offsets[level], offsets[level + 1]):
            _sum(node, level, tops, sums, offsets, shared[COLDNESS])


def _climb(
    pending: Any, tops: Any, sums: Any, offsets: Any, stamps: Any, shared: Any, counts: Any
) -> None:
    """Computes the nodes above what is pending, each once; uses up the list."""
    size = counts[PENDING]
    for level in range(1, len(offsets) - 1):
        kept = 0
        for k in range(size):
            place = pending[k] >> _SHIFT
            node = offsets[level] + place
            if stamps[node - offsets[1]] != counts[STEP]:
                stamps[node - offsets[1]] = counts[STEP]
                _sum(node, level, tops, sums, offsets, shared[COLDNESS])
                pending[kept] = place
                kept += 1
        size = kept


def _sum(node: int, level: int, tops: Any, sums: Any, offsets: Any, coldness: float) -> None:
    """Computes a node from its children."""
    first = offsets[level - 1] + ((node - offsets[level]) << _SHIFT)
    end = min(first + (1 << _SHIFT), offsets[level])
    top = tops[first]
    for child in range(first + 1, end):
        top = max(top, tops[child])
    total = 0.0
    for child in range(first, end):
        exponent = (tops[child] - top) * coldness
        if exponent > _NOTHING:
            below = sums[child - offsets[1]] if level > 1 else 1.0
            total += below * math.exp(exponent)
    tops[node], sums[node - offsets[1]] = top, total


def _draw(draw: float, tops: Any, sums: Any, offsets: Any, shared: Any) -> int:
    """Walks down from the root to a vertex, by inverting the cumulated weights of children."""
    node = offsets[len(offsets) - 1] - 1
    rest = draw * sums[node - offsets[1]]
    for level in range(len(offsets) - 2, 0, -1):
        first = offsets[level - 1] + ((node - offsets[level]) << _SHIFT)
        end = min(first + (1 << _SHIFT), offsets[level])
        top, chosen, share = tops[node], first, 1.0
        for child in range(first, end):
            exponent = (tops[child] - top) * shared[COLDNESS]
            if exponent > _NOTHING:
                # The last one with any weight is taken where rounding leaves some of `rest`.
                chosen, share = child, math.exp(exponent)
                weight = share * (sums[child - offsets[1]] if level > 1 else 1.0)
                if rest < weight:
                    break
                rest -= weight
        node, rest = chosen, rest / share
    return node
