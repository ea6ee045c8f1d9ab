"""Fails where the fast step is no longer as much faster than the plain one as it was.

    python benchmarks/check.py

Only ratios of times taken in turns in one process are looked at, with wide margins (`_LEAST`), so
that it may run on any machine, and a busy one. Exit status: 1 where a ratio is below its least.
"""

import functools
from collections.abc import Sequence

import common
import jax
from absl import flags
from policies import POLICIES

from ecord_jax.cli.common import run
from ecord_jax.graphs.arrays import to_arrays

_FLAGS = flags.FlagValues()
_TRAJECTORIES = flags.DEFINE_integer(
    "trajectories", 20, "Side by side.", lower_bound=1, flag_values=_FLAGS
)
_REPEATS = flags.DEFINE_integer("repeats", 5, "Turns.", lower_bound=1, flag_values=_FLAGS)
_SCALE = flags.DEFINE_float(
    "scale", 1.0, "The least ratios are multiplied by that.", lower_bound=0, flag_values=_FLAGS
)
_OUT, _JSON = common.define_output(_FLAGS)

# By vertices: (steps a turn, least ratio of plain to fast). Seen on two cores: about 2, 3.6 and 11.
_LEAST = {800: (32, 1.2), 2000: (16, 1.5), 10_000: (2, 3.5)}
_COLUMNS = ("vertices", "plain_milliseconds", "fast_milliseconds", "ratio", "least", "verdict")


def main(argv: Sequence[str]) -> int:
    """Prints a row a size."""
    common.no_arguments(argv)
    report = common.Report("check", _COLUMNS, _OUT.value, _JSON.value)
    for size, (steps, least) in _LEAST.items():
        report.add(_compare(size, steps, _SCALE.value * least))
    report.finish()
    return int(any(row["verdict"] != "ok" for row in report.rows))


def _compare(size: int, steps: int, least: float) -> dict[str, object]:
    graph = common.random_graph(size, 5.0)
    arrays = to_arrays(graph)
    agent = common.named_agent("paper", arrays)
    turns = {
        name: functools.partial(
            POLICIES[name](agent, graph, arrays, _TRAJECTORIES.value, jax.random.key(0)).run, steps
        )
        for name in ("plain", "fast")
    }
    found = common.interleaved(turns, repeats=_REPEATS.value)
    plain, fast = (1e3 * found[name].median / steps for name in ("plain", "fast"))
    return {
        "vertices": size,
        "plain_milliseconds": plain,
        "fast_milliseconds": fast,
        "ratio": plain / fast,
        "least": least,
        "verdict": "ok" if plain / fast >= least else "too slow",
    }


if __name__ == "__main__":
    run(main, _FLAGS)
