"""Tests of what `swift` knows of a graph as a whole."""

import math

import networkx
import numpy as np
import pytest

import ecord_jax as ej
from ecord_jax.graphs import models
from ecord_jax.networks.traits import TRAITS, graph_params, graph_traits


def traits_of(graph):
    matrix = graph.adjacency()
    owners = np.repeat(np.arange(graph.num_vertices), np.diff(matrix.indptr))
    found = graph_traits(owners, matrix.indices, matrix.data, graph.num_vertices)
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
    crowding = 1250**4 / (1250**4 + 20**4)
    assert found["crowding"] == pytest.approx(crowding)
    uneven = math.log(math.pi / 2) / 1.5
    assert found["unevenness"] == pytest.approx((1 - crowding) * uneven, rel=0.02)


def test_sparse_graphs_are_not_crowded():
    graph = models.random_regular(500, 4, seed=1)
    assert traits_of(graph)["crowding"] == pytest.approx(4**4 / (4**4 + 20**4))
    weights = np.random.default_rng(1).normal(size=graph.num_edges)
    found = traits_of(ej.Graph(graph.edges, weights, graph.names))
    expected = math.log((weights**2).mean() / np.abs(weights).mean() ** 2) / 1.5
    assert found["unevenness"] == pytest.approx(expected * 20**4 / (4**4 + 20**4))


def test_the_field_of_a_qubo():
    """Its linear part, and what edges leave of that, is what one more vertex is joined by."""
    rng = np.random.default_rng(3)
    matrix = np.triu(rng.integers(-50, 51, (300, 300)))
    graph = ej.Problem.from_qubo(matrix).graph
    fields = np.zeros(301)
    np.add.at(fields, graph.edges.ravel(), np.repeat(graph.weights.astype(float) ** 2, 2))
    found = traits_of(graph)
    assert found["crowding"] > 0.999
    hub = np.sum(fields.argmax() == graph.edges, axis=1) > 0
    even = 1 - (graph.weights[hub] ** 4.0).sum() / fields.max() ** 2
    share = fields.max() / fields.sum()
    assert found["field"] == pytest.approx(3 * found["crowding"] * share * even)
    assert found["field"] == pytest.approx(1, abs=0.1)
    alike = models.sherrington_kirkpatrick(301, seed=1, weights="gaussian")
    assert 0.9 / 100 < traits_of(alike)["field"] < 1.5 / 100
    weights = alike.weights.copy()
    weights[7] = 1e4  # one heavy edge holds its two ends only
    assert traits_of(ej.Graph(alike.edges, weights, alike.names))["field"] < 1e-3
    star = ej.Graph.from_edges([(0, leaf) for leaf in range(1, 50)])
    assert traits_of(star)["field"] < 1e-3  # in a sparse graph it is not told from a hub


def test_traits_have_an_end():
    """No parameter is carried beyond what it was trained for."""
    weights = np.append(np.full(998, 1e-12), [1.0, 1.0])
    found = graph_traits(np.arange(1000), np.arange(1000) ^ 1, weights, 1000)
    crowding = 1 / 160001
    expected = [1, -0.25, 0, 1.5 * (1 - crowding), 0, crowding, 0]
    assert found.tolist() == pytest.approx(expected)
    cliques = networkx.caveman_graph(50, 4)
    assert traits_of(ej.Graph.from_edges(list(cliques.edges)))["triangles"] == 1.5


@pytest.mark.parametrize(("edges", "weights"), [([], []), ([(0, 1)], [0])])
def test_nothing_to_see(edges, weights):
    graph = ej.Graph.from_edges(edges, weights, num_vertices=3)
    assert list(traits_of(graph).values()) == [1, 0, 0, 0, 0, 0, 0]


def test_triangles_are_how_often_neighbours_are_joined():
    """Against networkx, over all pairs of neighbours where degrees are alike."""
    ring = networkx.watts_strogatz_graph(400, 6, 0.05, seed=1)
    joined = 0.24 * traits_of(ej.Graph.from_edges(list(ring.edges)))["triangles"]
    edges = np.array(ring.edges)
    degrees = np.bincount(edges.ravel()).astype(float)
    chance = (degrees * (degrees - 1)).sum() ** 2 / degrees.sum() ** 3
    expected = min(networkx.transitivity(ring) - chance, 0.36)
    assert joined == pytest.approx(expected, abs=0.03)


def test_triangles_count_where_not_all_edges_can_be_cut():
    graph = models.planar_union(600, seed=1)
    assert traits_of(graph)["triangles"] == pytest.approx(0.9, abs=0.1)
    assert traits_of(models.planar_union(600, seed=1, weights="signed"))["triangles"] < 0.1
    negative = ej.Graph(graph.edges, -graph.weights, graph.names)
    assert traits_of(negative)["triangles"] == 0
    # Of each triangle's edges two are negative, so that the product is positive.
    labels = np.random.default_rng(1).choice([-1, 1], graph.num_vertices)
    gauged = ej.Graph(graph.edges, labels[graph.edges].prod(axis=1), graph.names)
    assert traits_of(gauged)["triangles"] > 0.8


@pytest.mark.parametrize(
    "graph",
    [
        models.torus((12, 12), seed=1),
        models.random_regular(500, 4, seed=1),
        models.erdos_renyi(500, 0.02, seed=1),
        models.barabasi_albert(500, 4, seed=1),
        models.power_law(500, 5.0, seed=1),
        models.sherrington_kirkpatrick(60, seed=1),
        ej.Graph.from_edges([(0, 1), (2, 3)]),
    ],
    ids=["torus", "regular", "er", "ba", "power law", "complete", "matching"],
)
def test_degrees_alone_make_no_triangles(graph):
    assert 0 <= traits_of(graph)["triangles"] < 0.1


def test_edges_of_weight_zero_join_nobody():
    edges = list(networkx.caveman_graph(20, 4).edges)
    star = [(u, v) for u, v in edges if u % 4 == 0]
    weights = [int((u, v) in star) for u, v in edges]
    assert traits_of(ej.Graph.from_edges(edges, weights))["triangles"] == 0


def test_parameters_are_sums_of_rows():
    params = {"bias": np.arange(14, dtype=np.float32).reshape(7, 2), "readout": np.ones((9, 4))}
    found = graph_params(params, np.array([1.0, 0.5, -1.0, 2.0, 0.25, 1.0, -0.5]))
    expected = [0 + 1 - 4 + 12 + 2 + 10 - 6, 1 + 1.5 - 5 + 14 + 2.25 + 11 - 6.5]
    assert found["bias"].tolist() == expected
    assert found["readout"] is params["readout"]
