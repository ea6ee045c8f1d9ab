"""Tests of the greedy cut on the host."""

import time

import networkx
import numpy as np
import pytest

from ecord_jax.graphs import Graph
from ecord_jax.search.greedy import greedy_labels


def random_graph(rng, n, m, weights):
    pairs = {tuple(sorted(pair)) for pair in rng.integers(0, n, (m, 2)).tolist()}
    pairs = [pair for pair in sorted(pairs) if pair[0] != pair[1]]
    return Graph.from_edges(pairs, weights(len(pairs)), num_vertices=n)


def gains(graph, labels):
    """Change of the cut by each flip, edge by edge."""
    found = [0.0] * graph.num_vertices
    for (u, v), w in zip(graph.edges.tolist(), graph.weights.tolist(), strict=True):
        for i in (u, v):
            found[i] += w if labels[u] == labels[v] else -w
    return found


@pytest.mark.parametrize("seed", range(12))
def test_no_flip_is_left_that_pays(seed):
    rng = np.random.default_rng(seed)
    weights = [
        lambda m: rng.integers(-3, 4, m),
        lambda m: rng.normal(size=m),
        lambda m: np.ones(m, np.int64),
    ][seed % 3]
    graph = random_graph(rng, 60, [20, 100, 600][seed // 4], weights)
    start = rng.integers(0, 2, 60, np.int8)
    before = start.copy()
    labels = greedy_labels(graph, start, rng)
    assert labels.dtype == np.int8
    assert set(labels.tolist()) <= {0, 1}
    assert max(gains(graph, labels)) <= 1e-9
    assert graph.cut(labels) >= graph.cut(start)
    assert (start == before).all(), "the caller's labels were changed"


def test_equal_gains_do_not_stop_it():
    # All gains are the same everywhere: rounds must still pick somebody.
    graph = Graph.from_networkx(networkx.complete_graph(9))
    labels = greedy_labels(graph, np.zeros(9, np.int8), np.random.default_rng(0))
    assert graph.cut(labels) == 20
    ring = Graph.from_networkx(networkx.cycle_graph(50))
    labels = greedy_labels(ring, np.zeros(50, np.int8), np.random.default_rng(0))
    assert ring.cut(labels) >= 32


def test_hub():
    star = Graph.from_edges([(0, i) for i in range(1, 1001)])
    start = np.random.default_rng(1).integers(0, 2, 1001, np.int8)
    assert star.cut(greedy_labels(star, start, np.random.default_rng(0))) == 1000


@pytest.mark.parametrize("unit", [1e-300, 1e-5, 1e300, 2**61])
def test_any_size_of_weights(unit):
    path = Graph.from_edges([(0, 1), (1, 2), (2, 3)], [unit, -unit, unit])
    with np.errstate(all="raise", under="ignore"):
        labels = greedy_labels(path, np.zeros(4, np.int8), np.random.default_rng(0))
    assert path.cut(labels) == path.positive_weight


def test_small_weights_beside_large_ones_count():
    graph = Graph.from_edges([(0, 1), (2, 3)], [1e12, 1e-3])
    labels = greedy_labels(graph, np.zeros(4, np.int8), np.random.default_rng(0))
    assert graph.cut(labels) == graph.positive_weight


@pytest.mark.parametrize("size", [1, 5])
def test_without_edges(size):
    graph = Graph.from_edges([], num_vertices=size)
    labels = greedy_labels(graph, np.ones(size, np.int8), np.random.default_rng(0))
    assert labels.tolist() == [1] * size


def test_deadline():
    graph = Graph.from_edges([(0, 1)])
    start = np.zeros(2, np.int8)
    late = greedy_labels(graph, start, np.random.default_rng(0), time.monotonic() - 1)
    assert late.tolist() == [0, 0]
    in_time = greedy_labels(graph, start, np.random.default_rng(0), time.monotonic() + 60)
    assert graph.cut(in_time) == 1


def test_same_draws_same_labels():
    rng = np.random.default_rng(0)
    graph = random_graph(rng, 200, 1000, lambda m: np.ones(m, np.int64))
    start = rng.integers(0, 2, 200, np.int8)
    first, second = (greedy_labels(graph, start, np.random.default_rng(5)) for _ in range(2))
    assert (first == second).all()


def test_large_graphs_are_quick():
    rng = np.random.default_rng(0)
    n, m = 100_000, 400_000
    edges = np.unique(rng.integers(0, n // 2, (m, 2)) + [0, n // 2], axis=0)
    graph = Graph.from_edges(edges, num_vertices=n)
    start = rng.integers(0, 2, n, np.int8)
    began = time.monotonic()
    labels = greedy_labels(graph, start, rng)
    assert time.monotonic() - began < 10  # a tenth of a second on a free core
    assert graph.cut(labels) > 0.64 * graph.num_edges
