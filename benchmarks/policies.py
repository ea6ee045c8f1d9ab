"""What chooses and makes flips, in a form that benchmarks can time: `POLICIES` by name.

Shape letters: B trajectories, N vertices, H hidden width.
"""

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.agents import load_agent
from ecord_jax.baselines import eco_dqn
from ecord_jax.env import reset
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import GraphArrays, to_arrays
from ecord_jax.networks.agent import Agent, encode, factor, initial_hidden
from ecord_jax.search import incremental_host, swift
from ecord_jax.search.chunk import Search
from ecord_jax.search.incremental import incremental_rollout
from ecord_jax.search.rollout import Carry, rollout
from ecord_jax.search.swift_device import start_swift, swift_chunk, swift_ground
from ecord_jax.search.walks import num_processors

__all__ = ["POLICIES", "Stepper", "WalkStepper"]

_TEMPERATURE = 0.01
_HORIZON = 30  # |V| flips that `swift` is told that it has ahead: the middle of a run
_SWIFT_CHUNK = 2048  # steps of a large graph's chunk, about those that `solve` has


class Stepper:
    """Trajectories that go on for some steps at each call, from where they stood.

    Args:
        go_on: (tables, state, key, num_steps) -> the state after; compiled for each number of
            steps, its state is donated.
        tables: what stays as it is: graph, parameters.
        state: leaves [B, ...].
        key: consumed.
        least_steps: see there.
        most_steps: of a turn; each number of them is compiled anew.
    """

    def __init__(
        self,
        go_on: Callable[..., Any],
        tables: Any,
        state: Any,
        key: jax.Array,
        least_steps: int = 1,
        most_steps: int = 256,
    ) -> None:
        self._least, self.most_steps = least_steps, most_steps
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
    """Walks on the host that go on side by side in threads, with the interface of `Stepper`.

    Args:
        walks: those.
        least_steps: see there.
        horizon: steps ahead that walks are told that they have.
        own: names of what each has for itself in its state.
    """

    most_steps = 1 << 16

    def __init__(
        self, walks: Sequence[Any], least_steps: int, horizon: int, own: tuple[str, ...]
    ) -> None:
        self._walks, self.least_steps = walks, least_steps
        self._horizon, self._own = horizon, own
        self._pool = ThreadPoolExecutor(num_processors())

    def run(self, num_steps: int) -> None:
        """Returns when each has done the steps."""

        def go_on(walk: Any) -> None:
            walk.advance(num_steps, walk.step + max(num_steps, self._horizon))

        list(self._pool.map(go_on, self._walks))

    @property
    def state_bytes(self) -> int:
        """Of what walks keep for themselves."""
        return sum(getattr(w.state, name).nbytes for w in self._walks for name in self._own) + sum(
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
    if jax.default_backend() == "cpu" and incremental_host.can_walk(agent.config):
        ground = incremental_host.survey(agent, graph, every)
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)).tolist())
        labels = rng.integers(0, 2, (trajectories, graph.num_vertices))
        walks = [incremental_host.start_walk(ground, z, _TEMPERATURE, rng) for z in labels]
        return WalkStepper(walks, every, 0, incremental_host.OWN)
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


def _swift(
    agent: Agent, graph: Graph, arrays: GraphArrays, trajectories: int, key: jax.Array
) -> WalkStepper:
    """The shipped `swift`, whatever the agent, in compiled walks on the host."""
    agent, size = load_agent("swift"), graph.num_vertices
    rng = np.random.default_rng(np.asarray(jax.random.key_data(key)).tolist())
    labels = rng.integers(0, 2, (trajectories, size), np.int8)
    ground = swift.survey(agent, graph)
    walks = [swift.start_walk(ground, z, rng) for z in labels]
    every = agent.config.refresh_every(size, graph.num_edges)
    return WalkStepper(walks, every, _HORIZON * size, swift.OWN)


def _swift_device(
    agent: Agent, graph: Graph, arrays: GraphArrays, trajectories: int, key: jax.Array
) -> Stepper:
    """The same in JAX."""
    agent, size = load_agent("swift"), graph.num_vertices
    ground = swift_ground(agent, graph)
    search = start_swift(ground, np.asarray(_random_labels(arrays, trajectories, key)), key)
    every = min(agent.config.refresh_every(size, graph.num_edges), _SWIFT_CHUNK)

    def go_on(tables: Any, search: Search, key: jax.Array, num_steps: int) -> Search:
        ahead = search.step + _HORIZON * size
        each = min(every, num_steps)
        return swift_chunk(tables, search, ahead, ahead, rounds=(num_steps // each, each))[0]

    return Stepper(go_on, ground, search, key, every, max(every, _SWIFT_CHUNK))


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
    "swift": _swift,
    "swift-device": _swift_device,
}
