"""How long reading takes, and how much memory, in each file format.

    python benchmarks/reading.py
    python benchmarks/reading.py --vertices=1000000 --edges=3000000 --formats=rudy,json --json

A random graph, or for the formats of QUBO and Ising problems a random problem of as many variables
and pairs, is written to a file and read in a process of its own, whose most memory at any time is
what is shown, the interpreter and its libraries included. Weights are integers from -9 to 9;
"float" stands for Gaussian ones, and "words" for vertices that are no numbers. On a busy machine
the processor's seconds say more than those of the clock.
"""

import json
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import common
import numpy as np
from absl import flags

from ecord_jax.cli.common import run
from ecord_jax.errors import EcordWarning, OptionError
from ecord_jax.graphs import Graph, Problem
from ecord_jax.graphs.io.files import write_text
from ecord_jax.graphs.io.formats import FORMATS, read_any, write_any

_FLAGS = flags.FlagValues()
_VERTICES = flags.DEFINE_integer(
    "vertices", 10**6, "Of the graph.", lower_bound=2, flag_values=_FLAGS
)
_EDGES = flags.DEFINE_integer(
    "edges", 3 * 10**6, "Of the graph, repeats counted.", lower_bound=1, flag_values=_FLAGS
)
_FORMATS = flags.DEFINE_list("formats", [], "Which; all by default.", flag_values=_FLAGS)
_JSON = flags.DEFINE_boolean("json", False, "Print a JSON object a format.", flag_values=_FLAGS)

_COLUMNS = ("format", "megabytes", "seconds", "cpu_seconds", "peak_megabytes")


def main(argv: Sequence[str]) -> None:
    """Prints a row a format."""
    common.no_arguments(argv)
    makers = _makers(_VERTICES.value, _EDGES.value)
    unknown = set(_FORMATS.value) - set(makers)
    if unknown:
        raise OptionError(f"flag --formats: {min(unknown)!r} is none of {', '.join(makers)}")
    if not _JSON.value:
        print(_line(_COLUMNS))
    for name in _FORMATS.value or makers:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "file")
            makers[name](path)
            row = {"format": name, **common.apart(measure, path, name.partition(" ")[0])}
        print(json.dumps(row) if _JSON.value else _line([row[c] for c in _COLUMNS]), flush=True)


def measure(path: str, format: str) -> dict[str, Any]:
    """Reads a file; gives sizes, times and the process's peak of memory."""
    wall, cpu = time.perf_counter(), time.process_time()
    item = read_any(path, format)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    is_graph = isinstance(item, Graph)
    return {
        "megabytes": round(os.path.getsize(path) / 1e6, 1),
        "vertices": item.num_vertices if is_graph else item.num_variables,
        "edges": item.num_edges if is_graph else len(item.pairs),
        "seconds": round(wall, 2),
        "cpu_seconds": round(cpu, 2),
        "peak_megabytes": common.peak_megabytes(),
    }


def _makers(num_vertices: int, num_edges: int) -> dict[str, Callable[[str], None]]:
    """What writes the file of each format, or of a variant of it."""

    def writer(name: str, **changes: Any) -> Callable[[str], None]:
        def write(path: str) -> None:
            graph = _random_graph(num_vertices, num_edges, **changes)
            if name == "metis":
                write_text(path, _metis_text(graph))
                return
            item = graph if FORMATS[name].is_graph else _random_problem(graph, name)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EcordWarning)  # of weights and lone vertices lost
                write_any(path, item, name, lossy=True)

        return write

    makers = {name: writer(name) for name in FORMATS}
    makers["rudy float"] = writer("rudy", floats=True)
    makers["edges words"] = writer("edges", words=True)
    return makers


def _random_graph(size: int, count: int, *, floats: bool = False, words: bool = False) -> Graph:
    rng = np.random.default_rng(0)
    edges = rng.integers(0, size, (count, 2))
    weights = rng.normal(size=count) if floats else rng.integers(-9, 10, count)
    names = [f"v{i}" for i in range(size)] if words else range(1, size + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EcordWarning)  # of drawing an edge twice
        return Graph.from_edges(edges, weights, names=names)


def _random_problem(graph: Graph, name: str) -> Problem:
    """A problem whose pairs are a graph's edges, even so that a half of each is an integer."""
    even = Graph(graph.edges, 2 * graph.weights, graph.names)
    linear = np.random.default_rng(1).integers(-9, 10, graph.num_vertices)
    return Problem(FORMATS[name].kinds[0], "min", even, linear)


def _metis_text(graph: Graph) -> str:
    """The graph in a format that the package only reads."""
    ends = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    order = np.argsort(ends[:, 0], kind="stable")
    pairs = np.stack([ends[order, 1] + 1, np.tile(graph.weights, 2)[order]], axis=1)
    starts = np.searchsorted(ends[order, 0], np.arange(1, graph.num_vertices))
    lines = [" ".join(map(str, part.ravel().tolist())) for part in np.split(pairs, starts)]
    return "\n".join([f"{graph.num_vertices} {graph.num_edges} 1", *lines]) + "\n"


def _line(cells: Sequence[Any]) -> str:
    return common.line(cells, [len(column) for column in _COLUMNS])


if __name__ == "__main__":
    run(main, _FLAGS)
