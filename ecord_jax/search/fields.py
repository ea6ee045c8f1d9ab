"""Products of a graph's weights with many vectors at once, in JAX: gathers of whole rows.

Shape letters: N padded vertices, R columns, and rows of neighbours that are blocks: K neighbours of
one vertex each, B blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse

from ecord_jax.graphs.arrays import bucket

__all__ = ["Blocks", "fields", "padded_vertices", "to_blocks"]

_BLOCK = 8  # neighbours; more waste padding, fewer leave more to the slow sum over blocks
_LEAST_VERTICES, _LEAST_BLOCKS = 32, 64  # of padded sizes: small graphs share one program


class Blocks(NamedTuple):
    """Attributes:
    neighbours: int32 [K, B].
    weights: float32 [K, B], 0 where a block has fewer neighbours.
    owners: int32 [B], whose neighbours they are, in ascending order.
    """

    neighbours: jax.Array
    weights: jax.Array
    owners: jax.Array


def padded_vertices(num_vertices: int) -> int:
    """N for a graph of that size."""
    return max(bucket(num_vertices), _LEAST_VERTICES)


def to_blocks(rows: scipy.sparse.csr_array, size: int) -> Blocks:
    """Divides the rows of a matrix into blocks, padded to sizes that graphs share.

    Args:
        rows: float64, symmetric, of at most `size` rows.
        size: N.
    """
    degrees = np.diff(rows.indptr)
    counts = -(-degrees // _BLOCK)
    ends = np.cumsum(counts)
    padded = max(bucket(int(counts.sum())), _LEAST_BLOCKS)
    owners = np.full(padded, size - 1, np.int32)
    owners[: counts.sum()] = np.repeat(np.arange(len(counts)), counts)
    offset = np.arange(rows.nnz) - np.repeat(rows.indptr[:-1].astype(np.int64), degrees)
    places = offset % _BLOCK, np.repeat(ends - counts, degrees) + offset // _BLOCK
    neighbours = np.zeros((_BLOCK, padded), np.int32)
    weights = np.zeros((_BLOCK, padded), np.float32)
    neighbours[places], weights[places] = rows.indices, rows.data
    return Blocks(jnp.asarray(neighbours), jnp.asarray(weights), jnp.asarray(owners))


def fields(blocks: Blocks, x: jax.Array) -> jax.Array:
    """sum_j w_ij x_j of every vertex i.

    Args:
        blocks: of the weights.
        x: float32 [N, R].

    Returns:
        float32 [N, R].
    """
    # One gather after another, which XLA fuses; as one array [K, B, R] it takes ten times as long.
    sums = sum(
        weights[:, None] * x[neighbours]
        for weights, neighbours in zip(blocks.weights, blocks.neighbours, strict=True)
    )
    return jax.ops.segment_sum(
        sums, blocks.owners, num_segments=x.shape[0], indices_are_sorted=True
    )
