"""Tests of the device form of a graph: CSR rows, padding, units."""

import sys
import warnings

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import bucket, from_dense, to_arrays, weight_unit
from tests.helpers import stack


def dense(arrays):
    """The matrix that the encoder sees: all directed edges, padding too."""
    n = arrays.vertex_mask.shape[0]
    matrix = np.zeros((n, n))
    graph = arrays.graph
    np.add.at(matrix, (np.array(graph.receivers), np.array(graph.senders)), np.array(graph.edges))
    return matrix


def csr(arrays):
    """The matrix that the environment sees: the rows only."""
    n = arrays.vertex_mask.shape[0]
    matrix = np.zeros((n, n))
    rows, senders = np.asarray(arrays.row_start), np.asarray(arrays.graph.senders)
    for i in range(n):
        for e in range(rows[i], rows[i + 1]):
            assert matrix[i, senders[e]] == 0
            matrix[i, senders[e]] = arrays.graph.edges[e]
    return matrix


def check_invariants(arrays):
    """What the module promises of any GraphArrays."""
    n, e = arrays.vertex_mask.shape[0], arrays.graph.edges.shape[0]
    receivers, degree = np.asarray(arrays.graph.receivers), np.asarray(arrays.degree)
    real = int(arrays.graph.n_edge[0])
    assert int(arrays.row_start[0]) == 0
    assert int(arrays.row_start[-1]) == real <= e
    np.testing.assert_array_equal(np.sort(receivers), receivers)
    np.testing.assert_array_equal(receivers[:real], np.repeat(np.arange(n), degree))
    assert arrays.graph.n_node.tolist() == [int(arrays.num_vertices), n - int(arrays.num_vertices)]
    assert arrays.graph.n_edge.tolist() == [real, e - real]
    assert not degree[int(arrays.num_vertices) :].any()
    np.testing.assert_array_equal(arrays.graph.senders[real:], n - 1)
    np.testing.assert_array_equal(receivers[real:], n - 1)
    np.testing.assert_array_equal(arrays.graph.edges[real:], 0)
    assert not arrays.one_block or degree.max(initial=0) <= arrays.row_block
    assert arrays.graph.senders.dtype == arrays.graph.receivers.dtype == jnp.int32
    assert arrays.graph.edges.dtype == jnp.float32


@st.composite
def networks(draw):
    n = draw(st.integers(1, 40))
    graph = nx.gnp_random_graph(n, draw(st.sampled_from([0, 0.1, 0.5])), seed=draw(st.integers(0)))
    kind = st.integers(-5, 5).filter(bool) if draw(st.booleans()) else st.floats(0.5, 9)
    for edge in graph.edges:
        graph.edges[edge]["weight"] = draw(kind)
    return graph


@settings(max_examples=30, deadline=None)
@given(networks())
def test_both_views_are_the_adjacency(graph):
    arrays = to_arrays(Graph.from_networkx(graph))
    n = graph.number_of_nodes()
    expected = np.zeros(arrays.vertex_mask.shape * 2, np.float32)
    expected[:n, :n] = nx.to_numpy_array(graph)
    np.testing.assert_array_equal(dense(arrays), expected)
    np.testing.assert_array_equal(csr(arrays), expected)
    check_invariants(arrays)
    assert arrays.vertex_mask.tolist() == [i < n for i in range(len(expected))]
    scale = np.sqrt((expected[:n].astype(float) ** 2).sum(axis=1).mean())
    np.testing.assert_allclose(arrays.field_scale, scale or 1, rtol=1e-5)
    assert arrays.one_block == (max(dict(graph.degree).values()) <= arrays.row_block)


def test_edges_of_weight_zero_stay_neighbours():
    arrays = to_arrays(Graph.from_edges([(0, 1), (1, 2)], [0, 3]))
    assert arrays.degree.tolist()[:3] == [1, 2, 1]


@pytest.mark.parametrize(
    ("graph", "width", "one_block"),
    [
        (nx.empty_graph(3), 8, True),
        (nx.cycle_graph(30), 8, True),
        (nx.complete_graph(40), 64, True),
        (nx.random_regular_graph(12, 40, seed=1), 16, True),
        (nx.star_graph(50), 8, False),
    ],
)
def test_row_blocks_fit_most_rows_and_hubs_take_several(graph, width, one_block):
    arrays = to_arrays(Graph.from_networkx(graph))
    assert (arrays.row_block, arrays.one_block) == (width, one_block)


def test_graphs_without_vertices_or_edges():
    for n in (0, 1, 17):
        arrays = to_arrays(Graph.from_edges(np.zeros((0, 2), int), num_vertices=n))
        check_invariants(arrays)
        assert int(arrays.num_vertices) == n
        assert float(arrays.field_scale) == 1


@given(st.integers(0, 10**7))
def test_buckets_are_few_monotone_and_close(size):
    found = bucket(size)
    assert found >= max(size, 1)
    assert found % 16 == 0
    assert bucket(found) == found
    assert found <= bucket(size + 1)
    if size > 128:
        assert found - size <= size / 8


def test_eight_buckets_an_octave():
    assert len({bucket(size) for size in range(1025, 2049)}) == 8
    assert [bucket(size) for size in (0, 1, 16, 17)] == [16, 16, 16, 32]


@pytest.mark.parametrize("weight", [0, 1, 2**19, 2**20 - 1, 2.0**-20, 0.3])
def test_usual_weights_are_left_alone(weight):
    assert weight_unit(weight) == 1


@pytest.mark.parametrize(
    "weight", [2**20, 1e9, 1e30, 1e-9, 1e-30, 2**62, sys.float_info.max, sys.float_info.min, 5e-324]
)
def test_extreme_weights_are_divided_by_a_power_of_two(weight):
    unit = weight_unit(weight)
    assert np.frexp(unit)[0] == 0.5
    assert 0.25 <= weight / unit <= 4
    graph = Graph.from_edges([(0, 1), (1, 2)], [weight, -weight])
    arrays = to_arrays(graph)
    assert np.isfinite(arrays.graph.edges).all()
    np.testing.assert_allclose(arrays.graph.edges[0], weight / unit, rtol=1e-6)
    assert np.isfinite(arrays.field_scale)
    assert arrays.field_scale > 0


def test_weights_far_below_the_largest_vanish_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arrays = to_arrays(Graph.from_edges([(0, 1), (1, 2)], [1e300, 1e-300]))
    assert arrays.graph.edges[:4].tolist().count(0) == 2


@pytest.mark.parametrize("room", [0, 10])
def test_from_dense_is_to_arrays_without_padding_vertices(room):
    rng = np.random.default_rng(3)
    upper = np.triu(rng.normal(size=(16, 16)) * (rng.random((16, 16)) < 0.4), 1)
    matrix = (upper + upper.T).astype(np.float32)
    edges = int((matrix != 0).sum())
    found = jax.jit(from_dense, static_argnames=("max_edges", "row_block"))(
        matrix, max_edges=edges + room, row_block=8
    )
    host = to_arrays(Graph.from_scipy(matrix))
    check_invariants(found)
    np.testing.assert_array_equal(dense(found), matrix)
    np.testing.assert_array_equal(csr(found), matrix)
    np.testing.assert_array_equal(found.row_start, host.row_start)
    np.testing.assert_array_equal(found.graph.senders[:edges], host.graph.senders[:edges])
    np.testing.assert_array_equal(found.graph.edges[:edges], host.graph.edges[:edges])
    np.testing.assert_allclose(found.field_scale, host.field_scale, rtol=1e-6)
    assert int(found.num_vertices) == int(host.num_vertices)
    assert (found.row_block, found.one_block) == (8, False)


def test_masks_and_degrees_of_stacked_graphs():
    graphs = [nx.star_graph(4), nx.path_graph(9)]
    arrays = [to_arrays(Graph.from_networkx(graph)) for graph in graphs]
    both = stack(*arrays)
    np.testing.assert_array_equal(both.degree, np.stack([a.degree for a in arrays]))
    np.testing.assert_array_equal(both.vertex_mask, np.stack([a.vertex_mask for a in arrays]))


def test_from_dense_of_nothing():
    found = from_dense(jnp.zeros((5, 5)), max_edges=16, row_block=8)
    check_invariants(found)
    assert float(found.field_scale) == 1
    assert found.one_block
