"""The one rollout: policy step and environment step, scanned.

Acting, BPTT replay and solving all call `rollout`; it describes one trajectory, to be vmapped.
Shape letters: N padded vertices, T steps, H hidden width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ecord_jax.env import State, observe, observe_global, step_and_look
from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.networks.agent import Agent, encode, q_values, remember
from ecord_jax.search.sampling import sample_softmax

__all__ = ["Carry", "Record", "flipped_labels", "rollout"]


class Carry(NamedTuple):
    """Where a trajectory stands.

    Attributes:
        state: of the environment.
        hidden: float32 [H], of the RNN.
    """

    state: State
    hidden: jax.Array


class Record(NamedTuple):
    """What a rollout leaves behind, stacked over steps.

    Attributes:
        action: int32 [T], the vertices flipped.
        reward: float32 [T].
        cut: float32 [T], the cut after each flip, in device units.
        extra: whatever `record` made of each step, or None.
    """

    action: jax.Array
    reward: jax.Array
    cut: jax.Array
    extra: Any


def rollout(
    agent: Agent,
    arrays: GraphArrays,
    carry: Carry,
    key: jax.Array,
    *,
    num_steps: int,
    temperature: jax.Array | float = 0.0,
    epsilon: jax.Array | float = 0.0,
    actions: jax.Array | None = None,
    embeddings: Any = None,
    record: Callable[[Carry, jax.Array, jax.Array], Any] | None = None,
) -> tuple[Carry, Record]:
    """Lets the agent flip vertices, or flips the given ones under its eyes.

    Args:
        agent: whose Q-values and memory are used.
        arrays: the graph.
        carry: where to start.
        key: consumed; unused (any key will do) when `actions` are given.
        num_steps: T.
        temperature: [], actions follow softmax(Q / temperature); 0 is greedy, ties at random.
        epsilon: [], probability of a uniformly random vertex instead (Algorithm 1).
        actions: int32 [T], to be taken instead (replay).
        embeddings: `encode(agent, arrays)` or, for a faster step whose Q-values lack MLP_V(h),
            `factor(agent, arrays)`; the first if not given.
        record: (carry before the flip, Q-values [N], action) -> pytree, kept in `Record.extra`.

    Returns:
        Where the trajectory stands after T steps, and its record.
    """
    if embeddings is None:
        embeddings = encode(agent, arrays)
    scaling = agent.config.scaling
    # One draw for the whole trajectory: three numbers a step, none a vertex.
    draws = jax.random.uniform(key, (num_steps, 3)) if actions is None else None

    def judge(carry: Carry) -> jax.Array:
        observation = observe(arrays, carry.state, scaling=scaling)
        return q_values(agent, embeddings, observation, carry.hidden)

    def body(carries: tuple[Carry, jax.Array], per_step) -> tuple[tuple[Carry, jax.Array], Record]:
        (carry, q), (forced, draw) = carries, per_step
        if forced is None:
            action = _choose(q, draw, temperature, epsilon, arrays.num_vertices)
        else:
            action = forced
        state, reward, seen = step_and_look(arrays, carry.state, action, scaling=scaling)
        hidden = carry.hidden
        if hidden.size:
            globals_ = observe_global(arrays, state, scaling=scaling)
            hidden = remember(agent, embeddings, action, jnp.stack(seen), globals_, hidden)
        extra = None if record is None else record(carry, q, action)
        after = Carry(state, hidden)
        return (after, judge(after)), Record(action, reward, state.cut, extra)

    # Q-values are handed to the next step, where they are used: within one step XLA would compute
    # parts of them again wherever they are read.
    (carry, _), records = jax.lax.scan(
        body, (carry, judge(carry)), (actions, draws), length=num_steps
    )
    return carry, records


def _choose(q, draw, temperature, epsilon, num_vertices) -> jax.Array:
    """Epsilon-greedy around softmax(q / temperature), from three uniform numbers."""
    soft = sample_softmax(draw[0], q, temperature)
    anywhere = jnp.floor(draw[1] * num_vertices).astype(jnp.int32)
    return jnp.where(draw[2] < epsilon, jnp.minimum(anywhere, num_vertices - 1), soft)


def flipped_labels(labels: jax.Array, actions: jax.Array, count: jax.Array) -> jax.Array:
    """The labels after the first `count` of the recorded flips.

    Args:
        labels: int8 [N], before the first flip.
        actions: int32 [T].
        count: int32 [].

    Returns:
        int8 [N].
    """
    done = (jnp.arange(actions.shape[0]) < count).astype(jnp.int32)
    flips = jnp.zeros(labels.shape, jnp.int32).at[actions].add(done)
    return labels ^ (flips & 1).astype(labels.dtype)
