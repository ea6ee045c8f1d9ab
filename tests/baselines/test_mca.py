"""Tests of the heuristics without learning against plain Python, and of their tuning."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ecord_jax.baselines.mca import _climb, mca, mca_soft, tune_temperature
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.graphs.exact import largest_cut
from ecord_jax.graphs.models import erdos_renyi

KEY = jax.random.key(0)
PAIR = {"trajectories": 2}
GRAPH = erdos_renyi(40, 0.15, seed=1, weights="signed")


def climb(graph, labels, flips):
    """The first of the largest peeks, until that is negative."""
    matrix, sides = graph.adjacency().toarray(), 1 - 2 * labels.astype(int)
    for _ in range(flips):
        peeks = sides * (matrix @ sides)
        if peeks.max() < 0:
            break
        sides[peeks.argmax()] *= -1
    return (sides < 0).astype(np.int8)


def test_it_climbs_as_plain_greed_does():
    arrays = to_arrays(GRAPH)
    starts = np.zeros((6, arrays.vertex_mask.shape[0]), np.int8)
    starts[:, :40] = np.random.default_rng(0).integers(0, 2, (6, 40))
    labels, done = starts, 0
    for flips in (8, 8, 3):  # each chunk goes on where the last one ended
        labels, top, over = _climb(arrays, labels, jnp.int32(flips), num_steps=8)
        done += flips
        expected = [climb(GRAPH, start[:40], done) for start in starts]
        np.testing.assert_array_equal(np.asarray(labels)[:, :40], expected)
        assert GRAPH.cut(expected[int(top)]) == max(map(GRAPH.cut, expected))


def test_it_ends_where_all_peeks_are_negative():
    star = to_arrays(Graph.from_edges([(0, 1), (0, 2), (0, 3)]))
    labels = np.zeros((1, star.vertex_mask.shape[0]), np.int8)
    labels, _, over = _climb(star, labels, jnp.int32(1), num_steps=8)
    assert labels[0, :4].tolist() == [1, 0, 0, 0]
    assert bool(over)


def test_mca_never_leaves_a_flip_that_pays():
    for seed in range(3):
        result = mca(GRAPH, key=jax.random.key(seed), **PAIR)
        sides = 1 - 2 * result.labels
        assert (sides * (GRAPH.adjacency() @ sides)).max() <= 0
        assert result.cut == GRAPH.cut(result.labels)
        assert (result.steps, result.stopped_by) == (80, "num_steps")


def test_mca_first_flip_by_hand():
    # From any labels of this path its largest gain is known: the first flip cuts the heavy edge.
    graph = Graph.from_edges([(0, 1), (1, 2)], [1, 5])
    for seed in range(4):
        result = mca(graph, key=jax.random.key(seed), **PAIR, num_steps=1)
        assert result.cut in (5, 6)


def test_episodes_follow_one_another():
    one = mca(GRAPH, key=KEY, **PAIR)
    many = mca(GRAPH, key=KEY, **PAIR, num_steps=80 * 25)
    assert many.steps == 2000
    assert many.cut >= one.cut
    assert max(p.step for p in many.curve[:-1]) > 80
    assert mca(GRAPH, key=KEY, **PAIR, num_steps=100).steps == 100


def test_soft_flips_find_the_largest_cut():
    result = mca_soft(GRAPH, key=KEY, **PAIR, temperature=0.01, num_steps=4000)
    assert result.cut == largest_cut(GRAPH) == GRAPH.cut(result.labels)
    again = mca_soft(GRAPH, key=KEY, **PAIR, temperature=0.01, num_steps=4000)
    np.testing.assert_array_equal(result.labels, again.labels)


def test_heat_is_worse():
    cuts = [mca_soft(GRAPH, key=KEY, **PAIR, temperature=t).cut for t in (0.01, 3.0)]
    assert cuts[0] > cuts[1]
    # From the same labels: where MCA ends the other goes on.
    assert mca_soft(GRAPH, key=KEY, **PAIR, temperature=0.0).cut >= mca(GRAPH, key=KEY, **PAIR).cut


def test_a_time_limit_is_kept():
    mca(GRAPH, key=KEY, **PAIR)  # compiles
    result = mca(GRAPH, key=KEY, **PAIR, time_limit=0.5)
    assert result.stopped_by == "time_limit"
    assert 0.5 <= result.seconds["total"] < 2.5


def test_temperature_is_tuned():
    graphs = [erdos_renyi(40, 0.2, seed=seed, weights="signed") for seed in range(2)]
    tuned = tune_temperature(graphs, key=KEY, grid=(3.0, 0.01, 0.1), trajectories=4)
    assert tuned.temperature == 0.01
    assert tuned.ratios[1] > tuned.ratios[2] > tuned.ratios[0]
    assert tuned.ratios[1] == pytest.approx(1)
    with pytest.raises(OptionError, match="at least one graph"):
        tune_temperature([], key=KEY)


def test_bad_options():
    with pytest.raises(OptionError, match="temperature=-1"):
        mca_soft(GRAPH, key=KEY, **PAIR, temperature=-1)
    with pytest.raises(OptionError, match="graph is a int"):
        mca(3, key=KEY)
    assert mca(Graph.from_edges([], num_vertices=2), key=KEY).stopped_by == "optimal"
