"""Solving a graph: start labels, chunks of steps, the clock, and the exact result.

Shape letters: B trajectories, N vertices of the graph (without padding).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import numbers
import os
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.agents import load_agent
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.presolve import Reduction
from ecord_jax.graphs.presolve import presolve as reduce
from ecord_jax.networks.agent import Agent
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.swift import SwiftConfig
from ecord_jax.search.greedy import greedy_labels
from ecord_jax.search.incremental_host import can_walk, prepare_incremental
from ecord_jax.search.parts import BestParts
from ecord_jax.search.prepare import Prepared, in_background, prepare, translate_memory_errors
from ecord_jax.search.result import Incumbent, Progress, SolveResult, StoppedBy, Watch
from ecord_jax.search.starts import start_labels
from ecord_jax.search.swift import prepare_walks
from ecord_jax.search.swift_fleet import prepare_swift_device
from ecord_jax.search.temperature import ladder

__all__ = ["check_limits", "check_options", "solve"]

_Value = TypeVar("_Value")

_DEFAULT_SECONDS = 30.0
# Steps are counted in int32, and the time since a flip that never was is the step plus 2^30.
_MOST_STEPS = 2**30 - 2**10
_REPORT_SECONDS = 0.1  # between calls of the callback while the device is prepared
_MOST_TRAJECTORIES = 2**20
_REFRESHES = 80  # looks at all vertices in |V| steps; more make no better cuts


def solve(
    graph: Graph,
    *,
    agent: str | os.PathLike[str] | Agent = "swift",
    time_limit: float | None = None,
    num_steps: int | None = None,
    trajectories: int = 20,
    temperature: float | Sequence[float] | str = "auto",
    key: jax.Array,
    init: Any = "random",
    refresh_every: int | str = "auto",
    presolve: bool = True,
    callback: Callable[[Progress], None] | None = None,
) -> SolveResult:
    """Looks for a large cut of a graph.

    Several trajectories flip one vertex after another, as the agent says, from start labels on; the
    best cut that any of them meets is the result. It is never below that of the start labels of the
    first trajectory after all single flips that pay, which the host makes before anything else.

    Args:
        graph: the graph.
        agent: a shipped agent's name, the path of a .safetensors file, or an agent.
        time_limit: seconds for the whole call, compiling included. It is passed by at most half a
            second and a chunk of steps (well below a second but for the largest graphs). 30 if
            neither limit is given; if both are, whichever comes first ends the search.
        num_steps: flips of each trajectory. Without a time limit the same key and number give the
            same labels on the same machine.
        trajectories: B.
        temperature: a number, a list or "auto", see `ecord_jax.search.temperature.ladder`; "auto"
            for `swift`, which has learned its own.
        key: of `jax.random.key`; consumed.
        init: "random", "equal" or labels [N] or [B, N], see `ecord_jax.search.starts.start_labels`.
        refresh_every: steps between two looks at all vertices; in between an agent looks again at
            those whose observation has changed, and what it remembers is as it was, see
            `ecord_jax.search.incremental`. 1 is the paper's step. "auto" is |V| / 80 for agents
            without an RNN, and 1 for others; no matter for `swift`.
        presolve: whether the graph is first made smaller by exact rules, see
            `ecord_jax.graphs.presolve`; labels and cuts are those of the graph as given either way.
        callback: called after each chunk of steps, and before the first about ten times a second.
            A KeyboardInterrupt, raised in it or by Ctrl-C, ends the search with what it has found
            so far.

    Returns:
        The best cut and its labels.

    Raises:
        OptionError: for an option that makes no sense.
        AgentError: for an agent that cannot be loaded.
        EcordError: for labels that are not those of the graph, or too little memory.

    Example:
        >>> result = solve(graph, time_limit=10, key=jax.random.key(0))
        >>> assert result.cut == graph.cut(result.labels)
    """
    seconds, last_step = check_limits(time_limit, num_steps)
    watch = Watch(seconds)
    check_options(graph, trajectories, key)
    policy = agent if isinstance(agent, Agent) else load_agent(agent)
    host_key, device_key = jax.random.split(key)
    rng = np.random.default_rng(np.asarray(jax.random.key_data(host_key)).tolist())
    with translate_memory_errors(trajectories):
        starts = start_labels(graph, init, trajectories, rng)
    # Without positive weights nothing is better than to cut nothing.
    first = starts[0] if graph.positive_weight else np.zeros_like(starts[0])
    make = _maker(policy, temperature, refresh_every, trajectories, last_step, watch, device_key)
    run = _Run(Incumbent(graph, first, watch), watch, trajectories, last_step, callback)
    stopped_by = run.search(
        lambda: greedy_labels(graph, first, rng, watch.deadline),
        lambda: reduce(graph) if presolve else Reduction.unchanged(graph),
        lambda reduction: make(
            reduction.graph,
            policy,
            starts[:, reduction.vertices],
            run.best.labels[reduction.vertices],
        ),
    )
    seconds = watch.elapsed
    return SolveResult(
        cut=run.best.cut,
        labels=run.best.labels,
        curve=(*run.best.curve, Progress(seconds, run.steps, run.best.cut)),
        steps=run.steps,
        trajectories=trajectories,
        seconds={
            "read": 0.0,
            **run.seconds,
            "search": seconds - sum(run.seconds.values()),
            "total": seconds,
        },
        stopped_by=stopped_by,
        agent="custom" if isinstance(agent, Agent) else os.fspath(agent),
        reduction=run.reduction if presolve else None,
    )


def _maker(
    policy: Agent,
    temperature: Any,
    refresh_every: int | str,
    trajectories: int,
    last_step: int,
    watch: Watch,
    key: jax.Array,
) -> Callable[[Graph, Agent, np.ndarray, np.ndarray], Prepared]:
    """What makes a search of a graph, an agent, start labels and the best labels so far."""
    _check_refresh(refresh_every)
    limits: dict[str, Any] = {
        "last_step": last_step,
        "left": lambda: watch.left,
        "seed": np.asarray(jax.random.key_data(key)).tolist(),
    }
    if isinstance(policy.config, SwiftConfig):
        if not isinstance(temperature, str) or temperature != "auto":
            raise OptionError(f"temperature={temperature!r}: this agent has learned its own")
        on_host = jax.default_backend() == "cpu"
        return functools.partial(prepare_walks if on_host else prepare_swift_device, **limits)
    temperatures = ladder(temperature, trajectories, policy.config)

    def make(graph: Graph, agent: Agent, starts: np.ndarray, best: np.ndarray) -> Prepared:
        every = _refresh_every(refresh_every, graph.num_vertices, agent.config)
        # Compiled for the host that step is many times faster than what XLA makes of it there.
        if every > 1 and can_walk(agent.config) and jax.default_backend() == "cpu":
            return prepare_incremental(
                graph, agent, starts, best, temperatures, refresh_every=every, **limits
            )
        return prepare(graph, agent, starts, temperatures, last_step, every, key)

    return make


@dataclasses.dataclass
class _Run:
    """One search as far as it has come, which is what an interruption leaves.

    Attributes:
        best: the exact incumbent.
        watch: since the call.
        trajectories: B.
        last_step: flips of each trajectory after which it ends.
        callback: as the caller gave it.
        steps: flips done that count.
        reduction: what the search goes over, once that is known.
        seconds: how long the reduction and the device were waited for.
    """

    best: Incumbent
    watch: Watch
    trajectories: int
    last_step: int
    callback: Callable[[Progress], None] | None
    steps: int = 0
    reduction: Reduction | None = None
    seconds: dict[str, float] = dataclasses.field(
        default_factory=lambda: {"presolve": 0.0, "compile": 0.0}
    )

    def search(
        self,
        greedy: Callable[[], np.ndarray],
        reduce: Callable[[], Reduction],
        prepare: Callable[[Reduction], Prepared],
    ) -> StoppedBy:
        """Does everything that may take long; gives what ended it."""
        try:
            if not self.best.is_optimal:
                self.best.offer(greedy(), 0)
            self._report()
            if self.best.is_optimal:
                return "optimal"
            self.reduction = self._wait_for("presolve", reduce)
            if self.reduction is None:
                return "time_limit"
            if self._take_over(self.reduction):
                return "optimal"
            made = self._wait_for("compile", functools.partial(self._make, prepare, self.reduction))
            return "time_limit" if made is None else self._do_chunks(*made, self.reduction)
        except KeyboardInterrupt:
            return "interrupted"

    def _make(
        self, prepare: Callable[[Reduction], Prepared], reduction: Reduction
    ) -> tuple[Prepared, BestParts]:
        parts = BestParts(reduction.graph, self.best.labels[reduction.vertices])
        return prepare(reduction), parts

    def _take_over(self, reduction: Reduction) -> bool:
        """Completes the best labels in the best way; gives whether that ends the search."""
        self.best.offer(reduction.lift(self.best.labels[reduction.vertices]), 0)
        bound = self.best.cut if reduction.optimal else reduction.bound
        self.best.bound = min(self.best.bound, bound)
        return self.best.is_optimal

    def _wait_for(self, stage: str, make: Callable[[], _Value]) -> _Value | None:
        """Makes something in the background; gives None where the time is over before."""
        before = self.watch.elapsed
        if self.watch.left <= 0:
            return None
        future = in_background(make)
        try:
            while not future.done() and self.watch.left > 0:
                wait([future], min(self.watch.left, _REPORT_SECONDS))
                self._report()
        finally:
            self.seconds[stage] = self.watch.elapsed - before
        return future.result() if future.done() else None

    def _report(self) -> None:
        if self.callback is not None:
            self.callback(Progress(self.watch.elapsed, self.steps, self.best.cut))

    def _do_chunks(self, prepared: Prepared, parts: BestParts, reduction: Reduction) -> StoppedBy:
        """Runs chunks, of each group in turn, until something ends the search; at least one."""
        searches, pace = list(prepared.searches), 0.0
        for turn in itertools.count():
            round_, group = divmod(turn, len(searches))
            if round_ * prepared.num_steps >= self.last_step:
                return "num_steps"
            began = self.watch.elapsed
            # A chunk takes about as long as the one before: what would not fit is not begun.
            if turn and self.watch.left < pace:
                return "time_limit"
            with translate_memory_errors(self.trajectories):
                searches[group], found = prepared.run(searches[group])
                better = parts.take(found)
            self.steps = min((round_ + 1) * prepared.num_steps, self.last_step)
            if better is not None:
                step = self.steps if better.step is None else better.step
                self.best.offer(reduction.lift(better.labels), step)
            self._report()
            if self.best.is_optimal:
                return "optimal"
            pace = self.watch.elapsed - began
        raise AssertionError("unreachable")


def check_limits(time_limit: float | None, num_steps: int | None) -> tuple[float, int]:
    """Checks both limits; gives the seconds and the steps that a search may take.

    Raises:
        OptionError: for a limit that makes no sense.
    """
    if num_steps is not None:
        _check_integer("num_steps", num_steps, _MOST_STEPS)
    steps = _MOST_STEPS if num_steps is None else num_steps
    if time_limit is None:
        return (_DEFAULT_SECONDS if num_steps is None else math.inf), steps
    if not isinstance(time_limit, numbers.Real) or not 0 < time_limit < math.inf:
        raise OptionError(f"time_limit={time_limit!r} must be a finite number of seconds above 0")
    return float(time_limit), steps


def check_options(graph: Graph, trajectories: int, key: jax.Array) -> None:
    """Raises OptionError for options that would fail far from here."""
    if not isinstance(graph, Graph):
        raise OptionError(f"graph is a {type(graph).__name__}; expected an ecord_jax.Graph")
    _check_integer("trajectories", trajectories, _MOST_TRAJECTORIES)
    is_key = isinstance(key, jax.Array) and jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    if not is_key or key.shape != ():
        raise OptionError("key must be one key of jax.random.key")


def _check_refresh(refresh_every: int | str) -> None:
    if isinstance(refresh_every, str):
        if refresh_every != "auto":
            raise OptionError(f"refresh_every={refresh_every!r} is neither an integer nor 'auto'")
    else:
        _check_integer("refresh_every", refresh_every, _MOST_STEPS)


def _refresh_every(refresh_every: int | str, size: int, config: Any) -> int:
    """K for a graph of so many vertices."""
    if not isinstance(config, EcordConfig):
        return 1
    if isinstance(refresh_every, str):
        return max(size // _REFRESHES, 1) if config.rnn != "gru" else 1
    return int(refresh_every)


def _check_integer(name: str, value: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not 1 <= value <= most:
        raise OptionError(f"{name}={value!r} must be an integer from 1 to {most}")
