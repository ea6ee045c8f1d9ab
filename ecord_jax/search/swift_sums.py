"""The weights with which vertices are flipped, and sums over 32 of them, over 32 sums and so on.

So a vertex is drawn by looking at some numbers of each level. All levels lie in one array, see
`ecord_jax.search.swift_state`; these functions are a part of the loops that walk and compiled with
them.
"""

from __future__ import annotations

from typing import Any

from ecord_jax.search.swift_state import FAN

__all__ = ["SHIFT", "draw", "find", "put", "sum_up", "total"]

SHIFT = 5  # log2(FAN)
_CANCELLED = 1e-4  # a sum that falls below this part of what it was is summed anew
_MANY = 16  # where one vertex of so many is weighed anew vectors sum all up faster


def total(sums: Any, levels: Any) -> float:
    """The sum of all weights."""
    return _sum(sums, levels[len(levels) - 1])


def draw(number: float, sums: Any, levels: Any) -> int:
    """Inverts the cumulated weights, level by level."""
    rest, j = number * total(sums, levels), 0
    for level in range(len(levels) - 1, -1, -1):
        j, rest = find(rest, (j << SHIFT) + levels[level], sums)
        j -= levels[level]
    return j


def find(rest: float, first: int, sums: Any) -> tuple[int, float]:
    """Which of 32 numbers a part of their sum falls in, and how far."""
    j, last = first, first + FAN - 1
    # What comes after the last vertex weighs nothing.
    while j < last and rest >= sums[j] and sums[j + 1] > 0.0:
        rest -= sums[j]
        j += 1
    return j, rest


def put(many: int, some: Any, numbers: Any, sums: Any, peaks: Any, levels: Any) -> None:
    """Sets the weights of the collected vertices, and the sums that they are in."""
    if _MANY * many > len(sums):
        for m in range(many):
            sums[some[m]] = numbers[m]
        sum_up(sums, peaks, levels)
        return
    for m in range(many):
        i = some[m]
        change = numbers[m] - sums[i]
        sums[i] = numbers[m]
        _add(i, change, sums, peaks, levels)


def sum_up(sums: Any, peaks: Any, levels: Any) -> None:
    """Computes all sums anew."""
    for level in range(1, len(levels)):
        below, here = levels[level - 1], levels[level]
        for j in range((here - below) // FAN):
            sums[here + j] = peaks[here + j] = _sum(sums, below + j * FAN)


def _add(i: int, change: float, sums: Any, peaks: Any, levels: Any) -> None:
    """Changes the sums of a weight.

    Where little is left of what one has been it is summed anew: rounding errors would be most of
    it.
    """
    j = i
    for level in range(1, len(levels)):
        j >>= SHIFT
        k = levels[level] + j
        before, now = sums[k], sums[k] + change
        if now < _CANCELLED * peaks[k]:
            now = peaks[k] = _sum(sums, levels[level - 1] + j * FAN)
            change = now - before
        sums[k] = now
        peaks[k] = max(peaks[k], now)


def _sum(numbers: Any, first: int) -> float:
    result = 0.0
    for k in range(FAN):
        result += numbers[first + k]
    return result
