"""Tests of the ladder of temperatures, and of how they adapt."""

import types

import numpy as np
import pytest

from ecord_jax.errors import OptionError
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.softmax import SoftmaxConfig
from ecord_jax.search.temperature import ADAPTS_A_SWEEP, NEAR, adapt, ladder, to_adapt


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


def test_only_auto_adapts_and_only_an_agent_of_the_paper():
    assert to_adapt("auto", EcordConfig())
    assert not to_adapt("auto", SoftmaxConfig())
    assert not any(to_adapt(given, EcordConfig()) for given in (0.0, 0.3, [0.1, 0.2]))


def test_warms_near_the_best_cut_and_cools_far_below_it():
    gaps = np.array([0.0, NEAR / 2, 2 * NEAR, 1.0])
    after = np.asarray(adapt(np.full(4, 0.1), gaps, 0.01, 0.001))
    np.testing.assert_allclose(after[:2], 0.1 * np.exp(0.008), rtol=1e-6)
    np.testing.assert_allclose(after[2:], 0.1 * np.exp(-0.28), rtol=1e-6)
    assert adapt(0.1, 1.0, 1.0, 0.001) == np.float32(0.001)
    assert adapt(0.0, 0.0, 1.0, 0.0) == 0


def test_many_flips_count_as_one_sweep():
    assert adapt(0.1, 0.0, 1000.0, 0.0) == adapt(0.1, 0.0, 1.0, 0.0)
    assert adapt(0.1, 0.0, 1.0, 0.0) == pytest.approx(0.1 * np.exp(0.8))


@pytest.mark.parametrize("melts_at", [0.004, 0.02, 0.3])
def test_settles_just_below_where_trajectories_melt(melts_at):
    """A trajectory that falls as long as it is too warm, and comes back as fast."""
    temperature, gap, seen = np.array([0.002, 0.02, 0.5]), np.zeros(3), []
    for _ in range(12 * ADAPTS_A_SWEEP):
        gap = np.maximum(gap + np.where(temperature > melts_at, 0.001, -0.001), 0)
        temperature = np.asarray(adapt(temperature, gap, 1 / ADAPTS_A_SWEEP, 0.001))
        seen.append(temperature)
    late = np.array(seen[-4 * ADAPTS_A_SWEEP :])
    assert (late < 1.1 * melts_at).all()
    assert (np.exp(np.log(late).mean(axis=0)) > melts_at / 4).all()
