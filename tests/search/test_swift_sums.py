"""How vertices are drawn by sums of their weights."""

from __future__ import annotations

import numpy as np
import pytest

from ecord_jax.search import swift
from ecord_jax.search.swift_sums import draw, find, put, sum_up, total

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("many", [1, 2, 5, 31, 32])
@pytest.mark.parametrize("spread", [0.0, 1.0, 8.0])
def test_each_number_is_found_as_often_as_it_is_large(many, spread):
    sums = np.zeros(96)
    sums[32 : 32 + many] = np.exp(spread * RNG.normal(size=many))
    whole, tries = sums.sum(), 4_000
    found = [find(whole * (k + 0.5) / tries, 32, sums) for k in range(tries)]
    often = np.bincount([j for j, _ in found], minlength=96)
    # An interval of each number's length holds so many of equidistant points, but for its ends.
    assert np.abs(often - tries * sums / whole).max() <= 1
    assert all(-1e-12 * whole <= rest <= sums[j] * (1 + 1e-12) for j, rest in found)


@pytest.mark.parametrize("many", [1, 2, 3, 30])
def test_what_lies_past_the_end_by_rounding_is_a_real_one(many):
    sums = np.zeros(32)
    sums[:many] = 0.1
    for past in (0.1 * many, 0.1 * many * (1 + 1e-9), 10.0):
        assert find(past, 0, sums)[0] < many


@pytest.mark.parametrize("size", [1, 40, 1500])
def test_vertices_are_drawn_over_all_levels(size):
    levels = swift._levels(size)
    sums, levels = np.zeros(levels[-1]), levels[:-1]
    sums[:size] = RNG.exponential(size=size)
    sum_up(1, sums, levels)
    tries, whole = 5_000, sums[:size].sum()
    assert total(sums, levels) == pytest.approx(whole)
    drawn = [draw((k + 0.5) / tries, sums, levels) for k in range(tries)]
    often = np.bincount(drawn, minlength=size)
    assert np.abs(often - tries * sums[:size] / whole).max() <= 1


def test_changes_reach_all_sums():
    size = 5000
    levels = swift._levels(size)
    sums, levels = np.zeros(levels[-1]), levels[:-1]
    sums[:size] = np.exp(10 * RNG.normal(size=size))
    sum_up(1, sums, levels)
    for _ in range(300):
        some, numbers = RNG.integers(0, size, 6), np.exp(10 * RNG.normal(size=6))
        before = sums[:size].sum()
        rise = put(6, some, numbers, sums, levels)
        assert rise == pytest.approx(sums[:size].sum() - before, abs=1e-9 * max(before, 1))
        for below, first, count in zip(levels[:-1], levels[1:], (157, 5), strict=True):
            expected = sums[below : below + 32 * count].reshape(-1, 32).sum(axis=1)
            np.testing.assert_allclose(sums[first : first + count], expected, rtol=1e-6)
