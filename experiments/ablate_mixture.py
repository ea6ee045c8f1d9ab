"""What each choice in `mixture` is worth: trains variants of it, and plays all on the same graphs.

    python experiments/ablate_mixture.py --runs=runs/ablation --out=runs/ablation_mixture.csv

Every variant has the same short training. Then each plays held-out graphs of every kind from the
same labels, alone and without presolve, merging or restarts: with the same flips, and with as many
as it does in the time in which "mixture" does 30 a vertex. That time is the processor time of a
flip, measured on one graph of 1 500 vertices, so that a busy machine does not matter. The file has
a row for a variant, graph and budget. The table has what a variant's best cut is ahead of that of
"mixture", on average over graphs and its standard error, in hundred thousandths of the sum of |w|.
A call that is stopped goes on where it was; one with other --updates or --trajectories needs
another --out, and with other --updates another --runs.
"""

import dataclasses
import itertools
import runpy
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from absl import flags
from tqdm import tqdm

from ecord_jax.agents import load_agent
from ecord_jax.baselines.equal_flips import draw_held_out
from ecord_jax.baselines.table import RowFile
from ecord_jax.cli.common import positionals, run
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph, models
from ecord_jax.learning.config import TrainConfig
from ecord_jax.learning.instances import KINDS, Instance
from ecord_jax.learning.trainer import train
from ecord_jax.networks.agent import Agent
from ecord_jax.search.solve import INGREDIENTS, solve

PRESETS: dict[str, TrainConfig] = runpy.run_path(
    str(Path(__file__).parent / "configs" / "train.py")
)["PRESETS"]
# What a variant has in place of the preset's fields, those of the network first.
VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "mixture": ({}, {}),
    "one-time": ({"scaling": "one_time"}, {}),
    "horizons": ({}, {"most_rounds": 8}),
    "budget": ({"scaling": "budget"}, {"most_rounds": 8}),
    "long": ({"scaling": "long"}, {"most_rounds": 8}),
    "n-step-1": ({}, {"n_step": 1}),
    "gru-128": ({"rnn": "gru", "hidden": 128}, {"bptt": 5}),
    "gru-1024": ({"rnn": "gru", "hidden": 1024}, {"bptt": 5}),
}
COLUMNS = ("variant", "seed", "budget", "kind", "graph", "flips", "total", "cut", "flip_us")

_FLAGS = flags.FlagValues()
_RUNS = flags.DEFINE_string("runs", None, "Folder of the trainings.", flag_values=_FLAGS)
_OUT = flags.DEFINE_string("out", None, "CSV file; what it has is kept.", flag_values=_FLAGS)
_UPDATES = flags.DEFINE_integer(
    "updates", 500, "Of each training.", lower_bound=10, flag_values=_FLAGS
)
_SEEDS = flags.DEFINE_integer("seeds", 1, "Of each variant.", lower_bound=1, flag_values=_FLAGS)
_GRAPHS = flags.DEFINE_integer("graphs", 1, "Held out, a kind.", lower_bound=1, flag_values=_FLAGS)
_KINDS = flags.DEFINE_list("kinds", list(KINDS), "Of graphs.", flag_values=_FLAGS)
_BUDGETS = flags.DEFINE_list(
    "budgets", ["6", "30", "120", "time"], "Flips a vertex, or equal time.", flag_values=_FLAGS
)
_TRAJECTORIES = flags.DEFINE_integer(
    "trajectories", 8, "Of each run.", lower_bound=1, flag_values=_FLAGS
)
_VARIANTS = flags.DEFINE_list(
    "variants",
    ["shipped", *VARIANTS],
    "Which ones; shipped is not trained.",
    flag_values=_FLAGS,
)

_VERTICES = (500, 3000)
_SET = 2  # seed of the held-out graphs
_TIMED = 30.0  # flips a vertex of "mixture" that the equal time is taken from
_EQUAL_TIME = "time"
_PACED_VERTICES, _PACED_SECONDS = 1500, 2.0


def make_config(variant: str, seed: int) -> TrainConfig:
    """The training of a variant.

    Raises:
        OptionError: if there is no such variant.
    """
    if variant not in VARIANTS:
        raise OptionError(f"flag --variants: no {variant!r}")
    network, rest = VARIANTS[variant]
    base, updates = PRESETS["mixture"], _UPDATES.value
    return dataclasses.replace(
        base,
        network=dataclasses.replace(base.network, **network),
        num_updates=updates,
        epsilon_steps=2 * updates,  # as in the whole training, a quarter of its flips
        validate_every=-(-updates // 2),
        validation_graphs=16,
        seed=seed,
        **rest,
    )


def make_agent(variant: str, seed: int) -> Agent:
    """Trains a variant, or goes on with it."""
    if variant == "shipped":
        return load_agent("mixture")
    folder = Path(_RUNS.value) / f"{variant}-{seed}"
    return train(make_config(variant, seed), folder, resume=True, checkpoint_every=100)


def best_cut(agent: Agent, graph: Graph, flips: int, seed: int) -> float:
    """The best cut of all trajectories of an agent that nothing helps."""
    result = solve(
        graph,
        agent=agent,
        num_steps=flips,
        trajectories=_TRAJECTORIES.value,
        key=jax.random.key(seed),
        move="ecord",
        ablate=INGREDIENTS,
    )
    return float(result.cut)


def flip_seconds(agent: Agent) -> float:
    """Processor time of a flip, apart from what a search takes however short it is."""
    graph = models.erdos_renyi(_PACED_VERTICES, 6 / _PACED_VERTICES, seed=_SET)

    def seconds(flips: int) -> float:
        began = time.process_time()
        best_cut(agent, graph, flips, _SET)
        return time.process_time() - began

    seconds(1)
    least, flips = seconds(1), 256
    while (spent := seconds(flips) - least) < _PACED_SECONDS:
        flips *= 2
    return spent / (flips - 1) / _TRAJECTORIES.value


def draw_instances() -> dict[tuple[str, int], Instance]:
    """The held-out graphs, by kind and number."""
    strange = [kind for kind in _KINDS.value if kind not in KINDS]
    if strange:
        raise OptionError(f"flag --kinds: no {strange[0]!r}; there are {', '.join(KINDS)}")
    places = itertools.product(_KINDS.value, range(_GRAPHS.value))
    return {place: draw_held_out(place[0], _VERTICES, 1.0, _SET, place[1]) for place in places}


def play(file: RowFile, variant: str, seed: int) -> None:
    """Plays what the file lacks of a variant."""
    done = {tuple(row[name] for name in COLUMNS[:5]) for row in file.rows}
    todo = [
        (budget, *place, instance)
        for budget, (place, instance) in itertools.product(_BUDGETS.value, draw_instances().items())
        if (variant, str(seed), budget, *map(str, place)) not in done
    ]
    if not todo:
        return
    agent = make_agent(variant, seed)
    own, usual = flip_seconds(agent), flip_seconds(load_agent("mixture"))
    for budget, kind, number, instance in tqdm(todo, desc=variant, disable=None):
        graph = instance.graph
        factor = _TIMED * usual / own if budget == _EQUAL_TIME else float(budget)
        flips = max(round(factor * graph.num_vertices), 1)
        cut = best_cut(agent, graph, flips, instance.seed)
        total = float(np.abs(graph.weights).sum())
        file.add(variant, seed, budget, kind, number, flips, total, cut, round(1e6 * own, 3))


def print_table(file: RowFile) -> None:
    """Prints leads over "mixture" for each budget."""
    parts: dict[tuple[str, ...], list[float]] = {}
    for row in file.rows:
        place = tuple(row[name] for name in ("budget", "kind", "graph", "variant"))
        parts.setdefault(place, []).append(float(row["cut"]) / max(float(row["total"]), 1e-300))
    leads: dict[tuple[str, str], list[float]] = {}
    for (*place, variant), found in parts.items():
        usual = parts.get((*place, "mixture"))
        if usual:
            lead = 1e5 * (np.mean(found) - np.mean(usual))
            leads.setdefault((variant, place[0]), []).append(float(lead))
    budgets = list(dict.fromkeys(budget for _, budget in leads))
    print(f"{'variant':16}" + "".join(f"{budget:>16}" for budget in budgets))
    for variant in dict.fromkeys(variant for variant, _ in leads):
        cells = [_cell(leads.get((variant, budget), [])) for budget in budgets]
        print(f"{variant:16}" + "".join(f"{cell:>16}" for cell in cells))


def _cell(leads: Sequence[float]) -> str:
    error = np.std(leads, ddof=1) / len(leads) ** 0.5 if len(leads) > 1 else 0.0
    return f"{np.mean(leads):.0f} ({error:.0f})" if leads else "-"


def main(argv: Sequence[str]) -> int:
    """Trains and plays what the file lacks."""
    positionals(argv)
    if not _RUNS.value or not _OUT.value:
        raise OptionError("flags --runs and --out are needed")
    _check_budgets()
    pairs = [
        (variant, seed)
        for seed, variant in itertools.product(range(_SEEDS.value), _VARIANTS.value)
        if variant != "shipped" or seed == 0
    ]
    for variant, seed in pairs:
        if variant != "shipped":
            make_config(variant, seed)  # complains before anything is trained
    flags_ = (_UPDATES, _TRAJECTORIES)
    file = RowFile(Path(_OUT.value), COLUMNS, {flag.name: flag.value for flag in flags_})
    for variant, seed in pairs:
        play(file, variant, seed)
    print_table(file)
    return 0


def _check_budgets() -> None:
    for budget in _BUDGETS.value:
        try:
            fits = budget == _EQUAL_TIME or 0 < float(budget) < 1e6
        except ValueError:
            fits = False
        if not fits:
            raise OptionError(f"flag --budgets: {budget!r} is neither flips nor {_EQUAL_TIME!r}")


if __name__ == "__main__":
    run(main, _FLAGS)
