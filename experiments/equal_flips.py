"""Plays `swift` against tabu search at the same number of flips, on generated graphs.

    python experiments/equal_flips.py --out=runs/equal_flips.csv
    python experiments/equal_flips.py --out=runs/mine.csv --agent=runs/swift/agent.safetensors

Graphs are of every kind that `swift` is trained on, but none of a training; they are taken as they
are, without presolve. All solvers start from the same random labels. Tabu search has a fixed tenure
and one that shrinks (`ecord_jax.search.tenure`). The file has a row for a graph, budget and
solver: the mean and the best of the trajectories' best cuts. A call that is stopped goes on where
it was. The table shows what `swift` is ahead of the better tabu, of all |w| a hundred thousandth
each, on average over graphs, and the standard error of that.
"""

import itertools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from absl import flags
from tqdm import tqdm

from ecord_jax.agents import full_name, load_agent
from ecord_jax.baselines.equal_flips import best_cuts, draw_held_out
from ecord_jax.baselines.table import RowFile
from ecord_jax.cli.common import positionals, run
from ecord_jax.errors import OptionError
from ecord_jax.learning.instances import KINDS
from ecord_jax.networks.agent import Agent
from ecord_jax.networks.swift import SwiftConfig
from ecord_jax.search.tenure import FIXED, SHRINKING, Tenure

_FLAGS = flags.FlagValues()
_OUT = flags.DEFINE_string("out", None, "CSV file; what it has is kept.", flag_values=_FLAGS)
_AGENT = flags.DEFINE_string("agent", "swift", "Name or file.", flag_values=_FLAGS)
_KINDS = flags.DEFINE_list("kinds", list(KINDS), "Of graphs.", flag_values=_FLAGS)
_VERTICES = flags.DEFINE_list("vertices", ["1000", "3000", "10000"], "Sizes.", flag_values=_FLAGS)
_FACTORS = flags.DEFINE_list("factors", ["6", "30", "120"], "Flips over |V|.", flag_values=_FLAGS)
_GRAPHS = flags.DEFINE_integer(
    "graphs", 1, "Of each kind and size.", lower_bound=1, flag_values=_FLAGS
)
_TRAJECTORIES = flags.DEFINE_integer(
    "trajectories", 20, "Of each run.", lower_bound=1, flag_values=_FLAGS
)
_SEED = flags.DEFINE_integer("seed", 0, "Of all draws.", lower_bound=0, flag_values=_FLAGS)

COLUMNS = (
    *("kind", "vertices", "graph", "factor", "solver", "trajectories", "seed"),
    *("flips", "total", "mean", "best", "seconds"),
)


class Game(NamedTuple):
    """Attributes:
    kind: of the graph.
    vertices: asked for; dense kinds have a part of them.
    graph: number of the graph.
    factor: flips over |V|.
    solver: name.
    """

    kind: str
    vertices: int
    graph: int
    factor: float
    solver: str


def games() -> Iterator[Game]:
    """What the flags ask for, small graphs first."""
    sizes, factors = _numbers(_VERTICES), _numbers(_FACTORS)
    for kind in _KINDS.value:
        if kind not in KINDS:
            raise OptionError(f"flag --kinds: no {kind!r}; there are {', '.join(KINDS)}")
    parts = sizes, range(_GRAPHS.value), _KINDS.value, factors, solvers()
    for size, graph, kind, factor, solver in itertools.product(*parts):
        yield Game(kind, round(size), graph, factor, solver)


def solvers() -> dict[str, Agent | Tenure]:
    """Those that play, by name."""
    agent = load_agent(_AGENT.value)
    if not isinstance(agent.config, SwiftConfig):
        raise OptionError(f"flag --agent={_AGENT.value}: is no agent of the kind of swift")
    return {full_name(_AGENT.value): agent, "tabu:fixed": FIXED, "tabu:shrinking": SHRINKING}


def _numbers(flag: flags.FlagHolder) -> list[float]:
    try:
        numbers = [float(text) for text in flag.value]
    except ValueError:
        numbers = []
    if not numbers or not 1 <= min(numbers) <= max(numbers) < 1e9:
        raise OptionError(f"flag --{flag.name}: expected numbers from 1 on")
    return numbers


def play(file: RowFile, todo: Sequence[Game]) -> None:
    """Plays what the file lacks."""
    players, count, seed = solvers(), _TRAJECTORIES.value, _SEED.value
    for game in tqdm([game for game in todo if _key(game) not in _done(file)], disable=None):
        size = (game.vertices, game.vertices)
        instance = draw_held_out(game.kind, size, game.factor, seed, game.graph)
        began = time.monotonic()
        cuts = best_cuts(players[game.solver], instance, count)
        seconds, total = time.monotonic() - began, float(np.abs(instance.graph.weights).sum())
        found = (total, cuts.mean(), cuts.max(), round(seconds, 3))
        file.add(*game, count, seed, instance.budget, *found)


def _key(game: Game) -> tuple[str, ...]:
    return tuple(str(value) for value in (*game, _TRAJECTORIES.value, _SEED.value))


def _done(file: RowFile) -> set[tuple[str, ...]]:
    return {tuple(row[name] for name in COLUMNS[:7]) for row in file.rows}


def print_leads(file: RowFile, wanted: Sequence[Game]) -> None:
    """Prints the lead over the better tabu, for each kind, size and budget."""
    keys, own = {_key(game) for game in wanted}, full_name(_AGENT.value)
    means: dict[tuple[str, ...], dict[str, float]] = {}
    for row in file.rows:
        if tuple(row[name] for name in COLUMNS[:7]) in keys:
            place = tuple(row[name] for name in COLUMNS[:4])
            means.setdefault(place, {})[row["solver"]] = float(row["mean"]) / float(row["total"])
    leads: dict[tuple[str, str, str], list[float]] = {}
    for (kind, size, _, factor), found in means.items():
        mine = found.pop(own)
        leads.setdefault((kind, size, factor), []).append(1e5 * (mine - max(found.values())))
    columns = sorted({place[1:] for place in leads}, key=lambda pair: [float(x) for x in pair])
    print(f"{'kind':12}" + "".join(f"{f'{size} x {factor}':>14}" for size, factor in columns))
    for kind in dict.fromkeys(place[0] for place in leads):
        cells = [_cell(leads.get((kind, *column), [])) for column in columns]
        print(f"{kind:12}" + "".join(f"{cell:>14}" for cell in cells))


def _cell(leads: Sequence[float]) -> str:
    """Their mean, and its standard error where there are several."""
    if len(leads) < 2:
        return "".join(f"{lead:.1f}" for lead in leads)
    return f"{np.mean(leads):.1f} ({np.std(leads, ddof=1) / len(leads) ** 0.5:.1f})"


def main(argv: Sequence[str]) -> int:
    """Plays what the flags describe."""
    positionals(argv)
    if not _OUT.value:
        raise OptionError("flag --out is needed: the file to write to")
    file, todo = RowFile(Path(_OUT.value), COLUMNS), list(games())
    play(file, todo)
    print_leads(file, todo)
    return 0


if __name__ == "__main__":
    run(main, _FLAGS)
