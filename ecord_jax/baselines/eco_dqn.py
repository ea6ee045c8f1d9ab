"""ECO-DQN: a graph network at every step (Barrett et al., AAAI 2020, arXiv:1909.04063).

Its network sees the whole graph before each flip, so a step costs a pass over all edges, which is
what ECORD does without. Observations, network and widths are those of the published code; they
are sparse here, over neighbours, where that multiplies dense matrices.

    Observed   per vertex: label, peek / p, min(steps since the last flip / T, 1);
               the same for all: |C - C*| / p, vertices that differ from the best labels (a count),
               part of the vertices whose peek is above 0, min(t / T, 1).
               p = max_i sum_j w_ij, the largest peek where all labels are equal (where that is not
               above 0: max_i sum_j |w_ij|); T = 2 |V| steps of an episode.
    Network    x_i = relu(W_0 o_i);
               e_i = relu(W_e [mean_j relu(W_1 [w_ij, o_j]), d_i / max d]) over neighbours j;
               three rounds m_i = relu(W_m [mean_j w_ij x_j, e_i]), x_i <- relu(W_u [x_i, m_i]);
               Q_i = W_q relu([W_p mean_k x_k, x_i]) + b.

Shape letters: N padded vertices, E padded directed edges, S slots for neighbours, F features, O the
seven observations, B trajectories, T steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax import struct

from ecord_jax import env
from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.search.sampling import sample_softmax

__all__ = [
    "EcoConfig",
    "EcoNetwork",
    "EcoState",
    "Neighbours",
    "init_params",
    "observe",
    "reset",
    "rollout",
    "step",
]

_OBSERVATIONS = 7
_SLOTS_AT_ONCE = 16  # one loop over vertices adds up that many neighbours, unrolled
# Vertices of the trajectories that the network sees side by side: what it keeps of each, a few
# times F floats, should fit the caches of a CPU, or else the memory.
_VERTICES_AT_ONCE = {"cpu": 10_000}
_MOST_VERTICES_AT_ONCE = 5_000_000


@dataclasses.dataclass(frozen=True)
class EcoConfig:
    """Architecture. The defaults are the published ones.

    Attributes:
        features: F, width of embeddings.
        rounds: of message passing.
        share_rounds: one set of weights for all rounds.
        episode_factor: episodes last this many times |V| steps.
    """

    features: int = 64
    rounds: int = 3
    share_rounds: bool = False
    episode_factor: int = 2


@struct.dataclass
class EcoState:
    """One trajectory.

    Attributes:
        state: labels, peeks and cuts, as ECORD's.
        differs: bool [N], vertices whose label is not that of the best labels.
    """

    state: env.State
    differs: jax.Array


class Neighbours(NamedTuple):
    """What is laid out once a graph, so that neighbours are added up without a scatter.

    Attributes:
        vertex: int32 [S / 16, 16, N], neighbours of each vertex; what is beyond its degree points
            to vertex 0.
        weight: float32 [S / 16, 16, N], of those edges, 0 beyond the degree.
        exists: bool [S / 16, 16, N].
        rest: (senders, receivers, weights, whether they count), each [E], of the edges that have
            no slot; None where all have one.
        degree: float32 [N], at least 1.
        mask: bool [N], false for padding.
        largest_peek: float32 [], p of the module's docstring.
    """

    vertex: jax.Array
    weight: jax.Array
    exists: jax.Array
    rest: tuple[jax.Array, jax.Array, jax.Array, jax.Array] | None
    degree: jax.Array
    mask: jax.Array
    largest_peek: jax.Array

    def add_up(self, values: jax.Array, message: Callable[..., jax.Array]) -> jax.Array:
        """sum_j message(w_ij, values_j) over the neighbours j of each vertex i.

        Args:
            values: float32 [N, F].
            message: (weights [K, 1], values [K, F], whether the edge exists [K, 1]) -> [K, F].
        """

        def add_slots(total: jax.Array, slots: tuple) -> tuple[jax.Array, None]:
            for vertex, weight, exists in zip(*slots, strict=True):
                seen = values.at[vertex].get(mode="promise_in_bounds")
                total = total + message(weight[:, None], seen, exists[:, None])
            return total, None

        slots = (self.vertex, self.weight, self.exists)
        total, _ = jax.lax.scan(add_slots, jnp.zeros_like(values), slots)
        if self.rest is None:
            return total
        senders, receivers, weights, counts = self.rest
        sent = message(weights[:, None], values[senders], counts[:, None])
        rest = jax.ops.segment_sum(sent, receivers, len(values), indices_are_sorted=True)
        return total + rest


def _neighbours(arrays: GraphArrays) -> Neighbours:
    """Slots for as many neighbours as a block of a flip has; hubs' other edges are the rest."""
    graph, width = arrays.graph, -(-arrays.row_block // _SLOTS_AT_ONCE) * _SLOTS_AT_ONCE
    edge = arrays.row_start[:-1] + jnp.arange(width)[:, None]
    exists = edge < arrays.row_start[1:]
    edge = jnp.where(exists, edge, 0)
    shape = (width // _SLOTS_AT_ONCE, _SLOTS_AT_ONCE, -1)
    rest = None
    if not arrays.one_block:
        place = jnp.arange(len(graph.edges)) - arrays.row_start[graph.receivers]
        counts = (place >= width) & (jnp.arange(len(graph.edges)) < arrays.row_start[-1])
        rest = (graph.senders, graph.receivers, jnp.where(counts, graph.edges, 0.0), counts)
    return Neighbours(
        vertex=jnp.where(exists, graph.senders[edge], 0).reshape(shape),
        weight=jnp.where(exists, graph.edges[edge], 0.0).reshape(shape),
        exists=exists.reshape(shape),
        rest=rest,
        degree=jnp.maximum(arrays.degree, 1).astype(jnp.float32),
        mask=arrays.vertex_mask,
        largest_peek=_largest_peek(arrays),
    )


class EcoNetwork(nn.Module):
    """The Q-network. Methods, to be called through `apply`: `encode` once a graph, `q_values`.

    A layer over two operands side by side, W [a, b], is the sum of two products here.
    """

    config: EcoConfig

    def setup(self) -> None:
        c = self.config
        self.embed = _linear(c.features)
        self.edge_observation = _linear(c.features - 1)
        self.edge_weight = _linear(c.features - 1)
        self.edge_out = _linear(c.features)
        cells = 1 if c.share_rounds else c.rounds
        self.cells = [_Round(c.features) for _ in range(cells)]
        self.pool = _linear(c.features)
        self.out_pooled, self.out = nn.Dense(1), _linear(1)

    def encode(self, arrays: GraphArrays) -> Neighbours:
        """What does not depend on the state; it has no weights."""
        return _neighbours(arrays)

    def q_values(self, neighbours: Neighbours, observation: jax.Array) -> jax.Array:
        """The value of flipping each vertex.

        Args:
            neighbours: of `encode`.
            observation: float32 [N, O].

        Returns:
            float32 [N], -inf for padding.
        """
        x = nn.relu(self.embed(observation))
        edge = self._embed_edges(neighbours, observation)
        for i in range(self.config.rounds):
            x = self.cells[i % len(self.cells)](neighbours, x, edge)
        mask = neighbours.mask[:, None]
        pooled = self.pool(jnp.sum(x, axis=0, where=mask) / jnp.maximum(mask.sum(), 1))
        q = self.out_pooled(nn.relu(pooled)) + self.out(nn.relu(x))[:, 0]
        return jnp.where(neighbours.mask, q, -jnp.inf)

    def _embed_edges(self, neighbours: Neighbours, observation: jax.Array) -> jax.Array:
        """e_i: float32 [N, F]."""
        (of_weight,) = self.edge_weight(jnp.ones((1, 1)))

        def message(weight: jax.Array, sent: jax.Array, exists: jax.Array) -> jax.Array:
            return jnp.where(exists, nn.relu(weight * of_weight + sent), 0.0)

        total = neighbours.add_up(self.edge_observation(observation), message)
        degree = neighbours.degree[:, None]
        parts = [total / degree, degree / degree.max()]
        return nn.relu(self.edge_out(jnp.concatenate(parts, axis=-1)))

    def __call__(self, arrays: GraphArrays, observation: jax.Array) -> jax.Array:
        """One step of everything, so that `init` makes every parameter."""
        return self.q_values(self.encode(arrays), observation)


class _Round(nn.Module):
    """One round of message passing."""

    width: int

    @nn.compact
    def __call__(self, neighbours: Neighbours, x: jax.Array, edge: jax.Array) -> jax.Array:
        def linear(name: str) -> nn.Dense:
            return _linear(self.width, name=name)

        total = neighbours.add_up(x, lambda weight, sent, _: weight * sent)
        mean = total / neighbours.degree[:, None]
        message = nn.relu(linear("message_neighbours")(mean) + linear("message_edge")(edge))
        return nn.relu(linear("update_self")(x) + linear("update_message")(message))


def _linear(width: int, name: str | None = None) -> nn.Dense:
    return nn.Dense(width, use_bias=False, name=name)


def init_params(config: EcoConfig, arrays: GraphArrays, key: jax.Array) -> Any:
    """Untrained parameters; they do not depend on the graph.

    Args:
        config: the architecture.
        arrays: any graph.
        key: consumed.
    """
    observation = jnp.zeros((arrays.row_start.shape[0] - 1, _OBSERVATIONS))
    return EcoNetwork(config).init(key, arrays, observation)


def reset(arrays: GraphArrays, labels: jax.Array) -> EcoState:
    """Starts an episode from labels [N], 0 or 1."""
    return EcoState(env.reset(arrays, labels), jnp.zeros(labels.shape, bool))


def step(arrays: GraphArrays, before: EcoState, action: jax.Array) -> tuple[EcoState, jax.Array]:
    """Flips a vertex; gives the state after and the reward max(C - C*, 0) / |V|.

    Args:
        arrays: the graph.
        before: the state.
        action: int32 [], the vertex.
    """
    state, reward = env.step(arrays, before.state, action, scaling="paper")
    differs = before.differs.at[action].set(~before.differs[action])
    differs = differs & (state.cut <= before.state.best_cut)
    return EcoState(state, differs), reward


def observe(neighbours: Neighbours, now: EcoState, *, config: EcoConfig) -> jax.Array:
    """float32 [N, O], see the module's docstring."""
    state, n = now.state, neighbours.mask.sum().astype(jnp.float32)
    length, scale = config.episode_factor * n, neighbours.largest_peek
    elapsed = jnp.minimum(state.step - state.last_flip, state.step) / length
    of_all = jnp.stack(
        [
            jnp.abs(state.cut - state.best_cut) / scale,
            now.differs.sum().astype(jnp.float32),
            jnp.sum(state.peeks > 0) / n,
            jnp.minimum(state.step / length, 1.0),
        ]
    )
    own = [state.labels.astype(jnp.float32), state.peeks / scale, jnp.minimum(elapsed, 1.0)]
    of_all = jnp.broadcast_to(of_all, (len(state.labels), len(of_all)))
    return jnp.concatenate([jnp.stack(own, axis=-1), of_all], axis=-1)


def _largest_peek(arrays: GraphArrays) -> jax.Array:
    """p of the module's docstring: float32 []."""
    weights = arrays.graph.edges
    sums, sizes = (
        jax.ops.segment_sum(
            values, arrays.graph.receivers, arrays.row_start.shape[0] - 1, indices_are_sorted=True
        ).max()
        for values in (weights, jnp.abs(weights))
    )
    return jnp.where(sums > 0, sums, jnp.where(sizes > 0, sizes, 1.0))


def rollout(
    params: Any,
    config: EcoConfig,
    arrays: GraphArrays,
    states: EcoState,
    key: jax.Array,
    *,
    num_steps: int,
    temperature: jax.Array | float = 0.0,
) -> tuple[EcoState, jax.Array]:
    """Lets every trajectory go on for T steps.

    Args:
        params: of the network.
        config: its architecture.
        arrays: the graph.
        states: where to start, leaves [B, ...].
        key: consumed.
        num_steps: T (static).
        temperature: [], of the softmax over Q; 0 is greedy, ties at random.

    Returns:
        Where they stand then, and the vertices flipped, int32 [T, B].
    """
    network: Any = EcoNetwork(config)
    neighbours = network.apply(params, arrays, method="encode")
    size, n = states.differs.shape
    most = _VERTICES_AT_ONCE.get(jax.default_backend(), _MOST_VERTICES_AT_ONCE)

    def q_values(one: EcoState) -> jax.Array:
        observation = observe(neighbours, one, config=config)
        return network.apply(params, neighbours, observation, method="q_values")

    def body(states: EcoState, draw: jax.Array) -> tuple[EcoState, jax.Array]:
        q = jax.lax.map(q_values, states, batch_size=max(1, min(size, most // n)))
        action = jax.vmap(sample_softmax, (0, 0, None))(draw, q, temperature)
        states, _ = jax.vmap(step, (None, 0, 0))(arrays, states, action)
        return states, action

    return jax.lax.scan(body, states, jax.random.uniform(key, (num_steps, size)))
