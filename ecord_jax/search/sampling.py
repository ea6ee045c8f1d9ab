"""Sampling a vertex from softmax(Q / T) with one uniform number."""

from __future__ import annotations

import jax
import jax.numpy as jnp

__all__ = ["sample_softmax"]

_BLOCK = 16  # padded graphs have a multiple of 16 vertices
_TINY = 1e-30  # stands for temperature 0: only the maximum keeps weight


def sample_softmax(draw: jax.Array, q: jax.Array, temperature: jax.Array | float) -> jax.Array:
    """Draws an index by inverting the cumulated weights on two levels, blocks and vertices.

    Args:
        draw: float32 [], uniform in [0, 1).
        q: float32 [N] of which at least one is finite; -inf is never drawn.
        temperature: [] >= 0; 0 gives a maximum of q, ties at random.

    Returns:
        int32 [].
    """
    n = q.shape[0]
    weights = jnp.exp((q - jnp.max(q)) / jnp.maximum(temperature, _TINY))
    blocks = jnp.pad(weights, (0, -n % _BLOCK)).reshape(-1, _BLOCK)
    sums = blocks.sum(axis=1)
    block, rest = _invert(sums, draw * jnp.cumsum(sums)[-1])
    within, _ = _invert(blocks[block], rest)
    return (block * _BLOCK + within).astype(jnp.int32)


def _invert(weights: jax.Array, target: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The index at which the cumulated weights pass `target`, and what is left of it there.

    Sums that run in parallel are rounded each in its own way: they may move, and even fall, where
    the weight is 0. Only an index with weight is ever given back.
    """
    index, total = jnp.arange(weights.shape[0]), jnp.cumsum(weights)
    last = jnp.max(jnp.where(weights > 0, index, 0))
    found = jnp.min(jnp.where((weights > 0) & (total > target), index, last))
    return found, target - (total[found] - weights[found])
