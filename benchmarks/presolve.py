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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import common
import numpy as np
from absl import flags

from ecord_jax.cli.common import run
from ecord_jax.graphs import Graph, read_graph
from ecord_jax.graphs.models import Weights, erdos_renyi, power_law, torus
from ecord_jax.graphs.presolve import presolve

_Maker = Callable[[int, int], Graph]  # of a number of vertices and a seed
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
    common.no_arguments(argv)
    texts = _VERTICES.value or ([] if _GRAPHS.value else _DEFAULT_VERTICES)
    sizes = common.parse_sizes("vertices", texts) if texts else []
    graphs = _all_graphs(_GRAPHS.value, sizes, _SEED.value)
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
            yield f"{kind} {size}", make(size, seed)


def _random(weights: Weights) -> _Maker:
    return lambda n, seed: erdos_renyi(n, min(3 / n, 1.0), seed=seed, weights=weights)


def _power_law(n: int, seed: int) -> Graph:
    return power_law(n, min(3.0, (n - 1) / 2), seed=seed)


def _torus(n: int, seed: int) -> Graph:
    """A square lattice without a quarter of its edges."""
    side = max(3, round(n**0.5))
    whole = torus((side, side), seed=seed)
    kept = np.random.default_rng(seed).random(whole.num_edges) < 0.75
    return Graph(whole.edges[kept], whole.weights[kept], whole.names)


_GENERATORS: dict[str, _Maker] = {
    "random": _random("unit"),
    "random, signs": _random("signed"),
    "random, Gaussian": _random("gaussian"),
    "power law": _power_law,
    "diluted torus, signs": _torus,
}


def _line(cells: Sequence[Any]) -> str:
    return common.line(cells, [len(column) for column in _COLUMNS])


if __name__ == "__main__":
    run(main, _FLAGS)
