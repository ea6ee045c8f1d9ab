"""Tabu walks on the host. Shape letters: N vertices, H half-edges, T flips."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.graphs.compiled import run_loop
from ecord_jax.search.dense import as_rows, is_dense
from ecord_jax.search.tabu_dense import DenseState, walk_dense
from ecord_jax.search.tabu_walk import (
    BEST,
    BEST_TURN,
    TOTAL,
    BlockState,
    BucketState,
    walk_blocks,
    walk_buckets,
)
from ecord_jax.search.tenure import SHRINKING, Tenure

__all__ = ["Ground", "TabuWalk", "as_units", "survey"]

_COMPILED = 1 << 62  # a size at which `run_loop` always compiles
# Buckets are for weights up to so many units, on average over half-edges and loops.
_MOST_UNITS = 16
_DENSE = 0.1  # with more neighbours passes over all vertices are faster
_LARGEST = 2**30  # in units: sums stay within int32


def as_units(weights: np.ndarray) -> np.ndarray | None:
    """Weights over the largest number that all of them are multiples of, exactly.

    Args:
        weights: [E], int64 (those beyond 2^53 are rounded to float64) or float64.

    Returns:
        int64 [E]; None where there is an integer of 2^30 or more among them.
    """
    values = weights[weights != 0].astype(np.float64)
    mantissas, exponents = np.frexp(values)
    integers = np.ldexp(mantissas, 53).astype(np.int64)
    # What is left of a mantissa without its zeros at the end is odd.
    lowest = exponents - 53 + np.log2((integers & -integers).astype(np.float64)).astype(np.int64)
    with np.errstate(over="ignore"):
        scaled = np.ldexp(weights.astype(np.float64), -int(lowest.min()) if len(lowest) else 0)
    unit = np.gcd.reduce(scaled.astype(np.int64)) if abs(scaled).max(initial=0) < 2**53 else 1
    scaled = scaled / max(unit, 1)
    return scaled.astype(np.int64) if abs(scaled).max(initial=0) < _LARGEST else None


@dataclasses.dataclass(frozen=True)
class Ground:
    """What all walks over a graph share; none of them changes it.

    Attributes:
        starts, near, effects: see `BucketState`.
        firsts: int32 [G], where buckets begin; None where they are not used.
        room: members of all buckets together.
        matrix: see `DenseState`; None where neighbours are few.
    """

    starts: np.ndarray
    near: np.ndarray
    effects: np.ndarray
    firsts: np.ndarray | None
    room: int
    matrix: np.ndarray | None = None

    @property
    def num_vertices(self) -> int:
        return len(self.starts) - 1


def survey(graph: Graph, dense: bool = True) -> Ground:
    """Looks at a graph.

    Args:
        graph: with at least one vertex.
        dense: whether passes over all vertices may be made of it.
    """
    units, dense = as_units(graph.weights), dense and is_dense(graph, _DENSE)
    matrix = (graph if units is None else dataclasses.replace(graph, weights=units)).adjacency()
    starts, near = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    if units is not None:
        totals = np.asarray(abs(matrix).sum(axis=1), np.int64).ravel()
        # A gain is even or odd as the total of its vertex is, and not above it.
        room = int((totals + 1).sum())
        few = room <= min(_MOST_UNITS * (matrix.nnz + len(totals)), _LARGEST)
        if few and not dense:
            firsts = _firsts(totals)
            return Ground(starts, near, (2 * matrix.data).astype(np.int32), firsts, room)
    else:  # a power of two, which costs no digit, keeps sums within the range of float64
        exponent = math.frexp(float(np.abs(matrix.data).max(initial=0.0)))[1]
        matrix.data = np.ldexp(matrix.data, -exponent)
    whole = as_rows(matrix, graph.weights.dtype) if dense else None
    return Ground(starts, near, 2.0 * matrix.data, None, 0, whole)


def _firsts(totals: np.ndarray) -> np.ndarray:
    """Where each bucket begins, if there is room for all that can be in it.

    Args:
        totals: int64 [N], the largest gain that each vertex can have; the smallest is its opposite.
    """
    most = int(totals.max())
    # From gain -d to d in steps of two: one more from there on, one less two steps after the end.
    changes = np.bincount(most - totals, minlength=2 * most + 3)
    changes -= np.bincount(most + totals + 2, minlength=2 * most + 3)
    sizes = changes[: 2 * most + 1].copy()
    sizes[0::2], sizes[1::2] = np.cumsum(sizes[0::2]), np.cumsum(sizes[1::2])
    return (np.cumsum(sizes) - sizes).astype(np.int32)


class TabuWalk:
    """One trajectory, see `ecord_jax.search.walks.Walk`; cuts are in units of the ground.

    Args:
        ground: of the graph.
        labels: int8 [N], where to start.
        rng: of its draws.
        tenure: how long vertices are barred.

    Attributes:
        free: int32 [N], the flip before which each vertex is barred.
        cut: where it stands.
    """

    def __init__(
        self,
        ground: Ground,
        labels: np.ndarray,
        rng: np.random.Generator,
        tenure: Tenure = SHRINKING,
    ) -> None:
        self._ground, self._rng, self._tenure = ground, rng, tenure
        self.labels, self.best_labels = labels.copy(), labels.copy()
        self.free = np.zeros(len(labels), np.int32)
        self.step = self.best_step = 0
        owners = np.repeat(np.arange(ground.num_vertices), np.diff(ground.starts))
        # Effects are twice the weights, and every edge is there twice.
        self.cut = float(ground.effects[labels[owners] != labels[ground.near]].sum() / 4)
        self.best_cut = self.cut
        self.actions, self.cuts = np.zeros(0, np.int32), np.array([self.cut])

    def advance(self, num_steps: int, budget: int, past: int = 0) -> None:
        """Does T flips.

        Args:
            num_steps: T.
            budget: flips of the whole walk.
            past: flips that count as done before the first.
        """
        used = np.minimum((past + self.step + np.arange(num_steps)) / (past + budget), 1.0)
        draws, uniforms = self._rng.random((2, num_steps))
        tenures = self._tenure.draw(used, uniforms, len(self.labels))
        labels = self.labels.copy()
        actions, rises, summary = self.walk(draws, tenures)
        if self.cut + summary[BEST] > self.best_cut:
            self.best_cut = self.cut + float(summary[BEST])
            self.best_step = self.step + int(summary[BEST_TURN])
            flips = np.bincount(actions[: int(summary[BEST_TURN])], minlength=len(labels))
            self.best_labels = labels ^ (flips & 1).astype(np.int8)
        self.actions, self.cuts = actions, self.cut + rises
        self.cut += float(summary[TOTAL])
        self.step += num_steps

    def forget(self) -> None:
        """Makes where it stands the best that it has met."""
        self.best_cut, self.best_step = self.cut, self.step
        self.best_labels = self.labels.copy()

    def walk(
        self, draws: np.ndarray, tenures: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Runs the loop that suits the graph; gives actions [T], rises [T + 1], summary [3]."""
        state = _chunk(self._ground, self, draws, tenures)
        loop = _LOOPS[type(state)]
        state = run_loop(loop, state, _COMPILED, reorder=loop is walk_dense)
        return state.actions, state.rises, state.summary


_LOOPS: dict[type, Callable[[Any], None]] = {
    BlockState: walk_blocks,
    BucketState: walk_buckets,
    DenseState: walk_dense,
}


def _chunk(
    ground: Ground, walk: TabuWalk, draws: np.ndarray, tenures: np.ndarray
) -> BucketState | BlockState | DenseState:
    """What a loop works on; it changes the walk's labels and tenures in place."""
    size = ground.num_vertices
    shared: dict[str, Any] = {
        "labels": walk.labels,
        "free": walk.free,
        "draws": draws,
        "tenures": tenures,
        "actions": np.empty(len(draws), np.int32),
        "step": walk.step,
    }
    if ground.matrix is not None:
        return DenseState(
            matrix=ground.matrix,
            fields=np.empty(size),
            sides=np.empty(size),
            keys=np.empty(size),
            rises=np.empty(len(draws) + 1),
            summary=np.zeros(3),
            **shared,
        )
    shared |= {
        "starts": ground.starts,
        "near": ground.near,
        "effects": ground.effects,
        "slots": np.empty(1 << size.bit_length(), np.int32),
    }
    if ground.firsts is None:
        return BlockState(
            gains=np.empty(size),
            sides=np.empty(size, np.int8),
            keys=np.empty(size),
            tops=np.empty(-(-size // 64)),
            nexts=np.empty(size, np.int32),
            rises=np.empty(len(draws) + 1),
            summary=np.zeros(3),
            **shared,
        )
    return BucketState(
        rows=np.empty((size, 4), np.int32),
        buckets=np.stack([ground.firsts, ground.firsts], axis=1),
        members=np.empty(ground.room, np.int32),
        rises=np.empty(len(draws) + 1, np.int64),
        summary=np.zeros(3, np.int64),
        most=len(ground.firsts) // 2,
        **shared,
    )
