"""Tests of the ladder of temperatures, and of how they adapt."""

import types

import numpy as np
import pytest

from ecord_jax.errors import OptionError
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.softmax import SoftmaxConfig
from ecord_jax.search.temperature import adapt, adapts, ladder


def config(low, high):
    return types.SimpleNamespace(temperatures=(low, high))


def test_a_number_is_for_all():
    found = ladder(0.3, 3, config(1, 2))
    assert found.dtype == np.float32
    assert found.tolist() == [np.float32(0.3)] * 3
    assert ladder(0, 2, config(1, 2)).tolist() == [0, 0]
    assert ladder(np.float32(0.5), 2, config(1, 2)).tolist() == [0.5, 0.5]


def test_a_list_is_dealt_out_in_turn():
    assert ladder([0, 1, 2], 7, config(1, 2)).tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert ladder((0.5,), 2, config(1, 2)).tolist() == [0.5, 0.5]
    assert ladder(np.array([3, 1]), 2, config(1, 2)).tolist() == [3, 1]


def test_auto_is_geometric():
    np.testing.assert_allclose(ladder("auto", 3, config(0.01, 1)), [0.01, 0.1, 1], rtol=1e-6)
    np.testing.assert_allclose(ladder("auto", 1, config(0.01, 1)), [0.1], rtol=1e-6)
    np.testing.assert_allclose(ladder("auto", 4, config(0.2, 0.2)), [0.2] * 4, rtol=1e-6)


def test_auto_without_temperatures_is_greedy():
    assert ladder("auto", 3, config(0.0, 0.0)).tolist() == [0, 0, 0]
    assert ladder("auto", 1, config(0.0, 0.0)).tolist() == [0]


def test_auto_from_zero_is_even():
    assert ladder("auto", 3, config(0.0, 1.0)).tolist() == [0, 0.5, 1]
    assert ladder("auto", 1, config(0.0, 1.0)).tolist() == [0.5]


@pytest.mark.parametrize(
    "temperature",
    [-1, float("nan"), float("inf"), [], [0.1, -0.1], [[1.0]], "warm", "", None, {}, ["a"]],
)
def test_what_makes_no_sense(temperature):
    with pytest.raises(OptionError, match="temperature"):
        ladder(temperature, 3, config(0, 0))


def test_more_temperatures_than_trajectories():
    with pytest.raises(OptionError, match="3 temperatures need as many trajectories, not 2"):
        ladder([1, 2, 3], 2, config(0, 0))


def test_only_auto_adapts_and_only_an_agent_of_the_paper_that_is_not_greedy():
    warm = EcordConfig(temperatures=(0.1, 0.2))
    assert adapts("auto", warm)
    assert not adapts("auto", EcordConfig())
    assert not adapts("auto", SoftmaxConfig(temperatures=(0.1, 0.2)))
    assert not any(adapts(given, warm) for given in (0.0, 0.3, [0.1, 0.2], np.array([0.1])))


def test_warms_near_the_best_cut_and_goes_back_cooler_from_far_below_it():
    gaps = np.array([0.0, 0.001, 0.003, 1.0])
    after, melted = adapt(np.full(4, 0.1), gaps, 0.1)
    np.testing.assert_allclose(after, [0.1025315, 0.1025315, 0.07, 0.07], rtol=1e-5)
    assert melted.tolist() == [False, False, True, True]


def test_many_flips_count_as_one_sweep():
    assert adapt(0.1, 0.0, 1000.0)[0] == adapt(0.1, 0.0, 1.0)[0] == pytest.approx(0.1284025)


@pytest.mark.parametrize("melts_at", [0.004, 0.02, 0.3])
def test_settles_just_below_where_trajectories_melt(melts_at):
    """Trajectories that fall, for good, wherever they are too warm."""
    temperature, gap, seen = np.array([0.002, 0.02, 0.5]), np.zeros(3), []
    for _ in range(300):
        gap = np.where((temperature > melts_at) | (gap > 0), gap + 0.002, 0.0)
        warmth, melted = adapt(temperature, gap, 0.125)
        temperature, gap = np.asarray(warmth), np.where(melted, 0.0, gap)
        seen.append(temperature)
    late = np.array(seen[200:])
    assert (late < 1.1 * melts_at).all()
    assert (late > 0.6 * melts_at).all()
