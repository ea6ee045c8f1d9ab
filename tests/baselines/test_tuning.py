"""Tests of the random search for hyperparameters."""

import jax
import numpy as np
import pytest

from ecord_jax.baselines.simcim import RANGES, SimCim, SimCimParameters
from ecord_jax.baselines.tuning import draw_parameters, final_cuts, search_parameters
from ecord_jax.graphs import models
from ecord_jax.graphs.exact import largest_cut

KEY = jax.random.key(1)
BAD = {"pump_start": -1.5, "pump_end": -1.5, "rate": 0.01, "noise": 0.5}


def make(values):
    return SimCim(SimCimParameters(**values))


def test_draws_are_within_their_ranges_and_logarithmic_where_positive():
    rng = np.random.default_rng(0)
    ranges = {"log": (1e-3, 10.0), "plain": (-1.0, 3.0)}
    draws = [draw_parameters(ranges, rng) for _ in range(4000)]
    for name, (low, high) in ranges.items():
        assert all(low <= draw[name] <= high for draw in draws)
    assert np.mean(np.log10([draw["log"] for draw in draws])) == pytest.approx(-1.0, abs=0.07)
    assert np.mean([draw["plain"] for draw in draws]) == pytest.approx(1.0, abs=0.07)


def test_cuts_are_those_of_the_signs():
    graph = models.erdos_renyi(20, 0.4, seed=0, weights="signed")
    cuts = final_cuts(graph, [make({}), make({"rate": 0.3})], KEY, 7, 30)
    assert cuts.shape == (2, 7)
    # Random signs would have half the weight, and their standard deviation is about 5.
    assert cuts.mean() > graph.weights.sum() / 2 + 5
    assert cuts.max() <= largest_cut(graph)


def test_the_best_trial_is_found():
    graphs = [models.erdos_renyi(60, 0.2, seed=s, weights="signed") for s in (0, 1)]
    good = {name: getattr(SimCimParameters(), name) for name in RANGES}
    found = search_parameters(
        graphs, RANGES, make, key=KEY, trials=2, first=[{**good, **BAD}, good]
    )
    assert found.parameters == good
    assert found.ratio == 1.0
    assert 0.8 < found.mean_ratio < 1.0
