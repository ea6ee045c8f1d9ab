"""Reading and writing graphs, problems and labels, one module a format."""

from __future__ import annotations

from ecord_jax.graphs.io.formats import read_graph, read_problem, write_graph, write_problem
from ecord_jax.graphs.io.labels import read_labels, read_values, write_labels, write_values

__all__ = [
    "read_graph",
    "read_labels",
    "read_problem",
    "read_values",
    "write_graph",
    "write_labels",
    "write_problem",
    "write_values",
]
