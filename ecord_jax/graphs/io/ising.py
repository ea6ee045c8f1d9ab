"""Ising problems as text (.ising), a layout of this package: a constant, h and J; minimised.

    # lines that begin with # say nothing
    2.5           the constant: a number alone, once at most
    0 -1.5        h: a variable and its field
    0 1 0.5       J: two variables and their coupling

The energy is the sum of h_i s_i and, each pair once, of J_ij s_i s_j, and the constant; spins are
-1 or +1. Variables are integers from 0 on, or words. Two lines of the same variables are an error,
in either order, since there is no telling whether they add up.
"""

from __future__ import annotations

import numpy as np

from ecord_jax.graphs.io.entries import make_problem, refuse_repeats
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.format import ERROR, Format
from ecord_jax.graphs.io.lines import (
    blank_out,
    count_columns,
    empty_others,
    line_of,
    parse_number,
    written,
)
from ecord_jax.graphs.io.named import are_integers, are_words, read_named
from ecord_jax.graphs.io.table import Rows
from ecord_jax.graphs.problem import Problem

__all__ = ["ISING", "ising_text", "read_ising"]

_COMMENTS = ("#",)
_LINE = "a constant, 'i h' or 'i j J'"
_FIELD = Rows(line=_LINE, columns=(2,), keys=1, low=0, key="variable", value="field")
_COUPLING = Rows(line=_LINE, columns=(3,), low=0, key="variable", value="coupling")


def read_ising(source: Source, first: int = 1) -> Problem:
    """Reads an Ising problem.

    Args:
      source: the file.
      first: says nothing here, since variables have names.

    Returns:
      The problem; integers are in ascending order, words in that of their first use.

    Raises:
      GraphFileError: where the file is not as it should be; the message names the line.
    """
    if not source.text.strip():
        raise source.error("the file is empty", expected=_LINE)
    body = blank_out(source.text, _COMMENTS)
    _, columns = count_columns(body)
    offset = _read_constant(source, body, np.flatnonzero(columns == 1))
    wrong = np.flatnonzero(columns > 3)
    if wrong.size:
        line = int(wrong[0]) + 1
        raise source.error(f"{columns[wrong[0]]} columns", line=line, expected=_LINE)
    fields_body, couplings_body = (empty_others(body, columns == count) for count in (2, 3))
    names, (fields, couplings) = read_named(
        source, 1, [(fields_body, _FIELD), (couplings_body, _COUPLING)]
    )
    refuse_repeats(source, fields_body, 1, np.repeat(fields.keys, 2, axis=1))
    refuse_repeats(source, couplings_body, 1, couplings.keys)
    loops = np.flatnonzero(couplings.keys[:, 0] == couplings.keys[:, 1])
    if loops.size:
        line = line_of(couplings_body, 1, int(loops[0]))
        cause = "a coupling of a variable to itself"
        raise source.error(cause, line=line, expected="'i h' for a field")
    assert fields.values is not None  # both have a value on each line
    assert couplings.values is not None
    linear = np.zeros(len(names), fields.values.dtype)
    linear[fields.keys[:, 0]] = fields.values
    return make_problem(
        source, "ising", names, couplings.keys, couplings.values, offset=offset, linear=linear
    )


def ising_text(problem: Problem) -> str:
    """The problem as lines of text; names that are neither integers nor words are 0..N-1 there."""
    names = problem.names
    if not (are_integers(names) or are_words(names)):
        names = range(problem.num_variables)
    lines = ["# constant; i h; i j J"]
    if problem.offset:
        lines.append(repr(problem.offset))
    rows = zip(names, written(problem.linear), strict=True)
    lines += [f"{name} {value}" for name, value in rows]
    couplings = zip(problem.pairs.tolist(), written(problem.quadratic), strict=True)
    lines += [f"{names[i]} {names[j]} {value}" for (i, j), value in couplings]
    return "\n".join(lines) + "\n"


def _read_constant(source: Source, body: str, rows: np.ndarray) -> int | float:
    """Reads the number that is alone on its line, one of `rows`; 0 if there is none."""
    if not rows.size:
        return 0
    if rows.size > 1:
        raise source.error("a second constant", line=int(rows[1]) + 1, expected=_LINE)
    line = int(rows[0]) + 1
    value = parse_number(body.split("\n", line)[line - 1].strip(" \t"))
    if value is None:
        raise source.error("the constant is not a finite number", line=line, expected=_LINE)
    return value


ISING = Format(
    name="ising",
    title="h and J as text",
    kinds=("ising",),
    suffixes=(".ising",),
    read=read_ising,
    write=ising_text,
    names="words",
    carries=frozenset({"weights", "isolated", "offset", "large", "mixtures"}),
    lists_vertices=True,
    faults={"repeats": ERROR, "reverse": ERROR, "loops": ERROR},
)
