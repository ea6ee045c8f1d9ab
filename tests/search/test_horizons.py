"""Tests of ecord_jax.search.horizons: which length of walks is chosen."""

import math

import numpy as np
import pytest

from ecord_jax.search.elites import Elite
from ecord_jax.search.horizons import Horizons, _expected_best

CUTS = np.random.default_rng(0).normal(size=16)
CUTS -= CUTS.mean()


def learn(horizons, horizon, mean, champion=None, cost=0.0):
    champions = [] if champion is None else [Elite(np.zeros(1, np.int8), champion, "merge", cost)]
    horizons.learn(horizon, (mean + CUTS).tolist())
    horizons.learn_merged(horizon, champions)


def doubled(gain):
    """After two rounds, the second of which was better by so much."""
    horizons = Horizons(10.0)
    assert horizons.choose(1e4) == 10.0
    learn(horizons, 10.0, 100.0)
    assert horizons.choose(1e4) == 20.0
    learn(horizons, 20.0, 100.0 + gain)
    return horizons


def test_expected_best_of_draws():
    draws = np.random.default_rng(1).normal(size=(100_000, 20))
    for count in (2, 5, 20):
        assert _expected_best(count) == pytest.approx(draws[:, :count].max(1).mean(), abs=0.03)
    assert _expected_best(1.0) == _expected_best(0.1) == 0.0


def test_doubles_while_that_pays():
    horizons = doubled(5.0)
    assert horizons.choose(1e4) == 40.0
    learn(horizons, 40.0, 109.0)
    assert horizons.choose(1e4) == 80.0


def test_stays_where_twice_as_many_walks_are_worth_more():
    # Of 500 and 1000 normal draws the best is 3.04 and 3.24 on average.
    assert doubled(0.1).choose(1e4) == 10.0
    assert doubled(0.25).choose(1e4) == 40.0


def test_what_is_worse_by_chance_is_tried_again():
    horizons = Horizons(10.0)
    learn(horizons, 10.0, 100.0)
    horizons.learn(20.0, [99.9, 100.4])
    assert horizons.choose(1e4) != 10.0
    learn(horizons, 20.0, 99.5)
    assert horizons.choose(1e4) == 10.0


def test_waits_where_merging_is_worth_more():
    horizons = doubled(1.0)
    learn(horizons, 20.0, 101.0, champion=110.0, cost=40.0)
    assert horizons.choose(1e4) == 20.0
    # As costly as it would be better.
    horizons = doubled(1.0)
    learn(horizons, 20.0, 101.0, champion=102.0, cost=9000.0)
    assert horizons.choose(1e4) == 40.0


def test_equal_cuts_and_odd_lengths():
    horizons = Horizons(10.0)
    for horizon in (10.0, 20.0):
        horizons.learn(horizon, [7.0] * 4)
    assert math.isfinite(horizons.choose(0.0))
    horizons.learn(33.0, [1e9] * 4)
    horizons.learn_merged(33.0, [Elite(np.zeros(1, np.int8), 1e9, "merge", 1.0)])
    assert horizons.choose(1e4) in (10.0, 20.0, 40.0)


@pytest.mark.parametrize("exponent", [-1000, 0, 1000])
def test_the_unit_of_cuts_does_not_matter(exponent):
    """Squares of such cuts would be 0 or infinite."""
    horizons = Horizons(10.0, exponent)
    for horizon, mean in ((10.0, 100.0), (20.0, 105.0)):
        horizons.learn(horizon, np.ldexp(mean + CUTS, exponent).tolist())
        champion = Elite(np.zeros(1, np.int8), math.ldexp(mean, exponent), "merge", 0.0)
        horizons.learn_merged(horizon, [champion])
    assert horizons.choose(1e4) == 40.0
