"""What a search gives back, and the exact account of its best cut. Shape letters: N vertices."""

from __future__ import annotations

import collections
import dataclasses
import math
import time
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.graphs.presolve import Reduction

if TYPE_CHECKING:
    from ecord_jax.search.bound import Bound

__all__ = ["Incumbent", "Progress", "SolveResult", "StoppedBy", "Watch"]

StoppedBy = Literal["time_limit", "num_steps", "optimal", "interrupted"]


class Progress(NamedTuple):
    """The best cut at one moment.

    Attributes:
        seconds: since the search was called.
        step: flips of each trajectory; 0 is before the first, where the host's own cut belongs.
        cut: exact, of integer weights an int.
    """

    seconds: float
    step: int
    cut: int | float


@dataclasses.dataclass(frozen=True)
class SolveResult:
    """The best cut that a search found.

    Attributes:
        cut: weight of the edges between the two sides, exact: recomputed on the host from `labels`
            and the weights as given; an int where they are integers.
        labels: int8 [N], the side of each vertex, 0 or 1, in the order of the graph's names.
        curve: one entry for each time the best cut rose, and one for the end.
        steps: flips of each trajectory. On large graphs, where groups of trajectories take turns,
            those of the group that is furthest, a chunk ahead of the last one.
        trajectories: how many ran side by side.
        seconds: {"read", "presolve", "compile", "search", "total"}: reading the graph's file (0
            unless the caller fills it in), making the graph smaller, putting it on the device and
            compiling, the rest, and all.
        stopped_by: what ended the search; "optimal": the cut cannot be improved.
        agent: its name or path, "custom" for one that was passed as a value.
        reduction: how the graph was made smaller; None where it was not, or not in time.
        found_by: who found the labels: "start" (the first start labels), "greedy" (single flips
            that pay), "presolve" (completing labels), "ecord" (the agent), "tabu" or "merge"; the
            solver's name, for others than `solve`.
        effort: seconds that agent, tabu search and merging have worked, in all threads together.
        improvements: how often each of those of `found_by` has raised the best cut.
        bound: what no cut is above, where it was asked for.
        optimal: whether it is proved that there is no larger cut; none larger than by rounding,
            where presolve has solved a graph of fractions that are no binary ones.
    """

    cut: int | float
    labels: np.ndarray
    curve: tuple[Progress, ...]
    steps: int
    trajectories: int
    seconds: dict[str, float]
    stopped_by: StoppedBy
    agent: str
    reduction: Reduction | None = None
    found_by: str = ""
    effort: dict[str, float] = dataclasses.field(default_factory=dict)
    improvements: dict[str, int] = dataclasses.field(default_factory=dict)
    bound: Bound | None = None
    optimal: bool = False


class Watch:
    """The time since its making, and what a limit leaves of it."""

    def __init__(self, limit: float = math.inf) -> None:
        self._start = time.monotonic()
        self.deadline = self._start + limit

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._start

    @property
    def left(self) -> float:
        return self.deadline - time.monotonic()


class Incumbent:
    """The best labels so far.

    Attributes:
        labels: int8 [N].
        cut: their exact cut.
        bound: no cut is above it; at first the sum of the positive weights.
        curve: the times at which it rose.
        found_by: who found the labels.
        improvements: how often each has raised the cut.
    """

    def __init__(self, graph: Graph, labels: np.ndarray, watch: Watch) -> None:
        self._graph, self._watch = graph, watch
        self.labels, self.cut = labels, graph.cut(labels)
        self.bound = graph.positive_weight
        self.curve = [Progress(watch.elapsed, 0, self.cut)]
        self.found_by, self.improvements = "start", collections.Counter[str]()

    @property
    def is_optimal(self) -> bool:
        """Whether the cut reaches the bound: there is nothing above that."""
        return self.cut >= self.bound

    def offer(self, labels: np.ndarray, step: int, by: str) -> None:
        """Keeps labels [N], found at a step by somebody, if their exact cut is larger."""
        cut = self._graph.cut(labels)
        if cut > self.cut:
            self.labels, self.cut = labels.astype(np.int8), cut
            self.curve.append(Progress(self._watch.elapsed, step, cut))
            self.found_by = by
            self.improvements[by] += 1
