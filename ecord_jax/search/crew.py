"""Threads that do what they are told side by side, and tell what they find meanwhile.

Compiled loops let other threads go on. Shape letters: N vertices.
"""

from __future__ import annotations

import dataclasses
import queue
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import NamedTuple, TypeVar

from ecord_jax.search.walks import Mover, StartWalk, Walk, num_processors

__all__ = ["Crew", "Ground", "Limit"]

_Value = TypeVar("_Value")

_HEARTBEAT_SECONDS = 0.1  # at least so often `Crew.run` yields
_SLICE_SECONDS = 0.1
_LEAST_SLICE, _SLICE, _MOST_SLICE = 256, 1 << 15, 1 << 17


class Limit(NamedTuple):
    """What a walk may use up, one of the two.

    Attributes:
        flips: so many, and always in the same slices.
        seconds: from now on; flips are estimated by the pace.
        pace: seconds a flip, to begin with.
    """

    flips: int | None = None
    seconds: float = 0.0
    pace: float = 1e-6


@dataclasses.dataclass
class Ground:
    """A mover that has looked at a graph.

    Attributes:
        mover: the mover.
        start: starts its walks.
        pace: seconds a flip; 1 where only flips are counted.
    """

    mover: Mover
    start: StartWalk
    pace: float


class Crew:
    """Some threads.

    Args:
        left: gives the seconds until all must end.

    Attributes:
        threads: how many.
    """

    def __init__(self, left: Callable[[], float]) -> None:
        self.threads = num_processors()
        self._left = left
        self._pool = ThreadPoolExecutor(self.threads)
        self._told: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._stopped = threading.Event()

    @property
    def over(self) -> bool:
        """Whether tasks must end now."""
        return self._stopped.is_set() or self._left() <= 0

    def tell(self, news: object) -> None:
        """What a task has `run` yield."""
        self._told.put(news)

    def run(self, tasks: Sequence[Callable[[], _Value]]) -> Generator[object, None, list[_Value]]:
        """Does tasks side by side; those that wait for a thread are done even when time is over.

        Yields what they tell, and None from time to time; gives what they give, in their order. It
        must be closed or exhausted: the tasks end then.
        """
        futures = [self._pool.submit(task) for task in tasks]
        try:
            while not all(future.done() for future in futures):
                try:
                    yield self._told.get(timeout=_HEARTBEAT_SECONDS)
                except queue.Empty:
                    yield None
            while not self._told.empty():
                yield self._told.get()
            return [future.result() for future in futures]
        except BaseException:
            self._stopped.set()
            for future in futures:
                future.cancel()
            wait(futures)
            raise

    def drive(self, walk: Walk, limit: Limit, tell: Callable[[Walk], None] | None = None) -> float:
        """Lets a walk go on until it has used up its limit or all must end.

        Args:
            walk: the walk; it does some flips at least.
            limit: what it may use up.
            tell: called after each slice.

        Returns:
            Seconds a flip.
        """
        began, first, pace = time.monotonic(), walk.step, limit.pace
        size = len(walk.best_labels)
        while True:
            if limit.flips is not None:
                budget = first + limit.flips
                count = min(_SLICE, budget - walk.step)
            else:
                rest = began + limit.seconds - time.monotonic()
                budget = walk.step + max(int(min(rest, self._left()) / pace), 1)
                least = max(_LEAST_SLICE, size // 8)  # what begins a slice takes its time, too
                count = min(max(int(_SLICE_SECONDS / pace), least), _MOST_SLICE + size // 8)
                count = max(min(count, budget - walk.step), 1)
                budget = max(budget, walk.step + count)
            walk.advance(count, budget)
            pace = (time.monotonic() - began) / (walk.step - first)
            if tell is not None:
                tell(walk)
            ended = walk.step >= budget or self.over
            if limit.flips is None:
                ended |= time.monotonic() - began + pace * count / 2 >= limit.seconds
            if ended:
                return pace
