"""Rudy text, the format of the GSet graphs.

The first line says `n m`, the numbers of vertices and edges; then follows one line `u v w` an edge,
vertices counted from 1, or `u v` on all of them for weights of 1. Blank lines and lines that begin
with # or % say nothing. McSparse's .mc files are the same (http://mcsparse.uni-bonn.de/formats.html).
"""

from __future__ import annotations

import os

from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.files import Source, write_text
from ecord_jax.graphs.io.format import ERROR, SUMMED, Format
from ecord_jax.graphs.io.lines import (
    blank_out,
    check_count,
    counts_header,
    find_header,
    split_blanks,
    written,
)
from ecord_jax.graphs.io.table import Rows, make_graph, read_table

__all__ = ["COMMENTS", "RUDY", "read_rudy", "rudy_text", "write_rudy"]

COMMENTS = ("#", "%")
_HEADER = "two integers, the numbers of vertices and edges"


def read_rudy(source: Source, first: int = 1) -> Graph:
    """Reads a graph from rudy text.

    Args:
      source: the file.
      first: what the first vertex is called, 0 or 1.

    Returns:
      The graph, its vertices named from `first` on. Integer weights stay exact up to 64 bits.

    Raises:
      GraphFileError: where the file is not as it should be; the message names the line.
    """
    header = find_header(source.text, COMMENTS)
    if not header.text:
        raise source.error("the file is empty", expected="a header line 'n m'")
    tokens = split_blanks(header.text)
    if len(tokens) != 2:
        raise source.error("bad header", line=header.line, expected=_HEADER)
    num_vertices, num_edges = counts_header(source, header, tokens, _HEADER)
    rows = Rows.counted(num_vertices, first)
    table = read_table(source, blank_out(header.body, COMMENTS), header.line + 1, rows)
    check_count(source, header.line, num_edges, len(table.keys))
    names = range(first, num_vertices + first)
    return make_graph(source, table.keys - first, table.values, names)


def write_rudy(path: str | os.PathLike[str], graph: Graph) -> None:
    """Writes a graph as rudy text; vertex i of `graph.names` becomes i + 1, names are not kept.

    Args:
      path: the file; compressed where its name ends with .gz, .bz2 or .xz.
      graph: what to write. Floats are written so that they read back as they are.

    Raises:
      GraphFileError: where it cannot be written.
    """
    write_text(path, rudy_text(graph))


def rudy_text(graph: Graph) -> str:
    """What `write_rudy` writes: `n m`, then a line `u v w` an edge, u < v, in their order."""
    lines = [f"{graph.num_vertices} {graph.num_edges}"]
    ends = (graph.edges + 1).tolist()
    weights = written(graph.weights)
    lines += [f"{u} {v} {w}" for (u, v), w in zip(ends, weights, strict=True)]
    return "\n".join(lines) + "\n"


RUDY = Format(
    name="rudy",
    title="rudy text, as of the GSet",
    kinds=("max-cut",),
    suffixes=(".txt", ".rud", ".mc"),
    signature="a first line of two integers, where no other format fits",
    read=read_rudy,
    write=rudy_text,
    counted=True,
    faults={
        "repeats": SUMMED,
        "reverse": SUMMED,
        "loops": "dropped",
        "count": ERROR,
        "range": ERROR,
    },
)
