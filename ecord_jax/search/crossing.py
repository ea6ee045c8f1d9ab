"""Making one elite of several: merging what they agree in, and searching what is left.

Shape letters: N vertices.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Generator, Sequence

import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.graphs.presolve import presolve
from ecord_jax.search.chunk import Found
from ecord_jax.search.crew import Crew, Ground, Limit
from ecord_jax.search.elites import Elite, admit, fill_groups
from ecord_jax.search.merge import Merged, merge_agreeing

__all__ = ["MERGE", "Crossing"]

MERGE = "merge"
_PATIENCE = 2  # merged graphs in a row that bring no better cut
_FLIPS = 100  # a vertex of the merged graph, from each elite


class Crossing:
    """The elites of one graph, and what is made of them.

    Args:
        graph: the graph.
        crew: who works.
        timed: whether costs are seconds; flips otherwise.

    Attributes:
        seconds: spent, in all threads together.
    """

    def __init__(self, graph: Graph, crew: Crew, timed: bool) -> None:
        self._graph, self._crew, self._timed = graph, crew, timed
        self._levels: dict[int, list[Elite]] = {}
        self.seconds = 0.0

    def run(
        self,
        elites: Sequence[Elite],
        movers: Sequence[tuple[Ground, float]],
        budget: float,
        rng: np.random.Generator,
    ) -> Generator[object, None, tuple[list[Elite], float]]:
        """Merges what there is of each level.

        Args:
            elites: new ones, of level 0.
            movers: who can look at merged graphs, and with what chance they do it.
            budget: what it may cost.
            rng: of all draws.

        Returns:
            What groups of level 0 have become, and what all has cost.
        """
        champions: list[Elite] = []
        level, spent, arrived = 0, 0.0, list(elites)
        while arrived and spent < budget:
            groups = fill_groups(self._levels.setdefault(level, []), arrived)
            share = (budget - spent) / max(len(groups), 1)
            draws = rng.spawn(len(groups))
            tasks = [
                functools.partial(self._make_one, group, movers, share, child)
                for group, child in zip(groups, draws, strict=True)
            ]
            arrived = yield from self._crew.run(tasks)
            spent += sum(elite.cost for elite in arrived)
            champions = arrived if level == 0 else champions
            level += 1
        return champions, spent

    def _make_one(
        self,
        elites: list[Elite],
        movers: Sequence[tuple[Ground, float]],
        budget: float,
        rng: np.random.Generator,
    ) -> Elite:
        """Has elites agree; gives the best, with what that has cost."""
        began, idle, cost = time.monotonic(), 0, 0.0
        while idle < _PATIENCE and cost < budget and not self._crew.over:
            top = max(elite.cut for elite in elites)
            merged = merge_agreeing(self._graph, np.stack([elite.labels for elite in elites]))
            if merged.graph.num_edges == 0:
                break
            elites, flips = self._cross(merged, elites, movers, rng)
            cost = time.monotonic() - began if self._timed else cost + flips
            idle = 0 if max(elite.cut for elite in elites) > top else idle + 1
        self.seconds += time.monotonic() - began
        return max(elites, key=lambda elite: elite.cut)._replace(cost=cost)

    def _cross(
        self,
        merged: Merged,
        elites: list[Elite],
        movers: Sequence[tuple[Ground, float]],
        rng: np.random.Generator,
    ) -> tuple[list[Elite], int]:
        """Walks over the merged graph from each elite; gives the better ones, and flips done."""
        reduction = presolve(merged.graph)
        size, flips = reduction.graph.num_vertices, 1
        if size == 0:
            return self._admit(elites, merged.lift(reduction.lift(np.zeros(0, np.int8)))), flips
        grounds, chances = zip(*movers, strict=True)
        ground = grounds[rng.choice(len(grounds), p=chances)]
        start = ground.mover.look(reduction.graph)
        # Slower movers do fewer.
        wanted = _FLIPS * size * min(other.pace for other in grounds) / ground.pace
        for elite in tuple(elites):
            walk = start(0, merged.lower(elite.labels)[reduction.vertices], rng)
            self._crew.drive(walk, Limit(flips=int(wanted) + 1))
            flips += walk.step
            elites = self._admit(elites, merged.lift(reduction.lift(walk.best_labels)))
            if self._crew.over:
                break
        return elites, flips

    def _admit(self, elites: list[Elite], labels: np.ndarray) -> list[Elite]:
        one = Elite(labels, float(self._graph.cut(labels)), MERGE, 0.0)
        if one.cut > max(elite.cut for elite in elites):
            self._crew.tell(_found(one))
        return admit(elites, one)


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
