"""Tests of hyperplane rounding: small optima, the guarantee, an independent solver."""

import jax
import numpy as np
import pytest

from ecord_jax.baselines.gw import gw, round_vectors
from ecord_jax.graphs import Graph, models
from ecord_jax.graphs.exact import largest_cut
from ecord_jax.search.sdp import low_rank_sdp

KEY = jax.random.key(0)


def relaxed_cut(graph, vectors):
    inner = np.einsum("er,er->e", vectors[graph.edges[:, 0]], vectors[graph.edges[:, 1]])
    return float(np.sum(graph.weights * (1 - inner)) / 2)


def test_small_optima():
    for seed in range(4):
        graph = models.erdos_renyi(14, 0.5, seed=seed, weights="signed")
        result = gw(graph, key=KEY, num_steps=20)
        assert result.cut == largest_cut(graph) == graph.cut(result.labels)


def test_one_hyperplane():
    """Two pairs of opposite vectors, which every hyperplane divides."""
    graph = Graph.from_edges([(0, 1), (2, 3)])
    vectors = np.array([[1.0, 0], [-1, 0], [0.6, 0.8], [-0.6, -0.8]])
    labels = round_vectors(graph, vectors, 1, np.random.default_rng(0))
    assert graph.cut(labels) == 2


def test_guarantee():
    graph = models.erdos_renyi(60, 0.2, seed=0)
    vectors, rng = low_rank_sdp(graph, key=KEY).vectors, np.random.default_rng(0)
    cuts = [graph.cut(round_vectors(graph, vectors, 1, rng)) for _ in range(300)]
    assert np.mean(cuts) >= 0.87856 * relaxed_cut(graph, vectors)
    assert max(cuts) <= relaxed_cut(graph, vectors) * (1 + 1e-6)


def test_limits_and_repetition():
    graph = models.erdos_renyi(80, 0.2, seed=1, weights="signed")
    first, again = (gw(graph, key=KEY, trajectories=3, num_steps=2) for _ in range(2))
    assert (first.steps, first.stopped_by, first.trajectories) == (2, "num_steps", 3)
    np.testing.assert_array_equal(first.labels, again.labels)
    assert gw(graph, key=KEY, time_limit=0.3).stopped_by == "time_limit"


def test_value_of_an_independent_solver():
    cvxpy = pytest.importorskip("cvxpy")
    graph = models.erdos_renyi(16, 0.5, seed=2, weights="signed")
    matrix = cvxpy.Variable((16, 16), PSD=True)
    weights = graph.adjacency().toarray()
    objective = cvxpy.sum(cvxpy.multiply(weights, 1 - matrix)) / 4
    program = cvxpy.Problem(cvxpy.Maximize(objective), [cvxpy.diag(matrix) == 1])
    program.solve(solver=cvxpy.SCS, eps=1e-7)
    vectors = low_rank_sdp(graph, key=KEY).vectors
    assert relaxed_cut(graph, vectors) == pytest.approx(program.value, rel=1e-4)
