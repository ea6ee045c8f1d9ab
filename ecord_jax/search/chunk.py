"""The search on the device: chunks of scanned steps, called again and again.

Shape letters: B trajectories, N padded vertices, H hidden width, T steps of a chunk.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax.typing import ArrayLike

from ecord_jax.env import UNLIMITED, State, reset
from ecord_jax.env.maxcut import NEVER
from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.networks.agent import Agent, initial_hidden
from ecord_jax.search.incremental import incremental_rollout
from ecord_jax.search.rollout import Carry, flipped_labels, rollout
from ecord_jax.search.temperature import LEAST_SIZE, adapt

__all__ = [
    "Found",
    "Search",
    "Trajectory",
    "best_found",
    "chunk_length",
    "group_size",
    "keep_best",
    "resume",
    "search_chunk",
    "start_search",
]

_One = TypeVar("_One", bound=Any)

_CHUNK_SECONDS = 0.25
_LONGEST_CHUNK = 512
# Rough seconds a step, and a step for each trajectory and vertex; and how many vertices, of all
# trajectories together, a step should look at, for it keeps some numbers for each of them.
_CPU = (1e-3, 1.5e-8, 20_000_000)
_ACCELERATOR = (1e-4, 1e-9, 20_000_000)


class Trajectory(NamedTuple):
    """One trajectory between two chunks.

    Peeks and cut are not in it: a chunk computes them from the labels, so that rounding errors
    live no longer than a chunk.

    Attributes:
        labels: int8 [N].
        last_flip: int32 [N], see `ecord_jax.env.State`.
        hidden: float32 [H].
        temperature: float32 [], of its softmax; 0 is greedy.
        best_labels: int8 [N].
        best_cut: float32 [], their cut in device units; -inf before the first chunk.
        best_step: int32 [], when it was met.
    """

    labels: jax.Array
    last_flip: jax.Array
    hidden: jax.Array
    temperature: jax.Array
    best_labels: jax.Array
    best_cut: jax.Array
    best_step: jax.Array


class Search(NamedTuple):
    """Where a search stands between two chunks.

    Attributes:
        trajectories: a `Trajectory` of [B, ...] arrays, or those of `swift`.
        step: int32 [], flips that each has done.
        key: for the chunks to come.
    """

    trajectories: Any
    step: jax.Array
    key: jax.Array


@struct.dataclass
class Found:
    """The best of all trajectories so far, and how the last chunk went; on the device or the host.

    Attributes:
        labels: int8 [N].
        cut: float32 [], in device units.
        step: int32 [].
        actions: int32 [B, T], the vertices that the last chunk flipped.
        cuts: float32 [B, T + 1], the cut before its first flip and after each; -inf where it does
            not count.
        after: int8 [B, N], the labels at its end.
        by: who found them.
    """

    labels: jax.Array | np.ndarray
    cut: jax.Array | float
    step: jax.Array | int
    actions: jax.Array | np.ndarray
    cuts: jax.Array | np.ndarray
    after: jax.Array | np.ndarray
    by: str = struct.field(pytree_node=False, default="ecord")


def start_search(
    agent: Agent, labels: ArrayLike, temperatures: ArrayLike, key: jax.Array
) -> Search:
    """A search before its first chunk.

    Args:
        agent: who will flip.
        labels: [B, N], 0 or 1.
        temperatures: [B].
        key: consumed.
    """
    # Copies all, two of the labels: every buffer of a search is donated to its next chunk.
    labels = jnp.array(labels, jnp.int8)
    size = labels.shape[0]
    hidden = initial_hidden(agent)
    trajectories = Trajectory(
        labels=labels,
        last_flip=jnp.full(labels.shape, NEVER, jnp.int32),
        hidden=jnp.zeros((size, *hidden.shape), hidden.dtype),
        temperature=jnp.array(temperatures, jnp.float32),
        best_labels=jnp.array(labels),
        best_cut=jnp.full(size, -jnp.inf, jnp.float32),
        best_step=jnp.zeros(size, jnp.int32),
    )
    return Search(trajectories, jnp.zeros((), jnp.int32), key)


def search_chunk(
    agent: Agent,
    arrays: GraphArrays,
    embeddings: Any,
    search: Search,
    last_step: jax.Array | int,
    budget: jax.Array | int | None = None,
    *,
    num_steps: int,
    refresh_every: int = 1,
    adapts: bool = False,
) -> tuple[Search, Found]:
    """Lets every trajectory go on for T steps.

    Args:
        agent: who flips.
        arrays: the graph.
        embeddings: `encode(agent, arrays)` or `factor(agent, arrays)`.
        search: where the trajectories stand.
        last_step: int32 [], cuts after more steps than that do not count.
        budget: int32 [], steps that there is time for, those done included; `last_step` if not
            given.
        num_steps: T (static).
        refresh_every: K (static), see `ecord_jax.search.incremental`; 1 is the plain step. Above 1,
            `embeddings` must be those of `factor`, and K a divisor of T.
        adapts: whether temperatures do (static), before the first step.

    Returns:
        Where they stand then, and the best of all so far.
    """
    key, chunk_key = jax.random.split(search.key)
    budget = last_step if budget is None else budget
    in_time = search.step + jnp.arange(num_steps + 1) <= last_step

    def go_on(one: Trajectory, key: jax.Array) -> tuple[Trajectory, jax.Array, jax.Array]:
        state = resume(arrays, one, search.step, budget)
        if adapts:
            one = _adapt(arrays, one, state, num_steps)
            state = resume(arrays, one, search.step, budget)
        options = {
            "num_steps": num_steps,
            "temperature": one.temperature,
            "embeddings": embeddings,
        }
        start = Carry(state, one.hidden)
        if refresh_every == 1:
            after, record = rollout(agent, arrays, start, key, **options)
        else:
            after, record, _ = incremental_rollout(
                agent, arrays, start, key, refresh_every=refresh_every, **options
            )
        cuts = jnp.where(in_time, jnp.append(state.cut, record.cut), -jnp.inf)
        one = one._replace(
            labels=after.state.labels, last_flip=after.state.last_flip, hidden=after.hidden
        )
        return keep_best(one, state, record.action, cuts), record.action, cuts

    keys = jax.random.split(chunk_key, search.trajectories.temperature.shape[0])
    trajectories, actions, cuts = jax.vmap(go_on)(search.trajectories, keys)
    found = best_found(trajectories, actions, cuts)
    return Search(trajectories, search.step + num_steps, key), found


def _adapt(arrays: GraphArrays, one: Trajectory, state: State, num_steps: int) -> Trajectory:
    """A trajectory with another temperature, and at its best labels if it has melted."""
    size = arrays.num_vertices
    unit = arrays.field_scale * jnp.maximum(size, LEAST_SIZE)
    gap = (state.best_cut - state.cut) / unit
    temperature, melted = adapt(one.temperature, gap, num_steps / size)
    # Nothing is behind the first chunk.
    temperature = jnp.where(state.step > 0, temperature, one.temperature)
    labels = jnp.where(melted, one.best_labels, one.labels)
    return one._replace(temperature=temperature, labels=labels)


def resume(
    arrays: GraphArrays, one: Any, step: jax.Array, budget: jax.Array | int = UNLIMITED
) -> State:
    """The state of a trajectory after so many flips, peeks and cut computed anew.

    Args:
        arrays: the graph.
        one: a `Trajectory`, or another with its labels, times and bests.
        step: int32 [].
        budget: int32 [], of the whole search.
    """
    state = reset(arrays, one.labels, budget)
    return dataclasses.replace(
        state,
        last_flip=one.last_flip,
        step=step,
        best_cut=jnp.maximum(one.best_cut, state.cut),
        best_step=one.best_step,
    )


def keep_best(one: _One, before: State, actions: jax.Array, cuts: jax.Array) -> _One:
    """A trajectory with the best of a chunk, where that is better than its own.

    Args:
        one: a `Trajectory`, or another with its bests.
        before: at the chunk's beginning.
        actions: int32 [T], the vertices flipped.
        cuts: float [T + 1], the cut before the first flip and after each; -inf does not count.
    """
    best = jnp.argmax(cuts).astype(jnp.int32)  # the first of the best
    better = cuts[best] > one.best_cut
    labels = flipped_labels(before.labels, actions, best)
    return one._replace(
        best_labels=jnp.where(better, labels, one.best_labels),
        best_cut=jnp.where(better, cuts[best], one.best_cut),
        best_step=jnp.where(better, before.step + best, one.best_step),
    )


def best_found(trajectories: Any, actions: jax.Array, cuts: jax.Array) -> Found:
    """The best of all trajectories, of [B, ...] arrays, and how their last chunk went."""
    top = jnp.argmax(trajectories.best_cut)
    return Found(
        labels=trajectories.best_labels[top],
        cut=trajectories.best_cut[top],
        step=trajectories.best_step[top],
        actions=actions,
        cuts=cuts,
        after=trajectories.labels,
    )


def group_size(trajectories: int, vertices: int, backend: str) -> int:
    """How many trajectories go on side by side; groups of that size take turns.

    Args:
        trajectories: B.
        vertices: N.
        backend: as `jax.default_backend` has it.

    Returns:
        A divisor of B.
    """
    *_, most = _costs(backend)
    sizes = (b for b in range(trajectories, 1, -1) if trajectories % b == 0)
    return next((b for b in sizes if b * vertices <= most), 1)


def chunk_length(trajectories: int, vertices: int, backend: str) -> int:
    """Steps of a chunk, a power of two: enough for about a quarter of a second, at most 512.

    Args:
        trajectories: those of a group.
        vertices: N.
        backend: as `jax.default_backend` has it.
    """
    a_step, a_vertex, _ = _costs(backend)
    steps = _CHUNK_SECONDS / (a_step + a_vertex * trajectories * vertices)
    return min(_LONGEST_CHUNK, 1 << max(int(steps).bit_length() - 1, 0))


def _costs(backend: str) -> tuple[float, float, int]:
    return _CPU if backend == "cpu" else _ACCELERATOR
