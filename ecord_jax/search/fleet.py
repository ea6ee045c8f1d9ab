"""Groups of trajectories that take turns on a device, and the flips that there is time for.

Shape letters: T steps of a chunk.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import jax

from ecord_jax.search.chunk import Found, Search

__all__ = ["Fleet"]


class Fleet:
    """Groups of trajectories that take turns on the device, and what is left of the time.

    Args:
        chunk: (search, budget) -> (search, found).
        num_steps: T.
        num_groups: of trajectories.
        last_step: flips of each after which the search ends.
        left: gives the seconds until it must end.
    """

    def __init__(
        self,
        chunk: Callable[[Search, int], tuple[Search, Found]],
        num_steps: int,
        num_groups: int,
        last_step: int,
        left: Callable[[], float],
    ) -> None:
        self._chunk, self._num_steps, self._num_groups = chunk, num_steps, num_groups
        self._last_step, self._left = last_step, left
        self._pace = self._round_began = math.nan

    def measure(self, search: Search) -> None:
        """Learns how long a flip of all trajectories takes, from a group that is thrown away."""
        began = time.monotonic()
        jax.block_until_ready(self._chunk(search, self._last_step))
        self._pace = (time.monotonic() - began) / self._num_steps * self._num_groups

    def budget(self, step: int) -> int:
        """Flips that a trajectory can count on, those done included."""
        left = self._left()
        if math.isinf(left) or math.isnan(self._pace):
            return self._last_step
        return min(self._last_step, step + int(max(left, 0.0) / self._pace) + 1)

    def run(self, numbered: tuple[int, Search]) -> tuple[tuple[int, Search], Found]:
        """Does the next chunk of a group."""
        number, search = numbered
        if number == 0:
            self._time_round()
        step = int(search.step)
        budget = max(self.budget(step), min(step + self._num_steps, self._last_step))
        search, found = self._chunk(search, budget)
        return (number, search), found

    def _time_round(self) -> None:
        now = time.monotonic()
        if not math.isnan(self._round_began):
            self._pace = (now - self._round_began) / self._num_steps
        self._round_began = now
