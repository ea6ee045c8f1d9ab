"""What a training run writes for people: its description, its metrics, its learning curve."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import subprocess
from pathlib import Path
from typing import Any

__all__ = ["MetricsLog", "describe_run", "plot_learning_curve"]

_PACKAGES = ("ecord-jax", "jax", "jaxlib", "flax", "optax", "numpy")


def describe_run(path: Path, config: dict[str, Any], command: str) -> None:
    """Writes the resolved configuration, versions and commit as JSON."""
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    described = {"train": config, "command": command, "versions": versions, "commit": _commit()}
    path.write_text(json.dumps(described, indent=1) + "\n")


def _commit() -> str:
    """The source tree's commit, "-dirty" after it if files differ; "unknown" outside of one."""
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return found.stdout.strip()


class MetricsLog:
    """Metrics as JSON lines, one object a line with `update` and `seconds`."""

    def __init__(self, path: Path, *, keep_until: int) -> None:
        """Lines after update `keep_until`, left by a run that was cut off, are dropped."""
        lines = path.read_text().splitlines() if path.exists() else []
        kept = [line for line in lines if _update_of(line) <= keep_until]
        path.write_text("".join(line + "\n" for line in kept))
        self._path = path

    def write(self, update: int, seconds: float, metrics: dict[str, Any]) -> None:
        """Appends one line."""
        values = {name: float(value) for name, value in sorted(metrics.items())}
        line = json.dumps({"update": update, "seconds": round(seconds, 2), **values})
        with self._path.open("a") as file:
            file.write(line + "\n")


def _update_of(line: str) -> float:
    try:
        return json.loads(line)["update"]
    except (ValueError, KeyError):
        return float("inf")  # half a line: the run was cut off while writing it


def plot_learning_curve(metrics: Path, picture: Path) -> None:
    """Draws loss and validation against updates as a PNG."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = [json.loads(line) for line in metrics.read_text().splitlines()]
    figure, (upper, lower) = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
    for axis, names in (
        (upper, ("validation_best", "validation_mean")),
        (lower, ("loss", "gradient_norm")),
    ):
        for name in names:
            points = [(row["update"], row[name]) for row in rows if name in row]
            if points:
                axis.plot(*zip(*points, strict=True), label=name.replace("_", " "))
        axis.legend()
        axis.grid(alpha=0.3)
    upper.set_ylabel("cut / reference")
    lower.set_yscale("log")
    lower.set_xlabel("update")
    figure.savefig(picture, dpi=120)
    plt.close(figure)
