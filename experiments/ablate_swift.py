"""What each input of `swift` is worth: trains it without one, and plays all on the same graphs.

    python experiments/ablate_swift.py --runs=runs/ablation --out=runs/ablation_swift.csv

Every variant has the same small training, from the shipped parameters on: "full"; one of the inputs
left out, whose parameters are held at 0; "gnn", whose vertices get their scalars from a graph
network and not from their local field alone. Then each plays held-out graphs of every kind at the
same flips from the same labels as tabu search with a shrinking tenure. The file has a row for a
variant, seed, kind and budget: by how much the mean cut is above tabu's, in parts of the sum of
|w|, on average over graphs. The table has means over kinds, and their standard deviation over
seeds, in hundred thousandths. A call that is stopped goes on where it was; one with other
--generations, --graphs or --trajectories needs another --out, and with other --generations another
--runs.
"""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from absl import flags
from tqdm import tqdm

from ecord_jax.agents import load_agent
from ecord_jax.baselines.equal_flips import best_cuts, draw_held_out
from ecord_jax.baselines.table import RowFile
from ecord_jax.cli.common import positionals, run
from ecord_jax.errors import OptionError
from ecord_jax.learning.evolution import INPUTS, EvolutionConfig
from ecord_jax.learning.instances import KINDS, Instance
from ecord_jax.learning.swift_trainer import train_swift
from ecord_jax.networks.agent import Agent
from ecord_jax.networks.swift import SwiftConfig
from ecord_jax.search.tenure import SHRINKING, Tenure

_FLAGS = flags.FlagValues()
_RUNS = flags.DEFINE_string("runs", None, "Folder of the trainings.", flag_values=_FLAGS)
_OUT = flags.DEFINE_string("out", None, "CSV file; what it has is kept.", flag_values=_FLAGS)
_SEEDS = flags.DEFINE_integer("seeds", 3, "Of each variant.", lower_bound=1, flag_values=_FLAGS)
_GENERATIONS = flags.DEFINE_integer(
    "generations", 14, "Of each training.", lower_bound=1, flag_values=_FLAGS
)
_GRAPHS = flags.DEFINE_integer("graphs", 3, "Held out, a kind.", lower_bound=1, flag_values=_FLAGS)
_TRAJECTORIES = flags.DEFINE_integer(
    "trajectories", 2, "Of each graph and budget.", lower_bound=1, flag_values=_FLAGS
)
_VARIANTS = flags.DEFINE_list(
    "variants",
    ["shipped", "full", *(f"no-{name}" for name in INPUTS), "gnn"],
    "Which ones; shipped is not trained.",
    flag_values=_FLAGS,
)

COLUMNS = ("variant", "seed", "kind", "factor", "graphs", "trajectories", "gain")
FACTORS = (6.0, 30.0, 120.0)
_VERTICES = (500, 3000)
_SET = 2  # seed of the held-out graphs


def make_config(variant: str, seed: int) -> EvolutionConfig:
    """The training of a variant.

    Raises:
        OptionError: if there is no such variant.
    """
    without = variant.removeprefix("no-")
    if variant not in ("full", "gnn", *(f"no-{name}" for name in INPUTS)):
        raise OptionError(f"flag --variants: no {variant!r}")
    return EvolutionConfig(
        network=SwiftConfig(encoder="gnn" if variant == "gnn" else "degree"),
        start="swift",
        without=(without,) if without in INPUTS else (),
        generations=_GENERATIONS.value,
        population=20,
        elite=5,
        instances=len(KINDS),
        vertices=_VERTICES,
        factors=(FACTORS[0], FACTORS[-1]),
        spread=0.08,
        seed=seed,
    )


def train(variant: str, seed: int) -> Agent:
    """Trains a variant, or goes on with it."""
    if variant == "shipped":
        return load_agent("swift")
    folder = Path(_RUNS.value) / f"{variant}-{seed}"
    config = make_config(variant, seed)
    return train_swift(config, folder, resume=True, validate_every=7, show_progress=True)


class Tournament:
    """The held-out graphs, and tabu search's mean cuts on them."""

    def __init__(self) -> None:
        keys = list(itertools.product(KINDS, FACTORS))
        self._games: dict[tuple[str, float], list[Instance]] = {
            (kind, factor): [
                draw_held_out(kind, _VERTICES, factor, _SET, number)
                for number in range(_GRAPHS.value)
            ]
            for kind, factor in keys
        }
        self._tabu = {key: self._play(SHRINKING, key) for key in tqdm(keys, desc="tabu")}

    def gains(self, agent: Agent) -> dict[tuple[str, float], float]:
        """By how much an agent's mean cut is above tabu's, in parts of the sum of |w|."""
        return {key: (self._play(agent, key) - self._tabu[key]).mean() for key in self._games}

    def _play(self, solver: Agent | Tenure, key: tuple[str, float]) -> np.ndarray:
        parts = []
        for instance in self._games[key]:
            cut = best_cuts(solver, instance, _TRAJECTORIES.value).mean()
            parts.append(cut / max(np.abs(instance.graph.weights).sum(), 1e-300))
        return np.array(parts)


def print_table(file: RowFile) -> None:
    """Prints means over kinds for each budget and all together, with their spread over seeds."""
    heads = [f"{factor:g} |V|" for factor in FACTORS]
    print(f"{'variant':16}" + "".join(f"{head:>16}" for head in [*heads, "all"]))
    for variant in dict.fromkeys(row["variant"] for row in file.rows):
        cells = []
        for factors in ([factor] for factor in FACTORS):
            cells.append(_over_seeds(file, variant, factors))
        cells.append(_over_seeds(file, variant, FACTORS))
        texts = [f"{mean:.1f} ({spread:.1f})" for mean, spread in cells]
        print(f"{variant:16}" + "".join(f"{text:>16}" for text in texts))


def _over_seeds(file: RowFile, variant: str, factors: Sequence[float]) -> tuple[float, float]:
    gains: dict[str, list[float]] = {}
    for row in file.rows:
        if row["variant"] == variant and float(row["factor"]) in factors:
            gains.setdefault(row["seed"], []).append(1e5 * float(row["gain"]))
    means = [np.mean(values) for values in gains.values()]
    return float(np.mean(means)), float(np.std(means, ddof=1)) if len(means) > 1 else 0.0


def main(argv: Sequence[str]) -> int:
    """Trains and plays what the file lacks."""
    positionals(argv)
    if not _RUNS.value or not _OUT.value:
        raise OptionError("flags --runs and --out are needed")
    pairs = [
        (variant, seed)
        for seed, variant in itertools.product(range(_SEEDS.value), _VARIANTS.value)
        if variant != "shipped" or seed == 0
    ]
    for variant, seed in pairs:
        if variant != "shipped":
            make_config(variant, seed)  # complains before anything is trained
    flags_ = (_GENERATIONS, _GRAPHS, _TRAJECTORIES)
    file = RowFile(Path(_OUT.value), COLUMNS, {flag.name: flag.value for flag in flags_})
    done = {(row["variant"], int(row["seed"])) for row in file.rows}
    todo = [pair for pair in pairs if pair not in done]
    tournament = Tournament() if todo else None
    for variant, seed in todo:
        gains = tournament.gains(train(variant, seed))
        counts = (_GRAPHS.value, _TRAJECTORIES.value)
        file.add_all([(variant, seed, *key, *counts, gain) for key, gain in gains.items()])
    print_table(file)
    return 0


if __name__ == "__main__":
    run(main, _FLAGS)
