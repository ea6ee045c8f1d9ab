"""The Munchausen-DQN loss over replayed windows (arXiv:2007.14430; section 3.1 of the paper).

Shape letters: K replayed steps (k_BPTT), S steps of return, B windows, N vertices.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from ecord_jax.env import Observation, State, observe, step
from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.learning.config import TrainConfig
from ecord_jax.learning.replay import Window
from ecord_jax.networks.agent import Agent, encode, q_values, remember

__all__ = ["Terms", "batch_loss", "munchausen_terms", "returns", "window_loss"]


class Terms(NamedTuple):
    """What the target network's Q-values of a state add to a return.

    Attributes:
        bonus: Munchausen's alpha max(tau ln pi(a), l0) for the action taken there.
        entropy: -max(tau ln pi(a), l0), the entropy bonus of a state inside the return.
        value: the soft value E_pi[Q - tau ln pi] = tau ln sum exp(Q / tau), with which it ends.
    """

    bonus: jax.Array
    entropy: jax.Array
    value: jax.Array


def munchausen_terms(
    q: jax.Array, action: jax.Array, *, config: TrainConfig, num_vertices: jax.Array
) -> Terms:
    """The terms of one state; with `size_baseline` tau ln |V| is taken off entropy and value.

    Args:
        q: float32 [N], -inf for padding.
        action: int32 [], the action taken there.
        config: algorithm, temperature tau, alpha, l0.
        num_vertices: |V|.

    Returns:
        The terms; for plain DQN 0, 0 and max Q.
    """
    if config.algorithm == "dqn":
        return Terms(jnp.zeros(()), jnp.zeros(()), jnp.max(q))
    tau = config.temperature
    value = tau * jax.nn.logsumexp(q / tau)
    log_policy = jnp.clip(q[action] - value, config.munchausen_clip, 0.0)
    baseline = tau * jnp.log(num_vertices) if config.size_baseline else 0.0
    return Terms(config.munchausen * log_policy, -log_policy - baseline, value - baseline)


def returns(reward: jax.Array, terms: Terms, alive: jax.Array, *, config: TrainConfig) -> jax.Array:
    """S-step targets of the first K + 1 steps.

    The first step counts its reward and bonus. Later ones also count their entropy, as the soft
    value at the end does: without it a random action in the window would be held against the
    actions before it. For S = 1 this is the paper's target.

    Args:
        reward: float32 [K + S + 1].
        terms: leaves float32 [K + S + 1], of the states before the actions.
        alive: bool [K + S + 1], whether the episode still runs then.
        config: `n_step` S and discount.

    Returns:
        float32 [K + 1].
    """
    length = reward.shape[0] - config.n_step
    target = jnp.zeros(length)
    for i in range(config.n_step):
        gained = reward + terms.bonus + (terms.entropy if i else 0.0)
        target = target + config.discount**i * jnp.where(alive, gained, 0.0)[i : i + length]
    last = jnp.where(alive, terms.value, 0.0)[config.n_step :]
    return target + config.discount**config.n_step * last


def window_loss(
    agent: Agent, target: Agent, arrays: GraphArrays, window: Window, *, config: TrainConfig
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """The loss of one window: both networks replay it, the target's Q-values give the returns.

    The flips are known, so that the environment is replayed once, for both; only the memories go
    step by step, and only the states that count are judged, all at once.

    Args:
        agent: whose parameters are learned.
        target: no gradient.
        arrays: the window's graph.
        window: see `Window`; W = K + S.
        config: the run's.

    Returns:
        Loss [] and metrics: mean Q-value and target of the step learned from.
    """
    last_only = config.loss_steps == "last"
    first = window.learned if last_only else 0
    learned = 1 if last_only else config.bptt + 1  # steps from `first` on that have a loss
    judged = learned + config.n_step  # and steps that their returns need
    seen, reward = _replay(arrays, window, config)
    state = window.start.state
    alive = state.step + jnp.arange(config.window + 1) < state.budget

    def part(sequence: Any, size: int = judged) -> Any:
        cut = functools.partial(jax.lax.dynamic_slice_in_dim, start_index=first, slice_size=size)
        return jax.tree.map(cut, sequence)

    def judge(who: Agent, length: int, size: int) -> jax.Array:
        embeddings = encode(who, arrays)
        hidden = _memories(who, embeddings, seen, window, length)
        look = functools.partial(q_values, who, embeddings)
        return jax.vmap(look)(part(seen, size), part(hidden, size))

    actions = part(window.actions)
    q = judge(agent, config.bptt + 1, learned)
    taken = jnp.take_along_axis(q, actions[:learned, None], axis=1)[:, 0]
    terms = functools.partial(munchausen_terms, config=config, num_vertices=arrays.num_vertices)
    of_target = jax.vmap(terms)(judge(target, config.window + 1, judged), actions)
    wanted = returns(part(reward), of_target, part(alive), config=config)
    return _masked_loss(taken, jax.lax.stop_gradient(wanted), window.learned - first, config)


def _replay(
    arrays: GraphArrays, window: Window, config: TrainConfig
) -> tuple[Observation, jax.Array]:
    """Observations [W + 1, ..] of the window's states, and rewards [W + 1] of its flips."""
    scaling = config.network.scaling

    def body(state: State, action: jax.Array) -> tuple[State, Any]:
        after, reward = step(arrays, state, action, scaling=scaling)
        return after, (observe(arrays, state, scaling=scaling), reward)

    return jax.lax.scan(body, window.start.state, window.actions)[1]


def _memories(
    who: Agent, embeddings: Any, seen: Observation, window: Window, length: int
) -> jax.Array:
    """Hidden states [length, H] before the window's first flips."""

    def body(hidden: jax.Array, per_step: Any) -> tuple[jax.Array, jax.Array]:
        observation, action, next_globals = per_step
        features = jnp.stack([feature[action] for feature in observation.features])
        return remember(who, embeddings, action, features, next_globals, hidden), hidden

    steps = jax.tree.map(lambda leaf: leaf[: length - 1], (seen, window.actions))
    last, before = jax.lax.scan(body, window.start.hidden, (*steps, seen.globals[1:length]))
    return jnp.concatenate([before, last[None]])


def _masked_loss(taken, wanted, learned, config):
    counts = jnp.arange(taken.shape[0]) <= learned
    pointwise = optax.huber_loss if config.loss == "huber" else optax.squared_error
    loss = jnp.mean(pointwise(taken, wanted), where=counts)
    return loss, {"q": taken[learned], "target": wanted[learned]}


def batch_loss(
    agent: Agent, target: Agent, pool: GraphArrays, windows: Window, *, config: TrainConfig
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """Mean of `window_loss` over a batch.

    Args:
        pool: the graphs that `windows.graph` indexes, stacked.
        windows: leaves [B, ...].
    """

    def one(window: Window):
        arrays = jax.tree.map(lambda leaf: leaf[window.graph], pool)
        return window_loss(agent, target, arrays, window, config=config)

    return jax.tree.map(jnp.mean, jax.vmap(one)(windows))
