"""The gated graph network that embeds the vertices once a graph (section 3.2, SM B).

Shape letters: N padded vertices, E padded directed edges, D embedding width.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import jraph
from flax import linen as nn

from ecord_jax.env.types import Scaling
from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.networks.layers import GRUCell

__all__ = ["Encoder", "neighbour_sums", "vertex_inputs"]

# Edges whose messages are in memory at a time: 4 MB of them at the paper's width.
_EDGE_BLOCK = 2**16


def vertex_inputs(arrays: GraphArrays, *, scaling: Scaling) -> jax.Array:
    """What the encoder is told of each vertex before the first message.

    In the paper's scaling one constant, as in its published code ("geometric structure only").
    Scale-free: also the vertex's local-field size sqrt(sum_j w_ij^2) / s and the balance of its
    weights sum_j w_ij / sum_j |w_ij|, which no mean over neighbours can show.

    Returns:
        float32 [N, 1] or [N, 3].
    """
    n = arrays.vertex_mask.shape[0]
    if scaling == "paper":
        return jnp.ones((n, 1))
    weights = arrays.graph.edges

    def over_neighbours(values):
        return jraph.segment_sum(values, arrays.graph.receivers, n, indices_are_sorted=True)

    moments = over_neighbours(jnp.stack([weights, jnp.abs(weights), weights**2], axis=-1))
    total, magnitude, square = moments.T
    balance = total / jnp.maximum(magnitude, 1e-12)
    return jnp.stack([jnp.ones(n), jnp.sqrt(square) / arrays.field_scale, balance], axis=-1)


def neighbour_sums(
    graph: jraph.GraphsTuple, n: int, width: int, *, edge_block: int = _EDGE_BLOCK
) -> Callable[[jax.Array], jax.Array]:
    """The linear map x_i -> sum_j w_ij x_j.

    It is the product with a dense matrix where that is no larger than the messages of all edges
    (several times faster on a CPU, where sums over edges are done one by one, and more so their
    gradient). Else messages are summed over the edges, a block of them at a time.

    Args:
        graph: `edges` float32 [E] (weights), `senders` and `receivers` int32 [E], sorted by
            receiver.
        n: N.
        width: D.
        edge_block: edges whose messages are in memory at a time.

    Returns:
        The map of float32 [N, D] to float32 [N, D].
    """
    senders, receivers, weights = graph.senders, graph.receivers, graph.edges
    edges = weights.shape[0]
    if n * n <= width * edges:
        matrix = jnp.zeros((n, n)).at[receivers, senders].add(weights)
        return lambda x: jnp.matmul(matrix, x, precision=jax.lax.Precision.HIGHEST)
    if edges <= edge_block:
        return lambda x: jraph.segment_sum(
            weights[:, None] * x[senders], receivers, n, indices_are_sorted=True
        )
    fill = (0, -edges % edge_block)  # edges of weight 0
    blocks = [jnp.pad(e, fill).reshape(-1, edge_block) for e in (senders, receivers, weights)]

    def stream(x: jax.Array) -> jax.Array:
        def add_block(total: jax.Array, block: list[jax.Array]) -> tuple[jax.Array, None]:
            senders, receivers, weights = block
            return total.at[receivers].add(weights[:, None] * x[senders]), None

        return jax.lax.scan(add_block, jnp.zeros_like(x), blocks)[0]

    return stream


class Encoder(nn.Module):
    """x_i = W_p x_i^(L), x_i^(l+1) = LN(GRU(x_i^(l), mean_j w_ij W_g x_j^(l))).

    Attributes:
        width: D.
        layers: L.
        share_layers: one W_g, GRU and LN for all rounds.
        scaling: of inputs and weights; scale-free weights are in units of their mean square root.
    """

    width: int
    layers: int
    share_layers: bool
    scaling: Scaling

    @nn.compact
    def __call__(self, arrays: GraphArrays) -> jax.Array:
        """Embeddings float32 [N, D]."""
        nodes = nn.Dense(self.width, name="embed")(vertex_inputs(arrays, scaling=self.scaling))
        graph = arrays.graph._replace(edges=arrays.graph.edges / self._weight_scale(arrays))
        sums = neighbour_sums(graph, *nodes.shape)
        rounds = 1 if self.share_layers else self.layers
        cells = [_Round(self.width, name=f"round_{i}") for i in range(rounds)]
        for i in range(self.layers):
            nodes = cells[i % rounds](nodes, sums, arrays.degree)
        return nn.Dense(self.width, name="project")(nodes)

    def _weight_scale(self, arrays: GraphArrays) -> jax.Array | float:
        if self.scaling == "paper":
            return 1.0
        edges = jnp.maximum(arrays.graph.n_edge[0], 1)
        square = jnp.sum(arrays.graph.edges**2) / edges
        return jnp.where(square > 0, jnp.sqrt(square), 1.0)


class _Round(nn.Module):
    """One round of message passing."""

    width: int

    @nn.compact
    def __call__(
        self, nodes: jax.Array, sums: Callable[[jax.Array], jax.Array], degree: jax.Array
    ) -> jax.Array:
        """nodes [N, D], the map of `neighbour_sums`, degree [N] -> next nodes [N, D]."""
        sent = nn.Dense(self.width, use_bias=False, name="message")(nodes)
        mean = sums(sent) / jnp.maximum(degree, 1)[:, None]
        nodes = GRUCell(self.width, name="gru")(nodes, mean)
        return nn.LayerNorm(name="norm")(nodes)
