"""The rank-2 relaxation as a solver; see `ecord_jax.search.rank2`. Shape letter: B trajectories."""

from __future__ import annotations

import jax

from ecord_jax.baselines.run import Callback, Run
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.search.rank2 import Descents
from ecord_jax.search.result import SolveResult

__all__ = ["rank2"]


def rank2(
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int = 20,
    time_limit: float | None = None,
    num_steps: int | None = None,
    callback: Callback | None = None,
    spread: float = 0.2,
    patience: int = 10,
) -> SolveResult:
    """Looks for a large cut by the rank-2 relaxation.

    Args:
        graph: the graph.
        key: of `jax.random.key`; consumed.
        trajectories: B.
        time_limit: seconds; see `ecord_jax.solve`.
        num_steps: descents of each trajectory.
        callback: see `ecord_jax.baselines.run.Run`.
        spread: how far angles are moved from those of a cut, at most, over pi.
        patience: descents without a better cut after which a trajectory starts anew (their N).

    Raises:
        OptionError: for an option that makes no sense.
    """
    if not 0 < spread <= 1:
        raise OptionError(f"spread={spread!r} must be above 0 and at most 1")
    if isinstance(patience, bool) or not isinstance(patience, int) or patience < 1:
        raise OptionError(f"patience={patience!r} must be an integer of at least 1")
    run = Run(
        graph,
        "rank2",
        key=key,
        trajectories=trajectories,
        time_limit=time_limit,
        num_steps=num_steps,
        callback=callback,
    )
    if run.over:
        return run.result(run.over)
    state = Descents(graph, trajectories, spread, patience)
    while (stopped_by := run.over) is None:
        key, round_key = jax.random.split(key)
        state.go_on(round_key, lambda: run.watch.left <= 0)
        run.steps += 1
        run.offer(state.best_labels)
    return run.result(stopped_by)
