"""The weights with which vertices are flipped, and sums over 32 of them, over 32 sums and so on.

So a vertex is drawn by looking at some numbers of each level. All levels lie in one array, see
`ecord_jax.search.swift_state`; these functions are a part of the loops of
`ecord_jax.search.swift_walk` and compiled with them.
"""

from __future__ import annotations

from typing import Any

from ecord_jax.search.swift_state import FAN

__all__ = ["draw", "put", "sum_up"]

_SHIFT = 5  # log2(FAN)
_CANCELLED = 1e-4  # a sum that falls below this part of what it was is summed anew
_MANY = 16  # where one vertex of so many is weighed anew vectors sum all up faster


def draw(number: float, sums: Any, levels: Any) -> int:
    """Inverts the cumulated weights, level by level."""
    top = len(levels) - 1
    rest, j = number * _sum(sums, levels[top]), 0
    for turn in range(len(levels)):
        j = (j << _SHIFT) + levels[top - turn]
        last = j + FAN - 1
        # What comes after the last vertex weighs nothing.
        while j < last and rest >= sums[j] and sums[j + 1] > 0.0:
            rest -= sums[j]
            j += 1
        j -= levels[top - turn]
    return j


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
        j >>= _SHIFT
        k = levels[level] + j
        before, total = sums[k], sums[k] + change
        if total < _CANCELLED * peaks[k]:
            total = peaks[k] = _sum(sums, levels[level - 1] + j * FAN)
            change = total - before
        sums[k] = total
        peaks[k] = max(peaks[k], total)


def _sum(numbers: Any, first: int) -> float:
    total = 0.0
    for k in range(FAN):
        total += numbers[first + k]
    return total
