"""METIS and Chaco graphs (.graph), read only: the neighbours of each vertex on a line of its own.

The first line says `n m`, `n m fmt` or `n m fmt ncon`. Line i after it has the neighbours of vertex
i, counted from 1; a blank line is a vertex without neighbours. Lines that begin with % say nothing.
The digits of fmt, from the right: 1 where each neighbour is followed by the weight of its edge; 1
where a line begins with ncon (1 by default) weights of the vertex, which are dropped. A third digit
means sizes of vertices in METIS, but their numbers in Chaco, and is refused.

See G. Karypis, METIS 5.1.0 manual (2013), section 4.1.1; B. Hendrickson, R. Leland, Chaco 2.0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

import numpy as np

from ecord_jax.errors import GraphFileError
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.format import ERROR, Format, warn
from ecord_jax.graphs.io.lines import (
    Header,
    check_count,
    count_columns,
    counts_header,
    find_header,
    is_integer,
    split_blanks,
)
from ecord_jax.graphs.io.table import make_graph

__all__ = ["METIS", "read_metis"]

_COMMENTS = ("%",)
_HEADER = "'n m', 'n m fmt' or 'n m fmt ncon'"
_GOOD_CHARACTERS = re.compile(r"[0-9\- \t\n]*")
_MISPLACED_SIGN = re.compile(r"-(?![0-9])|[0-9]-")
_LARGEST = 2**63 - 1


class _Layout(NamedTuple):
    """What the header says.

    Attributes:
      line: its number.
      size: N, the number of vertices.
      num_edges: E.
      skipped: how many numbers a line begins with that are no neighbours.
      step: 2 where a neighbour is followed by a weight, else 1.
      first: what the first vertex is called, 0 or 1.
    """

    line: int
    size: int
    num_edges: int
    skipped: int
    step: int
    first: int


class _Halves(NamedTuple):
    """Edges as the lines of vertices have them, each edge on two lines.

    Attributes:
      vertices: int64 [H], 0-based, whose line it is.
      neighbours: int64 [H], 0-based.
      weights: int64 [H], or None where all are 1.
    """

    vertices: np.ndarray
    neighbours: np.ndarray
    weights: np.ndarray | None


def read_metis(source: Source, first: int = 1) -> Graph:
    """Reads a graph from a METIS or Chaco file.

    Args:
      source: the file.
      first: what the first vertex is called, 0 or 1.

    Returns:
      The graph, its vertices named from `first` on.

    Raises:
      GraphFileError: where the file is not as it should be; the message names the line.
    """
    header = find_header(source.text, _COMMENTS)
    layout = _read_header(source, header, first)
    numbers, lines = _vertex_lines(source, header.body, layout)
    halves = _parse("\n".join(lines), layout)
    if halves is None:
        _blame(source, numbers, lines, layout)
    _check_pairs(source, numbers, halves, layout)
    check_count(source, header.line, layout.num_edges, len(halves.vertices) // 2)
    dropped = layout.size * layout.skipped
    warn(dropped, "weight of a vertex", "weights of vertices", "dropped")
    once = halves.vertices < halves.neighbours
    edges = np.stack([halves.vertices[once], halves.neighbours[once]], axis=1)
    weights = None if halves.weights is None else halves.weights[once]
    return make_graph(source, edges, weights, range(first, layout.size + first))


def _read_header(source: Source, header: Header, first: int) -> _Layout:
    tokens = split_blanks(header.text)
    if not tokens:
        raise source.error("the file is empty", expected=f"a header line {_HEADER}")
    if not 2 <= len(tokens) <= 4:
        raise source.error("bad header", line=header.line, expected=_HEADER)
    size, num_edges, *rest = counts_header(source, header, tokens, _HEADER)
    form, constraints = (rest + [0, 1][len(rest) :])[:2]
    if form >= 100:
        raise source.error(
            "a third digit of fmt means one thing in METIS and another in Chaco",
            line=header.line,
            expected="0, 1, 10 or 11",
        )
    if form not in (0, 1, 10, 11) or constraints > 1000:
        raise source.error("bad header", line=header.line, expected="fmt 0, 1, 10 or 11")
    skipped = constraints if form >= 10 else 0
    return _Layout(header.line, size, num_edges, skipped, 1 + form % 10, first)


def _vertex_lines(
    source: Source, body: str, layout: _Layout
) -> tuple[Sequence[int], Sequence[str]]:
    """Gives the lines of the vertices, N of them, and their numbers in the file."""
    lines = body.split("\n")
    numbers: Sequence[int] = range(layout.line + 1, layout.line + 1 + len(lines))
    if "%" in body:
        kept = [i for i, line in enumerate(lines) if not line.lstrip(" \t").startswith("%")]
        numbers, lines = [numbers[i] for i in kept], [lines[i] for i in kept]
    if len(lines) < layout.size:
        found = len(lines) - (not lines[-1] if lines else 0)
        check_count(source, layout.line, layout.size, found, "vertices")
    for number, line in zip(numbers[layout.size :], lines[layout.size :], strict=True):
        if line.strip(" \t"):
            raise source.error("a line too many", line=number, expected=f"{layout.size} vertices")
    return numbers[: layout.size], lines[: layout.size]


def _parse(text: str, layout: _Layout) -> _Halves | None:
    """Parses the lines of vertices; gives None where one is not as it should be."""
    if not _GOOD_CHARACTERS.fullmatch(text) or ("-" in text and _MISPLACED_SIGN.search(text)):
        return None
    total, counts = count_columns(text)
    counts = counts[: layout.size]  # of no line at all there is one
    if ((counts < layout.skipped) | ((counts - layout.skipped) % layout.step != 0)).any():
        return None
    values = np.fromstring(text, np.int64, sep=" ") if total else np.zeros(0, np.int64)
    if (np.abs(values) >= _LARGEST).any() or (values == -_LARGEST - 1).any():
        return None  # numpy makes these of larger ones
    vertices = np.repeat(np.arange(layout.size), counts)
    places = np.arange(values.size) - np.repeat(np.cumsum(counts) - counts, counts)
    places -= layout.skipped
    at = np.flatnonzero((places >= 0) & (places % layout.step == 0))
    neighbours = values[at] - layout.first
    if at.size and not (neighbours.min() >= 0 and neighbours.max() < layout.size):
        return None
    return _Halves(vertices[at], neighbours, values[at + 1] if layout.step == 2 else None)


def _blame(
    source: Source, numbers: Sequence[int], lines: Sequence[str], layout: _Layout
) -> NoReturn:
    """Raises the error that names the first line that is not as it should be."""
    low, high = layout.first, layout.size + layout.first - 1
    for number, line in zip(numbers, lines, strict=True):
        tokens = split_blanks(line)
        wrong = [t for t in tokens if not is_integer(t) or "+" in t or abs(int(t)) >= _LARGEST]
        if wrong:
            raise source.error(f"{wrong[0]!r} is not an integer of 64 bits", line=number)
        rest = len(tokens) - layout.skipped
        if rest < 0 or rest % layout.step:
            form = "neighbours, each with its weight" if layout.step == 2 else "neighbours"
            if layout.skipped:
                form = f"{layout.skipped} weights of the vertex, and {form}"
            raise source.error(f"{len(tokens)} numbers", line=number, expected=form)
        for token in tokens[layout.skipped :: layout.step]:
            if not low <= int(token) <= high:
                expected = f"{low}..{high}, counted from {low}"
                raise source.error(f"no vertex {token}", line=number, expected=expected)
    raise source.error("the lines cannot be read", expected="the neighbours of a vertex on each")


def _check_pairs(source: Source, numbers: Sequence[int], halves: _Halves, layout: _Layout) -> None:
    """Refuses loops, repeated neighbours, and edges that not both ends have alike."""
    first, size = layout.first, layout.size
    vertices, neighbours, weights = halves

    def error(cause: str, place: int) -> GraphFileError:
        u, v = int(vertices[place]), int(neighbours[place])
        return source.error(cause.format(u=u + first, v=v + first), line=numbers[u])

    loops = np.flatnonzero(vertices == neighbours)
    if loops.size:
        raise error("vertex {u} is its own neighbour", loops[0])
    there, back = vertices * size + neighbours, neighbours * size + vertices
    order, back_order = np.argsort(there, kind="stable"), np.argsort(back, kind="stable")
    there, back = there[order], back[back_order]
    repeated = np.flatnonzero(there[1:] == there[:-1])
    if repeated.size:
        raise error("vertex {v} is there twice", order[repeated[0] + 1])
    if not np.array_equal(there, back):
        alone = np.flatnonzero(~np.isin(there, back))
        raise error("vertex {v} does not have {u} as a neighbour", order[alone].min())
    if weights is not None:
        wrong = np.flatnonzero(weights[order] != weights[back_order])
        if wrong.size:
            raise error("vertex {v} has another weight for this edge", order[wrong].min())


METIS = Format(
    name="metis",
    title="METIS or Chaco graph",
    kinds=("max-cut",),
    suffixes=(".graph",),
    read=read_metis,
    counted=True,
    faults={
        "repeats": ERROR,
        "reverse": f"{ERROR}, unless both vertices have it alike",
        "loops": ERROR,
        "count": ERROR,
        "range": ERROR,
        "extras": "dropped",
    },
)
