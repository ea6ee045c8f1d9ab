"""The problem, on the host: graphs, their files and their cuts."""

from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io import (
    read_graph,
    read_labels,
    read_problem,
    read_values,
    write_graph,
    write_labels,
    write_problem,
    write_values,
)
from ecord_jax.graphs.problem import Problem

__all__ = [
    "Graph",
    "Problem",
    "read_graph",
    "read_labels",
    "read_problem",
    "read_values",
    "write_graph",
    "write_labels",
    "write_problem",
    "write_values",
]
