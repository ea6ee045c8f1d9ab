"""Tests of Graph: canonical form, constructors, exact cuts, errors."""

import fractions
import itertools
import math
import pickle
import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from ecord_jax.errors import EcordError, EcordWarning
from ecord_jax.graphs import Graph
from ecord_jax.graphs.edges import MAX_VERTICES, as_weights, exact_sum

BIG = 2**62
TRIANGLE = Graph.from_edges([(0, 1), (1, 2), (0, 2)], [5, 7, -3])

ends = st.integers(0, 7)
exact_floats = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))
edge_lists = st.lists(st.tuples(ends, ends, st.one_of(st.integers(-9, 9), exact_floats)))


@pytest.fixture
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EcordWarning)
        yield


def canonical_by_hand(rows):
    """Sums edges one by one, in fractions."""
    sums = {}
    for u, v, w in rows:
        if u != v:
            key = min(u, v), max(u, v)
            sums[key] = sums.get(key, 0) + fractions.Fraction(w)
    return dict(sorted(sums.items()))


def test_edges_are_sorted_and_turned():
    graph = Graph.from_edges([(2, 1), (2, 0), (0, 1)], [7, -3, 5])
    assert graph.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert graph.weights.tolist() == [5, -3, 7]
    assert graph.edges.dtype == np.int64
    assert (graph.num_vertices, graph.num_edges, list(graph.names)) == (3, 3, [0, 1, 2])


def test_arrays_are_read_only_copies():
    edges, weights = np.array([[0, 1]]), np.array([2])
    graph = Graph.from_edges(edges, weights)
    edges[0, 1], weights[0] = 9, 9
    assert graph.edges.tolist() == [[0, 1]]
    assert graph.weights.tolist() == [2]
    for array in (graph.edges, graph.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        graph.names = (1, 2)


def test_direct_constructor_takes_only_the_canonical_form():
    assert Graph(np.array([[0, 1]]), np.array([1]), (0, 1)).cut([0, 1]) == 1
    for edges in ([[1, 0]], [[0, 0]], [[0, 1], [0, 1]], [[1, 2], [0, 1]]):
        with pytest.raises(EcordError, match="from_edges"):
            Graph(np.array(edges), np.ones(len(edges), int), range(3))


@pytest.mark.parametrize(
    ("weights", "dtype", "expected"),
    [
        ([1, 2], np.int64, [1, 2]),
        ([True, False], np.int64, [1, 0]),
        ([1.0, -2.0], np.int64, [1, -2]),
        ([1, 0.5], np.float64, [1.0, 0.5]),
        ([2**63 - 1, -(2**63)], np.int64, [2**63 - 1, -(2**63)]),
        ([2.0**53 + 2, 1.0], np.float64, [2.0**53 + 2, 1.0]),
        (np.array([1, 255], np.uint8), np.int64, [1, 255]),
        (np.array([0.5, 1], np.float32), np.float64, [0.5, 1.0]),
        ([fractions.Fraction(1, 4), 10**30], np.float64, [0.25, 1e30]),
        (iter([3, 4]), np.int64, [3, 4]),
    ],
)
def test_weights_are_integers_where_all_are(weights, dtype, expected):
    graph = Graph.from_edges([(0, 1), (1, 2)], weights)
    assert graph.weights.dtype == dtype
    assert graph.weights.tolist() == expected


@pytest.mark.parametrize(
    "weights",
    [
        [2**63, -1],
        [2**63, 1],
        [2**64, 1],
        np.array([2**63, 1], np.uint64),
        [math.nan, 1],
        [1.5, math.inf],
        [10**400, 0.5],
        ["1", "2"],
        [None, 1],
        [1j, 1],
        [[1], [2]],
        [[1], [2, 3]],
        [1],
        3,
    ],
)
def test_bad_weights_are_refused(weights):
    with pytest.raises(EcordError) as error:
        Graph.from_edges([(0, 1), (1, 2)], weights)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("edges", "options", "words"),
    [
        ([(0, 3)], {"num_vertices": 3}, "joins 0 and 3; expected 0..2"),
        ([(-1, 1)], {}, "joins -1 and 1"),
        ([(0, 1)], {"num_vertices": 0}, "no vertices"),
        ([(0.0, 1.0)], {}, "pairs of integers"),
        ([(0, 1, 2)], {}, "pairs"),
        ([(0, 1), (2,)], {}, "one shape"),
        ([(0, 2**70)], {}, "integers"),
        (np.array([[0, 2**63]], np.uint64), {}, "joins"),
        (5, {}, "must be a list"),
        ([], {"num_vertices": -1}, "num_vertices"),
        ([], {"num_vertices": 10**12}, "num_vertices"),
        ([], {"num_vertices": 2.0}, "integer"),
        ([(0, 1)], {"names": "aa"}, "differ"),
        ([(0, 1)], {"names": [[], []]}, "hashable"),
        ([(0, 1)], {"names": "ab", "num_vertices": 3}, "2 names for 3"),
    ],
)
def test_bad_edges_are_refused(edges, options, words):
    with pytest.raises(EcordError, match=words):
        Graph.from_edges(edges, **options)


def test_repeats_and_loops_are_each_reported_once():
    with pytest.warns(EcordWarning) as caught:
        graph = Graph.from_edges([(0, 1), (1, 0), (0, 1), (2, 2)], [1, 2, 4, 8])
    assert graph.weights.tolist() == [7]
    assert graph.num_vertices == 3
    assert [str(warning.message) for warning in caught] == [
        "2 repeated edges were summed",
        "1 self loop was dropped: a loop is never cut",
    ]
    assert {warning.filename for warning in caught} == {__file__}


def test_nothing_is_reported_without_repeats_and_loops():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Graph.from_edges([(0, 1), (1, 2)])


@pytest.mark.usefixtures("_quiet")
def test_repeats_are_summed_exactly():
    def weights(values):
        return Graph.from_edges([(0, 1)] * len(values), values).weights.tolist()

    assert weights([0.1] * 10) == [1]  # one after the other they make 0.9999999999999999
    assert weights([1e16, 1.5, -1e16]) == [1.5]
    assert weights([BIG, BIG, -BIG]) == [BIG]  # the first two alone overflow
    assert weights([1, -1]) == [0]
    for values in ([BIG, BIG], [1.5e308, 1.5e308], [1.5e308] * 3):
        with pytest.raises(EcordError):
            weights(values)


@given(edge_lists)
def test_canonical_form_is_that_of_fractions(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EcordWarning)
        graph = Graph.from_edges([row[:2] for row in rows], [row[2] for row in rows], 8)
    expected = canonical_by_hand(rows)
    assert graph.edges.tolist() == [list(key) for key in expected]
    assert graph.weights.tolist() == [float(weight) for weight in expected.values()]
    is_integer = all(float(weight).is_integer() for weight in expected.values())
    assert (graph.weights.dtype == np.int64) == is_integer


def test_zero_weights_and_isolated_vertices_are_kept():
    graph = Graph.from_edges([(0, 1)], [0], num_vertices=3)
    assert (graph.num_vertices, graph.num_edges) == (3, 1)
    assert Graph.from_edges([]).num_vertices == 0
    assert Graph.from_edges([], num_vertices=5).cut([0] * 5) == 0
    assert Graph.from_edges([], num_vertices=1).positive_weight == 0


def test_many_vertices_cost_nothing():
    graph = Graph.from_edges([(0, MAX_VERTICES - 1)], num_vertices=MAX_VERTICES)
    assert graph.edges.tolist() == [[0, MAX_VERTICES - 1]]


def test_cut_by_hand():
    cuts = {labels: TRIANGLE.cut(labels) for labels in itertools.product((0, 1), repeat=3)}
    assert cuts == {
        **dict.fromkeys([(0, 0, 0), (1, 1, 1)], 0),
        **dict.fromkeys([(1, 0, 0), (0, 1, 1)], 2),
        **dict.fromkeys([(0, 1, 0), (1, 0, 1)], 12),
        **dict.fromkeys([(0, 0, 1), (1, 1, 0)], 4),
    }
    assert TRIANGLE.positive_weight == 12


def test_cut_is_exact():
    path = [(0, 1), (1, 2), (2, 3)]
    big = Graph.from_edges(path, [2**63 - 1, 2**63 - 1, -(2**63)])
    cut = big.cut([0, 1, 0, 0])
    assert cut == 2**64 - 2
    assert type(cut) is int
    assert big.positive_weight == 2**64 - 2
    tenths = Graph.from_edges([(0, i) for i in range(1, 11)], [0.1] * 10)
    cut = tenths.cut([0] + [1] * 10)
    assert cut == 1.0
    assert type(cut) is float
    assert Graph.from_edges(path, [1e16, 1.5, -1e16]).cut([0, 1, 0, 1]) == 1.5
    assert type(TRIANGLE.cut([0, 1, 0])) is int
    with pytest.raises(EcordError, match="largest float64"):
        Graph.from_edges(path, [1.5e308, 1.5e308, 0.5]).cut([0, 1, 0, 1])


@pytest.mark.parametrize(
    "labels",
    [[0, 1, 0], (False, True, False), np.array([0, 1, 0], np.uint8), np.array([0, 1, 0], bool)],
)
def test_labels_of_any_integer_type(labels):
    checked = TRIANGLE.check_labels(labels)
    assert checked.dtype == np.int8
    assert checked.tolist() == [0, 1, 0]
    assert TRIANGLE.cut(labels) == 12


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0, 1], "shape"),
        ([[0, 1, 0]], "shape"),
        ([[0], [1, 0]], "flat"),
        ([0, 1, 2], "that of 2 is 2"),
        ([0, -1, 1], "that of 1 is -1"),
        ([256, 0, 1], "that of 0 is 256"),
        ([0.0, 1.0, 0.0], "float64"),
        (["0", "1", "0"], "integers"),
        (None, "shape"),
    ],
)
def test_bad_labels_are_refused(labels, words):
    with pytest.raises(EcordError, match=words):
        TRIANGLE.cut(labels)


def test_networkx_names_come_back():
    source = nx.Graph()
    source.add_weighted_edges_from([("a", "b", 2), ("b", "z9", 3), ("a", 10, -1)])
    graph = Graph.from_networkx(source)
    assert graph.names == ("a", "b", "z9", 10)
    assert graph.cut([0, 1, 0, 0]) == 5
    back = graph.to_networkx()
    assert list(back.nodes) == ["a", "b", "z9", 10]
    assert {frozenset(edge): w for *edge, w in back.edges(data="weight")} == {
        frozenset(edge): w for *edge, w in source.edges(data="weight")
    }
    assert Graph.from_networkx(back) == graph


def test_networkx_weights():
    source = nx.Graph([(0, 1), (1, 2, {"weight": 2.5}), (0, 2, {"cost": 4})])
    assert Graph.from_networkx(source).weights.tolist() == [1, 1, 2.5]
    assert Graph.from_networkx(source, weight="cost").weights.tolist() == [1, 4, 1]
    assert Graph.from_networkx(source, weight=None).weights.tolist() == [1, 1, 1]
    source.edges[0, 1]["weight"] = None
    with pytest.raises(EcordError, match="not a number"):
        Graph.from_networkx(source)


def test_networkx_multigraph_and_digraph():
    parallel = nx.MultiGraph([(0, 1, {"weight": 2}), (0, 1, {"weight": 3})])
    with pytest.warns(EcordWarning, match="1 repeated edge was summed"):
        assert Graph.from_networkx(parallel).weights.tolist() == [5]
    with pytest.raises(EcordError, match="directed"):
        Graph.from_networkx(nx.DiGraph([(0, 1)]))


def test_networkx_petersen():
    graph = Graph.from_networkx(nx.petersen_graph())
    assert max(graph.cut(labels) for labels in itertools.product((0, 1), repeat=10)) == 12


UPPER = np.array([[0, 5, -3], [0, 0, 7], [0, 0, 0]])


@pytest.mark.parametrize("matrix", [UPPER, UPPER.T, UPPER + UPPER.T, UPPER.astype(float)])
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_matrix])
def test_scipy_triangles_are_the_same_graph(matrix, make):
    assert Graph.from_scipy(make(matrix)) == TRIANGLE


def test_scipy_repeats_zeros_and_loops():
    repeated = scipy.sparse.coo_array(([1, 4], ([0, 0], [1, 1])), shape=(2, 2))
    assert Graph.from_scipy(repeated).weights.tolist() == [5]
    stored_zero = scipy.sparse.coo_array(([0, 2], ([0, 1], [1, 2])), shape=(3, 3))
    assert Graph.from_scipy(stored_zero).weights.tolist() == [0, 2]
    with pytest.warns(EcordWarning, match="2 self loops"):
        graph = Graph.from_scipy(TRIANGLE.adjacency() + scipy.sparse.diags_array([1.0, 0.0, 2.0]))
    assert graph == TRIANGLE
    assert Graph.from_scipy(scipy.sparse.csr_array((0, 0))).num_vertices == 0
    assert Graph.from_scipy(scipy.sparse.csr_array((4, 4))).num_vertices == 4


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0, 1], [2, 0]], r"entry \(0, 1\) is 1, \(1, 0\) is 2"),
        ([[0, 1, 0], [1, 0, 0], [1, 0, 0]], r"entry \(0, 2\) is 0, \(2, 0\) is 1"),
        ([[0, 1]], "square"),
        ([[0, math.nan], [0, 0]], "finite"),
        ([[0, 1j], [1j, 0]], "complex"),
        ("no matrix", "matrix"),
    ],
)
def test_bad_matrices_are_refused(matrix, words):
    with pytest.raises(EcordError, match=words):
        Graph.from_scipy(matrix if isinstance(matrix, str) else np.array(matrix))


def test_adjacency():
    matrix = TRIANGLE.adjacency()
    assert matrix.dtype == np.float64
    assert matrix.toarray().tolist() == [[0, 5, -3], [5, 0, 7], [-3, 7, 0]]
    assert Graph.from_edges([(0, 1)], [0]).adjacency().nnz == 2


def test_equality_hash_and_repr():
    again = Graph.from_edges([(2, 0), (0, 1), (1, 2)], [-3, 5, 7], names=(0, 1, 2))
    assert again == TRIANGLE
    assert hash(again) == hash(TRIANGLE)
    assert Graph(TRIANGLE.edges, TRIANGLE.weights, "abc") != TRIANGLE
    assert Graph(TRIANGLE.edges, TRIANGLE.weights + 1, range(3)) != TRIANGLE
    assert Graph.from_edges([], num_vertices=2) != Graph.from_edges([], num_vertices=3)
    assert TRIANGLE != 3
    assert repr(TRIANGLE) == "Graph(num_vertices=3, num_edges=3, weights=int64)"
    assert pickle.loads(pickle.dumps(TRIANGLE)) == TRIANGLE


@given(st.lists(st.integers(-(2**63), 2**63 - 1)), st.lists(st.floats(-1e300, 1e300)))
def test_exact_sum(integers, floats):
    assert exact_sum(as_weights(integers)) == sum(integers)
    assert exact_sum(np.array(floats, np.float64)) == float(sum(map(fractions.Fraction, floats)))
