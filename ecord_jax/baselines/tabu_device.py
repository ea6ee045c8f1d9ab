"""Tabu search on a device: all trajectories at once, on the environment's state.

Shape letters: B trajectories, N padded vertices, T flips of a chunk.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.env import reset, step
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import GraphArrays, to_arrays
from ecord_jax.search.chunk import chunk_length
from ecord_jax.search.rollout import flipped_labels
from ecord_jax.search.sampling import sample_softmax
from ecord_jax.search.tenure import Tenure

__all__ = ["DeviceCrew", "Trajectory", "start_trajectories", "tabu_chunk"]


class Trajectory(NamedTuple):
    """One trajectory between two chunks.

    Attributes:
        labels: int8 [N], where it stands.
        free: int32 [N], the flip before which each vertex is barred.
        best_labels: int8 [N].
        best_cut: float32 [], in device units.
    """

    labels: jax.Array
    free: jax.Array
    best_labels: jax.Array
    best_cut: jax.Array


def start_trajectories(arrays: GraphArrays, labels: np.ndarray) -> Trajectory:
    """Trajectories before their first flips.

    Args:
        arrays: the graph.
        labels: int8 [B, num_vertices].
    """
    padding = arrays.vertex_mask.shape[0] - labels.shape[1]
    padded = jnp.asarray(np.pad(labels, ((0, 0), (0, padding))))
    return Trajectory(
        labels=padded,
        free=jnp.zeros(padded.shape, jnp.int32),
        best_labels=padded,
        best_cut=jnp.full(len(labels), -jnp.inf, jnp.float32),
    )


@jax.jit
def tabu_chunk(
    arrays: GraphArrays,
    trajectories: Trajectory,
    now: jax.Array,
    draws: jax.Array,
    tenures: jax.Array,
    count: jax.Array,
) -> tuple[Trajectory, jax.Array]:
    """Lets all trajectories go on.

    Args:
        arrays: the graph.
        trajectories: of [B, ...] arrays.
        now: int32 [], flips done.
        draws: float32 [B, T], uniform numbers, which decide between equal gains.
        tenures: int32 [B, T].
        count: int32 [], cuts after more flips of this chunk than that do not count.

    Returns:
        Where they stand after T flips, and the vertices flipped, int32 [B, T].
    """
    run = functools.partial(_go_on, arrays, now, count)
    return jax.vmap(run)(trajectories, draws, tenures)


def _go_on(
    arrays: GraphArrays,
    now: jax.Array,
    count: jax.Array,
    one: Trajectory,
    draws: jax.Array,
    tenures: jax.Array,
) -> tuple[Trajectory, jax.Array]:
    def flip(carry, per_step):
        (state, free), (draw, tenure) = carry, per_step
        barred = ~arrays.vertex_mask | (free > now + state.step)
        action = sample_softmax(draw, jnp.where(barred, -jnp.inf, state.peeks), 0.0)
        state, _ = step(arrays, state, action)
        return (state, free.at[action].set(now + state.step + tenure)), (action, state.cut)

    start = reset(arrays, one.labels)
    (state, free), (actions, cuts) = jax.lax.scan(flip, (start, one.free), (draws, tenures))
    # Entry t is the cut after t flips of this chunk; the first of the best counts.
    cuts = jnp.append(start.cut, cuts)
    best = jnp.argmax(jnp.where(jnp.arange(len(cuts)) <= count, cuts, -jnp.inf))
    better = cuts[best] > one.best_cut
    best_labels = jnp.where(better, flipped_labels(one.labels, actions, best), one.best_labels)
    best_cut = jnp.where(better, cuts[best], one.best_cut)
    return Trajectory(state.labels, free, best_labels, best_cut), actions


class DeviceCrew:
    """All trajectories on JAX's default device; see `ecord_jax.baselines.tabu.Crew`.

    Args:
        graph: the graph.
        labels: int8 [B, num_vertices], where to start.
        tenure: how long vertices are barred.
        rng: of the draws.
    """

    def __init__(
        self, graph: Graph, labels: np.ndarray, tenure: Tenure, rng: np.random.Generator
    ) -> None:
        self._size, self._tenure, self._rng = graph.num_vertices, tenure, rng
        self._arrays = to_arrays(graph)
        self._trajectories = start_trajectories(self._arrays, labels)
        self._step = 0
        size = self._arrays.vertex_mask.shape[0]
        self.least = self.most = chunk_length(len(labels), size, jax.default_backend())

    def prepare(self) -> None:
        jax.block_until_ready(self._run(*self._draw(1), 0))

    def advance(self, num_steps: int, budget: int) -> np.ndarray:
        self._trajectories, _ = self._run(*self._draw(budget), num_steps)
        self._step += num_steps
        top = int(jnp.argmax(self._trajectories.best_cut))
        return np.asarray(self._trajectories.best_labels[top, : self._size])

    def _draw(self, budget: int) -> tuple[np.ndarray, np.ndarray]:
        """Draws and tenures of the next chunk."""
        shape = (len(self._trajectories.labels), self.most)
        used = np.minimum((self._step + np.arange(self.most)) / budget, 1.0)
        tenures = self._tenure.draw(used, self._rng.random(shape), self._size)
        return self._rng.random(shape, np.float32), tenures

    def _run(
        self, draws: np.ndarray, tenures: np.ndarray, count: int
    ) -> tuple[Trajectory, jax.Array]:
        now, last = jnp.int32(self._step), jnp.int32(count)
        return tabu_chunk(self._arrays, self._trajectories, now, draws, tenures, last)
