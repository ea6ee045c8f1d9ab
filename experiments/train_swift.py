"""Trains `swift`, the agent that `solve` walks with.

    python experiments/train_swift.py --out=runs/swift
    python experiments/train_swift.py --out=runs/swift --resume
    python experiments/train_swift.py --out=runs/gnn --encoder=gnn --start=swift

See `ecord_jax.learning.evolution` for the method, and `ecord_jax.learning.swift_trainer` for what
is written to the folder. With --resume, --generations may be raised.
"""

import shlex
import sys
from pathlib import Path
from typing import get_args

from absl import flags

from ecord_jax.cli.common import positionals, run
from ecord_jax.errors import OptionError
from ecord_jax.learning.evolution import INPUTS, EvolutionConfig
from ecord_jax.learning.swift_trainer import train_swift
from ecord_jax.networks.swift import LONG, Encoder, SwiftConfig

_DEFAULT = EvolutionConfig()
_FLAGS = flags.FlagValues()
_OUT = flags.DEFINE_string("out", None, "Folder of the run.", flag_values=_FLAGS)
_RESUME = flags.DEFINE_bool(
    "resume", False, "Go on from the folder's checkpoint.", flag_values=_FLAGS
)
_ENCODER = flags.DEFINE_enum(
    "encoder",
    SwiftConfig.encoder,
    get_args(Encoder),
    "What gives vertices their scalars.",
    flag_values=_FLAGS,
)
_PARAMS = flags.DEFINE_list(
    "params",
    list(_DEFAULT.params),
    f"Parameters that are trained; long only with budgets beyond {6 * LONG:.0f} |V| flips.",
    flag_values=_FLAGS,
)
_TRAITS = flags.DEFINE_list(
    "traits", list(_DEFAULT.traits), "Of graphs, whose parameters are trained.", flag_values=_FLAGS
)
_WITHOUT = flags.DEFINE_list(
    "without", [], f"Inputs left out, of {', '.join(INPUTS)}.", flag_values=_FLAGS
)
_START = flags.DEFINE_string(
    "start", "", "Agent to begin at, by name or file; else an older vector.", flag_values=_FLAGS
)
_KINDS = flags.DEFINE_list("kinds", list(_DEFAULT.kinds), "Of graphs.", flag_values=_FLAGS)
_VERTICES = flags.DEFINE_list(
    "vertices", list(map(str, _DEFAULT.vertices)), "Least and most.", flag_values=_FLAGS
)
_FACTORS = flags.DEFINE_list(
    "factors",
    list(map(str, _DEFAULT.factors)),
    "Least and most flips over |V|.",
    flag_values=_FLAGS,
)
_SPREAD = flags.DEFINE_float(
    "spread", _DEFAULT.spread, "Of the first generation.", flag_values=_FLAGS
)
_LEAST_SPREAD = flags.DEFINE_float(
    "least_spread", _DEFAULT.least_spread, "Of any generation.", flag_values=_FLAGS
)
_GENERATIONS = flags.DEFINE_integer(
    "generations", _DEFAULT.generations, "Moves of the mean.", lower_bound=1, flag_values=_FLAGS
)
_POPULATION = flags.DEFINE_integer(
    "population",
    _DEFAULT.population,
    "Candidates a generation; a quarter of them are its elite.",
    lower_bound=4,
    flag_values=_FLAGS,
)
_INSTANCES = flags.DEFINE_integer(
    "instances", _DEFAULT.instances, "Graphs a generation.", lower_bound=1, flag_values=_FLAGS
)
_SEED = flags.DEFINE_integer("seed", 0, "Of all draws.", lower_bound=0, flag_values=_FLAGS)


def _range(flag: flags.FlagHolder, number: type) -> tuple:
    """The two numbers of a flag."""
    try:
        low, high = (number(text) for text in flag.value)
    except ValueError:
        raise OptionError(f"flag --{flag.name}: expected two numbers") from None
    return low, high


def main(argv: list[str]) -> int:
    """Runs the training that the flags describe."""
    positionals(argv)
    if not _OUT.value:
        raise OptionError("flag --out is needed: the folder of the run")
    # A resumed run ends as one without interruption: what is told is how to get there.
    arguments = [argument for argument in sys.argv[1:] if argument.strip("-") != "resume"]
    train_swift(
        EvolutionConfig(
            network=SwiftConfig(encoder=_ENCODER.value),
            start=_START.value,
            params=tuple(_PARAMS.value),
            traits=tuple(_TRAITS.value),
            without=tuple(_WITHOUT.value),
            kinds=tuple(_KINDS.value),
            vertices=_range(_VERTICES, int),
            factors=_range(_FACTORS, float),
            spread=_SPREAD.value,
            least_spread=_LEAST_SPREAD.value,
            generations=_GENERATIONS.value,
            population=_POPULATION.value,
            elite=_POPULATION.value // 4,
            instances=_INSTANCES.value,
            seed=_SEED.value,
        ),
        Path(_OUT.value),
        resume=_RESUME.value,
        show_progress=True,
        command=shlex.join(["python", "experiments/train_swift.py", *arguments]),
    )
    print(f"agent, card and metrics: {_OUT.value}")
    return 0


if __name__ == "__main__":
    run(main, _FLAGS)
