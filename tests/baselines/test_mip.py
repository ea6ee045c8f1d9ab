"""Tests of the mixed-integer program: proofs, bounds, limits."""

import jax
import numpy as np
import pytest

from ecord_jax.baselines.mip import _program, mip, solve_mip
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph, models

KEY = jax.random.key(0)


def largest_cut(graph):
    """By trying all labels."""
    n = graph.num_vertices
    labels = np.arange(2 ** (n - 1))[:, None] >> np.arange(n) & 1
    u, v = graph.edges.T
    return float(((labels[:, u] != labels[:, v]) @ graph.weights).max())


@pytest.mark.parametrize("weights", ["unit", "signed", "gaussian"])
def test_small_optima_are_proved(weights):
    for seed in range(3):
        graph = models.erdos_renyi(12, 0.5, seed=seed, weights=weights)
        found, optimum = solve_mip(graph, key=KEY), largest_cut(graph)
        assert found.result.stopped_by == "optimal"
        assert found.result.cut == graph.cut(found.result.labels) == pytest.approx(optimum)
        assert found.bound == pytest.approx(optimum, abs=1e-5)


def test_program_of_one_edge():
    """Every point of the program by hand: the objective's best is the cut of each pair of sides."""
    for weight in (2, -3):
        program = _program(Graph.from_edges([(0, 1)], [weight]), 1.0)
        matrix, most = program["constraints"].A.toarray(), program["constraints"].ub
        for x in (0.0, 1.0):
            ys = [y for y in (0.0, 0.5, 1.0) if (matrix @ [0.0, x, y] <= most).all()]
            assert max(weight * y for y in ys) == weight * x
        assert program["c"].tolist() == [0, 0, -weight]
        assert program["bounds"].ub.tolist() == [0, 1, 1]


def test_weights_of_any_scale():
    graph = models.erdos_renyi(12, 0.5, seed=1, weights="gaussian")
    tiny = Graph.from_edges(graph.edges, graph.weights * 1e-12)
    assert mip(tiny, key=KEY).cut == pytest.approx(1e-12 * largest_cut(graph))


def test_time_limit_and_bound():
    graph = models.erdos_renyi(120, 0.3, seed=0, weights="signed")
    found = solve_mip(graph, key=KEY, time_limit=0.5)
    assert found.result.stopped_by == "time_limit"
    assert found.result.seconds["total"] < 5
    assert found.result.cut <= found.bound <= graph.positive_weight


def test_default_time_limit():
    graph = models.erdos_renyi(120, 0.3, seed=0, weights="signed")
    result = mip(graph, key=KEY, num_steps=1, default_seconds=0.3)
    assert result.stopped_by == "time_limit"
    assert result.seconds["total"] < 5
    with pytest.raises(OptionError, match="time_limit=0"):
        mip(graph, key=KEY, default_seconds=0)


def test_graphs_without_a_search():
    assert mip(Graph.from_edges([], num_vertices=2), key=KEY).stopped_by == "optimal"
    labels = mip(Graph.from_edges([(0, 1)], [-1]), key=KEY).labels
    np.testing.assert_array_equal(labels, [0, 0])
    with pytest.raises(OptionError, match="time_limit=-1"):
        mip(models.erdos_renyi(5, 1.0, seed=0), key=KEY, time_limit=-1)
