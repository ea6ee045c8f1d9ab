"""`swift` on the host: what its walks share, and how one begins and goes on.

Shape letters: B walks, N vertices, T flips of a chunk.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.graphs.compiled import run_loop
from ecord_jax.networks.agent import Agent
from ecord_jax.networks.swift import SwiftConfig, swift_tables, time_edges, vertex_features
from ecord_jax.search.crew import prepare_crew
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

__all__ = ["SwiftWalk", "prepare_walks", "start_walk", "survey"]

_NEVER = -(1 << 60)
_COMPILED = 1 << 62  # a size at which `run_loop` always compiles


@dataclasses.dataclass
class SwiftWalk:
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
    def actions(self) -> np.ndarray:
        """int32 [T], the vertices that the last `advance` flipped."""
        return self.state.actions

    @property
    def cuts(self) -> np.ndarray:
        """float64 [T + 1], the cut before the first of them and after each."""
        return self.state.cuts

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
    features = vertex_features(config, owners, matrix.indices, weights, size)
    tables = swift_tables(params, config, features, edges)
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


def start_walk(ground: WalkState, labels: np.ndarray, rng: np.random.Generator) -> SwiftWalk:
    """A walk before its first flip.

    Args:
        ground: `survey` of the graph.
        labels: int8 [N], where to start.
        rng: of the walk's draws.
    """
    changed = ("rows", "ring", "leaves", "boughs", "shared", "counts")
    state = ground._replace(**{name: getattr(ground, name).copy() for name in changed})
    state.rows[:, SIDE] = 1.0 - 2.0 * labels
    return SwiftWalk(state, rng, labels.astype(np.int8))


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
        ground = survey(agent, graph)
        return prepare_crew(
            lambda _, labels, rng: start_walk(ground, labels, rng),
            starts,
            fallback,
            last_step=last_step,
            left=left,
            seed=seed,
        )
