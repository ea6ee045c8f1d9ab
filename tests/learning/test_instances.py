"""Graphs that `swift` is trained on are what their kinds say."""

import math

import numpy as np
import pytest

from ecord_jax.learning.instances import KINDS, draw_instance


def graphs_of(kind, vertices, number=30):
    rng = np.random.default_rng(0)
    return [draw_instance(kind, vertices, (1.0, 2.0), rng).graph for _ in range(number)]


def degrees_of(graphs):
    return np.array([2 * graph.num_edges / graph.num_vertices for graph in graphs])


@pytest.mark.parametrize(("kind", "low", "high"), [("sparse", 2.2, 10), ("dense", 10, 40)])
def test_mean_degrees(kind, low, high):
    """Over the whole range, but for chance."""
    degrees = degrees_of(graphs_of(kind, (1500, 6000)))
    assert 0.9 * low < degrees.min() < 1.5 * low
    assert high / 1.5 < degrees.max() < 1.1 * high
    assert abs(math.log(np.median(degrees)) - math.log(low * high) / 2) < 0.4


def test_crowded_graphs_have_a_good_part_of_all_pairs():
    graphs = graphs_of("crowded", (400, 1200))
    shares = degrees_of(graphs) / [graph.num_vertices - 1 for graph in graphs]
    assert 0.04 < shares.min() < 0.1
    assert 0.6 < shares.max() < 0.95
    signs = {tuple(np.unique(np.sign(graph.weights)).tolist()) for graph in graphs}
    assert signs == {(1,), (-1, 1)}


def test_a_qubo_has_a_vertex_that_is_joined_to_nearly_all():
    for graph in graphs_of("qubo", (400, 1200), 5):
        degrees = np.bincount(graph.edges.ravel(), minlength=graph.num_vertices)
        assert degrees[-1] > 0.9 * graph.num_vertices  # all other ones are variables
        assert (graph.weights < 0).any()
        assert (graph.weights > 0).any()


@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_graphs(kind):
    for graph in graphs_of(kind, (50, 60), 3):
        assert graph.num_vertices <= 64  # lattices have whole sides
        assert graph.num_edges > 0 or kind == "reduced"
