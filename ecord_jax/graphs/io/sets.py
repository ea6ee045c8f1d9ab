"""Sets of graphs with their best known cuts, as the published ones are: npz files.

Arrays `n` [G], `offsets` [G + 1], `edges` [E, 2], `weights` [E] and, where best known cuts are
there, `opt` [G]: the edges of graph g are rows offsets[g] to offsets[g + 1].
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ecord_jax.errors import GraphFileError
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
    """Reads the graphs of an npz file, the first `limit` of them, or the one of another file.

    Raises:
        GraphFileError: if the file cannot be read or lacks an array.
        EcordError: if its edges make no graph.
    """
    if path.suffix != ".npz":
        return GraphSet([read_graph(path)], np.full(1, np.nan))
    try:
        with np.load(path, allow_pickle=False) as file:
            data = {name: file[name] for name in file.files}
        n, offsets = data["n"][:limit], data["offsets"]
        edges, weights = data["edges"], data["weights"]
    except KeyError as error:
        raise GraphFileError(path, f"has no array {error}") from None
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        cause = getattr(error, "strerror", None) or "not an npz file of numbers"
        raise GraphFileError(path, cause) from None
    opt = data.get("opt", np.full(len(n), np.nan))[: len(n)].astype(np.float64)
    rows = [slice(offsets[g], offsets[g + 1]) for g in range(len(n))]
    graphs = [Graph.from_edges(edges[r], weights[r], int(n[g])) for g, r in enumerate(rows)]
    if not graphs:
        raise GraphFileError(path, "has no graphs")
    return GraphSet(graphs, opt)
