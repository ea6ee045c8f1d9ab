"""Labels files: one line `name side` a vertex, the side 0 or 1, in any order."""

from __future__ import annotations

import os
from collections.abc import Hashable
from typing import Any

import numpy as np

from ecord_jax.errors import EcordError, GraphFileError
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.files import read_text, write_text

__all__ = ["read_labels", "write_labels"]

_UNSET = -1


def read_labels(path: str | os.PathLike[str], graph: Graph) -> np.ndarray:
    """Reads the sides of a graph's vertices.

    Args:
      path: the file, plain or gzip; blank lines say nothing.
      graph: whose names the lines begin with.

    Returns:
      int8 [N] in the order of `graph.names`.

    Raises:
      GraphFileError: for a vertex that is unknown, missing or there twice, or a bad side.
      EcordError: where two of the graph's names are written alike.
    """
    index = {text: i for i, text in enumerate(_written(graph))}
    labels = np.full(graph.num_vertices, _UNSET, np.int8)
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        name, *sides = line.strip().rsplit(None, 1)  # a name may have blanks in it
        if sides not in (["0"], ["1"]):
            raise GraphFileError(
                path, "bad side", line=number, got=line.strip(), expected="name, blank, 0 or 1"
            )
        vertex = index.get(name)
        if vertex is None:
            raise GraphFileError(path, "the graph has no such vertex", line=number, got=name)
        if labels[vertex] != _UNSET:
            raise GraphFileError(path, "the vertex is there twice", line=number, got=name)
        labels[vertex] = int(sides[0])
    missing = np.flatnonzero(labels == _UNSET)
    if missing.size:
        raise GraphFileError(
            path,
            f"{missing.size} of {graph.num_vertices} vertices are missing; the first is "
            f"{graph.names[missing[0]]!r}",
        )
    return labels


def write_labels(path: str | os.PathLike[str], graph: Graph, labels: Any) -> None:
    """Writes the side of each vertex, in the order of `graph.names`.

    Args:
      path: the file; gzip where its name ends with .gz.
      graph: whose vertices they are.
      labels: [N] integers or booleans, 0 or 1.

    Raises:
      GraphFileError: where it cannot be written.
      EcordError: for bad labels, or names that would not read back.
    """
    sides = graph.check_labels(labels).tolist()
    lines = [f"{name} {side}\n" for name, side in zip(_written(graph), sides, strict=True)]
    write_text(path, "".join(lines))


def _written(graph: Graph) -> list[str]:
    """Gives the names as a file holds them.

    Raises:
      EcordError: where one is empty, begins or ends blank or has a line end in it, or two are the
        same when written (as 1 and "1").
    """
    texts = [str(name) for name in graph.names]
    if isinstance(graph.names, range):
        return texts
    seen: dict[str, Hashable] = {}
    for text, name in zip(texts, graph.names, strict=True):
        if not text or text != text.strip() or "\n" in text or "\r" in text:
            raise EcordError(f"the name {name!r} cannot be written on a line of its own")
        if text in seen:
            raise EcordError(f"the names {seen[text]!r} and {name!r} are written alike")
        seen[text] = name
    return texts
