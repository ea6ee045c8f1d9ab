"""What chooses and makes flips, in a form that benchmarks can time: `POLICIES` by name.

Shape letters: B trajectories, N vertices, H hidden width.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ecord_jax.baselines import eco_dqn
from ecord_jax.env import reset
from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.networks.agent import Agent, encode, initial_hidden
from ecord_jax.search.rollout import Carry, rollout

__all__ = ["POLICIES", "Stepper"]

_TEMPERATURE = 0.01


class Stepper:
    """Trajectories that go on for some steps at each call, from where they stood.

    Args:
        go_on: (tables, state, key, num_steps) -> the state after; compiled for each number of
            steps, its state is donated.
        tables: what stays as it is: graph, parameters.
        state: leaves [B, ...].
        key: consumed.
    """

    def __init__(self, go_on: Callable[..., Any], tables: Any, state: Any, key: jax.Array) -> None:
        self._go_on = jax.jit(go_on, static_argnames="num_steps", donate_argnums=1)
        self._tables, self._key = tables, key
        # A donated state may not hold one buffer twice.
        self._state = jax.tree.map(jnp.copy, state)

    def run(self, num_steps: int) -> None:
        """Returns when the steps are done."""
        self._key, key = jax.random.split(self._key)
        after = self._go_on(self._tables, self._state, key, num_steps=num_steps)
        self._state = jax.block_until_ready(after)

    @property
    def state_bytes(self) -> int:
        """Of what is kept between steps."""
        return sum(leaf.nbytes for leaf in jax.tree.leaves(self._state))

    def step_bytes(self) -> int:
        """Of the most that a compiled step holds at a time, its tables left out."""
        lowered = self._go_on.lower(self._tables, self._state, self._key, num_steps=2)
        account = lowered.compile().memory_analysis()
        return account.temp_size_in_bytes + account.output_size_in_bytes


def _random_labels(arrays: GraphArrays, trajectories: int, key: jax.Array) -> jax.Array:
    shape = (trajectories, arrays.row_start.shape[0] - 1)
    return jax.random.bernoulli(key, shape=shape).astype(jnp.int8)


def _rollout(
    agent: Agent,
    arrays: GraphArrays,
    trajectories: int,
    key: jax.Array,
    encode: Callable[[Agent, GraphArrays], Any],
) -> Stepper:
    """`ecord_jax.search.rollout`, vmapped; the tables that `encode` makes are shared."""
    labels = _random_labels(arrays, trajectories, key)
    hidden = jnp.tile(initial_hidden(agent), (trajectories, 1))
    carry = Carry(jax.jit(jax.vmap(reset, (None, 0)))(arrays, labels), hidden)

    def go_on(tables: Any, carry: Carry, key: jax.Array, num_steps: int) -> Carry:
        agent, arrays, embeddings = tables
        go_on_one = functools.partial(rollout, agent, arrays, num_steps=num_steps)

        def one(carry: Carry, key: jax.Array) -> Carry:
            return go_on_one(carry, key, temperature=_TEMPERATURE, embeddings=embeddings)[0]

        return jax.vmap(one)(carry, jax.random.split(key, trajectories))

    return Stepper(go_on, (agent, arrays, jax.jit(encode)(agent, arrays)), carry, key)


def _fast(agent: Agent, arrays: GraphArrays, trajectories: int, key: jax.Array) -> Stepper:
    from ecord_jax.networks.agent import factor

    return _rollout(agent, arrays, trajectories, key, factor)


def _eco_dqn(agent: Agent, arrays: GraphArrays, trajectories: int, key: jax.Array) -> Stepper:
    config = eco_dqn.EcoConfig()
    params = eco_dqn.init_params(config, arrays, key)
    labels = _random_labels(arrays, trajectories, key)
    states = jax.jit(jax.vmap(eco_dqn.reset, (None, 0)))(arrays, labels)

    def go_on(tables: Any, states: eco_dqn.EcoState, key: jax.Array, num_steps: int) -> Any:
        params, arrays = tables
        return eco_dqn.rollout(params, config, arrays, states, key, num_steps=num_steps)[0]

    return Stepper(go_on, (params, arrays), states, key)


def _gru(agent: Agent, arrays: GraphArrays, trajectories: int, key: jax.Array) -> Stepper:
    """The bare product [B, H] [H, 3 H]: the floor of a step with the RNN."""
    width = getattr(agent.config, "hidden", 1024)

    def go_on(weights: jax.Array, hidden: jax.Array, key: jax.Array, num_steps: int) -> jax.Array:
        def product(hidden: jax.Array, _: None) -> tuple[jax.Array, None]:
            # Each depends on the one before and on all columns, or XLA would leave some out.
            return sum(jnp.split(hidden @ weights, 3, axis=-1)), None

        return jax.lax.scan(product, hidden, length=num_steps)[0]

    weights = jax.random.normal(key, (width, 3 * width)) / (2 * width)  # shrinks what it maps
    return Stepper(go_on, weights, jax.random.normal(key, (trajectories, width)), key)


# (agent, graph, trajectories, key) -> Stepper
POLICIES: dict[str, Callable[[Agent, GraphArrays, int, jax.Array], Stepper]] = {
    "plain": functools.partial(_rollout, encode=encode),
    "fast": _fast,
    "eco-dqn": _eco_dqn,
    "gru": _gru,
}
