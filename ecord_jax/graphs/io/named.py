"""Lines that name vertices or variables, where a format neither lists nor counts them.

All names of a file are integers from 0 on, or all are words: no blanks in them, and no numbers.
Integers come in ascending order, words in that of their first use. Shapes: L lines, K names on
each.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import NoReturn

import numpy as np

from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.table import (
    Rows,
    Table,
    insist,
    is_integer,
    is_number,
    try_table,
    value_fault,
)

__all__ = ["are_integers", "are_words", "number_keys", "read_named"]

# What ends a word or a cell is not in it. Bytes that are no UTF-8 are surrogates here.
_WORD = re.compile(r"[^\s,\"#%\x00-\x1f\ud800-\udfff][^\s,\"\x00-\x1f\ud800-\udfff]*")
_CELL = re.compile(r"[^\s,\"#%\x00-\x1f\ud800-\udfff]([^,\"\x00-\x1f\ud800-\udfff]*[^\s,\"])?")
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
        split = [_split(source, first_line, body, rows) for body, rows in parts]
        rows_of_words = (zip(*words, strict=True) for words, _ in split)
        found = tuple(dict.fromkeys(chain.from_iterable(chain.from_iterable(rows_of_words))))
        index = {word: i for i, word in enumerate(found)}
        return found, [Table(_places(words, index), values) for words, values in split]
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
    return all(isinstance(name, str) and _is_word(name, separator) for name in names)


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


def _places(words: Sequence[Sequence[str]], index: Mapping[str, int]) -> np.ndarray:
    """Looks words up, [K] lists of [L]; int64 [L, K]."""
    columns = [np.fromiter(map(index.__getitem__, w), np.int64, len(w)) for w in words]
    return np.stack(columns, axis=1)


def _has_words(parts: Sequence[tuple[str, Rows]]) -> bool:
    """Whether the first name of a part, where it has any, is no number."""
    for body, rows in parts:
        first = re.search(r"[^ \t\n].*", body)
        if first and not is_number(rows.split(first[0])[0]):
            return True
    return False


def _split(
    source: Source, first_line: int, body: str, rows: Rows
) -> tuple[list[list[str]], np.ndarray | None]:
    """Splits lines that begin with words.

    Returns:
      K lists of words [L], and the values of the lines [L] if they have any.
    """
    lines = [line for line in body.split("\n") if line.strip(" \t")]
    if not lines:
        return [[]] * rows.keys, None if rows.keys in rows.columns else np.zeros(0, np.int64)
    text = "\n".join(lines)
    if rows.separator is None:
        widths, cells = set(map(len, map(str.split, lines))), text.split()
    else:
        widths = {line.count(rows.separator) + 1 for line in lines}
        cells = list(map(str.strip, text.replace("\n", rows.separator).split(rows.separator)))
    width = min(widths)
    words = [cells[k::width] for k in range(rows.keys)]
    values = None
    if width > rows.keys:
        one = dataclasses.replace(rows, keys=0, columns=(1,), separator=None)
        values = try_table("\n".join(cells[rows.keys :: width]), one)
    good = (
        widths <= {*rows.columns}
        and len(widths) < 2
        and not _STRANGE_BLANK.search(text)
        and all(_is_word(word, rows.separator) for word in set().union(*words))
        and tuple(cells[:2]) not in _TITLES
        and (width == rows.keys or values is not None)
    )
    if not good:
        _blame(source, first_line, body, rows)
    if values is None:
        return words, None
    table = Table(np.zeros((0, rows.keys), np.int64), values.values)
    return words, insist(source, body, first_line, rows, table).values


def _blame(source: Source, first_line: int, body: str, rows: Rows) -> NoReturn:
    """Raises the error that names the first line that is not as it should be."""
    columns = None
    has_floats = any(not is_integer(cell) for cell in _last_cells(body, rows))
    for number, line in enumerate(body.split("\n"), first_line):
        tokens = rows.split(line)
        if not tokens:
            continue
        columns = columns or len(tokens)
        wrong = [t for t in tokens[: rows.keys] if not _is_word(t, rows.separator)]
        cause, expected = None, rows.line
        if len(tokens) != columns or columns not in rows.columns:
            cause = f"{len(tokens)} columns"
        elif tuple(tokens[:2]) in _TITLES:
            cause, expected = "this looks like titles of columns", "no such line"
        elif wrong and is_number(wrong[0]):
            cause, expected = f"{wrong[0]!r} is a number, others are words", "one or the other"
        elif wrong:
            cause = f"{wrong[0]!r} cannot be a {rows.key}"
        elif columns > rows.keys:
            cause, expected = value_fault(tokens[-1], rows, has_floats) or (None, rows.line)
        if cause:
            raise source.error(cause, line=number, expected=expected)
    raise source.error("the lines cannot be read", expected=rows.line)


def _last_cells(body: str, rows: Rows) -> Iterable[str]:
    return (cells[-1] for cells in map(rows.split, body.split("\n")) if cells)
