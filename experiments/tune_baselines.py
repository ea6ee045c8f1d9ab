"""Searches the hyperparameters of SimCIM and of Leleu et al., a set of graphs at a time.

    python experiments/tune_baselines.py --out=ecord_jax/baselines/found.json
    python experiments/tune_baselines.py --out=found.json --sets=ER40,BA40 --trials=100

The graphs are generated here, of the distributions of `experiments/make_data.py`, but others than
its sets: ER and BA with weights of -1 and 1, and those named after the GSet with weights of 1. Runs
have the length that `experiments/compare.py` has by default, 2|V|, or --most_steps if that is less.
Entries of other sets and solvers in the file stay.
"""

import functools
import json
import platform
import shlex
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from absl import flags

from ecord_jax.baselines import leleu, simcim
from ecord_jax.baselines.amplitudes import Annealing
from ecord_jax.baselines.found import features
from ecord_jax.baselines.tuning import search_parameters
from ecord_jax.cli.common import positionals, run
from ecord_jax.cli.output import check_writable, write_whole
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph, models

_FLAGS = flags.FlagValues()
_OUT = flags.DEFINE_string("out", None, "JSON file; what it has is kept.", flag_values=_FLAGS)
_SETS = flags.DEFINE_list("sets", None, "Names of sets; all by default.", flag_values=_FLAGS)
_TUNED = flags.DEFINE_list("solvers", ["simcim", "leleu"], "Whose.", flag_values=_FLAGS)
_TRIALS = flags.DEFINE_integer(
    "trials", 60, "Random parameters tried.", lower_bound=1, flag_values=_FLAGS
)
_GRAPHS = flags.DEFINE_integer("graphs", 6, "Of each set.", lower_bound=1, flag_values=_FLAGS)
_TRAJECTORIES = flags.DEFINE_integer(
    "trajectories", 20, "Of each graph.", lower_bound=1, flag_values=_FLAGS
)
_MOST_STEPS = flags.DEFINE_integer(
    "most_steps", 2000, "Of a run.", lower_bound=1, flag_values=_FLAGS
)
_SEED = flags.DEFINE_integer("seed", 0, "Of all draws.", lower_bound=0, flag_values=_FLAGS)


class Solver(NamedTuple):
    """What is searched for a solver: its ranges, its defaults, what anneals with parameters."""

    ranges: dict[str, tuple[float, float]]
    default: dict[str, float]
    make: Callable[[dict[str, float]], Annealing]


SOLVERS = {
    "simcim": Solver(
        simcim.RANGES,
        vars(simcim.SimCimParameters()),
        lambda values: simcim.SimCim(simcim.SimCimParameters(**values)),
    ),
    "leleu": Solver(
        leleu.RANGES,
        vars(leleu.LeleuParameters()),
        lambda values: leleu.Leleu(leleu.LeleuParameters(**values)),
    ),
}


def _all_sets() -> dict[str, Callable[..., Graph]]:
    """What makes a graph of each set, given a seed."""
    sets: dict[str, Callable[..., Graph]] = {}
    for n in (40, 60, 100, 200, 500):
        sets[f"ER{n}"] = functools.partial(models.erdos_renyi, n, 0.15, weights="signed")
        sets[f"BA{n}"] = functools.partial(models.barabasi_albert, n, 4, weights="signed")
    for n, p in ((800, 0.06), (2000, 0.01), (5000, 1e-3), (10000, 2e-4)):
        sets[f"ER{n}"] = functools.partial(models.erdos_renyi, n, p)
    return sets


SETS = _all_sets()


def make_graphs(name: str, count: int, seed: int) -> list[Graph]:
    """Graphs of a set, the same at each run."""
    sequence = np.random.SeedSequence([seed, zlib.crc32(f"tune {name}".encode())])
    return [SETS[name](seed=one) for one in sequence.generate_state(count, np.uint64).tolist()]


def tune(solver: str, name: str, graphs: Sequence[Graph]) -> dict[str, Any]:
    """The entry of a solver and a set."""
    spec, steps = SOLVERS[solver], _MOST_STEPS.value
    found = search_parameters(
        graphs,
        spec.ranges,
        spec.make,
        key=jax.random.key(_SEED.value),
        trials=_TRIALS.value,
        trajectories=_TRAJECTORIES.value,
        num_steps=lambda graph: min(2 * graph.num_vertices, steps),
        first=[spec.default],
    )
    return {
        "parameters": found.parameters,
        "ratio": round(found.ratio, 5),
        "mean_ratio": round(found.mean_ratio, 5),
        "features": np.mean([features(graph) for graph in graphs], axis=0).round(3).tolist(),
        "steps": min(2 * graphs[0].num_vertices, steps),
        "command": shlex.join(
            [
                "python",
                "experiments/tune_baselines.py",
                f"--sets={name}",
                f"--trials={_TRIALS.value}",
                f"--graphs={len(graphs)}",
                f"--trajectories={_TRAJECTORIES.value}",
                f"--most_steps={steps}",
                f"--seed={_SEED.value}",
                "--out=FILE",
            ]
        ),
        "versions": {"python": platform.python_version(), "jax": jax.__version__},
        "backend": jax.default_backend(),
    }


def main(argv: Sequence[str]) -> int:
    """Searches for what the flags ask for; the file is written after each set."""
    positionals(argv)
    if not _OUT.value:
        raise OptionError("flag --out is needed: the file to write to")
    check_writable("out", _OUT.value)
    path, names = Path(_OUT.value), list(SETS) if _SETS.value is None else _SETS.value
    for name in names:
        if name not in SETS:
            raise OptionError(f"flag --sets: no set {name!r}; there are {', '.join(SETS)}")
    for solver in _TUNED.value:
        if solver not in SOLVERS:
            raise OptionError(f"flag --solvers: no {solver!r}; there are {', '.join(SOLVERS)}")
    try:
        found = dict(json.loads(path.read_text())) if path.exists() else {}
    except (TypeError, ValueError):
        raise OptionError(f"flag --out={path}: is not a file of this program") from None
    for name in names:
        graphs = make_graphs(name, _GRAPHS.value, _SEED.value)
        for solver in _TUNED.value:
            entry = found.setdefault(solver, {})[name] = tune(solver, name, graphs)
            print(
                f"{solver} {name}: ratio {entry['ratio']}, mean {entry['mean_ratio']}", flush=True
            )
        text = json.dumps(found, indent=1) + "\n"
        write_whole(str(path), lambda file, text=text: Path(file).write_text(text))
    return 0


if __name__ == "__main__":
    run(main, _FLAGS)
