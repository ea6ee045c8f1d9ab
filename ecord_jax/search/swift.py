"""`swift` on the host: what its walks share, and how one begins and goes on.

Shape letters: B walks, N vertices, T flips of a chunk, G traits, F features of a vertex.
"""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np
import scipy.sparse

from ecord_jax.graphs import Graph
from ecord_jax.graphs.compiled import run_loop
from ecord_jax.graphs.order import depth_first
from ecord_jax.networks.agent import Agent
from ecord_jax.networks.swift import (
    SwiftConfig,
    SwiftTables,
    swift_tables,
    time_edges,
    time_places,
    vertex_features,
)
from ecord_jax.networks.traits import graph_params, graph_traits
from ecord_jax.search.dense import as_rows, is_dense
from ecord_jax.search.swift_batch import walk_batches
from ecord_jax.search.swift_dense import walk_dense
from ecord_jax.search.swift_state import (
    BATCH,
    BEST,
    BEST_STEP,
    BUDGET,
    CACHED,
    CUT,
    FAN,
    GAIN,
    LANES,
    PAST,
    ROW,
    STEP,
    WalkState,
)
from ecord_jax.search.swift_walk import walk
from ecord_jax.search.walks import Mover, StartWalk

__all__ = [
    "OWN",
    "SETTINGS",
    "Scene",
    "Sight",
    "SwiftWalk",
    "enter",
    "see",
    "start_walk",
    "survey",
    "swift_mover",
    "tune",
    "view",
]

# What each walk has for itself in its state; the rest is shared.
OWN = (
    *("rows", "bins", "held", "ring", "faded", "sums", "some", "exponents"),
    *("columns", "shared", "counts", "ahead", "rests", "marks", "changed"),
)
# The parameters of the globals, in the order of `WalkState.settings`.
SETTINGS = ("temperature", "penalty", "bend", "long", "memory", "curve")

_LARGE = 1 << 16  # from so many vertices on waiting for memory takes longer than batches do
_DENSE = 0.25  # with more neighbours passes over all vertices are faster
_LINE = 64  # bytes of a cache line
_COMPILED = 1 << 62  # a size at which `run_loop` always compiles


@dataclasses.dataclass
class SwiftWalk:
    """One trajectory of `swift` over a graph; `advance` changes it.

    Cuts are in the units of `survey`.

    Attributes:
        state: of the compiled loop.
        rng: of its draws.
        labels: int8 [N], where it stands, as `state` has it in its rows.
        best_labels: int8 [N].
        actions: int32 [T], the vertices that the last `advance` flipped.
    """

    state: WalkState
    rng: np.random.Generator
    labels: np.ndarray
    best_labels: np.ndarray
    actions: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0, np.int32))

    @property
    def step(self) -> int:
        """Flips done."""
        return int(self.state.counts[STEP])

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

    def advance(self, num_steps: int, budget: int, past: int = 0) -> None:
        """Does T flips.

        In parts they are the same, but on large graphs, which are walked in batches.

        Args:
            num_steps: T.
            budget: flips of the whole walk, those done included; heeded from the next refresh on.
            past: flips that count as done before the first.
        """
        before, best, dense = self.step, self.best_cut, len(self.state.matrix) > 0
        large = not dense and len(self.state.rows) > _LARGE
        self.state.counts[[BUDGET, PAST]] = budget + past, past
        state = self.state._replace(
            draws=self.rng.random(num_steps + large * num_steps // 4),
            choices=self.rng.random(large * num_steps),
            actions=np.empty(num_steps, np.int32),
            cuts=np.empty(num_steps + 1),
        )
        loop = walk_dense if dense else walk_batches if large else walk
        self.state = run_loop(loop, state, _COMPILED, reorder=True)
        self.actions = self.state.order[self.state.actions]
        if self.best_cut > best:
            self.best_labels = _flipped(self.labels, self.actions[: self.best_step - before])
        self.labels = _flipped(self.labels, self.actions)

    def forget(self) -> None:
        """Makes where it stands the best that it has met."""
        self.state.shared[BEST], self.state.counts[BEST_STEP] = self.state.shared[CUT], self.step
        self.best_labels = self.labels


class Sight(NamedTuple):
    """What `swift` sees of a graph at once, whatever its parameters.

    Attributes:
        matrix: float64 [N, N], the weights divided by a power of two, so that neither their squares
            nor their sums leave the range of float64.
        traits: float64 [G], see `graph_traits`.
        features: float64 [N, F], see `vertex_features`.
    """

    matrix: scipy.sparse.csr_array
    traits: np.ndarray
    features: np.ndarray


def see(config: SwiftConfig, graph: Graph) -> Sight:
    """Looks at a graph of at least one vertex."""
    matrix, size = graph.adjacency(), graph.num_vertices
    exponent = math.frexp(float(np.abs(matrix.data).max(initial=0.0)))[1]
    matrix.data = weights = np.ldexp(matrix.data, -exponent)
    owners = np.repeat(np.arange(size), np.diff(matrix.indptr))
    traits = graph_traits(owners, matrix.indices, weights, size)
    return Sight(matrix, traits, vertex_features(config, owners, matrix.indices, weights, size))


def tune(agent: Agent, sight: Sight) -> tuple[dict[str, np.ndarray], SwiftTables]:
    """What an agent of a `SwiftConfig` makes of a graph: `graph_params`, and tables float32 [N]."""
    params = {name: np.asarray(value, np.float64) for name, value in agent.params.items()}
    params = graph_params(params, sight.traits)
    tables = swift_tables(params, agent.config, sight.features)
    return params, SwiftTables(*(column.astype(np.float32) for column in tables))


class Scene(NamedTuple):
    """A graph made ready for the walks of any agent of one `SwiftConfig`.

    Attributes:
        sight: of the graph.
        ground: what `survey` gives, but for what the parameters say.
    """

    sight: Sight
    ground: WalkState


def survey(agent: Agent, graph: Graph, dense: bool = True) -> WalkState:
    """What all walks over a graph share, and nothing that a walk changes.

    Args:
        agent: of a `SwiftConfig`.
        graph: with at least one vertex.
        dense: whether passes over all vertices may be made of it.
    """
    return enter(agent, view(agent.config, graph, dense))


def enter(agent: Agent, scene: Scene) -> WalkState:
    """What `survey` gives, of a graph made ready with the agent's configuration."""
    params, tables = tune(agent, scene.sight)
    ground = scene.ground
    rows, columns = ground.rows.copy(), ground.columns.copy()
    for name, column in tables._asdict().items():
        rows[name] = column[ground.order]
    columns[GAIN] = rows["gain"][: columns.shape[1]]
    settings = np.concatenate([params[name] for name in SETTINGS])
    return ground._replace(rows=rows, columns=columns, settings=settings)


def view(config: SwiftConfig, graph: Graph, dense: bool = True) -> Scene:
    """Makes a graph of at least one vertex ready; see `survey`."""
    sight, size = see(config, graph), graph.num_vertices
    edges = time_edges(config, size)
    matrix, order = _ordered(sight.matrix)
    scale = math.sqrt((matrix.data**2).sum() / size) or 1.0
    dense = dense and is_dense(graph, _DENSE)
    whole = as_rows(matrix, graph.weights.dtype) if dense else np.zeros((0, 0), np.float32)
    levels, around = _levels(size), 1 << int(edges[-1]).bit_length()
    # The most that a step weighs anew: a vertex, its neighbours, and one for each edge in time.
    most = 1 + int(np.diff(matrix.indptr).max()) + len(edges)
    every = config.refresh_every(size, graph.num_edges)
    ground = WalkState(
        order=order,
        starts=matrix.indptr.astype(np.int64),
        near=matrix.indices.astype(np.int32),
        weights=matrix.data,
        edges=edges,
        places=time_places(config, size),
        settings=np.zeros(0),
        levels=levels[:-1],
        rows=np.zeros(size, ROW),
        bins=np.full(size, len(edges), np.min_scalar_type(len(edges))),
        held=np.zeros(len(edges) + 1),
        ring=np.full(around, -1, np.int32),
        faded=np.zeros(around),
        sums=np.zeros(levels[-1]),
        some=np.zeros(most + LANES, np.int32),
        exponents=np.zeros(most + LANES),
        matrix=whole,
        columns=np.zeros((4, size if dense else 0)),
        ahead=np.zeros(BATCH, np.int32),
        rests=np.zeros(BATCH),
        marks=np.zeros(levels[1] // FAN, np.int32),
        changed=np.zeros(levels[1] // FAN, np.int32),
        draws=np.zeros(0),
        choices=np.zeros(0),
        actions=np.zeros(0, np.int32),
        cuts=np.zeros(1),
        shared=np.array([0.0, -np.inf, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0 / scale, 0.0, 0.0, 0.0]),
        counts=np.array([0, 1, 0, every, *[0] * 7]),
    )
    return Scene(sight, ground)


def _ordered(matrix: scipy.sparse.csr_array) -> tuple[scipy.sparse.csr_array, np.ndarray]:
    """Gives a matrix of rows where neighbours are near each other, and their vertices int32 [N]."""
    size = matrix.shape[0]
    if size <= CACHED:
        return matrix, np.arange(size, dtype=np.int32)
    order = depth_first(matrix)
    rank = np.empty_like(order)
    rank[order] = np.arange(size)
    matrix = matrix[order]
    matrix.indices = rank[matrix.indices]
    return matrix, order


def _levels(size: int) -> np.ndarray:
    """int64 [L + 1], where each level of `WalkState.sums` begins, and where the last ends."""
    starts, count = [0], size
    while True:
        blocks = -(-count // FAN)
        starts.append(starts[-1] + blocks * FAN)
        if blocks == 1:
            return np.array(starts)
        count = blocks


def start_walk(ground: WalkState, labels: np.ndarray, rng: np.random.Generator) -> SwiftWalk:
    """A walk before its first flip.

    Args:
        ground: `survey` of the graph.
        labels: int8 [N], where to start.
        rng: of the walk's draws.
    """
    state = ground._replace(**{name: _copy(getattr(ground, name)) for name in OWN})
    state.rows["side"] = 1.0 - 2.0 * labels[state.order]
    return SwiftWalk(state, rng, labels.astype(np.int8), labels.astype(np.int8))


def _flipped(labels: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """Labels int8 [N] after some flips."""
    return labels ^ (np.bincount(actions, minlength=len(labels)) & 1).astype(np.int8)


def _copy(numbers: np.ndarray) -> np.ndarray:
    """A copy that begins with a cache line, so that no row lies in two."""
    room = np.empty(numbers.nbytes + _LINE, np.uint8)
    first = -room.ctypes.data % _LINE
    own = room[first : first + numbers.nbytes].view(numbers.dtype).reshape(numbers.shape)
    own[...] = numbers
    return own


def swift_mover(agent: Agent) -> Mover:
    """What walks as an agent of a `SwiftConfig` says."""

    def begin(graph: Graph, dense: bool = True) -> StartWalk:
        ground = survey(agent, graph, dense)
        return lambda _, labels, rng: start_walk(ground, labels, rng)

    return Mover("ecord", begin, True)
