"""What part of a round goes to whom: walks to the better mover, and time to merging."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from ecord_jax.search.elites import Elite

__all__ = ["FIRST_MERGING", "chance", "merging_share"]

_MERGING = (0.03, 0.5)  # least and most of a round that is kept for merging
# The same before anything has been merged. With half of it a search of some seconds would have no
# time for a second round of longer walks.
FIRST_MERGING = 0.25


def chance(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """That the first are better on the mean, by the spread of all of them."""
    cuts = np.array([*ours, *theirs])
    # Neither sums nor squares may leave the range of float64.
    cuts = np.ldexp(cuts, -math.frexp(float(np.abs(cuts).max()))[1])
    cuts -= cuts.min()
    if not cuts.any():
        return 0.5
    cuts /= cuts.max()
    error = float(cuts.std(ddof=1)) * math.sqrt(1 / len(ours) + 1 / len(theirs))
    lead = float(cuts[: len(ours)].mean() - cuts[len(ours) :].mean())
    return NormalDist().cdf(lead / error)


def merging_share(elites: Sequence[Elite], champions: Sequence[Elite]) -> float:
    """What part of the next round to keep for merging: twice what it has taken of this one."""
    walked, merged = (sum(elite.cost for elite in group) for group in (elites, champions))
    least, most = _MERGING
    return min(max(2 * merged / (walked + merged), least), most)
