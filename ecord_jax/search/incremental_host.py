"""What the host's walks of the incremental step share, and how one begins and goes on.

Shape letters: N vertices, T flips of a chunk.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.env import sees_budget
from ecord_jax.env.maxcut import NEVER, scale, time_spans
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import to_arrays, weight_unit
from ecord_jax.graphs.compiled import run_loop
from ecord_jax.networks.agent import Agent, factor, projected_memory
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.fast import BLOCK, Factored
from ecord_jax.search.incremental import recent_flips
from ecord_jax.search.incremental_walk import (
    BEST,
    BEST_STEP,
    BUDGET,
    COLDNESS,
    COUNTED,
    CUT,
    EVERY,
    PAST,
    STEP,
    IncrementalState,
    walk,
)
from ecord_jax.search.temperature import LEAST_SIZE, adapt
from ecord_jax.search.walks import Mover, StartWalk

__all__ = ["OWN", "IncrementalWalk", "can_walk", "incremental_mover", "start_walk", "survey"]

_COMPILED = 1 << 62  # a size at which `run_loop` always compiles
_FANOUT, _FEATURES = 16, 6
_COLDEST = 1e30  # 1 / T at temperature 0
_ADAPTS = 8  # times in |V| flips
_LEAST_FLIPS = 256  # in between
# What a walk has for itself, of an `IncrementalState`.
_OWN = "labels peeks last_flip tops sums stamps ring pending shift cross seen shared counts"
OWN = tuple(_OWN.split(" "))


def can_walk(config: object) -> bool:
    """Whether a walk on the host can follow an agent: one whose memory is linear in the globals."""
    if not isinstance(config, EcordConfig):
        return False
    return config.rnn == "zero" or (config.rnn == "none" and config.hidden_projection == "linear")


@dataclasses.dataclass
class IncrementalWalk:
    """One trajectory over a graph; `advance` changes it. Cuts are in device units.

    Attributes:
        state: of the compiled loop.
        rng: of its draws.
        best_labels: int8 [N].
        unit: s |V|, in which it sees how far below its best cut it is; infinite where its
            temperature does not adapt.
    """

    state: IncrementalState
    rng: np.random.Generator
    best_labels: np.ndarray
    unit: float = math.inf

    @property
    def step(self) -> int:
        """Flips done."""
        return int(self.state.counts[STEP])

    @property
    def labels(self) -> np.ndarray:
        """int8 [N], where it stands."""
        return self.state.labels

    @property
    def best_cut(self) -> float:
        return float(self.state.shared[BEST])

    @property
    def best_step(self) -> int:
        """Flips after which the best cut was met."""
        return int(self.state.counts[BEST_STEP])

    @property
    def actions(self) -> np.ndarray:
        """int32 [T], the vertices that the last `advance` flipped."""
        return self.state.actions

    @property
    def cuts(self) -> np.ndarray:
        """float64 [T + 1], the cut before the first of them and after each."""
        return self.state.cuts

    @property
    def scores(self) -> np.ndarray:
        """float32 [N], by which the last vertex was drawn."""
        return self.state.tops[: len(self.labels)]

    def advance(self, num_steps: int, budget: int, past: int = 0) -> None:
        """Does T flips, or fewer where its temperature adapts.

        An agent that sees the budget looks at it with the next refresh.
        """
        if self.state.counts[BUDGET]:
            self.state.counts[[BUDGET, PAST]] = budget + past, past
        if math.isfinite(self.unit):
            num_steps = min(num_steps, self._adapt())
        before, best, labels = self.step, self.best_cut, self.labels.copy()
        state = self.state._replace(
            draws=self.rng.random(num_steps),
            actions=np.empty(num_steps, np.int32),
            cuts=np.empty(num_steps + 1),
        )
        self.state = run_loop(walk, state, _COMPILED, reorder=True)
        if self.best_cut > best:
            done = self.actions[: self.best_step - before]
            flips = np.bincount(done, minlength=len(labels))
            self.best_labels = labels ^ (flips & 1).astype(np.int8)

    def forget(self) -> None:
        """Makes where it stands the best that it has met."""
        self.state.shared[BEST], self.state.counts[BEST_STEP] = self.state.shared[CUT], self.step
        self.best_labels = self.labels.copy()

    def _adapt(self) -> int:
        """Adapts where it is time to; gives how many flips there are until it is again."""
        size, refresh_every = len(self.labels), int(self.state.counts[EVERY])
        # The tree of sums knows of another temperature from a refresh on.
        every = -(-max(size // _ADAPTS, _LEAST_FLIPS) // refresh_every) * refresh_every
        if self.step and self.step % every == 0:
            shared = self.state.shared
            gap = (self.best_cut - shared[CUT]) / self.unit
            temperature, melted = adapt(1 / shared[COLDNESS], gap, every / size)
            shared[COLDNESS] = 1 / float(temperature)
            if melted:
                self.state.labels[:] = self.best_labels
                self.state.counts[COUNTED] = NEVER  # has the loop compute cut and peeks anew
        return every - self.step % every


def survey(agent: Agent, graph: Graph, refresh_every: int) -> IncrementalState:
    """What all walks over a graph share, and nothing that a walk changes.

    Args:
        agent: for which `can_walk`.
        graph: with at least one vertex.
        refresh_every: K, see `ecord_jax.search.incremental`.
    """
    arrays, config, size = to_arrays(graph), agent.config, graph.num_vertices
    t: Any = _six_features(jax.tree.map(np.asarray, jax.jit(factor)(agent, arrays)))
    matrix = graph.adjacency()
    unit = weight_unit(float(np.abs(matrix.data).max(initial=0.0)))
    width, features = len(t.scale), len(t.observed)
    budgeted = sees_budget(config.scaling)
    globals_ = 4 if budgeted else 2
    # The memory is linear in the globals: p = p_0 + sum_g p_g o_g.
    probes = np.eye(1 + globals_, globals_, -1, np.float32)
    hidden = jnp.zeros(0)
    memory = np.stack([projected_memory(agent, jnp.asarray(g), hidden) for g in probes])
    memory[1:] -= memory[0]
    products = memory @ t.memory_products[:, :size]
    weighed = t.observed * t.scale
    recent = recent_flips(config.scaling)
    degree = int(np.diff(matrix.indptr).max(initial=0))
    offsets, spans = _offsets(size), time_spans(size, config.scaling)
    return IncrementalState(
        starts=matrix.indptr.astype(np.int64),
        near=matrix.indices.astype(np.int32),
        weights=(matrix.data / unit).astype(np.float32),
        static=_rows(t.static)[:size],
        tables=np.stack(
            [
                t.square[:size] + products[0],
                t.linear[:size],
                *products[1:3],
                *t.observed_products[:, :size],
                *products[3:],
            ],
            axis=1,
        ),
        memory=memory @ t.memory,
        observed=t.observed,
        gamma=t.scale,
        bias=t.bias,
        out=t.out,
        weighed=weighed,
        inner=t.observed @ t.observed.T / width,
        slopes=weighed @ t.out,
        rates=np.asarray([1 / s for s in spans] + [0.0] * (features - 2 - len(spans)), np.float32),
        labels=np.zeros(size, np.int8),
        peeks=np.zeros(size, np.float32),
        last_flip=np.full(size, NEVER, np.int32),
        tops=np.zeros(offsets[-1], np.float32),
        sums=np.zeros(offsets[-1] - size, np.float32),
        offsets=offsets,
        stamps=np.full(offsets[-1] - size, -1, np.int32),
        ring=np.zeros(1 << recent.bit_length(), np.int64),
        pending=np.zeros(degree + 1 + recent, np.int64),
        shift=np.zeros(width, np.float32),
        cross=np.zeros(features, np.float32),
        seen=np.zeros(features, np.float32),
        draws=np.zeros(0),
        actions=np.zeros(0, np.int32),
        cuts=np.zeros(1),
        shared=np.array(
            [
                0,
                -np.inf,
                0,
                1 / float(scale(arrays, config.scaling)),
                0,
                0,
                0,
                0,
                t.bias @ t.out,
                t.out_bias,
                0,
                0,
            ],
            np.float64,
        ),
        counts=np.array(
            [
                0,
                0,
                refresh_every,
                0,
                recent,
                0 if config.scaling == "paper" else -NEVER,
                config.scaling != "paper",
                0,
                budgeted,
                0,
            ]
        ),
    )


def _six_features(t: Factored) -> Factored:
    """The tables with features of weight 0 added, as the loop wants it."""
    more = [(0, _FEATURES - len(t.observed)), (0, 0)]
    padded: dict[str, Any] = {
        name: np.pad(getattr(t, name), more) for name in ("observed", "observed_products")
    }
    return t._replace(**padded)


def _rows(static: np.ndarray) -> np.ndarray:
    """The blocks of a table [blocks, A, columns] as rows [N, A], each contiguous."""
    # Without `ascontiguousarray` numpy would keep the order in memory, here that of columns.
    blocks = static if len(static) == 1 else static[:, :, :BLOCK]
    return np.ascontiguousarray(blocks.transpose(0, 2, 1)).reshape(-1, static.shape[1])


def _offsets(size: int) -> np.ndarray:
    """int64, where each level of the tree begins; at least two levels."""
    sizes = [size]
    while len(sizes) == 1 or sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // _FANOUT))
    return np.cumsum([0, *sizes])


def start_walk(
    ground: IncrementalState,
    labels: np.ndarray,
    temperature: float,
    rng: np.random.Generator,
    unit: float = math.inf,
) -> IncrementalWalk:
    """A walk before its first flip.

    Args:
        ground: `survey` of the graph.
        labels: int8 [N], where to start.
        temperature: of its softmax; 0 is greedy, ties at random.
        rng: of the walk's draws.
        unit: s |V| for a temperature that adapts, see `ecord_jax.search.temperature`.
    """
    state = ground._replace(**{name: getattr(ground, name).copy() for name in OWN})
    state.labels[:] = labels
    state.shared[COLDNESS] = 1 / temperature if temperature else _COLDEST
    return IncrementalWalk(state, rng, labels.astype(np.int8), unit)


def incremental_mover(
    agent: Agent, temperatures: np.ndarray, refresh_every: int, adapts: bool = False
) -> Mover:
    """What walks as an agent says for which `can_walk`.

    Args:
        agent: the agent.
        temperatures: [B], of trajectories.
        refresh_every: K.
        adapts: whether these adapt, see `ecord_jax.search.temperature`.
    """

    def look(graph: Graph) -> StartWalk:
        ground, unit = survey(agent, graph, refresh_every), math.inf
        if adapts:
            size = max(graph.num_vertices, LEAST_SIZE)
            unit = size * float(to_arrays(graph).field_scale)
        return lambda b, labels, rng: start_walk(ground, labels, float(temperatures[b]), rng, unit)

    return Mover("ecord", look, False)
