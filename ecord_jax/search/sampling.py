"""Sampling a vertex from softmax(Q / T) with one uniform number."""

from __future__ import annotations

import jax
import jax.numpy as jnp

__all__ = ["TINY", "invert", "sample_softmax"]

TINY = 1e-30  # stands for temperature 0: only the maximum keeps weight


def sample_softmax(draw: jax.Array, q: jax.Array, temperature: jax.Array | float) -> jax.Array:
    """Draws an index by inverting the cumulated weights on two levels, columns and rows.

    The indices stand in a matrix of about sqrt(N) rows, each contiguous: sums over columns are then
    sums of whole rows, as a CPU likes them.

    Args:
        draw: float32 [], uniform in [0, 1).
        q: float32 [N] of which at least one is finite; -inf is never drawn.
        temperature: [] >= 0; 0 gives a maximum of q, ties at random.

    Returns:
        int32 [].
    """
    n = q.shape[0]
    rows = 1 << (max(n.bit_length() - 2, 0) // 2)
    columns = -(-n // rows)
    weights = jnp.exp((q - jnp.max(q)) / jnp.maximum(temperature, TINY))
    matrix = jnp.pad(weights, (0, rows * columns - n)).reshape(rows, columns)
    sums = matrix.sum(axis=0)
    column, rest = invert(sums, draw * jnp.cumsum(sums)[-1])
    row, _ = invert(matrix[:, column], rest)
    return (row * columns + column).astype(jnp.int32)


def invert(weights: jax.Array, target: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The index at which the cumulated weights pass `target`, and what is left of it there.

    Sums that run in parallel are rounded each in its own way: they may move, and even fall, where
    the weight is 0. Only an index with weight is ever given back.
    """
    index, total = jnp.arange(weights.shape[0]), jnp.cumsum(weights)
    last = jnp.max(jnp.where(weights > 0, index, 0))
    found = jnp.min(jnp.where((weights > 0) & (total > target), index, last))
    return found, target - (total[found] - weights[found])
