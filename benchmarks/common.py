"""What the benchmarks share: graphs and agents, interleaved timing, tables, JSON and plots.

JAX is imported where it is used: some benchmarks measure what is done without it.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import math
import multiprocessing
import os
import platform
import resource
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from absl import flags

from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.models import erdos_renyi

if TYPE_CHECKING:
    from ecord_jax.graphs.arrays import GraphArrays
    from ecord_jax.networks.agent import Agent

__all__ = [
    "Report",
    "Timing",
    "apart",
    "blocking",
    "define_output",
    "growth_exponent",
    "interleaved",
    "line",
    "machine",
    "named_agent",
    "no_arguments",
    "parse_sizes",
    "peak_megabytes",
    "random_graph",
    "save_plot",
]

_PAPER = "paper"


@dataclasses.dataclass(frozen=True)
class Timing:
    """Seconds of one thing, measured several times.

    Attributes:
        median: of all.
        low, high: first and third quartile.
    """

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Timing:
        low, median, high = np.percentile(seconds, [25, 50, 75])
        return cls(float(median), float(low), float(high))

    @property
    def spread(self) -> float:
        """Half the distance of the quartiles as a part of the median."""
        return (self.high - self.low) / (2 * self.median)


def interleaved(runs: Mapping[Any, Callable[[], Any]], *, repeats: int) -> dict[Any, Timing]:
    """Times functions in turns, so that what else the machine does falls on all alike.

    Args:
        runs: by name; each returns when its work is done. Called once before, not timed.
        repeats: turns.
    """
    seconds: dict[Any, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: Timing.of(values) for name, values in seconds.items()}


def blocking(function: Callable[..., Any], *arguments: Any) -> Callable[[], None]:
    """A call of a compiled function that waits for its result."""
    import jax

    return lambda: jax.block_until_ready(function(*arguments))


def growth_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float | None:
    """The slope of log seconds against log sizes; None of fewer than two sizes."""
    if len(set(sizes)) < 2:
        return None
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def machine() -> dict[str, Any]:
    """Which machine, and how busy: `load` is that of the last minute."""
    import jax

    device = jax.devices()[0]
    return {
        "device": device.device_kind if device.platform != "cpu" else f"cpu ({_processor()})",
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
        "jax": jax.__version__,
        "python": platform.python_version(),
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="ascii")
    except OSError:
        return platform.processor() or platform.machine()
    names = [x.split(":", 1)[1].strip() for x in text.splitlines() if x.startswith("model name")]
    return names[0] if names else platform.machine()


def random_graph(num_vertices: int, mean_degree: float, *, seed: int = 0) -> Graph:
    """A random graph with weights of -1 and 1."""
    probability = min(mean_degree / max(num_vertices - 1, 1), 1.0)
    return erdos_renyi(num_vertices, probability, seed=seed, weights="signed")


def named_agent(name: str, arrays: GraphArrays) -> Agent:
    """`paper`: its agent, untrained (random weights take as long); else as `load_agent`."""
    import jax

    from ecord_jax.agents import load_agent
    from ecord_jax.networks.agent import init_agent
    from ecord_jax.networks.config import EcordConfig

    if name == _PAPER:
        return init_agent(EcordConfig(), arrays, jax.random.key(0))
    return load_agent(name)


def define_output(flag_values: flags.FlagValues) -> tuple[flags.FlagHolder, flags.FlagHolder]:
    """Defines --out and --json, for `Report`."""
    out = flags.DEFINE_string(
        "out", None, "Folder for the JSON file and plots.", flag_values=flag_values
    )
    as_json = flags.DEFINE_boolean(
        "json", False, "Print one JSON object as the last line.", flag_values=flag_values
    )
    return out, as_json


class Report:
    """Rows that are printed as they come, and at the end written.

    Args:
        name: of the benchmark and its files.
        columns: of the rows; the first is a text.
        out: folder, or None.
        as_json: whether the last line is one JSON object.
    """

    def __init__(self, name: str, columns: Sequence[str], out: str | None, as_json: bool) -> None:
        self.rows: list[dict[str, Any]] = []
        self.more: dict[str, Any] = {}
        self.machine = machine()
        self._name, self._columns, self._json = name, columns, as_json
        self.folder = Path(out) if out else None
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)
        print(", ".join(f"{key} {value}" for key, value in self.machine.items()))
        print(self._line(columns))

    def _line(self, cells: Sequence[Any]) -> str:
        return line(cells, [len(column) for column in self._columns])

    def add(self, row: dict[str, Any]) -> None:
        """Prints a row; what it has beside the columns is only written."""
        self.rows.append(row)
        print(self._line([row.get(c, "") for c in self._columns]), flush=True)

    def say(self, name: str, value: Any) -> None:
        """A result that is no row."""
        self.more[name] = value
        print(f"{name.replace('_', ' ')}: {_text(value)}", flush=True)

    def finish(self) -> None:
        """Writes the JSON file and prints its object, where they were asked for."""
        whole = {"benchmark": self._name, "machine": self.machine, **self.more, "rows": self.rows}
        if self.folder:
            (self.folder / f"{self._name}.json").write_text(json.dumps(whole, indent=1) + "\n")
        if self._json:
            print(json.dumps(whole))


def line(cells: Sequence[Any], widths: Sequence[int], first: int = 24) -> str:
    """A row of a table.

    Args:
        cells: its values.
        widths: least ones of the columns but the first.
        first: width of the first column.
    """
    texts = [_text(cell) for cell in cells]
    rest = zip(texts[1:], widths[1:], strict=True)
    return f"{texts[0]:<{first}}" + "".join(f"{text:>{max(width, 10) + 2}}" for text, width in rest)


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def save_plot(report: Report, name: str, draw: Callable[[Any], None], panels: int = 1) -> None:
    """Writes NAME.png into the report's folder, if there is one.

    Args:
        report: the report.
        name: of the file, without ending.
        draw: takes the axes, a list of them where there are several.
        panels: how many, side by side.
    """
    if report.folder is None:
        return
    import matplotlib.figure

    figure = matplotlib.figure.Figure(figsize=(5.5 * panels, 4), layout="constrained")
    axes = figure.subplots(1, panels)
    draw(axes)
    figure.savefig(report.folder / f"{name}.png", dpi=120)


def parse_sizes(name: str, texts: Iterable[str], most: int = 10**8) -> list[int]:
    """The integers of a list flag.

    Raises:
        OptionError: where one is none, or not from 1 to `most`.
    """
    texts = list(texts)
    if not texts or not all(text.isdecimal() and 1 <= int(text) <= most for text in texts):
        raise OptionError(f"flag --{name}={','.join(texts)}: expected integers from 1 to {most}")
    return [int(text) for text in texts]


def no_arguments(argv: Sequence[str]) -> None:
    """Raises OptionError for arguments that are no flags."""
    if len(argv) > 1:
        raise OptionError(f"unexpected argument {argv[1]!r}; see --help")


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def peak_megabytes() -> int:
    """The most memory of the process; what Linux has in getrusage may be that of its parent."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            kilobytes = next(int(x.split()[1]) for x in file if x.startswith("VmHWM:"))
    except (OSError, StopIteration):
        kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return math.ceil(kilobytes / 1000)
