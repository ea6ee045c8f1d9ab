"""Rudy text, the format of the GSet graphs.

The first line says `n m`, the numbers of vertices and edges; then follows one line `u v w` an edge,
vertices counted from 1, or `u v` on all of them for weights of 1. Blank lines and lines that begin
with # or % say nothing.

A good file is parsed by numpy in one go. Where that fails, the lines are gone through one by one,
only to say which of them is to blame.
"""

from __future__ import annotations

import io
import os
import re
from typing import NoReturn

import numpy as np

from ecord_jax.errors import EcordError, GraphFileError
from ecord_jax.graphs.edges import MAX_VERTICES
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.files import read_text, write_text

__all__ = ["read_rudy", "write_rudy"]

_COMMENTS = ("#", "%")
_BLANKS = re.compile(r"[ \t]+")
_COMMENT_LINE = re.compile(r"^[ \t]*[#%].*$", re.MULTILINE)
_EDGE_LINE = "u v or u v weight"
# All that a good file is made of, so that no nan, no hexadecimal number and no digit of another
# script reaches numpy's parser.
_GOOD_CHARACTERS = re.compile(r"[0-9+\-.eE \t\n]*")
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}", re.ASCII)
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_FLOAT_ROW = np.dtype([("u", np.int64), ("v", np.int64), ("weight", np.float64)])


def read_rudy(path: str | os.PathLike[str]) -> Graph:
    """Reads a graph from rudy text, plain or gzip.

    Args:
      path: the file.

    Returns:
      The graph, its vertices named 1..n. Integer weights stay exact up to 64 bits.

    Raises:
      GraphFileError: where the file is not as it should be; the message names the line.
    """
    text = read_text(path)
    num_vertices, num_edges, header_line, body = _split_header(path, text)
    if "#" in body or "%" in body:
        body = _COMMENT_LINE.sub("", body)  # the line itself stays, so the counting does too
    rows = _parse(body)
    if rows is None:
        _blame(path, body, header_line, num_vertices)
    edges, weights = rows
    if len(edges) != num_edges:
        raise GraphFileError(
            path,
            f"the header says {num_edges} edges, the file has {len(edges)}",
            line=header_line,
        )
    if edges.size and not (edges.min() >= 1 and edges.max() <= num_vertices):
        _blame(path, body, header_line, num_vertices)
    if weights is not None and not np.isfinite(weights).all():
        _blame(path, body, header_line, num_vertices)
    try:
        return Graph.from_edges(edges - 1, weights, names=range(1, num_vertices + 1))
    except EcordError as error:
        raise GraphFileError(path, str(error)) from None


def write_rudy(path: str | os.PathLike[str], graph: Graph) -> None:
    """Writes a graph as rudy text; vertex i of `graph.names` becomes i + 1, names are not kept.

    Args:
      path: the file; gzip where its name ends with .gz.
      graph: what to write. Floats are written so that they read back as they are.

    Raises:
      GraphFileError: where it cannot be written.
    """
    lines = [f"{graph.num_vertices} {graph.num_edges}"]
    ends = (graph.edges + 1).tolist()
    lines += [f"{u} {v} {w}" for (u, v), w in zip(ends, graph.weights.tolist(), strict=True)]
    write_text(path, "\n".join(lines) + "\n")


def _split_header(path: str | os.PathLike[str], text: str) -> tuple[int, int, int, str]:
    """Finds the header.

    Returns:
      Numbers of vertices and edges, the header's line number, and the text after it.
    """
    start, number = 0, 1
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end].strip(" \t")
        if line and not line.startswith(_COMMENTS):
            vertices, edges = _parse_header(path, line, number)
            return vertices, edges, number, text[end + 1 :]
        start, number = end + 1, number + 1
    raise GraphFileError(path, "the file is empty; expected a header line 'n m'")


def _parse_header(path: str | os.PathLike[str], line: str, number: int) -> tuple[int, int]:
    tokens = _BLANKS.split(line)
    if len(tokens) != 2 or not all(_INTEGER.fullmatch(token) for token in tokens):
        raise GraphFileError(
            path,
            "bad header",
            line=number,
            got=line,
            expected="two integers, the numbers of vertices and edges",
        )
    vertices, edges = int(tokens[0]), int(tokens[1])
    if not 0 <= vertices <= MAX_VERTICES or edges < 0:
        raise GraphFileError(
            path,
            "bad header",
            line=number,
            got=line,
            expected=f"0..{MAX_VERTICES} vertices and no less than 0 edges",
        )
    return vertices, edges


def _parse(body: str) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Parses the edge lines of a good file.

    Returns:
      Vertices [E, 2] as written and weights [E], or None for weights where no line has one; None
      in place of both where a line is not as it should be.
    """
    if not body.strip():
        return np.zeros((0, 2), np.int64), None
    if not _GOOD_CHARACTERS.fullmatch(body):
        return None
    try:
        table = np.loadtxt(io.StringIO(body), dtype=np.int64, comments=None, ndmin=2)
    except ValueError:
        return _parse_floats(body)
    if table.shape[1] == 2:
        return table, None
    return (table[:, :2], table[:, 2]) if table.shape[1] == 3 else None


def _parse_floats(body: str) -> tuple[np.ndarray, np.ndarray] | None:
    """The same where weights are not all integers of 64 bits."""
    if not re.search(r"[.eE]", body):
        return None  # all integers, so one of them is too large; it must not become a float
    try:
        table = np.loadtxt(io.StringIO(body), dtype=_FLOAT_ROW, comments=None, ndmin=1)
    except ValueError:
        return None
    return np.stack([table["u"], table["v"]], axis=1), table["weight"]


def _blame(
    path: str | os.PathLike[str], body: str, header_line: int, num_vertices: int
) -> NoReturn:
    """Raises the error that names the first line that is not as it should be."""
    columns = None
    has_floats = re.search(r"[.eE]", body) is not None
    for number, line in enumerate(body.split("\n"), header_line + 1):
        tokens = _BLANKS.split(line.strip(" \t"))
        if tokens == [""]:
            continue
        columns = columns or len(tokens)
        fault = _fault(tokens, columns, num_vertices, has_floats)
        if fault:
            cause, expected = fault
            raise GraphFileError(path, cause, line=number, got=line.strip(), expected=expected)
    raise GraphFileError(path, "this is not rudy text")


def _fault(
    tokens: list[str], columns: int, num_vertices: int, has_floats: bool
) -> tuple[str, str] | None:
    """Says what is wrong with an edge line and what was expected, or None for a good one."""
    if len(tokens) not in (2, 3):
        return f"{len(tokens)} columns", _EDGE_LINE
    if len(tokens) != columns:
        return f"{len(tokens)} columns where the lines before have {columns}", "as many on all"
    for token in tokens[:2]:
        if not _INTEGER.fullmatch(token):
            return "a vertex is not an integer", _EDGE_LINE
        if not 1 <= int(token) <= num_vertices:
            return f"no vertex {token}", f"1..{num_vertices}, counted from 1"
    if len(tokens) == 2:
        return None
    if not _NUMBER.fullmatch(tokens[2]):
        return "the weight is not a finite number", _EDGE_LINE
    if not np.isfinite(float(tokens[2])):
        return "the weight is too large", "a 64-bit float"
    # Without its zeros: Python refuses to convert more than some thousand digits.
    sign, digits = tokens[2][:1].strip("+0123456789"), tokens[2].lstrip("+-0")
    if not has_floats and not -(2**63) <= int(f"{sign}{digits or 0}") < 2**63:
        return "the weight is too large", "a 64-bit integer"
    return None
