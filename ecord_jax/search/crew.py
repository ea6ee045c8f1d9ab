"""Threads that do tasks side by side, and hand over what these find meanwhile.

Compiled loops let other threads go on. Shape letters: N vertices.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import math
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple, TypeVar

from ecord_jax.search.walks import Mover, StartWalk, Walk, num_processors

__all__ = ["Crew", "Ground", "Limit", "Task"]

_Item = TypeVar("_Item")
_Value = TypeVar("_Value")

_HEARTBEAT_SECONDS = 0.1  # at least so often `Crew.run` yields
_SLICE_SECONDS = 0.1
_LEAST_SLICE, _SLICE, _MOST_SLICE = 256, 1 << 15, 1 << 17
_MOST_FLIPS = 1 << 30  # of a walk: the times of its flips are kept in 32 bits
_ABREAST = 16  # tasks that take turns; not the number of threads, which must not matter then


class Limit(NamedTuple):
    """What a walk may use up, one of the two.

    Attributes:
        flips: so many, and always in the same slices.
        seconds: from now on; flips are estimated by the pace.
        pace: seconds a flip, to begin with.
        progress: below 1, what part of its way is behind a walk that begins with good labels. It
            forgets them half-way: otherwise they would often be the best that it has met.
    """

    flips: int | None = None
    seconds: float = 0.0
    pace: float = 1e-6
    progress: float = 0.0


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


class Task(NamedTuple):
    """Attributes:
    by: whose effort it is, but for pieces of work whose find says that they are another one's.
    work: yields what is found, a `Found`, or None, after each piece of work; what it returns is its
        value.
    """

    by: str
    work: Generator[Any, None, Any]


class Crew:
    """Some threads.

    Args:
        left: gives the seconds until all must end. Where they are infinite tasks take turns, so
            that what they find comes in the same order, whatever the threads are and do.

    Attributes:
        threads: how many.
        effort: seconds of work in all threads together, by who did it.
    """

    def __init__(self, left: Callable[[], float]) -> None:
        self.threads = num_processors()
        self.effort = collections.defaultdict[str, float](float)
        self._left = left
        self._pool = ThreadPoolExecutor(self.threads)
        self._stopped, self._lock = threading.Event(), threading.Lock()

    @property
    def left(self) -> float:
        """Seconds until tasks must end."""
        return 0.0 if self._stopped.is_set() else self._left()

    @property
    def over(self) -> bool:
        """Whether tasks must end now."""
        return self.left <= 0

    def close(self) -> None:
        """Ends the threads, which have nothing to do by now."""
        self._pool.shutdown()

    def each(self, function: Callable[[_Item], _Value], items: Sequence[_Item]) -> list[_Value]:
        """Calls a function with each of some items, side by side."""
        return list(self._pool.map(function, items))

    def run(self, tasks: Sequence[Task]) -> Generator[Any, None, list[Any]]:
        """Does tasks side by side.

        Yields what they find, and None from time to time; gives their values, in their order, but
        for those that have not begun when time is over. It must be closed or exhausted: the tasks
        end then. An error in one of them ends all.
        """
        futures: list[Future[Any]] = []
        take_turns = math.isinf(self._left())
        try:
            go_on = self._in_turns if take_turns else self._freely
            return (yield from go_on(tasks, futures))
        except BaseException:
            self._stopped.set()
            for future in futures:
                future.cancel()
            wait(futures)
            raise

    def _in_turns(
        self, tasks: Sequence[Task], futures: list[Future[Any]]
    ) -> Generator[Any, None, list[Any]]:
        values: dict[int, Any] = {}
        waiting, active = collections.deque(range(len(tasks))), list[int]()
        while waiting or active:
            while waiting and len(active) < _ABREAST:
                active.append(waiting.popleft())
            futures[:] = [self._pool.submit(self._next, tasks[number]) for number in active]
            while wait(futures, _HEARTBEAT_SECONDS).not_done:
                yield None
            for number, future in zip(active, tuple(futures), strict=True):
                ended, value = future.result()
                if ended:
                    values[number] = value
                else:
                    yield value
            active = [number for number in active if number not in values]
        return [values[number] for number in range(len(tasks))]

    def _freely(
        self, tasks: Sequence[Task], futures: list[Future[Any]]
    ) -> Generator[Any, None, list[Any]]:
        # Short, so that little is left to take in when time is over.
        found: queue.Queue[Any] = queue.Queue(2 * self.threads)
        futures += [self._pool.submit(self._work, task, found) for task in tasks]
        while not all(future.done() for future in futures):
            for future in futures:
                if future.done():
                    future.result()  # raises what the task has raised
            news = None
            with contextlib.suppress(queue.Empty):
                news = found.get(timeout=_HEARTBEAT_SECONDS)
            yield news
        while not found.empty():
            yield found.get()
        return [value for future in futures for value in future.result()]

    def _work(self, task: Task, found: queue.Queue[Any]) -> list[Any]:
        """All of a task; gives its value, if it has begun."""
        ended, values = self.over, []
        while not ended:
            ended, value = self._next(task)
            if ended:
                values.append(value)
            elif value is not None:
                self._hand_over(value, found)
        return values

    def _hand_over(self, news: Any, found: queue.Queue[Any]) -> None:
        while not self._stopped.is_set():
            with contextlib.suppress(queue.Full):
                return found.put(news, timeout=_HEARTBEAT_SECONDS)

    def _next(self, task: Task) -> tuple[bool, Any]:
        """A piece of work: whether it was the last, and what it has found or the task's value."""
        began, by = time.monotonic(), task.by
        try:
            found = next(task.work)
            by = getattr(found, "by", by)
            return False, found
        except StopIteration as end:
            return True, end.value
        finally:
            with self._lock:
                self.effort[by] += time.monotonic() - began

    def drive(self, walk: Walk, limit: Limit) -> Iterator[float]:
        """Lets a walk go on until it has used up its limit or all must end.

        Args:
            walk: the walk; it does some flips at least.
            limit: what it may use up.

        Yields:
            Seconds a flip so far, after each slice.
        """
        began, first, pace = time.monotonic(), walk.step, limit.pace
        past, forgets, ended = -1, limit.progress > 0, False
        until = began + limit.seconds
        while not ended:
            count, budget = self._slice(walk, limit, first, until, pace)
            if past < 0:
                past = int((budget - first) * limit.progress / (1 - limit.progress))
            half = (first + budget) // 2
            if forgets:
                count = max(min(count, half - walk.step), 1)
            walk.advance(count, budget, past)
            pace = (time.monotonic() - began) / (walk.step - first)
            yield pace  # its best is taken in before it is forgotten
            if forgets and walk.step >= half:
                walk.forget()
                forgets = False
            ended = walk.step >= budget or self.over

    def _slice(
        self, walk: Walk, limit: Limit, first: int, until: float, pace: float
    ) -> tuple[int, int]:
        """The flips of a walk's next slice, and after how many the walk should have ended."""
        if limit.flips is not None:
            budget = first + limit.flips
            return min(_SLICE, budget - walk.step), budget
        size, rest = len(walk.best_labels), until - time.monotonic()
        least = max(_LEAST_SLICE, size // 8)  # what begins a slice takes its time, too
        count = min(max(int(_SLICE_SECONDS / pace), least), _MOST_SLICE + size // 8)
        if walk.step > first:  # one that was slower than expected ends late rather than at once
            rest = max(rest, pace * count / 2)
        flips = max(int(min(rest, self._left()) / pace), 1)
        flips = min(flips, _MOST_FLIPS - walk.step)
        # Of one size, so that the last one ends where the walk is told that it will.
        count = -(-flips // max(round(flips / count), 1))
        return count, walk.step + flips
