"""Tests of weights that are kept as logarithms, level by level."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ecord_jax.search.levels import build, put, sample


@pytest.mark.parametrize("size", [1, 32, 33, 1000, 1500])
def test_levels_after_changes_are_those_built_anew(size):
    rng = np.random.default_rng(size)
    scores = rng.normal(size=size) * 100
    levels = build(jnp.asarray(scores, jnp.float32))
    change = jax.jit(put)
    for _ in range(10):
        places = rng.integers(0, size, 7)
        values = rng.normal(size=7) * 100
        values = values[[list(places).index(p) for p in places]]  # equal where places are
        counts = rng.random(7) < 0.7
        counts = np.array([counts[list(places).index(p)] for p in places])
        scores[places[counts]] = values[counts]
        levels = change(places, jnp.asarray(values, jnp.float32), counts, levels)
    expected = build(jnp.asarray(scores, jnp.float32))
    assert [level.shape for level in levels] == [level.shape for level in expected]
    for got, want in zip(levels, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    assert levels[-1].shape == (1, 32)
    total = np.logaddexp.reduce(scores)
    assert np.logaddexp.reduce(np.asarray(levels[-1], float)[0]) == pytest.approx(total, rel=1e-6)


def test_samples_have_the_weights():
    rng = np.random.default_rng(0)
    size, count = 1500, 40_000
    weights = rng.random(size) ** 8
    weights[rng.random(size) < 0.3] = 0.0
    with np.errstate(divide="ignore"):
        levels = build(jnp.asarray(np.log(weights) - 200.0, jnp.float32))
    draws = jax.random.uniform(jax.random.key(0), (count, len(levels)))
    seen = np.asarray(jax.jit(jax.vmap(sample, (0, None)))(draws, levels))
    counts, expected = np.bincount(seen, minlength=size), count * weights / weights.sum()
    assert counts[weights == 0].sum() == 0
    large = expected > 20
    assert large.sum() > 100
    distance = ((counts - expected)[large] ** 2 / expected[large]).sum()
    assert distance < large.sum() + 5 * np.sqrt(2 * large.sum())
