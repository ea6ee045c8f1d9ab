"""The paper's figure of cut against temperature, one line a size, and `auto` beside it.

    python experiments/temperature_scan.py --out=runs/scan
    python experiments/temperature_scan.py --out=runs/scan40 --agent=er40 --vertices=40,100,200

On random graphs of each size (Section 4.3 of Barrett et al., arXiv:2205.14105: weights of 1, the
degrees of its large sets, 20 trajectories of 4 |V| steps) the agent's rollout alone runs at each
temperature and with `auto`. OUT/scan.csv has a row a run, which a call that is stopped goes on
with, of the same agent, factor, trajectories and seed; OUT/scan.png the figure: the mean over
graphs of the cut, over the best that any temperature has made of that graph.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
from absl import flags
from tqdm import tqdm

from ecord_jax.agents import full_name, load_agent
from ecord_jax.baselines.table import RowFile
from ecord_jax.cli.common import positionals, run
from ecord_jax.errors import OptionError
from ecord_jax.graphs.models import erdos_renyi
from ecord_jax.networks.swift import SwiftConfig
from ecord_jax.search.solve import INGREDIENTS, solve

_FLAGS = flags.FlagValues()
_OUT = flags.DEFINE_string("out", None, "Folder; made where it is missing.", flag_values=_FLAGS)
_AGENT = flags.DEFINE_string("agent", "mixture", "Name or file.", flag_values=_FLAGS)
_VERTICES = flags.DEFINE_list("vertices", ["5000", "7000", "10000"], "Sizes.", flag_values=_FLAGS)
_TEMPERATURES = flags.DEFINE_list(
    "temperatures",
    ["0", "0.0005", "0.001", "0.002", "0.004", "0.008", "0.016", "0.032", "0.064"],
    "Those that are tried.",
    flag_values=_FLAGS,
)
_GRAPHS = flags.DEFINE_integer("graphs", 3, "Of each size.", lower_bound=1, flag_values=_FLAGS)
_FACTOR = flags.DEFINE_float("factor", 4.0, "Steps over |V|.", lower_bound=0.01, flag_values=_FLAGS)
_TRAJECTORIES = flags.DEFINE_integer(
    "trajectories", 20, "Of each run.", lower_bound=1, flag_values=_FLAGS
)
_SEED = flags.DEFINE_integer("seed", 0, "Of all draws.", lower_bound=0, flag_values=_FLAGS)

AUTO = "auto"


class Point(NamedTuple):
    """One run: on which graph of a size, at which temperature, and the cut."""

    vertices: int
    graph: int
    temperature: str
    cut: float


def mean_degree(vertices: int) -> float:
    """That of the paper's large sets, which are those of G55, G60 and G70; 5 for smaller graphs."""
    return {7000: 4.9, 10000: 2.0}.get(vertices, 5.0)


def measure(agent: str, vertices: int, graph: int, temperature: str) -> Point:
    """One run."""
    rng = np.random.default_rng([_SEED.value, vertices, graph])
    made = erdos_renyi(vertices, mean_degree(vertices) / vertices, seed=rng)
    result = solve(
        made,
        agent=agent,
        num_steps=max(round(_FACTOR.value * vertices), 1),
        trajectories=_TRAJECTORIES.value,
        temperature=temperature if temperature == AUTO else float(temperature),
        move="ecord",
        ablate=INGREDIENTS,
        key=jax.random.key(_SEED.value),
    )
    return Point(vertices, graph, temperature, float(result.cut))


def to_point(row: dict[str, str]) -> Point:
    """What a row of the table says."""
    return Point(int(row["vertices"]), int(row["graph"]), row["temperature"], float(row["cut"]))


def ratios(points: Sequence[Point]) -> dict[tuple[int, str], float]:
    """Means over graphs of the cut over the graph's best, by size and temperature."""
    best: dict[tuple[int, int], float] = {}
    for p in points:
        best[p.vertices, p.graph] = max(p.cut, best.get((p.vertices, p.graph), p.cut))
    shares: dict[tuple[int, str], list[float]] = {}
    for p in points:
        shares.setdefault((p.vertices, p.temperature), []).append(p.cut / best[p.vertices, p.graph])
    return {key: float(np.mean(values)) for key, values in shares.items()}


def print_table(table: dict[tuple[int, str], float], temperatures: Sequence[str]) -> None:
    """Prints a line a size, and by how much `auto` is below the best temperature."""
    print(f"{'vertices':>10}" + "".join(f"{t:>9}" for t in temperatures) + f"{'auto - best':>13}")
    for size in sorted({size for size, _ in table}):
        values = [table[size, t] for t in temperatures]
        fixed = max(v for v, t in zip(values, temperatures, strict=True) if t != AUTO)
        cells = "".join(f"{value:9.4f}" for value in values)
        print(f"{size:>10}{cells}{100 * (table[size, AUTO] - fixed):>11.3f} %")


def plot(table: dict[tuple[int, str], float], temperatures: Sequence[str], path: Path) -> None:
    """Draws the figure; `auto` is a dashed line."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    fixed = [t for t in temperatures if t != AUTO]
    places = range(len(fixed))
    for size in sorted({size for size, _ in table}):
        (line,) = axes.plot(places, [table[size, t] for t in fixed], "o-", label=f"|V| = {size}")
        axes.axhline(table[size, AUTO], color=line.get_color(), linestyle="--", linewidth=1)
    axes.set_xticks(list(places), fixed)
    axes.set_xlabel("temperature (dashed: auto)")
    axes.set_ylabel("cut over the graph's best")
    axes.legend()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _numbers(name: str, texts: Sequence[str], kind: type) -> list[str]:
    try:
        valid = texts and all(kind(text) >= 0 for text in texts)
    except ValueError:
        valid = False
    if not valid:
        raise OptionError(f"flag --{name}: expected numbers of at least 0 with commas between them")
    return list(dict.fromkeys(texts))


def main(argv: Sequence[str]) -> int:
    """Runs what is missing, and draws all."""
    positionals(argv)
    if not _OUT.value:
        raise OptionError("flag --out is needed")
    if isinstance(load_agent(_AGENT.value).config, SwiftConfig):
        raise OptionError(f"flag --agent={_AGENT.value}: this agent has learned its temperature")
    temperatures = [*_numbers("temperatures", _TEMPERATURES.value, float), AUTO]
    sizes = [int(size) for size in _numbers("vertices", _VERTICES.value, int)]
    folder = Path(_OUT.value)
    options = {"agent": full_name(_AGENT.value), "factor": _FACTOR.value}
    options |= {"trajectories": _TRAJECTORIES.value, "seed": _SEED.value}
    file = RowFile(folder / "scan.csv", Point._fields, options)
    done = {to_point(row)[:3] for row in file.rows}
    wanted = [(n, g, t) for n in sizes for g in range(_GRAPHS.value) for t in temperatures]
    for key in tqdm([key for key in wanted if key not in done], leave=False, disable=None):
        file.add(*measure(_AGENT.value, *key))
    points = map(to_point, file.rows)
    table = ratios([point for point in points if point[:3] in set(wanted)])
    print_table(table, temperatures)
    plot(table, temperatures, folder / "scan.png")
    return 0


if __name__ == "__main__":
    run(main, _FLAGS)
