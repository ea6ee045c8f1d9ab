"""Tests of drawing from softmax(Q / T) with one uniform number."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
import scipy.stats

from ecord_jax.search.sampling import sample_softmax

LARGEST_DRAWS = 1 - 2.0**-24 * np.arange(1, 6)  # the largest float32 below 1, and a few more

_many = jax.jit(jax.vmap(sample_softmax, (0, None, None)))


def sample(draws, q, temperature):
    draws = np.asarray(draws, np.float32)
    assert (draws < 1).all()
    return np.asarray(_many(draws, np.asarray(q, np.float32), np.float32(temperature)))


@functools.cache
def values(size):
    """Q-values of which a quarter are masked, and their probabilities at temperature 0.4."""
    rng = np.random.default_rng(size)
    q = rng.normal(size=size)
    q[rng.permutation(size)[: size // 4]] = -np.inf
    return q, scipy.special.softmax(q / 0.4)


@pytest.mark.parametrize("size", [5, 16, 37, 512])
def test_draws_have_the_probabilities_of_the_softmax(size):
    q, expected = values(size)
    found = sample(np.random.default_rng(0).random(20_000), q, 0.4)
    counts = np.bincount(found, minlength=size)
    assert counts.shape == (size,)
    real = np.isfinite(q)
    assert not counts[~real].any()
    assert scipy.stats.chisquare(counts[real], expected[real] * 20_000).pvalue > 1e-3


@pytest.mark.parametrize("size", [5, 37, 512])
def test_even_draws_are_shared_out_by_probability(size):
    """Each vertex has an interval of draws, as long as its probability is large."""
    q, expected = values(size)
    found = sample((np.arange(4096) + 0.5) / 4096, q, 0.4)
    assert np.count_nonzero(np.diff(found)) == len(np.unique(found)) - 1
    assert np.abs(np.bincount(found, minlength=size) - 4096 * expected).max() <= 1


@pytest.mark.parametrize("size", [7, 40])
def test_temperature_zero_takes_a_maximum_and_ties_at_random(size):
    q = np.random.default_rng(size).normal(size=size).astype(np.float32)
    best = [2, size - 1, size // 2]
    q[best] = 3
    q[0] = np.nextafter(np.float32(3), np.float32(0))  # as near as can be
    found = sample(np.random.default_rng(1).random(6000), q, 0)
    counts = np.bincount(found, minlength=size)
    assert set(np.flatnonzero(counts)) == set(best)
    assert scipy.stats.chisquare(counts[best]).pvalue > 1e-3


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ([1e30, -1e30, 3e38, -3e38, -np.inf], {2}),
        ([-3e38, -np.inf, -3e38], {0, 2}),
        ([-np.inf] * 40 + [-5.0] + [-np.inf] * 30, {40}),
        ([0.0, 1e-38, -np.inf], {0, 1}),  # a difference below what temperature 0 resolves
        ([-7.0], {0}),
        ([0.0] + [-np.inf] * 100, {0}),
        ([-np.inf] * 100 + [0.0], {100}),
    ],
)
@pytest.mark.parametrize("temperature", [0.0, 1e-30, 1.0])
def test_extreme_values_draw_only_vertices_with_weight(q, expected, temperature):
    draws = np.concatenate([np.linspace(0, 0.999, 41), LARGEST_DRAWS, 2.0**-24 * np.arange(3)])
    assert set(sample(draws, q, temperature).tolist()) == expected


@pytest.mark.parametrize("size", [40, 1000, 1 << 17])
@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
def test_no_draw_falls_on_a_vertex_without_weight(size, share):
    """Also where rounding moves the cumulated weights over vertices that have none.

    The draws aim at the ends of blocks, where such a vertex can be hit.
    """
    rng = np.random.default_rng(size)
    q = rng.normal(size=size).astype(np.float32)
    q[np.repeat(rng.random(-(-size // 16)) >= share, 16)[:size]] = -np.inf
    q[int(0.9 * size) :] = -np.inf
    q[0] = 0
    weights = np.exp(q - q.max())
    ends = np.cumsum(np.add.reduceat(weights, np.arange(0, size, 16)))
    edges = np.unique((ends / ends[-1]).astype(np.float32))[:800]
    near = [edges * np.float32(1 + i * 2.0**-24) for i in range(-6, 7)]
    draws = np.concatenate([*near, LARGEST_DRAWS, rng.random(1000)])
    found = sample(np.resize(np.clip(draws, 0, 1 - 2.0**-24), 12_000), q, 1.0)
    assert ((found >= 0) & (found < size)).all()
    assert np.isfinite(q[found]).all()


def test_one_program_serves_all_temperatures():
    traced = jax.jit(lambda draw, t: sample_softmax(draw, jnp.arange(20.0), t))
    draws = (np.arange(20, dtype=np.float32) + 0.5) / 20
    assert {int(traced(draw, 0.0)) for draw in draws} == {19}
    assert {int(traced(draw, 1e6)) for draw in draws} == set(range(20))
    assert traced._cache_size() == 1
