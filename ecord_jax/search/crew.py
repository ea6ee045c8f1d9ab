"""Walks on the host: one trajectory each, side by side in threads, and the time that is left.

A walk is what a compiled loop does on one trajectory; `swift` and the incremental step of ECORD's
agents have one each. Shape letters: B walks, N vertices, T flips of a chunk.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np

from ecord_jax.search.chunk import Found
from ecord_jax.search.prepare import Prepared

__all__ = ["StartWalk", "Walk", "num_processors", "prepare_crew"]

_TRIAL_STEPS = 2048
_ROUNDS = 32  # of chunks, at least, in which the budget is spent
_CHUNK_SECONDS = 0.2
_LEAST_CHUNK, _MOST_CHUNK = 256, 1 << 17
# Below so many flips a vertex, random labels would not even become what single flips make of them.
_FEW = 6.0


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

    def advance(self, num_steps: int, budget: int) -> None:
        """Does T flips.

        Args:
            num_steps: T.
            budget: flips of the whole walk that it can count on, those done included.
        """


# A walk's number, start labels int8 [N] and draws; the numbers are those of the trajectories.
StartWalk = Callable[[int, np.ndarray, np.random.Generator], Walk]


def num_processors() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Crew:
    """Walks that share the processors, and what is left of the time.

    Args:
        start: makes a walk.
        starts: int8 [B, N], start labels.
        fallback: int8 [N], those of all where there is hardly time.
        last_step: flips of each walk after which the search ends.
        left: gives the seconds that are left.
        seed: of the draws.
    """

    def __init__(
        self,
        start: StartWalk,
        starts: np.ndarray,
        fallback: np.ndarray,
        last_step: int,
        left: Callable[[], float],
        seed: list[int],
    ) -> None:
        self._start, self._starts, self._seed = start, starts, seed
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
            actions=np.stack([walk.actions for walk in walks]),
            cuts=np.stack([walk.cuts for walk in walks]),
            after=np.stack([walk.labels for walk in walks]),
        )

    def _walk(self, number: int) -> Walk:
        """A walk, made when it is first wanted: of a large graph each takes its time."""
        if number not in self._walks:
            rng = np.random.default_rng([*self._seed, number])
            self._walks[number] = self._start(number, self._starts[number], rng)
        return self._walks[number]

    def _try(self) -> float:
        """Seconds a flip, by a walk that is thrown away; what comes once a walk is not counted."""
        walk = self._start(0, self._starts[0], np.random.default_rng(0))
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


def prepare_crew(
    start: StartWalk,
    starts: np.ndarray,
    fallback: np.ndarray,
    *,
    last_step: int,
    left: Callable[[], float],
    seed: list[int],
) -> Prepared:
    """Compiles the walk and measures it.

    Args:
        start: makes a walk.
        starts: int8 [B, N], start labels.
        fallback: int8 [N], good labels, to start from where there is time for few flips a vertex.
        last_step: flips of each walk after which the search ends.
        left: gives the seconds until it must end, from which the budget is estimated; infinite
            where only steps are counted, so that the same seed gives the same flips.
        seed: of the draws.
    """
    crew = _Crew(start, starts, fallback, last_step, left, seed)
    return Prepared(crew.groups(), crew.run, crew.num_steps)
