"""How edges of random graphs are drawn: arrays of vertices, in time near that of their number.

An edge is often held as one integer, its key u N + v with u < v, which sorts as the edge does.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Sequence

import numpy as np

from ecord_jax.graphs.draws import Draws, exact_log

__all__ = [
    "distinct_keys",
    "edge_keys",
    "nth_pair",
    "regular_keys",
    "skipping_subset",
    "stacked_triangulation",
    "torus_edges",
]

# Tries of mending a random pairing before it is drawn anew; a handful is the rule.
_MOST_REPAIRS = 1000
# Up to that degree and that many ends of edges, so many pairings are tried before one is mended.
_LOW_DEGREE, _SMALL, _WHOLE_TRIES = 4, 10_000, 50


def edge_keys(u: np.ndarray, v: np.ndarray, n: int) -> np.ndarray:
    """Keys int64 [E] of edges between vertices u [E] and v [E], in either order."""
    return np.minimum(u, v) * n + np.maximum(u, v)


def torus_edges(sides: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Ends int64 [E] and int64 [E]: each vertex and its next one, along one axis after another."""
    vertex = np.arange(math.prod(sides)).reshape(sides)
    following = [np.roll(vertex, -1, axis).ravel() for axis in range(len(sides))]
    return np.tile(vertex.ravel(), len(sides)), np.concatenate(following)


def nth_pair(index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs u < v counted as (0, 1), (0, 2), (1, 2), (0, 3), ...: index = v (v - 1) / 2 + u."""
    v = ((1 + np.sqrt(1 + 8.0 * index)) / 2).astype(np.int64)
    v -= v * (v - 1) // 2 > index  # the root is rounded, so it may be off by one
    v += v * (v + 1) // 2 <= index
    return index - v * (v - 1) // 2, v


def skipping_subset(size: int, p: float, draws: Draws) -> np.ndarray:
    """Of 0..size-1, int64, ascending, each number with probability p < 1."""
    if p == 0:
        return np.zeros(0, np.int64)
    exact = decimal.Context(prec=40)  # its logarithm is rounded correctly, so everywhere alike
    rate = float(exact.ln(exact.subtract(1, decimal.Decimal(p)))) if p > 1e-16 else -p
    parts, last = [], -1
    while last < size:
        expected = (size - last) * p
        count = int(expected + 4 * math.sqrt(expected)) + 16
        with np.errstate(over="ignore"):
            gaps = np.floor(exact_log(1 - draws.uniform(count)) / rate) + 1
        gaps = np.minimum(gaps, size + 1.0)  # beyond the end, and the sums fit an int64
        inside = np.searchsorted(np.cumsum(gaps), size + 1.0)
        parts.append(last + np.cumsum(gaps[: inside + 1].astype(np.int64)))
        last = int(parts[-1][-1])
    found = np.concatenate(parts)
    return found[: np.searchsorted(found, size)]


def regular_keys(n: int, d: int, draws: Draws) -> np.ndarray:
    """Keys of a d-regular graph, d at most (n - 1) / 2.

    A random pairing of all ends that happens to be a graph is uniform over such graphs. The chance
    of that is about exp((1 - d * d) / 4): small graphs, where mending would show, are left to it
    where it is not too slim. Else the pairing is mended.
    """
    tries = _WHOLE_TRIES if d <= _LOW_DEGREE and n * d <= _SMALL else 0
    while True:
        stubs = np.repeat(np.arange(n), d)[draws.permutation(n * d)].reshape(-1, 2)
        for _ in range(1 if tries else _MOST_REPAIRS):
            keys = edge_keys(stubs[:, 0], stubs[:, 1], n)
            order = np.argsort(keys, kind="stable")
            ordered = keys[order]
            fault = stubs[:, 0] == stubs[:, 1]  # loops; and all but one edge of the same ends
            fault[order[1:][ordered[1:] == ordered[:-1]]] = True
            if not fault.any():
                return keys
            _switch(stubs, ordered, np.flatnonzero(fault), n, draws)
        tries = max(tries - 1, 0)


def _switch(
    stubs: np.ndarray, ordered_keys: np.ndarray, bad: np.ndarray, n: int, draws: Draws
) -> None:
    """Lets each bad edge a b and a random one x y become a x and b y, where both are new."""
    partner = draws.below(len(stubs), len(bad))
    turned = draws.signs(len(bad)) > 0
    (a, b), (x, y) = stubs[bad].T, stubs[partner].T
    x, y = np.where(turned, y, x), np.where(turned, x, y)
    new = np.stack([edge_keys(a, x, n), edge_keys(b, y, n)])
    place = np.searchsorted(ordered_keys, new)
    known = ordered_keys[np.minimum(place, len(ordered_keys) - 1)] == new
    fresh = (_uses(new) == 1) & ~known
    good = fresh.all(axis=0) & (_uses(partner) == 1) & ~np.isin(partner, bad) & (a != x) & (b != y)
    stubs[bad[good]] = np.stack([a, x], axis=1)[good]
    stubs[partner[good]] = np.stack([b, y], axis=1)[good]


def _uses(values: np.ndarray) -> np.ndarray:
    """How often each of the values is among them."""
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    return counts[index].reshape(values.shape)


def stacked_triangulation(n: int, draws: Draws) -> np.ndarray:
    """Edges int64 [3 n - 6, 2] of a triangulation of the sphere, vertex by vertex."""
    newcomers = np.arange(3, n)
    faces = (draws.uniform(n - 3) * (2 * newcomers - 4)).astype(np.int64)  # of 2 n - 4 then
    a, b, c = [0, 0], [1, 1], [2, 2]  # corners of each face
    for vertex, face in enumerate(faces.tolist(), 3):
        corner = c[face]
        a += (a[face], b[face])
        b += (corner, corner)
        c[face] = vertex
        c += (vertex, vertex)
    # Of the two faces that a vertex added, a and b stayed as they were: its three corners.
    first, third = np.array(a, np.int64)[2:].reshape(-1, 2), np.array(b, np.int64)[2::2]
    corners = np.concatenate([[0, 0, 1], first.ravel(), third])
    return np.stack([corners, np.concatenate([[1, 2, 2], newcomers.repeat(2), newcomers])], axis=1)


def distinct_keys(wanted: int, n: int, draw: Callable[[int], np.ndarray]) -> np.ndarray:
    """Keys of the first `wanted` different edges whose ends are drawn one after another."""
    keys = np.zeros(0, np.int64)
    while len(keys) < wanted:
        ends = draw(2 * (wanted - len(keys) + wanted // 4 + 8)).reshape(-1, 2)
        ends = ends[ends[:, 0] != ends[:, 1]]
        keys = np.concatenate([keys, edge_keys(ends[:, 0], ends[:, 1], n)])
        _, first = np.unique(keys, return_index=True)
        keys = keys[np.sort(first)[:wanted]]
    return keys
