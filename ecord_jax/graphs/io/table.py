"""Lines of numbers: some integers, which say where, and a value. What all text formats are made of.

A good text is parsed by numpy in one go. Where that fails, the lines are gone through one by one,
only to say which of them is to blame. Shapes: L lines that are not blank, K integers on each.
"""

from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ecord_jax.errors import EcordError
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.lines import is_integer, is_number, split_blanks, to_int

__all__ = [
    "Rows",
    "Table",
    "insist",
    "make_graph",
    "read_table",
    "try_table",
    "value_fault",
]

# All that a good text is made of, so that no nan, no hexadecimal number and no digit of another
# script reaches numpy's parser.
_GOOD_CHARACTERS = re.compile(r"[0-9+\-.eE \t\n]*")
_FLOAT_CHARACTER = re.compile(r"[.eE]")
_EXACT = 2**53  # no integer up to here is rounded as a float
# Of 16 digits or more, which may be rounded.
_LONG_INTEGER = re.compile(r"(?<![0-9.eE+\-])[+-]?[0-9]{16,}(?![0-9.eE])")
_COLUMNS_WITHOUT_COMMA = re.compile(r"[^ \t,\n][ \t]+[^ \t,\n]")
_MISPLACED_COMMA = re.compile(r"(^|,)[ \t]*,|,[ \t]*$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Rows:
    """What the lines of a table look like.

    Attributes:
      line: what a line is called where another one was expected.
      columns: numbers of columns that are good; all lines have the same one.
      keys: K, how many of them, from the left, are integers that name something.
      low: least integer that a key may be.
      high: largest one, if there is a limit.
      key: what a key is called.
      value: what the last column is called.
      separator: "," or, for blanks, None.
      counting: what is said of keys that are out of range.
    """

    line: str = "u v or u v weight"
    columns: tuple[int, ...] = (2, 3)
    keys: int = 2
    low: int = 1
    high: int | None = None
    key: str = "vertex"
    value: str = "weight"
    separator: str | None = None
    counting: str = ""

    @classmethod
    def counted(cls, count: int, first: int, **fields: Any) -> Rows:
        """Lines whose keys are counted from `first`, 0 or 1; `fields` are the other attributes."""
        counting = ", counted from 1 (from 0 with zero_based)" if first else ", counted from 0"
        return cls(low=first, high=count + first - 1, counting=counting, **fields)

    def split(self, line: str) -> list[str]:
        """The columns of a line; none if it is blank."""
        if self.separator is None:
            return split_blanks(line)
        line = line.strip(" \t")
        return [part.strip(" \t") for part in line.split(self.separator)] if line else []


class Table(NamedTuple):
    """Lines of numbers.

    Attributes:
      keys: int64 [L, K].
      values: int64 or float64 [L], finite; None where the lines have none.
    """

    keys: np.ndarray
    values: np.ndarray | None


def read_table(source: Source, body: str, first_line: int, rows: Rows) -> Table:
    """Reads lines of numbers.

    Args:
      source: the file, for messages.
      body: its lines from `first_line` on, comments emptied. Blank lines say nothing.
      first_line: 1-based.
      rows: what the lines look like.

    Returns:
      The numbers. Values are int64 where none has a point or an exponent.

    Raises:
      GraphFileError: names the first line that is not like that.
    """
    return insist(source, body, first_line, rows, try_table(body, rows))


def try_table(body: str, rows: Rows) -> Table | None:
    """The same, but gives None where a line is not as it should be."""
    table = _parse(body, rows)
    return None if table is None or not _in_range(table, rows) else table


def insist(source: Source, body: str, first_line: int, rows: Rows, table: Table | None) -> Table:
    """Gives the table that `try_table` made, or raises what `read_table` does."""
    if table is None:
        _blame(source, body, first_line, rows)
    values = table.values
    if values is not None and values.dtype.kind == "f" and (np.abs(values) >= _EXACT).any():
        _refuse_rounded(source, body, first_line, rows)
    return table


def value_fault(token: str, rows: Rows, has_floats: bool) -> tuple[str, str] | None:
    """Says what is wrong with a value and what was expected, or None for a good one.

    Args:
      token: the value.
      rows: what it is called.
      has_floats: whether other values have a point or an exponent.
    """
    if not is_number(token):
        return f"the {rows.value} is not a finite number", rows.line
    if not np.isfinite(float(token)):
        return f"the {rows.value} is too large", "a 64-bit float"
    if not has_floats and not -(2**63) <= to_int(token) < 2**63:
        return f"the {rows.value} is too large", "a 64-bit integer"
    return None


def _parse(body: str, rows: Rows) -> Table | None:
    """Parses a good text; gives None where a line is not as it should be."""
    if not body.strip(" \t\n"):
        empty = np.zeros(0, np.int64)
        return Table(empty.reshape(0, rows.keys), empty if max(rows.columns) > rows.keys else None)
    if rows.separator is not None:
        if _has_bad_columns(body):
            return None
        body = body.replace(rows.separator, " ")
    if not _GOOD_CHARACTERS.fullmatch(body):
        return None
    try:
        numbers = np.loadtxt(io.StringIO(body), dtype=np.int64, comments=None, ndmin=2)
    except ValueError:
        return _parse_floats(body, rows)
    if numbers.shape[1] not in rows.columns:
        return None
    has_values = numbers.shape[1] > rows.keys
    return Table(numbers[:, : rows.keys], numbers[:, rows.keys] if has_values else None)


def _has_bad_columns(body: str) -> bool:
    """Whether commas are not where columns end, and nowhere else."""
    if " " in body or "\t" in body:  # with blanks it takes a while to find out
        return bool(_COLUMNS_WITHOUT_COMMA.search(body) or _MISPLACED_COMMA.search(body))
    return any(pair in f"\n{body}\n" for pair in (",,", ",\n", "\n,"))


def _parse_floats(body: str, rows: Rows) -> Table | None:
    """The same where values are not all integers of 64 bits."""
    if rows.keys + 1 not in rows.columns or not _FLOAT_CHARACTER.search(body):
        return None  # all integers, so one of them is too large; it must not become a float
    fields = [(f"key{i}", np.int64) for i in range(rows.keys)]
    dtype = np.dtype([*fields, ("value", np.float64)])
    try:
        numbers = np.loadtxt(io.StringIO(body), dtype=dtype, comments=None, ndmin=1)
    except ValueError:
        return None
    keys = np.zeros((len(numbers), rows.keys), np.int64)
    for i in range(rows.keys):
        keys[:, i] = numbers[f"key{i}"]
    return Table(keys, np.ascontiguousarray(numbers["value"]))


def _in_range(table: Table, rows: Rows) -> bool:
    if table.values is not None and not np.isfinite(table.values).all():
        return False
    if not table.keys.size:
        return True
    return table.keys.min() >= rows.low and (rows.high is None or table.keys.max() <= rows.high)


def _blame(source: Source, body: str, first_line: int, rows: Rows) -> NoReturn:
    """Raises the error that names the first line that is not as it should be."""
    columns = None
    has_floats = _FLOAT_CHARACTER.search(body) is not None
    for number, line in enumerate(body.split("\n"), first_line):
        tokens = rows.split(line)
        if not tokens:
            continue
        columns = columns or len(tokens)
        fault = _fault(tokens, columns, rows, has_floats)
        if fault:
            cause, expected = fault
            raise source.error(cause, line=number, expected=expected)
    raise source.error("the lines cannot be read", expected=rows.line)


def _fault(tokens: list[str], columns: int, rows: Rows, has_floats: bool) -> tuple[str, str] | None:
    """Says what is wrong with a line and what was expected, or None for a good one."""
    if len(tokens) not in rows.columns:
        return f"{len(tokens)} columns", rows.line
    if len(tokens) != columns:
        return f"{len(tokens)} columns where the lines before have {columns}", "as many on all"
    for token in tokens[: rows.keys]:
        fault = _key_fault(token, rows)
        if fault:
            return fault
    return None if len(tokens) == rows.keys else value_fault(tokens[rows.keys], rows, has_floats)


def _key_fault(token: str, rows: Rows) -> tuple[str, str] | None:
    if not is_integer(token):
        return f"a {rows.key} is not an integer", rows.line
    if rows.high is None:
        good = rows.low <= int(token) < 2**63
        return None if good else (f"no {rows.key} {token}", f"a 64-bit integer from {rows.low} on")
    if not rows.low <= int(token) <= rows.high:
        return f"no {rows.key} {token}", f"{rows.low}..{rows.high}{rows.counting}"
    return None


def _refuse_rounded(source: Source, body: str, first_line: int, rows: Rows) -> None:
    """Refuses an integer that would be rounded because other values are fractions."""
    for match in _LONG_INTEGER.finditer(body):
        begin = body.rfind("\n", 0, match.start()) + 1
        tokens = rows.split(body[begin : match.end()])
        token = match[0].strip()
        if len(tokens) == rows.keys + 1 and float(token) != to_int(token):
            line = first_line + body.count("\n", 0, begin)
            raise source.error(
                f"the {rows.value} would be rounded, since others are fractions",
                line=line,
                expected="an integer of up to 53 bits",
            )


def make_graph(source: Source, edges: Any, weights: Any, names: Iterable[Hashable]) -> Graph:
    """`Graph.from_edges` of what is in a file; raises GraphFileError."""
    try:
        return Graph.from_edges(edges, weights, names=names)
    except EcordError as error:
        raise source.error(str(error)) from None
