"""The advantage head, factored: what a step looks at is four numbers a vertex and one pass.

The head's first layer is linear in [x_i, W_o o_i, W_h h], so that

    y_fi = S_fi + sum_k O_kf o_ki + m_f

where S (a table of the graph, [A, N]), O (weights) and m (one vector a trajectory) have their means
over f taken off beforehand: layer norm need not look for it. Its variance is a quadratic form,

    A var_i = |S_i|^2 + 2 sum_k o_ki (S_i . O_k) + 2 S_i . m + |sum_k O_k o_ki + m|^2

whose products with S are tables too; since m = M p, with p the projected memory W_h h, the one
with m is a small matrix product. With sigma_i the root of it, leaky ReLU is positively homogeneous,
leaky(y / sigma) = leaky(y) / sigma, and it is (1 + a) / 2 y + (1 - a) / 2 |y|, of which the first
half is linear and so again a sum of tables.
What is left is sum_f u_f |gamma_f y_fi + beta_f sigma_i|: one loop over vertices, its body unrolled
over the A features, which XLA makes one pass without an array [N, A].

The result is that of `EcordNetwork.q_values` without MLP_V(h), a number of the trajectory on which
no choice depends, exact but for the order of float32 sums. Shape letters: N padded vertices, A
width of the head, F features of an observation, D embedding width, P = 2 D that of p.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.decoder import EcordNetwork

__all__ = ["BLOCK", "Factored", "advantages", "columns", "factor"]

_SLOPE = 0.01  # of flax's leaky ReLU
_EPSILON = 1e-6  # of flax's layer norm
_LINE = 16  # floats in a cache line
# Vertices. Up to 131072 the table stays in a cache that processors share; blocks cost some time.
BLOCK, _MOST_IN_ONE = 2048, 1 << 17
_EVEN, _ODD = (1 + _SLOPE) / 2, (1 - _SLOPE) / 2


class Factored(NamedTuple):
    """Tables of a graph, and the head's weights in the form that goes with them.

    Attributes:
        vertex: float32 [N, D], x_i.
        static: float32 [blocks, A, a little more than vertices of a block], gamma_f S_fi.
        square: float32 [N], |S_i|^2 / A.
        observed_products: float32 [F, N], 2 S_i . O_k / A.
        memory_products: float32 [P, N], 2 S_i . M / A.
        linear: float32 [N], sum_f u_f gamma_f S_fi; -inf for padding.
        observed: float32 [F, A], O.
        memory: float32 [P, A], M.
        scale, bias, out: float32 [A], layer norm's gamma and beta, the last layer's u.
        out_bias: float32 [], its bias.
    """

    vertex: jax.Array
    static: jax.Array
    square: jax.Array
    observed_products: jax.Array
    memory_products: jax.Array
    linear: jax.Array
    observed: jax.Array
    memory: jax.Array
    scale: jax.Array
    bias: jax.Array
    out: jax.Array
    out_bias: jax.Array


def factor(params: Any, config: EcordConfig, arrays: GraphArrays) -> Factored:
    """Embeds the vertices of a graph and makes the tables.

    Args:
        params: variables of an `EcordNetwork`.
        config: its configuration.
        arrays: the graph.
    """
    vertex, advantage = EcordNetwork(config).apply(params, arrays, method="encode")
    p = params["params"]
    into, embed = p["advantage_observation"]["kernel"], p["embed_observation"]
    static = _centred(advantage + embed["bias"] @ into + p["advantage_hidden"]["bias"]).T
    observed = _centred(embed["kernel"] @ into)
    memory = _centred(p["advantage_hidden"]["kernel"])
    scale, out = p["advantage_norm"]["scale"], p["advantage_out"]["kernel"][:, 0]
    width = static.shape[0]
    return Factored(
        vertex=vertex,
        static=_in_blocks(scale[:, None] * static),
        square=jnp.square(static).sum(axis=0) / width,
        observed_products=2 / width * observed @ static,
        memory_products=2 / width * memory @ static,
        linear=jnp.where(arrays.vertex_mask, (scale * out) @ static, -jnp.inf),
        observed=observed,
        memory=memory,
        scale=scale,
        bias=p["advantage_norm"]["bias"],
        out=out,
        out_bias=p["advantage_out"]["bias"][0],
    )


def advantages(t: Factored, features: tuple[jax.Array, ...], projected: jax.Array) -> jax.Array:
    """MLP_A of every vertex.

    Args:
        t: the tables.
        features: F arrays float32 [N], the observation of the vertices.
        projected: float32 [P], p.

    Returns:
        float32 [N], -inf for padding.
    """
    # What does not depend on the vertex, with gamma in it.
    shift, weights = (projected @ t.memory) * t.scale, t.observed * t.scale
    sigma = _deviation(t, features, projected)
    even = t.linear + shift @ t.out + (t.bias @ t.out) * sigma
    for feature, weight in zip(features, weights @ t.out, strict=True):
        even = even + weight * feature
    odd = _over_blocks(functools.partial(_odd, t, shift, weights), t.static, (sigma, *features))
    return (_EVEN * even + _ODD * odd) / sigma + t.out_bias


def _odd(
    t: Factored,
    shift: jax.Array,
    weights: jax.Array,
    static: jax.Array,
    seen: tuple[jax.Array, ...],
) -> jax.Array:
    """sum_f u_f |gamma_f y_fi + beta_f sigma_i| of the vertices of a block."""
    sigma, *features = seen
    odd = jnp.zeros_like(sigma)
    for f in range(t.scale.shape[0]):
        y = static[f, : sigma.shape[0]] + shift[f] + t.bias[f] * sigma
        for feature, weight in zip(features, weights[:, f], strict=True):
            y = y + weight * feature
        odd = odd + t.out[f] * jnp.abs(y)
    return odd


def _over_blocks(
    function: Callable[[jax.Array, tuple[jax.Array, ...]], jax.Array],
    static: jax.Array,
    seen: tuple[jax.Array, ...],
) -> jax.Array:
    """Blocks of vertices one after another, each for all trajectories while its table is cached."""
    size = seen[0].shape[0]
    if len(static) == 1:
        return function(static[0], seen)
    padded = [jnp.pad(x, (0, len(static) * BLOCK - size)) for x in seen]

    def one(block: tuple[jax.Array, jax.Array]) -> jax.Array:
        number, table = block
        parts = [jax.lax.dynamic_slice(x, (number * BLOCK,), (BLOCK,)) for x in padded]
        return function(table, tuple(parts))

    return jax.lax.map(one, (jnp.arange(len(static)), static)).ravel()[:size]


def _deviation(t: Factored, features: tuple[jax.Array, ...], projected: jax.Array) -> jax.Array:
    """sigma: float32 [N]."""
    width = t.scale.shape[0]
    vector = projected @ t.memory
    inner, cross = t.observed @ t.observed.T / width, 2 / width * (t.observed @ vector)
    variance = t.square + projected @ t.memory_products + vector @ vector / width
    for k, feature in enumerate(features):
        slope = t.observed_products[k] + cross[k] + inner[k, k] * feature
        for j in range(k):
            slope = slope + 2 * inner[k, j] * features[j]
        variance = variance + feature * slope
    return jnp.sqrt(jnp.maximum(variance, 0.0) + _EPSILON)


def _in_blocks(table: jax.Array) -> jax.Array:
    """[A, N] -> [blocks, A, columns]; a block has 2048 vertices where there are several.

    Columns are added until a row is an odd number of cache lines long. The pass reads all rows side
    by side, and with a power of two they would share a few sets of a cache: twice the time.
    """
    width, size = table.shape
    if size <= _MOST_IN_ONE:
        blocks = table[None]
    else:
        whole = jnp.pad(table, ((0, 0), (0, -size % BLOCK)))
        blocks = whole.reshape(width, -1, BLOCK).transpose(1, 0, 2)
    columns = (-(-blocks.shape[2] // _LINE) | 1) * _LINE
    return jnp.pad(blocks, ((0, 0), (0, 0), (0, columns - blocks.shape[2])))


def columns(table: jax.Array, vertices: jax.Array) -> jax.Array:
    """float32 [1, A, V]: the columns of V vertices of the static table, as a table of its own."""
    if len(table) == 1:
        return table[..., vertices]
    block, place = jnp.divmod(vertices, BLOCK)
    return table[block, :, place].T[None]


def _centred(rows: jax.Array) -> jax.Array:
    return rows - rows.mean(axis=-1, keepdims=True)
