"""Tests of ECO-DQN: its network against dense matrices in numpy, its observations by hand."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ecord_jax.baselines import eco_dqn
from ecord_jax.baselines.eco_dqn import EcoConfig, EcoNetwork
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.graphs.models import barabasi_albert, erdos_renyi
from tests.helpers import quick_jit

PATH = Graph(np.array([[0, 1], [1, 2]]), np.array([2, 3]), range(3))


def dense(graph):
    matrix = np.zeros((graph.num_vertices, graph.num_vertices))
    i, j = graph.edges.T
    matrix[i, j] = matrix[j, i] = graph.weights
    return matrix


def dense_q_values(params, observation, matrix):
    """The published network: everything for all pairs, products of vectors side by side."""
    p = jax.tree.map(np.float64, params["params"])
    n, relu = len(matrix), lambda values: np.maximum(values, 0)
    joined = matrix != 0
    norm = np.maximum(joined.sum(axis=1), 1)[:, None].astype(float)
    x = relu(observation @ p["embed"]["kernel"])
    pairs = np.concatenate(
        [matrix[:, :, None], np.broadcast_to(observation, (n, *observation.shape))], axis=-1
    )
    first = np.concatenate([p["edge_weight"]["kernel"], p["edge_observation"]["kernel"]])
    embedded = relu((pairs * joined[:, :, None]) @ first).sum(axis=1) / norm
    edge = relu(np.concatenate([embedded, norm / norm.max()], axis=1) @ p["edge_out"]["kernel"])
    rounds = [p[name] for name in sorted(p) if name.startswith("cells")]
    for i in range(3):
        cell = rounds[i % len(rounds)]
        message = np.concatenate(
            [cell["message_neighbours"]["kernel"], cell["message_edge"]["kernel"]]
        )
        update = np.concatenate([cell["update_self"]["kernel"], cell["update_message"]["kernel"]])
        sent = relu(np.concatenate([matrix @ x / norm, edge], axis=1) @ message)
        x = relu(np.concatenate([x, sent], axis=1) @ update)
    pooled = np.tile(x.mean(axis=0) @ p["pool"]["kernel"], (n, 1))
    out = np.concatenate([p["out_pooled"]["kernel"], p["out"]["kernel"]])
    return (relu(np.concatenate([pooled, x], axis=1)) @ out + p["out_pooled"]["bias"])[:, 0]


@pytest.mark.parametrize("share_rounds", [False, True])
@pytest.mark.parametrize(
    "graph",
    [
        erdos_renyi(21, 0.3, seed=0, weights="gaussian"),
        erdos_renyi(40, 0.8, seed=3, weights="signed"),  # more neighbours than 16
        barabasi_albert(90, 2, seed=1, weights="signed"),  # hubs, whose edges have no slot
        erdos_renyi(20, 0.04, seed=2),  # vertices without an edge
    ],
)
def test_network_is_the_published_one(graph, share_rounds):
    arrays = to_arrays(graph)
    config = EcoConfig(features=8, share_rounds=share_rounds)
    params = random_params(config, arrays)
    params["params"]["out_pooled"]["bias"] += 0.3
    n = graph.num_vertices
    observation = np.random.default_rng(0).normal(size=(len(arrays.vertex_mask), 7))
    q = quick_jit(EcoNetwork(config).apply)(params, arrays, observation)
    wanted = dense_q_values(params, observation[:n], dense(graph))
    assert np.std(wanted) > 1e-2
    np.testing.assert_allclose(q[:n], wanted, rtol=1e-4, atol=1e-5)
    assert np.all(q[n:] == -np.inf)


@quick_jit
def encode(arrays):
    return EcoNetwork(EcoConfig()).apply({}, arrays, method="encode")


def random_params(config, arrays):
    shapes = jax.eval_shape(lambda: eco_dqn.init_params(config, arrays, jax.random.key(0)))
    rng = np.random.default_rng(0)
    return jax.tree.map(lambda x: jnp.asarray(rng.normal(size=x.shape), x.dtype) / 3, shapes)


def test_hubs_leave_edges_without_a_slot():
    arrays = to_arrays(barabasi_albert(90, 2, seed=1, weights="signed"))
    assert not arrays.one_block  # or else the test above does not see the rest


def test_observations_by_hand():
    """Path 0 -2- 1 -3- 2, from labels 0 0 0: p = 5, T = 6."""
    arrays, config = to_arrays(PATH), EcoConfig()
    neighbours = encode(arrays)

    observe = quick_jit(functools.partial(eco_dqn.observe, config=config))
    step = quick_jit(functools.partial(eco_dqn.step, arrays))

    def look(state):
        return np.asarray(observe(neighbours, state))[:3]

    state = quick_jit(eco_dqn.reset)(arrays, jnp.zeros(len(arrays.vertex_mask), jnp.int8))
    peeks = np.array([2, 5, 3]) / 5
    np.testing.assert_allclose(look(state)[:, 1], peeks)
    np.testing.assert_allclose(look(state)[:, [0, 2]], 0)
    np.testing.assert_allclose(look(state)[:, 3:], [[0, 0, 1, 0]] * 3)
    state, reward = step(state, 1)  # the best cut, 5
    assert reward == pytest.approx(5 / 3)
    np.testing.assert_allclose(look(state)[:, :3].T, [[0, 1, 0], -peeks, [1 / 6, 0, 1 / 6]])
    np.testing.assert_allclose(look(state)[:, 3:], [[0, 0, 0, 1 / 6]] * 3)
    state, reward = step(state, 0)  # a cut of 3
    assert reward == 0
    np.testing.assert_allclose(look(state)[:, 1], np.array([2, -1, -3]) / 5)
    np.testing.assert_allclose(look(state)[:, 2], np.array([0, 1, 2]) / 6)
    np.testing.assert_allclose(look(state)[:, 3:], [[2 / 5, 1, 1 / 3, 2 / 6]] * 3)


def test_largest_peek_of_negative_weights():
    arrays = to_arrays(Graph(PATH.edges, -PATH.weights, PATH.names))
    assert encode(arrays).largest_peek == 5


def test_rollout_flips_the_best_vertex_of_each_trajectory():
    graph = erdos_renyi(18, 0.3, seed=0, weights="signed")
    arrays, config, n = to_arrays(graph), EcoConfig(features=8, rounds=1), 18
    params = random_params(config, arrays)
    labels = jax.random.bernoulli(jax.random.key(1), shape=(3, len(arrays.vertex_mask)))
    states = quick_jit(jax.vmap(eco_dqn.reset, (None, 0)))(arrays, labels.astype(jnp.int8))
    key = jax.random.key(2)
    go_on = functools.partial(eco_dqn.rollout, num_steps=9)
    after, actions = quick_jit(go_on, static_argnums=1)(params, config, arrays, states, key)

    @quick_jit
    def q_values(state):
        neighbours = EcoNetwork(config).apply(params, arrays, method="encode")
        observation = eco_dqn.observe(neighbours, state, config=config)
        return EcoNetwork(config).apply(params, neighbours, observation, method="q_values")

    step = quick_jit(functools.partial(eco_dqn.step, arrays))
    for b in range(3):
        one, best, best_labels = jax.tree.map(lambda x, b=b: x[b], states), -np.inf, None
        for action in actions[:, b]:
            cut = graph.cut(np.asarray(one.state.labels[:n]))
            if cut > best:
                best, best_labels = cut, np.asarray(one.state.labels)
            np.testing.assert_array_equal(one.differs, np.asarray(one.state.labels) != best_labels)
            q = np.asarray(q_values(one))
            assert q[action] >= q.max() - 1e-5
            one, _ = step(one, action)
        np.testing.assert_array_equal(one.state.labels, after.state.labels[b])
        assert one.state.best_cut == after.state.best_cut[b]
