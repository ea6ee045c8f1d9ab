"""Tests of the rank-2 relaxation: its descent, its rounding by brute force, and what it finds."""

import itertools
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ecord_jax.baselines.rank2 import rank2
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.exact import largest_cut
from ecord_jax.graphs.models import erdos_renyi, torus
from ecord_jax.search import rank2_rounding
from ecord_jax.search.rank2 import Descents, _evaluate, advance, start
from ecord_jax.search.rank2_rounding import RoundingState, round_angles

KEY = jax.random.key(0)


def small_graph(seed, weights="gaussian", size=9):
    return erdos_renyi(size, 0.5, seed=seed, weights=weights)


def to_rounding(graph, angles):
    rows = graph.adjacency()
    return RoundingState(
        starts=rows.indptr,
        near=rows.indices,
        weights=rows.data,
        order=np.argsort(np.mod(angles, np.pi)),
        sides=np.where(np.mod(angles, 2 * np.pi) < np.pi, 1, -1).astype(np.int8),
        gains=np.zeros(graph.num_vertices),
    )


def energy(graph, angles):
    """f by its definition, and its gradient."""
    matrix, differences = graph.adjacency().toarray(), angles[:, None] - angles
    return (matrix * np.cos(differences)).sum() / 2, -(matrix * np.sin(differences)).sum(axis=1)


def test_value_and_gradient_by_definition():
    graph = small_graph(0, "signed", 30)
    state = Descents(graph, 2, 0.2, 10)
    angles = np.random.default_rng(0).uniform(-3, 3, (2, 32))
    scale = 2.0  # weights of 1 become 1/2
    value, gradient = _evaluate(state._problem, jnp.cos(angles).T, jnp.sin(angles).T)
    for b in range(2):
        expected, slopes = energy(graph, angles[b, :30])
        assert scale * float(value[b]) == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(scale * gradient[:30, b], slopes, atol=1e-5)


def test_first_step_by_hand():
    # Two vertices at angles 0 and a: f = cos(a) / 2, and a unit step turns each by sin(a) away
    # from the other, up to the cubic term of 2 arctan(t / 2).
    state = Descents(Graph.from_edges([(0, 1)]), 1, 0.2, 10)
    a = 0.5
    descent = start(state._problem, state._labels, jnp.array([False]), KEY, jnp.float32(1e-9))
    turned = descent.x.at[1].set(np.cos(a)), descent.y.at[1].set(np.sin(a))
    value, gradient = _evaluate(state._problem, *turned)
    descent = descent._replace(
        x=turned[0], y=turned[1], value=value, gradient=gradient, mean=value + 0
    )
    after = advance(state._problem, state._totals, descent, jnp.int32(1))
    turn = 2 * np.arctan(np.sin(a) / 2)
    angles = np.arctan2(after.y[:2, 0], after.x[:2, 0])
    np.testing.assert_allclose(angles, [-turn, a + turn], rtol=1e-5)
    assert float(after.value[0]) == pytest.approx(np.cos(a + 2 * turn) / 2, rel=1e-5)


def test_descents_end_at_stationary_points():
    graph = small_graph(1, "signed", 60)
    state = Descents(graph, 6, 0.2, 10)
    fresh = jnp.ones(6, bool)
    before = start(state._problem, state._labels, fresh, KEY, jnp.float32(0.2))
    values = np.asarray(before.value)
    after = advance(state._problem, state._totals, before, jnp.int32(500))
    assert bool(after.done.all())
    assert int(after.step) < 500
    assert (np.asarray(after.value) < values).all()
    angles = np.arctan2(after.y, after.x)[:60]
    degree = np.abs(graph.adjacency().toarray()).sum(axis=1)
    for b in range(6):
        value, slopes = energy(graph, angles[:, b])
        assert 2 * float(after.value[b]) == pytest.approx(value, rel=1e-4)
        assert (slopes**2 / degree).sum() < 2e-3 * abs(value)


@pytest.mark.parametrize("weights", ["unit", "gaussian"])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_half_circle_is_taken(seed, weights):
    graph = small_graph(seed, weights)
    angles = np.random.default_rng(seed).uniform(0, 2 * np.pi, graph.num_vertices)
    r = to_rounding(graph, angles)
    rank2_rounding._turn(r.starts, r.near, r.weights, r.order, r.sides, r.gains)
    circles = [
        graph.cut((np.mod(angles - turn, 2 * np.pi) < np.pi).astype(np.int8))
        for turn in np.linspace(0, np.pi, 5000)
    ]
    assert graph.cut((r.sides < 0).astype(np.int8)) == pytest.approx(max(circles))


@pytest.mark.parametrize("weights", ["unit", "gaussian"])
@pytest.mark.parametrize("seed", range(4))
def test_no_single_or_double_flip_pays_in_the_end(seed, weights):
    graph = small_graph(seed, weights)
    r = to_rounding(graph, np.zeros(graph.num_vertices))
    round_angles(r)
    labels = (r.sides < 0).astype(np.int8)
    cut = graph.cut(labels)
    for pair in itertools.combinations_with_replacement(range(graph.num_vertices), 2):
        flipped = labels.copy()
        flipped[list(set(pair))] ^= 1
        assert graph.cut(flipped) <= cut + 1e-9


def test_double_flips_are_found():
    # No single flip of this cut pays; those of 0 and 1, which it divides, cut 0-2 and 1-3 as well.
    graph = Graph.from_edges([(0, 1), (0, 2), (1, 3), (2, 4), (3, 5)], [2, 2, 2, 3, 3])
    r = to_rounding(graph, np.zeros(6))
    r.sides[:] = [1, -1, 1, -1, -1, 1]
    rows = r.starts, r.near, r.weights, r.sides, r.gains
    rank2_rounding._weigh(*rows)
    assert r.gains.tolist() == [0, 0, -1, -1, -3, -3]
    rank2_rounding._flip_singles(*rows)
    assert rank2_rounding._flip_pairs(*rows)
    assert r.sides.tolist() == [-1, 1, 1, -1, -1, 1]
    assert not rank2_rounding._flip_pairs(*rows)


@pytest.mark.parametrize("weights", ["unit", "signed"])
def test_it_finds_the_largest_cut(weights):
    graph = erdos_renyi(40, 0.12, seed=4, weights=weights)
    result = rank2(graph, key=KEY, trajectories=4, num_steps=30)
    assert result.cut == largest_cut(graph) == graph.cut(result.labels)
    again = rank2(graph, key=KEY, trajectories=4, num_steps=30)
    np.testing.assert_array_equal(again.labels, result.labels)


def test_a_bipartite_graph_is_cut_at_once():
    result = rank2(torus((8, 8), seed=0, weights="unit"), key=KEY, num_steps=3)
    assert (result.cut, result.stopped_by) == (128, "optimal")


def test_trajectories_start_anew_when_patience_ends():
    graph = erdos_renyi(40, 0.12, seed=4)
    state, waited = Descents(graph, 3, 0.2, 2), []
    for key in jax.random.split(KEY, 12):
        state.go_on(key, lambda: False)
        waited.append(state._waited.copy())
        assert graph.cut(state.best_labels) == 2 * state.best_cut  # weights of 1 became 1/2
    waited = np.array(waited)
    assert waited.max() == 2
    ended = np.argwhere(waited[:-1] == 2)
    assert len(ended)
    assert all(waited[turn + 1, b] == 0 for turn, b in ended)


def test_a_time_limit_is_kept():
    graph = erdos_renyi(200, 0.05, seed=0)
    rank2(graph, key=KEY, num_steps=1)  # compiles
    began = time.monotonic()
    assert rank2(graph, key=KEY, time_limit=0.5).stopped_by == "time_limit"
    assert 0.5 <= time.monotonic() - began < 2.5


def test_descents_are_compiled_once():
    rank2(erdos_renyi(200, 0.05, seed=0), key=KEY, num_steps=1)
    compiled = advance._cache_size()
    rank2(erdos_renyi(199, 0.05, seed=0), key=KEY, num_steps=12)
    assert advance._cache_size() == compiled


def test_bad_options():
    graph = Graph.from_edges([(0, 1)])
    with pytest.raises(OptionError, match="spread=0 must be"):
        rank2(graph, key=KEY, spread=0)
    with pytest.raises(OptionError, match="patience=0 must be"):
        rank2(graph, key=KEY, patience=0)
    with pytest.raises(OptionError, match="time_limit"):
        rank2(graph, key=KEY, time_limit=-1)
