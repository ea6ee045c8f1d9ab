"""What each part of `solve` is worth, and each part of the paper's agent.

    python experiments/ablations.py --graphs=G22.txt,G55.txt,data --out=runs/ablations
    python experiments/ablations.py --graphs=FOLDER --out=runs/ablations --agents=runs/agents --plot

Every variant has 20 trajectories and --seconds on the wall clock, on each graph with each seed:

    solve                 all of it
    without INGREDIENT    without presolve, starts, merge, reheat or restart
    INGREDIENT alone      without the others; reheat is nothing without merge
    none                  without any: agent and tabu search, from random starts, on the graph as is
    tabu, tabu none       the first and the last of these with tabu search alone
    swift, swift none     the same with the learned policy alone; the last is its pure rollout
    mixture none          the pure rollout of the graph network's shipped agent
    paper agent           the pure rollout of an agent as in the paper: GNN, RNN, trained by M-DQN
    no GNN, no RNN, DQN   the paper's ablations of it (SM E of Barrett et al., arXiv:2205.14105):
                          zeros in place of vertex embeddings or of the hidden state, or trained by
                          DQN; the paper's step, which looks at all vertices, and its temperatures

The last four are left out without --agents. That folder has full.safetensors, no_gnn.safetensors,
no_rnn.safetensors and dqn.safetensors with their cards, which have had the same training:

    TRAIN="python experiments/train.py --config=experiments/configs/train.py:er40
           --config.num_updates=2000"
    $TRAIN --out=runs/full
    $TRAIN --out=runs/no_gnn --config.network.gnn=zero
    $TRAIN --out=runs/no_rnn --config.network.rnn=zero --config.bptt=0
    $TRAIN --out=runs/dqn --config.algorithm=dqn
    mkdir runs/agents; for name in full no_gnn no_rnn dqn; do for end in safetensors json; do
        cp runs/$name/agent.$end runs/agents/$name.$end; done; done

Graphs and runs are those of `experiments/compare.py`, and a call that is stopped goes on where it
was. The table has of each variant and graph the median cut over seeds, and how far the cuts are
below the best that any variant met there: the mean over seeds, in hundred thousandths of that best
cut. OUT/table.csv has the same; with --plot, OUT/GRAPH.png has the best cuts against time.
"""

import csv
import functools
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from absl import flags

from ecord_jax.baselines.cases import Case, find_files, read_cases, read_references
from ecord_jax.baselines.harness import Budget, compare, run_key, shared_programs
from ecord_jax.baselines.registry import Solver, find_solver
from ecord_jax.baselines.table import Key, Row, Table
from ecord_jax.cli.common import positionals, run
from ecord_jax.cli.output import write_whole
from ecord_jax.errors import OptionError
from ecord_jax.search.solve import INGREDIENTS

_FLAGS = flags.FlagValues()
_GRAPHS = flags.DEFINE_list("graphs", None, "Files or folders.", flag_values=_FLAGS)
_OUT = flags.DEFINE_string("out", None, "Folder; made where it is missing.", flag_values=_FLAGS)
_AGENTS = flags.DEFINE_string("agents", None, "Folder of agents, see above.", flag_values=_FLAGS)
_SECONDS = flags.DEFINE_float("seconds", 30.0, "Of each run.", lower_bound=0.1, flag_values=_FLAGS)
_SEEDS = flags.DEFINE_integer("seeds", 3, "How many.", lower_bound=1, flag_values=_FLAGS)
_UNTIL_BEST_KNOWN = flags.DEFINE_boolean(
    "until_best_known",
    False,
    "A run ends at the best known cut, and finds none above.",
    flag_values=_FLAGS,
)
_PLOT = flags.DEFINE_boolean("plot", False, "Draw OUT/GRAPH.png of each graph.", flag_values=_FLAGS)

REFERENCES = Path(__file__).with_name("references.json")
TRAJECTORIES = 20
# The file of each agent and its temperatures in the paper, dealt out to the trajectories. Of those
# above 0 the highest is for graphs of up to 2 000 vertices, the others for G55, G60 and G70.
AGENTS = {
    "paper agent": ("full", (5e-4, 3.5e-4, 2e-4, 1e-4)),
    "no GNN": ("no_gnn", (0.0,)),
    "no RNN": ("no_rnn", (5e-4, 1e-4, 8.5e-5, 5e-5)),
    "DQN": ("dqn", (0.0,)),
}
_UNIT = 1e-5  # of the best cut


class Entry(NamedTuple):
    """A line of the table.

    Attributes:
        variant, graph: whose.
        seeds: how many runs.
        cut: the median.
        distance: of the mean cut from the best one of any variant, in 1e-5 of that.
    """

    variant: str
    graph: str
    seeds: int
    cut: float
    distance: float


def search_variants() -> dict[str, str]:
    """Names of `find_solver` by the variants that need no training."""
    none = "".join(f"-{ingredient}" for ingredient in INGREDIENTS)
    return {
        "solve": "solve",
        **{f"without {left_out}": f"solve:-{left_out}" for left_out in INGREDIENTS},
        **{
            f"{kept} alone": f"solve:{none.replace(f'-{kept}', '')}"
            for kept in INGREDIENTS
            if kept != "reheat"
        },
        "none": f"solve:{none}",
        "tabu": "solve:tabu",
        "tabu none": f"solve:tabu{none}",
        "swift": "solve:ecord",
        "swift none": "ecord:swift",
        "mixture none": "ecord:mixture",
    }


def make_solvers(agents: str | None) -> dict[str, Solver]:
    """The solver of each variant; those of AGENTS if they are in a folder.

    Raises:
        OptionError: for a folder that lacks one of them.
        AgentError: for one that cannot be read.
    """
    solvers = {variant: find_solver(name) for variant, name in search_variants().items()}
    if agents is None:
        return solvers
    for variant, (stem, temperatures) in AGENTS.items():
        file = Path(agents) / f"{stem}.safetensors"
        if not file.exists():
            raise OptionError(f"flag --agents: {file} is not there")
        rollout = find_solver(f"ecord:{file}")
        as_in_paper = functools.partial(rollout.run, temperature=temperatures, refresh_every=1)
        # Of another folder's agent there are other runs.
        solvers[variant] = Solver(f"{variant}@{rollout.name.rpartition('@')[2]}", as_in_paper)
    return solvers


def make_table(rows: Sequence[Row], lines: Mapping[Key, str]) -> list[Entry]:
    """Medians and distances of the runs whose variants are given, in the order of these."""
    found: dict[tuple[str, str], list[float]] = {}
    by_key = {row.key: float(row.cut) for row in rows}
    for key, variant in lines.items():
        if key in by_key:
            found.setdefault((variant, key.graph), []).append(by_key[key])
    best: dict[str, float] = {}
    for (_, graph), cuts in found.items():
        best[graph] = max(best.get(graph, 0.0), *cuts)
    return [
        Entry(
            variant,
            graph,
            len(cuts),
            statistics.median(cuts),
            (1 - statistics.mean(cuts) / best[graph]) / _UNIT if best[graph] else 0.0,
        )
        for (variant, graph), cuts in found.items()
    ]


def print_table(entries: Sequence[Entry]) -> None:
    """Prints a line a variant: of each graph cut and distance, and the mean distance."""
    graphs = list(dict.fromkeys(entry.graph for entry in entries))
    width = max([20, *(len(graph) + 2 for graph in graphs)])
    print(f"{'':20}" + "".join(f"{graph:>{width}}" for graph in graphs) + f"{'mean':>10}")
    for variant in dict.fromkeys(entry.variant for entry in entries):
        own = {entry.graph: entry for entry in entries if entry.variant == variant}
        cells = [f"{own[g].cut:g}{own[g].distance:9.1f}" if g in own else "" for g in graphs]
        mean = statistics.mean(entry.distance for entry in own.values())
        print(f"{variant:20}" + "".join(f"{cell:>{width}}" for cell in cells) + f"{mean:10.1f}")


def write_table(path: Path, entries: Sequence[Entry], solvers: Mapping[str, Solver]) -> None:
    """Writes the table as CSV, with the solver's name beside the variant's."""

    def write(name: str) -> None:
        with Path(name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["variant", "solver", "graph", "seeds", "cut", "distance_1e-5"])
            for entry in entries:
                solver = solvers[entry.variant].name
                writer.writerow([entry.variant, solver, *entry[1:4], round(entry.distance, 3)])

    write_whole(str(path), write)


def main(argv: Sequence[str]) -> int:
    """Runs what is missing, and makes the table of all."""
    positionals(argv)
    for flag in (_GRAPHS, _OUT):
        if not flag.value:
            raise OptionError(f"flag --{flag.name} is needed")
    solvers, folder = make_solvers(_AGENTS.value), Path(_OUT.value)
    if _AGENTS.value is None:
        print(f"without --agents these are left out: {', '.join(AGENTS)}")
    cases = read_cases(find_files(_GRAPHS.value), read_references(REFERENCES))
    budget, table = Budget(TRAJECTORIES, None, None, _SECONDS.value), Table(folder)
    seeds = range(_SEEDS.value)
    with shared_programs():
        for seed in seeds:
            compare(
                cases,
                list(solvers.values()),
                [seed],
                budget,
                table,
                until_best_known=_UNTIL_BEST_KNOWN.value,
            )
    lines = _name_runs(cases, solvers, seeds, budget)
    entries = make_table(table.rows, lines)
    write_table(folder / "table.csv", entries, solvers)
    print_table(entries)
    if _PLOT.value:
        from ecord_jax.baselines.curve_plot import plot_graphs

        for file in plot_graphs(table, lines, folder):
            print(f"curves: {file}")
    return 0


def _name_runs(
    cases: Sequence[Case], solvers: Mapping[str, Solver], seeds: Sequence[int], budget: Budget
) -> dict[Key, str]:
    """The variant of each run that is wanted."""
    return {
        run_key(case, solver, seed, budget): variant
        for variant, solver in solvers.items()
        for case in cases
        for seed in seeds
    }


if __name__ == "__main__":
    run(main, _FLAGS)
