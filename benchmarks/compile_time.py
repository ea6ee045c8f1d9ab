"""How long a user waits: for the import, and for the first cut of `ecord-solve`.

    python benchmarks/compile_time.py

Each is a process of its own, timed from its start to its end. `import ecord_jax` stands beside the
bare interpreter. `cold` is `ecord-solve --num_steps=1`, which ends with a cut once everything is
compiled, with empty caches; `warm` the same with the caches that the first run left (they lie in a
folder that is removed afterwards). `compile_seconds` is what it says of itself. The graph is like
GSet's G1: 800 vertices, mean degree 48.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import common
from absl import flags

from ecord_jax.cli.common import run
from ecord_jax.errors import EcordError
from ecord_jax.graphs.io.formats import write_any

_FLAGS = flags.FlagValues()
_REPEATS = flags.DEFINE_integer("repeats", 3, "Times.", lower_bound=1, flag_values=_FLAGS)
_AGENTS = flags.DEFINE_list(
    "agents", ["swift", "mixture", "er40"], "As ecord-solve has them.", flag_values=_FLAGS
)
_VERTICES = flags.DEFINE_integer(
    "vertices", 800, "Of the graph.", lower_bound=2, flag_values=_FLAGS
)
_OUT, _JSON = common.define_output(_FLAGS)

_MEAN_DEGREE = 48.0
_COLUMNS = ("what", "seconds", "spread", "compile_seconds")
_IMPORTS = {"bare interpreter": "pass", "import ecord_jax": "import ecord_jax"}


def main(argv: Sequence[str]) -> None:
    """Prints a row an import, and two an agent."""
    common.no_arguments(argv)
    report = common.Report("compile_time", _COLUMNS, _OUT.value, _JSON.value)
    for name, code in _IMPORTS.items():
        report.add(_row(name, [_seconds("-c", code) for _ in range(_REPEATS.value)]))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "graph.txt")
        write_any(path, common.random_graph(_VERTICES.value, _MEAN_DEGREE), "rudy")
        for agent in _AGENTS.value:
            for row in _first_cuts(path, agent):
                report.add(row)
    report.finish()


def _first_cuts(path: str, agent: str) -> list[dict[str, Any]]:
    """Rows of an agent, its runs with empty and with filled caches in turns."""
    cold, warm = [], []
    command = ("-m", "ecord_jax.cli.solve", path, f"--agent={agent}", "--num_steps=1", "--json")
    for _ in range(_REPEATS.value):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(_seconds(*command, XDG_CACHE_HOME=cache))
            warm.append(_seconds(*command, XDG_CACHE_HOME=cache))
    return [_row(f"{agent}, cold", cold), _row(f"{agent}, warm", warm)]


def _seconds(*arguments: str, **changes: str) -> tuple[float, float]:
    """Runs Python; gives the seconds it took, and those of its JSON's "compile", if any."""
    root = str(Path(__file__).resolve().parents[1])
    command = [sys.executable, *arguments]
    kept = {name: value for name, value in os.environ.items() if "CACHE" not in name}
    environment = {**kept, "PYTHONPATH": root, **changes}
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise EcordError(f"a run failed: {done.stderr.strip().splitlines()[-1]}")
    compiling = json.loads(done.stdout)["seconds"]["compile"] if done.stdout else 0.0
    return seconds, compiling


def _row(name: str, runs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    whole, compiling = (common.Timing.of(values) for values in zip(*runs, strict=True))
    return {
        "what": name,
        "seconds": whole.median,
        "spread": round(whole.spread, 3),
        "compile_seconds": compiling.median,
    }


if __name__ == "__main__":
    run(main, _FLAGS)
