"""Tests of what all walks on the host have in common: they forget, and may have a past."""

import numpy as np
import pytest

from ecord_jax.agents import load_agent
from ecord_jax.graphs import models
from ecord_jax.search.incremental_host import incremental_mover
from ecord_jax.search.swift import swift_mover
from ecord_jax.search.tabu import TabuWalk, survey
from ecord_jax.search.walks import TABU

GRAPH = models.erdos_renyi(60, 0.1, seed=0)
MOVERS = {
    "tabu": TABU,
    "swift": swift_mover(load_agent("swift")),
    "mixture": incremental_mover(load_agent("mixture"), np.full(1, 0.3), 1, False),
}


@pytest.mark.parametrize("name", MOVERS)
def test_a_walk_that_forgets_begins_to_look_for_the_best_again(name):
    labels = np.random.default_rng(1).integers(0, 2, 60, np.int8)
    walk = MOVERS[name].look(GRAPH)(0, labels, np.random.default_rng(0))
    walk.advance(400, 400)
    before = walk.best_cut
    while walk.cuts[-1] >= before:
        walk.advance(1, 2000)
    walk.forget()
    stands = walk.labels.copy()
    assert walk.best_cut == walk.cuts[-1] < before
    np.testing.assert_array_equal(walk.best_labels, stands)
    unit = before / GRAPH.cut(_best_of(name, labels))
    walk.advance(100, 2000)
    assert walk.best_cut == walk.cuts.max()
    assert GRAPH.cut(walk.best_labels) * unit == pytest.approx(walk.best_cut)


def _best_of(name, labels):
    walk = MOVERS[name].look(GRAPH)(0, labels, np.random.default_rng(0))
    walk.advance(400, 400)
    return walk.best_labels


def test_tabu_search_with_a_past_begins_with_the_tenures_of_later():
    class Tenure:
        def draw(self, used, uniforms, num_vertices):
            self.used = used
            return np.ones(len(used), np.int32)

    tenure = Tenure()
    walk = TabuWalk(survey(GRAPH), np.zeros(60, np.int8), np.random.default_rng(0), tenure)
    walk.advance(10, 100, 300)
    np.testing.assert_allclose(tenure.used, (300 + np.arange(10)) / 400)
    walk.advance(10, 100, 300)
    np.testing.assert_allclose(tenure.used, (310 + np.arange(10)) / 400)
