"""The value of the largest cut of a small or sparse graph, proven.

Vertices are eliminated one after another: what a vertex can add is maximised over its side and kept
as a table over the sides of its neighbours, as in bucket elimination (Dechter, Artificial
Intelligence 113, 1999). Tables grow with the tree width of the graph, not with its size.
"""

from __future__ import annotations

import numpy as np

from ecord_jax.errors import OptionError
from ecord_jax.graphs.graph import Graph

__all__ = ["largest_cut"]

_Table = tuple[list[int], np.ndarray]  # vertices, ascending; int64, one axis of 2 a vertex


def largest_cut(graph: Graph, *, max_width: int = 22) -> int | None:
    """The weight of the largest cut.

    Args:
      graph: of integer weights, whose magnitudes sum to less than 2**62.
      max_width: most neighbours a vertex may have when it is eliminated: tables have
        2**(max_width + 1) integers of 8 bytes.

    Returns:
      The weight; None where a wider table would be needed (in this order of elimination, that of
      the least degree).

    Raises:
      OptionError: for weights that are not integers or too large.
    """
    if graph.weights.dtype.kind != "i" or sum(map(abs, graph.weights.tolist())) >= 2**62:
        raise OptionError("the largest cut is proven for integer weights below 2**62 only")
    order = _elimination_order(graph, max_width)
    if order is None:
        return None
    tables: list[_Table] = []
    for edge, weight in zip(graph.edges.tolist(), graph.weights.tolist(), strict=True):
        tables.append((edge, np.array([[0, weight], [weight, 0]], np.int64)))
    for vertex in order:
        used = [table for table in tables if vertex in table[0]]
        tables = [table for table in tables if vertex not in table[0]]
        if used:
            tables.append(_eliminate(vertex, used))
    return sum(int(values) for _, values in tables)


def _elimination_order(graph: Graph, max_width: int) -> list[int] | None:
    """Vertices by their least degree at that time, the smallest first; None if that is too wide."""
    neighbours: dict[int, set[int]] = {v: set() for v in range(graph.num_vertices)}
    for u, v in graph.edges.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    order = []
    while neighbours:
        vertex = min(neighbours, key=lambda v: (len(neighbours[v]), v))
        around = neighbours.pop(vertex)
        if len(around) > max_width:
            return None
        for other in around:
            neighbours[other] |= around
            neighbours[other] -= {other, vertex}
        order.append(vertex)
    return order


def _eliminate(vertex: int, tables: list[_Table]) -> _Table:
    """Adds tables up and maximises over the side of a vertex that all of them have."""
    vertices = sorted({v for table in tables for v in table[0]})
    total = np.zeros((2,) * len(vertices), np.int64)
    for own, values in tables:
        total += values.reshape([2 if v in own else 1 for v in vertices])
    axis = vertices.index(vertex)
    return vertices[:axis] + vertices[axis + 1 :], total.max(axis=axis)
