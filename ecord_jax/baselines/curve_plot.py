"""Pictures of how fast solvers come near the best known cuts. Imported only where one is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from ecord_jax.baselines.table import Key, Row, Table  # noqa: E402
from ecord_jax.search.result import Progress  # noqa: E402

__all__ = ["plot_graphs", "plot_sets", "ratios_at"]

_POINTS = 200
_LEAST_SECONDS = 1e-4  # where the axis of time may begin
_LEAST_RANGE = 0.02  # of ratios
_LEAST_CUT_RANGE = 1e-4  # of the cuts of a graph, over the largest
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


def plot_sets(
    rows: Sequence[Row], curves: Mapping[Key, Sequence[Progress]], folder: Path
) -> list[Path]:
    """Draws two pictures side by side of each set with known cuts.

    On the left, median and quartiles over graphs and seeds of the best cut so far over the best
    known one; on the right, the part of the runs that have met their best cut, and whose later
    time gained nothing.

    Returns:
        The files, FOLDER/SET.png.
    """
    files: list[Path] = []
    known = [row for row in rows if row.ratio is not None and row.key in curves]
    for set_ in dict.fromkeys(row.set for row in known):
        rows = [row for row in known if row.set == set_]
        figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
        worst = 1 - _LEAST_RANGE
        for number, solver in enumerate(dict.fromkeys(row.solver for row in rows)):
            runs = [row for row in rows if row.solver == solver]
            references = [row.reference or 1.0 for row in runs]
            own = [curves[row.key] for row in runs]
            end = max(curve[-1].seconds for curve in own)
            low = _draw(left, own, references, end, (25, 50, 75), solver, number)
            times = np.maximum([row.best_seconds for row in runs], _LEAST_SECONDS)
            right.ecdf(times, **_style(number))
            worst = min(worst, low)
        _finish(left, worst, max(1.0, *(row.ratio or 0.0 for row in rows)))
        left.set(ylabel="cut / best known", title=set_)
        right.set(xscale="log", xlabel="seconds", ylabel="runs that have met their best cut")
        right.grid(alpha=0.3)
        files.append(_save(figure, folder / f"{set_}.png"))
    return files


def plot_graphs(table: Table, lines: Mapping[Key, str], folder: Path) -> list[Path]:
    """Draws the best cut so far of each graph, a line a solver, with the best known cut.

    A line is the median over its runs, from their lowest to their highest in a band. It goes on to
    the time limit where runs end before, at the best known cut or at one that is optimal.

    Args:
        table: where the runs are.
        lines: whose runs are drawn, and the name of the line of each.
        folder: where to put the files.

    Returns:
        The files, FOLDER/GRAPH.png.
    """
    curves, files = table.curves(), []
    drawn = [row for row in table.rows if row.key in lines and row.key in curves]
    for graph in dict.fromkeys(row.graph for row in drawn):
        rows = [row for row in drawn if row.graph == graph]
        figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
        best, reference = max(float(row.cut) for row in rows), rows[0].reference
        worst = best * (1 - _LEAST_CUT_RANGE)
        for number, name in enumerate(dict.fromkeys(lines.values())):
            runs = [row for row in rows if lines[row.key] == name]
            if runs:
                own = [curves[row.key] for row in runs]
                end = max(max(row.seconds, row.second_limit or 0.0) for row in runs)
                low = _draw(axis, own, [1.0] * len(own), end, (0, 50, 100), name, number)
                worst = min(worst, low)
        if reference is not None:
            axis.axhline(reference, color="black", linewidth=0.8, label="best known")
        _finish(axis, worst, max(best, reference or best))
        axis.set(ylabel="cut", title=graph)
        files.append(_save(figure, folder / f"{graph.replace('/', '-')}.png"))
    return files


def _draw(
    axis: plt.Axes,
    curves: Sequence[Sequence[Progress]],
    references: Sequence[float],
    end: float,
    percentiles: tuple[float, float, float],
    name: str,
    number: int,
) -> float:
    """Draws one line in a band.

    Args:
        axis: where.
        curves, references: see `ratios_at`.
        end: seconds to which the line goes.
        percentiles: of the band's lower edge, of the line and of the upper edge.
        name: of the line.
        number: of the line, which says how it looks.

    Returns:
        Where the lower edge ends.
    """
    # From when all have some cut on.
    first = max(*(curve[0].seconds for curve in curves), _LEAST_SECONDS)
    times = np.geomspace(first, max(end, first * 1.01), _POINTS)
    low, middle, high = np.percentile(ratios_at(curves, references, times), percentiles, axis=0)
    style = _style(number)
    axis.plot(times, middle, label=name, **style)
    axis.fill_between(times, low, high, alpha=0.2, color=style["color"], linewidth=0)
    return float(low[-1])


def _style(number: int) -> dict[str, Any]:
    """How the line of a number looks; colours repeat after ten."""
    return {"color": f"C{number % 10}", "linestyle": _STYLES[number // 10 % len(_STYLES)]}


def _finish(axis: plt.Axes, worst: float, top: float) -> None:
    """Chooses what is seen: the ends of runs count, not their beginnings."""
    bottom = max(0.0, 2 * worst - top)
    axis.set_ylim(bottom, top + 0.05 * (top - bottom))
    axis.set(xscale="log", xlabel="seconds")
    axis.grid(alpha=0.3)
    axis.legend(fontsize="small")


def _save(figure: plt.Figure, file: Path) -> Path:
    figure.savefig(file, format="png", dpi=120)
    plt.close(figure)
    return file
