"""The incremental step: against the plain network fed the same stale vector, on device and host."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ecord_jax as ej
from ecord_jax.agents import load_agent
from ecord_jax.env import observe, reset, step
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph, models
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import Agent, factor, initial_hidden, q_values
from ecord_jax.networks.config import EcordConfig
from ecord_jax.search import incremental
from ecord_jax.search.incremental import incremental_rollout
from ecord_jax.search.incremental_host import can_walk, start_walk, survey
from ecord_jax.search.rollout import Carry, rollout
from tests.helpers import quick_jit, random_agent

SIZE, K, T = 150, 12, 96
TEMPERATURE = 0.3
SMALL = {"embedding": 4, "layers": 2, "hidden": 12, "message": 6, "value_width": 8}
CONFIGS = {
    "paper gru": EcordConfig(**SMALL),
    "paper zero": EcordConfig(**SMALL, rnn="zero"),
    "paper none": EcordConfig(**SMALL, rnn="none"),
    "free": EcordConfig(**SMALL, rnn="none", scaling="scale_free"),
    "free mlp": EcordConfig(
        **SMALL, rnn="none", scaling="scale_free", hidden_projection="mlp", gnn="zero"
    ),
}
HOST = [name for name, config in CONFIGS.items() if can_walk(config)]


@functools.cache
def setting(name):
    """Signed float weights, a hub, an agent of any parameters, start labels."""
    rng = np.random.default_rng(1)
    edges = models.erdos_renyi(SIZE, 0.04, seed=2).edges
    hub = np.stack([np.zeros(40, np.int64), np.arange(1, 41)], axis=1)
    edges = np.unique(np.concatenate([edges, hub]), axis=0)
    graph = Graph.from_edges(edges, rng.normal(size=len(edges)), num_vertices=SIZE)
    arrays = to_arrays(graph, min_row_block=64)
    agent = load_agent(name) if name == "mixture" else random_agent(CONFIGS[name], arrays)
    return graph, arrays, agent, rng.integers(0, 2, SIZE).astype(np.int8)


def start(arrays, agent, labels):
    padded = jnp.pad(jnp.asarray(labels), (0, arrays.vertex_mask.shape[0] - SIZE))
    return Carry(reset(arrays, padded), initial_hidden(agent))


@functools.partial(quick_jit, static_argnames=("num_steps", "every"))
def run(agent, arrays, carry, actions=None, *, num_steps, every, temperature=TEMPERATURE):
    return incremental_rollout(
        agent,
        arrays,
        carry,
        jax.random.key(3),
        num_steps=num_steps,
        refresh_every=every,
        embeddings=factor(agent, arrays),
        temperature=temperature,
        actions=actions,
    )


def stale_scores(agent, arrays, carry, actions, monkeypatch):
    """What the plain step would score after the actions, had it the vector of the last refresh and,
    scale-free, each vertex's times as they were when it was last looked at."""
    config, made = agent.config, factor(agent, arrays)
    one_step = quick_jit(functools.partial(step, scaling=config.scaling))
    look = quick_jit(lambda state, hidden: (observe(arrays, state, scaling=config.scaling), hidden))
    rows, senders = np.asarray(arrays.row_start), np.asarray(arrays.graph.senders)
    state, hidden = carry.state, carry.hidden
    for t, action in enumerate(np.asarray(actions)):
        if t % K == 0:
            seen, _ = look(state, hidden)
            vector, times = seen.globals, np.array(seen.features[2:])
            memory = (
                run(agent, arrays, carry, actions[:t], num_steps=t, every=K)[0].hidden
                if t
                else hidden
            )
        state, _ = one_step(arrays, state, action)
        seen, _ = look(state, hidden)
        near = senders[rows[action] : rows[action + 1]]
        recent = np.asarray(actions)[
            max(t + 1 - incremental.recent_flips(config.scaling), 0) : t + 1
        ]
        touched = np.unique(np.concatenate([[action], near, recent]).astype(int))
        times[:, touched] = np.array(seen.features[2:])[:, touched]
    stale = seen.replace(globals=vector, features=(*seen.features[:2], *jnp.asarray(times)))
    return np.asarray(q_values(agent, made, stale, memory))[:SIZE]


@pytest.mark.parametrize("name", [*CONFIGS, "mixture"])
def test_scores_are_the_plain_ones_of_what_was_seen(name, monkeypatch):
    _, arrays, agent, labels = setting(name)
    carry = start(arrays, agent, labels)
    steps = 5 * K
    _, record, scores = run(agent, arrays, carry, num_steps=steps, every=K)
    expected = stale_scores(agent, arrays, carry, record.action, monkeypatch)
    assert np.ptp(expected) > 0.05
    np.testing.assert_allclose(scores[:SIZE], expected, atol=1e-4)
    assert (np.asarray(scores[SIZE:]) == -np.inf).all()
