"""What a walk on the host is: one trajectory, by a compiled loop, a chunk of flips after another.

`swift`, the incremental step of ECORD's agents and tabu search have one each. Shape letters: N
vertices, T flips of a chunk.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.search.tabu import TabuWalk, survey

__all__ = ["TABU", "Mover", "StartWalk", "Walk", "num_processors"]


class Walk(Protocol):
    """One trajectory; `advance` changes it. Cuts are in units of its own.

    Attributes:
        step: flips done.
        labels: int8 [N], where it stands.
        best_labels, best_cut, best_step: the best labels, their cut, and after how many flips.
        actions: int [T], the vertices that the last `advance` flipped.
        cuts: float64 [T + 1], the cut before the first of them and after each.
    """

    @property
    def step(self) -> int: ...
    @property
    def labels(self) -> np.ndarray: ...
    @property
    def best_labels(self) -> np.ndarray: ...
    @property
    def best_cut(self) -> float: ...
    @property
    def best_step(self) -> int: ...
    @property
    def actions(self) -> np.ndarray: ...
    @property
    def cuts(self) -> np.ndarray: ...

    def advance(self, num_steps: int, budget: int, past: int = 0) -> None:
        """Does T flips; fewer, but one at least, where the walk itself changes after them.

        Args:
            num_steps: T.
            budget: flips of the whole walk that it can count on, those done included.
            past: flips that count as done before the first, where the labels at the start are good
                and a walk that began anew would leave them far behind; always the same.
        """

    def forget(self) -> None:
        """Makes where it stands the best that it has met."""


# The number of a trajectory, start labels int8 [N] and draws.
StartWalk = Callable[[int, np.ndarray, np.random.Generator], Walk]


class Mover(NamedTuple):
    """What flips vertices.

    Attributes:
        name: "tabu" or "ecord", an agent.
        look: looks at a graph of at least one vertex once; what it gives starts walks over it.
        merges: whether it can look at a new graph within a blink, as one of merged vertices; then
            it can be told not to use loops for dense graphs, which may have to be compiled.
    """

    name: str
    look: Callable[..., StartWalk]
    merges: bool


def _look_for_tabu(graph: Graph, dense: bool = True) -> StartWalk:
    ground = survey(graph, dense)
    return lambda _, labels, rng: TabuWalk(ground, labels, rng)


TABU = Mover("tabu", _look_for_tabu, True)


def num_processors() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
