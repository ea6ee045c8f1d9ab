"""What chooses and makes flips, in a form that benchmarks can time: `POLICIES` by name.

Shape letters: B trajectories, N vertices, H hidden width.
"""

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.baselines import eco_dqn
from ecord_jax.env import reset
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import GraphArrays, to_arrays
from ecord_jax.networks.agent import Agent, encode, factor, initial_hidden
from ecord_jax.search.walks import num_processors
from ecord_jax.search.incremental import incremental_rollout
from ecord_jax.search.incremental_host import (
    OWN,
    IncrementalWalk,
    can_walk,
    start_walk,
    survey,
)
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
        least_steps: see there.
    """

    def __init__(
        self,
        go_on: Callable[..., Any],
        tables: Any,
        state: Any,
        key: jax.Array,
        least_steps: int = 1,
    ) -> None:
        self._least = least_steps
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
    def least_steps(self) -> int:
        """Steps of which a turn should have a multiple, so that each has its share of all work."""
        return self._least

    @property
    def state_bytes(self) -> int:
        """Of what is kept between steps."""
        return sum(leaf.nbytes for leaf in jax.tree.leaves(self._state))

    def step_bytes(self) -> int:
        """Of the most that a compiled step holds at a time, its tables left out."""
        lowered = self._go_on.lower(self._tables, self._state, self._key, num_steps=2)
        account = lowered.compile().memory_analysis()
        return account.temp_size_in_bytes + account.output_size_in_bytes


class WalkStepper:
    """Walks on the host that go on side by side in threads, with the interface of `Stepper`."""

    def __init__(self, walks: list[IncrementalWalk], least_steps: int) -> None:
        self._walks, self.least_steps = walks, least_steps
        self._pool = ThreadPoolExecutor(num_processors())

    def run(self, num_steps: int) -> None:
        """Returns when each has done the steps."""
        list(self._pool.map(lambda walk: walk.advance(num_steps, num_steps), self._walks))

    @property
    def state_bytes(self) -> int:
        """Of what walks keep for themselves."""
        return sum(getattr(w.state, name).nbytes for w in self._walks for name in OWN) + sum(
            w.best_labels.nbytes for w in self._walks
        )

    def step_bytes(self) -> int:
        """A step holds nothing more."""
        return self.state_bytes


def _random_labels(arrays: GraphArrays, trajectories: int, key: jax.Array) -> jax.Array:
    shape = (trajectories, arrays.row_start.shape[0] - 1)
    return jax.random.bernoulli(key, shape=shape).astype(jnp.int8)


def _rollout(
    agent: Agent,
    graph: Graph,
    arrays: GraphArrays,
    trajectories: int,
    key: jax.Array,
    encode: Callable[[Agent, GraphArrays], Any],
) -> Stepper:
    """`ecord_jax.search.rollout`, vmapped; the tables that `encode` makes are shared."""
    carry = _start(agent, arrays, trajectories, key)

    def go_on(tables: Any, carry: Carry, key: jax.Array, num_steps: int) -> Carry:
        agent, arrays, embeddings = tables
        go_on_one = functools.partial(rollout, agent, arrays, num_steps=num_steps)

        def one(carry: Carry, key: jax.Array) -> Carry:
            return go_on_one(carry, key, temperature=_TEMPERATURE, embeddings=embeddings)[0]

        return jax.vmap(one)(carry, jax.random.split(key, trajectories))

    return Stepper(go_on, (agent, arrays, jax.jit(encode)(agent, arrays)), carry, key)


def _incremental(
    agent: Agent, graph: Graph, arrays: GraphArrays, trajectories: int, key: jax.Array
) -> Stepper | WalkStepper:
    """As `solve` has it with K = |V| / 160: on a CPU compiled walks where an agent allows that."""
    every = max(graph.num_vertices // 160, 1)
    if jax.default_backend() == "cpu" and can_walk(agent.config):
        ground = survey(agent, graph, every)
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)).tolist())
        labels = rng.integers(0, 2, (trajectories, graph.num_vertices))
        return WalkStepper([start_walk(ground, z, _TEMPERATURE, rng) for z in labels], every)
    degree = int(np.bincount(graph.edges.ravel(), minlength=1).max())
    arrays = to_arrays(graph, min_row_block=1 << (degree - 1).bit_length())
    carry = _start(agent, arrays, trajectories, key)

    def go_on(tables: Any, carry: Carry, key: jax.Array, num_steps: int) -> Carry:
        agent, arrays, embeddings = tables
        options = {"num_steps": num_steps, "refresh_every": min(every, num_steps)}

        def one(carry: Carry, key: jax.Array) -> Carry:
            return incremental_rollout(
                agent,
                arrays,
                carry,
                key,
                embeddings=embeddings,
                temperature=_TEMPERATURE,
                **options,
            )[0]

        return jax.vmap(one)(carry, jax.random.split(key, trajectories))

    return Stepper(go_on, (agent, arrays, jax.jit(factor)(agent, arrays)), carry, key, every)


def _start(agent: Agent, arrays: GraphArrays, trajectories: int, key: jax.Array) -> Carry:
    """Trajectories on random labels."""
    labels = _random_labels(arrays, trajectories, key)
    hidden = jnp.tile(initial_hidden(agent), (trajectories, 1))
    return Carry(jax.jit(jax.vmap(reset, (None, 0)))(arrays, labels), hidden)


def _eco_dqn(
    agent: Agent, graph: Graph, arrays: GraphArrays, trajectories: int, key: jax.Array
) -> Stepper:
    config = eco_dqn.EcoConfig()
    params = eco_dqn.init_params(config, arrays, key)
    labels = _random_labels(arrays, trajectories, key)
    states = jax.jit(jax.vmap(eco_dqn.reset, (None, 0)))(arrays, labels)

    def go_on(tables: Any, states: eco_dqn.EcoState, key: jax.Array, num_steps: int) -> Any:
        params, arrays = tables
        return eco_dqn.rollout(params, config, arrays, states, key, num_steps=num_steps)[0]

    return Stepper(go_on, (params, arrays), states, key)


def _gru(
    agent: Agent, graph: Graph, arrays: GraphArrays, trajectories: int, key: jax.Array
) -> Stepper:
    """The bare product [B, H] [H, 3 H]: the floor of a step with the RNN."""
    width = getattr(agent.config, "hidden", 1024)

    def go_on(weights: jax.Array, hidden: jax.Array, key: jax.Array, num_steps: int) -> jax.Array:
        def product(hidden: jax.Array, _: None) -> tuple[jax.Array, None]:
            # Each depends on the one before and on all columns, or XLA would leave some out.
            return sum(jnp.split(hidden @ weights, 3, axis=-1)), None

        return jax.lax.scan(product, hidden, length=num_steps)[0]

    weights = jax.random.normal(key, (width, 3 * width)) / (2 * width)  # shrinks what it maps
    return Stepper(go_on, weights, jax.random.normal(key, (trajectories, width)), key)


# (agent, graph, the same on the device, trajectories, key) -> Stepper
POLICIES: dict[
    str, Callable[[Agent, Graph, GraphArrays, int, jax.Array], Stepper | WalkStepper]
] = {
    "plain": functools.partial(_rollout, encode=encode),
    "fast": functools.partial(_rollout, encode=factor),
    "incremental": _incremental,
    "eco-dqn": _eco_dqn,
    "gru": _gru,
}
