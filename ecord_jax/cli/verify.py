"""Recomputes the cut that labels make of a graph.

Usage: ecord-verify GRAPH LABELS [--cut=VALUE] [--json]

LABELS has one line `name side` a vertex, the side 0 or 1. The cut is counted here, edge by edge in
plain Python, not by the code that found it. Exit status: 0; 1 where --cut is given and differs; 2
for a bad file or flag.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import NoReturn

from absl import flags

from ecord_jax.cli import common
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph, read_graph, read_labels

__all__ = ["entry", "main"]

_PROGRAM = "ecord-verify"
# Flags of its own, so that binaries that share a flag's name can be imported together.
_FLAGS = flags.FlagValues()
_CUT = flags.DEFINE_string("cut", None, "The cut that it should be.", flag_values=_FLAGS)
_JSON = flags.DEFINE_boolean("json", False, "Print one JSON object.", flag_values=_FLAGS)


def main(argv: Sequence[str]) -> int:
    graph_path, labels_path = common.positionals(argv, "GRAPH", "LABELS")
    claimed = None if _CUT.value is None else _parse_cut(_CUT.value)
    graph = read_graph(graph_path)
    cut = _count_cut(graph, read_labels(labels_path, graph).tolist())
    agrees = None if claimed is None else cut == claimed
    if _JSON.value:
        sizes = {"vertices": graph.num_vertices, "edges": graph.num_edges}
        print(json.dumps({"cut": cut, **sizes, "claimed": claimed, "agrees": agrees}))
    else:
        print(f"cut: {cut}")
    if agrees is False:
        sys.stdout.flush()
        print(f"{_PROGRAM}: the cut is {cut}, not {claimed} as claimed", file=sys.stderr)
        return 1
    return 0


def entry() -> NoReturn:
    """What the installed program calls."""
    common.run(main, _FLAGS, program=_PROGRAM)


def _count_cut(graph: Graph, sides: list[int]) -> int | float:
    """Sums the weights of the edges whose ends differ; exact, floats rounded once at the end."""
    weights = graph.weights.tolist()
    between = [
        weight
        for (u, v), weight in zip(graph.edges.tolist(), weights, strict=True)
        if sides[u] != sides[v]
    ]
    is_integer = all(isinstance(weight, int) for weight in weights)
    return sum(between) if is_integer else math.fsum(between)


def _parse_cut(text: str) -> int | float:
    """Reads the claimed cut; an integer stays one, since a float would round a long one."""
    try:
        value: int | float = int(text)
    except ValueError:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
    if not math.isfinite(value):
        raise OptionError(f"flag --cut={text}: not a finite number")
    return value


if __name__ == "__main__":
    entry()
