"""The weights with which vertices are flipped, and sums over 32 of them, over 32 sums and so on.

So a vertex is drawn by looking at some numbers of each level. All levels lie in one array, see
`ecord_jax.search.swift_state`; these functions are a part of the loops that walk and compiled with
them.
"""

from __future__ import annotations

from typing import Any

from ecord_jax.search.swift_state import FAN

__all__ = ["MANY", "SHIFT", "draw", "find", "period", "put", "sum_up", "total"]

SHIFT = 5  # log2(FAN)
_CANCELLED = 1 / 4  # a sum that a change makes smaller than this part of it is summed anew
_LEAST_PERIOD, _PERIODS = 32, 1 << 10  # see `period`
MANY = 16  # where one vertex of so many is weighed anew vectors sum all up faster


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
    """Which of 32 numbers a part of their sum falls in, and how far.

    First which eight of them, every fourth a group; without branches, since none could be foreseen.
    """
    one, two, three = 0.0, 0.0, 0.0
    for k in range(0, FAN, 4):
        one += sums[first + k]
        two += sums[first + k + 1]
        three += sums[first + k + 2]
    two += one
    three += two
    passed = one if rest >= one else 0.0
    passed = two if rest >= two else passed
    passed = three if rest >= three else passed
    j = first + int(rest >= one) + int(rest >= two) + int(rest >= three)
    rest -= passed
    passed, so_far, many = 0.0, 0.0, 0
    for k in range(0, FAN - 4, 4):
        so_far += sums[j + k]
        many += int(rest >= so_far)
        passed = so_far if rest >= so_far else passed
    j += 4 * many
    # What comes after the last vertex weighs nothing.
    while j > first and sums[j] <= 0.0:
        j -= 1
    return j, rest - passed


def put(many: int, some: Any, numbers: Any, sums: Any, levels: Any) -> float:
    """Sets the weights of the collected vertices, and the sums that they are in.

    Gives how much all of them rise, or 0 where the sums of all vertices are computed anew.
    """
    if MANY * many > len(sums):
        for m in range(many):
            sums[some[m]] = numbers[m]
        sum_up(1, sums, levels)
        return 0.0
    rise = 0.0
    for m in range(many):
        i = some[m]
        change = numbers[m] - sums[i]
        sums[i] = numbers[m]
        rise += _add(i, change, sums, levels)
    return rise


def period(size: int) -> int:
    """After so many flips, a power of two, sums above the first level are computed anew.

    Such sums fall by many small steps, which leave rounding errors of what they have been. Adding
    them up reads no more than 32 numbers for each of the flips.
    """
    result = _LEAST_PERIOD
    while result * _PERIODS < size:
        result *= 2
    return result


def sum_up(first: int, sums: Any, levels: Any) -> None:
    """Computes all sums anew from a level on."""
    for level in range(first, len(levels)):
        below, here = levels[level - 1], levels[level]
        for j in range((here - below) // FAN):
            sums[here + j] = _sum(sums, below + j * FAN)


def _add(i: int, change: float, sums: Any, levels: Any) -> float:
    """Changes the sums of a weight; gives the change of the first.

    Where little is left of one it is summed anew: rounding errors would be much of it.
    """
    j, own = i, change
    for level in range(1, len(levels)):
        j >>= SHIFT
        k = levels[level] + j
        before, now = sums[k], sums[k] + change
        if now < _CANCELLED * before:
            now = _sum(sums, levels[level - 1] + j * FAN)
            change = now - before
        sums[k] = now
        own = change if level == 1 else own
    return own


def _sum(numbers: Any, first: int) -> float:
    result = 0.0
    for k in range(FAN):
        result += numbers[first + k]
    return result
