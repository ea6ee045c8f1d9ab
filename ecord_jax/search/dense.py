"""Graphs whose vertices have so many neighbours that passes over all vertices are faster."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecord_jax.graphs import Graph

__all__ = ["as_rows", "is_dense"]

_LEAST = 64  # vertices; with fewer all is fast
_MOST_CELLS = 1 << 26  # of a matrix, half a GiB at most


def is_dense(graph: Graph, part: float) -> bool:
    """Whether a vertex has so many neighbours on average, and a matrix is neither small nor huge.

    Args:
        graph: any.
        part: of all vertices.
    """
    cells = graph.num_vertices**2
    return _LEAST**2 <= cells <= _MOST_CELLS and part * cells <= 2 * graph.num_edges


def as_rows(matrix: Any, dtype: np.dtype) -> np.ndarray:
    """A sparse matrix [N, N] with all of its zeros.

    Args:
        matrix: float64.
        dtype: of the graph's weights. Where they are integers the matrix is float32 if that is
            exact, so that a kind of weights has one kind of matrix, with few exceptions.
    """
    if dtype.kind == "i":
        short = matrix.astype(np.float32)
        matrix = short if (short.data == matrix.data).all() else matrix
    return matrix.toarray()
