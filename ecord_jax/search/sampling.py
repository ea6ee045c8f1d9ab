"""Sampling a vertex from softmax(Q / T) with one uniform number."""

from __future__ import annotations

import jax
import jax.numpy as jnp

__all__ = ["sample_softmax"]

_BLOCK = 16  # padded graphs have a multiple of 16 vertices
_TINY = 1e-30  # stands for temperature 0: only the maximum keeps weight
_BELOW_ONE = 1.0 - 2.0**-22  # keeps a draw strictly inside the cumulated weight


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
    before = jnp.cumsum(blocks.sum(axis=1))
    target = draw * _BELOW_ONE * before[-1]
    block = jnp.sum(before <= target)
    within = jnp.cumsum(blocks[block])
    # The block's own sum may be rounded differently: stay below it, on a vertex with weight.
    rest = jnp.minimum(target - jnp.where(block > 0, before[block - 1], 0.0), within[-1])
    return (block * _BLOCK + jnp.sum(within <= rest * _BELOW_ONE)).astype(jnp.int32)
