"""Runs solvers on the same graphs with the same budgets, and makes one table of their cuts.

    python experiments/compare.py --graphs=ER40.npz --solvers=mca,tabu,ecord-det:er40 --out=runs/a
    python experiments/compare.py --graphs=gset --solvers=rank2,swift --seconds=10 --out=runs/b

A graph is a row of an npz file as `experiments/evaluate.py` reads it, or a file as `ecord-solve`
does; a folder stands for its npz files, or else for its graphs. Solvers are mca, mca-soft, simcim,
leleu, mip (HiGHS), gw, rank2, tabu, dwave-tabu, dwave-sa, dwave-descent; learned ones, which are
ecord:AGENT, ecord-det:AGENT (greedy actions) and ecord-full:AGENT (all of solve but tabu search);
solve and solve:[MOVE][-INGREDIENT]..., as solve:tabu or solve:ecord-merge-restart; swift stands for
ecord:swift. Some take a value, as mca-soft:0.1, tabu:fixed or simcim:ER200; mca-soft alone has its
temperature tuned on the set at hand, as the paper does.

The budget of each run is --trajectories of --steps_factor |V| steps (or --steps, or --seconds).
Seconds are those of the wall clock but for compiling, which stands in a column of its own: a tiny
run on the same graph comes first. OUT/results.csv has a row a run, on the disk before the next one
begins; a call that is stopped goes on where it was, with the same result where steps are limited
and not time. OUT/results.parquet and OUT/curves.parquet are written at the end. mip has no steps:
without --seconds it has 30, or those of mip:SECONDS.
"""

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

from absl import flags

from ecord_jax.baselines.cases import find_files, read_cases, read_references
from ecord_jax.baselines.harness import Budget, compare, run_key, shared_programs
from ecord_jax.baselines.registry import find_solver
from ecord_jax.baselines.summary import Line, summarize
from ecord_jax.baselines.table import Table
from ecord_jax.cli.common import positionals, run
from ecord_jax.errors import OptionError

_FLAGS = flags.FlagValues()
_GRAPHS = flags.DEFINE_list("graphs", None, "Files or folders.", flag_values=_FLAGS)
_SOLVERS = flags.DEFINE_list("solvers", None, "Names, see above.", flag_values=_FLAGS)
_SEEDS = flags.DEFINE_list(
    "seeds", ["1"], "How many, from 0 on; or two or more seeds.", flag_values=_FLAGS
)
_STEPS = flags.DEFINE_integer(
    "steps", None, "Of each trajectory.", lower_bound=1, flag_values=_FLAGS
)
_STEPS_FACTOR = flags.DEFINE_float(
    "steps_factor",
    None,
    "The same over |V|; 2 where neither steps nor seconds are given.",
    lower_bound=0.0,
    flag_values=_FLAGS,
)
_SECONDS = flags.DEFINE_float("seconds", None, "Of each run.", flag_values=_FLAGS)
_TRAJECTORIES = flags.DEFINE_integer(
    "trajectories", 50, "Of each run.", lower_bound=1, flag_values=_FLAGS
)
_LIMIT = flags.DEFINE_integer(
    "limit", None, "Only the first graphs of a set.", lower_bound=1, flag_values=_FLAGS
)
_OUT = flags.DEFINE_string("out", None, "Folder; made where it is missing.", flag_values=_FLAGS)
_PLOT = flags.DEFINE_boolean("plot", False, "Draw OUT/SET.png of each set.", flag_values=_FLAGS)

REFERENCES = Path(__file__).with_name("references.json")


def print_lines(lines: Sequence[Line]) -> None:
    """Prints the summary as a table."""
    width = max([24, *(len(line.set) + 2 for line in lines)])
    heads = ("graphs", "unknown", "ratio", "95 % interval", "68 % interval", "cut", "seconds")
    print(f"{'set':{width}}{'solver':24}" + "".join(f"{head:>16}" for head in heads))
    for line in lines:
        texts = [
            str(line.graphs),
            str(line.left_out),
            f"{line.ratio:.4f}",
            f"{line.low95:.4f}-{line.high95:.4f}",
            f"{line.low68:.4f}-{line.high68:.4f}",
            f"{line.cut:.6g}",
            f"{line.seconds:.4g}",
        ]
        print(f"{line.set:{width}}{line.solver:24}" + "".join(f"{text:>16}" for text in texts))


def _seeds() -> list[int]:
    try:
        seeds = [int(text) for text in _SEEDS.value]
    except ValueError:
        seeds = []
    if not seeds or min(seeds) < 0 or len(set(seeds)) < len(seeds) or seeds == [0]:
        raise OptionError("flag --seeds: expected their number, or different ones from 0 on")
    return list(range(seeds[0])) if len(seeds) == 1 else seeds


def _budget() -> Budget:
    steps, factor, seconds = _STEPS.value, _STEPS_FACTOR.value, _SECONDS.value
    if steps is not None and factor is not None:
        raise OptionError("flags --steps and --steps_factor exclude each other")
    if factor is not None and not math.isfinite(factor):
        raise OptionError(f"flag --steps_factor={factor}: expected a finite number")
    if seconds is not None and not 0 < seconds < math.inf:
        raise OptionError(f"flag --seconds={seconds}: expected a finite number above 0")
    if steps is None and factor is None and seconds is None:
        factor = 2.0
    return Budget(_TRAJECTORIES.value, steps, factor, seconds)


def main(argv: Sequence[str]) -> int:
    """Compares what the flags describe."""
    positionals(argv)
    for flag in (_GRAPHS, _SOLVERS, _OUT):
        if not flag.value:
            raise OptionError(f"flag --{flag.name} is needed")
    solvers = [find_solver(name) for name in dict.fromkeys(_SOLVERS.value)]
    seeds, budget = _seeds(), _budget()
    files, references = find_files(_GRAPHS.value), read_references(REFERENCES)
    cases = read_cases(files, references, _LIMIT.value)
    table = Table(Path(_OUT.value))
    with shared_programs():
        compare(cases, solvers, seeds, budget, table)
    wanted = {
        run_key(case, solver, seed, budget)
        for case, solver, seed in itertools.product(cases, solvers, seeds)
    }
    rows = [row for row in table.rows if row.key in wanted]
    print_lines(summarize(rows))
    if _PLOT.value:
        from ecord_jax.baselines.curve_plot import plot_sets

        for file in plot_sets(rows, table.curves(), Path(_OUT.value)):
            print(f"curves: {file}")
    table.write_parquet()
    return 0


if __name__ == "__main__":
    run(main, _FLAGS)
