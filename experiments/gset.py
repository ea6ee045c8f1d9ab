"""The paper's Table 2: GSet graphs of random edges, at 10, 30 and 60 seconds of the wall clock.

    python experiments/gset.py --graphs=FOLDER --out=runs/gset
    python experiments/gset.py --graphs=FOLDER --out=runs/gset --solvers=solve,rank2,tabu --seeds=1

One run of --seconds gives the cuts at all the times, from its curve; where a solver, such as tabu,
spreads one schedule over its whole budget, `solver@10` runs it with a budget of ten seconds. With
--until_best_known a run ends where it meets the best known cut, with which its curve goes on. Runs
are those of `experiments/compare.py`, with 20 trajectories: each row is in OUT/results.csv before
the next begins, a call that is stopped goes on where it was, and OUT/labels/ has the labels, one
`name side` a line, for `ecord-verify`. The table has medians over the seeds; beside them the best
cut known, and the cuts at 10, 30 and 180 seconds that the paper has for ECORD on its GPU, from its
ratios. OUT/table.csv has the same. With --plot, OUT/GRAPH.png has each solver's best cut against
time.
"""

import csv
import itertools
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from absl import flags

from ecord_jax.baselines.cases import Case, find_files, read_cases, read_references
from ecord_jax.baselines.harness import Budget, compare, run_key, shared_programs
from ecord_jax.baselines.registry import Solver, find_solver
from ecord_jax.baselines.table import Key, Table
from ecord_jax.cli.common import positionals, run
from ecord_jax.cli.output import write_whole
from ecord_jax.errors import OptionError
from ecord_jax.search.result import Progress

_FLAGS = flags.FlagValues()
_GRAPHS = flags.DEFINE_list("graphs", None, "Files or folders.", flag_values=_FLAGS)
_OUT = flags.DEFINE_string("out", None, "Folder; made where it is missing.", flag_values=_FLAGS)
_SOLVERS = flags.DEFINE_list(
    "solvers",
    ["solve", "solve:ecord", "rank2", "tabu", "tabu@10", "tabu@30", "mca-soft", "swift"],
    "See `experiments/compare.py`.",
    flag_values=_FLAGS,
)
_SECONDS = flags.DEFINE_float("seconds", 60.0, "Of each run.", lower_bound=1.0, flag_values=_FLAGS)
_SEEDS = flags.DEFINE_integer("seeds", 3, "How many.", lower_bound=1, flag_values=_FLAGS)
_UNTIL_BEST_KNOWN = flags.DEFINE_boolean(
    "until_best_known",
    False,
    "A run ends as soon as it meets the best known cut of its graph, so it finds none above that.",
    flag_values=_FLAGS,
)
_PLOT = flags.DEFINE_boolean("plot", False, "Draw OUT/GRAPH.png of each graph.", flag_values=_FLAGS)

REFERENCES = Path(__file__).with_name("references.json")
TIMES = (10.0, 30.0, 60.0)
# Table 2 of Barrett et al. (arXiv:2205.14105): ratios of ECORD after 10, 30 and 180 seconds, to
# the references of `references.json`; where it had reached the best before, that.
PAPER = {
    "G1": (0.998, 1.0, 1.0),
    "G2": (0.998, 0.998, 1.0),
    "G3": (0.999, 1.0, 1.0),
    "G4": (0.999, 1.0, 1.0),
    "G5": (1.0, 1.0, 1.0),
    "G43": (0.996, 0.997, 1.0),
    "G44": (0.999, 0.999, 1.0),
    "G45": (0.998, 0.999, 0.999),
    "G46": (0.998, 0.999, 1.0),
    "G47": (0.997, 0.998, 0.998),
    "G22": (0.990, 0.995, 0.997),
    "G23": (0.991, 0.995, 0.997),
    "G24": (0.992, 0.994, 0.997),
    "G25": (0.991, 0.996, 0.998),
    "G26": (0.991, 0.996, 0.999),
    "G55": (0.947, 0.969, 0.985),
    "G60": (0.916, 0.960, 0.981),
    "G70": (0.837, 0.944, 0.972),
}


class Entry(NamedTuple):
    """A line of the table.

    Attributes:
        graph, solver: whose.
        seeds: how many runs.
        cuts: medians at TIMES; None where the budget does not go so far.
        best_known: of the graph, or None.
    """

    graph: str
    solver: str
    seeds: int
    cuts: tuple[float | None, ...]
    best_known: float | None


def cut_at(curve: Sequence[Progress], seconds: float) -> float:
    """The best cut at a time of a curve; 0 before its first."""
    return max((point.cut for point in curve if point.seconds <= seconds), default=0)


def make_table(
    cases: Sequence[Case],
    solvers: Mapping[str, Solver],
    table: Table,
    seeds: int,
    seconds: float,
) -> list[Entry]:
    """Medians over the seeds of what has been run."""
    curves, entries = table.curves(), []
    for case in cases:
        for name, solver in solvers.items():
            keys = [_key(case, solver, name, seed, seconds) for seed in range(seeds)]
            found = [curves[key] for key in keys if key in curves]
            if not found:
                continue
            limit = _limit(name, seconds)
            # What ends at its limit counts for the limit.
            medians = tuple(
                statistics.median(cut_at(c, t if t < limit else limit + 60.0) for c in found)
                if t <= limit
                else None
                for t in TIMES
            )
            known = None if case.reference is None else case.reference.value
            entries.append(Entry(case.name, name, len(found), medians, known))
    return entries


def _limit(name: str, seconds: float) -> float:
    """The budget of SOLVER or SOLVER@SECONDS."""
    _, at, text = name.partition("@")
    try:
        return float(text) if at else seconds
    except ValueError:
        raise OptionError(f"solver {name!r}: {text!r} is no number of seconds") from None


def _key(case: Case, solver: Solver, name: str, seed: int, seconds: float) -> Key:
    return run_key(case, solver, seed, Budget(20, None, None, _limit(name, seconds)))


def print_table(entries: Sequence[Entry], cases: Sequence[Case]) -> None:
    """Prints a line a graph and solver, and the paper's for each graph."""
    heads = "".join(f"{f'{time:g} s':>12}" for time in TIMES)
    wide = max([8, *(len(case.name) + 2 for case in cases)])
    print(f"{'graph':{wide}}{'solver':16}{'seeds':>6}{heads}{'best known':>12}")
    for case in cases:
        for entry in (entry for entry in entries if entry.graph == case.name):
            cuts = "".join(f"{'' if cut is None else f'{cut:g}':>12}" for cut in entry.cuts)
            known = "" if entry.best_known is None else f"{entry.best_known:g}"
            print(f"{entry.graph:{wide}}{entry.solver:16}{entry.seeds:6}{cuts}{known:>12}")
        stem = case.name.partition(".")[0]
        if stem in PAPER and case.reference is not None:
            reference = case.reference.paper_value or case.reference.value
            cuts = "".join(f"{ratio * reference:12.0f}" for ratio in PAPER[stem])
            print(f"{case.name:{wide}}{'paper, 180 s':16}{'':6}{cuts}")


def write_table(path: Path, entries: Sequence[Entry]) -> None:
    """Writes the table as CSV."""

    def write(name: str) -> None:
        with Path(name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            times = [f"cut_{time:g}" for time in TIMES]
            writer.writerow(["graph", "solver", "seeds", *times, "best_known"])
            for entry in entries:
                writer.writerow([*entry[:3], *entry.cuts, entry.best_known])

    write_whole(str(path), write)


def main(argv: Sequence[str]) -> int:
    """Runs what is missing, and makes the table of all."""
    positionals(argv)
    for flag in (_GRAPHS, _OUT):
        if not flag.value:
            raise OptionError(f"flag --{flag.name} is needed")
    names, seconds, folder = list(_SOLVERS.value), _SECONDS.value, Path(_OUT.value)
    budgets = {name: Budget(20, None, None, _limit(name, seconds)) for name in names}
    solvers = {name: find_solver(name.partition("@")[0]) for name in names}
    cases = read_cases(find_files(_GRAPHS.value), read_references(REFERENCES), None)
    table = Table(folder)
    with shared_programs():
        for seed in range(_SEEDS.value):
            for name in names:
                compare(
                    cases,
                    [solvers[name]],
                    [seed],
                    budgets[name],
                    table,
                    folder / "labels",
                    until_best_known=_UNTIL_BEST_KNOWN.value,
                )
    entries = make_table(cases, solvers, table, _SEEDS.value, seconds)
    write_table(folder / "table.csv", entries)
    print_table(entries, cases)
    if _PLOT.value:
        from ecord_jax.baselines.curve_plot import plot_graphs

        runs = itertools.product(cases, solvers.items(), range(_SEEDS.value))
        lines = {
            _key(case, solver, name, seed, seconds): name for case, (name, solver), seed in runs
        }
        for file in plot_graphs(table, lines, folder):
            print(f"curves: {file}")
    return 0


if __name__ == "__main__":
    run(main, _FLAGS)
