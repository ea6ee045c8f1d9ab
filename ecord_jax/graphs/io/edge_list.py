"""Edge lists without a header: one line `u v weight` an edge, or `u v` on all for weights of 1.

Blanks are between the columns, as in the .wel and .el files of the GAP benchmark
(https://arxiv.org/abs/1508.03619), or in .csv files commas. The vertices are those that are named:
integers from 0 on, which stay as they are, or words. So a vertex without edges cannot be in such a
file. Lines that begin with # or % say nothing; a line of column titles is an error.
"""

from __future__ import annotations

import functools

from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.format import SUMMED, Format
from ecord_jax.graphs.io.lines import blank_out, written
from ecord_jax.graphs.io.named import read_named
from ecord_jax.graphs.io.table import Rows, make_graph

__all__ = ["CSV", "EDGES", "UNWEIGHTED", "edge_list_text", "read_edge_list"]

_COMMENTS = ("#", "%")


def read_edge_list(source: Source, first: int = 1, *, separator: str | None = None) -> Graph:
    """Reads a graph from an edge list.

    Args:
      source: the file.
      first: says nothing here, since vertices have names.
      separator: "," or, for blanks, None.

    Returns:
      The graph; integers are in ascending order, words in that of their first use.

    Raises:
      GraphFileError: where the file is not as it should be; the message names the line.
    """
    if not source.text.strip():
        raise source.error("the file is empty", expected="lines 'u v weight'")
    columns = "u v or u v weight" if separator is None else "u,v or u,v,weight"
    rows = Rows(line=columns, low=0, separator=separator)
    names, (table,) = read_named(source, 1, [(blank_out(source.text, _COMMENTS), rows)])
    return make_graph(source, table.keys, table.values, names)


def edge_list_text(graph: Graph, *, separator: str = " ", weighted: bool = True) -> str:
    """Lines of names and weights; names are taken to be good ones."""
    names = list(map(str, graph.names)) if graph.num_edges else []
    columns = [[names[end] for end in ends] for ends in graph.edges.T.tolist()]
    if weighted:
        columns.append(written(graph.weights))
    lines = map(separator.join, zip(*columns, strict=True))
    return "\n".join(lines) + "\n" if graph.num_edges else "# no edges\n"


_FAULTS = {"repeats": SUMMED, "reverse": SUMMED, "loops": "dropped"}

EDGES = Format(
    name="edges",
    title="edge list without a header",
    kinds=("max-cut",),
    suffixes=(".wel", ".edges", ".edgelist"),
    read=read_edge_list,
    write=edge_list_text,
    names="words",
    carries=frozenset({"weights", "large"}),
    faults=_FAULTS,
)
UNWEIGHTED = Format(
    name="el",
    title="edge list without a header and weights",
    kinds=("max-cut",),
    suffixes=(".el",),
    read=read_edge_list,
    write=functools.partial(edge_list_text, weighted=False),
    names="words",
    carries=frozenset(),
    faults=_FAULTS,
)
CSV = Format(
    name="csv",
    title="edge list with commas",
    kinds=("max-cut",),
    suffixes=(".csv",),
    read=functools.partial(read_edge_list, separator=","),
    write=functools.partial(edge_list_text, separator=","),
    names="cells",
    carries=frozenset({"weights", "large"}),
    faults=_FAULTS,
)
