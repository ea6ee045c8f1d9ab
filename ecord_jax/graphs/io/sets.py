"""Sets of graphs with their best known cuts, as the published ones are: npz files.

Arrays `n` [G], `offsets` [G + 1], `edges` [E, 2], `weights` [E] and, where best known cuts are
there, `opt` [G]: the edges of graph g are rows offsets[g] to offsets[g + 1].
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ecord_jax.errors import EcordError, GraphFileError
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.formats import read_graph

__all__ = ["GraphSet", "read_set"]


class GraphSet(NamedTuple):
    """Attributes:
    graphs: the graphs.
    opt: float64 [G], best known cuts, NaN where there is none.
    """

    graphs: list[Graph]
    opt: np.ndarray


def read_set(path: Path, limit: int | None = None) -> GraphSet:
    """Reads the graphs of a set, the first `limit` of them, or the one graph of another file.

    Raises:
        GraphFileError: if the file cannot be read, lacks an array, or its arrays make no graphs.
    """
    data = _load(path) if path.suffix == ".npz" else {}
    if not data or {"range", "names"} & data.keys():  # the graph of an npz file of this package
        return GraphSet([read_graph(path)], np.full(1, np.nan))
    missing = [name for name in ("n", "offsets", "edges", "weights") if name not in data]
    if missing:
        raise GraphFileError(path, f"has no array {missing[0]!r}")
    if not _fits(data):
        raise GraphFileError(path, "the arrays do not fit together")
    n, offsets = data["n"][:limit].tolist(), data["offsets"].tolist()
    if not n:
        raise GraphFileError(path, "has no graphs")
    graphs = []
    for g, size in enumerate(n):
        rows = slice(offsets[g], offsets[g + 1])
        try:
            graphs.append(Graph.from_edges(data["edges"][rows], data["weights"][rows], size))
        except EcordError as error:
            raise GraphFileError(path, f"graph {g}: {error}") from None
    opt = data.get("opt", np.full(len(n), np.nan))
    return GraphSet(graphs, opt[: len(n)].astype(np.float64))


def _load(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except Exception as error:  # of damaged files numpy and zipfile raise nearly anything
        cause = getattr(error, "strerror", None) or "not an npz file of numbers"
        raise GraphFileError(path, cause) from None


def _fits(data: dict[str, np.ndarray]) -> bool:
    """Whether shapes and types are as they should be, and offsets within the edges."""
    n, offsets, edges, weights = (data[name] for name in ("n", "offsets", "edges", "weights"))
    integers = all(array.dtype.kind in "iu" for array in (n, offsets, edges))
    shapes = n.ndim == weights.ndim == 1 and offsets.shape == (len(n) + 1,)
    if not integers or not shapes or edges.shape != (len(weights), 2):
        return False
    if "opt" in data and (data["opt"].shape != n.shape or data["opt"].dtype.kind not in "iuf"):
        return False
    ascending = (offsets[1:] >= offsets[:-1]).all()
    return bool(offsets[0] >= 0 and ascending and offsets[-1] <= len(edges))
