"""Pictures of a search. Imported only where one is asked for, since matplotlib is slow to load."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from ecord_jax.search.result import SolveResult  # noqa: E402

__all__ = ["plot_curve"]


def plot_curve(result: SolveResult, path: str, title: str) -> None:
    """Draws the best cut against time.

    Args:
        result: of a search.
        path: a PNG, whatever its name.
        title: above the picture.
    """
    seconds = [point.seconds for point in result.curve]
    cuts = [float(point.cut) for point in result.curve]
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    axis.step(seconds, cuts, where="post", marker=".")
    axis.set_xlabel("seconds")
    axis.set_ylabel("best cut")
    axis.set_title(title)
    axis.grid(alpha=0.3)
    figure.savefig(path, format="png", dpi=120)
    plt.close(figure)
