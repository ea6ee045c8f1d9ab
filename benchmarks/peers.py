"""Cuts against time, and flips a second, beside other solvers.

    python benchmarks/peers.py --vertices=800,2000 --seconds=10 --out=runs/peers
    python benchmarks/peers.py --solvers=swift,ecord:mixture,tabu,dwave-tabu --seeds=5 --kinds=torus

Solvers are those of `ecord_jax.baselines.registry`; one whose library is not installed is named and
left out. All get the same graphs, seeds and seconds, compiling included, in turns. Shown are
medians over the seeds of the cut after a quarter, a half and all of the time, and flips a second of
all trajectories together (for solvers that count steps otherwise, sweeps for example, those).
Graphs (--kinds): random of mean degree 5 and 20 and square tori, with weights of -1 and 1.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import common
import jax
import numpy as np
from absl import flags

from ecord_jax.baselines.registry import find_solver
from ecord_jax.cli.common import run
from ecord_jax.errors import MissingExtraError, OptionError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.models import torus
from ecord_jax.search.result import SolveResult

_DEFAULT = ("swift", "ecord:mixture", "tabu", "rank2", "simcim", "leleu", "dwave-tabu", "dwave-sa")
_GRAPHS: dict[str, Callable[[int], Graph]] = {
    "random-5": lambda size: common.random_graph(size, 5.0),
    "random-20": lambda size: common.random_graph(size, 20.0),
    "torus": lambda size: torus((max(3, round(size**0.5)),) * 2, seed=0),
}
_FLAGS = flags.FlagValues()
_VERTICES = flags.DEFINE_list("vertices", ["800", "2000"], "Sizes.", flag_values=_FLAGS)
_SOLVERS = flags.DEFINE_list("solvers", list(_DEFAULT), "Which.", flag_values=_FLAGS)
_KINDS = flags.DEFINE_list("kinds", list(_GRAPHS), "Graphs, see above.", flag_values=_FLAGS)
_SECONDS = flags.DEFINE_float("seconds", 10.0, "Each.", lower_bound=0.1, flag_values=_FLAGS)
_SEEDS = flags.DEFINE_integer("seeds", 3, "Runs of each.", lower_bound=1, flag_values=_FLAGS)
_TRAJECTORIES = flags.DEFINE_integer(
    "trajectories", 20, "Side by side.", lower_bound=1, flag_values=_FLAGS
)
_OUT, _JSON = common.define_output(_FLAGS)

_PARTS = {"cut_at_quarter": 0.25, "cut_at_half": 0.5, "cut": 1.0}
_COLUMNS = ("solver", "graph", *_PARTS, "flips_per_second", "seconds")
_Solver = Callable[..., SolveResult]


def main(argv: Sequence[str]) -> None:
    """Prints a row a graph and solver."""
    common.no_arguments(argv)
    unknown = set(_KINDS.value) - set(_GRAPHS)
    if unknown:
        raise OptionError(f"flag --kinds: {min(unknown)!r} is none of {', '.join(_GRAPHS)}")
    sizes = common.parse_sizes("vertices", _VERTICES.value)
    solvers = {name: find_solver(name).run for name in _SOLVERS.value}
    report = common.Report("peers", _COLUMNS, _OUT.value, _JSON.value)
    missing = [name for name, solver in solvers.items() if not _works(solver)]
    if missing:
        report.say("left_out", ", ".join(missing))
    curves = {}
    for size in sizes:
        for kind in _KINDS.value:
            graph = _GRAPHS[kind](size)
            title = f"{kind} {graph.num_vertices}"
            found = _race({n: s for n, s in solvers.items() if n not in missing}, graph)
            for name, results in found.items():
                report.add({"solver": name, "graph": title, **_row(results)})
            curves[title] = found
    for title, found in curves.items():
        draw = functools.partial(_draw, found, title)
        common.save_plot(report, f"peers_{title.replace(' ', '_')}", draw)
    report.finish()


def _works(solver: _Solver) -> bool:
    """Whether it solves a small graph: a peer imports its library when it is called."""
    try:
        solver(common.random_graph(20, 5.0), key=jax.random.key(0), trajectories=1, time_limit=0.1)
    except MissingExtraError:
        return False
    return True


def _race(solvers: dict[str, _Solver], graph: Graph) -> dict[str, list[SolveResult]]:
    """Results by solver, one a seed; the solvers take turns."""
    results: dict[str, list[SolveResult]] = {name: [] for name in solvers}
    for seed in range(_SEEDS.value):
        for name, solve in solvers.items():
            results[name].append(
                solve(
                    graph,
                    key=jax.random.key(seed),
                    trajectories=_TRAJECTORIES.value,
                    time_limit=_SECONDS.value,
                )
            )
    return results


def _row(results: Sequence[SolveResult]) -> dict[str, Any]:
    speeds = [r.steps * r.trajectories / max(r.seconds["search"], 1e-9) for r in results]
    cuts = {
        name: float(np.median([_cut_at(r, part * _SECONDS.value) for r in results]))
        for name, part in _PARTS.items()
    }
    return {
        **cuts,
        "flips_per_second": float(np.median(speeds)),
        "seconds": float(np.median([r.seconds["total"] for r in results])),
        "cuts": [r.cut for r in results],
    }


def _cut_at(result: SolveResult, seconds: float) -> float:
    """The best cut known by then; 0 before the first."""
    return max((float(p.cut) for p in result.curve if p.seconds <= seconds), default=0.0)


def _draw(found: dict[str, list[SolveResult]], title: str, axes: Any) -> None:
    """The best cut of each solver's first seed against time."""
    for name, results in found.items():
        curve = results[0].curve
        axes.step([p.seconds for p in curve], [p.cut for p in curve], where="post", label=name)
    axes.set(title=title, xlabel="seconds", ylabel="best cut", xscale="log")
    axes.legend(fontsize=7)
    axes.grid(alpha=0.3)


if __name__ == "__main__":
    run(main, _FLAGS)
