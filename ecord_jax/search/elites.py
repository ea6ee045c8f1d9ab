"""Elites: good cuts, in groups that know nothing of each other. Shape letters: N vertices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ecord_jax.search.merge import distances

__all__ = ["GROUP", "Elite", "admit", "fill_groups"]

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
        near = distances([other.labels for other in waiting], elite.labels) if waiting else None
        if near is not None and near.min() < max(_NEAR * len(elite.labels), 1):
            closest = int(near.argmin())
            if waiting[closest].cut < elite.cut:
                waiting[closest] = elite
            continue
        waiting.append(elite)
        if len(waiting) == GROUP:
            groups.append(waiting.copy())
            waiting.clear()
    return groups


def admit(elites: Sequence[Elite], one: Elite, most: int = 0) -> list[Elite]:
    """Adds one if there is room, or puts it in the place of the worst unless it is worse.

    Args:
        elites: as they are.
        one: dropped if it has the cut of one of them.
        most: how many of them there is room for.
    """
    if elites and distances([elite.labels for elite in elites], one.labels).min() == 0:
        return list(elites)
    if len(elites) < most:
        return [*elites, one]
    worst = min(range(len(elites)), key=lambda i: elites[i].cut)
    if one.cut < elites[worst].cut:
        return list(elites)
    return [*elites[:worst], one, *elites[worst + 1 :]]
