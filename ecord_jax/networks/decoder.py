"""The recurrent Q-network that picks vertices, once a step (section 3.2, SM B).

Shape letters: N padded vertices, D embedding width, F features, G globals, H hidden width.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from ecord_jax.env.types import Observation
from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.encoder import Encoder
from ecord_jax.networks.layers import GRUCell

__all__ = ["EcordNetwork", "Embeddings"]


class Embeddings(NamedTuple):
    """What is computed once a graph.

    Attributes:
        vertex: float32 [N, D], x_i.
        advantage: float32 [N, A], the part of the advantage head's first layer that only x_i
            enters: the layer is linear, so its product with [x_i, W_o o_i, W_h h] is a sum.
    """

    vertex: jax.Array
    advantage: jax.Array


class EcordNetwork(nn.Module):
    """Encoder and decoder of one agent.

    Methods (to be called through `apply`): `encode` once a graph, `q_values` and `remember` once a
    step. The hidden state is [H], or [0] where the configuration has no RNN. This is the readable
    definition; `ecord_jax.networks.fast` does the same in less time.
    """

    config: EcordConfig

    def setup(self) -> None:
        c = self.config
        if c.gnn == "on":
            self.encoder = Encoder(c.embedding, c.layers, c.share_layers, c.scaling)
            self.advantage_vertex = nn.Dense(c.advantage_width, use_bias=False)
        self.embed_observation = nn.Dense(c.embedding)
        self.advantage_observation = nn.Dense(c.advantage_width, use_bias=False)
        self.advantage_hidden = nn.Dense(c.advantage_width)
        self.advantage_norm = nn.LayerNorm()
        self.advantage_out = nn.Dense(1)
        self.project_hidden = _Projection(c.hidden_projection, 2 * c.embedding)
        self.value = _Value(c.value_width)
        if c.rnn == "gru":
            self.message = nn.Dense(c.message)
            self.gru = GRUCell(c.hidden)

    def encode(self, arrays: GraphArrays) -> Embeddings:
        """Embeds the vertices of a graph."""
        c = self.config
        n = arrays.vertex_mask.shape[0]
        if c.gnn == "zero":
            return Embeddings(jnp.zeros((n, c.embedding)), jnp.zeros((n, c.advantage_width)))
        vertex = self.encoder(arrays)
        return Embeddings(vertex, self.advantage_vertex(vertex))

    def q_values(
        self, embeddings: Embeddings, observation: Observation, hidden: jax.Array
    ) -> jax.Array:
        """Q(v_i, h) = MLP_V(h) + MLP_A([x_i, W_o o_i, W_h h]): float32 [N], -inf for padding."""
        memory = self._memory(observation.globals, hidden)
        observed = self.embed_observation(observation.vertex)
        first = (
            embeddings.advantage
            + self.advantage_observation(observed)
            + self.advantage_hidden(self.projected_memory(observation.globals, hidden))
        )
        inner = nn.leaky_relu(self.advantage_norm(first))
        advantage = self.advantage_out(inner)[..., 0]
        return jnp.where(observation.mask, self.value(memory) + advantage, -jnp.inf)

    def projected_memory(self, globals_: jax.Array, hidden: jax.Array) -> jax.Array:
        """W_h h: float32 [2 D]."""
        return self.project_hidden(self._memory(globals_, hidden))

    def remember(
        self,
        vertex: jax.Array,
        features: jax.Array,
        next_globals: jax.Array,
        hidden: jax.Array,
    ) -> jax.Array:
        """GRU(h, LeakyReLU(W_m [v_*, o_G])), the next h.

        Args:
            vertex: float32 [D], x_i of the flipped vertex.
            features: float32 [F], what was observed of it before the flip.
            next_globals: float32 [G], o_G after the flip.
            hidden: float32 [H].
        """
        if self.config.rnn != "gru":
            return hidden
        flipped = jnp.concatenate([vertex, self.embed_observation(features)])
        if self.config.stop_gradient:
            flipped = jax.lax.stop_gradient(flipped)
        message = self.message(jnp.concatenate([flipped, next_globals]))
        return self.gru(hidden, nn.leaky_relu(message))

    def __call__(
        self, arrays: GraphArrays, observation: Observation, hidden: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """One step of everything, so that `init` makes every parameter."""
        embeddings = self.encode(arrays)
        q_values = self.q_values(embeddings, observation, hidden)
        flipped = embeddings.vertex[0], observation.vertex[0]
        return q_values, self.remember(*flipped, observation.globals, hidden)

    def _memory(self, globals_: jax.Array, hidden: jax.Array) -> jax.Array:
        """What the heads see as the state of the trajectory."""
        match self.config.rnn:
            case "gru":
                return hidden
            case "zero":
                return jnp.zeros(self.config.hidden)
            case _:
                return globals_


class _Projection(nn.Module):
    """Hidden state to the width of a vertex embedding: W_h, or the published code's MLP."""

    kind: str
    width: int

    @nn.compact
    def __call__(self, memory: jax.Array) -> jax.Array:
        if self.kind == "linear":
            return nn.Dense(self.width, use_bias=False)(memory)
        # Without an RNN the memory is a few numbers: half of two, normalised, would be a constant.
        inner = nn.Dense(max(memory.shape[-1] // 2, self.width))(jnp.tanh(memory))
        inner = nn.leaky_relu(nn.LayerNorm()(inner))
        return nn.leaky_relu(nn.LayerNorm()(nn.Dense(self.width)(inner)))


class _Value(nn.Module):
    """MLP_V: tanh on the input, one inner layer, leaky ReLU."""

    width: int

    @nn.compact
    def __call__(self, memory: jax.Array) -> jax.Array:
        inner = nn.leaky_relu(nn.Dense(self.width)(jnp.tanh(memory)))
        return nn.Dense(1)(inner)[..., 0]
