"""The factored advantage head against the plain network, and what a compiled step of it copies."""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ecord_jax.agents import load_agent
from ecord_jax.env import observe, reset
from ecord_jax.graphs import models
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import encode, factor, initial_hidden, q_values
from ecord_jax.search.rollout import Carry, rollout
from tests.helpers import quick_jit, random_agent
from tests.networks.test_equations import CONFIGS

SIZE, STEPS = 90, 60
GRAPH = models.erdos_renyi(SIZE, 0.07, weights="signed", seed=3)
ARRAYS = to_arrays(GRAPH)


def walked(agent, embeddings, steps=STEPS, temperature=0.3):
    """A rollout on GRAPH, with the carries and Q-values of its steps."""
    labels = jax.random.bernoulli(jax.random.key(4), shape=ARRAYS.vertex_mask.shape)
    return rollout(
        agent,
        ARRAYS,
        Carry(reset(ARRAYS, labels), initial_hidden(agent)),
        jax.random.key(5),
        num_steps=steps,
        temperature=temperature,
        embeddings=embeddings,
        record=lambda before, q, action: (before, q),
    )[1]


@quick_jit
def both(agent):
    """Plain and fast Q-values at every step of a walk."""
    plain, fast = encode(agent, ARRAYS), factor(agent, ARRAYS)
    record = walked(agent, plain)

    def look(carry):
        seen = observe(ARRAYS, carry.state, scaling=agent.config.scaling)
        return [q_values(agent, made, seen, carry.hidden) for made in (plain, fast)]

    return *jax.lax.map(look, record.extra[0]), record.extra[1]


def agents():
    for name, config in CONFIGS.items():
        yield pytest.param(functools.partial(random_agent, config, ARRAYS), id=f"random {name}")
    for name in ("er40", "mixture"):
        yield pytest.param(functools.partial(load_agent, name), id=name)


@pytest.mark.parametrize("make", list(agents()))
def test_fast_is_plain_but_for_the_value(make):
    plain, fast, seen = (np.asarray(q) for q in both(make()))
    np.testing.assert_allclose(plain, seen, rtol=1e-5, atol=1e-5)
    assert (fast[:, SIZE:] == -np.inf).all()
    plain, fast = plain[:, :SIZE], fast[:, :SIZE]
    assert np.ptp(plain, axis=1).min() > 0.01
    value = plain - fast
    np.testing.assert_allclose(value, value[:, :1].repeat(SIZE, 1), atol=1e-4)


@pytest.mark.parametrize("name", ["er40", "mixture"])
def test_greedy_actions_are_the_same(name):
    agent = load_agent(name)
    act = quick_jit(lambda agent, made: walked(agent, made, temperature=0.0).action)
    plain = act(agent, quick_jit(encode)(agent, ARRAYS))
    np.testing.assert_array_equal(act(agent, quick_jit(factor)(agent, ARRAYS)), plain)


@pytest.mark.parametrize("name", ["er40", "mixture"])
@pytest.mark.parametrize("hub", [False, True])
def test_a_compiled_step_copies_nothing_of_the_state(name, hub):
    """Within the loop over steps: no copy of [B, N], and no array of [., N, 64]."""
    trajectories, size = 3, 1008
    graph = models.power_law(size, 4.0, seed=1) if hub else models.random_regular(size, 4, seed=1)
    arrays, agent = to_arrays(graph), load_agent(name)
    assert arrays.one_block == (not hub)

    def run(agent, made, labels, keys):
        def one(labels, key):
            carry = Carry(reset(arrays, labels), initial_hidden(agent))
            return rollout(
                agent, arrays, carry, key, num_steps=40, temperature=0.1, embeddings=made
            )

        return jax.vmap(one)(labels, keys)

    padded = arrays.vertex_mask.shape[0]
    labels, keys = (
        jnp.zeros((trajectories, padded), jnp.int8),
        jax.random.split(jax.random.key(0), trajectories),
    )
    made = jax.eval_shape(functools.partial(factor), agent, arrays)
    text = jax.jit(run).lower(agent, made, labels, keys).compile().as_text()
    assert not re.findall(rf"\[(?:{trajectories},)?{padded},64\]", text)
    # What is copied at the entry, into the loop, is no matter.
    inside = text[: text.index("\nENTRY ")]
    copies = re.findall(rf"= \w+\[{trajectories},{padded}\]\S* copy\(", inside)
    assert not copies
