"""The semidefinite relaxation of Max-Cut, solved with few columns, in JAX.

    minimise 1/2 sum_ij w_ij v_i . v_j  over unit vectors v_1 .. v_N of R columns

is the relaxation of Goemans and Williamson (1995) where R is large enough (Burer and Monteiro,
2003): from R (R + 1) / 2 > N on no local minimum is worse than the global one, for almost all
weights (Boumal, Voroninski and Bandeira, 2016); solutions rarely need more than twenty columns, and
fewer than that theorem asks for find them as well. It is solved by L-BFGS over matrices X without
constraints, v_i = x_i / |x_i|. Their rows start with |x_i|^2 = sum_j |w_ij|, which preconditions:
an angle moves by the gradient over |x_i|^2. Rows are all but orthogonal to their gradients, so that
lengths stay about what they are. In float32 the value is good to seven digits or better.

Shape letters: N padded vertices, R columns, M remembered steps.
"""

from __future__ import annotations

import functools
import math
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse

from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.search.fields import Blocks, fields, padded_vertices, to_blocks

__all__ = ["LowRank", "full_rank", "low_rank_sdp", "scaled_adjacency"]

_MEMORY = 8
_MOST_FLOATS = 2**24  # of a matrix [N, R], about twenty of which are held at once
_LEAST_RANK, _MOST_RANK = 8, 64  # by default
_TOLERANCE = 5e-8  # of the gradient's length over that of X: a little before float32 ends
_PATIENCE = 200  # steps without a shorter gradient than before: float32 ended earlier
_MOST_STEPS = 20_000
_CHUNK_SECONDS = 0.25
# Of a step: how much the value may rise (rounding errors of float32), how steeply it may rise at
# the end, and how often it is shortened (Hager and Zhang, 2005: slopes tell what values do not).
_NOISE = 1e-6
_SLOPE = 0.8
_MOST_TRIALS = 12

# Accelerators would round what they multiply to fewer digits.
_dot = functools.partial(jnp.vdot, precision=jax.lax.Precision.HIGHEST)


class LowRank(NamedTuple):
    """A solution of the relaxation, or as far as it came.

    Attributes:
        vectors: float64 [num_vertices, R], of length 1; hyperplanes that divide them are cuts.
        steps: of the optimiser.
        converged: whether it ended by itself: the gradient is zero, or all but rounding errors.
    """

    vectors: np.ndarray
    steps: int
    converged: bool


class _State(NamedTuple):
    """Attributes:
    x: float32 [N, R].
    value: float32 [].
    gradient: float32 [N, R].
    moves: float32 [M, N, R], the last changes of x, in a ring.
    bends: float32 [M, N, R], those of the gradient.
    curvatures: float32 [M], their inner products; 0 where there is none.
    step: int32 [].
    remembered: int32 [], changes since the ring was empty.
    shortest: float32 [], squared length of the shortest gradient so far.
    shortest_step: int32 [], when it was met.
    stalled: bool [], whether no step was found that pays.
    """

    x: jax.Array
    value: jax.Array
    gradient: jax.Array
    moves: jax.Array
    bends: jax.Array
    curvatures: jax.Array
    step: jax.Array
    remembered: jax.Array
    shortest: jax.Array
    shortest_step: jax.Array
    stalled: jax.Array


class _Trial(NamedTuple):
    """Attributes:
    x, value, gradient: where a step of some length leads.
    length: float32 [], the next one to try.
    slope: float32 [], along the direction.
    accepted: bool [].
    tried: int32 [].
    """

    x: jax.Array
    value: jax.Array
    gradient: jax.Array
    length: jax.Array
    slope: jax.Array
    accepted: jax.Array
    tried: jax.Array


def full_rank(num_vertices: int) -> int:
    """The number of columns from which on no local minimum is in the way (in theory)."""
    return math.isqrt(2 * num_vertices) + 1


def scaled_adjacency(graph: Graph) -> tuple[scipy.sparse.csr_array, int]:
    """The matrix of weights over a power of two, so that the largest is between 1/2 and 1.

    Returns:
        float64 [N, N], and the power's exponent: exact, but for integers beyond 2^53, which are
        rounded to 53 bits, and weights less than 2^-1000 times the largest, which may be.
    """
    rows = graph.adjacency()
    exponent = math.frexp(float(np.abs(rows.data).max(initial=0.0)))[1]
    rows.data = np.ldexp(rows.data, -exponent)
    return rows, exponent


def low_rank_sdp(
    graph: Graph,
    *,
    key: jax.Array,
    rank: int | None = None,
    deadline: float = math.inf,
) -> LowRank:
    """Solves the relaxation.

    Args:
        graph: the graph.
        key: of `jax.random.key`; draws the start.
        rank: columns; by default `full_rank` up to 64, and fewer for more than 260 000 vertices: 16
            for a million, which take 1.5 gigabytes.
        deadline: on the clock of `time.monotonic`; what is reached soon after it is given back.

    Returns:
        Its vectors. With the Laplacian L they show 1/4 sum_ij L_ij v_i . v_j, a lower bound of the
        relaxation's value, which is an upper bound of the maximum cut.

    Raises:
        OptionError: for a rank below 1.

    Example:
        >>> vectors = low_rank_sdp(graph, key=jax.random.key(0)).vectors
        >>> labels = vectors @ np.random.default_rng(0).normal(size=vectors.shape[1]) > 0
    """
    if rank is not None and rank < 1:
        raise OptionError(f"rank={rank} must be at least 1")
    rows, _ = scaled_adjacency(graph)
    size = padded_vertices(graph.num_vertices)
    most = max(_LEAST_RANK, min(_MOST_RANK, _MOST_FLOATS // size))
    columns = min(full_rank(size), most) if rank is None else rank
    blocks = to_blocks(rows, size)
    totals = np.pad(abs(rows) @ np.ones(graph.num_vertices), (0, size - graph.num_vertices))
    state = _start(blocks, jnp.asarray(totals, jnp.float32), key, rank=columns)
    least = jnp.float32(_TOLERANCE * math.sqrt(totals.sum()))
    steps, goal, done = 4, 0, False
    while not done and goal < _MOST_STEPS and (now := time.monotonic()) < deadline:
        goal = min(goal + steps, _MOST_STEPS)
        state = _advance(blocks, state, jnp.int32(goal), least)
        done = int(state.step) < goal
        # Chunks are as long as the clock should be looked at, whatever a step takes.
        steps = 2 * steps if time.monotonic() - now < _CHUNK_SECONDS / 2 else steps
    vectors = np.asarray(state.x[: graph.num_vertices], np.float64)
    return LowRank(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), int(state.step), done)


@functools.partial(jax.jit, static_argnames="rank")
def _start(blocks: Blocks, totals: jax.Array, key: jax.Array, *, rank: int) -> _State:
    """Random directions, of lengths that suit the totals [N] of the rows' magnitudes."""
    x = jax.random.normal(key, (*totals.shape, rank))
    lengths = jnp.where(totals > 0, jnp.sqrt(totals), 1.0)
    x *= (lengths / jnp.linalg.norm(x, axis=1))[:, None]
    value, gradient = _evaluate(blocks, x)
    zero = jnp.int32(0)
    return _State(
        x=x,
        value=value,
        gradient=gradient,
        moves=jnp.zeros((_MEMORY, *x.shape)),
        bends=jnp.zeros((_MEMORY, *x.shape)),
        curvatures=jnp.zeros(_MEMORY),
        step=zero,
        remembered=zero,
        shortest=_dot(gradient, gradient),
        shortest_step=zero,
        stalled=jnp.bool(False),
    )


def _evaluate(blocks: Blocks, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Value and gradient at x [N, R]."""
    lengths = jnp.linalg.norm(x, axis=1, keepdims=True)
    vectors = x / lengths
    around = fields(blocks, vectors)
    energies = jnp.sum(around * vectors, axis=1, keepdims=True)
    return energies.sum() / 2, (around - energies * vectors) / lengths


@functools.partial(jax.jit, donate_argnames="state")
def _advance(blocks: Blocks, state: _State, goal: jax.Array, least: jax.Array) -> _State:
    """Steps until there are `goal` of them, none pays or the gradient is shorter than `least`."""

    def goes_on(state: _State) -> jax.Array:
        waited = state.step - state.shortest_step
        going = ~state.stalled & (state.shortest > least**2) & (waited < _PATIENCE)
        return going & (state.step < goal)

    return jax.lax.while_loop(goes_on, functools.partial(_step, blocks), state)


def _step(blocks: Blocks, state: _State) -> _State:
    """One step of L-BFGS. One that does not pay forgets the earlier ones, and is the last then."""
    direction = _direction(state)
    slope = _dot(direction, state.gradient)
    trial = _search(blocks, state, direction, slope)

    def taken(new: jax.Array, old: jax.Array | int) -> jax.Array:
        return jnp.where(trial.accepted, new, old)

    x, gradient = taken(trial.x, state.x), taken(trial.gradient, state.gradient)
    move, bend = x - state.x, gradient - state.gradient
    curvature = _dot(move, bend)
    # What would go out of bounds is dropped.
    place = jnp.where(curvature > 0, state.remembered % _MEMORY, _MEMORY)
    length = _dot(gradient, gradient)
    return _State(
        x=x,
        value=taken(trial.value, state.value),
        gradient=gradient,
        moves=state.moves.at[place].set(move, mode="drop"),
        bends=state.bends.at[place].set(bend, mode="drop"),
        curvatures=state.curvatures.at[place].set(curvature, mode="drop"),
        step=state.step + 1,
        remembered=taken(state.remembered + (curvature > 0), 0),
        shortest=jnp.minimum(length, state.shortest),
        shortest_step=jnp.where(length < state.shortest, state.step + 1, state.shortest_step),
        stalled=~trial.accepted & (state.remembered == 0),
    )


def _direction(state: _State) -> jax.Array:
    """The gradient times an estimate of the inverse Hessian, downhill (Nocedal's two loops)."""
    filled = jnp.minimum(state.remembered, _MEMORY)

    def back(i: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        direction, factors = carry
        place = (state.remembered - 1 - i) % _MEMORY
        factor = _dot(state.moves[place], direction) / state.curvatures[place]
        return direction - factor * state.bends[place], factors.at[place].set(factor)

    def forth(i: jax.Array, direction: jax.Array) -> jax.Array:
        place = (state.remembered - filled + i) % _MEMORY
        factor = _dot(state.bends[place], direction) / state.curvatures[place]
        return direction + (factors[place] - factor) * state.moves[place]

    start = -state.gradient, jnp.zeros(_MEMORY)
    direction, factors = jax.lax.fori_loop(0, filled, back, start)
    last = (state.remembered - 1) % _MEMORY
    bend = _dot(state.bends[last], state.bends[last])
    direction *= jnp.where(filled > 0, state.curvatures[last] / bend, 1.0)
    return jax.lax.fori_loop(0, filled, forth, direction)


def _search(blocks: Blocks, state: _State, direction: jax.Array, slope: jax.Array) -> _Trial:
    """Shortens a step, at first 1, until the value falls as far as float32 can tell."""

    def attempt(trial: _Trial) -> _Trial:
        x = state.x + trial.length * direction
        value, gradient = _evaluate(blocks, x)
        end = _dot(direction, gradient)
        falls = (value <= state.value + _NOISE * jnp.abs(state.value)) & (end <= -_SLOPE * slope)
        falls &= slope < 0  # rounding errors may turn a direction uphill
        # Where the slope of a parabola would be zero, unless that is hardly shorter or tiny.
        factor = jnp.where(end > slope, jnp.clip(slope / (slope - end), 0.1, 0.6), 0.3)
        return _Trial(x, value, gradient, trial.length * factor, end, falls, trial.tried + 1)

    start = _Trial(
        state.x,
        state.value,
        state.gradient,
        jnp.float32(1.0),
        slope,
        jnp.bool(False),
        jnp.int32(0),
    )
    return jax.lax.while_loop(
        lambda trial: ~trial.accepted & (trial.tried < _MOST_TRIALS), attempt, start
    )
