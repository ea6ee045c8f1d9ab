"""Tests of merging what good cuts agree in."""

import numpy as np
import pytest

from ecord_jax.graphs import Graph, models
from ecord_jax.search.merge import can_merge, distances, merge_agreeing

KINDS = ("unit", "signed", "cancelling", "float")


def random_graph(rng, kind, size=12, chance=0.4):
    pairs = [(i, j) for i in range(size) for j in range(i) if rng.random() < chance]
    weights = {
        "unit": np.ones(len(pairs), np.int64),
        "signed": rng.integers(-9, 10, len(pairs)),
        "cancelling": rng.choice([-1, 1], len(pairs)),
        "float": rng.normal(size=len(pairs)),
    }[kind]
    return Graph.from_edges(np.reshape(pairs, (-1, 2)).astype(int), weights, num_vertices=size)


def relatives(rng, size, count, differ):
    """Labels that differ from each other in some vertices, some of them complements."""
    base = rng.integers(0, 2, size, np.int8)
    noise = (rng.random((count, size)) < differ).astype(np.int8)
    return base ^ noise ^ rng.integers(0, 2, (count, 1), np.int8)


def check(graph, elites, rng):
    """Every cut of the merged graph is one of the graph, and the elites are among them."""
    merged = merge_agreeing(graph, elites)
    size = merged.graph.num_vertices
    constant = graph.cut(merged.lift(np.zeros(size, np.int8)))
    for _ in range(20):
        labels = rng.integers(0, 2, size, np.int8)
        lifted = merged.lift(labels)
        assert graph.cut(lifted) == pytest.approx(merged.graph.cut(labels) + constant, abs=1e-9)
        assert (merged.lower(lifted) == labels).all()
    for elite in elites:
        assert lifts_to(merged, elite)
    return merged


def lifts_to(merged, labels):
    return (merged.lift(merged.lower(labels)) == labels).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("differ", [0.0, 0.05, 0.2, 0.5])
def test_cuts_of_merged_graphs_are_cuts(kind, differ):
    for seed in range(15):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, kind, chance=(0.0, 0.15, 0.4)[seed % 3])
        merged = check(graph, relatives(rng, 12, seed % 4 + 1, differ), rng)
        if graph.weights.dtype == np.int64:
            assert merged.graph.weights.dtype == np.int64
        assert (merged.graph.weights != 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_agreement_is_merged(kind):
    """Ends of an edge are one vertex only where a chain of agreeing edges joins them."""
    rng = np.random.default_rng(3)
    graph = random_graph(rng, kind, chance=0.3)
    elites = relatives(rng, 12, 3, 0.3)
    merged = merge_agreeing(graph, elites)
    opposite = elites[:, graph.edges[:, 0]] != elites[:, graph.edges[:, 1]]
    agree = (opposite == opposite[0]).all(axis=0)
    part = np.arange(12)
    for _ in range(12):
        for low, high in graph.edges[agree]:
            part[[low, high]] = min(part[low], part[high])
    same = part[:, None] == part
    assert (same == (merged.part[:, None] == merged.part)).all()
    assert merged.graph.num_vertices == len(set(part.tolist()))


def test_a_path_by_hand():
    """0-1 is always cut, 2-3 never; 1-2 is in dispute."""
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (0, 3)], [5, 2, 3, 7])
    merged = merge_agreeing(graph, np.array([[0, 1, 0, 0], [0, 1, 1, 1]], np.int8))
    assert merged.part.tolist() == [0, 0, 1, 1]
    assert merged.side.tolist() == [0, 1, 0, 0]
    assert merged.first.tolist() == [0, 2]
    # Edge 0-3 keeps its sign, and 1-2 is turned, for 1 is opposite to 0.
    assert merged.graph.edges.tolist() == [[0, 1]]
    assert merged.graph.weights.tolist() == [7 - 2]


def test_one_cut_and_its_complement_leave_a_vertex_for_each_component():
    rng = np.random.default_rng(0)
    graph = Graph.from_edges([(0, 1), (1, 2), (3, 4)], num_vertices=6)
    labels = rng.integers(0, 2, 6, np.int8)
    merged = check(graph, np.stack([labels, 1 - labels]), rng)
    assert (merged.graph.num_vertices, merged.graph.num_edges) == (3, 0)


def test_edges_that_cancel_are_left_out():
    graph = Graph.from_edges([(0, 1), (2, 3), (0, 2), (1, 3)], [1, 1, 4, -4])
    merged = merge_agreeing(graph, np.array([[0, 0, 0, 0], [0, 0, 1, 1]], np.int8))
    assert (merged.graph.num_vertices, merged.graph.num_edges) == (2, 0)


def test_many_parts():
    """More than 2^15.5, whose pairs are more than int32 can number."""
    graph = models.erdos_renyi(60_000, 3 / 60_000, seed=1)
    rng = np.random.default_rng(0)
    elites = rng.integers(0, 2, (4, 60_000), np.int8)
    merged = merge_agreeing(graph, elites)
    assert merged.graph.num_vertices > 47_000
    labels = rng.integers(0, 2, merged.graph.num_vertices, np.int8)
    constant = graph.cut(merged.lift(np.zeros_like(labels)))
    assert graph.cut(merged.lift(labels)) == merged.graph.cut(labels) + constant
    assert all(lifts_to(merged, elite) for elite in elites)


def test_distances():
    labels = np.array([0, 1, 1, 0, 1], np.int8)
    others = np.array([[0, 1, 1, 0, 1], [1, 0, 0, 1, 0], [0, 0, 1, 0, 1], [1, 0, 1, 1, 1]], np.int8)
    assert distances(others, labels).tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("weights", "can"),
    [
        ([2**62, 2**62 - 1], True),
        ([2**62, -(2**62)], False),
        ([-(2**63), 0], False),
        ([1e308, -1e307], True),
        ([1e308, 1e308], False),
        ([], True),
    ],
)
def test_sums_must_fit(weights, can):
    edges = np.array([(0, 1), (1, 2)])[: len(weights)]
    assert can_merge(Graph(edges.reshape(-1, 2), np.array(weights), range(3))) == can
