"""The problem, on the host: graphs, their files and their cuts."""

from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io import read_graph, read_labels, write_labels

__all__ = ["Graph", "read_graph", "read_labels", "write_labels"]
