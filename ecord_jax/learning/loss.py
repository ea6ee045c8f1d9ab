"""The Munchausen-DQN loss over replayed windows (arXiv:2007.14430; section 3.1 of the paper).

Shape letters: K replayed steps (k_BPTT), S steps of return, B windows, N vertices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.learning.config import TrainConfig
from ecord_jax.learning.replay import Window
from ecord_jax.networks.agent import Agent
from ecord_jax.search.rollout import rollout

__all__ = ["Terms", "batch_loss", "munchausen_terms", "returns", "window_loss"]

_UNUSED_KEY = 0  # replayed actions are given: nothing is drawn


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

    Args:
        agent: whose parameters are learned.
        target: no gradient.
        arrays: the window's graph.
        window: see `Window`; W = K + S.
        config: the run's.

    Returns:
        Loss [] and metrics: mean Q-value and target of the step learned from.
    """

    def replay(who: Agent, steps: int, record: Any) -> Any:
        return rollout(
            who,
            arrays,
            window.start,
            jax.random.key(_UNUSED_KEY),
            num_steps=steps,
            actions=window.actions[:steps],
            record=record,
        )[1]

    taken = replay(agent, config.bptt + 1, lambda _, q, action: q[action]).extra
    judged = replay(
        target,
        config.window + 1,
        lambda _, q, action: munchausen_terms(
            q, action, config=config, num_vertices=arrays.num_vertices
        ),
    )
    alive = window.start.state.step + jnp.arange(config.window + 1) < config.episode_length
    wanted = returns(judged.reward, judged.extra, alive, config=config)
    return _masked_loss(taken, jax.lax.stop_gradient(wanted), window.learned, config)


def _masked_loss(taken, wanted, learned, config):
    steps = jnp.arange(taken.shape[0])
    counts = steps == learned if config.loss_steps == "last" else steps <= learned
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
