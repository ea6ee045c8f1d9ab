"""The incremental step: scores are kept, and only those are computed anew that have changed.

Between two steps the observation of a vertex changes if it or a neighbour was flipped, and while
the time since its flip has not saturated. All else that enters a score is one vector a trajectory,
W_h h, and the globals. With these two as they were up to K - 1 steps ago a step looks again at

    the flipped vertex, its neighbours and, in the paper's scaling, the last 40 flips

whatever |V| is. Every K steps all vertices are scored anew. K = 1 is the plain step. In the paper's
scaling the observations of vertices are exact at any K after the first 40 steps, before which the
time of every vertex grows. Scale-free times, which saturate after up to 0.3 |V| steps, are
refreshed with the vector (and where a vertex is looked at for another reason): for K below 0.01 |V|
they are late by little. The RNN, if there is one, remembers every flip.

`ecord_jax.search.incremental_walk` is the same step for a CPU, held to this one by a test. Shape
letters: N padded vertices, W vertices looked at, L vertices a leaf, M leaves, T steps.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from ecord_jax.env import Scaling, observe, observe_global, observe_vertices, step_and_look
from ecord_jax.env.maxcut import PAPER_TIME_CLIP
from ecord_jax.errors import OptionError
from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.networks.agent import Agent, projected_memory, q_values, remember
from ecord_jax.networks.fast import Factored, advantages, columns
from ecord_jax.search.rollout import Carry, Record
from ecord_jax.search.sampling import TINY, invert

__all__ = ["Scores", "incremental_rollout", "recent_flips"]

_LEAF = 64


class Scores(NamedTuple):
    """What is kept between two steps.

    Attributes:
        q: float32 [M, L], the scores of vertices in rows of 64; -inf for padding.
        tops, sums: float32 [M], of each row the largest score and sum exp((q - largest) / T).
        projected: float32 [P], W_h h as of the last refresh.
        recent: int32 [R], the last flips, N for those that never were.
    """

    q: jax.Array
    tops: jax.Array
    sums: jax.Array
    projected: jax.Array
    recent: jax.Array


def recent_flips(scaling: Scaling) -> int:
    """R, how many of the last flips are looked at again in every step."""
    return PAPER_TIME_CLIP if scaling == "paper" else 0


def incremental_rollout(
    agent: Agent,
    arrays: GraphArrays,
    carry: Carry,
    key: jax.Array,
    *,
    num_steps: int,
    refresh_every: int,
    embeddings: Factored,
    temperature: jax.Array | float = 0.0,
    actions: jax.Array | None = None,
) -> tuple[Carry, Record, jax.Array]:
    """As `rollout`, by incremental steps; it begins with a refresh.

    Args:
        agent: of an `EcordConfig`.
        arrays: the graph, with `one_block`.
        carry: where to start.
        key: consumed; unused when `actions` are given.
        num_steps: T, a multiple of K.
        refresh_every: K.
        embeddings: `factor(agent, arrays)`.
        temperature: [], of the softmax.
        actions: int32 [T], to be taken instead.

    Returns:
        Where the trajectory stands, its record, and the scores float32 [N] that it is left with.

    Raises:
        OptionError: if K does not divide T, or a row of the graph takes several blocks.
    """
    if num_steps % refresh_every:
        raise OptionError(f"refresh_every={refresh_every} must divide num_steps={num_steps}")
    if not arrays.one_block:
        raise OptionError("incremental steps need arrays whose row_block holds the largest degree")
    rounds = (num_steps // refresh_every, refresh_every)
    draws = jax.random.uniform(key, rounds) if actions is None else jnp.zeros(rounds)
    forced = None if actions is None else actions.reshape(rounds)

    def one_step(carries, per_step):
        (carry, scores), (draw, action) = carries, per_step
        if action is None:
            action = _sample(draw, scores, temperature)
        carry, record = _flip(agent, arrays, embeddings, carry, action)
        scores = _look_again(agent, arrays, embeddings, carry, scores, action, temperature)
        return (carry, scores), record

    def one_round(carries, per_round):
        carry, recent, _ = carries
        scores = _refresh(agent, arrays, embeddings, carry, recent, temperature)
        (carry, scores), record = jax.lax.scan(one_step, (carry, scores), per_round)
        return (carry, scores.recent, scores.q.ravel()[:size]), record

    size = carry.state.labels.shape[0]
    recent = jnp.full(recent_flips(agent.config.scaling), size, jnp.int32)
    start = (carry, recent, jnp.zeros(size))
    (carry, _, scores), record = jax.lax.scan(one_round, start, (draws, forced))
    record = jax.tree.map(lambda x: x.reshape(num_steps, *x.shape[2:]), record)
    return carry, record, scores


def _flip(
    agent: Agent, arrays: GraphArrays, embeddings: Factored, carry: Carry, action: jax.Array
) -> tuple[Carry, Record]:
    scaling = agent.config.scaling
    state, reward, seen = step_and_look(arrays, carry.state, action, scaling=scaling)
    hidden = carry.hidden
    if hidden.size:
        after = observe_global(arrays, state, scaling=scaling)
        hidden = remember(agent, embeddings, action, jnp.stack(seen), after, hidden)
    return Carry(state, hidden), Record(action, reward, state.cut, None)


def _refresh(agent, arrays, embeddings, carry, recent, temperature) -> Scores:
    """Scores all vertices."""
    observation = observe(arrays, carry.state, scaling=agent.config.scaling)
    q = q_values(agent, embeddings, observation, carry.hidden)
    rows = jnp.pad(q, (0, -q.shape[0] % _LEAF), constant_values=-jnp.inf).reshape(-1, _LEAF)
    projected = projected_memory(agent, observation.globals, carry.hidden)
    return Scores(rows, *_sum(rows, temperature), projected, recent)


def _look_again(agent, arrays, embeddings, carry, scores, action, temperature) -> Scores:
    """Scores the vertices anew whose observation a flip has changed."""
    size = carry.state.labels.shape[0]
    recent = scores.recent
    if recent.size:
        recent = recent.at[(carry.state.step - 1) % recent.size].set(action)
    edge = arrays.row_start[action] + jnp.arange(arrays.row_block)
    inside = edge < arrays.row_start[action + 1]
    neighbours = jnp.where(inside, arrays.graph.senders[jnp.where(inside, edge, 0)], size)
    vertices = jnp.concatenate([action[None], neighbours, recent])
    read = jnp.minimum(vertices, size - 1)
    some = embeddings._replace(
        static=columns(embeddings.static, read),
        **{name: getattr(embeddings, name)[..., read] for name in _PER_VERTEX},
    )
    features = observe_vertices(arrays, carry.state, read, scaling=agent.config.scaling)
    row, column = jnp.divmod(vertices, _LEAF)
    row = jnp.where(vertices < size, row, scores.q.shape[0])
    q = scores.q.at[row, column].set(advantages(some, features, scores.projected), mode="drop")
    tops, sums = _sum(q[jnp.minimum(row, q.shape[0] - 1)], temperature)
    return Scores(
        q,
        scores.tops.at[row].set(tops, mode="drop"),
        scores.sums.at[row].set(sums, mode="drop"),
        scores.projected,
        recent,
    )


_PER_VERTEX = ("square", "observed_products", "memory_products", "linear")


def _sum(rows: jax.Array, temperature: jax.Array | float) -> tuple[jax.Array, jax.Array]:
    """Of each row [., L] the largest score and the sum of weights relative to it."""
    tops = rows.max(axis=-1)
    # A row of padding has no largest score: any will do, its weights are 0.
    reference = jnp.where(tops == -jnp.inf, 0.0, tops)
    weights = jnp.exp((rows - reference[..., None]) / jnp.maximum(temperature, TINY))
    return tops, weights.sum(axis=-1)


def _sample(draw: jax.Array, scores: Scores, temperature: jax.Array | float) -> jax.Array:
    """As `sample_softmax`, from sums that are known."""
    coldness = 1 / jnp.maximum(temperature, TINY)
    weights = scores.sums * jnp.exp((scores.tops - scores.tops.max()) * coldness)
    row, rest = invert(weights, draw * jnp.cumsum(weights)[-1])
    share = jnp.exp((scores.tops[row] - scores.tops.max()) * coldness)
    column, _ = invert(jnp.exp((scores.q[row] - scores.tops[row]) * coldness), rest / share)
    return (row * _LEAF + column).astype(jnp.int32)
