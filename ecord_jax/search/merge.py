"""Merging: vertices whose relative sides agree in several good cuts become one.

What is left is a smaller graph, whose cuts are those of the graph in which the merged vertices keep
their relative sides; edges are summed exactly. All of the good cuts are among them. Shape letters:
N vertices, E edges, K elites (good cuts), M vertices of the merged graph.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ecord_jax.graphs import Graph
from ecord_jax.graphs.edges import exact_sum, merge

__all__ = ["Merged", "can_merge", "distances", "merge_agreeing", "parts_of"]


@dataclasses.dataclass(frozen=True, eq=False)
class Merged:
    """A graph whose vertices stand for several of another one.

    For all labels, source.cut(lift(labels)) = graph.cut(labels) + source.cut(lift(0)).

    Attributes:
        graph: of M vertices.
        part: int [N], which of them each vertex belongs to.
        side: int8 [N], 1 where a vertex is opposite to the first one of its part.
        first: int [M], the first vertex of each part.
    """

    graph: Graph
    part: np.ndarray
    side: np.ndarray
    first: np.ndarray

    def lower(self, labels: np.ndarray) -> np.ndarray:
        """int8 [M], the labels that become `labels` [N], if these keep merged vertices together."""
        return labels[self.first]

    def lift(self, labels: np.ndarray) -> np.ndarray:
        """int8 [N], what labels [M] of the merged graph stand for."""
        return labels[self.part] ^ self.side


def can_merge(graph: Graph) -> bool:
    """Whether edges can be summed, whatever is merged: no sum leaves the weights' type."""
    weights = graph.weights
    if weights.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return bool(np.isfinite(np.abs(weights).sum()))
    return exact_sum(weights[weights > 0]) - exact_sum(weights[weights < 0]) < 2**63


def merge_agreeing(graph: Graph, elites: np.ndarray) -> Merged:
    """Merges the ends of every edge that all elites cut, or that none of them does.

    Args:
        graph: the graph, of which `can_merge` holds.
        elites: int8 [K, N], good cuts.
    """
    count, part = parts_of(graph, elites)
    part = part.astype(np.int64)  # pairs of them are numbered
    first = np.full(count, graph.num_vertices)
    np.minimum.at(first, part, np.arange(graph.num_vertices))
    side = elites[0] ^ elites[0][first[part]]
    return Merged(_join(graph, part, count, side), part, side, first)


def parts_of(graph: Graph, elites: np.ndarray) -> tuple[int, np.ndarray]:
    """M, and which part each vertex [N] belongs to, of what `merge_agreeing` gives."""
    low, high = graph.edges.T
    opposite = elites[:, low] != elites[:, high]
    agree = (opposite == opposite[0]).all(axis=0)
    size = graph.num_vertices
    pairs = (np.ones(int(agree.sum()), np.int8), (low[agree], high[agree]))
    return connected_components(coo_array(pairs, shape=(size, size)), directed=False)


def _join(graph: Graph, part: np.ndarray, count: int, side: np.ndarray) -> Graph:
    """The graph of the parts. An edge between ends of which one is turned counts the other way."""
    low, high = graph.edges.T
    between = part[low] != part[high]
    low, high = low[between], high[between]
    weights = graph.weights[between]
    weights = np.where(side[low] != side[high], -weights, weights)
    edges = merge(np.stack([part[low], part[high]], axis=1), weights, count)
    kept = edges.weights != 0
    return Graph(edges.edges[kept], edges.weights[kept], range(count))


def distances(elites: Any, labels: np.ndarray) -> np.ndarray:
    """int [K], vertices in which elites [K, N] differ from labels [N], up to flipping all."""
    different = (np.asarray(elites) != labels).sum(axis=1)
    return np.minimum(different, len(labels) - different)
