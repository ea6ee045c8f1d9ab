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

import math
from typing import Literal, Protocol, get_args

import jax
import numpy as np

from ecord_jax.baselines.run import Callback, Run
from ecord_jax.baselines.tabu_device import DeviceCrew
from ecord_jax.baselines.tabu_host import HostCrew
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.search.result import SolveResult
from ecord_jax.search.tenure import SHRINKING, Tenure

__all__ = ["Backend", "Crew", "tabu"]

Backend = Literal["auto", "numba", "jax"]


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
    callback: Callback | None = None,
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
        callback: see `ecord_jax.baselines.run.Run`.
        tenure: one of `ecord_jax.search.tenure`; where there is a time limit it is by the clock
            that the budget is used up.
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
        callback=callback,
    )
    if run.over:
        return run.result(run.over)
    labels = run.rng.integers(0, 2, (trajectories, graph.num_vertices), np.int8)
    make = HostCrew if backend == "numba" else DeviceCrew
    return _search(run, make(graph, labels, tenure, run.rng))


def _search(run: Run, crew: Crew) -> SolveResult:
    """Lets the trajectories flip until something ends the run."""
    crew.prepare()
    pace = None
    while (stopped_by := run.over) is None:
        num_steps, left = _plan(crew, run.last_step - run.steps, run.watch.left, pace)
        began = run.watch.elapsed
        run.offer(crew.advance(num_steps, run.steps + left))
        run.steps += num_steps
        pace = (run.watch.elapsed - began) / num_steps
    return run.result(stopped_by)


def _plan(crew: Crew, left: int, seconds: float, pace: float | None) -> tuple[int, int]:
    """Flips of the next round, and how many are left with them.

    Args:
        crew: who does them.
        left: by number.
        seconds: that are left; infinite where only flips are counted, so that the same seed gives
            the same rounds.
        pace: seconds a flip of all trajectories; None before the first round, which counts as the
            beginning of a long budget.
    """
    if math.isinf(seconds):
        return min(crew.most, left), left
    if pace is None:
        return min(crew.least, left), left
    left = min(left, int(max(seconds, 0.0) / pace) + 1)
    wanted = int(min(_ROUND_SECONDS / pace, left / _ROUNDS, crew.most))
    return min(max(wanted, crew.least), left), left
