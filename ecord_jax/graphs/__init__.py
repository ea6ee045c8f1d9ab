"""The problem, on the host: graphs, their files and their cuts."""

from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io import read_graph, read_labels, write_labels
from ecord_jax.graphs.problem import Problem

__all__ = ["Graph", "Problem", "read_graph", "read_labels", "write_labels"]
