"""Max-Cut by flipping vertices: `reset`, `step`, `observe`, pure and for one trajectory each.

Specification (section 3.2 and SM C of arXiv:2205.14105)
    State      labels z in {0, 1}^N and what follows from them, see `State`.
    Action     index of the vertex to flip. Any vertex, always.
    Peek       dC_i = sum_j w_ij (2 z_i - 1)(2 z_j - 1), the change of the cut if i is flipped.
               Flipping i negates dC_i and changes dC_j by -2 w_ij (2 z_i - 1)(2 z_j - 1) with z
               before the flip. (The paper's equation lacks the factor 2.)
    Reward     max(C - C*, 0) / scale, C* the best cut before the flip.
    Observed   per vertex: label, peek / scale, time since the last flip;
               global: the gap C - C* and the largest peek, both / scale.
    Scalings   `paper`: scale = |V|, time min(dt, 40) / 40, counted from the start for a vertex that
               was never flipped (as the published code does).
               `scale_free`: scale = s = sqrt(mean_i sum_j w_ij^2), the size of a typical local
               field, so that values do not shrink with |V|; times min(dt / (c |V|), 1) for c in
               TIME_SCALES, 1 if never flipped; the gap through -log1p.
               `one_time`: as `scale_free`, with one time, as the paper has.
               `budget`: as `scale_free`, and two more global observations: progress t / T, the part
               of the episode's T flips that is gone, and horizon log(T / 16 |V|), at least
               -log 8 and at most 0.
               `long`: as `budget`, and times that saturate later.
    Episode    ends when the caller says so (2 |V| flips in the paper).

A step touches the flipped vertex and its neighbours, whatever the number of vertices or edges.
Shape letters: N padded vertices, E padded directed edges.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap

from ecord_jax.env.types import (
    TIME_SCALES,
    UNLIMITED,
    Observation,
    Scaling,
    State,
    sees_budget,
)
from ecord_jax.graphs.arrays import GraphArrays

__all__ = [
    "HORIZON_RANGE",
    "HORIZON_UNIT",
    "NEVER",
    "PAPER_TIME_CLIP",
    "num_blocks",
    "observe",
    "observe_global",
    "observe_vertices",
    "reset",
    "scale",
    "step",
    "step_and_look",
    "time_spans",
]

NEVER = -(1 << 30)
PAPER_TIME_CLIP = 40
# Flips a vertex of an episode with horizon 0, and how many times shorter one may look. Longer ones
# look like it: an agent's training knows none, and what it made of them would be chance.
HORIZON_UNIT, HORIZON_RANGE = 16.0, 8.0


def reset(arrays: GraphArrays, labels: jax.Array, budget: jax.Array | int = UNLIMITED) -> State:
    """Starts an episode from given labels; peeks and cut are computed from scratch in O(E).

    Args:
        arrays: the graph.
        labels: [N] of any integer or boolean type, 0 or 1; entries of padding are ignored.
        budget: int32 [], flips of the whole episode; only looked at by whom they are told.

    Returns:
        State at step 0 whose best cut is the cut of `labels`.
    """
    labels = jnp.where(arrays.vertex_mask, labels, 0).astype(jnp.int8)
    sides = _side(labels)
    graph = arrays.graph
    agreement = graph.edges * sides[graph.senders] * sides[graph.receivers]
    peeks = jax.ops.segment_sum(
        agreement, graph.receivers, num_segments=labels.shape[0], indices_are_sorted=True
    )
    # An edge is cut where the sides disagree; each stands twice.
    cut = (graph.edges - agreement).sum() / 4
    zero = jnp.zeros((), jnp.int32)
    return State(
        labels=labels,
        peeks=peeks,
        last_flip=jnp.full(labels.shape, NEVER, jnp.int32),
        step=zero,
        budget=jnp.asarray(budget, jnp.int32),
        cut=cut,
        best_cut=cut,
        best_step=zero,
    )


def step(
    arrays: GraphArrays, state: State, action: jax.Array, *, scaling: Scaling = "paper"
) -> tuple[State, jax.Array]:
    """Flips one vertex.

    Args:
        arrays: the graph.
        state: the state before.
        action: int32 [], the vertex, below `arrays.num_vertices`.
        scaling: unit of the reward.

    Returns:
        The state after, and the reward float32 [] (equation of section 3.2).
    """
    after, reward, _ = step_and_look(arrays, state, action, scaling=scaling)
    return after, reward


def step_and_look(
    arrays: GraphArrays, state: State, action: jax.Array, *, scaling: Scaling = "paper"
) -> tuple[State, jax.Array, tuple[jax.Array, ...]]:
    """As `step`; gives also what was observed of the vertex before the flip, F numbers [].

    Every array that is written is so with values that were read from it, and by all that read it:
    whatever XLA knows to come before the write needs no copy of the array, and nothing else does.
    """
    gain, flipped = state.peeks[action], state.last_flip[action]
    cut, now = state.cut + gain, state.step + 1
    better = cut > state.best_cut
    peeks, label = _spread_row(arrays, state, action, gain)
    after = State(
        labels=state.labels.at[action].add(1 - 2 * label),
        peeks=peeks,
        last_flip=state.last_flip.at[action].add(now - flipped),
        step=now,
        budget=state.budget,
        cut=cut,
        best_cut=jnp.where(better, cut, state.best_cut),
        best_step=jnp.where(better, now, state.best_step),
    )
    reward = jnp.maximum(cut - state.best_cut, 0.0) / scale(arrays, scaling)
    return after, reward, _features(arrays, label, gain, flipped, state.step, scaling)


def observe(arrays: GraphArrays, state: State, *, scaling: Scaling = "paper") -> Observation:
    """The observation of a state in the given scaling; see the module's specification."""
    return Observation(
        features=_features(arrays, state.labels, state.peeks, state.last_flip, state.step, scaling),
        globals=observe_global(arrays, state, scaling=scaling),
        mask=arrays.vertex_mask,
    )


def _features(
    arrays: GraphArrays,
    labels: jax.Array,
    peeks: jax.Array,
    last_flip: jax.Array,
    step: jax.Array,
    scaling: Scaling,
) -> tuple[jax.Array, ...]:
    """Label, peek and times of vertices, in arrays of any one shape."""
    elapsed = (step - last_flip).astype(jnp.float32)
    if scaling == "paper":
        elapsed = jnp.minimum(elapsed, step)  # never flipped: counted from the start
    times = [jnp.minimum(elapsed / s, 1.0) for s in time_spans(arrays.num_vertices, scaling)]
    return (labels.astype(jnp.float32), peeks / scale(arrays, scaling), *times)


def observe_vertices(
    arrays: GraphArrays, state: State, vertices: jax.Array, *, scaling: Scaling = "paper"
) -> tuple[jax.Array, ...]:
    """The per-vertex part of `observe` for some vertices only.

    Args:
        arrays: the graph.
        state: the state.
        vertices: int32 [...], which.
        scaling: of the features.

    Returns:
        F arrays float32 [...].
    """
    labels, peeks, flips = (x[vertices] for x in (state.labels, state.peeks, state.last_flip))
    return _features(arrays, labels, peeks, flips, state.step, scaling)


def observe_global(arrays: GraphArrays, state: State, *, scaling: Scaling = "paper") -> jax.Array:
    """float32 [G]: the global part of `observe`, for those who need no more."""
    unit = scale(arrays, scaling)
    gap = (state.cut - state.best_cut) / unit
    if scaling != "paper":
        gap = -jnp.log1p(-gap)
    peek = jnp.max(state.peeks, where=arrays.vertex_mask, initial=-jnp.inf) / unit
    if not sees_budget(scaling):
        return jnp.stack([gap, peek])
    progress = jnp.minimum(state.step / state.budget, 1.0)
    length = state.budget / (HORIZON_UNIT * arrays.num_vertices)
    horizon = jnp.log(jnp.clip(length, 1 / HORIZON_RANGE, 1.0))
    return jnp.stack([gap, peek, progress, horizon])


def scale(arrays: GraphArrays, scaling: Scaling) -> jax.Array:
    """float32 [], the unit in which peeks, gap and reward are observed."""
    if scaling == "paper":
        return arrays.num_vertices.astype(jnp.float32)
    return arrays.field_scale


def time_spans(num_vertices: Any, scaling: Scaling) -> list[Any]:
    """Steps after a flip at which each of the observed times saturates."""
    if scaling == "paper":
        return [float(PAPER_TIME_CLIP)]
    return [c * num_vertices for c in TIME_SCALES[scaling]]


def _side(labels: jax.Array) -> jax.Array:
    return 2.0 * labels.astype(jnp.float32) - 1.0


def _spread_row(
    arrays: GraphArrays, state: State, action: jax.Array, gain: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Adds a flip's effect to the peeks of the vertex and its neighbours, `row_block` at a time.

    Returns:
        The peeks after, and the vertex's label before. One gather reads the labels of all, so that
        whoever writes the label has waited for it: XLA then needs no copy of the array.
    """
    graph, width = arrays.graph, arrays.row_block
    start, end = arrays.row_start[action], arrays.row_start[action + 1]
    size = state.peeks.shape[0]

    def spread_block(block: jax.Array | int, peeks: jax.Array) -> tuple[jax.Array, jax.Array]:
        edge = start + block * width + jnp.arange(width)
        inside = edge < end
        edge = jnp.where(inside, edge, 0)
        neighbour = graph.senders[edge]
        vertices = jnp.append(neighbour, action)
        labels = jax.lax.optimization_barrier(state.labels[vertices])
        sides = _side(labels)
        change = jnp.append(graph.edges[edge] * sides[:-1] * sides[-1], gain)
        # What lies outside the row, and the vertex in later blocks, is dropped: out of bounds.
        counts = jnp.append(inside, jnp.asarray(block) == 0)
        target = jnp.where(counts, vertices, size)
        return peeks.at[target].add(-2.0 * change, mode="drop"), labels[-1]

    if arrays.one_block:
        return spread_block(0, state.peeks)
    return jax.lax.fori_loop(
        0,
        num_blocks(arrays, action),
        lambda block, now: spread_block(block, now[0]),
        (state.peeks, state.labels[0]),
    )


def num_blocks(arrays: GraphArrays, action: jax.Array) -> jax.Array:
    """int32 [], turns of a loop over a vertex's neighbours by `row_block`; at least 1.

    Under vmap it is that of the vertex with the most, for all of a batch.
    """
    degree = arrays.row_start[action + 1] - arrays.row_start[action]
    return _longest(jnp.maximum((degree + arrays.row_block - 1) // arrays.row_block, 1))


@custom_vmap
def _longest(count: jax.Array) -> jax.Array:
    """`count`; under vmap the largest of the batch, for all of it.

    A loop's bound must not be batched: XLA would copy all peeks at each turn. Shorter rows add
    nothing in the turns that they do not need.
    """
    return count


@_longest.def_vmap
def _(axis_size, in_batched, count):
    return _longest(count.max(axis=0)), False
