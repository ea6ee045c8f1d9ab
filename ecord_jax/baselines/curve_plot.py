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
_LEAST_RANGE = 0.02  # of ratios
_STYLES = ("-", "--", ":", "-.")


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
        worst = 1 - _LEAST_RANGE
        for number, solver in enumerate(dict.fromkeys(row.solver for row in rows)):
            runs = [row for row in rows if row.solver == solver]
            # Colours repeat after ten.
            style = {"color": f"C{number % 10}", "linestyle": _STYLES[number // 10 % len(_STYLES)]}
            low = _draw_ratios(left, runs, [curves[row.key] for row in runs], style)
            times = np.maximum([row.best_seconds for row in runs], _LEAST_SECONDS)
            right.ecdf(times, **style)
            worst = min(worst, low)
        # The ends of runs count, not their beginnings.
        bottom, top = max(0.0, 2 * worst - 1), max(1.0, *(row.ratio or 0.0 for row in rows))
        left.set_ylim(bottom, top + 0.05 * (top - bottom))
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
    axis: plt.Axes,
    runs: Sequence[Row],
    curves: Sequence[Sequence[Progress]],
    style: dict[str, Any],
) -> float:
    """Draws one solver; gives its lower quartile at the end."""
    # From when all have some cut to when the last of them ends.
    first = max(*(curve[0].seconds for curve in curves), _LEAST_SECONDS)
    last = max(*(curve[-1].seconds for curve in curves), first * 1.01)
    times = np.geomspace(first, last, _POINTS)
    ratios = ratios_at(curves, [row.reference or 1.0 for row in runs], times)
    low, median, high = np.percentile(ratios, (25, 50, 75), axis=0)
    axis.plot(times, median, label=runs[0].solver, **style)
    axis.fill_between(times, low, high, alpha=0.2, color=style["color"], linewidth=0)
    return float(low[-1])
