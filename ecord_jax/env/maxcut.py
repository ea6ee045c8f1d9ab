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
    Episode    ends when the caller says so (2 |V| flips in the paper).

A step touches the flipped vertex and its neighbours, whatever the number of vertices or edges.
Shape letters: N padded vertices, E padded directed edges.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap

from ecord_jax.env.types import TIME_SCALES, Observation, Scaling, State
from ecord_jax.graphs.arrays import GraphArrays

__all__ = ["NEVER", "observe", "observe_global", "reset", "step"]

NEVER = -(1 << 30)
_PAPER_TIME_CLIP = 40.0


def reset(arrays: GraphArrays, labels: jax.Array) -> State:
    """Starts an episode from given labels; peeks and cut are computed from scratch in O(E).

    Args:
        arrays: the graph.
        labels: [N] of any integer or boolean type, 0 or 1; entries of padding are ignored.

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
    gain = state.peeks[action]
    cut, now = state.cut + gain, state.step + 1
    better = cut > state.best_cut
    after = State(
        labels=state.labels.at[action].set(1 - state.labels[action]),
        peeks=_spread_row(arrays, state, action).at[action].set(-gain),
        last_flip=state.last_flip.at[action].set(now),
        step=now,
        cut=cut,
        best_cut=jnp.where(better, cut, state.best_cut),
        best_step=jnp.where(better, now, state.best_step),
    )
    reward = jnp.maximum(cut - state.best_cut, 0.0) / _scale(arrays, scaling)
    return after, reward


def observe(arrays: GraphArrays, state: State, *, scaling: Scaling = "paper") -> Observation:
    """The observation of a state in the given scaling; see the module's specification."""
    elapsed = (state.step - state.last_flip).astype(jnp.float32)
    if scaling == "paper":
        elapsed = jnp.minimum(elapsed, state.step)  # never flipped: counted from the start
        times = [jnp.minimum(elapsed, _PAPER_TIME_CLIP) / _PAPER_TIME_CLIP]
    else:
        elapsed = elapsed / arrays.num_vertices
        times = [jnp.minimum(elapsed / c, 1.0) for c in TIME_SCALES]
    peeks = state.peeks / _scale(arrays, scaling)
    return Observation(
        vertex=jnp.stack([state.labels.astype(jnp.float32), peeks, *times], axis=-1),
        globals=observe_global(arrays, state, scaling=scaling),
        mask=arrays.vertex_mask,
    )


def observe_global(arrays: GraphArrays, state: State, *, scaling: Scaling = "paper") -> jax.Array:
    """float32 [2]: the global part of `observe`, for those who need no more."""
    scale = _scale(arrays, scaling)
    gap = (state.cut - state.best_cut) / scale
    if scaling == "scale_free":
        gap = -jnp.log1p(-gap)
    peek = jnp.max(state.peeks, where=arrays.vertex_mask, initial=-jnp.inf) / scale
    return jnp.stack([gap, peek])


def _scale(arrays: GraphArrays, scaling: Scaling) -> jax.Array:
    if scaling == "paper":
        return arrays.num_vertices.astype(jnp.float32)
    return arrays.field_scale


def _side(labels: jax.Array) -> jax.Array:
    return 2.0 * labels.astype(jnp.float32) - 1.0


def _spread_row(arrays: GraphArrays, state: State, action: jax.Array) -> jax.Array:
    """Adds a flip's effect to the peeks of the vertex's neighbours, `row_block` at a time."""
    graph, width = arrays.graph, arrays.row_block
    start, end = arrays.row_start[action], arrays.row_start[action + 1]
    side = _side(state.labels[action])

    def spread_block(block: jax.Array | int, peeks: jax.Array) -> jax.Array:
        edge = start + block * width + jnp.arange(width)
        inside = edge < end
        edge = jnp.where(inside, edge, 0)
        neighbour = graph.senders[edge]
        change = -2.0 * graph.edges[edge] * side * _side(state.labels[neighbour])
        # What lies outside the row is sent out of bounds and dropped.
        neighbour = jnp.where(inside, neighbour, peeks.shape[0])
        return peeks.at[neighbour].add(change, mode="drop")

    if arrays.one_block:
        return spread_block(0, state.peeks)
    blocks = _longest((end - start + width - 1) // width)
    return jax.lax.fori_loop(0, blocks, spread_block, state.peeks)


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
