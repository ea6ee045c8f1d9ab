"""The search over one graph on the host: rounds of walks, and merging of what they end with.

A round is a walk of each trajectory, by an agent or by tabu search. Their best cuts, the elites of
level 0, are merged by fours (`ecord_jax.search.merge`): the merged graph is reduced by exact rules
and walked over from each of the four, until they agree. From the best of them walks go on, and what
they find is merged with it, until that is of no use. It is an elite of the next level then, merged
with three of its like, and so on. So elites of a level know nothing of each other, and stay
different; the best of all levels are merged as well, which is an answer and no elite. All of that
happens beside the walks of the next round.

Walks grow longer from round to round as long as that promises better cuts than more of the same
(`ecord_jax.search.horizons`); of agent and tabu search the one whose walks ended better does more
of them. Rounds end with the time or the flips that there are. Shape letters: B trajectories, N
vertices.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import closing

import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.search.ahead import compile_rules_ahead, compile_walks
from ecord_jax.search.chunk import Found
from ecord_jax.search.crew import Crew, Ground, Limit, Task
from ecord_jax.search.crossing import MERGE, Champion, Crossing, Means
from ecord_jax.search.elites import GROUP, Elite
from ecord_jax.search.horizons import Horizons
from ecord_jax.search.merge import can_merge
from ecord_jax.search.prepare import in_background
from ecord_jax.search.shares import FIRST_MERGING, chance, merging_share
from ecord_jax.search.walks import Mover, Walk

__all__ = ["Campaign", "Plan"]

_FIRST_FLIPS = 100  # a vertex, of a walk of the first round
_FEW_FLIPS = 20  # a vertex: rather fewer walks than shorter ones
# Below so many, random labels would not even become what single flips make of them.
_HARDLY_ANY = 6.0
_TRIAL_FLIPS, _TRIAL_SECONDS = 2048, 0.05
_WORTH_COMPILING = 2.0  # seconds of a search; what reduces merged graphs takes some to compile
_MOST_SHARE = 0.9  # of the walks, by one mover
# Between which parts of its way a walk from an elite begins. An agent that begins sooner is too
# warm to stay near; tabu search that begins later comes back to where it was.
_REHEATED = {"ecord": (0.2, 0.9), "tabu": (0.0, 0.6)}


@dataclasses.dataclass(frozen=True)
class Plan:
    """Attributes:
    trajectories: B.
    last_step: flips of each trajectory after which the search ends.
    left: gives the seconds that are left; where they are infinite only flips are counted, so that
        the same seed gives the same labels.
    seed: of all draws.
    starts: whether walks with time for few flips a vertex begin with good labels.
    merge: whether elites are merged.
    reheat: whether walks go on from what merging has made.
    restart: whether there are rounds; otherwise the first takes all that merging leaves.
    """

    trajectories: int
    last_step: int
    left: Callable[[], float]
    seed: Sequence[int]
    starts: bool = True
    merge: bool = True
    reheat: bool = True
    restart: bool = True


class Campaign:
    """One search; its making looks at the graph, compiles and measures.

    Args:
        graph: of at least one vertex.
        movers: one or two; all take part.
        starts: int8 [B, N], start labels of the first round.
        fallback: int8 [N], good labels, to start from where there is time for few flips a vertex.
        plan: how to go about it.

    Attributes:
        starts: as given; others may take their place until `run`.
        effort: seconds that each mover, by name, has walked, in all threads together, and those
            of merging.
    """

    def __init__(
        self,
        graph: Graph,
        movers: Sequence[Mover],
        starts: np.ndarray,
        fallback: np.ndarray,
        plan: Plan,
    ) -> None:
        self.starts = starts
        self._graph, self._movers, self._plan = graph, movers, plan
        self._fallback = fallback
        self._crew = Crew(plan.left)
        self._timed = not math.isinf(plan.left())
        self._crossing = Crossing(graph, self._crew, self._timed)
        self._first = 0.0  # what a walk of the first round may cost
        self._share = 0.5  # of the walks, by the first mover
        self._rng = np.random.default_rng(plan.seed)
        merges = plan.merge and any(mover.merges for mover in movers) and can_merge(graph)
        self._merging = FIRST_MERGING if merges else 0.0  # of the next round
        self._walked = 0  # flips over the graph, by all together
        # What compiles rules and loops for merged graphs.
        self._rules: Future[None] | None = None
        self._loops: Future[None] | None = None
        self._grounds = self._crew.each(self._look, movers)

    def run(self) -> Generator[Found | None, None, None]:
        """Yields a `Found` for what is found as it is found, and None from time to time."""
        rough = 1e-6 * self._plan.trajectories * self._plan.last_step
        if self._merging and min(self._crew.left, rough) > _WORTH_COMPILING:
            self._rules = compile_rules_ahead(self._graph.weights.dtype)
            self._loops = in_background(self._compile_loops)
        with closing(self._crew), closing(self._rounds()) as finds:
            for found in finds:
                if found is not None:
                    self._walked += found.actions.shape[1]
                    found = dataclasses.replace(found, step=self.steps)
                yield found

    def _compile_loops(self) -> None:
        """Compiles what may walk over merged graphs, after the rules, which are needed more."""
        if self._rules is not None:
            self._rules.result()
        compile_walks(self._graph.weights.dtype, self._movers)

    def _rounds(self) -> Generator[Found | None, None, None]:
        self._first = self._first_horizon()
        exponent = math.frexp(float(np.abs(self._graph.weights).max(initial=0)))[1]
        horizons, before = Horizons(self._first, exponent), 0.0
        while self._budget > 0 and not self._crew.over:
            count, horizon = self._next_round(horizons.choose(self._budget))
            # What the last round has brought is merged first, so that nobody waits for it.
            tasks = [*self._crossings(count, horizon), *self._walks(count, horizon)]
            values = yield from self._crew.run(tasks)
            elites = [value for value in values if isinstance(value, Elite)]
            champions = [value for value in values if isinstance(value, Champion)]
            self._crossing.take(champions)
            if not elites:
                return
            horizons.learn_merged(before, [one.elite for one in champions if one.level == 0])
            horizons.learn(horizon, self._weigh_movers(elites))
            if self._merging:
                self._crossing.join(elites)
                if champions or not self._crossing.has_groups:
                    self._merging = merging_share(elites, [one.elite for one in champions])
            before = horizon

    def _crossings(self, count: int, horizon: float) -> list[Task]:
        """What merges elites, beside so many walks of such a cost each."""
        movers = self._mergers()
        if not movers or not self._merging:
            return []
        reheat = functools.partial(self._reheat, horizon) if self._plan.reheat else None
        (rng,) = self._rng.spawn(1)
        self._crossing.may_be_dense |= self._loops is not None and self._loops.done()
        # The round ends with the last of them: nobody goes on for much longer than its walks.
        budget = min(self._budget * self._merging * (1 - self._merging), 2 * count * horizon)
        return self._crossing.tasks(Means(movers, budget, reheat, horizon), rng)

    @property
    def steps(self) -> int:
        """Flips of each trajectory, as if all had done the same."""
        return min(-(-self._done // self._plan.trajectories), self._plan.last_step)

    @property
    def effort(self) -> dict[str, float]:
        names = [mover.name for mover in self._movers] + [MERGE] * self._plan.merge
        return {name: self._crew.effort[name] for name in names}

    @property
    def _done(self) -> int:
        return self._walked + self._crossing.flips

    @property
    def _budget(self) -> float:
        """What is left to spend: thread-seconds, or flips where only they are counted."""
        whole = self._plan.trajectories * self._plan.last_step
        if not self._timed:
            return whole - self._done
        pace = min(ground.pace for ground in self._grounds)
        abreast = min(self._crew.threads, self._plan.trajectories)  # walks of a round
        return min(self._plan.left() * abreast, (whole - self._done) * pace)

    def _look(self, mover: Mover) -> Ground:
        start = mover.look(self._graph)
        walk = start(0, self.starts[0], np.random.default_rng(0))
        walk.advance(1, _TRIAL_FLIPS)  # compiles
        if not self._timed:
            return Ground(mover, start, 1.0)
        flips = max(_TRIAL_FLIPS, self._graph.num_vertices // 8)
        *_, pace = self._crew.drive(walk, Limit(flips=flips))
        if pace * flips < _TRIAL_SECONDS:  # then it says little
            *_, pace = self._crew.drive(walk, Limit(seconds=_TRIAL_SECONDS, pace=pace))
        return Ground(mover, start, pace)

    def _first_horizon(self) -> float:
        """What a walk of the first round may cost."""
        # At least three rounds, each twice as long as the one before, if walks are no trifles.
        part = self._budget / self._plan.trajectories / 7
        return min(max(part, self._cost(_FEW_FLIPS)), self._cost(_FIRST_FLIPS))

    def _cost(self, flips: int) -> float:
        """Of so many flips a vertex, by the faster mover."""
        return flips * self._graph.num_vertices * min(ground.pace for ground in self._grounds)

    def _next_round(self, horizon: float) -> tuple[int, float]:
        """How many walks, and what each may cost."""
        # One part is for merging beside these walks, one for merging what they will have found.
        most = self._budget * (1 - self._merging) ** 2
        # Fewer of the longer ones, so that rounds cost about the same.
        count = self._plan.trajectories * self._first / horizon
        count = min(count, most / self._cost(_FEW_FLIPS))
        least = max(self._crew.threads, GROUP) if self._timed else GROUP
        count = min(max(round(count), least), self._plan.trajectories)
        if not self._plan.restart:
            return self._plan.trajectories, most / self._plan.trajectories
        # What would be left after this round must do for a longer one; otherwise it takes all of
        # that, with fewer walks rather than shorter ones.
        if most < 3 * count * horizon:
            count = min(max(int(most / horizon), least), count)
            horizon = most / count
        return count, horizon

    def _walks(self, count: int, horizon: float) -> list[Task]:
        """The tasks of a round."""
        # Where walks are few the worse mover has one in some of the rounds only.
        ours = int(self._share * count + self._rng.random()) if len(self._grounds) > 1 else count
        tasks = []
        for number, rng in enumerate(self._rng.spawn(count)):
            # Every thread gets some of each.
            is_ours = number * ours // count < (number + 1) * ours // count
            ground = self._grounds[0 if is_ours else -1]
            work = self._walk(
                number, ground, horizon, self._labels(number, ground, horizon, rng), rng
            )
            tasks.append(Task(ground.mover.name, work))
        self.starts = self.starts[:0]
        return tasks

    def _labels(
        self, number: int, ground: Ground, horizon: float, rng: np.random.Generator
    ) -> np.ndarray:
        """Where a walk starts."""
        size = self._graph.num_vertices
        few = self._timed and self._plan.starts
        if few and horizon < _HARDLY_ANY * size * ground.pace:
            return self._fallback
        if number < len(self.starts):
            return self.starts[number]
        return rng.integers(0, 2, size, np.int8)

    def _walk(
        self,
        number: int,
        ground: Ground,
        horizon: float,
        labels: np.ndarray,
        rng: np.random.Generator,
        progress: float = 0.0,
    ) -> Generator[Found, None, Elite]:
        """One trajectory of a round, from its start to its end."""
        began, best, name = time.monotonic(), -math.inf, ground.mover.name
        top, first = labels, None
        walk = ground.start(number, labels, rng)
        limit = Limit(flips=max(int(horizon), 1), progress=progress)
        if self._timed:
            limit = Limit(seconds=horizon, pace=ground.pace, progress=progress)
        for pace in self._crew.drive(walk, limit):
            yield _found(self._graph, walk, walk.best_cut > best, name)
            first = float(walk.cuts[0]) if first is None else first
            if walk.best_cut > best:
                best, top = walk.best_cut, walk.best_labels
            if self._timed:
                ground.pace = pace
        cost = time.monotonic() - began if self._timed else float(walk.step)
        if first is not None and best <= first:  # what it has kept since is new at least
            top = walk.best_labels
        return Elite(top, float(self._graph.cut(top)), name, cost)

    def _reheat(
        self, horizon: float, elite: Elite, rng: np.random.Generator
    ) -> Generator[Found, None, Elite]:
        """A walk from an elite, of the same cost as those of the round."""
        ours = len(self._grounds) == 1 or rng.random() < self._share
        ground = self._grounds[0 if ours else -1]
        progress = rng.uniform(*_REHEATED[ground.mover.name])
        number = int(rng.integers(self._plan.trajectories))
        return (yield from self._walk(number, ground, horizon, elite.labels, rng, progress))

    def _weigh_movers(self, elites: Sequence[Elite]) -> list[float]:
        """Gives more of the walks to the mover whose last ones ended better; gives their cuts."""
        cuts = [[elite.cut for elite in elites if elite.by == mover.name] for mover in self._movers]
        if len(cuts) > 1 and all(cuts):
            goal = 1 - _MOST_SHARE + (2 * _MOST_SHARE - 1) * chance(*cuts)
            self._share = (self._share + goal) / 2
        return max(filter(None, cuts), key=lambda own: float(np.divide(own, len(own)).sum()))

    def _mergers(self) -> list[tuple[Ground, float]]:
        """Who can look at merged graphs, and with what chance they do."""
        # Nobody waits for a compiler.
        if self._timed and self._rules is not None and not self._rules.done():
            return []
        shares = (self._share, 1 - self._share) if len(self._grounds) > 1 else (1.0,)
        able = [
            (ground, share)
            for ground, share in zip(self._grounds, shares, strict=True)
            if ground.mover.merges
        ]
        whole = sum(share for _, share in able)
        return [(ground, share / whole) for ground, share in able]


def _found(graph: Graph, walk: Walk, better: bool, by: str) -> Found:
    """What a walk has after a slice; labels that are not better need no cut."""
    return Found(
        labels=walk.best_labels,
        cut=float(graph.cut(walk.best_labels)) if better else -math.inf,
        step=0,  # see `Campaign.run`
        actions=walk.actions[None],
        cuts=walk.cuts[None],
        after=np.array(walk.labels, np.int8)[None],
        by=by,
    )
