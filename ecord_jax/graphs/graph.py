"""The graph whose cut is wanted: immutable, validated, on the host.

Shapes: N vertices, E edges. Vertices are 0..N-1 inside; `names` says what the user calls them.
Labels everywhere are int8 [N], 0 or 1 for the side of each vertex, in the order of `names`.
"""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ecord_jax.errors import EcordError, EcordWarning
from ecord_jax.graphs.edges import (
    MAX_VERTICES,
    MergedEdges,
    as_edges,
    as_weights,
    exact_sum,
    merge,
)

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

__all__ = ["Graph"]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected weighted graph without loops or repeated edges.

    The constructor takes the canonical form only; `from_edges` and its like make it.

    Attributes:
      edges: int64 [E, 2], read-only, 0-based, u < v, in lexicographic order.
      weights: [E], read-only; int64 where all of them are integers, else float64.
      names: [N] different hashables, a tuple or a range; what the user calls the vertices.
    """

    edges: np.ndarray
    weights: np.ndarray
    names: Sequence[Hashable]

    def __post_init__(self) -> None:
        names = _as_names(self.names)
        edges = as_edges(self.edges)
        weights = as_weights(self.weights, len(edges))
        _check_ends(edges, len(names))
        keys = edges[:, 0] * len(names) + edges[:, 1]
        if np.any(edges[:, 0] >= edges[:, 1]) or np.any(keys[1:] <= keys[:-1]):
            raise EcordError("edges must have u < v, be sorted and differ; use Graph.from_edges")
        for array in (edges, weights):  # copies of our own, made by as_edges and as_weights
            array.flags.writeable = False
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        weights: Any = None,
        num_vertices: int | None = None,
        names: Iterable[Hashable] | None = None,
    ) -> Graph:
        """Makes a graph of 0-based pairs of vertices.

        Args:
          edges: pairs of integers, in any order: an array [E, 2] or an iterable of pairs. Repeated
            ones, (v, u) beside (u, v) too, are summed and loops are dropped; each is reported
            once, by an EcordWarning with the count.
          weights: [E] finite numbers; all 1 by default. Zeros are kept as edges.
          num_vertices: N; by default the number of names, or else the largest end plus one.
          names: [N] different hashables; 0..N-1 by default.

        Returns:
          The graph.

        Raises:
          EcordError: where any of them makes no sense.
        """
        pairs = as_edges(edges)
        values = np.ones(len(pairs), np.int64) if weights is None else weights
        values = as_weights(values, len(pairs))
        if names is not None:
            names = _as_names(names)
            if num_vertices is not None and num_vertices != len(names):
                raise EcordError(f"there are {len(names)} names for {num_vertices} vertices")
        else:
            largest = int(pairs.max()) + 1 if pairs.size else 0
            names = range(_count(largest if num_vertices is None else num_vertices))
        _check_ends(pairs, len(names))
        merged = merge(pairs, values, len(names))
        _report(merged.num_repeats, merged.num_loops)
        return cls(merged.edges, merged.weights, names)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph, weight: str | None = "weight") -> Graph:
        """Makes a graph of a networkx one; its nodes, in their order, are the names.

        Args:
          graph: an undirected Graph or MultiGraph; parallel edges are summed.
          weight: the edge attribute that holds the weight, 1 where an edge lacks it; None for all
            weights 1.

        Returns:
          The graph.

        Raises:
          EcordError: for a directed graph or a weight that is not a finite number.
        """
        if graph.is_directed():
            raise EcordError("the graph is directed; use graph.to_undirected() to drop directions")
        names = tuple(graph.nodes)
        index = {name: i for i, name in enumerate(names)}
        if weight is None:
            return cls.from_edges([(index[u], index[v]) for u, v in graph.edges()], names=names)
        rows = list(graph.edges(data=weight, default=1))
        pairs = [(index[u], index[v]) for u, v, _ in rows]
        return cls.from_edges(pairs, [w for _, _, w in rows], names=names)

    @classmethod
    def from_scipy(cls, matrix: Any) -> Graph:
        """Makes a graph of its matrix of weights.

        Args:
          matrix: [N, N], a scipy sparse matrix or array, or a dense one. Symmetric, or with one
            triangle only; either way an entry is the weight of its edge, not half of it. The
            diagonal holds loops, which are dropped with a warning. Stored zeros are kept as edges.

        Returns:
          The graph, named 0..N-1.

        Raises:
          EcordError: where both triangles are there and differ.
        """
        import scipy.sparse

        try:
            coo = scipy.sparse.coo_array(matrix)
        except (TypeError, ValueError):
            raise EcordError("cannot read this as a matrix") from None
        if coo.ndim != 2 or coo.shape[0] != coo.shape[1]:
            raise EcordError(f"the matrix must be square; got shape {coo.shape}")
        size = _count(coo.shape[0])
        pairs = np.stack([coo.row, coo.col], axis=1).astype(np.int64)
        values = as_weights(coo.data)
        loops = pairs[:, 0] == pairs[:, 1]
        _report(0, int(np.count_nonzero(values[loops])))
        upper = pairs[:, 0] < pairs[:, 1]
        lower = pairs[:, 0] > pairs[:, 1]
        edges, weights = _join_triangles(
            merge(pairs[upper], values[upper], size), merge(pairs[lower], values[lower], size), size
        )
        return cls.from_edges(edges, weights, num_vertices=size)

    @property
    def num_vertices(self) -> int:
        return len(self.names)

    @property
    def num_edges(self) -> int:
        return len(self.weights)

    @functools.cached_property
    def positive_weight(self) -> int | float:
        """Exact sum of the positive weights: no cut is above it."""
        return exact_sum(self.weights[self.weights > 0])

    def cut(self, labels: Any) -> int | float:
        """Weight of the edges between the two sides, exact.

        Args:
          labels: [N] integers or booleans, 0 or 1, in the order of `names`.

        Returns:
          A Python int for integer weights; else the float nearest to the true sum.

        Raises:
          EcordError: for labels of another length, type or value.
        """
        sides = self.check_labels(labels)
        return exact_sum(self.weights[sides[self.edges[:, 0]] != sides[self.edges[:, 1]]])

    def check_labels(self, labels: Any) -> np.ndarray:
        """Checks that labels fit the graph.

        Args:
          labels: [N] integers or booleans, 0 or 1.

        Returns:
          The same as int8 [N].

        Raises:
          EcordError: for labels of another length, type or value.
        """
        try:
            array = np.asarray(labels)
        except ValueError:
            raise EcordError("labels must be a flat list of integers") from None
        if array.shape != (self.num_vertices,):
            raise EcordError(f"labels must have shape ({self.num_vertices},); got {array.shape}")
        if array.size and array.dtype.kind not in "biu":
            raise EcordError(f"labels must be integers or booleans; got {array.dtype}")
        bad = np.flatnonzero((array != 0) & (array != 1))
        if bad.size:
            raise EcordError(
                f"labels must be 0 or 1; that of {self.names[bad[0]]!r} is {array[bad[0]]}"
            )
        return array.astype(np.int8)

    def adjacency(self) -> scipy.sparse.csr_array:
        """Symmetric float64 [N, N] matrix of the weights, zeros of the graph stored."""
        import scipy.sparse

        low, high = self.edges[:, 0], self.edges[:, 1]
        values = np.concatenate([self.weights, self.weights]).astype(np.float64)
        places = np.concatenate([low, high]), np.concatenate([high, low])
        shape = (self.num_vertices, self.num_vertices)
        return scipy.sparse.coo_array((values, places), shape=shape).tocsr()

    def to_networkx(self) -> networkx.Graph:
        """The same as a networkx graph of the names, weights as the attribute `weight`."""
        import networkx

        graph = networkx.Graph()
        graph.add_nodes_from(self.names)
        ends = ((self.names[u], self.names[v]) for u, v in self.edges.tolist())
        graph.add_weighted_edges_from(
            (u, v, w) for (u, v), w in zip(ends, self.weights.tolist(), strict=True)
        )
        return graph

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            self.weights.dtype == other.weights.dtype
            and np.array_equal(self.edges, other.edges)
            and np.array_equal(self.weights, other.weights)
            and (self.names == other.names or tuple(self.names) == tuple(other.names))
        )

    def __hash__(self) -> int:
        return hash((self.num_vertices, self.num_edges))

    def __repr__(self) -> str:
        return (
            f"Graph(num_vertices={self.num_vertices}, num_edges={self.num_edges}, "
            f"weights={self.weights.dtype})"
        )


def _count(num_vertices: Any) -> int:
    """Checks a number of vertices before anything of that size is made."""
    if isinstance(num_vertices, bool) or not isinstance(num_vertices, int | np.integer):
        raise EcordError(f"num_vertices must be an integer; got {num_vertices!r}")
    if not 0 <= num_vertices <= MAX_VERTICES:
        raise EcordError(f"num_vertices must be 0..{MAX_VERTICES}; got {num_vertices}")
    return int(num_vertices)


def _as_names(names: Iterable[Hashable]) -> tuple[Hashable, ...] | range:
    """Checks that names differ; a range is kept, since it costs nothing at any size."""
    if isinstance(names, range):
        _count(len(names))
        return names
    names = tuple(names.tolist() if isinstance(names, np.ndarray) else names)
    _count(len(names))
    try:
        distinct = len(set(names))
    except TypeError:
        raise EcordError("names must be hashable") from None
    if distinct != len(names):
        raise EcordError(f"names must differ; only {distinct} of {len(names)} do")
    return names


def _check_ends(edges: np.ndarray, num_vertices: int) -> None:
    """Refuses edges with an end that is no vertex, a negative one too."""
    bad = np.flatnonzero(((edges < 0) | (edges >= num_vertices)).any(axis=1))
    if bad.size:
        u, v = edges[bad[0]].tolist()
        raise EcordError(
            f"edge {bad[0]} (counted from 0) joins {u} and {v}; expected 0..{num_vertices - 1}"
            if num_vertices
            else f"edge {bad[0]} (counted from 0) joins {u} and {v}, but there are no vertices"
        )


def _report(num_repeats: int, num_loops: int) -> None:
    """Warns the caller of a constructor of what was changed, each kind once."""
    if num_repeats:
        edges = "edge was" if num_repeats == 1 else "edges were"
        warnings.warn(f"{num_repeats} repeated {edges} summed", EcordWarning, stacklevel=3)
    if num_loops:
        loops = "loop was" if num_loops == 1 else "loops were"
        message = f"{num_loops} self {loops} dropped: a loop is never cut"
        warnings.warn(message, EcordWarning, stacklevel=3)


def _join_triangles(
    upper: MergedEdges, lower: MergedEdges, num_vertices: int
) -> tuple[np.ndarray, np.ndarray]:
    """Makes one edge list of those of a matrix's two triangles.

    Raises:
      EcordError: where both have weights other than zero, and they differ.
    """
    both = np.concatenate([upper.edges, lower.edges])
    edges = merge(both, np.zeros(len(both), np.int64), num_vertices).edges
    above, below = (_spread(part, edges, num_vertices) for part in (upper, lower))
    if not above.any():
        return edges, below
    differ = np.flatnonzero(above != below)
    if below.any() and differ.size:
        i, j = edges[differ[0]].tolist()
        there, back = above[differ[0]], below[differ[0]]
        raise EcordError(
            f"the matrix is not symmetric: entry ({i}, {j}) is {there}, ({j}, {i}) is {back}"
        )
    return edges, above


def _spread(part: MergedEdges, edges: np.ndarray, num_vertices: int) -> np.ndarray:
    """Gives the weight in `part` of each of `edges`, 0 where `part` lacks it."""
    keys, wanted = (e[:, 0] * num_vertices + e[:, 1] for e in (part.edges, edges))
    weights = np.zeros(len(edges), part.weights.dtype)
    weights[np.searchsorted(wanted, keys)] = part.weights
    return weights
