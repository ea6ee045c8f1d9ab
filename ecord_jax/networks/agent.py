"""An agent: parameters and the configuration they belong to. Network functions take it first."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from ecord_jax.env import Observation, Scaling, observe, reset
from ecord_jax.errors import AgentError
from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.networks import fast
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.decoder import EcordNetwork
from ecord_jax.networks.softmax import SoftmaxConfig, SoftmaxNetwork
from ecord_jax.networks.swift import SwiftConfig

__all__ = [
    "Agent",
    "encode",
    "factor",
    "init_agent",
    "initial_hidden",
    "projected_memory",
    "q_values",
    "remember",
    "scaling",
]


@struct.dataclass
class Agent:
    """Parameters (leaves of the pytree) and configuration (static).

    Attributes:
        params: variables of the network.
        config: `EcordConfig`, `SwiftConfig`, or `SoftmaxConfig` for the policy without learning.
    """

    params: Any
    config: Any = struct.field(pytree_node=False)


def _network(config: Any) -> Any:
    if isinstance(config, SwiftConfig):
        raise AgentError("a swift agent walks on the host, by `solve`, not through `rollout`")
    return SoftmaxNetwork(config) if isinstance(config, SoftmaxConfig) else EcordNetwork(config)


def scaling(agent: Agent) -> Scaling:
    """The scaling in which the agent sees states and is rewarded."""
    return agent.config.scaling


def init_agent(config: EcordConfig, arrays: GraphArrays, key: jax.Array) -> Agent:
    """An untrained agent.

    Args:
        config: the architecture.
        arrays: any graph; parameters do not depend on it.
        key: consumed.
    """
    labels = jnp.zeros(arrays.vertex_mask.shape, jnp.int8)
    observation = observe(arrays, reset(arrays, labels), scaling=config.scaling)
    agent = Agent(params={}, config=config)
    params = _network(config).init(key, arrays, observation, initial_hidden(agent))
    return dataclasses.replace(agent, params=params)


def initial_hidden(agent: Agent) -> jax.Array:
    """The hidden state of an episode's start: zeros [H]; [0] without an RNN."""
    recurrent = isinstance(agent.config, EcordConfig) and agent.config.rnn == "gru"
    return jnp.zeros(agent.config.hidden if recurrent else 0)


def encode(agent: Agent, arrays: GraphArrays) -> Any:
    """What the agent computes once a graph; see `EcordNetwork.encode`."""
    return _network(agent.config).apply(agent.params, arrays, method="encode")


def factor(agent: Agent, arrays: GraphArrays) -> Any:
    """As `encode`, in the form with which `q_values` is fast, see `ecord_jax.networks.fast`.

    It takes its time once a graph, and Q-values then lack MLP_V(h): they are for choosing.
    """
    if not isinstance(agent.config, EcordConfig):
        return encode(agent, arrays)
    return fast.factor(agent.params, agent.config, arrays)


def q_values(
    agent: Agent, embeddings: Any, observation: Observation, hidden: jax.Array
) -> jax.Array:
    """The value of flipping each vertex.

    Args:
        agent: whose.
        embeddings: what `encode` made, or `factor`.
        observation: of the state.
        hidden: float32 [H].

    Returns:
        float32 [N], -inf for padding.
    """
    network = _network(agent.config)
    if isinstance(embeddings, fast.Factored):
        projected = projected_memory(agent, observation.globals, hidden)
        return fast.advantages(embeddings, observation.features, projected)
    return network.apply(agent.params, embeddings, observation, hidden, method="q_values")


def projected_memory(agent: Agent, globals_: jax.Array, hidden: jax.Array) -> jax.Array:
    """float32 [2 D]: what the advantage head sees of a trajectory, W_h h."""
    network = _network(agent.config)
    return network.apply(agent.params, globals_, hidden, method="projected_memory")


def remember(
    agent: Agent,
    embeddings: Any,
    action: jax.Array,
    features: jax.Array,
    next_globals: jax.Array,
    hidden: jax.Array,
) -> jax.Array:
    """The hidden state after a flip, see `EcordNetwork.remember`.

    Args:
        agent: whose.
        embeddings: what `encode` made, or `factor`.
        action: int32 [], the vertex.
        features: float32 [F], what was observed of it before the flip.
        next_globals: float32 [G], o_G after the flip.
        hidden: float32 [H], before.
    """
    if hidden.size == 0:
        return hidden
    vertex = embeddings.vertex[action]
    network = _network(agent.config)
    return network.apply(agent.params, vertex, features, next_globals, hidden, method="remember")
