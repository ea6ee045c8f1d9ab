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
    horizons.learn(horizon, (mean + CUTS).tolist(), champions)


def doubled(gain):
    """After three rounds, each of which was better by so much."""
    horizons = Horizons(10.0)
    for horizon, mean in ((10.0, 100.0), (20.0, 100.0 + gain), (40.0, 100.0 + 2 * gain)):
        assert horizons.choose(1e4) == horizon
        learn(horizons, horizon, mean)
    return horizons


def test_expected_best_of_draws():
    draws = np.random.default_rng(1).normal(size=(100_000, 20))
    for count in (2, 5, 20):
        assert _expected_best(count) == pytest.approx(draws[:, :count].max(1).mean(), abs=0.03)
    assert _expected_best(1.0) == _expected_best(0.1) == 0.0


def test_doubles_while_that_pays():
    horizons = doubled(5.0)
    assert horizons.choose(1e3) == 80.0
    learn(horizons, 80.0, 113.0)
    assert horizons.choose(1e3) == 160.0


def test_stays_where_twice_as_many_walks_are_worth_more():
    # Of 4, 8, 16 and 32 normal draws the best is 1.03, 1.42, 1.77 and 2.07 on average.
    assert doubled(0.2).choose(320.0) == 10.0
    assert doubled(0.5).choose(320.0) == 40.0
    assert doubled(0.9).choose(320.0) == 80.0


def test_many_walks_are_not_worth_more_than_the_tail_of_their_cuts():
    assert doubled(0.01).choose(1e6) == 80.0


def test_what_is_worse_by_chance_is_tried_again():
    horizons = doubled(0.5)
    horizons.learn(80.0, [101.1, 101.5], [])
    assert horizons.choose(320.0) == 80.0
    learn(horizons, 80.0, 101.1)
    assert horizons.choose(320.0) == 40.0


def test_waits_where_merging_is_worth_more():
    horizons = doubled(1.0)
    learn(horizons, 40.0, 102.0, champion=110.0, cost=40.0)
    assert horizons.choose(1e4) == 40.0
    # As costly as it would be better.
    horizons = doubled(1.0)
    learn(horizons, 40.0, 102.0, champion=102.5, cost=9000.0)
    assert horizons.choose(1e4) == 80.0


def test_equal_cuts_and_odd_lengths():
    horizons = Horizons(10.0)
    for horizon in (10.0, 20.0, 40.0):
        horizons.learn(horizon, [7.0] * 4, [])
    assert math.isfinite(horizons.choose(0.0))
    horizons.learn(33.0, [1e9] * 4, [])
    assert horizons.choose(1e4) in (10.0, 20.0, 40.0, 80.0)
