"""qbsolv's .qubo files: a quadratic function of binary variables, to be minimised.

    c a comment
    p qubo 0 maxNodes nNodes nCouplers
    0 0 3.4          (node, the same node, its linear coefficient: nNodes lines)
    0 1 2.2          (i, j, the coefficient of x_i x_j, i < j: nCouplers lines)

Nodes are integers from 0 to maxNodes - 1, which stay as they are and need not be all there. A node
that is only in couplers has the linear coefficient 0. qbsolv itself minimises unless it is called
with -m.

See "qbsolv QUBO Input File Format", https://github.com/dwavesystems/qbsolv.
"""

from __future__ import annotations

import numpy as np

from ecord_jax.graphs.io.dimacs import find_problem_line
from ecord_jax.graphs.io.entries import entry_lines, integer_names, make_problem, refuse_repeats
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.format import ERROR, Format
from ecord_jax.graphs.io.lines import check_count, line_of, parse_counts, split_blanks, written
from ecord_jax.graphs.io.named import number_keys
from ecord_jax.graphs.io.table import Rows, read_table
from ecord_jax.graphs.problem import Problem

__all__ = ["QBSOLV", "qbsolv_text", "read_qbsolv"]

_EXPECTED = "'p qubo 0 maxNodes nNodes nCouplers'"


def read_qbsolv(source: Source, first: int = 1) -> Problem:
    """Reads a QUBO from a qbsolv file.

    Args:
      source: the file.
      first: says nothing here, since variables have names.

    Returns:
      The problem, its variables in ascending order.

    Raises:
      GraphFileError: where the file is not as it should be; the message names the line.
    """
    header = find_problem_line(source.text)
    tokens = split_blanks(header.text)
    counts = parse_counts(tokens[3:])
    if len(tokens) != 6 or tokens[:2] != ["p", "qubo"] or counts is None:
        line = header.line if header.text else None
        raise source.error("bad program line", line=line, expected=_EXPECTED)
    most, num_nodes, num_couplers = counts
    rows = Rows(
        line="i j value",
        columns=(3,),
        low=0,
        high=most - 1,
        key="node",
        value="coefficient",
        counting=" by maxNodes",
    )
    keys, values = read_table(source, header.body, header.line + 1, rows)
    assert values is not None  # there are three columns
    alone = keys[:, 0] == keys[:, 1]
    check_count(source, header.line, num_nodes, int(alone.sum()), "nodes")
    check_count(source, header.line, num_couplers, int((~alone).sum()), "couplers")
    backwards = np.flatnonzero(keys[:, 0] > keys[:, 1])
    if backwards.size:
        line = line_of(header.body, header.line + 1, int(backwards[0]))
        raise source.error("the nodes are the wrong way round", line=line, expected="i < j")
    names, (ends,) = number_keys([keys])
    refuse_repeats(source, header.body, header.line + 1, ends)
    return make_problem(source, "qubo", names, ends, values)


def qbsolv_text(problem: Problem) -> str:
    """The problem as a qbsolv file; its constant is not in it."""
    names = integer_names(problem)
    sizes = f"{max(names, default=-1) + 1} {problem.num_variables} {len(problem.pairs)}"
    lines = entry_lines(problem, names, written(problem.linear), written(problem.quadratic))
    return "\n".join([f"p qubo 0 {sizes}", *lines]) + "\n"


QBSOLV = Format(
    name="qubo",
    title="qbsolv's QUBO",
    kinds=("qubo",),
    suffixes=(".qubo",),
    signature="the first line that is no comment begins with `p qubo`",
    read=read_qbsolv,
    write=qbsolv_text,
    names="integers",
    carries=frozenset({"weights", "isolated", "large"}),
    lists_vertices=True,
    faults={"repeats": ERROR, "reverse": ERROR, "count": ERROR, "range": ERROR},
)
