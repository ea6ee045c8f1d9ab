"""The rank-2 relaxation of Burer, Monteiro and Zhang (SIAM J. Optim. 12, 2002), in JAX.

    minimise f = 1/2 sum_ij w_ij cos(theta_i - theta_j)  over angles theta_1 .. theta_N.

From any angles a local minimum is found; the best of the cuts by a line through the origin is taken
and improved by single and double flips; angles near that cut (0 and pi, each moved at random) are
where the next descent starts. A trajectory starts anew at random angles when its best cut has not
risen for some descents (their N; their M, the number of starts, is as many as there is time for).

The descent follows the gradient over sum_j |w_ij|, the most that the curvature along theta_i can
be, with step lengths of Barzilai and Borwein, shorter where the value rises (Zhang and Hager,
2004, tell what counts as rising). Angles are kept as points on the circle, and a step t turns one
by 2 arctan(t / 2), which needs no sines. Descents run side by side on JAX's default device;
rounding and flips on the host.

Shape letters: B trajectories, N padded vertices, K neighbours of one vertex in a block.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import bucket
from ecord_jax.graphs.compiled import run_loop
from ecord_jax.search.fields import Blocks, to_blocks
from ecord_jax.search.rank2_rounding import RoundingState, round_angles
from ecord_jax.search.sdp import scaled_adjacency
from ecord_jax.search.walks import num_processors

__all__ = ["Descent", "Descents", "advance", "start"]

_COMPILED = 1 << 62  # a size at which `run_loop` always compiles
_TOLERANCE = 3e-4  # of what the next step may win, over the value
_MOST_STEPS = 200
_CHUNK = 32
_SHORTEST, _LONGEST = 0.1, 10.0  # steps, where a curvature is estimated
_MEMORY = 0.85  # of earlier values in what counts as rising
_ENOUGH = 1e-4  # of what the slope promises must be won


class Descent(NamedTuple):
    """B descents side by side.

    Attributes:
        x, y: float32 [N, B], cosines and sines of the angles.
        gradient: float32 [N, B], of f by the angles.
        value: float32 [B], f.
        mean, weight: float32 [B], of earlier values, that which the next is compared with.
        length: float32 [B], of the next step.
        done: bool [B], whether there is nothing left to win.
        step: int32 [].
    """

    x: jax.Array
    y: jax.Array
    gradient: jax.Array
    value: jax.Array
    mean: jax.Array
    weight: jax.Array
    length: jax.Array
    done: jax.Array
    step: jax.Array


def _evaluate(problem: Blocks, x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Values [B] and gradients [N, B]."""

    def fields(z: jax.Array) -> jax.Array:
        blocks = sum(
            weights[:, None] * z[neighbours]
            for weights, neighbours in zip(problem.weights, problem.neighbours, strict=True)
        )
        return jax.ops.segment_sum(
            blocks, problem.owners, num_segments=z.shape[0], indices_are_sorted=True
        )

    across, up = fields(x), fields(y)
    return (x * across + y * up).sum(axis=0) / 2, x * up - y * across


def start(
    problem: Blocks, labels: ArrayLike, fresh: ArrayLike, key: jax.Array, spread: ArrayLike
) -> Descent:
    """Descents before their first steps.

    Args:
        problem: the graph.
        labels: int8 [B, N], cuts to start near.
        fresh: bool [B], which start at random angles instead.
        key: consumed.
        spread: float32 [], most of how far angles are moved from a cut, over pi.
    """
    # Two programs: as one, XLA would compute each cosine anew for each neighbour that looks at it.
    return _begin(problem, *_place(labels, fresh, key, spread))


@jax.jit
def _place(
    labels: jax.Array, fresh: jax.Array, key: jax.Array, spread: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Points [N, B] on the circle."""
    draws = jax.random.uniform(key, labels.shape, minval=-1.0, maxval=1.0)
    angles = jnp.pi * jnp.where(fresh[:, None], draws, labels + spread * draws).T
    return jnp.cos(angles), jnp.sin(angles)


@jax.jit
def _begin(problem: Blocks, x: jax.Array, y: jax.Array) -> Descent:
    value, gradient = _evaluate(problem, x, y)
    ones = jnp.ones_like(value)
    return Descent(x, y, gradient, value, value, ones, ones, ones < 0, jnp.int32(0))


@functools.partial(jax.jit, donate_argnames="descent")
def advance(problem: Blocks, totals: jax.Array, descent: Descent, goal: jax.Array) -> Descent:
    """Steps until there are `goal` of them or all descents are done.

    Args:
        problem: the graph.
        totals: float32 [N, 1], sums of the magnitudes of each vertex's weights, 1 where that is 0.
        descent: where to go on.
        goal: int32 [].
    """
    return jax.lax.while_loop(
        lambda d: (d.step < goal) & ~d.done.all(),
        functools.partial(_step, problem, totals),
        descent,
    )


def _step(problem: Blocks, totals: jax.Array, d: Descent) -> Descent:
    """One step of each descent that is not done, or a shorter one next time."""
    turns = -d.length * d.gradient / totals
    scale = 1 / (1 + turns**2 / 4)
    cosine, sine = (1 - turns**2 / 4) * scale, turns * scale
    x, y = d.x * cosine - d.y * sine, d.y * cosine + d.x * sine
    value, gradient = _evaluate(problem, x, y)
    promise = (d.gradient**2 / totals).sum(axis=0)
    taken = ~d.done & (value <= d.mean - _ENOUGH * d.length * promise)
    bend = (turns * (gradient - d.gradient)).sum(axis=0)
    length = jnp.where(bend > 0, (turns**2 * totals).sum(axis=0) / bend, _LONGEST)
    weight = _MEMORY * d.weight + 1
    mean = (_MEMORY * d.weight * d.mean + value) / weight
    promise = (gradient**2 / totals).sum(axis=0)
    few = promise < _TOLERANCE * jnp.abs(value)
    return Descent(
        x=jnp.where(taken, x, d.x),
        y=jnp.where(taken, y, d.y),
        gradient=jnp.where(taken, gradient, d.gradient),
        value=jnp.where(taken, value, d.value),
        mean=jnp.where(taken, mean, d.mean),
        weight=jnp.where(taken, weight, d.weight),
        length=jnp.where(taken, jnp.clip(length, _SHORTEST, _LONGEST), d.length / 4),
        done=d.done | (taken & few) | (d.length < _SHORTEST / 1000),
        step=d.step + 1,
    )


class Descents:
    """Where all trajectories stand, and how they go on.

    Args:
        graph: with at least one vertex.
        count: B.
        spread: how far angles are moved from those of a cut, at most, over pi.
        patience: descents without a better cut after which a trajectory starts anew (their N).

    Attributes:
        labels: int8 [B, N'], the cuts of the last descents.
        best_labels: int8 [N'], of all trajectories; N' vertices without padding.
        best_cut: float, in the units of the scaled weights.
    """

    def __init__(self, graph: Graph, count: int, spread: float = 0.2, patience: int = 10) -> None:
        self._rows, _ = scaled_adjacency(graph)
        size = bucket(graph.num_vertices)
        totals = np.zeros(size)
        totals[: graph.num_vertices] = abs(self._rows) @ np.ones(graph.num_vertices)
        self._problem = to_blocks(self._rows, size)
        self._totals = jnp.asarray(np.where(totals > 0, totals, 1.0)[:, None], jnp.float32)
        self._spread, self._patience = jnp.float32(spread), patience
        self._starts = self._rows.indptr.astype(np.int64)
        self._labels = np.zeros((count, size), np.int8)
        self._waited = np.full(count, patience)
        self._own_best = np.full(count, -np.inf)
        self._pool = ThreadPoolExecutor(min(num_processors(), count))
        self.best_labels, self.best_cut = self._labels[0, : graph.num_vertices].copy(), 0.0

    @property
    def labels(self) -> np.ndarray:
        return self._labels[:, : len(self.best_labels)]

    def go_on(self, key: jax.Array, is_over: Callable[[], bool]) -> None:
        """One descent of each trajectory, and its cut."""
        fresh = self._waited >= self._patience
        self._own_best[fresh], self._waited[fresh] = -np.inf, 0
        descent = start(self._problem, self._labels, fresh, key, self._spread)
        for goal in range(_CHUNK, _MOST_STEPS + _CHUNK, _CHUNK):
            descent = advance(self._problem, self._totals, descent, jnp.int32(goal))
            if int(descent.step) < goal or is_over():
                break
        angles = np.asarray(jnp.arctan2(descent.y, descent.x).T)
        cuts = np.array(list(self._pool.map(self._round, range(len(angles)), angles)))
        better = cuts > self._own_best + 1e-9 * np.abs(cuts)
        self._own_best = np.maximum(cuts, self._own_best)
        self._waited = np.where(better, 0, self._waited + 1)
        top = int(cuts.argmax())
        if cuts[top] > self.best_cut:
            self.best_cut = cuts[top]
            self.best_labels = self._labels[top, : len(self.best_labels)].copy()

    def _round(self, number: int, angles: np.ndarray) -> float:
        """Sets the labels of a trajectory; gives their cut."""
        size = len(self.best_labels)
        angles = angles[:size].astype(np.float64)
        state = RoundingState(
            starts=self._starts,
            near=self._rows.indices,
            weights=self._rows.data,
            order=np.argsort(np.mod(angles, np.pi)),
            sides=np.where(angles >= 0, 1, -1).astype(np.int8),
            gains=np.empty(size),
        )
        state = run_loop(round_angles, state, _COMPILED)
        self._labels[number, :size] = state.sides < 0
        # A gain is the weight of a vertex's edges that are not cut less that of those that are.
        return float(self._rows.data.sum() - state.gains.sum()) / 4
