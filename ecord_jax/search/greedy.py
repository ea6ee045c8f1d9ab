"""A quick cut on the host, by numpy: flips that pay, until none is left.

It is there before anything is compiled, and it is what a time limit shorter than that gives.
Shape letters: N vertices, E edges, K chosen vertices, R neighbours of the chosen ones together.
"""

from __future__ import annotations

import math
import time

import numpy as np
import scipy.sparse

from ecord_jax.graphs import Graph

__all__ = ["greedy_labels"]

# Gains below this part of a vertex's total weight may be rounding errors.
_ROUNDING = 1e-12


def greedy_labels(
    graph: Graph, labels: np.ndarray, rng: np.random.Generator, deadline: float = math.inf
) -> np.ndarray:
    """Improves labels until no single flip raises the cut.

    A round flips at once every vertex whose gain is above those of all its neighbours; no two of
    them are adjacent, so that their gains add up.

    Args:
        graph: the graph.
        labels: int8 [N], where to start.
        rng: decides between equal gains.
        deadline: on the clock of `time.monotonic`; what is reached by then is given back.

    Returns:
        int8 [N], whose cut is not below that of `labels` but for rounding.
    """
    if time.monotonic() >= deadline:
        return labels
    rows = _scaled_adjacency(graph)
    sides = 2.0 * labels - 1.0
    peeks = sides * (rows @ sides)
    least = _ROUNDING * (abs(rows) @ np.ones(graph.num_vertices))
    rank = np.full(graph.num_vertices, -math.inf)
    while time.monotonic() < deadline:
        improving = np.flatnonzero(peeks > least)
        if not improving.size:
            break
        # The factor breaks ties; a tie that is left is broken in a later round.
        rank[improving] = peeks[improving] * (1 + 1e-6 * rng.random(improving.size))
        _flip(rows, sides, peeks, _peaks(rows, rank, improving))
        rank[improving] = -math.inf
    return (sides > 0).astype(np.int8)


def _scaled_adjacency(graph: Graph) -> scipy.sparse.csr_array:
    """The matrix of weights over a power of two (exact), so that no sum of them overflows."""
    rows = graph.adjacency()
    exponent = math.frexp(float(np.abs(rows.data).max(initial=1.0)))[1]
    rows.data = np.ldexp(rows.data, -exponent)
    return rows


def _entries(rows: scipy.sparse.csr_array, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the rows of vertices [K] are: positions [R] in the matrix, and lengths [K]."""
    starts = rows.indptr[chosen].astype(np.int64)
    lengths = rows.indptr[chosen + 1] - starts
    ends = np.cumsum(lengths)
    return np.arange(ends[-1]) + np.repeat(starts - (ends - lengths), lengths), lengths


def _peaks(rows: scipy.sparse.csr_array, rank: np.ndarray, improving: np.ndarray) -> np.ndarray:
    """Those of the improving vertices that rank above all their neighbours."""
    entries, lengths = _entries(rows, improving)
    # No row is empty: a vertex without neighbours gains nothing.
    highest = np.maximum.reduceat(rank[rows.indices[entries]], np.cumsum(lengths) - lengths)
    return improving[rank[improving] > highest]


def _flip(
    rows: scipy.sparse.csr_array, sides: np.ndarray, peeks: np.ndarray, chosen: np.ndarray
) -> None:
    """Flips vertices [K], none of which are adjacent, and updates the peeks around them."""
    if not chosen.size:
        return
    entries, lengths = _entries(rows, chosen)
    neighbours = rows.indices[entries]
    changes = rows.data[entries] * sides[neighbours] * np.repeat(sides[chosen], lengths)
    np.add.at(peeks, neighbours, -2.0 * changes)
    peeks[chosen] *= -1.0
    sides[chosen] *= -1.0
