"""Parts of a graph that can be solved apart, and those that need no search at all.

Two blocks (biconnected components) share one vertex at most, and turning over all labels of a block
changes no cut within it. So each block may have labels of its own: turned over where that is
needed, they agree at the vertices that are shared.

A part is balanced if labels satisfy all of its edges: they cut the positive ones and no negative
one. A forest is, and a bipartite graph without negative weights. No labels of it are better. A part
with one cycle is balanced, too, or its best labels satisfy all but the lightest edge of the cycle.
Shapes: N vertices, E edges, K blocks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ecord_jax.graphs.compiled import run_loop
from ecord_jax.graphs.reductions import Problem

__all__ = ["Settled", "Split", "settle", "split"]


class Split(NamedTuple):
    """How a graph was cut into its blocks, each vertex but the first of a block's being its own.

    A vertex belongs to the block through which the search came to it. Where it came from there to
    another block, that block has a copy of it: copies are numbered from N on.

    Attributes:
      kept: int64 [N + copies], the vertex that each one was.
      block: int64 [N], to which each vertex belongs.
      attached: int64 [K], the block of which each one has a copied vertex, a block of a smaller
        number; its own number for the first block of a connected component.
    """

    kept: np.ndarray
    block: np.ndarray
    attached: np.ndarray

    def lift(self, labels: np.ndarray) -> np.ndarray:
        """Turns blocks over so that the copies of each vertex agree; gives its labels, int8 [N]."""
        own, copies = labels[: len(self.block)], labels[len(self.block) :]
        differs = np.zeros(len(self.attached), np.int8)
        originals = self.kept[len(self.block) :]
        differs[_copying(self.attached)] = copies ^ own[originals]
        turns = differs.tolist()
        for block, other in enumerate(self.attached.tolist()):
            if other != block:
                turns[block] ^= turns[other]
        return own ^ np.array(turns, np.int8)[self.block]


class Settled(NamedTuple):
    """Which vertices lie in parts that are balanced or have one cycle.

    Attributes:
      kept: int64 [N'], the others.
      labels: int8 [N], best ones of the vertices that do.
      num_parts: the number of such parts.
    """

    kept: np.ndarray
    labels: np.ndarray
    num_parts: int

    def lift(self, labels: np.ndarray) -> np.ndarray:
        """Completes labels int8 [N'] to int8 [N]."""
        whole = self.labels.copy()
        whole[self.kept] = labels
        return whole


def split(problem: Problem) -> tuple[Problem, Split]:
    """Cuts a graph at the vertices that blocks share.

    Args:
      problem: a graph without isolated vertices.

    Returns:
      The graph of which each block is a connected component, and how to undo it.
    """
    size, (low, high) = problem.num_vertices, problem.edges.T
    search = _find_blocks(problem)
    block, attach = search.block, search.attach[: search.count[0]]
    attached = block[attach]
    copying = _copying(attached)
    copy = np.zeros(len(attach), np.int64)
    copy[copying] = size + np.arange(len(copying))
    # An edge is of the block of the end that was reached later: its other end was there before.
    of_edge = np.where(search.place[low] > search.place[high], block[low], block[high])
    ends = [np.where(block[end] == of_edge, end, copy[of_edge]) for end in (low, high)]
    edges = np.stack([np.minimum(*ends), np.maximum(*ends)], axis=1)
    kept = np.concatenate([np.arange(size), attach[copying]])
    return Problem(len(kept), edges, problem.weights), Split(kept, block, attached)


def settle(problem: Problem) -> tuple[Problem, Settled]:
    """Labels the connected components that are balanced or have one cycle, and takes them away.

    Args:
      problem: any graph.

    Returns:
      The other components, and how to undo it.
    """
    size, low = problem.num_vertices, problem.edges[:, 0]
    labels, component = _satisfy(problem)
    with_one_cycle = (labels < 0) & _have_one_cycle(component, low)
    if with_one_cycle.any():
        rows = np.flatnonzero(with_one_cycle[low])
        rows = rows[_heaviest_forest(size, problem.edges[rows], problem.weights[rows])]
        again, _ = _satisfy(Problem(size, problem.edges[rows], problem.weights[rows]))
        labels[with_one_cycle] = again[with_one_cycle]
    kept, alive = np.flatnonzero(labels < 0), labels[low] < 0
    number = np.cumsum(labels < 0) - 1
    rest = Problem(len(kept), number[problem.edges[alive]], problem.weights[alive])
    return rest, Settled(kept, labels, len(np.unique(component[labels >= 0])))


def _satisfy(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Gives labels int8 [N] that satisfy all edges, -1 in the components where none do, and a
    number [N] of each vertex's component."""
    import scipy.sparse
    from scipy.sparse.csgraph import connected_components

    # Two copies of each vertex, one for each label: an edge joins those that suit it. A component
    # is balanced if the graph of these falls apart into two halves, each of them a labelling.
    size, (low, high) = problem.num_vertices, problem.edges.T
    crossed = np.where(problem.weights > 0, size, 0)
    ends = (
        np.concatenate([low, low + size]),
        np.concatenate([high + crossed, high + size - crossed]),
    )
    values = np.ones(2 * len(low), np.int8)
    doubled = scipy.sparse.coo_array((values, ends), shape=(2 * size, 2 * size))
    one, other = connected_components(doubled, directed=False)[1].reshape(2, size)
    labels = np.where(one == other, -1, one > other).astype(np.int8)
    return labels, np.minimum(one, other)


def _have_one_cycle(component: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """Says of each vertex whether its component has as many edges as vertices."""
    vertices, edges = (
        np.bincount(numbers, minlength=2 * len(component))
        for numbers in (component, component[owners])
    )
    return (vertices == edges)[component]


def _heaviest_forest(size: int, edges: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Numbers of the edges of a spanning forest of the largest magnitudes."""
    import scipy.sparse
    from scipy.sparse.csgraph import minimum_spanning_tree

    # By their ranks, the heaviest first: these are exact as float64, which large integers are not.
    order = np.argsort(np.minimum(weights, -weights), kind="stable")
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    matrix = scipy.sparse.coo_array((ranks, (edges[:, 0], edges[:, 1])), shape=(size, size))
    return order[minimum_spanning_tree(matrix.tocsr()).data.astype(np.int64) - 1]


def _copying(attached: np.ndarray) -> np.ndarray:
    """Blocks that have a copied vertex."""
    return np.flatnonzero(attached != np.arange(len(attached)))


class _Search(NamedTuple):
    """A search in depth. -1 stands for what is not known yet.

    Attributes:
      starts: [N + 1], where the neighbours of each vertex begin.
      near: [2 E], the neighbours.
      next: [N], the next of them to look at.
      order: [N], vertices in the order in which they are reached.
      place: [N], where a vertex comes in that order.
      parent: [N], from where it was reached.
      low: [N], the first place that an edge from it, or from what was reached through it, leads to.
      block: [N], that of the edge to the parent; of a vertex without a parent, its first one.
      attach: [N], the vertex from which each block was reached.
      count: [1], of blocks.
    """

    starts: Any
    near: Any
    next: Any
    order: Any
    place: Any
    parent: Any
    low: Any
    block: Any
    attach: Any
    count: Any


def _find_blocks(problem: Problem) -> _Search:
    size = problem.num_vertices
    owners = problem.edges.T.ravel()
    starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=size))])
    none = np.full(size, -1)
    search = _Search(
        starts=starts,
        near=problem.edges[:, ::-1].T.ravel()[np.argsort(owners, kind="stable")],
        next=starts[:-1].copy(),
        order=none,
        place=none.copy(),
        parent=none.copy(),
        low=none.copy(),
        block=none.copy(),
        attach=none.copy(),
        count=np.zeros(1, np.int64),
    )
    return run_loop(_search_in_depth, search, max(size, len(problem.edges)))


def _search_in_depth(s: _Search) -> None:
    """Numbers the blocks, each after the one from which it is reached (Hopcroft and Tarjan)."""
    reached = 0
    for root in range(len(s.order)):
        v = root if s.place[root] < 0 else -1
        while v >= 0:
            if s.place[v] < 0:
                s.order[reached] = v
                s.place[v] = s.low[v] = reached
                reached += 1
            p = s.parent[v]
            if s.next[v] < s.starts[v + 1]:
                w = s.near[s.next[v]]
                s.next[v] += 1
                if s.place[w] < 0:
                    s.parent[w] = v
                    v = w
                elif w != p:
                    s.low[v] = min(s.low[v], s.place[w])
            else:
                if p >= 0:
                    s.low[p] = min(s.low[p], s.low[v])
                v = p
    for i in range(len(s.order)):
        v = s.order[i]
        p = s.parent[v]
        if p >= 0 and s.low[v] < s.place[p]:
            s.block[v] = s.block[p]
        elif p >= 0:
            s.block[v] = s.count[0]
            s.attach[s.count[0]] = p
            s.count[0] += 1
            if s.block[p] < 0:
                s.block[p] = s.block[v]
