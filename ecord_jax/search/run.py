"""One call of `solve` from its first labels to what ended it: the exact account of what is found.

Shape letters: N vertices of the graph, K of the reduced one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import warnings
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, TypeVar

import jax
import numpy as np

from ecord_jax.errors import EcordError, EcordWarning
from ecord_jax.graphs import Graph
from ecord_jax.graphs.presolve import Reduction
from ecord_jax.search.hunt import Hunt
from ecord_jax.search.parts import BestParts
from ecord_jax.search.prepare import in_background, translate_memory_errors
from ecord_jax.search.result import Incumbent, Progress, StoppedBy, Watch

if TYPE_CHECKING:
    from ecord_jax.search.bound import Bound

__all__ = ["Run"]

_Value = TypeVar("_Value")

# A bound of up to so many vertices takes seconds, and is computed while the search goes on.
_BOUNDED_BESIDE = 2000
_REPORT_SECONDS = 0.1  # between calls of the callback while something is prepared


@dataclasses.dataclass
class Run:
    """One search as far as it has come, which is what an interruption leaves.

    Attributes:
        best: the exact incumbent.
        watch: since the call.
        trajectories: B.
        last_step: flips of each trajectory after which it ends.
        callback: as the caller of `solve` gave it.
        bounder: computes an upper bound of what is left of the graph; None where none is wanted.
        bounding: the bound, as soon as it is being computed.
        hunt: the search over the reduced graph, once there is one.
        reduction: what that goes over, once it is known.
        seconds: how long the reduction and the device were waited for.
    """

    best: Incumbent
    watch: Watch
    trajectories: int
    last_step: int
    callback: Callable[[Progress], None] | None
    bounder: Callable[[Reduction], Bound] | None = None
    bounding: Future[Bound] | None = None
    hunt: Hunt | None = None
    reduction: Reduction | None = None
    seconds: dict[str, float] = dataclasses.field(
        default_factory=lambda: {"presolve": 0.0, "compile": 0.0}
    )

    @property
    def steps(self) -> int:
        """Flips of each trajectory."""
        return self.hunt.steps if self.hunt else 0

    def search(
        self,
        greedy: Callable[[], np.ndarray],
        reduce: Callable[[], Reduction],
        prepare: Callable[[Reduction], Hunt],
    ) -> StoppedBy:
        """Does everything that may take long; gives what ended it.

        Args:
            greedy: gives labels [N].
            reduce: makes the graph smaller.
            prepare: makes a search of what is left.
        """
        try:
            if not self.best.is_optimal:
                self.best.offer(greedy(), 0, "greedy")
            self._report()
            if self.best.is_optimal:
                return "optimal"
            self.reduction = self._wait_for("presolve", reduce)
            if self.reduction is None:
                return "time_limit"
            if self._take_over(self.reduction):
                return "optimal"
            if self.reduction.graph.num_vertices <= _BOUNDED_BESIDE:
                self._begin_bound(self.reduction)
            made = self._wait_for("compile", lambda: self._make(prepare, self.reduction))
            return "time_limit" if made is None else self._follow(*made, self.reduction)
        except KeyboardInterrupt:
            return "interrupted"

    def _make(self, prepare: Callable[[Reduction], Hunt], reduction: Any) -> tuple[Hunt, BestParts]:
        parts = BestParts(reduction.graph, self.best.labels[reduction.vertices])
        return prepare(reduction), parts

    def _take_over(self, reduction: Reduction) -> bool:
        """Completes the best labels in the best way; gives whether that ends the search."""
        labels = reduction.lift(self.best.labels[reduction.vertices])
        self.best.offer(labels, 0, "presolve")
        bound = self.best.cut if reduction.optimal else reduction.bound
        self.best.bound = min(self.best.bound, bound)
        return self.best.is_optimal

    def _wait_for(self, stage: str, make: Callable[[], _Value]) -> _Value | None:
        """Makes something in the background; gives None where the time is over before."""
        before = self.watch.elapsed
        if self.watch.left <= 0:
            return None
        future = in_background(make)
        try:
            while not future.done() and self.watch.left > 0:
                wait([future], min(self.watch.left, _REPORT_SECONDS))
                self._report()
        finally:
            self.seconds[stage] = self.watch.elapsed - before
        return future.result() if future.done() else None

    def _report(self) -> None:
        if self.callback is not None:
            self.callback(Progress(self.watch.elapsed, self.steps, self.best.cut))

    def _follow(self, hunt: Hunt, parts: BestParts, reduction: Reduction) -> StoppedBy:
        """Takes in what a search finds until something ends it."""
        self.hunt = hunt
        with translate_memory_errors(self.trajectories), contextlib.closing(hunt.run()) as finds:
            for found in finds:
                better = None if found is None else parts.take(found)
                if found is not None and better is not None:
                    step = hunt.steps if better.step is None else better.step
                    self.best.offer(reduction.lift(better.labels), step, found.by)
                self._heed_bound()
                self._report()
                if self.best.is_optimal:
                    return "optimal"
        ended = hunt.steps >= self.last_step or math.isinf(self.watch.left)
        return "num_steps" if ended else "time_limit"

    def _begin_bound(self, reduction: Reduction) -> None:
        if self.bounder is not None:
            self.bounding = in_background(functools.partial(self.bounder, reduction))

    def _heed_bound(self) -> None:
        """The search ends where its best cut reaches a bound."""
        if self.bounding is not None and self.bounding.done():
            bound = self._take_bound()
            if bound is not None and bound.certified:
                self.best.bound = min(self.best.bound, bound.largest_cut)

    def finish_bound(self, graph: Graph) -> Bound | None:
        """The bound, which may take its time; None where none is wanted, or Ctrl-C ends it."""
        if self.bounder is None:
            return None
        try:
            if self.bounding is None:
                self._begin_bound(self.reduction or Reduction.unchanged(graph))
            assert self.bounding is not None
            while not self.bounding.done():
                wait([self.bounding], _REPORT_SECONDS)
                self._report()
            return self._take_bound()
        except KeyboardInterrupt:
            return None

    def _take_bound(self) -> Bound | None:
        """What the bound's thread gives; where that has failed the search has not, and warns."""
        assert self.bounding is not None
        try:
            return self.bounding.result()
        except (EcordError, MemoryError, jax.errors.JaxRuntimeError) as error:
            self.bounder = self.bounding = None
            cause = str(error) or type(error).__name__
            warnings.warn(f"there is no bound: {cause}", EcordWarning, stacklevel=3)
            return None
