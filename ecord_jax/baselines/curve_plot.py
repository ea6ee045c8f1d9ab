"""Pictures of how fast solvers come near the best known cuts. Imported only where one is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from ecord_jax.baselines.table import Row, Table  # noqa: E402
from ecord_jax.search.result import Progress  # noqa: E402

__all__ = ["plot_sets", "ratios_at"]

_POINTS = 200


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
    """Draws a picture of each set with known cuts: median and quartiles over graphs and seeds.

    Returns:
        The files, FOLDER/SET.png.
    """
    curves, files = table.curves(), []
    known = [row for row in table.rows if row.ratio is not None and row.key in curves]
    for set_ in dict.fromkeys(row.set for row in known):
        rows = [row for row in known if row.set == set_]
        figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
        for solver in dict.fromkeys(row.solver for row in rows):
            runs = [row for row in rows if row.solver == solver]
            _draw(axis, solver, runs, [curves[row.key] for row in runs])
        axis.set(xscale="log", xlabel="seconds", ylabel="cut / best known", title=set_)
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small")
        files.append(folder / f"{set_}.png")
        figure.savefig(files[-1], format="png", dpi=120)
        plt.close(figure)
    return files


def _draw(
    axis: plt.Axes, solver: str, runs: Sequence[Row], curves: Sequence[Sequence[Progress]]
) -> None:
    # From when all have some cut to when the last of them ends.
    first = max(max(curve[0].seconds for curve in curves), 1e-4)
    last = max(max(curve[-1].seconds for curve in curves), first * 1.01)
    times = np.geomspace(first, last, _POINTS)
    ratios = ratios_at(curves, [row.reference or 1.0 for row in runs], times)
    low, median, high = np.percentile(ratios, (25, 50, 75), axis=0)
    (line,) = axis.plot(times, median, label=solver)
    axis.fill_between(times, low, high, alpha=0.2, color=line.get_color(), linewidth=0)
