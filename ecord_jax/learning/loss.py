"""The Munchausen-DQN loss over replayed windows (arXiv:2007.14430; section 3.1 of the paper).

Shape letters: K replayed steps (k_BPTT), S steps of return, B windows, N vertices.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax

from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.learning.config import TrainConfig
from ecord_jax.learning.replay import Window
from ecord_jax.networks.agent import Agent
from ecord_jax.search.rollout import rollout

__all__ = ["batch_loss", "munchausen_terms", "returns", "window_loss"]

_UNUSED_KEY = 0  # replayed actions are given: nothing is drawn


def munchausen_terms(
    q: jax.Array, action: jax.Array, *, config: TrainConfig, num_vertices: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """What the target network's Q-values of a state add to the return.

    Args:
        q: float32 [N], -inf for padding.
        action: int32 [], the action taken there.
        config: algorithm, temperature tau, alpha, l0.
        num_vertices: |V|.

    Returns:
        The bonus alpha max(tau ln pi(a), l0), and the soft value
        E_pi[Q - tau ln pi] = tau ln sum exp(Q / tau). Plain DQN: 0 and max Q.
    """
    if config.algorithm == "dqn":
        return jnp.zeros(()), jnp.max(q)
    tau = config.temperature
    value = tau * jax.nn.logsumexp(q / tau)
    bonus = config.munchausen * jnp.clip(q[action] - value, config.munchausen_clip, 0.0)
    if config.size_baseline:
        value = value - tau * jnp.log(num_vertices)
    return bonus, value


def returns(
    reward: jax.Array, bonus: jax.Array, value: jax.Array, alive: jax.Array, *, config: TrainConfig
) -> jax.Array:
    """S-step targets of the first K + 1 steps.

    Args:
        reward: float32 [K + S + 1].
        bonus: float32 [K + S + 1], of the actions.
        value: float32 [K + S + 1], of the states before them.
        alive: bool [K + S + 1], whether the episode still runs then.
        config: `n_step` S and discount.

    Returns:
        float32 [K + 1].
    """
    length = reward.shape[0] - config.n_step
    target = jnp.zeros(length)
    for i in range(config.n_step):
        gained = jnp.where(alive, reward + bonus, 0.0)[i : i + length]
        target = target + config.discount**i * gained
    last = jnp.where(alive, value, 0.0)[config.n_step :]
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
    bonus, value = judged.extra
    wanted = returns(judged.reward, bonus, value, alive, config=config)
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
