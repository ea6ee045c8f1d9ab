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
from typing import Any

import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.graphs.compiled import run_loop
from ecord_jax.networks.agent import Agent
from ecord_jax.networks.swift import SwiftConfig, swift_tables, time_edges
from ecord_jax.search.chunk import Found
from ecord_jax.search.prepare import Prepared
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

__all__ = ["Walk", "prepare_walks", "start_walk"]

_NEVER = -(1 << 60)
_COMPILED = 1 << 62  # a size at which `run_loop` always compiles
_TRIAL_STEPS = 2048
_ROUNDS = 32  # of chunks, at least, in which the budget is spent
_CHUNK_SECONDS = 0.2
_LEAST_CHUNK = 256


@dataclasses.dataclass
class Walk:
    """One trajectory of `swift` over a graph; `advance` changes it.

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


class _Crew:
    """Walks that share the processors, and what is left of the time.

    Args:
        start: makes the walk of a number.
        size: B.
        last_step: flips of each walk after which the search ends.
        left: gives the seconds that are left.
    """

    def __init__(
        self, start: Callable[[int], Walk], size: int, last_step: int, left: Callable[[], float]
    ) -> None:
        self._start, self._left, self._last_step = start, left, last_step
        self._threads = min(os.cpu_count() or 1, size)
        self._pool = ThreadPoolExecutor(self._threads)
        self._size, self._pace = size, self._measure()
        rounds = max(self._budget(0) // _ROUNDS, _LEAST_CHUNK)
        self.num_steps = int(min(rounds, max(_CHUNK_SECONDS / self._pace, _LEAST_CHUNK)))

    def _measure(self) -> float:
        """Seconds a flip of one thread, by a walk that is thrown away."""
        walk = self._start(0)
        walk.advance(1, _TRIAL_STEPS)  # compiles
        began = time.monotonic()
        walk.advance(_TRIAL_STEPS, 2 * _TRIAL_STEPS)
        return (time.monotonic() - began) / _TRIAL_STEPS

    def _budget(self, step: int) -> int:
        """Flips that a walk can count on, those done included."""
        left = self._left()
        if math.isinf(left):
            return self._last_step
        more = max(left, 0.0) * self._threads / (self._pace * self._size)
        return min(self._last_step, step + int(more) + 1)

    def groups(self) -> list[list[Walk]]:
        walks = [self._start(number) for number in range(self._size)]
        return [walks[i : i + self._threads] for i in range(0, self._size, self._threads)]

    def run(self, walks: list[Walk]) -> tuple[list[Walk], Found]:
        """Does the next chunk of some walks side by side."""
        began, step = time.monotonic(), walks[0].step
        budget = max(self._budget(step), step + self.num_steps)
        num_steps = min(self.num_steps, self._last_step - step)
        list(self._pool.map(lambda walk: walk.advance(num_steps, budget), walks))
        pace = (time.monotonic() - began) / num_steps * self._threads / len(walks)
        self._pace += 0.2 * (pace - self._pace)
        best = max(walks, key=lambda walk: walk.best_cut)
        return walks, Found(
            labels=best.best_labels,
            cut=best.best_cut,
            step=best.best_step,
            actions=np.stack([walk.state.actions for walk in walks]),
            cuts=np.stack([walk.state.cuts for walk in walks]),
            after=np.stack([walk.labels for walk in walks]),
        )


def prepare_walks(
    graph: Graph,
    agent: Agent,
    starts: np.ndarray,
    last_step: int,
    left: Callable[[], float],
    seed: list[int],
) -> Prepared:
    """Compiles the walk, measures it, and starts as many as there are start labels.

    Args:
        graph: the graph.
        agent: of a `SwiftConfig`.
        starts: int8 [B, N], start labels.
        last_step: flips of each walk after which the search ends.
        left: gives the seconds until it must end, from which the budget is estimated; infinite
            where only steps are counted, so that the same seed gives the same flips.
        seed: of the draws.
    """

    def start(number: int) -> Walk:
        rng = np.random.default_rng([*seed, number])
        return start_walk(agent.params, agent.config, graph, starts[number], rng)

    crew = _Crew(start, len(starts), last_step, left)
    return Prepared(crew.groups(), crew.run, crew.num_steps)


def start_walk(
    params: dict[str, Any],
    config: SwiftConfig,
    graph: Graph,
    labels: np.ndarray,
    rng: np.random.Generator,
) -> Walk:
    """A walk before its first flip.

    Args:
        params: of the agent, see `ecord_jax.networks.swift.param_shapes`.
        config: of the agent.
        graph: with at least one vertex.
        labels: int8 [N], where to start.
        rng: of the walk's draws.
    """
    matrix, size = graph.adjacency(), graph.num_vertices
    params = {name: np.asarray(value, np.float64) for name, value in params.items()}
    fields = np.bincount(
        np.repeat(np.arange(size), np.diff(matrix.indptr)), matrix.data**2, minlength=size
    )
    scale = float(np.sqrt(fields.mean())) or 1.0
    edges = time_edges(config, size)
    tables = swift_tables(params, config, fields, edges)
    rows = np.zeros((size, 8))
    rows[:, GAIN] = tables.gain
    rows[:, SIDE] = 1.0 - 2.0 * labels
    rows[:, LAST] = _NEVER
    rows[:, BIN] = len(edges)
    leaves = -(-size // 32)
    degree = np.log(max(matrix.nnz, 1) / size)
    state = WalkState(
        starts=matrix.indptr.astype(np.int64),
        near=matrix.indices.astype(np.int64),
        weights=matrix.data,
        tables=np.stack([tables.bias, tables.drift, tables.penalty], axis=1),
        curve=tables.curve,
        edges=edges,
        settings=np.concatenate(
            [params["temperature"], params["penalty"], params["bend"], [degree]]
        ),
        rows=rows,
        ring=np.zeros(1 << int(edges[-1]).bit_length(), np.int64),
        leaves=np.zeros(leaves),
        boughs=np.zeros(-(-leaves // 32)),
        draws=np.zeros(0),
        actions=np.zeros(0, np.int32),
        cuts=np.zeros(1),
        shared=np.array([0.0, -np.inf, 0.0, 0.0, 0.0, 0.0, 1.0 / scale]),
        counts=np.array([0, 1, 0, max(size // config.refreshes, 1)]),
    )
    return Walk(state, rng, labels.astype(np.int8))
