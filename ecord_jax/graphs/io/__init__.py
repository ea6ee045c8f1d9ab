"""Reading and writing graphs and labels, one module a format."""

from __future__ import annotations

import os

from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.labels import read_labels, write_labels
from ecord_jax.graphs.io.rudy import read_rudy

__all__ = ["read_graph", "read_labels", "write_labels"]


def read_graph(path: str | os.PathLike[str]) -> Graph:
    """Reads a graph from a file: rudy (GSet) text, plain or gzip.

    Args:
      path: the file.

    Returns:
      The graph, its vertices named as in the file.

    Raises:
      GraphFileError: where the file is not as it should be; the message names the line.
    """
    return read_rudy(path)
