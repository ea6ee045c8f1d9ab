"""The gated graph network that embeds the vertices once a graph (section 3.2, SM B).

Shape letters: N padded vertices, E padded directed edges, D embedding width.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import jraph
from flax import linen as nn

from ecord_jax.env.types import Scaling
from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.networks.layers import GRUCell

__all__ = ["Encoder", "vertex_inputs"]


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
        graph = arrays.graph._replace(
            nodes=nn.Dense(self.width, name="embed")(vertex_inputs(arrays, scaling=self.scaling)),
            edges=arrays.graph.edges / self._weight_scale(arrays),
        )
        rounds = 1 if self.share_layers else self.layers
        cells = [_Round(self.width, name=f"round_{i}") for i in range(rounds)]
        for i in range(self.layers):
            graph = cells[i % rounds](graph, arrays.degree)
        return nn.Dense(self.width, name="project")(graph.nodes)

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
    def __call__(self, graph: jraph.GraphsTuple, degree: jax.Array) -> jraph.GraphsTuple:
        sent = nn.Dense(self.width, use_bias=False, name="message")(graph.nodes)
        messages = graph.edges[:, None] * sent[graph.senders]
        total = jraph.segment_sum(
            messages, graph.receivers, degree.shape[0], indices_are_sorted=True
        )
        mean = total / jnp.maximum(degree, 1)[:, None]
        nodes = GRUCell(self.width, name="gru")(graph.nodes, mean)
        return graph._replace(nodes=nn.LayerNorm(name="norm")(nodes))
