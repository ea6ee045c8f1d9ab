"""`swift` in JAX, for accelerators: hundreds of trajectories side by side, no pass over |V| a step.

It is the step of `ecord_jax.search.swift_walk`, held to it by a test: a flip changes the scores of
the flipped vertex, of its neighbours (in blocks) and of those whose time since the last flip
crosses an edge of the time curve; only now and then are the globals looked at anew, for all.

Shape letters: B trajectories, N padded vertices, R places in the ring of the last flips, K edges of
the time curve, W vertices weighed anew, T steps.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.env import State, step
from ecord_jax.env.maxcut import NEVER, num_blocks
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import GraphArrays, to_arrays
from ecord_jax.networks.agent import Agent
from ecord_jax.networks.swift import (
    Globals,
    SwiftTables,
    swift_globals,
    swift_scores,
    time_edges,
    time_places,
)
from ecord_jax.search.chunk import Found, Search, best_found, keep_best, resume
from ecord_jax.search.levels import Levels, build, put, sample
from ecord_jax.search.swift import SETTINGS, see, tune

__all__ = [
    "Ground",
    "SwiftTrajectory",
    "start_swift",
    "swift_chunk",
    "swift_ground",
    "swift_rollout",
]


class Ground(NamedTuple):
    """What all trajectories over a graph share.

    Attributes:
        arrays: the graph.
        params: those of the globals, for this graph.
        tables: of the graph, filled up to [N].
        edges: int32 [K], see `time_edges`.
        places: [2, K], see `time_places`.
    """

    arrays: GraphArrays
    params: Any
    tables: SwiftTables
    edges: jax.Array
    places: jax.Array


class SwiftTrajectory(NamedTuple):
    """One trajectory between two chunks.

    As in `ecord_jax.search.chunk`, peeks and cut are computed anew by each chunk.

    Attributes:
        labels: int8 [N].
        last_flip: int32 [N], see `ecord_jax.env.State`.
        ring: int32 [R], the vertices flipped last: step t stands at t mod R.
        best_labels: int8 [N].
        best_cut: float32 [], their cut in device units; -inf before the first chunk.
        best_step: int32 [], when it was met.
    """

    labels: jax.Array
    last_flip: jax.Array
    ring: jax.Array
    best_labels: jax.Array
    best_cut: jax.Array
    best_step: jax.Array


class _Carry(NamedTuple):
    """Within a chunk: the state, the ring, and the scores level by level.

    Attributes:
        state: of the environment.
        ring: int32 [R].
        levels: over the scores of vertices, -inf for padding.
    """

    state: State
    ring: jax.Array
    levels: Levels


def swift_ground(agent: Agent, graph: Graph, *, dtype: Any = jnp.float32) -> Ground:
    """Looks at a graph, as the walks on the host do.

    Args:
        agent: of a `SwiftConfig`.
        graph: with at least one vertex.
        dtype: of all numbers.
    """
    (seen, columns), arrays = tune(agent, see(agent.config, graph)), to_arrays(graph)
    more = arrays.row_start.shape[0] - 1 - graph.num_vertices
    tables = SwiftTables(*(jnp.asarray(np.pad(x, (0, more)), dtype) for x in columns))
    arrays = jax.tree.map(
        lambda x: x.astype(dtype) if jnp.issubdtype(x.dtype, jnp.floating) else x, arrays
    )
    # Not rounded to float32 where more is wanted.
    squares = float(np.square(np.asarray(arrays.graph.edges, np.float64)).sum())
    scale = math.sqrt(squares / graph.num_vertices) or 1.0
    arrays = dataclasses.replace(arrays, field_scale=jnp.asarray(scale, dtype))
    params = {name: jnp.asarray(seen[name], dtype) for name in SETTINGS}
    edges, places = (ask(agent.config, graph.num_vertices) for ask in (time_edges, time_places))
    return Ground(arrays, params, tables, jnp.asarray(edges, jnp.int32), jnp.asarray(places, dtype))


def start_swift(ground: Ground, labels: np.ndarray, key: jax.Array) -> Search:
    """Trajectories before their first chunk.

    Args:
        ground: `swift_ground` of the graph.
        labels: int8 [B, num_vertices], where to start.
        key: consumed.
    """
    size = ground.arrays.row_start.shape[0] - 1
    labels = np.pad(labels, ((0, 0), (0, size - labels.shape[1])))
    count = len(labels)
    trajectories = SwiftTrajectory(
        # Two copies: every buffer of a search is donated to its next chunk.
        labels=jnp.array(labels, jnp.int8),
        last_flip=jnp.full(labels.shape, NEVER, jnp.int32),
        ring=jnp.zeros((count, size + 1), jnp.int32),
        best_labels=jnp.array(labels, jnp.int8),
        best_cut=jnp.full(count, -jnp.inf, ground.tables.gain.dtype),
        best_step=jnp.zeros(count, jnp.int32),
    )
    return Search(trajectories, jnp.zeros((), jnp.int32), key)


def swift_chunk(
    ground: Ground,
    search: Search,
    budget: jax.Array | int,
    last_step: jax.Array | int,
    *,
    rounds: tuple[int, int],
) -> tuple[Search, Found]:
    """Lets every trajectory go on for T steps.

    Args:
        ground: `swift_ground` of the graph.
        search: where the trajectories stand.
        budget: int32 [], flips of each that the policy can count on, those done included.
        last_step: int32 [], cuts after more steps than that do not count.
        rounds: how often the globals are looked at, and steps from one time to the next; their
            product is T (static).

    Returns:
        Where they stand then, and the best of all so far.
    """
    key, chunk_key = jax.random.split(search.key)
    in_time = search.step + jnp.arange(math.prod(rounds) + 1) <= last_step

    def go_on(one: SwiftTrajectory, key: jax.Array) -> tuple[SwiftTrajectory, Any, Any]:
        state = resume(ground.arrays, one, search.step)
        after, ring, actions, after_cuts, _ = swift_rollout(
            ground, state, one.ring, key, budget, rounds=rounds
        )
        cuts = jnp.where(in_time, jnp.append(state.cut, after_cuts), -jnp.inf)
        one = one._replace(labels=after.labels, last_flip=after.last_flip, ring=ring)
        return keep_best(one, state, actions, cuts), actions, cuts

    keys = jax.random.split(chunk_key, search.trajectories.best_cut.shape[0])
    trajectories, actions, cuts = jax.vmap(go_on)(search.trajectories, keys)
    found = best_found(trajectories, actions, cuts)
    return Search(trajectories, search.step + math.prod(rounds), key), found


def swift_rollout(
    ground: Ground,
    state: State,
    ring: jax.Array,
    key: jax.Array,
    budget: jax.Array | int,
    *,
    rounds: tuple[int, int],
    actions: jax.Array | None = None,
) -> tuple[State, jax.Array, jax.Array, jax.Array, jax.Array]:
    """Does T flips; it begins with a look at all vertices.

    Args:
        ground: `swift_ground` of the graph.
        state: where to start.
        ring: int32 [R], see `SwiftTrajectory`.
        key: consumed; unused when `actions` are given.
        budget: int32 [], flips of the whole trajectory.
        rounds: see `swift_chunk`.
        actions: int32 [T], to be taken instead.

    Returns:
        State and ring after, the actions int32 [T], the cuts after each, float32 [T], and the
        scores float32 [N] by which the next vertex would be drawn.
    """
    size = state.labels.shape[0]
    levels = jax.eval_shape(build, ground.tables.gain)
    draws = None
    if actions is None:
        draws = jax.random.uniform(key, (*rounds, len(levels)), ground.tables.gain.dtype)
    else:
        actions = actions.reshape(rounds)

    def one_step(shared: Globals, carry: _Carry, per_step: Any) -> tuple[_Carry, Any]:
        forced, draw = per_step
        action = sample(draw, carry.levels) if forced is None else forced
        ring = carry.ring.at[carry.state.step % (size + 1)].set(action)
        state, _ = step(ground.arrays, carry.state, action, scaling="scale_free")
        levels = _weigh(ground, shared, state, ring, action, carry.levels)
        return _Carry(state, ring, levels), (action, state.cut)

    def one_round(carry: _Carry, per_round: Any) -> tuple[_Carry, Any]:
        shared = _look(ground, carry.state, budget)
        scores = _scores(ground, shared, carry.state, jnp.arange(size))
        carry = carry._replace(levels=build(scores))
        return jax.lax.scan(functools.partial(one_step, shared), carry, per_round)

    empty = tuple(jnp.zeros(level.shape, level.dtype) for level in levels)
    carry, (done, cuts) = jax.lax.scan(one_round, _Carry(state, ring, empty), (actions, draws))
    scores = carry.levels[0].ravel()[:size]
    return carry.state, carry.ring, done.ravel(), cuts.ravel(), scores


def _look(ground: Ground, state: State, budget: jax.Array | int) -> Globals:
    dtype, size = ground.tables.gain.dtype, ground.arrays.num_vertices
    return swift_globals(
        ground.params,
        ground.places,
        jnp.asarray(state.step / budget, dtype),
        jnp.asarray((state.step - state.best_step) / size, dtype),
        jnp.asarray(budget / (6 * size), dtype),
    )


def _scores(ground: Ground, shared: Globals, state: State, vertices: jax.Array) -> jax.Array:
    """Logarithms of the weights of some vertices [W] at the next step; -inf for padding."""
    tables = ground.tables
    some = SwiftTables(*(column[vertices] for column in tables))
    elapsed = state.step + 1 - state.last_flip[vertices]
    bins = (elapsed[:, None] >= ground.edges).sum(axis=1)
    peeks = state.peeks[vertices] / ground.arrays.field_scale
    scores = swift_scores(some, shared, peeks, bins)
    return jnp.where(vertices < ground.arrays.num_vertices, scores, -jnp.inf)


def _weigh(
    ground: Ground,
    shared: Globals,
    state: State,
    ring: jax.Array,
    action: jax.Array,
    levels: Levels,
) -> Levels:
    """Levels after a flip: what it has changed, and what the time has."""
    arrays, size = ground.arrays, state.labels.shape[0]
    start, end = arrays.row_start[action], arrays.row_start[action + 1]
    then = state.step - ground.edges
    older = ring[then % ring.shape[0]]
    # `last_flip` counts from after a flip. Who was flipped again since then is not yet so old.
    older = jnp.where((then >= 0) & (state.last_flip[older] == then + 1), older, size)
    always = jnp.append(older, action)

    def weigh_block(block: jax.Array | int, levels: Levels) -> Levels:
        edge = start + block * arrays.row_block + jnp.arange(arrays.row_block)
        inside = edge < end
        near = jnp.where(inside, arrays.graph.senders[jnp.where(inside, edge, 0)], size)
        vertices = jnp.append(near, always)
        scores = _scores(ground, shared, state, jnp.minimum(vertices, size - 1))
        return put(vertices, scores, vertices < size, levels)

    if arrays.one_block:
        return weigh_block(0, levels)
    return jax.lax.fori_loop(0, num_blocks(arrays, action), weigh_block, levels)
