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
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.decoder import EcordNetwork
from ecord_jax.networks.softmax import SoftmaxConfig, SoftmaxNetwork
from ecord_jax.networks.swift import SwiftConfig

__all__ = ["Agent", "encode", "init_agent", "initial_hidden", "q_values", "remember", "scaling"]


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


def q_values(
    agent: Agent, embeddings: Any, observation: Observation, hidden: jax.Array
) -> jax.Array:
    """float32 [N]: the value of flipping each vertex, -inf for padding."""
    network = _network(agent.config)
    return network.apply(agent.params, embeddings, observation, hidden, method="q_values")


def remember(
    agent: Agent,
    embeddings: Any,
    observation: Observation,
    action: jax.Array,
    next_globals: jax.Array,
    hidden: jax.Array,
) -> jax.Array:
    """The hidden state after a flip; see `EcordNetwork.remember`."""
    return _network(agent.config).apply(
        agent.params, embeddings, observation, action, next_globals, hidden, method="remember"
    )
