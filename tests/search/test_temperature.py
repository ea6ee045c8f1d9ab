"""Tests of the ladder of temperatures."""

import types

import numpy as np
import pytest

from ecord_jax.errors import OptionError
from ecord_jax.search.temperature import ladder


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
