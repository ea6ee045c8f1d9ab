"""`swift` on the host: walks side by side in threads, and the budget that each is told.

Shape letters: B walks, N vertices, T flips of a chunk.
"""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.graphs.compiled import run_loop
from ecord_jax.networks.agent import Agent
from ecord_jax.networks.swift import SwiftConfig, swift_tables, time_edges
from ecord_jax.search.chunk import Found
from ecord_jax.search.prepare import Prepared, translate_memory_errors
from ecord_jax.search.swift_walk import (
    BEST,
    BEST_STEP,
    BIN,
    BUDGET,
    GAIN,
    LAST,
    SIDE,
    STEP,
    WalkState,
    walk,
)

__all__ = ["Walk", "num_processors", "prepare_walks", "start_walk", "survey"]

_NEVER = -(1 << 60)
_COMPILED = 1 << 62  # a size at which `run_loop` always compiles
_TRIAL_STEPS = 2048
_ROUNDS = 32  # of chunks, at least, in which the budget is spent
_CHUNK_SECONDS = 0.2
_LEAST_CHUNK, _MOST_CHUNK = 256, 1 << 17
# Below so many flips a vertex, random labels would not even become what single flips make of them.
_FEW = 6.0


@dataclasses.dataclass
class Walk:
    """One trajectory of `swift` over a graph; `advance` changes it.

    Cuts are in the units of `survey`.

    Attributes:
        state: of the compiled loop.
        rng: of its draws.
        best_labels: int8 [N].
    """

    state: WalkState
    rng: np.random.Generator
    best_labels: np.ndarray

    @property
    def step(self) -> int:
        """Flips done."""
        return int(self.state.counts[STEP])

    @property
    def best_step(self) -> int:
        """Flips after which the best cut was met."""
        return int(self.state.counts[BEST_STEP])

    @property
    def best_cut(self) -> float:
        return float(self.state.shared[BEST])

    @property
    def labels(self) -> np.ndarray:
        """int8 [N], where it stands."""
        return (self.state.rows[:, SIDE] < 0).astype(np.int8)

    def advance(self, num_steps: int, budget: int) -> None:
        """Does T flips.

        Args:
            num_steps: T.
            budget: flips of the whole walk, those done included; heeded from the next refresh on.
        """
        before, best, labels = self.step, self.best_cut, self.labels
        self.state.counts[BUDGET] = budget
        state = self.state._replace(
            draws=self.rng.random(num_steps),
            actions=np.empty(num_steps, np.int32),
            cuts=np.empty(num_steps + 1),
        )
        self.state = run_loop(walk, state, _COMPILED)
        if self.best_cut > best:
            done = self.state.actions[: self.best_step - before]
            flips = np.bincount(done, minlength=len(labels))
            self.best_labels = labels ^ (flips & 1).astype(np.int8)


def survey(agent: Agent, graph: Graph) -> WalkState:
    """What all walks over a graph share, and nothing that a walk changes.

    Args:
        agent: of a `SwiftConfig`.
        graph: with at least one vertex. Its weights are divided by a power of two, so that neither
            their squares nor their sums leave the range of float64.
    """
    config: SwiftConfig = agent.config
    matrix, size = graph.adjacency(), graph.num_vertices
    exponent = math.frexp(float(np.abs(matrix.data).max(initial=0.0)))[1]
    weights = np.ldexp(matrix.data, -exponent)
    params = {name: np.asarray(value, np.float64) for name, value in agent.params.items()}
    owners = np.repeat(np.arange(size), np.diff(matrix.indptr))
    fields = np.bincount(owners, weights**2, minlength=size)
    edges = time_edges(config, size)
    tables = swift_tables(params, config, fields, edges)
    rows = np.zeros((size, 8))
    rows[:, GAIN] = tables.gain
    rows[:, LAST] = _NEVER
    rows[:, BIN] = len(edges)
    degree = np.log(max(matrix.nnz, 1) / size)
    scale = math.sqrt(fields.mean()) or 1.0
    leaves = -(-size // 32)
    return WalkState(
        starts=matrix.indptr.astype(np.int64),
        near=matrix.indices.astype(np.int32),
        weights=weights,
        tables=np.stack([tables.bias, tables.drift, tables.penalty], axis=1),
        curve=tables.curve,
        edges=edges,
        settings=np.concatenate(
            [params["temperature"], params["penalty"], params["bend"], [degree]]
        ),
        rows=rows,
        ring=np.zeros(1 << int(edges[-1]).bit_length(), np.int64),
        leaves=np.zeros((leaves, 2)),
        boughs=np.zeros((-(-leaves // 32), 2)),
        draws=np.zeros(0),
        actions=np.zeros(0, np.int32),
        cuts=np.zeros(1),
        shared=np.array([0.0, -np.inf, 0.0, 0.0, 0.0, 0.0, 1.0 / scale]),
        counts=np.array([0, 1, 0, max(size // config.refreshes, 1), 0]),
    )


def start_walk(ground: WalkState, labels: np.ndarray, rng: np.random.Generator) -> Walk:
    """A walk before its first flip.

    Args:
        ground: `survey` of the graph.
        labels: int8 [N], where to start.
        rng: of the walk's draws.
    """
    changed = ("rows", "ring", "leaves", "boughs", "shared", "counts")
    state = ground._replace(**{name: getattr(ground, name).copy() for name in changed})
    state.rows[:, SIDE] = 1.0 - 2.0 * labels
    return Walk(state, rng, labels.astype(np.int8))


def num_processors() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Crew:
    """Walks that share the processors, and what is left of the time.

    Args:
        ground: of the graph.
        starts: int8 [B, N], start labels.
        fallback: int8 [N], those of all where there is hardly time.
        last_step: flips of each walk after which the search ends.
        left: gives the seconds that are left.
        seed: of the draws.
    """

    def __init__(
        self,
        ground: WalkState,
        starts: np.ndarray,
        fallback: np.ndarray,
        last_step: int,
        left: Callable[[], float],
        seed: list[int],
    ) -> None:
        self._ground, self._starts, self._seed = ground, starts, seed
        self._last_step, self._left = last_step, left
        self._threads = min(num_processors(), len(starts))
        self._pool = ThreadPoolExecutor(self._threads)
        self._walks: dict[int, Walk] = {}
        self._round_began = math.nan
        turns = -(-len(starts) // self._threads)
        if math.isinf(left()):
            # By steps alone the same flips are done whatever the pace is.
            self._pace, wanted = 0.0, last_step // _ROUNDS
        else:
            pace = self._try()
            self._pace = pace * turns
            wanted = min(self._budget(0) // _ROUNDS, int(_CHUNK_SECONDS / pace))
            if self._budget(0) < _FEW * starts.shape[1]:
                self._starts = np.broadcast_to(fallback, starts.shape)
        self.num_steps = min(max(wanted, _LEAST_CHUNK), _MOST_CHUNK, last_step)

    def groups(self) -> list[range]:
        """Numbers of the walks that go on together."""
        count = len(self._starts)
        return [
            range(first, min(first + self._threads, count))
            for first in range(0, count, self._threads)
        ]

    def run(self, group: range) -> tuple[range, Found]:
        """Does the next chunk of some walks side by side."""
        if group.start == 0:
            self._time_round()
        walks = list(self._pool.map(self._walk, group))
        step = walks[0].step
        num_steps = min(self.num_steps, self._last_step - step)
        budget = min(max(self._budget(step), step + num_steps), self._last_step)
        list(self._pool.map(lambda walk: walk.advance(num_steps, budget), walks))
        best = max(walks, key=lambda walk: walk.best_cut)
        return group, Found(
            labels=best.best_labels,
            cut=best.best_cut,
            step=best.best_step,
            actions=np.stack([walk.state.actions for walk in walks]),
            cuts=np.stack([walk.state.cuts for walk in walks]),
            after=np.stack([walk.labels for walk in walks]),
        )

    def _walk(self, number: int) -> Walk:
        """A walk, made when it is first wanted: of a large graph each takes its time."""
        if number not in self._walks:
            rng = np.random.default_rng([*self._seed, number])
            self._walks[number] = start_walk(self._ground, self._starts[number], rng)
        return self._walks[number]

    def _try(self) -> float:
        """Seconds a flip, by a walk that is thrown away; what comes once a walk is not counted."""
        walk = start_walk(self._ground, self._starts[0], np.random.default_rng(0))
        walk.advance(1, _TRIAL_STEPS)  # compiles
        began = time.monotonic()
        walk.advance(_TRIAL_STEPS, 2 * _TRIAL_STEPS)
        return (time.monotonic() - began) / _TRIAL_STEPS

    def _time_round(self) -> None:
        """Learns from the last round of chunks how long a flip of all walks takes."""
        now = time.monotonic()
        if not math.isnan(self._round_began):
            self._pace = (now - self._round_began) / self.num_steps
        self._round_began = now

    def _budget(self, step: int) -> int:
        """Flips that a walk can count on, those done included."""
        left = self._left()
        if math.isinf(left):
            return self._last_step
        return min(self._last_step, step + int(max(left, 0.0) / self._pace) + 1)


def prepare_walks(
    graph: Graph,
    agent: Agent,
    starts: np.ndarray,
    fallback: np.ndarray,
    *,
    last_step: int,
    left: Callable[[], float],
    seed: list[int],
) -> Prepared:
    """Looks at the graph, compiles the walk and measures it.

    Args:
        graph: the graph.
        agent: of a `SwiftConfig`.
        starts: int8 [B, N], start labels.
        fallback: int8 [N], good labels, to start from where there is time for few flips a vertex.
        last_step: flips of each walk after which the search ends.
        left: gives the seconds until it must end, from which the budget is estimated; infinite
            where only steps are counted, so that the same seed gives the same flips.
        seed: of the draws.

    Raises:
        EcordError: if there is not enough memory.
    """
    with translate_memory_errors(len(starts)):
        crew = _Crew(survey(agent, graph), starts, fallback, last_step, left, seed)
    return Prepared(crew.groups(), crew.run, crew.num_steps)
