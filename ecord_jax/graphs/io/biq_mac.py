"""Biq Mac's QUBO files (.bq, .sparse): a symmetric matrix Q, x'Qx to be minimised.

The first line says `n m`; then follows one line `i j q` an entry, counted from 1. Q is symmetric:
an entry (i, j) stands for (j, i), too, so that q counts twice where i and j differ. Lines that
begin with # say nothing.

Both are what the page of the Biq Mac solver defines (http://biqmac.aau.at): "min x'Qx", and "if you
specify entry (i,j) having value q, also entry (j,i) has value q". McSparse's .bq files are
minimised, too (http://mcsparse.uni-bonn.de/formats.html).
"""

from __future__ import annotations

import numpy as np

from ecord_jax.graphs.io.entries import check_unused, entry_lines, make_problem, refuse_repeats
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.format import ERROR, Format
from ecord_jax.graphs.io.lines import (
    blank_out,
    check_count,
    counts_header,
    find_header,
    line_of,
    split_blanks,
    written,
)
from ecord_jax.graphs.io.table import Rows, read_table
from ecord_jax.graphs.problem import Problem
from ecord_jax.graphs.sums import MAX_INTEGRAL_FLOAT

__all__ = ["BIQ_MAC", "biq_mac_text", "read_biq_mac"]

_COMMENTS = ("#",)
_HEADER = "two integers, the numbers of variables and entries"


def read_biq_mac(source: Source, first: int = 1) -> Problem:
    """Reads a QUBO from a Biq Mac file.

    Args:
      source: the file.
      first: what the first variable is called, 0 or 1.

    Returns:
      The problem, its variables named from `first` on.

    Raises:
      GraphFileError: where the file is not as it should be; the message names the line.
    """
    header = find_header(source.text, _COMMENTS)
    if not header.text:
        raise source.error("the file is empty", expected="a header line 'n m'")
    tokens = split_blanks(header.text)
    if len(tokens) != 2:
        raise source.error("bad header", line=header.line, expected=_HEADER)
    size, num_entries = counts_header(source, header, tokens, _HEADER)
    rows = Rows.counted(
        size, first, line="i j value", columns=(3,), key="variable", value="coefficient"
    )
    body = blank_out(header.body, _COMMENTS)
    keys, values = read_table(source, body, header.line + 1, rows)
    assert values is not None  # there are three columns
    check_count(source, header.line, num_entries, len(keys), "entries")
    check_unused(source, header.line, size, len(keys))
    refuse_repeats(source, body, header.line + 1, keys - first)
    limits = np.iinfo(np.int64) if values.dtype.kind == "i" else np.finfo(np.float64)
    apart = keys[:, 0] != keys[:, 1]
    large = np.flatnonzero(apart & ((values > limits.max // 2) | (values < limits.min // 2)))
    if large.size:
        line = line_of(body, header.line + 1, int(large[0]))
        raise source.error("the coefficient is too large, since it counts twice", line=line)
    doubled = values * np.where(apart, 2, 1)
    return make_problem(source, "qubo", range(first, size + first), keys - first, doubled)


def biq_mac_text(problem: Problem) -> str:
    """The problem as a Biq Mac file; neither its names nor its constant are in it."""
    variables = range(1, problem.num_variables + 1)
    halves = written(_halved(problem.quadratic))
    lines = entry_lines(problem, variables, written(problem.linear), halves)
    return "\n".join([f"{problem.num_variables} {len(lines)}", *lines]) + "\n"


def rounded_halves(problem: Problem) -> list[str]:
    """Says what is lost where half of a coefficient, as the file has it, cannot be exact."""
    halves = _halved(problem.quadratic)
    exact = np.array_equal(halves * 2, problem.quadratic)
    if halves.dtype != problem.quadratic.dtype:  # fractions, so that integers are read as floats
        integers = [part for part in (problem.linear, problem.quadratic) if part.dtype.kind == "i"]
        largest = max(np.abs(part).max(initial=0) for part in integers)
        exact = exact and largest <= MAX_INTEGRAL_FLOAT
    return [] if exact else ["digits of coefficients, of which it has halves"]


def _halved(values: np.ndarray) -> np.ndarray:
    """Half of each, integers where all of them are."""
    is_even = values.dtype.kind == "i" and not (values % 2).any()
    return values // 2 if is_even else values / 2


BIQ_MAC = Format(
    name="biq-mac",
    title="Biq Mac's QUBO",
    kinds=("qubo",),
    suffixes=(".bq", ".sparse"),
    read=read_biq_mac,
    write=biq_mac_text,
    counted=True,
    losses=rounded_halves,
    lists_vertices=True,
    faults={"repeats": ERROR, "reverse": ERROR, "count": ERROR, "range": ERROR},
)
