"""Elites: good cuts, in groups that know nothing of each other. Shape letters: N vertices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ecord_jax.search.merge import distances

__all__ = ["GROUP", "Elite", "admit", "fill_groups", "honour"]

GROUP = 4  # elites that are merged
_NEAR = 0.01  # elites that differ in fewer of the vertices are one


class Elite(NamedTuple):
    """Attributes:
    labels: int8 [N].
    cut: theirs.
    by: who found them.
    cost: what that took, in seconds or flips.
    """

    labels: np.ndarray
    cut: float
    by: str
    cost: float


def fill_groups(waiting: list[Elite], arrived: Sequence[Elite]) -> list[list[Elite]]:
    """Lets elites wait for others of their level.

    Args:
        waiting: those that wait; changed. One that nearly is another one takes its place, if it is
            better, and is dropped if not.
        arrived: those to come.

    Returns:
        Groups of GROUP, which wait no longer.
    """
    groups = []
    for elite in arrived:
        place = _near(waiting, elite)
        if place is not None:
            if waiting[place].cut < elite.cut:
                waiting[place] = elite
            continue
        waiting.append(elite)
        if len(waiting) == GROUP:
            groups.append(waiting.copy())
            waiting.clear()
    return groups


def admit(elites: Sequence[Elite], one: Elite) -> list[Elite]:
    """Puts one in the place of the worst, unless it is worse or has the cut of one of them."""
    worst = min(range(len(elites)), key=lambda i: elites[i].cut)
    known = distances([elite.labels for elite in elites], one.labels).min() == 0
    if one.cut < elites[worst].cut or known:
        return list(elites)
    return [*elites[:worst], one, *elites[worst + 1 :]]


def honour(hall: Sequence[Elite], one: Elite, most: int) -> list[Elite]:
    """The best of a hall and one, no two of which are near each other.

    Args:
        hall: as it is.
        one: takes the place of the one that it is near, or else of the worst; only if it is better.
        most: how many there is room for.
    """
    place = _near(hall, one)
    if place is None and len(hall) < most:
        return [*hall, one]
    if place is None:
        place = min(range(len(hall)), key=lambda i: hall[i].cut)
    if one.cut <= hall[place].cut:
        return list(hall)
    return [*hall[:place], one, *hall[place + 1 :]]


def _near(elites: Sequence[Elite], one: Elite) -> int | None:
    """Which of them it is almost the same as."""
    if not elites:
        return None
    far = distances([other.labels for other in elites], one.labels)
    closest = int(far.argmin())
    return closest if far[closest] < max(_NEAR * len(one.labels), 1) else None
