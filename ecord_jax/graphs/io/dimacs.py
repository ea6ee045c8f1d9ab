"""DIMACS graphs (.col, .clq): edges without weights.

Comment lines begin with c. The first other line is `p edge n m` (or `p col n m`); then follows one
line `e u v` an edge, vertices counted from 1. Lines that begin with n, d, v or x describe vertices
and drawings, and are dropped.

The definition lists an edge once, but many published graphs list it in both directions. The edges
are a set, so that a second line of one adds nothing, and m may be the number of lines or that of
different edges.

See http://archive.dimacs.rutgers.edu/pub/challenge/graph/doc/ccformat.tex (1993).
"""

from __future__ import annotations

import re

import numpy as np

from ecord_jax.graphs.edges import MAX_VERTICES
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.format import ERROR, Format, warn
from ecord_jax.graphs.io.lines import Header, parse_counts, split_blanks
from ecord_jax.graphs.io.table import Rows, make_graph, read_table

__all__ = ["DIMACS", "dimacs_text", "find_problem_line", "read_dimacs"]

_COMMENT = re.compile(r"^[ \t]*c(?![^ \t\n]).*$", re.MULTILINE)
_STATEMENT = re.compile(r"^[ \t]*(?!c[ \t\n]|c\Z)[^ \t\n].*$", re.MULTILINE)
_EXTRA = re.compile(r"^[ \t]*[ndvx][ \t].*$", re.MULTILINE)
_EDGE_MARK = re.compile(r"^[ \t]*e(?=[ \t])", re.MULTILINE)
_EXPECTED = "'p edge n m', the numbers of vertices and edges"
_LINE = "e u v"


def read_dimacs(source: Source, first: int = 1) -> Graph:
    """Reads a graph from a DIMACS file.

    Args:
      source: the file.
      first: what the first vertex is called, 0 or 1.

    Returns:
      The graph, its vertices named from `first` on; all weights are 1.

    Raises:
      GraphFileError: where the file is not as it should be; the message names the line.
    """
    header = find_problem_line(source.text)
    tokens = split_blanks(header.text)
    counts = parse_counts(tokens[2:])
    if len(tokens) != 4 or tokens[0] != "p" or tokens[1] not in ("edge", "col") or counts is None:
        line = header.line if header.text else None
        raise source.error("bad problem line", line=line, expected=_EXPECTED)
    num_vertices, num_edges = counts
    if num_vertices > MAX_VERTICES:
        expected = f"no more than {MAX_VERTICES} vertices"
        raise source.error("bad problem line", line=header.line, expected=expected)
    ends = _read_edges(source, header, num_vertices, first) - first
    return _to_graph(source, header.line, ends, num_edges, range(first, num_vertices + first))


def dimacs_text(graph: Graph) -> str:
    """The graph as DIMACS lines; its weights are not in it."""
    lines = [f"p edge {graph.num_vertices} {graph.num_edges}"]
    lines += [f"e {u} {v}" for u, v in (graph.edges + 1).tolist()]
    return "\n".join(lines) + "\n"


def find_problem_line(text: str) -> Header:
    """Finds the first line that is no comment; comments below it are emptied."""
    found = _STATEMENT.search(text)
    if found is None:
        return Header("", 1, "")
    number = text.count("\n", 0, found.start()) + 1
    return Header(found[0].strip(" \t"), number, _COMMENT.sub("", text[found.end() + 1 :]))


def _read_edges(source: Source, header: Header, num_vertices: int, first: int) -> np.ndarray:
    """Reads the lines `e u v`, and counts those that are dropped."""
    body, num_dropped = _EXTRA.subn("", header.body)
    body, num_marked = _EDGE_MARK.subn(" ", body)
    num_lines = len(body.split("\n")) - len(re.findall(r"^[ \t]*$", body, re.MULTILINE))
    if num_lines != num_marked:
        for number, line in enumerate(_EXTRA.sub("", header.body).split("\n"), header.line + 1):
            if line.strip(" \t") and not _EDGE_MARK.match(line):
                raise source.error("no edge", line=number, expected=_LINE)
    rows = Rows.counted(num_vertices, first, line=_LINE, columns=(2,))
    table = read_table(source, body, header.line + 1, rows)
    warn(num_dropped, "line about vertices", "lines about vertices", "dropped")
    return table.keys


def _to_graph(source: Source, line: int, ends: np.ndarray, num_edges: int, names: range) -> Graph:
    """Makes a graph of edges that may be there more than once."""
    keys = ends.min(axis=1) * len(names) + ends.max(axis=1)
    _, places = np.unique(keys, return_index=True)
    if num_edges not in (len(ends), len(places)):
        found = f"{len(ends)} lines of {len(places)} different ones"
        raise source.error(f"the header says {num_edges} edges, the file has {found}", line=line)
    warn(len(ends) - len(places), "repeated edge", "repeated edges", "dropped")
    return make_graph(source, ends[np.sort(places)], None, names)


DIMACS = Format(
    name="dimacs",
    title="DIMACS graph, as for colouring",
    kinds=("max-cut",),
    suffixes=(".col", ".clq"),
    signature="the first line that is no comment begins with `p edge` or `p col`",
    read=read_dimacs,
    write=dimacs_text,
    counted=True,
    carries=frozenset({"isolated", "order"}),
    faults={
        "repeats": "dropped",
        "reverse": "dropped",
        "loops": "dropped",
        "count": f"{ERROR}, unless it is the number of different edges",
        "range": ERROR,
        "extras": "dropped",
    },
)
