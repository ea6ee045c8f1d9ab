"""What every baseline shares: its limits, its clock, its best labels and its result.

Shape letters: N vertices.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.search.result import Incumbent, Progress, SolveResult, StoppedBy, Watch
from ecord_jax.search.solve import check_limits, check_options

__all__ = ["Callback", "Run"]

Callback = Callable[[Progress], None]


class Run:
    """One run of a baseline, from its call to its result.

    Args:
        graph: the graph.
        name: of the solver, as the result has it.
        key, trajectories, time_limit, num_steps: as the caller gave them; see `ecord_jax.solve`.
        callback: called after each `offer`. A KeyboardInterrupt raised in it ends the run.

    Attributes:
        rng: numpy's generator, seeded by the key.
        last_step: steps of each trajectory after which it ends (2^30 - 2^10 for no limit).
        steps: steps done; the solver counts them.

    Raises:
        OptionError: for an option that makes no sense.
    """

    def __init__(
        self,
        graph: Graph,
        name: str,
        *,
        key: jax.Array,
        trajectories: int,
        time_limit: float | None,
        num_steps: int | None,
        callback: Callback | None = None,
    ) -> None:
        seconds, self.last_step = check_limits(time_limit, num_steps)
        trajectories = check_options(graph, trajectories, key)
        self.watch = Watch(seconds)
        self.rng = np.random.default_rng(np.asarray(jax.random.key_data(key)).tolist())
        self.steps = 0
        self._name, self._trajectories = name, trajectories
        self._callback, self._interrupted = callback, False
        self._best = Incumbent(graph, np.zeros(graph.num_vertices, np.int8), self.watch)

    @property
    def cut(self) -> int | float:
        """The best exact cut so far; 0 at first, of all vertices on one side."""
        return self._best.cut

    @property
    def over(self) -> StoppedBy | None:
        """What ends the run now, or None."""
        if self._best.is_optimal:
            return "optimal"
        if self._interrupted:
            return "interrupted"
        if self.steps >= self.last_step:
            return "num_steps"
        return "time_limit" if self.watch.left <= 0 else None

    def offer(self, labels: np.ndarray) -> None:
        """Keeps labels [N], 0 or 1, if their exact cut is larger than all before."""
        self._best.offer(labels, self.steps, self._name)
        if self._callback is not None:
            try:
                self._callback(Progress(self.watch.elapsed, self.steps, self._best.cut))
            except KeyboardInterrupt:
                self._interrupted = True

    def result(self, stopped_by: StoppedBy) -> SolveResult:
        """The result as it stands."""
        seconds = self.watch.elapsed
        return SolveResult(
            cut=self._best.cut,
            labels=self._best.labels,
            curve=(*self._best.curve, Progress(seconds, self.steps, self._best.cut)),
            steps=self.steps,
            trajectories=self._trajectories,
            seconds={
                "read": 0.0,
                "presolve": 0.0,
                "compile": 0.0,
                "search": seconds,
                "total": seconds,
            },
            stopped_by=stopped_by,
            agent=self._name,
            found_by=self._name,
        )
