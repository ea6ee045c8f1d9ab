"""Tests of the outside solvers, where they are installed."""

import sys
import time

import jax
import numpy as np
import pytest

from ecord_jax.baselines.dwave import dwave_annealing, dwave_descent, dwave_tabu
from ecord_jax.errors import MissingExtraError
from ecord_jax.graphs import Graph, models
from ecord_jax.graphs.exact import largest_cut

KEY = jax.random.key(0)
SOLVERS = (dwave_tabu, dwave_annealing, dwave_descent)


@pytest.fixture
def installed():
    pytest.importorskip("dwave.samplers")


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_the_package(solver, monkeypatch):
    monkeypatch.setitem(sys.modules, "dwave.samplers", None)
    graph = models.erdos_renyi(5, 1.0, seed=0)
    with pytest.raises(MissingExtraError, match=r"dwave-samplers: pip install 'ecord-jax\[peers\]"):
        solver(graph, key=KEY, num_steps=3)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("solver", SOLVERS)
def test_small_optima(solver):
    for seed in range(3):
        graph = models.erdos_renyi(14, 0.5, seed=seed, weights="signed")
        result = solver(graph, key=KEY, num_steps=140)
        assert result.cut == largest_cut(graph) == graph.cut(result.labels)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("solver", SOLVERS)
def test_steps_give_the_same_labels_again(solver):
    graph = models.erdos_renyi(200, 0.1, seed=0, weights="gaussian")
    first, again = (solver(graph, key=KEY, trajectories=3, num_steps=300) for _ in range(2))
    assert (first.steps, first.stopped_by) == (300, "num_steps")
    np.testing.assert_array_equal(first.labels, again.labels)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("solver", SOLVERS)
def test_time_limit(solver):
    graph = models.erdos_renyi(300, 0.1, seed=0)
    start = time.monotonic()
    result = solver(graph, key=KEY, trajectories=5, time_limit=0.6)
    assert 0.4 < time.monotonic() - start < 2
    assert result.stopped_by == "time_limit"
    assert result.cut > 0.55 * graph.num_edges


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("solver", SOLVERS)
def test_graphs_without_a_search(solver):
    assert solver(Graph.from_edges([], num_vertices=2), key=KEY).stopped_by == "optimal"
