"""Making one elite of several: merging what they agree in, and searching what is left.

Elites are merged in groups of one level, so that a level's elites know nothing of each other; the
best of all levels, the hall, are merged besides.

From what comes out a walk goes on, warm enough to leave it and not so warm as to forget it, and is
merged with it; and so on, as long as this finds better cuts. Shape letters: N vertices.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.graphs.presolve import Reduction, presolve
from ecord_jax.search.chunk import Found
from ecord_jax.search.crew import Crew, Ground, Limit, Task
from ecord_jax.search.elites import GROUP, Elite, admit, fill_groups, honour
from ecord_jax.search.merge import Merged, merge_agreeing, parts_of

__all__ = ["MERGE", "Champion", "Crossing", "Means"]

MERGE = "merge"
_HALL = 12  # champions that are merged, whatever their levels are
_MUCH = 0.25  # of the vertices, as a graph of merged ones
_PATIENCE = 2  # merged graphs in a row, and walks in a row, that bring no better cut
_FLIPS = 100  # a vertex of the merged graph, from each elite
# Rough seconds of merging and reducing, an edge, until they have been measured.
_SECONDS_AN_EDGE = 3e-7

# Walks on from an elite, with these draws; what it gives is another elite.
Reheat = Callable[[Elite, np.random.Generator], Generator[Found, None, Elite]]


@dataclasses.dataclass(frozen=True)
class Means:
    """What merging may use.

    Attributes:
        movers: who can look at merged graphs, and with what chance they do it.
        budget: what it may cost.
        reheat: walks on over the graph; None if nobody does.
        horizon: what such a walk costs.
    """

    movers: Sequence[tuple[Ground, float]]
    budget: float
    reheat: Reheat | None
    horizon: float


class Champion(NamedTuple):
    """Attributes:
    elite: what a group has become, with what that has cost.
    level: of the group; None where the best of all levels have been merged.
    flips: over merged graphs.
    """

    elite: Elite
    level: int | None
    flips: int


class Crossing:
    """The elites of one graph, and what is made of them.

    Args:
        graph: the graph.
        crew: who works.
        timed: whether costs are seconds; flips otherwise.

    Attributes:
        flips: over merged graphs, by all together.
        may_be_dense: whether nobody has to wait for the compiler of loops for dense graphs.
    """

    def __init__(self, graph: Graph, crew: Crew, timed: bool) -> None:
        self._graph, self._crew, self._timed = graph, crew, timed
        self._levels: dict[int, list[Elite]] = {}
        self._groups: list[tuple[int, list[Elite]]] = []
        self._hall: list[Elite] = []  # the best champions
        self._has_news = False  # whether there are others in it than have been merged
        self._slowest = _SECONDS_AN_EDGE * graph.num_edges
        self.flips, self.may_be_dense = 0, not timed

    def join(self, elites: Sequence[Elite], level: int = 0) -> None:
        """Takes in elites; those that make up groups are merged next."""
        waiting = self._levels.setdefault(level, [])
        self._groups += [(level, group) for group in fill_groups(waiting, elites)]

    @property
    def has_groups(self) -> bool:
        """Whether there is something to merge."""
        return bool(self._groups)

    def take(self, champions: Sequence[Champion]) -> None:
        """Takes in what groups have become."""
        self.flips += sum(champion.flips for champion in champions)
        for champion in champions:
            self._hall = honour(self._hall, champion.elite, _HALL)
            self._has_news |= any(one is champion.elite for one in self._hall)
            if champion.level is not None:
                self.join([champion.elite], champion.level + 1)

    def tasks(self, means: Means, rng: np.random.Generator) -> list[Task]:
        """What is to be done for the groups that there are.

        Args:
            means: how to go about it, for all of them together.
            rng: of all draws.

        Returns:
            A task each, whose value is a `Champion`.
        """
        groups, self._groups = self._groups, []
        crowns = self._has_news and len(self._hall) > GROUP
        own = dataclasses.replace(means, budget=means.budget / max(len(groups) + crowns, 1))
        *draws, last = rng.spawn(len(groups) + 1)
        tasks = [
            Task(MERGE, self._raise(level, group, own, child))
            for (level, group), child in zip(groups, draws, strict=True)
        ]
        if crowns:
            self._has_news = False
            tasks.append(Task(MERGE, self._crown(self._hall, own, last)))
        return tasks

    def _crown(
        self, elites: list[Elite], means: Means, rng: np.random.Generator
    ) -> Generator[Found | None, None, Champion]:
        """Makes one of the hall, which stays out of the levels: these are to know nothing of it."""
        elites = sorted(elites, key=lambda elite: -elite.cut)
        while len(elites) > 2 and self._has_time and self._leave_much(elites):
            elites = elites[:-2] if len(elites) > GROUP else elites[:2]
        best, flips = yield from self._make_one(elites, means.movers, means.budget, rng)
        return Champion(best, None, flips)

    def _leave_much(self, elites: Sequence[Elite]) -> bool:
        """Whether elites agree in so little that merging them would be a search of its own."""
        count, _ = parts_of(self._graph, np.stack([elite.labels for elite in elites]))
        return count > _MUCH * self._graph.num_vertices

    def _raise(
        self, level: int, elites: list[Elite], means: Means, rng: np.random.Generator
    ) -> Generator[Found | None, None, Champion]:
        """Makes one of elites, and goes on from it."""
        best, flips = yield from self._make_one(elites, means.movers, means.budget, rng)
        idle, cost = 0, best.cost
        most = means.budget - means.horizon
        while means.reheat is not None and idle < _PATIENCE and cost <= most and self._has_time:
            child = yield from means.reheat(best, rng)
            # Of equals the new one is kept, so that there is a way across plateaus.
            pair, rest = [child, best], means.budget - cost - child.cost
            one, more = yield from self._make_one(pair, means.movers, rest, rng)
            idle = 0 if one.cut > best.cut else idle + 1
            best, flips, cost = one, flips + more, cost + child.cost + one.cost
        return Champion(best._replace(cost=cost), level, flips)

    def _make_one(
        self,
        elites: list[Elite],
        movers: Sequence[tuple[Ground, float]],
        budget: float,
        rng: np.random.Generator,
    ) -> Generator[Found | None, None, tuple[Elite, int]]:
        """Has elites agree; gives the best, with what that has cost, and the flips."""
        began, idle, flips, cost = time.monotonic(), 0, 0, 0.0
        while idle < _PATIENCE and cost < budget and self._has_time:
            top = max(elite.cut for elite in elites)
            start = time.monotonic()
            merged = merge_agreeing(self._graph, np.stack([elite.labels for elite in elites]))
            if merged.graph.num_edges == 0:
                break
            reduction = presolve(merged.graph)
            self._slowest = max(self._slowest, time.monotonic() - start)
            elites, more = yield from self._cross(
                merged, reduction, elites, movers, budget - cost, rng
            )
            flips += more
            cost = time.monotonic() - began if self._timed else float(flips)
            idle = 0 if max(elite.cut for elite in elites) > top else idle + 1
        return max(elites, key=lambda elite: elite.cut)._replace(cost=cost), flips

    @property
    def _has_time(self) -> bool:
        """Whether merging, which cannot be stopped, would be done before all must end."""
        return self._crew.left > self._slowest

    def _cross(
        self,
        merged: Merged,
        reduction: Reduction,
        elites: list[Elite],
        movers: Sequence[tuple[Ground, float]],
        budget: float,
        rng: np.random.Generator,
    ) -> Generator[Found | None, None, tuple[list[Elite], int]]:
        """Walks over the merged graph from each elite; gives the better ones, and flips done."""
        size, flips = reduction.graph.num_vertices, 1
        if size == 0:
            one = self._elite(merged.lift(reduction.lift(np.zeros(0, np.int8))))
            yield _found(one)
            return admit(elites, one), flips
        grounds, chances = zip(*movers, strict=True)
        ground = grounds[rng.choice(len(grounds), p=chances)]
        most = int(budget / ground.pace) if self._timed else int(budget)
        if most < len(elites):
            return elites, 0
        start = ground.mover.look(reduction.graph, dense=self.may_be_dense)
        # Slower movers do fewer.
        wanted = _FLIPS * size * min(other.pace for other in grounds) / ground.pace
        limit = Limit(flips=max(min(int(wanted) + 1, most // len(elites)), 1))
        for elite in tuple(elites):
            walk = start(0, merged.lower(elite.labels)[reduction.vertices], rng)
            for _ in self._crew.drive(walk, limit):
                yield None
            flips += walk.step
            one = self._elite(merged.lift(reduction.lift(walk.best_labels)))
            yield _found(one)
            elites = admit(elites, one)
            if self._crew.over:
                break
        return elites, flips

    def _elite(self, labels: np.ndarray) -> Elite:
        return Elite(labels, float(self._graph.cut(labels)), MERGE, 0.0)


def _found(elite: Elite) -> Found:
    return Found(
        labels=elite.labels,
        cut=elite.cut,
        step=0,
        actions=np.zeros((1, 0), np.int64),
        cuts=np.zeros((1, 1)),
        after=elite.labels[None],
        by=elite.by,
    )
