"""What the solvers with amplitudes share: couplings, and annealing runs until a limit.

Each vertex has a real amplitude whose sign is its side. The couplings J are the negative weights,
over a factor that makes their largest eigenvalue 1, so that one pump suits graphs of all scales.
Shape letters: N padded vertices, B trajectories.
"""

from __future__ import annotations

import itertools
import time
from typing import Any, Protocol

import jax
import numpy as np

from ecord_jax.baselines.run import Callback, Run
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.search.definite import smallest_eigenvalue
from ecord_jax.search.fields import Blocks, padded_vertices, to_blocks
from ecord_jax.search.result import SolveResult
from ecord_jax.search.sdp import scaled_adjacency

__all__ = ["Annealing", "anneal", "couplings"]

_TOLERANCE = 1e-3  # of the largest eigenvalue
_CHUNK_SECONDS = 0.25
_FIRST_CHUNK = 8


class Annealing(Protocol):
    """A way to anneal: functions whose states are pytrees."""

    def start(self, size: int, trajectories: int, key: jax.Array) -> Any:
        """State before the first step, with amplitudes [N, B] for N = size."""

    def advance(self, blocks: Blocks, state: Any, goal: int, length: int) -> Any:
        """State after `goal` steps of a run of `length` steps."""

    def signs(self, blocks: Blocks, state: Any) -> jax.Array:
        """bool [N, B], the sides that are to be judged."""


def couplings(graph: Graph) -> Blocks:
    """J as `ecord_jax.search.fields` has it, for a graph with any vertices."""
    rows, _ = scaled_adjacency(graph)
    largest = -smallest_eigenvalue(rows, _TOLERANCE)
    rows.data = -rows.data / (largest if largest > _TOLERANCE else 1.0)
    return to_blocks(rows, padded_vertices(graph.num_vertices))


def anneal(
    graph: Graph,
    name: str,
    annealing: Annealing,
    *,
    key: jax.Array,
    trajectories: int,
    time_limit: float | None,
    num_steps: int | None,
    callback: Callback | None,
    run_length: int,
) -> SolveResult:
    """Anneals once for `num_steps` steps, or again and again until time is up.

    Args:
        graph: the graph.
        name: of the solver.
        annealing: how.
        key: of `jax.random.key`; consumed.
        trajectories: B.
        time_limit: seconds; see `ecord_jax.solve`.
        num_steps: the length of one run, after which it ends.
        callback: see `ecord_jax.baselines.run.Run`.
        run_length: the length of each run if only time is limited.

    Returns:
        The best signs of all runs; a run that time cuts short counts as it stands.

    Raises:
        OptionError: for an option that makes no sense.
    """
    if run_length < 1:
        raise OptionError(f"run_length={run_length} must be at least 1")
    run = Run(
        graph,
        name,
        key=key,
        trajectories=trajectories,
        time_limit=time_limit,
        num_steps=num_steps,
        callback=callback,
    )
    length = run_length if num_steps is None else num_steps
    if run.over is not None:
        return run.result(run.over)
    blocks = couplings(graph)
    size, chunk = padded_vertices(graph.num_vertices), _FIRST_CHUNK
    for turn in itertools.count():
        state, done = annealing.start(size, trajectories, jax.random.fold_in(key, turn)), 0
        while done < length and run.over is None:
            before, goal = time.monotonic(), min(done + chunk, length)
            state = jax.block_until_ready(annealing.advance(blocks, state, goal, length))
            run.steps, done = run.steps + goal - done, goal
            chunk *= 2 if time.monotonic() - before < _CHUNK_SECONDS / 2 else 1
        signs = np.asarray(annealing.signs(blocks, state))[: graph.num_vertices]
        for column in np.unique(signs, axis=1).T:
            run.offer(column.astype(np.int8))
        if (over := run.over) is not None:
            return run.result(over)
    raise AssertionError("unreachable")
