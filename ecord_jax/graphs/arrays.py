"""The device form of a graph: one pytree that the encoder and the environment share.

Shape letters: N padded vertices, E padded directed edges (each edge of the graph stands twice).
Directed edges are sorted by receiver, so the edge list of the encoder's `jraph.GraphsTuple` is at
the same time the CSR matrix of the environment: the neighbours of vertex `i` are
`senders[row_start[i]:row_start[i + 1]]`. Padding vertices have no edges; padding edges have
weight 0 and join the last vertex to itself, outside every CSR row.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import jraph
import numpy as np
from flax import struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecord_jax.graphs.graph import Graph

__all__ = ["GraphArrays", "bucket", "from_dense", "to_arrays", "to_batch", "weight_unit"]

# Weights beyond 2^±20 are divided by a power of two (exact) to keep float32 sums in range.
_COMFORTABLE_EXPONENT = 20


@struct.dataclass
class GraphArrays:
    """A padded graph on the device.

    Attributes:
        graph: jraph graph with `edges` float32 [E] (weights), `senders` and `receivers` int32 [E]
            sorted by receiver, `n_node` and `n_edge` int32 [2] (real, padding); no node features.
        row_start: int32 [N + 1], first directed edge of each vertex.
        num_vertices: int32 [], vertices that are not padding.
        field_scale: float32 [], s = sqrt(mean_i sum_j w_ij^2), the typical size of a peek (1 if
            there are no weights).
        row_block: neighbours that one block of a flip updates (static).
        one_block: whether every vertex has at most `row_block` neighbours (static).
    """

    graph: jraph.GraphsTuple
    row_start: jax.Array
    num_vertices: jax.Array
    field_scale: jax.Array
    row_block: int = struct.field(pytree_node=False)
    one_block: bool = struct.field(pytree_node=False)

    @property
    def vertex_mask(self) -> jax.Array:
        """bool [..., N], true for vertices that are not padding."""
        return jnp.arange(self.row_start.shape[-1] - 1) < self.num_vertices[..., None]

    @property
    def degree(self) -> jax.Array:
        """int32 [..., N], number of neighbours."""
        return self.row_start[..., 1:] - self.row_start[..., :-1]


def bucket(size: int) -> int:
    """Rounds `size` up to one of eight sizes an octave (multiples of 16), so that graphs of
    nearly the same size share one compiled program at a waste of at most 1/8."""
    step = max(16, 2 ** (max(size, 1).bit_length() - 4))
    return max(step, math.ceil(size / step) * step)


def weight_unit(max_abs_weight: float) -> float:
    """The power of two by which device weights are divided: 1 unless weights are extreme."""
    if max_abs_weight == 0:
        return 1.0
    exponent = math.frexp(max_abs_weight)[1]
    # 2^(exponent - 1) <= max_abs_weight: 2^exponent may be above the largest float.
    return 1.0 if abs(exponent) <= _COMFORTABLE_EXPONENT else math.ldexp(0.5, exponent)


def _row_block(degree: np.ndarray) -> int:
    """A power of two that holds most rows; hubs take several blocks."""
    if len(degree) == 0:
        return 8
    wanted = min(int(degree.max()), max(8, 2 * math.ceil(float(degree.mean()))))
    return 1 << max(wanted - 1, 7).bit_length()


def to_arrays(
    graph: Graph, *, min_vertices: int = 0, min_edges: int = 0, min_row_block: int = 0
) -> GraphArrays:
    """Puts a host graph on the device, padded to `bucket` sizes.

    Args:
        graph: the graph; its weights are divided by `weight_unit` and rounded to float32.
        min_vertices: N is at least that, so that graphs of different sizes share one program.
        min_edges: E is at least that.
        min_row_block: `row_block` is at least that.

    Returns:
        GraphArrays with N = bucket(num_vertices) and E = bucket(2 * num_edges), or the least sizes
        where they are larger.
    """
    n, weights = graph.num_vertices, np.asarray(graph.weights, dtype=np.float64)
    unit = weight_unit(float(np.abs(weights).max(initial=0.0)))
    ends = np.concatenate([graph.edges, graph.edges[:, ::-1]]).astype(np.int64)
    order = np.lexsort((ends[:, 0], ends[:, 1]))
    rows, padded_n = len(order), bucket(max(n, min_vertices))
    padded_e = bucket(max(rows, min_edges))
    senders = np.full(padded_e, padded_n - 1, np.int32)
    receivers = senders.copy()
    edge_weights = np.zeros(padded_e, np.float32)
    senders[:rows], receivers[:rows] = ends[order, 0], ends[order, 1]
    edge_weights[:rows] = np.tile(weights / unit, 2)[order]
    degree = np.bincount(ends[:, 1], minlength=padded_n) if rows else np.zeros(padded_n, np.int64)
    block = max(_row_block(degree[:n]), min_row_block)
    scale = math.sqrt(2 * float(np.square(weights / unit).sum()) / max(n, 1))
    return GraphArrays(
        graph=_graphs_tuple(
            jnp.asarray(edge_weights),
            jnp.asarray(senders),
            jnp.asarray(receivers),
            (n, rows),
            padded_n,
        ),
        row_start=jnp.asarray(np.concatenate([[0], np.cumsum(degree)]), jnp.int32),
        num_vertices=jnp.asarray(n, jnp.int32),
        field_scale=jnp.asarray(scale or 1.0, jnp.float32),
        row_block=block,
        one_block=bool(degree.max(initial=0) <= block),
    )


def to_batch(graphs: Sequence[Graph]) -> GraphArrays:
    """Puts graphs of any sizes on the device, padded alike, to be vmapped over or indexed.

    Args:
        graphs: at least one.

    Returns:
        GraphArrays whose leaves have a leading axis over the graphs.
    """
    degree = max(int(np.bincount(g.edges.ravel(), minlength=1).max()) for g in graphs)
    sizes = {
        "min_vertices": max(g.num_vertices for g in graphs),
        "min_edges": 2 * max(g.num_edges for g in graphs),
        "min_row_block": 1 << max(degree - 1, 7).bit_length(),  # one block holds any row
    }
    return jax.tree.map(lambda *xs: jnp.stack(xs), *(to_arrays(g, **sizes) for g in graphs))


def from_dense(adjacency: jax.Array, *, max_edges: int, row_block: int) -> GraphArrays:
    """Builds the device form from a dense matrix, on the device (for training graphs).

    Args:
        adjacency: float32 [N, N], symmetric with an empty diagonal; 0 means no edge.
        max_edges: E, directed edges to make room for; further ones would be lost.
        row_block: see `GraphArrays`.

    Returns:
        GraphArrays without padding vertices.
    """
    n = adjacency.shape[0]
    receivers, senders = jnp.nonzero(adjacency, size=max_edges, fill_value=n - 1)
    degree = (adjacency != 0).sum(axis=1, dtype=jnp.int32)
    scale = jnp.sqrt(jnp.square(adjacency).sum() / n)
    return GraphArrays(
        graph=_graphs_tuple(
            adjacency[receivers, senders],
            senders.astype(jnp.int32),
            receivers.astype(jnp.int32),
            (n, degree.sum()),
            n,
        ),
        row_start=jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(degree)]),
        num_vertices=jnp.asarray(n, jnp.int32),
        field_scale=jnp.where(scale > 0, scale, 1.0),
        row_block=row_block,
        one_block=row_block >= n - 1,
    )


def _graphs_tuple(
    weights: jax.Array, senders: jax.Array, receivers: jax.Array, sizes: tuple, padded_n: int
) -> jraph.GraphsTuple:
    """The real graph and, as jraph has it, a second one that holds the padding."""
    nodes, edges = (jnp.asarray(size, jnp.int32) for size in sizes)
    return jraph.GraphsTuple(
        nodes=None,
        edges=weights,
        senders=senders,
        receivers=receivers,
        n_node=jnp.stack([nodes, padded_n - nodes]),
        n_edge=jnp.stack([edges, weights.shape[0] - edges]),
        globals=None,
    )
