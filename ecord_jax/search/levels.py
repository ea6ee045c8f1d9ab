"""Many weights to sample from, as logarithms, with the logarithms of their sums level by level.

A level holds the log-sum-exps of the rows of the level before, 32 numbers each, up to a level of
one row. To change W weights and to sample one takes a few rows of each level, whatever their
number; as logarithms they never under- or overflow, nor does a sum lose what little is left of it.
Shape letters: N weights, W of them.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ecord_jax.search.sampling import invert

__all__ = ["Levels", "build", "put", "sample"]

_FAN = 32  # numbers that make a sum

# float [., 32] each, filled up with -inf.
Levels = tuple[jax.Array, ...]


def build(scores: jax.Array) -> Levels:
    """All levels.

    Args:
        scores: float [N], the logarithms of the weights; -inf is never sampled.
    """
    levels: list[jax.Array] = []
    values = scores
    while not levels or levels[-1].shape[0] > 1:
        more = -values.shape[0] % _FAN
        levels.append(jnp.pad(values, (0, more), constant_values=-jnp.inf).reshape(-1, _FAN))
        values = _sum(levels[-1])
    return tuple(levels)


def _sum(rows: jax.Array) -> jax.Array:
    """log sum exp of each row [., 32]; -inf for one of padding."""
    top = rows.max(axis=-1)
    top = jnp.where(top == -jnp.inf, 0.0, top)
    return top + jnp.log(jnp.exp(rows - top[..., None]).sum(axis=-1))


def put(places: jax.Array, scores: jax.Array, counts: jax.Array, levels: Levels) -> Levels:
    """Writes scores, and sums anew what they are in.

    Args:
        places: int32 [W]; where one stands several times, it must be with the same score.
        scores: float [W].
        counts: bool [W], false where nothing is to be written.
        levels: before.
    """
    after, values = [], scores
    for level in levels:
        row, column = places // _FAN, places % _FAN
        target = jnp.where(counts, row, level.shape[0])
        level = level.at[target, column].set(values, mode="drop")
        after.append(level)
        values, places = _sum(level[jnp.minimum(row, level.shape[0] - 1)]), row
    return tuple(after)


def sample(draws: jax.Array, levels: Levels) -> jax.Array:
    """Draws an index by the weights, level by level.

    Args:
        draws: float [number of levels], uniform in [0, 1).
        levels: of which one weight at least is above 0.

    Returns:
        int32 [].
    """
    index = jnp.zeros((), jnp.int32)
    for level, draw in zip(reversed(levels), draws, strict=True):
        row = level[index]
        weights = jnp.exp(row - row.max())
        place, _ = invert(weights, draw * jnp.cumsum(weights)[-1])
        index = (index * _FAN + place).astype(jnp.int32)
    return index
