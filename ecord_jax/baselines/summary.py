"""What a table of runs comes to: a line for each set and solver. Shape letters: G graphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ecord_jax.baselines.table import Row

__all__ = ["Line", "bootstrap", "summarize"]

_RESAMPLES = 10_000


class Line(NamedTuple):
    """One set and solver.

    Attributes:
        set, solver: which.
        graphs: how many there are.
        left_out: those of them without a best known cut above 0; the next five are of the others
            and NaN if there are none.
        ratio: mean over graphs of the mean over seeds of (cut / best known).
        low95, high95: its 95 % interval, bootstrapped over graphs.
        low68, high68: 16th and 84th percentile over graphs, as the paper's tables have.
        cut: mean over all graphs.
        seconds: mean over all runs.
    """

    set: str
    solver: str
    graphs: int
    left_out: int
    ratio: float
    low95: float
    high95: float
    low68: float
    high68: float
    cut: float
    seconds: float


def summarize(rows: Sequence[Row]) -> list[Line]:
    """Sums up rows; lines are in the order in which sets and solvers first come."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.set, row.solver].append(row)
    return [_line(set_, solver, group) for (set_, solver), group in groups.items()]


def bootstrap(values: np.ndarray, level: float = 0.95, seed: int = 0) -> tuple[float, float]:
    """Percentile interval of the mean (Efron, 1979).

    Args:
        values: [G], at least one.
        level: part of the resampled means that is within it.
        seed: of the resampling.
    """
    rng = np.random.default_rng(seed)
    means = np.array(
        [values[rng.integers(0, len(values), len(values))].mean() for _ in range(_RESAMPLES)]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _line(set_: str, solver: str, rows: Sequence[Row]) -> Line:
    graphs: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        graphs[row.graph].append(row)
    # A best known cut may have been there for some of the runs only.
    known = [runs for runs in graphs.values() if all(row.ratio is not None for row in runs)]
    ratios = np.array([np.mean([row.ratio for row in runs]) for runs in known])
    nan = float("nan")
    low95, high95 = bootstrap(ratios) if len(ratios) else (nan, nan)
    low68, high68 = np.percentile(ratios, (16, 84)).tolist() if len(ratios) else (nan, nan)
    return Line(
        set=set_,
        solver=solver,
        graphs=len(graphs),
        left_out=len(graphs) - len(ratios),
        ratio=float(ratios.mean()) if len(ratios) else nan,
        low95=low95,
        high95=high95,
        low68=low68,
        high68=high68,
        cut=float(np.mean([np.mean([row.cut for row in runs]) for runs in graphs.values()])),
        seconds=float(np.mean([row.seconds for row in rows])),
    )
