"""Tests of what `swift` knows of a graph as a whole."""

import math

import numpy as np
import pytest

import ecord_jax as ej
from ecord_jax.graphs import models
from ecord_jax.networks.traits import TRAITS, graph_params, graph_traits


def traits_of(graph):
    matrix = graph.adjacency()
    owners = np.repeat(np.arange(graph.num_vertices), np.diff(matrix.indptr))
    found = graph_traits(owners, matrix.data, graph.num_vertices)
    return dict(zip(TRAITS, found, strict=True))


@pytest.mark.parametrize("weights", ["unit", "signed"])
def test_a_square_lattice(weights):
    """Four edges of weight 1 or -1 cancel out in 6 of 16 ways, nearly what the share says."""
    graph = models.torus((10, 10), seed=1, weights=weights)
    found = traits_of(graph)
    assert found["base"] == 1
    assert found["degree"] == pytest.approx(math.log(4 / 5) / math.log(50))
    assert 0.4 * found["ties"] == pytest.approx(0.4, abs=0.002)
    assert found["unevenness"] == pytest.approx(0, abs=1e-12)
    for unit in (0.5, 0.1, 1e300):
        others = ej.Graph(graph.edges, graph.weights * unit, graph.names)
        assert traits_of(others) == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("unit", [1, 2, 0.1, 1 / 3])
def test_ties_are_parity(unit):
    """Sums of |w|: 4 at 0, of which one is 3; 3 at 1; 6 at 2; 1 at 3; 4 has no edges."""
    edges, weights = [(0, 1), (0, 2), (1, 2), (2, 3)], [1, -3, 2, 1]
    graph = ej.Graph.from_edges(edges, [w * unit for w in weights], num_vertices=5)
    assert 0.4 * traits_of(graph)["ties"] == pytest.approx(math.sqrt(2 / (math.pi * 14)) / 5)


def test_a_unit_may_be_a_part_of_the_least_weight():
    """2, 2, 3 and 3 at vertex 0 cancel out; others have one edge or, 1 and 2, sums of 5."""
    edges, weights = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2)], [2, -2, 3, 3, 3]
    found = traits_of(ej.Graph.from_edges(edges, weights))
    assert 0.4 * found["ties"] == pytest.approx(math.sqrt(2 / (math.pi * 26)) / 5)


@pytest.mark.parametrize("weights", ["unit", "gaussian"])
def test_no_ties_with_odd_degrees_or_real_weights(weights):
    graph = models.random_regular(20, 3, seed=1)
    if weights == "gaussian":
        graph = models.torus((10, 10), seed=1, weights="gaussian")
    assert traits_of(graph)["ties"] == 0


def test_dense_graphs_of_uneven_weights():
    graph = models.sherrington_kirkpatrick(1251, seed=1, weights="gaussian")
    found = traits_of(graph)
    assert found["degree"] == pytest.approx(math.log(1250 / 5) / math.log(50))
    assert 1.5 * found["unevenness"] == pytest.approx(math.log(math.pi / 2), abs=0.01)


def test_traits_have_an_end():
    """No parameter is carried beyond what it was trained for."""
    weights = np.append(np.full(998, 1e-12), [1.0, 1.0])
    assert graph_traits(np.arange(1000), weights, 1000).tolist() == [1, -0.25, 0, 1.5]


@pytest.mark.parametrize(("edges", "weights"), [([], []), ([(0, 1)], [0])])
def test_nothing_to_see(edges, weights):
    graph = ej.Graph.from_edges(edges, weights, num_vertices=3)
    assert list(traits_of(graph).values()) == [1, 0, 0, 0]


def test_parameters_are_sums_of_rows():
    params = {"bias": np.arange(8, dtype=np.float32).reshape(4, 2), "readout": np.ones((9, 4))}
    found = graph_params(params, np.array([1.0, 0.5, -1.0, 2.0]))
    assert found["bias"].tolist() == [0 + 1 - 4 + 12, 1 + 1.5 - 5 + 14]
    assert found["readout"] is params["readout"]
