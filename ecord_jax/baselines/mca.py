"""The paper's heuristics without learning: MCA and MCA-soft (section 4 and SM D of 2205.14105).

MCA flips the vertex of the largest peek until all peeks are negative; the first one of equal peeks,
as the code of ECO-DQN has it, whose column the paper repeats. That matters: on its sets of 40 to
500 vertices this comes within .003 of the paper's ratios, while with equal peeks drawn at random it
is up to .03 above them, and ending where no flip raises the cut up to .02 below.

MCA-soft draws a vertex from softmax(peek / (|V| temperature)), a policy of the rollout that agents
act in, and goes on for the whole episode. Episodes are 2 |V| flips from random labels; as long as
the budget lasts one follows another.

Shape letters: B trajectories, N vertices (padded, on the device), T flips of a chunk, K
temperatures.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.baselines.run import Callback, Run
from ecord_jax.env import State, reset, step
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import GraphArrays, to_arrays, to_batch
from ecord_jax.learning.validation import best_cuts
from ecord_jax.networks.agent import Agent
from ecord_jax.networks.softmax import SoftmaxConfig
from ecord_jax.search.chunk import chunk_length, search_chunk, start_search
from ecord_jax.search.result import SolveResult

__all__ = ["LARGE_GRAPHS", "SMALL_GRAPHS", "Tuned", "mca", "mca_soft", "tune_temperature"]

# The paper's grids: for its generated graphs and for those of GSet.
SMALL_GRAPHS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
LARGE_GRAPHS = (0.0, 0.0001, 0.001, 0.01, 0.1, 1.0)

# Graph, labels [B, N], key, flips in all and of a chunk, to the best labels after each chunk.
_Chunks = Callable[[GraphArrays, np.ndarray, jax.Array, int, int], Iterator[np.ndarray]]

_POLICY = Agent({}, SoftmaxConfig("paper"))
_chunk = jax.jit(search_chunk, static_argnames="num_steps", donate_argnames="search")


def mca(
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int = 20,
    time_limit: float | None = None,
    num_steps: int | None = None,
    callback: Callback | None = None,
) -> SolveResult:
    """Greedy flips from random labels, which may be taken back (MCA).

    Args:
        graph: the graph.
        key: of `jax.random.key`; consumed.
        trajectories: B.
        time_limit: seconds; see `ecord_jax.solve`.
        num_steps: flips of each trajectory, in all episodes together; those that an episode
            leaves unused count. One episode if neither limit is given.
        callback: see `ecord_jax.baselines.run.Run`.

    Raises:
        OptionError: for an option that makes no sense.
    """
    run = _start("mca", graph, key, trajectories, time_limit, num_steps, callback)
    return _run_episodes(run, graph, key, trajectories, _climb_in_chunks)


def mca_soft(
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int = 20,
    time_limit: float | None = None,
    num_steps: int | None = None,
    callback: Callback | None = None,
    temperature: float,
) -> SolveResult:
    """Flips drawn from a softmax over peeks (MCA-soft).

    Args:
        graph: the graph.
        key: of `jax.random.key`; consumed.
        trajectories: B.
        time_limit: seconds; see `ecord_jax.solve`.
        num_steps: flips of each trajectory, in all episodes together. One episode if neither limit
            is given.
        callback: see `ecord_jax.baselines.run.Run`.
        temperature: of peeks over |V|; see `tune_temperature`.

    Raises:
        OptionError: for an option that makes no sense.
    """
    if not 0 <= temperature < math.inf:
        raise OptionError(f"temperature={temperature:g} must be a finite number >= 0")
    run = _start("mca-soft", graph, key, trajectories, time_limit, num_steps, callback)
    chunks = functools.partial(_draw_in_chunks, temperature)
    return _run_episodes(run, graph, key, trajectories, chunks)


def _start(
    name: str,
    graph: Graph,
    key: jax.Array,
    trajectories: int,
    time_limit: float | None,
    num_steps: int | None,
    callback: Callback | None,
) -> Run:
    if time_limit is None and num_steps is None and isinstance(graph, Graph):
        num_steps = _episode(graph)
    return Run(
        graph,
        name,
        key=key,
        trajectories=trajectories,
        time_limit=time_limit,
        num_steps=num_steps,
        callback=callback,
    )


def _episode(graph: Graph) -> int:
    return max(2 * graph.num_vertices, 1)


def _run_episodes(
    run: Run, graph: Graph, key: jax.Array, trajectories: int, chunks: _Chunks
) -> SolveResult:
    """Episode after episode until something ends the run."""
    if run.over:
        return run.result(run.over)
    arrays, size = to_arrays(graph), graph.num_vertices
    padded = arrays.vertex_mask.shape[0]
    longest = chunk_length(trajectories, padded, jax.default_backend())
    length = min(longest, 1 << (_episode(graph) - 1).bit_length())
    while (stopped_by := run.over) is None:
        key, label_key, episode_key = jax.random.split(key, 3)
        labels = np.zeros((trajectories, padded), np.int8)
        labels[:, :size] = jax.random.bernoulli(label_key, shape=(trajectories, size))
        end = min(run.steps + _episode(graph), run.last_step)
        for best in chunks(arrays, labels, episode_key, end - run.steps, length):
            run.steps = min(run.steps + length, end)
            run.offer(best[:size])
            if run.over:
                break
        else:
            run.steps = end
    return run.result(stopped_by)


def _climb_in_chunks(
    arrays: GraphArrays, labels: np.ndarray, key: jax.Array, last: int, length: int
) -> Iterator[np.ndarray]:
    """An episode of MCA, which draws nothing; gives the best labels [N] after each chunk."""
    current = jnp.asarray(labels)
    for done in range(0, last, length):
        current, top, over = _climb(arrays, current, jnp.int32(last - done), num_steps=length)
        yield np.asarray(current)[int(top)]
        if over:
            break


@functools.partial(jax.jit, static_argnames="num_steps")
def _climb(
    arrays: GraphArrays, labels: jax.Array, count: jax.Array, *, num_steps: int
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Flips the first vertex of the largest peek until that is negative.

    Args:
        arrays: the graph.
        labels: int8 [B, N].
        count: int32 [], flips at most.
        num_steps: T, and at most so many (static).

    Returns:
        Labels [B, N] after that, whose cut is largest, and whether all have ended.
    """

    def peeks_of(state: State) -> jax.Array:
        return jnp.where(arrays.vertex_mask, state.peeks, -jnp.inf)

    def flip(state: State, turn: jax.Array) -> tuple[State, None]:
        action = jnp.argmax(peeks_of(state)).astype(jnp.int32)
        ends = (state.peeks[action] < 0) | (turn >= count)
        after, _ = step(arrays, state, action)
        return jax.tree.map(lambda new, old: jnp.where(ends, old, new), after, state), None

    def one(labels: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        state, _ = jax.lax.scan(flip, reset(arrays, labels), jnp.arange(num_steps))
        return state.labels, state.cut, peeks_of(state).max() < 0

    labels, cuts, ended = jax.vmap(one)(labels)
    return labels, cuts.argmax(), ended.all()


def _draw_in_chunks(
    temperature: float,
    arrays: GraphArrays,
    labels: np.ndarray,
    key: jax.Array,
    last: int,
    length: int,
) -> Iterator[np.ndarray]:
    """An episode of MCA-soft; gives the best labels [N] after each chunk."""
    search = start_search(_POLICY, labels, np.full(len(labels), temperature), key)
    for _ in range(0, last, length):
        search, found = _chunk(_POLICY, arrays, (), search, jnp.int32(last), num_steps=length)
        yield np.asarray(found.labels)


class Tuned(NamedTuple):
    """Attributes:
    temperature: the best one, the lower of equal ones.
    ratios: float [K], of each of the grid the mean over graphs of the best cut, over the best that
        any of the grid found.
    """

    temperature: float
    ratios: np.ndarray


def tune_temperature(
    graphs: Sequence[Graph],
    *,
    key: jax.Array,
    grid: Sequence[float] = SMALL_GRAPHS,
    trajectories: int = 50,
    num_steps: int | None = None,
) -> Tuned:
    """Finds the temperature at which MCA-soft is best on a set, as the paper does.

    Args:
        graphs: the set; those whose best cut is not positive are left out.
        key: consumed; starts and draws are the same at each temperature.
        grid: temperatures [K] to try.
        trajectories: of each graph at each temperature.
        num_steps: flips of each, twice the vertices of the largest graph by default.

    Raises:
        OptionError: for an empty set or grid.
    """
    if not graphs or not grid:
        raise OptionError("tuning needs at least one graph and one temperature")
    steps = max(map(_episode, graphs)) if num_steps is None else num_steps
    batch = to_batch(graphs)
    cuts = np.stack(
        [
            best_cuts(_POLICY, batch, key, jnp.full(trajectories, t), num_steps=steps).max(axis=1)
            for t in grid
        ]
    )
    counts = cuts.max(axis=0) > 0
    ratios = (cuts[:, counts] / cuts[:, counts].max(axis=0)).mean(axis=1)
    return Tuned(float(grid[int(ratios.argmax())]), ratios)
