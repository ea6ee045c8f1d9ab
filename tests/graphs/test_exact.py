"""Tests of the proven largest cut, against all labels and against published values."""

import itertools

import numpy as np
import pytest

from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph, models
from ecord_jax.graphs.exact import largest_cut


def test_against_all_labels():
    for seed in range(30):
        n = 1 + seed % 9
        graph = models.erdos_renyi(n, 0.2 + seed / 40, seed=seed, weights="signed")
        scaled = Graph(graph.edges, graph.weights * (1 + graph.edges[:, 0]), graph.names)
        for one in (graph, scaled):
            labels = itertools.product((0, 1), repeat=n)
            assert largest_cut(one) == max(one.cut(sides) for sides in labels)


def test_known_graphs():
    assert largest_cut(Graph.from_edges([])) == 0
    assert largest_cut(Graph.from_edges([], num_vertices=5)) == 0
    assert largest_cut(models.torus([1001], seed=0, weights="unit")) == 1000
    assert largest_cut(models.torus((6, 40), seed=0, weights="unit")) == 480
    assert largest_cut(models.erdos_renyi(17, 1, seed=0)) == 72
    assert largest_cut(Graph.from_edges([(0, 1), (1, 2)], [-2, -(2**60)])) == 0


def test_wide_graphs_are_given_up():
    graph = models.erdos_renyi(24, 1, seed=0)
    assert largest_cut(graph, max_width=22) is None
    assert largest_cut(models.erdos_renyi(9, 1, seed=0), max_width=8) == 20


@pytest.mark.parametrize("weights", [[0.5], [2**62]])
def test_weights_that_are_not_exact(weights):
    with pytest.raises(OptionError, match="integer weights below"):
        largest_cut(Graph.from_edges([(0, 1)], weights))


@pytest.mark.parametrize("name", ["ER_20", "ER_40", "BA_40"])
def test_published_values(shared, name):
    data = np.load(shared / "data" / "er_ba" / f"validation_{name}.npz")
    for g in range(20):
        rows = slice(data["offsets"][g], data["offsets"][g + 1])
        graph = Graph.from_edges(data["edges"][rows], data["weights"][rows], int(data["n"][g]))
        assert largest_cut(graph) == data["opt"][g]
