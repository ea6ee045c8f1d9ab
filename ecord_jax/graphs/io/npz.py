"""Graphs as numpy arrays in an .npz file, a layout of this package.

    edges     int64 [E, 2], places of vertices, counted from 0
    weights   int64 or float64 [E]
    range     int64 [3], start, stop and step of the vertices' names; or else
    names     uint8, the names as a JSON list, in UTF-8

No pickled object is read or written.
"""

from __future__ import annotations

import io
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ecord_jax.errors import GraphFileError
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.format import ERROR, SUMMED, Format
from ecord_jax.graphs.io.json_values import from_json, json_texts
from ecord_jax.graphs.io.table import make_graph

__all__ = ["NPZ", "npz_bytes", "read_npz"]

_KEYS = ("edges", "weights", "range", "names")
_EXPECTED = "arrays 'edges', 'weights' and either 'range' or 'names'"


def read_npz(source: Source, first: int = 1) -> Graph:
    """Reads a graph from an .npz file.

    Args:
      source: the file.
      first: says nothing here, since vertices have names.

    Returns:
      The graph.

    Raises:
      GraphFileError: where the file is damaged, or its arrays are not as they should be.
    """
    try:
        with np.load(io.BytesIO(source.data), allow_pickle=False) as file:
            arrays = {key: file[key] for key in _KEYS if key in file}
    except Exception as error:  # of damaged files numpy and zipfile raise nearly anything
        cause = " ".join(str(error).split()) or type(error).__name__
        raise source.error(f"broken npz file: {cause}") from None
    if not {"edges", "weights"} <= set(arrays) or len(arrays) != 3:
        raise source.error(f"arrays {', '.join(arrays) or 'of other names'}", expected=_EXPECTED)
    try:
        names = _read_names(source, arrays)
    except GraphFileError:
        raise
    except (OverflowError, RecursionError, ValueError) as error:
        raise source.error(f"bad names: {' '.join(str(error).split())}") from None
    return make_graph(source, arrays["edges"], arrays["weights"], names)


def npz_bytes(graph: Graph) -> bytes:
    """The graph as an .npz file, compressed."""
    names = graph.names
    arrays = {"edges": graph.edges, "weights": graph.weights}
    limits = (names.start, names.stop, names.step) if isinstance(names, range) else ()
    if limits and all(-(2**63) <= limit < 2**63 for limit in limits):
        arrays["range"] = np.array(limits, np.int64)
    else:
        text = f"[{', '.join(json_texts(names))}]"
        arrays["names"] = np.frombuffer(text.encode(), np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def _read_names(source: Source, arrays: dict[str, Any]) -> Sequence[Hashable]:
    """Makes the names; raises one of several errors where they are not as they should be."""
    if "names" in arrays:
        text = arrays["names"]
        if text.dtype != np.uint8 or text.ndim != 1:
            raise ValueError("expected uint8")
        values = Source(source.path, text.tobytes()).json
        if not isinstance(values, list):
            raise ValueError("expected a JSON list")
        return from_json(values)
    limits = arrays["range"]
    if limits.shape != (3,) or limits.dtype.kind != "i":
        raise ValueError("expected three integers")
    names = range(*limits.tolist())
    len(names)  # raises OverflowError where Python could not count them
    return names


NPZ = Format(
    name="npz",
    title="numpy arrays of this package",
    kinds=("max-cut",),
    suffixes=(".npz",),
    signature="the first bytes are those of a zip file",
    read=read_npz,
    write=npz_bytes,
    names="all",
    faults={"repeats": SUMMED, "reverse": SUMMED, "loops": "dropped", "range": ERROR},
)
