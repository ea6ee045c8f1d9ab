"""Tests of the proof that a matrix is positive semidefinite, and of the estimate beside it."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

from ecord_jax.graphs import Graph
from ecord_jax.search import definite
from ecord_jax.search.definite import proven_shift, smallest_eigenvalue, to_band


def random_rows(seed, n=30, degree=5.0):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.normal(size=(n, n)) * (rng.random((n, n)) < degree / n), 1)
    return scipy.sparse.csr_array(upper + upper.T)


def eigenvalues(rows, diagonal):
    return np.linalg.eigvalsh(rows.toarray() + np.diag(diagonal))


@pytest.mark.parametrize("seed", range(10))
def test_accepts_and_refuses(seed):
    rows = random_rows(seed, n=5 + 9 * seed)
    rng = np.random.default_rng(seed)
    diagonal = rng.random(rows.shape[0]) + 1.0
    diagonal += max(0.0, 1e-9 - eigenvalues(rows, diagonal)[0])
    shift = proven_shift(to_band(rows), diagonal)
    assert 0 < shift < 1e-10
    lower = diagonal - eigenvalues(rows, diagonal)[0] - 1e-9
    assert lower.min() > 0
    assert proven_shift(to_band(rows), lower) is None


@pytest.mark.parametrize("seed", range(20))
def test_shift_makes_up_for_what_rounding_hides(seed):
    """Close to singular anything may come out, but no more than the shift may be missing."""
    rows = random_rows(seed)
    diagonal = np.asarray(abs(rows).sum(axis=1)) + 0.1
    diagonal -= eigenvalues(rows, diagonal)[0]
    accepted = 0
    for missing in np.geomspace(1e-18, 1e-12, 25):
        shift = proven_shift(to_band(rows), diagonal - missing)
        accepted += shift is not None
        # The true eigenvalue is -missing, but for the rounding errors of eigvalsh.
        assert shift is None or missing <= shift + 1e-14
    assert accepted < 25


def test_complete_graph():
    rows = Graph.from_networkx(nx.complete_graph(50)).adjacency()  # its least eigenvalue is -1
    assert to_band(rows).width == 49
    assert proven_shift(to_band(rows), np.full(50, 1 + 1e-9)) is not None
    assert proven_shift(to_band(rows), np.full(50, 1 - 1e-9)) is None


@pytest.mark.parametrize("bad", [-1e-300, -1.0, np.nan, np.inf])
def test_a_diagonal_that_cannot_be(bad):
    rows = Graph.from_edges([(0, 1)], num_vertices=3).adjacency()
    assert proven_shift(to_band(rows), np.array([2.0, 2.0, bad])) is None or bad == np.inf
    assert proven_shift(to_band(rows), np.array([2.0, bad, 2.0])) is None


@pytest.mark.filterwarnings("ignore:invalid value")
def test_overflow_on_the_way_is_no_proof():
    rows = scipy.sparse.csr_array(np.array([[0, 1e200, 1], [1e200, 0, 1], [1, 1, 0]]))
    assert proven_shift(to_band(rows), np.array([1e-200, 1e300, 1.0])) is None


def test_rows_of_zeros_need_nothing():
    graph = Graph.from_edges([(0, 3), (1, 2)], [1, 0], num_vertices=5)
    band = to_band(graph.adjacency())
    assert sorted(band.order.tolist()) == [0, 3]
    assert proven_shift(band, np.array([1.1, 0.0, 0.0, 1.1, 0.0])) < 1e-14
    empty = to_band(Graph.from_edges([], num_vertices=4).adjacency())
    assert proven_shift(empty, np.zeros(4)) == 0


def test_grids_are_narrow_bands():
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(20, 200))
    order = np.random.default_rng(0).permutation(4000)
    edges = order[np.array(grid.edges())]
    band = to_band(Graph.from_edges(edges).adjacency())
    assert band.width <= 21
    assert proven_shift(band, np.full(4000, 4.0)) is not None


def test_size_is_limited(monkeypatch):
    rows = Graph.from_networkx(nx.complete_graph(10)).adjacency()
    monkeypatch.setattr(definite, "_MOST_ENTRIES", 99)
    with pytest.raises(MemoryError, match="10 by 10"):
        proven_shift(to_band(rows), np.full(10, 2.0))
    monkeypatch.setattr(definite, "_MOST_ENTRIES", 100)
    assert proven_shift(to_band(rows), np.full(10, 2.0)) is not None


@pytest.mark.parametrize("size", [1, 2, 7, 60, 400])
def test_lanczos_comes_from_above(size):
    rows = random_rows(size, n=size)
    least = np.linalg.eigvalsh(rows.toarray())[0]
    found = smallest_eigenvalue(rows, 1e-9)
    assert least - 1e-9 <= found <= least + 1e-6
