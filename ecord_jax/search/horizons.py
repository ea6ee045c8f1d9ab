"""How long walks of a search should be: what lengths promise, by what walks of each have found."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from ecord_jax.search.elites import GROUP, Elite

__all__ = ["Horizons"]

_PRIOR = 8  # cuts that the spread of shorter walks counts for; that of a few cuts says little


@dataclasses.dataclass
class _Sample:
    """Cuts that have the same cost.

    Attributes:
        cuts: all that were found.
        cost: of one.
        prior: what the spread may be, where there are few.
    """

    cuts: list[float]
    cost: float
    prior: float

    @property
    def mean(self) -> float:
        return float(np.mean(self.cuts))

    @property
    def spread(self) -> float:
        squares = len(self.cuts) * float(np.var(self.cuts)) + _PRIOR * self.prior**2
        return math.sqrt(squares / max(len(self.cuts) - 1 + _PRIOR, 1))

    def promise(self, budget: float, more: float = 0.0) -> float:
        """The best cut that is to be expected of a budget, if the mean is as good as it may be.

        Args:
            budget: in units of cost.
            more: what to add to the mean.
        """
        error = self.spread / math.sqrt(len(self.cuts))
        return self.mean + more + error + self.spread * _expected_best(budget / self.cost)


class Horizons:
    """What walks of each length, the first and its doubles, have ended with.

    Args:
        first: what walks of the first round may cost.
        exponent: of the power of two that cuts are divided by, so that their squares stay in range.
    """

    def __init__(self, first: float, exponent: int = 0) -> None:
        self._first, self._exponent = first, exponent
        self._walks: dict[float, _Sample] = {}
        self._champions: dict[float, _Sample] = {}

    def choose(self, budget: float) -> float:
        """The cost of a walk that promises the best cut within a budget.

        Doubling wins on the mean and loses on the number of walks; walks that are merged count as
        one of their cost together.
        """
        if not self._walks:
            return self._first
        promises = {
            horizon: max(sample.promise(budget) for sample in self._samples(horizon))
            for horizon in self._walks
        }
        longest = max(self._walks)
        if len(self._walks) == 1:
            return 2 * longest
        top, before = self._walks[longest], self._walks[longest / 2]
        # The next doubling wins what the last one has, at most.
        longer = dataclasses.replace(top, cost=2 * longest)
        promises[2 * longest] = longer.promise(budget, max(top.mean - before.mean, 0.0))
        return max(promises, key=promises.__getitem__)

    def _samples(self, horizon: float) -> list[_Sample]:
        return [known[horizon] for known in (self._walks, self._champions) if horizon in known]

    def learn(self, horizon: float, cuts: Sequence[float]) -> None:
        """Remembers a round; of other costs than `choose` gives, nothing.

        Args:
            horizon: what each walk has cost.
            cuts: that the better mover's walks ended with.
        """
        shorter = self._walks.get(horizon / 2)
        if shorter is None and horizon != self._first:
            return
        cuts = self._scaled(cuts)
        prior = shorter.spread if shorter else float(np.std(cuts))
        walks = self._walks.setdefault(horizon, _Sample([], horizon, prior))
        walks.cuts += cuts

    def learn_merged(self, horizon: float, champions: Sequence[Elite]) -> None:
        """Remembers what merging made of groups of walks of a length."""
        walks = self._walks.get(horizon)
        if champions and walks is not None:
            cost = GROUP * horizon + float(np.mean([champion.cost for champion in champions]))
            merged = self._champions.setdefault(horizon, _Sample([], cost, walks.spread))
            merged.cuts += self._scaled([champion.cut for champion in champions])
            merged.cost += (cost - merged.cost) * len(champions) / len(merged.cuts)

    def _scaled(self, cuts: Sequence[float]) -> list[float]:
        return np.ldexp(np.array(cuts, float), -self._exponent).tolist()


def _expected_best(count: float) -> float:
    """Of so many draws from the normal distribution (Blom, 1958); 0 for one or less."""
    return NormalDist().inv_cdf((count - 0.375) / (count + 0.25)) if count > 1 else 0.0
