"""Files of labels or values: one line `name value` a vertex or variable, in any order.

The value is a side, 0 or 1; of a QUBO's variable 0 or 1; of a spin -1 or 1.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ecord_jax.errors import EcordError, GraphFileError
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.files import read_text, write_text
from ecord_jax.graphs.problem import Problem

__all__ = ["check_names", "read_labels", "read_values", "write_labels", "write_values"]

_UNSET = -2


def read_labels(path: str | os.PathLike[str], graph: Graph) -> np.ndarray:
    """Reads the sides of a graph's vertices.

    Args:
      path: the file, plain or compressed; blank lines say nothing.
      graph: whose names the lines begin with.

    Returns:
      int8 [N] in the order of `graph.names`.

    Raises:
      GraphFileError: for a vertex that is unknown, missing or there twice, or a bad side.
      EcordError: where two of the graph's names are written alike.
    """
    return _read(path, graph.names, ("graph", "vertex", "vertices"), "side", {"0": 0, "1": 1})


def read_values(path: str | os.PathLike[str], problem: Problem) -> np.ndarray:
    """Reads the values of a problem's variables.

    Args:
      path: as in `read_labels`.
      problem: whose names the lines begin with.

    Returns:
      int8 [N] in the order of `problem.names`, as `problem.objective` takes them.

    Raises:
      GraphFileError: for a variable that is unknown, missing or there twice, or a bad value.
      EcordError: where two of the problem's names are written alike.
    """
    if problem.kind == "max-cut":
        return read_labels(path, problem.couplings)
    values = {"-1": -1, "1": 1, "+1": 1} if problem.kind == "ising" else {"0": 0, "1": 1}
    return _read(path, problem.names, ("problem", "variable", "variables"), "value", values)


def _read(
    path: str | os.PathLike[str],
    names: Sequence[Hashable],
    terms: tuple[str, str, str],
    what: str,
    allowed: dict[str, int],
) -> np.ndarray:
    """Reads a value for each name; `terms` are what their owner, one and several are called."""
    owner, one, many = terms
    index = {text: i for i, text in enumerate(check_names(names))}
    values = np.full(len(names), _UNSET, np.int8)
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        name, *last = line.strip().rsplit(None, 1)  # a name may have blanks in it
        if not last or last[0] not in allowed:
            low, high = min(allowed.values()), max(allowed.values())
            expected = f"name, blank, {low} or {high}"
            raise GraphFileError(
                path, f"bad {what}", line=number, got=line.strip(), expected=expected
            )
        place = index.get(name)
        if place is None:
            raise GraphFileError(path, f"the {owner} has no such {one}", line=number, got=name)
        if values[place] != _UNSET:
            raise GraphFileError(path, f"the {one} is there twice", line=number, got=name)
        values[place] = allowed[last[0]]
    missing = np.flatnonzero(values == _UNSET)
    if missing.size:
        first = names[missing[0]]
        cause = f"{missing.size} of {len(names)} {many} are missing; the first is {first!r}"
        raise GraphFileError(path, cause)
    return values


def write_labels(path: str | os.PathLike[str], graph: Graph, labels: Any) -> None:
    """Writes the side of each vertex, in the order of `graph.names`.

    Args:
      path: the file; compressed where its name ends with .gz, .bz2 or .xz.
      graph: whose vertices they are.
      labels: [N] integers or booleans, 0 or 1.

    Raises:
      GraphFileError: where it cannot be written.
      EcordError: for bad labels, or names that would not read back.
    """
    _write(path, graph.names, graph.check_labels(labels))


def write_values(path: str | os.PathLike[str], problem: Problem, values: Any) -> None:
    """Writes the value of each variable, in the order of `problem.names`.

    Args:
      path: as in `write_labels`.
      problem: whose variables they are.
      values: int8 [N], as `problem.values` gives them.

    Raises:
      GraphFileError: where it cannot be written.
      EcordError: for names that would not read back.
    """
    _write(path, problem.names, values)


def _write(path: str | os.PathLike[str], names: Sequence[Hashable], values: np.ndarray) -> None:
    texts = check_names(names)
    lines = [f"{name} {value}\n" for name, value in zip(texts, values, strict=True)]
    write_text(path, "".join(lines))


def check_names(names: Sequence[Hashable]) -> list[str]:
    """Gives the names of vertices or variables as a file holds them.

    Raises:
      EcordError: where one is empty, begins or ends blank, has a line end in it or cannot be
        encoded, or two are the same when written (as 1 and "1").
    """
    texts = [str(name) for name in names]
    if isinstance(names, range):
        return texts
    seen: dict[str, Hashable] = {}
    for text, name in zip(texts, names, strict=True):
        if not text or text != text.strip() or "\n" in text or "\r" in text or not _fits(text):
            raise EcordError(f"the name {name!r} cannot be written on a line of its own")
        if text in seen:
            raise EcordError(f"the names {seen[text]!r} and {name!r} are written alike")
        seen[text] = name
    return texts


def _fits(text: str) -> bool:
    """Whether it can be encoded: JSON can hold halves of characters that no file can."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
