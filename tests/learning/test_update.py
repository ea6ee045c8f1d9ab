"""The jitted update on a tiny run: what the replay holds, what a step changes, that it learns."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ecord_jax.env import reset
from ecord_jax.graphs.generators import GraphDistribution, sample_graph
from ecord_jax.learning.config import TrainConfig
from ecord_jax.learning.loss import batch_loss
from ecord_jax.learning.replay import cut_window, make_buffer
from ecord_jax.learning.update import epsilon, init_train_state, update
from ecord_jax.networks.agent import initial_hidden
from ecord_jax.networks.config import EcordConfig
from ecord_jax.search.rollout import Carry, rollout
from tests.helpers import pick, quick_jit

N = 10
CONFIG = TrainConfig(
    network=EcordConfig(
        embedding=8, layers=2, hidden=16, message=16, value_width=16, advantage_width=16
    ),
    graphs=GraphDistribution("er", N, edge_probability=0.4),
    num_graphs=8,
    update_every=5,
    batch_size=32,
    buffer_size=8 * 50,  # two and a half episodes
    continued=0.4,
    learning_rate=3e-3,
    final_learning_rate=3e-3,
    soft_update=0.05,
    bptt=3,
    epsilon_steps=200,
)
B, LENGTH = CONFIG.num_graphs, CONFIG.episode_length

update_once = quick_jit(functools.partial(update, CONFIG))


@functools.cache
def states():
    """Those after each of many updates, seven episodes; an update's steps fill one window."""
    assert CONFIG.update_every >= CONFIG.window
    found = [quick_jit(lambda: init_train_state(CONFIG))()]
    for _ in range(7 * LENGTH // CONFIG.update_every):
        found.append(update_once(found[-1])[0])
    return found


def newest_last(state):
    """The replay's transitions [B, T] in the order of time, without what was never written."""
    replay = state.replay
    at, size = int(replay.current_index), replay.experience.action.shape[1]
    order = (np.arange(size) + at) % size if bool(replay.is_full) else np.arange(at)
    return jax.tree.map(lambda x: np.asarray(x)[:, order], replay.experience)


def matrices(pool):
    """Dense weights of all graphs in the pool."""
    graph = pool.graph
    n_graphs = graph.senders.shape[0]
    found = np.zeros((n_graphs, N, N))
    rows = np.arange(n_graphs)[:, None]
    np.add.at(found, (rows, np.asarray(graph.receivers), np.asarray(graph.senders)), graph.edges)
    return found


def assert_equal(one, other):
    for x, y in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
            x, y = jax.random.key_data(x), jax.random.key_data(y)
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("at", [1, 4, 5, 11, 17, 24, 28])
def test_stored_steps_fit_the_graphs_they_refer_to(at):
    """No graph is overwritten while the replay refers to it."""
    state = states()[at]
    kept = newest_last(state)
    weights = matrices(state.pool)[kept.graph]
    sides = 2.0 * kept.carry.state.labels - 1
    agreement = np.einsum("btij,bti,btj->bt", weights, sides, sides)
    cuts = (weights.sum(axis=(2, 3)) - agreement) / 4
    np.testing.assert_array_equal(kept.carry.state.cut, cuts)
    peeks = sides * np.einsum("btij,btj->bti", weights, sides)
    np.testing.assert_array_equal(kept.carry.state.peeks, peeks)
    assert kept.action.shape[1] == min(5 * at, 50)
    assert (weights != 0).any(axis=(2, 3)).all()


def test_steps_follow_one_another():
    kept = newest_last(states()[-1])
    labels, steps = kept.carry.state.labels, kept.carry.state.step
    flipped = labels.copy()
    np.put_along_axis(flipped, kept.action[..., None], 1 - np.take_along_axis(
        labels, kept.action[..., None], axis=2), axis=2)  # fmt: skip
    inside = steps[:, 1:] > 0
    np.testing.assert_array_equal(steps[:, 1:], np.where(inside, steps[:, :-1] + 1, 0))
    np.testing.assert_array_equal(flipped[:, :-1][inside], labels[:, 1:][inside])
    assert (steps == steps[:1]).all()
    assert steps.max() == LENGTH - 1
    assert (np.flatnonzero(~inside[0]) + 1 - np.flatnonzero(steps[0] == 0)[-2:] == 0).all()
    # In one trajectory the graph changes with the episode only.
    assert (kept.graph[:, 1:] == kept.graph[:, :-1])[inside].all()
    assert (kept.graph[:, 1:] != kept.graph[:, :-1])[~inside].all()


def test_episodes_begin_anew_or_go_on():
    state = states()[-1]
    kept, weights = newest_last(state), matrices(state.pool)
    went_on = []
    for t in np.flatnonzero(kept.carry.state.step[0] == 0):
        if t == 0:
            continue
        for b in range(B):
            before, now = pick(kept, (b, t - 1)), pick(kept, (b, t)).carry
            ended = before.carry.state.labels.copy()
            ended[before.action] ^= 1
            same_graph = np.array_equal(weights[kept.graph[b, t - 1]], weights[kept.graph[b, t]])
            went_on.append(same_graph)
            assert now.state.best_cut == now.state.cut
            assert now.state.best_step == 0
            if same_graph:
                np.testing.assert_array_equal(now.state.labels, ended)
                # Times since the last flip go on counting.
                last_flip = before.carry.state.last_flip.copy()
                last_flip[before.action] = LENGTH
                np.testing.assert_array_equal(now.state.last_flip, last_flip - LENGTH)
                assert np.abs(now.hidden).max() > 0
            else:
                assert not np.array_equal(now.state.labels, ended)
                assert (now.state.last_flip < -(2**29)).all()
                assert not now.hidden.any()
    assert 0.1 < np.mean(went_on) < 0.8


def test_episodes_of_several_rounds():
    """They go on with all that they have until their flips are done; some take one round."""
    config = dataclasses.replace(CONFIG, most_rounds=3, buffer_size=8 * 200)
    one_update = quick_jit(functools.partial(update, config))
    state = quick_jit(lambda: init_train_state(config))()
    for _ in range(8 * LENGTH // config.update_every):
        state, _ = one_update(state)
    now = newest_last(state).carry.state
    budgets = now.budget // LENGTH
    np.testing.assert_array_equal(budgets * LENGTH, now.budget)
    assert set(budgets.ravel()) == {1, 2, 3}
    assert (now.step < now.budget).all()
    before, after = now.step[:, :-1], now.step[:, 1:]
    over = before + 1 == now.budget[:, :-1]
    np.testing.assert_array_equal(after, np.where(over, 0, before + 1))
    np.testing.assert_array_equal(now.budget[:, 1:][~over], now.budget[:, :-1][~over])
    assert (now.best_cut[:, 1:] >= now.best_cut[:, :-1])[~over].all()
    assert (now.best_cut > now.cut)[now.step >= LENGTH].any()


def test_stored_hidden_states_are_those_of_the_acting_agent():
    before, after = states()[-2:]
    kept = pick(newest_last(after), (2, slice(-CONFIG.update_every, None)))
    assert kept.carry.state.step[0] > 0

    @quick_jit
    def replay(agent, arrays, carry, actions):
        return rollout(
            agent, arrays, carry, jax.random.key(0), num_steps=CONFIG.update_every,
            actions=actions, record=lambda before, q, action: before.hidden,
        )  # fmt: skip

    graph = pick(after.pool, int(kept.graph[0]))
    carry, record = replay(before.agent, graph, pick(kept.carry, 0), kept.action)
    np.testing.assert_allclose(record.extra, kept.carry.hidden, atol=1e-5)
    np.testing.assert_allclose(carry.hidden, after.carry.hidden[2], atol=1e-5)
    np.testing.assert_array_equal(carry.state.labels, after.carry.state.labels[2])
    assert np.abs(carry.hidden).max() > 1e-2


def test_exploration_follows_the_steps_done():
    assert [int(state.steps) for state in states()[:3]] == [0, 5, 10]
    _, metrics = update_once(states()[3])
    np.testing.assert_allclose(metrics["epsilon"], epsilon(CONFIG, 15))
    actions = newest_last(states()[9]).action  # nearly uniform at first
    assert np.bincount(actions.ravel(), minlength=N).min() > 0.5 * actions.size / N


def test_an_update_is_its_parts():
    """Sample, loss, Adam, soft update."""
    before, after = states()[12:14]
    _, metrics = update_once(before)
    sample_key, key = jax.random.split(jax.random.split(before.key, 3)[2])

    @quick_jit
    def loss_of(before, after):
        sequences = make_buffer(CONFIG).sample(after.replay, sample_key).experience
        windows = jax.vmap(functools.partial(cut_window, bptt=CONFIG.bptt))(sequences)
        target = dataclasses.replace(before.agent, params=before.target_params)
        return batch_loss(before.agent, target, after.pool, windows, config=CONFIG)

    loss, extra = loss_of(before, after)
    np.testing.assert_allclose(metrics["loss"], loss, rtol=1e-4)
    np.testing.assert_allclose(metrics["target"], extra["target"], rtol=1e-4)
    assert_equal(after.key, key)
    for new, old, params in zip(
        *map(jax.tree.leaves, (after.target_params, before.target_params, after.agent.params)),
        strict=True,
    ):
        np.testing.assert_allclose(new, 0.95 * old + 0.05 * params, atol=1e-6)


def test_the_first_step_of_adam_is_the_learning_rate():
    first, second = (jax.tree.leaves(state.agent.params) for state in states()[:2])
    pairs = zip(first, second, strict=True)
    steps = np.concatenate([np.ravel(np.abs(new - old)) for new, old in pairs])
    assert steps.max() < 1.01 * CONFIG.learning_rate
    assert np.median(steps) > 0.99 * CONFIG.learning_rate


def test_updates_are_deterministic():
    runs = []
    for _ in range(2):
        state = states()[0]
        for _ in range(3):
            state, metrics = update_once(state)
        runs.append((state, metrics))
    assert_equal(*runs)


def test_it_learns():
    """Greedy play on graphs not trained on, from nearly nothing to nearly the best cuts."""
    keys = jax.random.split(jax.random.key(123), 64)
    graphs = quick_jit(jax.vmap(functools.partial(sample_graph, CONFIG.graphs)))(keys)
    sides = 2.0 * ((np.arange(2 ** (N - 1))[:, None] >> np.arange(N)) & 1) - 1
    weights = matrices(graphs)
    agreement = np.einsum("gij,si,sj->gs", weights, sides, sides, optimize=True)
    optimum = (weights.sum(axis=(1, 2)) - agreement.min(axis=1)) / 4

    @quick_jit
    def play(agent):
        def one(arrays, key):
            label_key, key = jax.random.split(key)
            labels = jax.random.bernoulli(label_key, shape=(N,))
            carry = Carry(reset(arrays, labels), initial_hidden(agent))
            return rollout(agent, arrays, carry, key, num_steps=LENGTH)[0].state.best_cut

        return jax.vmap(one)(graphs, keys)

    def ratio(agent):
        return float(play(agent).mean() / optimum.mean())

    state, losses = states()[0], []
    untrained = ratio(state.agent)
    for _ in range(400):
        state, metrics = update_once(state)
        losses.append(float(metrics["loss"]))
    trained = ratio(state.agent)
    assert untrained < 0.7
    assert trained > 0.8
    assert np.mean(losses[-50:]) < 0.5 * np.mean(losses[:10])
