"""Tests of the low-rank solver: known values, its gradient, blocks of neighbours, limits."""

import time

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest

from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.search import sdp
from ecord_jax.search.fields import to_blocks
from ecord_jax.search.sdp import full_rank, low_rank_sdp, scaled_adjacency

KEY = jax.random.key(0)


def relaxed_cut(graph, vectors):
    inner = np.einsum("er,er->e", vectors[graph.edges[:, 0]], vectors[graph.edges[:, 1]])
    return float(np.sum(graph.weights * (1 - inner)) / 2)


# Of graphs that look the same from every vertex the value is N/4 times the largest eigenvalue of
# the Laplacian, since all of the dual's unknowns are equal.
@pytest.mark.parametrize(
    "network",
    [nx.cycle_graph(5), nx.cycle_graph(12), nx.complete_graph(9), nx.petersen_graph()],
    ids=["C5", "C12", "K9", "Petersen"],
)
def test_known_values(network):
    graph = Graph.from_networkx(network)
    found = low_rank_sdp(graph, key=KEY)
    assert found.converged
    assert np.linalg.norm(found.vectors, axis=1) == pytest.approx(np.ones(len(network)))
    largest = np.linalg.eigvalsh(nx.laplacian_matrix(network).toarray()).max()
    assert relaxed_cut(graph, found.vectors) == pytest.approx(len(network) * largest / 4, rel=1e-6)


def test_gradient_and_blocks():
    """Against JAX's own gradient of the plain sum over edges; hubs take many blocks."""
    network = nx.compose(nx.star_graph(40), nx.gnm_random_graph(41, 60, seed=0))
    rng = np.random.default_rng(0)
    weights = rng.normal(size=network.number_of_edges())
    graph = Graph.from_edges(np.array(network.edges()), weights, num_vertices=43)
    rows, exponent = scaled_adjacency(graph)
    problem = to_blocks(rows, 48)
    x = jnp.asarray(rng.normal(size=(48, 5)), jnp.float32)

    def plain(x):
        vectors = x / jnp.linalg.norm(x, axis=1, keepdims=True)
        u, v = graph.edges.T
        scaled = jnp.asarray(graph.weights / 2.0**exponent, jnp.float32)
        return jnp.sum(scaled * jnp.sum(vectors[u] * vectors[v], axis=1))

    value, gradient = sdp._evaluate(problem, x)
    expected, slope = jax.value_and_grad(plain)(x)
    assert float(value) == pytest.approx(float(expected), rel=1e-4)
    np.testing.assert_allclose(gradient, slope, atol=1e-5)


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**1000])
def test_any_unit_of_weights(unit):
    network = nx.gnm_random_graph(30, 100, seed=1)
    weights = np.random.default_rng(0).normal(size=100)
    edges = np.array(network.edges())
    vectors = [
        low_rank_sdp(Graph.from_edges(edges, weights * u), key=KEY).vectors for u in (1.0, unit)
    ]
    np.testing.assert_array_equal(*vectors)


def test_rank_and_key():
    graph = Graph.from_networkx(nx.petersen_graph())
    assert full_rank(10) == 5
    assert low_rank_sdp(graph, key=KEY, rank=3).vectors.shape == (10, 3)
    other = low_rank_sdp(graph, key=jax.random.key(1)).vectors
    assert not np.allclose(other, low_rank_sdp(graph, key=KEY).vectors)
    assert relaxed_cut(graph, other) == pytest.approx(12.5, rel=1e-6)
    with pytest.raises(OptionError, match="rank=0"):
        low_rank_sdp(graph, key=KEY, rank=0)


def test_enough_columns():
    for n in range(1, 2000):
        assert full_rank(n) * (full_rank(n) + 1) / 2 > n


@pytest.mark.parametrize("size", [0, 1, 4])
def test_without_edges(size):
    found = low_rank_sdp(Graph.from_edges([], num_vertices=size), key=KEY)
    assert found.converged
    assert len(found.vectors) == size


def test_deadline():
    graph = Graph.from_networkx(nx.gnm_random_graph(30, 100, seed=0))
    found = low_rank_sdp(graph, key=KEY, deadline=time.monotonic() - 1)
    assert (found.steps, found.converged) == (0, False)
    assert np.linalg.norm(found.vectors, axis=1) == pytest.approx(np.ones(30))


def test_ends_where_float32_does(monkeypatch):
    monkeypatch.setattr(sdp, "_TOLERANCE", 0.0)
    graph = Graph.from_networkx(nx.gnm_random_graph(30, 100, seed=0))
    found = low_rank_sdp(graph, key=KEY)
    assert found.converged
    assert found.steps < 2000


def test_a_hub_of_many():
    star = Graph.from_networkx(nx.star_graph(500))
    found = low_rank_sdp(star, key=KEY)
    assert found.converged
    assert relaxed_cut(star, found.vectors) == pytest.approx(500, rel=1e-6)
