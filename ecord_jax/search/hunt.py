"""Searches of one graph as the loop of `solve` sees them: what they find, one after another."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import time
from collections.abc import Callable, Generator
from typing import Protocol

import numpy as np

from ecord_jax.search.campaign import Campaign
from ecord_jax.search.chunk import Found
from ecord_jax.search.prepare import Prepared

__all__ = ["Chunks", "Hunt", "Relay"]


class Hunt(Protocol):
    """Attributes:
    steps: flips of each trajectory so far.
    effort: seconds that each taking part, by name, has worked, in all threads together.
    """

    @property
    def steps(self) -> int: ...
    @property
    def effort(self) -> dict[str, float]: ...

    def run(self) -> Generator[Found | None, None, None]:
        """Yields what is found, None from time to time, and ends with its limits."""


class Chunks:
    """Chunks of scanned steps, of each group of trajectories in turn; one at least.

    Args:
        prepared: the groups.
        last_step: flips of each trajectory after which the search ends.
        left: gives the seconds until it must.

    Attributes:
        reached: int8 [B of a group, N] for each group that has begun, where it stands.
    """

    def __init__(self, prepared: Prepared, last_step: int, left: Callable[[], float]) -> None:
        self._prepared, self._last_step, self._left = prepared, last_step, left
        self.steps, self.effort = 0, {"ecord": 0.0}
        self.reached: dict[int, np.ndarray] = {}

    def run(self) -> Generator[Found | None, None, None]:
        searches, pace = list(self._prepared.searches), 0.0
        length = self._prepared.num_steps
        for turn in itertools.count():
            round_, group = divmod(turn, len(searches))
            began = time.monotonic()
            # A chunk takes about as long as the one before: what would not fit is not begun.
            if round_ * length >= self._last_step or (turn and self._left() < pace):
                return
            searches[group], found = self._prepared.run(searches[group])
            self.reached[group] = np.asarray(found.after)  # waits for the device
            self.steps = min((round_ + 1) * length, self._last_step)
            pace = time.monotonic() - began
            self.effort["ecord"] += pace
            yield found


class Relay:
    """A search, and one that begins where its trajectories have come to.

    Args:
        first: the search that begins.
        then: the other one.
    """

    def __init__(self, first: Chunks, then: Campaign) -> None:
        self._first, self._then = first, then

    @property
    def steps(self) -> int:
        return self._first.steps + self._then.steps

    @property
    def effort(self) -> dict[str, float]:
        return self._first.effort | self._then.effort

    def run(self) -> Generator[Found | None, None, None]:
        yield from self._first.run()
        before, reached = self._first.steps, self._first.reached
        labels = np.concatenate([reached[group] for group in sorted(reached)])
        self._then.starts = labels[:, : self._then.starts.shape[1]]  # without padding
        with contextlib.closing(self._then.run()) as finds:
            for found in finds:
                yield found and dataclasses.replace(found, step=before + found.step)
