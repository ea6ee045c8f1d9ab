"""Pictures of how fast solvers come near the best known cuts. Imported only where one is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from ecord_jax.baselines.table import Row, Table  # noqa: E402
from ecord_jax.search.result import Progress  # noqa: E402

__all__ = ["plot_sets", "ratios_at"]

_POINTS = 200
_LEAST_SECONDS = 1e-4  # where the axis of time may begin


def ratios_at(
    curves: Sequence[Sequence[Progress]], references: Sequence[float], times: np.ndarray
) -> np.ndarray:
    """Best cut so far over the best known one.

    Args:
        curves: of R runs, each in the order of time.
        references: best known cut of each.
        times: [T], ascending.

    Returns:
        float64 [R, T]; NaN before a curve begins.
    """
    ratios = np.full((len(curves), len(times)), np.nan)
    for ratio, curve, reference in zip(ratios, curves, references, strict=True):
        place = np.searchsorted([point.seconds for point in curve], times, side="right") - 1
        cuts = np.array([float(point.cut) for point in curve])
        ratio[place >= 0] = cuts[place[place >= 0]] / reference
    return ratios


def plot_sets(table: Table, folder: Path) -> list[Path]:
    """Draws two pictures side by side of each set with known cuts.

    On the left, median and quartiles over graphs and seeds of the best cut so far over the best
    known one; on the right, the part of the runs that have met their best cut, and whose later
    time gained nothing.

    Returns:
        The files, FOLDER/SET.png.
    """
    curves, files = table.curves(), []
    known = [row for row in table.rows if row.ratio is not None and row.key in curves]
    for set_ in dict.fromkeys(row.set for row in known):
        rows = [row for row in known if row.set == set_]
        figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
        for solver in dict.fromkeys(row.solver for row in rows):
            runs = [row for row in rows if row.solver == solver]
            color = _draw_ratios(left, solver, runs, [curves[row.key] for row in runs])
            times = np.maximum([row.best_seconds for row in runs], _LEAST_SECONDS)
            right.ecdf(times, label=solver, color=color)
        left.set(xscale="log", xlabel="seconds", ylabel="cut / best known", title=set_)
        right.set(xscale="log", xlabel="seconds", ylabel="runs that have met their best cut")
        for axis in (left, right):
            axis.grid(alpha=0.3)
        left.legend(fontsize="small")
        files.append(folder / f"{set_}.png")
        figure.savefig(files[-1], format="png", dpi=120)
        plt.close(figure)
    return files


def _draw_ratios(
    axis: plt.Axes, solver: str, runs: Sequence[Row], curves: Sequence[Sequence[Progress]]
) -> Any:
    """Draws one solver; gives its colour."""
    # From when all have some cut to when the last of them ends.
    first = max(*(curve[0].seconds for curve in curves), _LEAST_SECONDS)
    last = max(*(curve[-1].seconds for curve in curves), first * 1.01)
    times = np.geomspace(first, last, _POINTS)
    ratios = ratios_at(curves, [row.reference or 1.0 for row in runs], times)
    low, median, high = np.percentile(ratios, (25, 50, 75), axis=0)
    (line,) = axis.plot(times, median, label=solver)
    axis.fill_between(times, low, high, alpha=0.2, color=line.get_color(), linewidth=0)
    return line.get_color()
