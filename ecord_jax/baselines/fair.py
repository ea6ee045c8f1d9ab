"""One run of a solver on the clock that all solvers are compared by: all but compiling counts."""

from __future__ import annotations

import functools
import math
import time
from typing import Any, NamedTuple

import jax
import jax.monitoring

from ecord_jax.baselines.registry import Solver
from ecord_jax.graphs import Graph
from ecord_jax.search.result import Progress, SolveResult

__all__ = ["TimedRun", "run_fairly"]

_COMPILE_EVENTS = "/jax/core/compile/"


class TimedRun(NamedTuple):
    """Attributes:
    result: as the solver gave it.
    seconds: of the call on the wall clock, compiling left out.
    compile_seconds: of a tiny call before it, which compiles, and of compiling in the call.
    curve: that of the result, on the same clock as `seconds`.
    """

    result: SolveResult
    seconds: float
    compile_seconds: float
    curve: tuple[Progress, ...]


class _CompileClock:
    """Hears when JAX traces and compiles, whatever thread does so."""

    def __init__(self) -> None:
        self._spans: list[tuple[float, float]] = []

    def __enter__(self) -> _CompileClock:
        jax.monitoring.register_event_time_span_listener(self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        jax.monitoring.unregister_event_time_span_listener(self._hear)

    @property
    def seconds(self) -> float:
        """How long any of it went on; a function may be traced while another is."""
        total, until = 0.0, 0.0
        for start, end in sorted(self._spans):
            total += max(0.0, end - max(start, until))
            until = max(until, end)
        return total

    def _hear(self, event: str, start_time: float, end_time: float, **kwargs: str | int) -> None:
        if event.startswith(_COMPILE_EVENTS):
            self._spans.append((start_time, end_time))


def run_fairly(
    solver: Solver,
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int,
    time_limit: float | None,
    num_steps: int | None,
    enough: float = math.inf,
) -> TimedRun:
    """Runs a solver after a tiny call on the same graph, so that what it runs is compiled.

    Some compile at each call all the same. That is not in their seconds; and where time is limited
    they are given as much more of it as that took in a second tiny call.

    Args:
        solver: who.
        graph: the graph.
        key: of the run.
        trajectories, time_limit, num_steps: the budget.
        enough: a cut that ends the run, as "interrupted", as soon as the solver tells that it has
            met it.

    Raises:
        EcordError: as the solver does.
    """
    tiny = {"key": key, "trajectories": trajectories, "time_limit": None, "num_steps": 1}
    warm, again = 0.0, 0.0
    if solver.compiles:
        warm, _, _ = _timed(solver, graph, tiny)
        if time_limit is not None:
            again = _timed(solver, graph, tiny)[1]
    limit = None if time_limit is None else time_limit + again
    budget = {**tiny, "time_limit": limit, "num_steps": num_steps}
    if enough < math.inf:
        budget["callback"] = functools.partial(_end_at, enough)
    seconds, compiling, result = _timed(solver, graph, budget)
    curve = tuple(
        point._replace(seconds=max(point.seconds - compiling, 0.0)) for point in result.curve
    )
    return TimedRun(result, seconds - compiling, warm + compiling, curve)


def _end_at(enough: float, progress: Progress) -> None:
    if progress.cut >= enough:
        raise KeyboardInterrupt


def _timed(
    solver: Solver, graph: Graph, options: dict[str, Any]
) -> tuple[float, float, SolveResult]:
    """Calls; gives the seconds of the call, those of compiling in it, and the result."""
    with _CompileClock() as clock:
        start = time.monotonic()
        result = solver.run(graph, **options)
        seconds = time.monotonic() - start
    return seconds, min(clock.seconds, seconds), result
