"""Random graphs whose largest cut is known, made on the host around hidden labels.

Each is a sum of small pieces none of which can be cut better than the hidden labels cut it, so no
labels cut the whole better: the value is proven, at any size. Seeds are those of `models`. Shapes:
N vertices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ecord_jax.errors import OptionError
from ecord_jax.graphs.draws import Draws, check_integer
from ecord_jax.graphs.edge_sampling import torus_edges
from ecord_jax.graphs.edges import MAX_VERTICES, merge
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.models import Seed

__all__ = ["Planted", "planted_torus", "planted_triangles"]


class Planted(NamedTuple):
    """A graph and a largest cut of it; often there are others of the same weight.

    Attributes:
      graph: the graph, of integer weights.
      labels: int8 [N], the hidden ones.
      cut: their cut, which is the maximum.
    """

    graph: Graph
    labels: np.ndarray
    cut: int


def planted_triangles(
    num_vertices: int, num_triangles: int, *, seed: Seed, signed: bool = False
) -> Planted:
    """Random triangles, each with a vertex on either side of hidden labels of equal halves.

    No labels cut more than two edges of a triangle, the hidden ones cut two of each, so the maximum
    is 2 `num_triangles`. To find it is to colour a random 3-uniform hypergraph with two colours, or
    planted not-all-equal 3-SAT without negations; without planting, about 2.1 triangles a vertex
    are the most that can be coloured (Castellani et al., J. Phys. A 36, 11037, 2003).

    Args:
      num_vertices: N, at least 3.
      num_triangles: how many; drawn with repetition. An edge weighs as many as it is in.
      seed: see `models`.
      signed: turns the signs of all edges between a random part of the vertices and the rest, and
        the hidden labels of that part with them: weights of both signs, as hard as before. The
        maximum is then `cut` alone, not 2 `num_triangles`.

    Raises:
      OptionError: for arguments that make no sense.
    """
    n = check_integer("num_vertices", num_vertices, 3, MAX_VERTICES)
    count = check_integer("num_triangles", num_triangles, 0)
    draws = Draws(seed)
    order = draws.permutation(n)
    labels = np.zeros(n, np.int8)
    labels[order[: n // 2]] = 1
    # Ranks in the order above: one of the first half, one of the second, any third.
    a = draws.below(n // 2, count)
    b = n // 2 + draws.below(n - n // 2, count)
    c = draws.below(n - 2, count)
    c += c >= a  # the two that are taken are left out, the smaller first
    c += c >= b
    a, b, c = order[a], order[b], order[c]
    edges = np.stack([np.concatenate([a, a, b]), np.concatenate([b, c, c])], axis=1)
    weights = np.ones(len(edges), np.int64)
    if signed:
        turned = draws.signs(n) < 0
        weights[turned[edges[:, 0]] != turned[edges[:, 1]]] = -1
        labels ^= turned
    return _planted(edges, weights, labels)


def planted_torus(rows: int, columns: int, *, seed: Seed) -> Planted:
    """A square lattice on a torus with weights of -1 and 1, as GSet's, around hidden labels.

    The black squares of its chessboard hold every edge once. In each, one edge drawn at random
    goes against the hidden labels and three with them; a cycle with an odd number of edges against
    any labels cannot do better than one (tile planting, Hamze et al., arXiv:1711.04083, with all
    weights of a tile of one size).

    Args:
      rows: even, at least 4.
      columns: even, at least 4; N = rows * columns.
      seed: see `models`.

    Raises:
      OptionError: for arguments that make no sense.
    """
    sides = (check_integer("rows", rows, 4), check_integer("columns", columns, 4))
    if rows % 2 or columns % 2:
        raise OptionError(f"rows={rows} and columns={columns} must be even")
    n = check_integer("rows * columns", sides[0] * sides[1], 0, MAX_VERTICES)
    draws = Draws(seed)
    labels = (draws.signs(n) < 0).astype(np.int8)
    edges = np.stack(torus_edges(sides), axis=1)  # down from each vertex, then right from each
    weights = np.where(labels[edges[:, 0]] != labels[edges[:, 1]], 1, -1)
    vertex = np.arange(n).reshape(sides)
    black = np.indices(sides).sum(axis=0) % 2 == 0
    down, right = vertex, n + vertex
    tiles = np.stack([down, np.roll(down, -1, 1), right, np.roll(right, -1, 0)], axis=-1)[black]
    against = tiles[np.arange(len(tiles)), draws.below(4, len(tiles))]
    weights[against] *= -1
    return _planted(edges, weights, labels)


def _planted(edges: np.ndarray, weights: np.ndarray, labels: np.ndarray) -> Planted:
    merged = merge(edges, weights, len(labels))
    graph = Graph(merged.edges, merged.weights, range(len(labels)))
    return Planted(graph, labels, int(graph.cut(labels)))
