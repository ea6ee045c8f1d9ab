"""Tests of graphs of known optimum: the known value is the largest, by trying all labels."""

import itertools

import numpy as np
import pytest

from ecord_jax.errors import OptionError
from ecord_jax.graphs.exact import largest_cut
from ecord_jax.graphs.fingerprint import fingerprint
from ecord_jax.graphs.planted import planted_torus, planted_triangles

# The graphs that seed 1 stands for, for good.
TRIANGLES = "5478a58fa89558c0a5527141f9ad7bda68ba17ed8b944018b149316f19d3adbc"
SIGNED = "6d6f5cf26f092a439268fd24bed014a60aa17b8c6e11f427fbae3e82bce92c29"
TORUS = "fc5f6fe13f22f15a7ceae784b26b93e1d05d8626ef2411b50195272423d22fbd"


def brute_force(graph):
    """The largest cut over all labels."""
    labels = np.array(list(itertools.product((0, 1), repeat=graph.num_vertices)), np.int8)
    cut = labels[:, graph.edges[:, 0]] != labels[:, graph.edges[:, 1]]
    return int((cut @ graph.weights).max())


@pytest.mark.parametrize("n", [3, 4, 5, 10])
@pytest.mark.parametrize("signed", [False, True])
def test_triangles_by_brute_force(n, signed):
    for seed in range(10):
        graph, labels, cut = planted_triangles(n, 2 * n, seed=seed, signed=signed)
        assert (graph.num_vertices, labels.shape, labels.dtype) == (n, (n,), np.int8)
        assert cut == graph.cut(labels) == brute_force(graph)
        assert signed or cut == 4 * n


def test_torus_by_brute_force():
    for seed in range(3):
        graph, labels, cut = planted_torus(4, 4, seed=seed)
        assert cut == graph.cut(labels) == brute_force(graph)


def test_larger_ones_by_elimination():
    for seed in range(3):
        graph, _, cut = planted_torus(6, 10, seed=seed)
        assert cut == largest_cut(graph)
        graph, _, cut = planted_triangles(45, 40, seed=seed, signed=True)
        assert cut == largest_cut(graph)


def test_triangles_hide_their_labels():
    graph, labels, cut = planted_triangles(5000, 10_000, seed=0)
    assert (cut, graph.weights.sum()) == (20_000, 30_000)
    assert labels.sum() == 2500
    edges, weights = graph.edges, graph.weights
    degree = np.bincount(edges.ravel(), np.repeat(weights, 2), 5000)
    assert abs(degree[labels == 0].mean() - degree[labels == 1].mean()) < 0.3
    assert abs(np.corrcoef(np.arange(5000), labels)[0, 1]) < 0.06
    # Third vertices are of either half, so inner edges are spread over both.
    inner = labels[edges[:, 0]][labels[edges[:, 0]] == labels[edges[:, 1]]]
    assert abs(inner.mean() - 0.5) < 0.03
    signed, turned, value = planted_triangles(5000, 10_000, seed=0, signed=True)
    np.testing.assert_array_equal(signed.edges, edges)
    np.testing.assert_array_equal(abs(signed.weights), weights)
    assert abs((signed.weights > 0).mean() - 0.5) < 0.03
    assert abs((turned != labels).mean() - 0.5) < 0.04
    # The energies, weight minus twice the cut, are the same.
    assert signed.weights.sum() - 2 * value == weights.sum() - 2 * cut


def test_each_mixed_triangle_is_as_likely():
    n, seen = 5, {}
    for seed in range(4000):
        graph, labels, _ = planted_triangles(n, 1, seed=seed)
        triangle = frozenset(graph.edges.ravel().tolist())
        assert 0 < labels[list(triangle)].sum() < 3
        seen[triangle] = seen.get(triangle, 0) + 1
    assert len(seen) == 10
    assert max(seen.values()) / min(seen.values()) < 1.4


def test_torus_is_a_spin_glass():
    graph, labels, cut = planted_torus(20, 30, seed=1)
    assert (graph.num_vertices, graph.num_edges) == (600, 1200)
    assert (np.bincount(graph.edges.ravel()) == 4).all()
    assert set(graph.weights.tolist()) == {-1, 1}
    assert abs(graph.weights.mean()) < 0.15
    assert abs(labels.mean() - 0.5) < 0.1
    # Of the 300 black squares each has one edge against the labels.
    satisfied = (labels[graph.edges[:, 0]] != labels[graph.edges[:, 1]]) == (graph.weights > 0)
    assert (~satisfied).sum() == 300
    assert cut == (graph.weights.sum() + 600) // 2


def test_seeds():
    assert fingerprint(planted_triangles(50, 100, seed=1).graph) == TRIANGLES
    assert fingerprint(planted_triangles(50, 100, seed=1, signed=True).graph) == SIGNED
    assert fingerprint(planted_torus(6, 8, seed=1).graph) == TORUS
    assert planted_torus(6, 8, seed=2).graph != planted_torus(6, 8, seed=1).graph
    one, two = (planted_triangles(50, 9, seed=np.random.default_rng(3)) for _ in range(2))
    assert one.graph == two.graph
    np.testing.assert_array_equal(one.labels, two.labels)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: planted_triangles(2, 3, seed=0), "num_vertices=2 must be at least 3"),
        (lambda: planted_triangles(9, -1, seed=0), "num_triangles=-1 must be at least 0"),
        (lambda: planted_triangles(9, 2.5, seed=0), "num_triangles=2.5 must be an integer"),
        (lambda: planted_torus(4, 5, seed=0), "rows=4 and columns=5 must be even"),
        (lambda: planted_torus(2, 4, seed=0), "rows=2 must be at least 4"),
        (lambda: planted_torus(4, 4, seed="a"), "seed='a' must be an integer"),
    ],
)
def test_arguments_that_make_no_sense(call, words):
    with pytest.raises(OptionError, match="^" + words):
        call()
