"""The paper's heuristics without learning: MCA and MCA-soft (section 4 and SM D of 2205.14105).

Both are policies of the rollout that agents act in, on peeks alone. MCA flips a vertex of the
largest peek until no flip pays; MCA-soft draws a vertex from softmax(peek / (|V| temperature)) and
goes on for the whole episode. Episodes are 2 |V| flips from random labels; as long as the budget
lasts one follows another.

Shape letters: B trajectories, N vertices, T flips of a chunk, G graphs, K temperatures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.baselines.run import Run
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import to_arrays, to_batch
from ecord_jax.learning.validation import best_cuts
from ecord_jax.networks.agent import Agent
from ecord_jax.networks.softmax import SoftmaxConfig
from ecord_jax.search.chunk import Found, chunk_length, search_chunk, start_search
from ecord_jax.search.result import SolveResult

__all__ = ["LARGE_GRAPHS", "SMALL_GRAPHS", "Tuned", "mca", "mca_soft", "tune_temperature"]

# The paper's grids: for its generated graphs and for those of GSet.
SMALL_GRAPHS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
LARGE_GRAPHS = (0.0, 0.0001, 0.001, 0.01, 0.1, 1.0)

_POLICY = Agent({}, SoftmaxConfig("paper"))
_chunk = jax.jit(search_chunk, static_argnames="num_steps", donate_argnames="search")


def mca(
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int = 20,
    time_limit: float | None = None,
    num_steps: int | None = None,
) -> SolveResult:
    """Greedy flips from random labels, which may be taken back, until none pays (MCA).

    Args:
        graph: the graph.
        key: of `jax.random.key`; consumed.
        trajectories: B.
        time_limit: seconds; see `ecord_jax.solve`.
        num_steps: flips of each trajectory, in all episodes together; those that an episode leaves
            unused when no flip pays count. One episode if neither limit is given.

    Raises:
        OptionError: for an option that makes no sense.
    """
    run = _start("mca", graph, key, trajectories, time_limit, num_steps)
    return _run_episodes(run, graph, key, trajectories, temperature=0.0, until_none_pays=True)


def mca_soft(
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int = 20,
    time_limit: float | None = None,
    num_steps: int | None = None,
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
        temperature: of peeks over |V|; see `tune_temperature`.

    Raises:
        OptionError: for an option that makes no sense.
    """
    if not 0 <= temperature < math.inf:
        raise OptionError(f"temperature={temperature:g} must be a finite number >= 0")
    run = _start("mca-soft", graph, key, trajectories, time_limit, num_steps)
    return _run_episodes(run, graph, key, trajectories, temperature, until_none_pays=False)


def _start(
    name: str,
    graph: Graph,
    key: jax.Array,
    trajectories: int,
    time_limit: float | None,
    num_steps: int | None,
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
    )


def _episode(graph: Graph) -> int:
    return max(2 * graph.num_vertices, 1)


def _run_episodes(
    run: Run,
    graph: Graph,
    key: jax.Array,
    trajectories: int,
    temperature: float,
    *,
    until_none_pays: bool,
) -> SolveResult:
    """Episode after episode until something ends the run."""
    if run.over:
        return run.result(run.over)
    arrays, size = to_arrays(graph), graph.num_vertices
    padded = arrays.vertex_mask.shape[0]
    longest = chunk_length(trajectories, padded, jax.default_backend())
    length = min(longest, 1 << (_episode(graph) - 1).bit_length())
    temperatures = np.full(trajectories, temperature)
    while (stopped_by := run.over) is None:
        key, label_key, episode_key = jax.random.split(key, 3)
        labels = np.zeros((trajectories, padded), np.int8)
        labels[:, :size] = jax.random.bernoulli(label_key, shape=(trajectories, size))
        search = start_search(_POLICY, labels, temperatures, episode_key)
        before, climbs = run.steps, np.ones(trajectories, bool)
        last = min(_episode(graph), run.last_step - before)
        for done in range(length, last + length, length):
            search, found = _chunk(_POLICY, arrays, (), search, jnp.int32(last), num_steps=length)
            best = np.asarray(found.labels)
            if until_none_pays:
                best, labels, climbs = _climb(labels, found, climbs)
            run.steps = before + min(done, last)
            run.offer(best[:size])
            if run.over or not climbs.any():
                break
        if not climbs.any():
            run.steps = before + last
    return run.result(stopped_by)


def _climb(
    labels: np.ndarray, found: Found, climbs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a chunk of greedy flips was before the first that did not pay.

    Args:
        labels: int8 [B, N], before the chunk.
        found: by it.
        climbs: bool [B], trajectories in which all flips before the chunk paid.

    Returns:
        The best labels [N] at that point of those that climbed, labels [B, N] after the chunk, and
        climbs after it.
    """
    cuts, actions = np.asarray(found.cuts), np.asarray(found.actions)
    pays = (cuts[:, 1:] > cuts[:, :-1]) & climbs[:, None]
    counts = np.cumprod(pays, axis=1).sum(axis=1)
    tops = np.where(climbs, cuts[np.arange(len(cuts)), counts], -np.inf)
    top = int(tops.argmax())
    flips = np.bincount(actions[top, : counts[top]], minlength=labels.shape[1])
    best = labels[top] ^ (flips & 1).astype(np.int8)
    return best, np.asarray(found.after), climbs & (counts == actions.shape[1])


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
