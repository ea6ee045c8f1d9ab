"""One-flip tabu search, on the host or, batched over trajectories, on a device.

Rules, the same in both (Glover and Laguna, 1997; for one flip: Kochenberger et al., Annals of
Operations Research 216, 2013): at each step the vertex of the largest gain is flipped among those
that are not barred, whether the cut rises or falls; between equal gains chance decides. The flipped
vertex is barred for as many flips as its tenure says, which is drawn from a range at each flip. No
vertex is flipped before its tenure is over, be the cut as large as it will (no aspiration), and no
trajectory starts anew.

Shape letters: B trajectories, N vertices, T flips.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Literal, Protocol, get_args

import jax
import numpy as np

from ecord_jax.baselines.run import Run
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.search.result import SolveResult

__all__ = ["FIXED", "SHRINKING", "Backend", "Crew", "Tenure", "tabu"]

Backend = Literal["auto", "numba", "jax"]


@dataclasses.dataclass(frozen=True)
class Tenure:
    """For how many flips a vertex is barred: any number of a range, with equal chance.

    The range moves from `first` to `last` as the budget is used up, by equal factors in equal
    times.

    Attributes:
        first: (least, most) at the first flip, over the number of vertices.
        last: the same at the end of the budget.

    Raises:
        OptionError: for a range that is empty or not between 0 and 1.
    """

    first: tuple[float, float]
    last: tuple[float, float]

    def __post_init__(self) -> None:
        for low, high in (self.first, self.last):
            if not 0 < low <= high <= 1:
                raise OptionError(f"tenures from {low:g} to {high:g} must be 0 < from <= to <= 1")

    def draw(self, used: np.ndarray, uniforms: np.ndarray, num_vertices: int) -> np.ndarray:
        """Draws tenures.

        Args:
            used: [T], parts of the budget, 0 to 1.
            uniforms: [T], uniform numbers below 1.
            num_vertices: N.

        Returns:
            int32 [T], at least 1 and below N (0 where N is 1), so that some vertex is free always.
        """
        low, high = (
            num_vertices * start * np.exp(math.log(end / start) * used)
            for start, end in zip(self.first, self.last, strict=True)
        )
        tenures = np.maximum(low + uniforms * (high - low + 1), 1)
        return np.minimum(tenures, num_vertices - 1).astype(np.int32)


FIXED = Tenure((0.05, 0.1), (0.05, 0.1))
SHRINKING = Tenure((0.2, 0.4), (0.005, 0.01))

# Of a search that the clock ends: in how many rounds, and of how many seconds, it looks at it.
_ROUNDS, _ROUND_SECONDS = 16, 0.25


class Crew(Protocol):
    """Trajectories on some machine.

    Attributes:
        least, most: flips that it does well at once.
    """

    least: int
    most: int

    def prepare(self) -> None:
        """Compiles what `advance` runs, and flips nothing."""

    def advance(self, num_steps: int, budget: int) -> np.ndarray:
        """Flips T vertices of each trajectory, whose tenures are those of a budget of flips.

        Returns:
            int8 [N], the best labels of all trajectories so far.
        """


def tabu(
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int = 20,
    time_limit: float | None = None,
    num_steps: int | None = None,
    tenure: Tenure = SHRINKING,
    backend: Backend = "auto",
) -> SolveResult:
    """Looks for a large cut by one-flip tabu search from random labels.

    Args:
        graph: the graph.
        key: of `jax.random.key`; consumed.
        trajectories: B.
        time_limit: seconds; see `ecord_jax.solve`.
        num_steps: flips of each trajectory. Without a time limit the same key and number give the
            same labels.
        tenure: `FIXED`, `SHRINKING` or another; where there is a time limit it is by the clock that
            the budget is used up.
        backend: "numba", walks in threads on the host; "jax", all trajectories at once on JAX's
            default device; "auto", whichever is faster there.

    Raises:
        OptionError: for an option that makes no sense.
    """
    if backend not in get_args(Backend):
        raise OptionError(f"backend={backend!r} is none of {', '.join(get_args(Backend))}")
    if backend == "auto":
        backend = "numba" if jax.default_backend() == "cpu" else "jax"
    run = Run(
        graph,
        "tabu",
        key=key,
        trajectories=trajectories,
        time_limit=time_limit,
        num_steps=num_steps,
    )
    if run.over:
        return run.result(run.over)
    labels = run.rng.integers(0, 2, (trajectories, graph.num_vertices), np.int8)
    crew: Crew
    if backend == "numba":
        from ecord_jax.baselines.tabu_host import HostCrew

        crew = HostCrew(graph, labels, tenure, run.rng)
    else:
        from ecord_jax.baselines.tabu_device import DeviceCrew

        crew = DeviceCrew(graph, labels, tenure, run.rng)
    return _search(run, crew)


def _search(run: Run, crew: Crew) -> SolveResult:
    """Lets the trajectories flip until something ends the run."""
    crew.prepare()
    timed, pace = math.isfinite(run.watch.left), None
    while (stopped_by := run.over) is None:
        left, num_steps = run.last_step - run.steps, crew.most
        if timed and pace is None:
            num_steps = crew.least  # which count as the beginning of a long budget
        elif pace is not None and timed:
            left = min(left, int(run.watch.left / pace) + 1)
            num_steps = int(min(_ROUND_SECONDS / pace, left / _ROUNDS, crew.most))
        num_steps = min(max(num_steps, crew.least), left)
        began = run.watch.elapsed
        run.offer(crew.advance(num_steps, run.steps + left))
        run.steps += num_steps
        pace = (run.watch.elapsed - began) / num_steps
    return run.result(stopped_by)
