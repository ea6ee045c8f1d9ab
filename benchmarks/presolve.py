"""How much smaller `presolve` makes graphs, and how long that takes.

    python benchmarks/presolve.py --graphs=../shared/data/gset
    python benchmarks/presolve.py --vertices=10000,100000,1000000 --json

Graphs come from files, as `ecord-solve` reads them, or are generated: random ones of mean degree 3
with weights of 1, of either sign or Gaussian; ones whose degrees follow a power law; and square
lattices on a torus that lack a quarter of their edges. Each is presolved twice: numba compiles the
loops for the first graph that is not small, and again for the first whose weights are no integers.
On a busy machine the processor's seconds say more than those of the clock.
"""

import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from absl import flags

from ecord_jax.cli.common import run
from ecord_jax.errors import EcordWarning, OptionError
from ecord_jax.graphs import Graph, read_graph
from ecord_jax.graphs.presolve import presolve

_FLAGS = flags.FlagValues()
_GRAPHS = flags.DEFINE_list("graphs", [], "Files, or folders of them.", flag_values=_FLAGS)
_VERTICES = flags.DEFINE_list(
    "vertices",
    [],
    "Sizes of generated graphs; without --graphs 10000,100000,1000000 by default.",
    flag_values=_FLAGS,
)
_SEED = flags.DEFINE_integer("seed", 0, "Of generated graphs.", lower_bound=0, flag_values=_FLAGS)
_JSON = flags.DEFINE_boolean("json", False, "Print a JSON object a graph.", flag_values=_FLAGS)

_DEFAULT_VERTICES = ("10000", "100000", "1000000")
_COLUMNS = (
    "graph",
    "vertices",
    "edges",
    "vertices_after",
    "edges_after",
    "constant",
    "largest_weight",
    "first_seconds",
    "seconds",
    "cpu_seconds",
)


def main(argv: Sequence[str]) -> int:
    """Prints a row a graph."""
    if len(argv) > 1:
        raise OptionError(f"unexpected argument {argv[1]!r}; see --help")
    texts = _VERTICES.value or (() if _GRAPHS.value else _DEFAULT_VERTICES)
    graphs = _all_graphs(_GRAPHS.value, [_parse_size(text) for text in texts], _SEED.value)
    if not _JSON.value:
        print(_line(_COLUMNS))
    for name, graph in graphs:
        row = {"graph": name, **measure(graph)}
        print(json.dumps(row) if _JSON.value else _line([row[c] for c in _COLUMNS]), flush=True)
    return 0


def measure(graph: Graph) -> dict[str, Any]:
    """Presolves a graph twice; gives sizes and times."""
    times = []
    for _ in range(2):
        wall, cpu = time.perf_counter(), time.process_time()
        reduction = presolve(graph)
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    reduced = reduction.graph
    return {
        "vertices": graph.num_vertices,
        "edges": graph.num_edges,
        "vertices_after": reduced.num_vertices,
        "edges_after": reduced.num_edges,
        "constant": reduction.constant,
        "largest_weight": float(np.abs(reduced.weights).max(initial=0)) / reduction.scale,
        "first_seconds": round(times[0][0], 3),
        "seconds": round(times[1][0], 3),
        "cpu_seconds": round(times[1][1], 3),
    }


def _all_graphs(
    places: Sequence[str], sizes: Sequence[int], seed: int
) -> Iterator[tuple[str, Graph]]:
    """Names and graphs, made one by one: a large one takes much memory."""
    for place in map(Path, places):
        files = place.iterdir() if place.is_dir() else [place]
        for path in sorted(files, key=lambda path: (len(path.name), path.name)):
            if path == place or ".txt" in path.suffixes:
                yield path.name.partition(".")[0], read_graph(path)
    for size in sizes:
        for kind, make in _GENERATORS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EcordWarning)  # of drawing an edge twice
                graph = make(size, np.random.default_rng(seed))
            yield f"{kind} {size}", graph


def _random(size: int, rng: np.random.Generator, weights: str = "one") -> Graph:
    edges = rng.integers(0, size, (3 * size // 2, 2))
    return Graph.from_edges(edges, _weights(len(edges), rng, weights), num_vertices=size)


def _power_law(size: int, rng: np.random.Generator) -> Graph:
    """Degrees of a power law: the chance of vertex i falls as the root of 1 / (i + 1)."""
    edges = (size * rng.random((3 * size // 2, 2)) ** 2).astype(np.int64)
    return Graph.from_edges(edges, num_vertices=size)


def _torus(size: int, rng: np.random.Generator) -> Graph:
    side = max(2, round(size**0.5))
    i = np.arange(side * side)
    right, down = i // side * side + (i + 1) % side, (i + side) % len(i)
    edges = np.stack([np.tile(i, 2), np.concatenate([right, down])], axis=1)
    edges = edges[rng.random(len(edges)) < 0.75]
    return Graph.from_edges(edges, _weights(len(edges), rng, "sign"), num_vertices=len(i))


def _weights(count: int, rng: np.random.Generator, kind: str) -> np.ndarray:
    match kind:
        case "one":
            return np.ones(count, np.int64)
        case "sign":
            return rng.choice([-1, 1], count)
        case _:
            return rng.normal(size=count)


_GENERATORS: dict[str, Callable[[int, np.random.Generator], Graph]] = {
    "random": _random,
    "random, signs": lambda size, rng: _random(size, rng, "sign"),
    "random, Gaussian": lambda size, rng: _random(size, rng, "Gaussian"),
    "power law": _power_law,
    "diluted torus, signs": _torus,
}


def _parse_size(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10**8:
        raise OptionError(f"flag --vertices={text}: expected integers from 1 to 100000000")
    return int(text)


def _line(cells: Sequence[Any]) -> str:
    """A row of the table."""
    texts = [f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in cells]
    return f"{texts[0]:<28}" + "".join(f"{text:>15}" for text in texts[1:])


if __name__ == "__main__":
    run(main, _FLAGS)
