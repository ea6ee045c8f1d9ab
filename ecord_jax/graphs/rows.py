"""The rows of a graph while it shrinks: what adds, removes and finds edges, and who waits.

The functions run in plain Python on lists and compiled on arrays, see `ecord_jax.graphs.compiled`.
Shapes: N vertices, E edges, H = 2 E half-edges, of which 2 e and 2 e + 1 are those of edge e.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = [
    "MASK",
    "NUM_SHELVES",
    "REMOVED",
    "RULES",
    "Rows",
    "add",
    "append",
    "find",
    "forget",
    "insert",
    "mix",
    "remove",
    "take_out",
    "wake",
]

# What is counted: the first four by the degree of the vertex that goes, 3 and more together.
RULES = ("isolated", "degree 1", "degree 2", "heavy edge", "star-triangle", "twins", "parallel")
REMOVED = len(RULES)
NUM_SHELVES = 5  # of degree 0, 1, 2, 3, and of all others
# Hashes are cut to 62 bits, where wrapped and endless integers agree and stay positive.
MASK = 2**62 - 1
_PARALLEL = RULES.index("parallel")
_ODD, _ANOTHER = 0x1E3779B97F4A7C15, 0x3F58476D1CE4E5B9


class Rows(NamedTuple):
    """The graph while it shrinks.

    Rings are linked lists that end where they begin. Their nodes are numbers: first the half-edges,
    from 0 on; then one for each vertex, where the ring of the half-edges out of it begins; one for
    each in a ring of vertices that wait; one for each in a ring of vertices that have been compared
    with others; and at last those where these two kinds of ring begin.

    Attributes:
      rows, waiting, compared, shelves, buckets: the first node of each kind but half-edges.
      after, before: [number of nodes], the ring's next node, and the one before.
      ends: [H], the vertex that a half-edge leads to; the smaller one for the even half.
      weights: [E], 0 where the edge is gone.
      degrees: [N].
      shelf: [N], by degree, where a vertex waits; -1 where it does not.
      table: [a power of 2], edges by the hash of their ends, -1 where free.
      row_hashes: [N], of neighbours and weights.
      set_hashes: [N], of the vertex itself and its neighbours.
      gone: [N], the vertices taken away, in order.
      near, pulls: [3 N], the up to three vertices that decide the label of each, and with what
        weights.
      counts: [8], uses of each of RULES, and vertices gone.
    """

    rows: int
    waiting: int
    compared: int
    shelves: int
    buckets: int
    after: Any
    before: Any
    ends: Any
    weights: Any
    degrees: Any
    shelf: Any
    table: Any
    row_hashes: Any
    set_hashes: Any
    gone: Any
    near: Any
    pulls: Any
    counts: Any


def wake(r: Rows, u: int) -> None:
    """Has a vertex wait, since its row has changed."""
    shelf = min(r.degrees[u], NUM_SHELVES - 1)
    if r.shelf[u] != shelf:
        r.shelf[u] = shelf
        take_out(r, r.waiting + u)
        append(r, r.shelves + shelf, r.waiting + u)


def forget(r: Rows, u: int) -> None:
    """Notes that a vertex is taken away."""
    r.gone[r.counts[REMOVED]] = u
    r.counts[REMOVED] += 1
    take_out(r, r.waiting + u)
    take_out(r, r.compared + u)


def add(r: Rows, edge: int, u: int, v: int, weight: Any) -> None:
    """Adds an edge, or its weight to the one that is there; `edge` is free for it."""
    other = r.table[find(r, u, v)]
    if other < 0:
        insert(r, edge, u, v, weight)
    else:
        r.counts[_PARALLEL] += 1
        if r.weights[other] + weight == 0:
            remove(r, other)
        else:
            r.weights[other] += weight
    wake(r, u)
    wake(r, v)


def insert(r: Rows, edge: int, u: int, v: int, weight: Any) -> None:
    """Puts an edge where there is none."""
    low, high = min(u, v), max(u, v)
    r.table[find(r, low, high)] = edge
    r.weights[edge] = weight
    for half, end, other in ((2 * edge, low, high), (2 * edge + 1, high, low)):
        r.ends[half] = end
        r.degrees[end] += 1
        append(r, r.rows + other, half)


def remove(r: Rows, edge: int) -> None:
    """Takes an edge away."""
    free = find(r, r.ends[2 * edge], r.ends[2 * edge + 1])
    r.weights[edge] = 0
    for half in (2 * edge, 2 * edge + 1):
        r.degrees[r.ends[half]] -= 1
        take_out(r, half)
    # Edges that were pushed on by this one move up, so that none is cut off from its home.
    last = len(r.table) - 1
    place = (free + 1) & last
    while r.table[place] >= 0:
        other = r.table[place]
        home = _home(r, r.ends[2 * other], r.ends[2 * other + 1])
        if (place - home) & last >= (place - free) & last:
            r.table[free] = other
            free = place
        place = (place + 1) & last
    r.table[free] = -1


def find(r: Rows, u: int, v: int) -> int:
    """Place in the table of the edge between two vertices, or the free one where it would be."""
    low, high = min(u, v), max(u, v)
    place = _home(r, low, high)
    edge = r.table[place]
    while edge >= 0 and (r.ends[2 * edge] != low or r.ends[2 * edge + 1] != high):
        place = (place + 1) & (len(r.table) - 1)
        edge = r.table[place]
    return place


def _home(r: Rows, low: int, high: int) -> int:
    """First place to look for an edge at."""
    return (mix(low * len(r.degrees) + high) >> 20) & (len(r.table) - 1)


def mix(number: int) -> int:
    """Hashes a number that is not negative."""
    mixed = (number + 1) * _ODD & MASK
    return (mixed ^ (mixed >> 29)) * _ANOTHER & MASK


def append(r: Rows, ring: int, node: int) -> None:
    """Puts a node that is in no ring last in one."""
    last = r.before[ring]
    r.after[last] = r.before[ring] = node
    r.before[node], r.after[node] = last, ring


def take_out(r: Rows, node: int) -> None:
    """Takes a node out of its ring, if it is in one."""
    last, following = r.before[node], r.after[node]
    r.after[last], r.before[following] = following, last
    r.after[node] = r.before[node] = node
