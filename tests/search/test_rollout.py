"""Tests of the one rollout: what acts, replays and solves must be the same thing."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
import scipy.stats

from ecord_jax.env import observe, observe_global, reset, step
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import Agent, encode, initial_hidden, q_values, remember
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.softmax import SoftmaxConfig
from ecord_jax.search.rollout import Carry, flipped_labels, rollout
from tests.helpers import pick, quick_jit, random_agent

T, KEYS, VERTICES = 20, 1500, 12
TINY = {"embedding": 4, "layers": 2, "hidden": 16, "message": 8, "value_width": 8}
CONFIGS = {
    "gru": EcordConfig(**TINY),
    "none": EcordConfig(rnn="none", scaling="scale_free", **TINY),
    "peeks": SoftmaxConfig("paper"),
}


@functools.cache
def setting(name):
    """An agent, a signed graph among padding, and a start."""
    rng = np.random.default_rng(4)
    edges = np.argwhere(np.triu(rng.random((VERTICES, VERTICES)) < 0.4, 1))
    graph = Graph.from_edges(edges, rng.choice([-2, -1, 1, 3], len(edges)), num_vertices=VERTICES)
    arrays = to_arrays(graph)
    config = CONFIGS[name]
    learned = isinstance(config, EcordConfig)
    agent = random_agent(config, arrays) if learned else Agent({}, config)
    labels = rng.integers(0, 2, arrays.vertex_mask.shape[0])
    return agent, graph, arrays, Carry(reset(arrays, labels), initial_hidden(agent))


def _act(agent, arrays, carry, keys, temperature, epsilon):
    def one(key):
        return rollout(
            agent,
            arrays,
            carry,
            key,
            num_steps=T,
            temperature=temperature,
            epsilon=epsilon,
            record=lambda before, q, action: (before, q),
        )

    return jax.vmap(one)(keys)


act = quick_jit(_act)


@functools.cache
def acted(name, temperature=0.4, epsilon=0.2):
    """Final carries and records of many keys."""
    agent, _, arrays, carry = setting(name)
    keys = jax.random.split(jax.random.key(2), KEYS)
    return act(agent, arrays, carry, keys, temperature, epsilon)


@functools.partial(quick_jit, static_argnames="num_steps")
def replay(agent, arrays, carry, actions, num_steps):
    return rollout(
        agent,
        arrays,
        carry,
        jax.random.key(99),
        num_steps=num_steps,
        actions=actions,
        record=lambda before, q, action: (before, q),
    )


def assert_same(one, other, **tolerance):
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for x, y in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(x, y, **tolerance)


@pytest.mark.parametrize(("name", "begin"), [("gru", 0), ("gru", 7), ("none", 7), ("peeks", 7)])
def test_replay_gives_back_what_was_acted(name, begin):
    agent, _, arrays, carry = setting(name)
    after, record = pick(acted(name), 3)
    carries, q = record.extra
    stored = pick(carries, begin)
    again, replayed = replay(agent, arrays, stored, record.action[begin:], T - begin)
    np.testing.assert_array_equal(replayed.action, record.action[begin:])
    np.testing.assert_array_equal(replayed.cut, record.cut[begin:])
    np.testing.assert_allclose(replayed.reward, record.reward[begin:], rtol=1e-6)
    assert_same(replayed.extra[0].state, pick(carries.state, slice(begin, None)))
    assert_same(again.state, after.state)
    np.testing.assert_allclose(again.hidden, after.hidden, atol=1e-6)
    np.testing.assert_allclose(replayed.extra[0].hidden, carries.hidden[begin:], atol=1e-6)
    np.testing.assert_allclose(replayed.extra[1], q[begin:], atol=1e-6)
    assert again.hidden.shape == ((16,) if name == "gru" else (0,))


@pytest.mark.parametrize("name", CONFIGS)
def test_a_rollout_is_its_steps(name):
    """Policy and environment step by step, in a plain loop."""
    agent, _, arrays, carry = setting(name)
    scaling = agent.config.scaling
    _, record = pick(acted(name), 5)

    @quick_jit
    def one_step(state, hidden, action):
        embeddings = encode(agent, arrays)
        seen = observe(arrays, state, scaling=scaling)
        q = q_values(agent, embeddings, seen, hidden)
        after, reward = step(arrays, state, action, scaling=scaling)
        next_globals = observe_global(arrays, after, scaling=scaling)
        hidden = remember(agent, embeddings, action, seen.vertex[action], next_globals, hidden)
        return q, after, reward, hidden

    state, hidden = carry
    for t, action in enumerate(record.action):
        before, q = pick(record.extra, t)
        assert_same(before.state, state)
        np.testing.assert_allclose(before.hidden, hidden, atol=1e-6)
        expected_q, state, reward, hidden = one_step(state, hidden, action)
        np.testing.assert_allclose(q, expected_q, atol=1e-6)
        np.testing.assert_allclose(record.reward[t], reward, rtol=1e-6)
        assert float(record.cut[t]) == float(state.cut)
    if name == "gru":
        assert np.abs(hidden).max() > 1e-3


def test_the_start_is_not_changed_by_embeddings_at_hand():
    agent, _, arrays, carry = setting("gru")
    actions = acted("gru")[1].action[0]
    ready = encode(agent, arrays)
    given = quick_jit(
        lambda c: rollout(
            agent, arrays, c, jax.random.key(0), num_steps=T, actions=actions, embeddings=ready
        )
    )(carry)
    made = replay(agent, arrays, carry, actions, T)
    assert_same(given[0], made[0], atol=1e-6)
    assert given[1].extra is None


def test_best_labels_come_back_from_the_actions():
    _, graph, arrays, carry = setting("gru")
    after, record = acted("gru")
    ends = jax.vmap(lambda a, n: flipped_labels(carry.state.labels, a, n))
    labels = np.asarray(ends(record.action, after.state.best_step))
    best = np.maximum(np.asarray(record.cut).max(axis=1), float(carry.state.cut))
    np.testing.assert_array_equal(after.state.best_cut, best)
    for i in range(0, KEYS, 50):
        at = int(after.state.best_step[i])
        stored = record.extra[0].state.labels[i]
        expected = stored[at] if at < T else after.state.labels[i]
        np.testing.assert_array_equal(labels[i], expected)
        assert graph.cut(labels[i][:VERTICES]) == best[i]
    final = ends(record.action, jnp.full(KEYS, T))
    np.testing.assert_array_equal(final, after.state.labels)


def test_flipped_labels_by_hand():
    labels = jnp.array([0, 1, 0, 1], jnp.int8)
    actions = jnp.array([1, 3, 1, 1, 0])
    expected = {0: [0, 1, 0, 1], 1: [0, 0, 0, 1], 2: [0, 0, 0, 0], 4: [0, 0, 0, 0], 5: [1, 0, 0, 0]}
    for count, after in expected.items():
        found = flipped_labels(labels, actions, jnp.asarray(count))
        assert found.dtype == jnp.int8
        assert found.tolist() == after


def first_actions(record):
    """Counts over keys, each of which begins at the same state, and its Q-values there."""
    actions = np.asarray(record.action[:, 0])
    return np.bincount(actions, minlength=VERTICES), np.asarray(
        record.extra[1][0, 0, :VERTICES], float
    )


@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_actions_follow_the_softmax_and_epsilon(epsilon):
    counts, q = first_actions(acted("gru", 0.2, epsilon)[1])
    softmax = scipy.special.softmax(q / 0.2)
    assert softmax.max() > 2 * softmax.min()
    expected = (1 - epsilon) * softmax + epsilon / VERTICES
    assert scipy.stats.chisquare(counts, expected * KEYS).pvalue > 1e-3


def test_temperature_zero_is_greedy():
    _, record = acted("gru", 0.0, 0.0)
    q = np.asarray(record.extra[1])
    np.testing.assert_array_equal(record.action, q.argmax(axis=-1))


def test_epsilon_is_the_chance_of_any_vertex():
    counts, q = first_actions(acted("gru", 0.0, 0.3)[1])
    expected = np.full(VERTICES, 0.3 / VERTICES)
    expected[q.argmax()] += 0.7
    assert scipy.stats.chisquare(counts, expected * KEYS).pvalue > 1e-3


def test_epsilon_one_is_uniform_over_real_vertices_at_every_step():
    _, record = acted("gru", 0.0, 1.0)
    actions = np.asarray(record.action)
    counts = np.bincount(actions.ravel(), minlength=VERTICES)
    assert counts.shape == (VERTICES,)  # no padding
    assert scipy.stats.chisquare(counts).pvalue > 1e-3
    pairs = np.zeros((VERTICES, VERTICES))
    np.add.at(pairs, (actions[:, :-1], actions[:, 1:]), 1)  # a step tells nothing of the next
    assert scipy.stats.chi2_contingency(pairs).pvalue > 1e-3


def test_softmax_over_peeks_is_mca():
    """At temperature 0 the largest peek is flipped, whatever came before."""
    agent, graph, arrays, carry = setting("peeks")
    _, record = pick(acted("peeks", 0.0, 0.0), 0)
    labels = np.array(carry.state.labels[:VERTICES])
    for action in record.action.tolist():
        sides = 2.0 * labels - 1
        peeks = sides * (graph.adjacency() @ sides)
        assert peeks[action] == peeks.max()
        labels[action] ^= 1


def test_same_key_same_actions():
    agent, _, arrays, carry = setting("gru")
    keys = jax.random.split(jax.random.key(2), KEYS)
    again = act(agent, arrays, carry, keys, 0.4, 0.2)
    np.testing.assert_array_equal(again[1].action, acted("gru")[1].action)
    assert len(np.unique(again[1].action, axis=0)) > KEYS / 2


def test_stacked_graphs_roll_out_as_each_alone():
    agent, _, arrays, carry = setting("gru")
    other = arrays.replace(graph=arrays.graph._replace(edges=-2 * arrays.graph.edges))
    actions = acted("gru")[1].action[0]
    starts = [carry, Carry(reset(other, carry.state.labels), carry.hidden)]
    alone = [replay(agent, a, c, actions, T) for a, c in zip([arrays, other], starts, strict=True)]
    both = quick_jit(
        jax.vmap(lambda a, c: rollout(agent, a, c, jax.random.key(0), num_steps=T, actions=actions))
    )(*(jax.tree.map(lambda *x: jnp.stack(x), *pair) for pair in ([arrays, other], starts)))
    for i in range(2):
        assert_same(pick(both[0], i), alone[i][0], atol=1e-6)
        np.testing.assert_array_equal(both[1].cut[i], alone[i][1].cut)
