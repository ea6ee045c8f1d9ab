"""dimod's COO text: one line `i j v` a coefficient, i = j for a linear one.

A line `# vartype=SPIN` or `# vartype=BINARY` says what the variables are: spins of an Ising
problem, or 0 and 1 of a QUBO. Other lines that begin with # say nothing. Variables are integers
from 0 on, which stay as they are. Both are minimised.

Numbers are written without exponents, since dimod passes over the lines that have one.

See dimod.serialization.coo, https://github.com/dwavesystems/dimod.
"""

from __future__ import annotations

import re

import numpy as np

from ecord_jax.graphs.io.entries import (
    KINDS,
    count_repeats,
    entry_lines,
    integer_names,
    make_problem,
)
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.format import SUMMED, Format, warn
from ecord_jax.graphs.io.lines import blank_out, written
from ecord_jax.graphs.io.named import number_keys
from ecord_jax.graphs.io.table import Rows, read_table
from ecord_jax.graphs.problem import Problem

__all__ = ["COO", "coo_text", "has_vartype", "read_coo"]

_COMMENTS = ("#",)
_VARTYPE = re.compile(r"^[ \t]*#.*?vartype[:=][ \t]*([-_.a-zA-Z0-9]+)", re.MULTILINE)
_EXPECTED = "a line '# vartype=SPIN' or '# vartype=BINARY'"


def has_vartype(text: str) -> bool:
    """Whether there is a line that says what the variables are."""
    return _VARTYPE.search(text) is not None


def read_coo(source: Source, first: int = 1) -> Problem:
    """Reads a QUBO or an Ising problem from COO text.

    Args:
      source: the file.
      first: says nothing here, since variables have names.

    Returns:
      The problem, its variables in ascending order.

    Raises:
      GraphFileError: where the file is not as it should be; the message names the line.
    """
    said = set(_VARTYPE.findall(source.text))
    if len(said) != 1 or not said <= set(KINDS):
        cause = f"vartype {' and '.join(sorted(said))}" if said else "no vartype"
        raise source.error(cause, expected=_EXPECTED)
    rows = Rows(line="i j value", columns=(3,), low=0, key="variable", value="coefficient")
    keys, values = read_table(source, blank_out(source.text, _COMMENTS), 1, rows)
    assert values is not None  # there are three columns
    names, (ends,) = number_keys([keys])
    problem = make_problem(source, KINDS[said.pop()], names, ends, values)
    repeats = count_repeats(ends)
    warn(repeats, "repeated coefficient", "repeated coefficients", SUMMED)
    return problem


def coo_text(problem: Problem) -> str:
    """The problem as COO text; its constant is not in it."""
    lines = entry_lines(
        problem,
        integer_names(problem),
        _without_exponents(problem.linear),
        _without_exponents(problem.quadratic),
    )
    return "\n".join([f"# vartype={problem.vartype}", *lines]) + "\n"


def _without_exponents(values: np.ndarray) -> list[str]:
    if values.dtype.kind == "i":
        return written(values)
    return [np.format_float_positional(value, trim="0") for value in values]


COO = Format(
    name="coo",
    title="dimod's COO",
    kinds=("qubo", "ising"),
    suffixes=(".coo",),
    signature="a line `# vartype=SPIN` or `# vartype=BINARY`",
    read=read_coo,
    write=coo_text,
    names="integers",
    carries=frozenset({"weights", "isolated", "large"}),
    lists_vertices=True,
    faults={"repeats": SUMMED, "reverse": SUMMED},
)
