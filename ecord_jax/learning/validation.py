"""How good an agent is on generated graphs that it was not trained on.

Shape letters: G graphs, B trajectories a graph, N vertices.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.env import reset
from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.graphs.generators import sample_graph
from ecord_jax.learning.config import TrainConfig
from ecord_jax.networks.agent import Agent, encode, initial_hidden
from ecord_jax.networks.softmax import SoftmaxConfig
from ecord_jax.search.rollout import Carry, rollout
from ecord_jax.search.temperature import ladder

__all__ = ["Score", "Validation", "best_cuts", "make_validation", "score"]

# Temperatures of the softmax over peeks that gives the reference cuts, in local-field units.
_REFERENCE_TEMPERATURES = (0.0, 0.1, 0.2, 0.3, 0.5)
_REFERENCE_TRAJECTORIES = 16
_REFERENCE_LONGER = 4
_SALT = 7919  # keeps validation graphs apart from training graphs of the same seed


class Validation(NamedTuple):
    """Attributes:
    graphs: GraphArrays, stacked [G].
    reference: float [G], the best cut that softmax over peeks finds in four times the steps.
    key: of start labels and draws, the same at each validation.
    """

    graphs: GraphArrays
    reference: np.ndarray
    key: jax.Array


class Score(NamedTuple):
    """Ratios to the reference, compared in this order.

    Attributes:
        best: mean over graphs of the best trajectory's ratio.
        mean: mean over graphs and trajectories.
    """

    best: float
    mean: float


@functools.partial(jax.jit, static_argnames="num_steps")
def best_cuts(
    agent: Agent,
    graphs: GraphArrays,
    key: jax.Array,
    temperatures: jax.Array,
    *,
    num_steps: int,
) -> jax.Array:
    """Best cut of each trajectory from random labels.

    Args:
        agent: whose policy is followed.
        graphs: stacked [G].
        key: consumed.
        temperatures: float32 [B], one a trajectory.
        num_steps: length of the episode.

    Returns:
        float32 [G, B], in device units.
    """

    def one(arrays: GraphArrays, embeddings, key: jax.Array, temperature: jax.Array):
        label_key, key = jax.random.split(key)
        labels = jax.random.bernoulli(label_key, shape=arrays.vertex_mask.shape)
        carry = Carry(reset(arrays, labels, num_steps), initial_hidden(agent))
        carry, _ = rollout(
            agent,
            arrays,
            carry,
            key,
            num_steps=num_steps,
            temperature=temperature,
            embeddings=embeddings,
        )
        return carry.state.best_cut

    def on_graph(arrays: GraphArrays, keys: jax.Array):
        embeddings = encode(agent, arrays)
        return jax.vmap(lambda k, t: one(arrays, embeddings, k, t))(keys, temperatures)

    size = graphs.num_vertices.shape[0]
    return jax.vmap(on_graph)(graphs, jax.random.split(key, (size, len(temperatures))))


def make_validation(config: TrainConfig) -> Validation:
    """The validation graphs of a run, with reference cuts."""
    graph_key, reference_key, key = jax.random.split(jax.random.key(config.seed + _SALT), 3)
    keys = jax.random.split(graph_key, config.validation_graphs)
    graphs = jax.jit(jax.vmap(lambda k: sample_graph(config.graphs, k)))(keys)
    temperatures = jnp.repeat(jnp.asarray(_REFERENCE_TEMPERATURES), _REFERENCE_TRAJECTORIES)
    steps = _REFERENCE_LONGER * config.validation_factor * config.graphs.num_vertices
    peer = Agent(params={}, config=SoftmaxConfig())
    found = best_cuts(peer, graphs, reference_key, temperatures, num_steps=steps)
    return Validation(graphs, np.asarray(found.max(axis=1), np.float64), key)


def score(config: TrainConfig, agent: Agent, validation: Validation) -> Score:
    """Scores an agent; graphs whose reference cut is not positive are left out."""
    temperatures = ladder("auto", config.validation_trajectories, agent.config)
    steps = config.validation_factor * config.graphs.num_vertices
    found = best_cuts(
        agent, validation.graphs, validation.key, jnp.asarray(temperatures), num_steps=steps
    )
    counts = validation.reference > 0
    ratio = np.asarray(found, np.float64)[counts] / validation.reference[counts, None]
    return Score(best=float(ratio.max(axis=1).mean()), mean=float(ratio.mean()))
