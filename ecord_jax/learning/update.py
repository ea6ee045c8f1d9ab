"""One update: act, store, sample, descend, follow. Pure; the caller jits it and donates the state.

Shape letters: B trajectories (one a graph), N vertices, H hidden width.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import struct

from ecord_jax.env import reset
from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.graphs.generators import sample_graph
from ecord_jax.learning.config import TrainConfig
from ecord_jax.learning.loss import batch_loss
from ecord_jax.learning.replay import Transition, cut_window, make_buffer
from ecord_jax.networks.agent import Agent, init_agent, initial_hidden
from ecord_jax.search.rollout import Carry, rollout

__all__ = ["TrainState", "act", "epsilon", "init_train_state", "optimiser", "update"]


@struct.dataclass
class TrainState:
    """Everything that a run needs to go on.

    Attributes:
        agent: the agent that acts and learns.
        target_params: its slow copy.
        opt_state: of `optimiser(config)`.
        replay: flashbax buffer state, see `make_buffer`.
        pool: graphs that replay and trajectories refer to, stacked [slots * B].
        carry: the B trajectories.
        slot: int32 [], which part of the pool the trajectories are on.
        steps: int32 [], environment steps done.
        key: for what comes next.
    """

    agent: Agent
    target_params: Any
    opt_state: Any
    replay: Any
    pool: GraphArrays
    carry: Carry
    slot: jax.Array
    steps: jax.Array
    key: jax.Array


def optimiser(config: TrainConfig) -> optax.GradientTransformation:
    """Adam with a cosine decay of the learning rate."""
    final = config.final_learning_rate / config.learning_rate
    return optax.adam(optax.cosine_decay_schedule(config.learning_rate, config.num_updates, final))


def epsilon(config: TrainConfig, steps: jax.Array) -> jax.Array:
    """Exploration probability after `steps` environment steps."""
    progress = jnp.minimum(steps / max(config.epsilon_steps, 1), 1.0)
    return config.epsilon_start + progress * (config.epsilon_end - config.epsilon_start)


def _new_graphs(config: TrainConfig, key: jax.Array) -> GraphArrays:
    keys = jax.random.split(key, config.num_graphs)
    return jax.vmap(lambda k: sample_graph(config.graphs, k))(keys)


def _budgets(config: TrainConfig, key: jax.Array) -> jax.Array:
    """int32 [B], flips of new episodes: whole rounds, log-uniform."""
    spread = jax.random.uniform(jax.random.fold_in(key, 1), (config.num_graphs,))
    rounds = jnp.floor((config.most_rounds + 1.0) ** spread).astype(jnp.int32)
    return config.episode_length * jnp.clip(rounds, 1, config.most_rounds)


def _new_carry(config: TrainConfig, agent: Agent, graphs: GraphArrays, key: jax.Array) -> Carry:
    """Random start labels on each graph."""
    size, n = graphs.num_vertices.shape[0], graphs.row_start.shape[-1] - 1
    labels = jax.random.bernoulli(key, shape=(size, n)).astype(jnp.int8)
    hidden = jnp.tile(initial_hidden(agent), (size, 1))
    return Carry(jax.vmap(reset)(graphs, labels, _budgets(config, key)), hidden)


def init_train_state(config: TrainConfig) -> TrainState:
    """The state before the first update."""
    agent_key, graph_key, label_key, key = jax.random.split(jax.random.key(config.seed), 4)
    graphs = _new_graphs(config, graph_key)
    agent = init_agent(config.network, jax.tree.map(lambda x: x[0], graphs), agent_key)
    carry = _new_carry(config, agent, graphs, label_key)
    example = Transition(
        graph=jnp.zeros((), jnp.int32),
        carry=jax.tree.map(lambda x: x[0], carry),
        action=jnp.zeros((), jnp.int32),
    )
    train = TrainState(
        agent=agent,
        target_params=agent.params,
        opt_state=optimiser(config).init(agent.params),
        replay=make_buffer(config).init(example),
        pool=jax.tree.map(lambda x: jnp.concatenate([x] * config.pool_slots), graphs),
        carry=carry,
        slot=jnp.zeros((), jnp.int32),
        steps=jnp.zeros((), jnp.int32),
        key=key,
    )
    # A donated state may not hold one buffer twice.
    return jax.tree.map(jnp.copy, train)


def _start_episodes(config: TrainConfig, agent: Agent, pool, carry: Carry, slot, key):
    """The next round, its graphs in the next slot of the pool.

    Where an episode is over the next one begins: on a new graph, or on the same one from where the
    last one ended.
    """
    graph_key, label_key, continue_key = jax.random.split(key, 3)
    size = config.num_graphs
    running = carry.state.step < carry.state.budget
    stays = running | jax.random.bernoulli(continue_key, config.continued, (size,))

    def choose(which: jax.Array, old: Any, new: Any) -> Any:
        def either(x: jax.Array, y: jax.Array) -> jax.Array:
            return jnp.where(which.reshape(-1, *[1] * (y.ndim - 1)), x, y)

        return jax.tree.map(either, old, new)

    old = jax.tree.map(lambda x: jax.lax.dynamic_slice_in_dim(x, slot * size, size), pool)
    graphs = choose(stays, old, _new_graphs(config, graph_key))
    new = _new_carry(config, agent, graphs, label_key)
    state = carry.state
    again = dataclasses.replace(
        jax.vmap(reset)(old, state.labels, new.state.budget),
        last_flip=state.last_flip - state.step[:, None],
    )
    started = choose(stays, Carry(again, carry.hidden), new)
    slot = (slot + 1) % config.pool_slots
    pool = jax.tree.map(
        lambda x, part: jax.lax.dynamic_update_slice_in_dim(x, part, slot * size, 0), pool, graphs
    )
    return pool, choose(running, carry, started), slot


def act(config: TrainConfig, train: TrainState) -> tuple[TrainState, dict[str, jax.Array]]:
    """`update_every` steps of every trajectory, stored; after a round others begin before."""
    episode_key, act_key, key = jax.random.split(train.key, 3)
    first = train.carry.state.step[0]  # all rounds end together
    pool, carry, slot = jax.lax.cond(
        (first > 0) & (first % config.episode_length == 0),
        lambda pool, carry, slot: _start_episodes(
            config, train.agent, pool, carry, slot, episode_key
        ),
        lambda pool, carry, slot: (pool, carry, slot),
        train.pool,
        train.carry,
        train.slot,
    )
    index = slot * config.num_graphs + jnp.arange(config.num_graphs, dtype=jnp.int32)
    temperature = 0.0 if config.algorithm == "dqn" else config.temperature
    explore = epsilon(config, train.steps)

    def one(graph: jax.Array, carry: Carry, key: jax.Array):
        return rollout(
            train.agent,
            jax.tree.map(lambda x: x[graph], pool),
            carry,
            key,
            num_steps=config.update_every,
            temperature=temperature,
            epsilon=explore,
            record=lambda before, _, action: Transition(graph, before, action),
        )

    carry, record = jax.vmap(one)(index, carry, jax.random.split(act_key, config.num_graphs))
    train = dataclasses.replace(
        train,
        replay=make_buffer(config).add(train.replay, record.extra),
        pool=pool,
        carry=carry,
        slot=slot,
        steps=train.steps + config.update_every,
        key=key,
    )
    return train, {"reward": record.reward.mean(), "epsilon": explore}


def update(config: TrainConfig, train: TrainState) -> tuple[TrainState, dict[str, jax.Array]]:
    """One iteration of Algorithm 1's inner loop for all trajectories, with its gradient step.

    Args:
        config: static.
        train: the state; `act` must have filled at least one window before the first update.

    Returns:
        The state after, and scalar metrics: loss, q, target, gradient_norm, reward, epsilon.
    """
    train, metrics = act(config, train)
    sample_key, key = jax.random.split(train.key)
    sequences = make_buffer(config).sample(train.replay, sample_key).experience
    windows = jax.vmap(lambda sequence: cut_window(sequence, bptt=config.bptt))(sequences)
    target = dataclasses.replace(train.agent, params=train.target_params)

    def loss_of(params):
        agent = dataclasses.replace(train.agent, params=params)
        return batch_loss(agent, target, train.pool, windows, config=config)

    (loss, extra), gradient = jax.value_and_grad(loss_of, has_aux=True)(train.agent.params)
    steps, opt_state = optimiser(config).update(gradient, train.opt_state)
    params = optax.apply_updates(train.agent.params, steps)
    after = dataclasses.replace(
        train,
        agent=dataclasses.replace(train.agent, params=params),
        target_params=optax.incremental_update(params, train.target_params, config.soft_update),
        opt_state=opt_state,
        key=key,
    )
    norm = optax.tree.norm(gradient)
    return after, {**metrics, **extra, "loss": loss, "gradient_norm": norm}
