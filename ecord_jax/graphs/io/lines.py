"""Lines of text: headers, comments, and the numbers in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ecord_jax.graphs.edges import MAX_VERTICES
from ecord_jax.graphs.io.files import Source

__all__ = [
    "Header",
    "blank_out",
    "check_count",
    "count_columns",
    "counts_header",
    "empty_others",
    "find_header",
    "is_integer",
    "is_number",
    "line_of",
    "parse_counts",
    "parse_number",
    "split_blanks",
    "to_int",
    "written",
]

_BLANKS = re.compile(r"[ \t]+")
_FLOAT_CHARACTER = re.compile(r"[.eE]")
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}", re.ASCII)
# No two parts of it match the same digits: that would take quadratic time where it does not match.
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_BLANK, _TAB, _NEWLINE = b" \t\n"


class Header(NamedTuple):
    """The first line that says something.

    Attributes:
      text: the line without blanks around it; empty where there is none.
      line: its 1-based number.
      body: the text after it.
    """

    text: str
    line: int
    body: str


def find_header(text: str, comments: tuple[str, ...]) -> Header:
    """Finds the first line that is neither blank nor begins with one of `comments`."""
    start, number = 0, 1
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end].strip(" \t")
        if line and not line.startswith(comments):
            return Header(line, number, text[end + 1 :])
        start, number = end + 1, number + 1
    return Header("", number, "")


def blank_out(text: str, comments: tuple[str, ...]) -> str:
    """Empties the lines that begin with one of some characters; the lines themselves stay."""
    if not any(mark in text for mark in comments):
        return text
    marks = re.escape("".join(comments))
    return re.sub(rf"^[ \t]*[{marks}].*$", "", text, flags=re.MULTILINE)


def count_columns(text: str) -> tuple[int, np.ndarray]:
    """Counts the words of each line, between blanks and tabs.

    Returns:
      How many there are in all, and on each of the lines, int64 [L].
    """
    data = _bytes_of(text)
    inside = (data != _BLANK) & (data != _TAB) & (data != _NEWLINE)
    inside[1:] &= ~inside[:-1]
    starts = np.flatnonzero(inside)
    before = np.searchsorted(starts, np.flatnonzero(data == _NEWLINE))
    return starts.size, np.diff(before, prepend=0, append=starts.size)


def empty_others(text: str, kept: np.ndarray) -> str:
    """Empties the lines, bool [L], that are not kept; the lines themselves stay."""
    data = _bytes_of(text)
    ends = np.append(np.flatnonzero(data == _NEWLINE), data.size)
    chosen = np.repeat(kept, np.diff(ends, prepend=-1))[: data.size]  # the last line has no end
    return data[chosen | (data == _NEWLINE)].tobytes().decode("utf-8", "surrogateescape")


def split_blanks(line: str) -> list[str]:
    """The words of a line that has blanks and tabs between them."""
    line = line.strip(" \t")
    return _BLANKS.split(line) if line else []


def is_integer(token: str) -> bool:
    return _INTEGER.fullmatch(token) is not None


def is_number(token: str) -> bool:
    return _NUMBER.fullmatch(token) is not None


def parse_counts(tokens: Sequence[str]) -> list[int] | None:
    """Reads numbers of things.

    Returns:
      As many integers, or None where one is no integer or negative.
    """
    if not all(_INTEGER.fullmatch(token) for token in tokens):
        return None
    counts = [int(token) for token in tokens]
    return None if min(counts, default=0) < 0 else counts


def parse_number(token: str) -> int | float | None:
    """Reads one number: an int, of any size up to that of a float, where it has no point.

    Returns:
      The number, or None where it is none, or not finite.
    """
    if not is_number(token) or not np.isfinite(float(token)):
        return None
    return float(token) if _FLOAT_CHARACTER.search(token) else to_int(token)


def to_int(token: str) -> int:
    """An integer without its zeros: Python refuses to convert more than some thousand digits."""
    sign = "-" if token.startswith("-") else ""
    return int(f"{sign}{token.lstrip('+-0') or 0}")


def written(values: np.ndarray) -> list[str]:
    """Gives numbers, int64 or float64, in the shortest digits that read back as they are."""
    return list(map(repr, values.tolist()))


def _bytes_of(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-8", "surrogateescape"), np.uint8)


def counts_header(
    source: Source, header: Header, tokens: Sequence[str], expected: str
) -> list[int]:
    """Reads a header that is made of numbers of things, vertices first.

    Args:
      source: the file, for messages.
      header: the line, for messages.
      tokens: the numbers in it.
      expected: what it should have been.

    Raises:
      GraphFileError: where one is no integer or negative, or there are too many vertices.
    """
    counts = parse_counts(tokens)
    if counts is None:
        raise source.error("bad header", line=header.line, expected=expected)
    if counts[0] > MAX_VERTICES:
        raise source.error(
            "bad header", line=header.line, expected=f"no more than {MAX_VERTICES} vertices"
        )
    return counts


def check_count(source: Source, line: int, claimed: int, found: int, what: str = "edges") -> None:
    """Refuses a file whose header says another number of edges than there are."""
    if found != claimed:
        raise source.error(f"the header says {claimed} {what}, the file has {found}", line=line)


def line_of(body: str, first_line: int, row: int) -> int:
    """Gives the number of the line that a row of a table is from.

    Args:
      body: what the table was read from.
      first_line: the number of its first line.
      row: 0-based; blank lines are none.
    """
    for number, line in enumerate(body.split("\n"), first_line):
        if line.strip(" \t"):
            row -= 1
        if row < 0:
            return number
    raise IndexError(row)
