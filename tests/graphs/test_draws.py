"""Tests of random numbers that must never change."""

import math

import numpy as np
import pytest

from ecord_jax.errors import OptionError
from ecord_jax.graphs.draws import Draws, exact_log, exact_power

RAW = [8400516694098824654, 13001917901617629684]
UNIFORM = [0.4897502034007265]
BELOW = [348, 269, 766, 551]
SIGNS = [-1, -1, -1, -1, -1, 1]
PERMUTATION = [0, 1, 3, 2, 4, 5]
GAUSSIAN = ["0x1.b2649c0277ff1p-2", "0x1.66592efbeebafp+0", "0x1.a7e8476a2f78fp+0"]
NEXT = 0.0007917138562474335


def test_numbers_never_change():
    """Every graph that a seed stands for hangs on these."""
    draws = Draws(2205)
    assert draws.raw(2).tolist() == RAW
    assert draws.uniform(1).tolist() == UNIFORM
    assert draws.below(1000, 4).tolist() == BELOW
    assert draws.signs(6).tolist() == SIGNS
    assert draws.permutation(6).tolist() == PERMUTATION
    assert [value.hex() for value in draws.gaussian(3).tolist()] == GAUSSIAN
    assert next(draws.uniforms()) == NEXT


def test_calls_go_on_and_seeds_differ():
    draws = Draws(1)
    assert draws.raw(3).tolist() + draws.raw(2).tolist() == Draws(1).raw(5).tolist()
    assert Draws(1).raw(1) != Draws(2).raw(1)
    assert Draws(np.int64(1)).raw(1) == Draws(1).raw(1)
    assert Draws(2**80).raw(1) != Draws(2**80 + 1).raw(1)


def test_a_generator_is_advanced():
    for make in (np.random.default_rng, lambda s: np.random.Generator(np.random.MT19937(s))):
        rng = make(5)
        first, second = Draws(rng).raw(1), Draws(rng).raw(1)
        assert first != second
        assert first == Draws(make(5)).raw(1)


@pytest.mark.parametrize("seed", [-1, 1.0, "1", None, True, [1], np.random.RandomState(0)])
def test_bad_seeds(seed):
    with pytest.raises(OptionError, match="^seed="):
        Draws(seed)


def test_distributions():
    draws, count = Draws(3), 100_000
    uniform = draws.uniform(count)
    assert 0 <= uniform.min() < 1e-4
    assert 1 - 1e-4 < uniform.max() < 1
    assert np.abs(np.histogram(uniform, 10, (0, 1))[0] - count / 10).max() < 500
    assert np.abs(np.bincount(draws.below(7, count)) - count / 7).max() < 600
    assert abs(draws.signs(count).mean()) < 0.02
    places = np.stack([draws.permutation(4) for _ in range(4000)])
    assert (np.sort(places, axis=1) == np.arange(4)).all()
    assert all(np.abs(np.bincount(column) - 1000).max() < 150 for column in places.T)


def test_gaussian():
    values = Draws(4).gaussian(200_001)
    assert len(values) == 200_001
    assert len(Draws(4).gaussian(0)) == 0
    for power, moment in enumerate((0, 1, 0, 3), 1):
        assert abs((values**power).mean() - moment) < 0.05
    below = [(values < x).mean() for x in (-2, -0.5, 0.3, 1.5)]
    expected = [(1 + math.erf(x / math.sqrt(2))) / 2 for x in (-2, -0.5, 0.3, 1.5)]
    np.testing.assert_allclose(below, expected, atol=0.005)
    assert abs(np.corrcoef(values[:-1:2], values[1::2])[0, 1]) < 0.01


def test_log_and_power():
    x = np.concatenate([Draws(5).uniform(10_000) + 2.0**-53, [1.0, 0.5, 1e-300, 1 - 2.0**-53]])
    np.testing.assert_allclose(exact_log(x), np.log(x), rtol=1e-15, atol=1e-18)
    assert exact_log(np.array([1.0])) == 0
    for exponent in (1.01, 2, 3, 11):
        np.testing.assert_allclose(exact_power(x, exponent), x**exponent, rtol=1e-13, atol=1e-280)
    assert exact_power(np.array([0.0, 1.0]), 3.0).tolist()[1] == 1
    assert exact_power(np.array([0.0]), 3.0) < 1e-280
