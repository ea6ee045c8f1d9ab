"""Hyperparameters found by search, a set of graphs at a time: `found.json`, and how it is read.

The file has an entry for each solver and set: the parameters, how well they did, and what the
graphs look like; `experiments/tune_baselines.py` wrote it. Shape letters: F features.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from importlib import resources
from typing import Any, TypeVar

import numpy as np

from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph

__all__ = ["features", "found_parameters", "nearest_set"]

_Parameters = TypeVar("_Parameters")


def features(graph: Graph) -> list[float]:
    """What tells kinds of graphs apart: F = 4 numbers, in which graphs of one set are close.

    Logarithms of the number of vertices, the mean degree and the largest degree over the mean; and
    the share of edges that have negative weights, times 3.
    """
    if not graph.num_edges:
        return [0.0] * 4
    degrees = np.bincount(graph.edges.ravel())
    mean = 2 * graph.num_edges / graph.num_vertices
    logs = np.log([graph.num_vertices, mean, degrees.max() / mean])
    return [*np.round(logs, 3).tolist(), round(3 * float(np.mean(graph.weights < 0)), 3)]


def found_parameters(
    solver: str, kind: type[_Parameters], graph: Graph, wanted: _Parameters | str | None
) -> _Parameters:
    """The hyperparameters that a caller's option stands for.

    Args:
        solver: its name in the file.
        kind: class of the parameters.
        graph: what they are for.
        wanted: parameters; the name of a set; or None for the set most like the graph.

    Raises:
        OptionError: for anything else.
    """
    if isinstance(wanted, kind):
        return wanted
    sets = _read().get(solver, {})
    if wanted is None:
        if not sets:
            return kind()
        wanted = nearest_set(graph, {name: entry["features"] for name, entry in sets.items()})
    if not isinstance(wanted, str) or wanted not in sets:
        known = ", ".join(sets)
        raise OptionError(f"parameters={wanted!r} are no {kind.__name__}, nor one of {known}")
    fields = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: sets[wanted]["parameters"][name] for name in fields})


def nearest_set(graph: Graph, sets: dict[str, list[float]]) -> str:
    """The name whose features [F] are nearest to the graph's."""
    here = np.array(features(graph))
    return min(sets, key=lambda name: float(np.linalg.norm(here - np.array(sets[name]))))


@functools.cache
def _read() -> dict[str, Any]:
    file = resources.files("ecord_jax").joinpath("baselines", "found.json")
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
