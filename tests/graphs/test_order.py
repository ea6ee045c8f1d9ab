"""The order of vertices in memory."""

from __future__ import annotations

import numpy as np
import pytest

import ecord_jax as ej
from ecord_jax.graphs import models
from ecord_jax.graphs.order import depth_first


def shuffled(graph, seed=0):
    places = np.random.default_rng(seed).permutation(graph.num_vertices)
    edges = np.sort(places[graph.edges], axis=1)
    return ej.Graph.from_edges(edges, graph.weights, graph.num_vertices)


def within(graph, order, width):
    """The part of all edges with both ends in the same of the blocks of an order."""
    blocks = np.argsort(order)[graph.edges] // width
    return (blocks[:, 0] == blocks[:, 1]).mean()


def star(leaves):
    return ej.Graph.from_edges([(0, i) for i in range(1, leaves + 1)], None, leaves + 1)


@pytest.mark.parametrize(
    "graph",
    [
        ej.Graph.from_edges([], None, 1),
        ej.Graph.from_edges([], None, 50),
        ej.Graph.from_edges([(0, 1), (5, 9), (3, 5)], [0, -1, 2], 12),
        models.erdos_renyi(300, 0.5 / 300, seed=1),
        models.erdos_renyi(300, 0.5, seed=1),
        star(200),
    ],
)
def test_each_vertex_comes_once(graph):
    order = depth_first(graph.adjacency())
    assert order.dtype == np.int32
    assert sorted(order) == list(range(graph.num_vertices))


@pytest.mark.parametrize(
    ("graph", "least"),
    [
        (models.erdos_renyi(20_000, 5 / 20_000, seed=1), 0.33),
        (models.random_regular(20_000, 3, seed=1), 0.58),
        (models.torus((140, 140), seed=1), 0.5),
        (models.torus((27, 27, 27), seed=1), 0.3),
        (models.erdos_renyi(20_000, 1 / 20_000, seed=1), 0.9),
        (ej.Graph.from_edges([(i, i + 1) for i in range(0, 20_000, 2)], None, 20_000), 0.999),
    ],
)
def test_neighbours_are_near_each_other(graph, least):
    graph = shuffled(graph)
    assert within(graph, np.arange(graph.num_vertices), 32) < 0.01
    assert within(graph, depth_first(graph.adjacency()), 32) > least


def test_a_path_is_walked_along():
    graph = shuffled(ej.Graph.from_edges([(i, i + 1) for i in range(999)], None, 1000))
    steps = np.abs(np.diff(np.argsort(depth_first(graph.adjacency()))[graph.edges]))
    assert (steps == 1).sum() >= 998  # it begins somewhere in between


@pytest.mark.parametrize("graph", [star(300_000), ej.Graph.from_edges([], None, 300_000)])
def test_many_neighbours_or_components_take_no_longer(graph):
    """Reading a row again after each of its vertices would take an hour."""
    assert len(depth_first(graph.adjacency())) == graph.num_vertices
