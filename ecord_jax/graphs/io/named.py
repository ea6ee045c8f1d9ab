"""Lines that name vertices or variables, where a format neither lists nor counts them.

All names of a file are integers from 0 on, or all are words: no blanks in them, and no numbers.
Integers come in ascending order, words in that of their first use. Shapes: L lines, K names on
each.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain, count
from typing import NoReturn

import numpy as np

from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.lines import is_integer, is_number
from ecord_jax.graphs.io.table import Rows, Table, insist, try_table, value_fault

__all__ = ["are_integers", "are_words", "number_keys", "read_named"]

# What ends a word or a cell is not in it. Bytes that are no UTF-8 are surrogates here.
_INSIDE = r"[^\s,\"\x00-\x1f\ud800-\udfff]"
_WORD = re.compile(rf"(?![#%]){_INSIDE}+")
_CELL = re.compile(rf"{_WORD.pattern}( +{_INSIDE}+)*")
_STRANGE_BLANK = re.compile(r"[^\S \t\n]")
_TITLES = ("source", "target"), ("from", "to")


def read_named(
    source: Source, first_line: int, parts: Sequence[tuple[str, Rows]]
) -> tuple[Sequence[Hashable], list[Table]]:
    """Reads lines of names and values.

    Args:
      source: the file, for messages.
      first_line: the number of each body's first line.
      parts: bodies, each empty where the others have lines, and what their lines look like.

    Returns:
      The names, and for each part a table whose keys are places in the names.

    Raises:
      GraphFileError: names the first line that is not as it should be.
    """
    tables = [try_table(body, rows) for body, rows in parts]
    if any(table is None for table in tables) and _has_words(parts):
        return _read_words(source, first_line, parts)
    read = [
        insist(source, body, first_line, rows, table)
        for (body, rows), table in zip(parts, tables, strict=True)
    ]
    names, places = number_keys([table.keys for table in read])
    return names, [table._replace(keys=k) for table, k in zip(read, places, strict=True)]


def are_integers(names: Iterable[Hashable]) -> bool:
    """Whether all names are integers from 0 on that fit 64 bits."""
    if isinstance(names, range):
        return not names or min(names[0], names[-1]) >= 0
    return all(type(name) is int and 0 <= name < 2**63 for name in names)


def are_words(names: Iterable[Hashable], separator: str | None = None) -> bool:
    """Whether all names are texts that read back as they are.

    Args:
      names: of vertices or variables.
      separator: "," for cells, which may have blanks in them; None for words.
    """
    found = set(names)
    if any(found.issuperset(titles) for titles in _TITLES):
        return False
    return all(isinstance(name, str) and _is_word(name, separator) for name in found)


def _is_word(text: str, separator: str | None) -> bool:
    pattern = _WORD if separator is None else _CELL
    return pattern.fullmatch(text) is not None and not is_number(text)


def number_keys(keys: Sequence[np.ndarray]) -> tuple[Sequence[int], list[np.ndarray]]:
    """Gives the different integers, ascending, and the places in them of each of `keys`."""
    found, places = np.unique(np.concatenate([k.ravel() for k in keys]), return_inverse=True)
    names: Sequence[int] = tuple(found.tolist())
    if found.size and found[-1] - found[0] == found.size - 1:
        names = range(int(found[0]), int(found[-1]) + 1)
    parts = np.split(places.astype(np.int64), np.cumsum([k.size for k in keys])[:-1])
    return names, [part.reshape(k.shape) for part, k in zip(parts, keys, strict=True)]


def _has_words(parts: Sequence[tuple[str, Rows]]) -> bool:
    """Whether the first name of a part, where it has any, is no number."""
    for body, rows in parts:
        first = re.search(r"[^ \t\n].*", body)
        if first and not is_number(rows.split(first[0])[0]):
            return True
    return False


def _read_words(
    source: Source, first_line: int, parts: Sequence[tuple[str, Rows]]
) -> tuple[Sequence[str], list[Table]]:
    """The same where names are words."""
    index: defaultdict[str, int] = defaultdict(count().__next__)  # numbers what it has not seen
    tables = []
    for body, rows in parts:
        lines = [line for line in body.split("\n") if line.strip(" \t")]
        cells, width = _split(lines, rows)
        if width not in rows.columns:
            _blame(source, first_line, parts)
        words = chain.from_iterable(zip(*(cells[k::width] for k in range(rows.keys)), strict=True))
        places = np.fromiter(map(index.__getitem__, words), np.int64, len(lines) * rows.keys)
        values = _values(cells[rows.keys :: width], rows) if width > rows.keys else None
        if width > rows.keys and values is None:
            _blame(source, first_line, parts)
        table = Table(places.reshape(-1, rows.keys), values)
        tables.append(insist(source, body, first_line, rows, table))
    names = tuple(index)
    if not all(_is_word(name, parts[0][1].separator) for name in names) or names[:2] in _TITLES:
        _blame(source, first_line, parts)
    return names, tables


def _split(lines: Sequence[str], rows: Rows) -> tuple[list[str], int]:
    """Splits lines into cells.

    Returns:
      The cells of all lines, and how many there are on each line; no cells and 0 where lines differ
      or have a blank that is none of ours.
    """
    text = "\n".join(lines)
    if not lines:
        return [], max(rows.columns)
    if rows.separator is None:
        widths, cells = set(map(len, map(str.split, lines))), text.split()
    else:
        widths = {line.count(rows.separator) + 1 for line in lines}
        cells = list(map(str.strip, text.replace("\n", rows.separator).split(rows.separator)))
    if len(widths) > 1 or _STRANGE_BLANK.search(text):
        return [], 0
    return cells, widths.pop()


def _values(cells: Sequence[str], rows: Rows) -> np.ndarray | None:
    one = dataclasses.replace(rows, keys=0, columns=(1,), separator=None)
    table = try_table("\n".join(cells), one)
    return None if table is None else table.values


def _blame(source: Source, first_line: int, parts: Sequence[tuple[str, Rows]]) -> NoReturn:
    """Raises the error that names the first line that is not as it should be."""
    for body, rows in parts:
        columns = None
        has_floats = any(not is_integer(cell) for cell in _last_cells(body, rows))
        for number, line in enumerate(body.split("\n"), first_line):
            tokens = rows.split(line)
            columns = columns or len(tokens)
            fault = _fault(tokens, columns, rows, has_floats) if tokens else None
            if fault:
                raise source.error(fault[0], line=number, expected=fault[1])
    raise source.error("the lines cannot be read", expected=parts[0][1].line)


def _fault(
    tokens: Sequence[str], columns: int, rows: Rows, has_floats: bool
) -> tuple[str, str] | None:
    """Says what is wrong with a line and what was expected, or None for a good one."""
    wrong = [token for token in tokens[: rows.keys] if not _is_word(token, rows.separator)]
    if len(tokens) != columns or columns not in rows.columns:
        return f"{len(tokens)} columns", rows.line
    if tuple(tokens[:2]) in _TITLES:
        return "this looks like titles of columns", "no such line"
    if wrong and is_number(wrong[0]):
        return f"{wrong[0]!r} is a number, others are words", "one or the other"
    if wrong:
        return f"{wrong[0]!r} cannot be a {rows.key}", rows.line
    return value_fault(tokens[-1], rows, has_floats) if columns > rows.keys else None


def _last_cells(body: str, rows: Rows) -> Iterable[str]:
    return (cells[-1] for cells in map(rows.split, body.split("\n")) if cells)
