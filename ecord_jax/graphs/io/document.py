"""Prints docs/formats.md: what is said of the formats by the code that reads and writes them.

python -m ecord_jax.graphs.io.document > docs/formats.md
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence

from ecord_jax.graphs.io.format import FAULTS, Format
from ecord_jax.graphs.io.formats import FORMATS

__all__ = ["document"]

_INTRODUCTION = """# File formats

Written by `python -m ecord_jax.graphs.io.document`, from the code that reads and writes the
formats.

`read_graph` and `read_problem` tell the format by what the file begins with; where that tells
nothing by the suffix; else a first line of two integers is the header of rudy text. `format=` (on
the command line `--format`, and `--from` and `--to` of `ecord-convert`) overrides that. What fits
no format, or does not agree with its own header, is an error of one line that names the file, the
line, what is there and what was expected. Nothing is repaired in silence: the last table says
what is an error and what is done with a warning that counts it.

Files compressed with gzip, bzip2 or xz are told by their first bytes; `-` is standard input. Text
is UTF-8, with or without a byte order mark; lines end with LF, CRLF or CR. Numbers are decimal:
integers are exact up to 64 bits, and a constant is of any size; other numbers are float64. An
integer that would be rounded because it stands beside fractions is an error. Files that count
from 0 although their format does from 1 are read with `zero_based` only; it is never guessed.
"""

_CARRIED = """
Writing refuses to lose anything; `lossy` (`--lossy`) leaves out what the format cannot carry,
with a warning for each kind of loss. Names that only count, from 0 or from 1, are no loss where a
format counts from 1. Formats that do not keep the order give integers in ascending order, and
words in the order of their first use. QUBO and Ising problems are minimised in all of these
formats; what is maximised is refused, or with `lossy` written as its opposite. A QUBO is written
as an Ising problem, and the other way round, where the format asks for it: x = (s + 1) / 2 is put
in, which makes a constant; fractions are rounded once.
"""

_NAMES = {
    "none": "no",
    "integers": "integers",
    "words": "integers or words",
    "cells": "integers or words, blanks in them too",
    "all": "any that JSON has",
}
_CARRIES = {
    "order": "order of vertices",
    "isolated": "vertices without edges",
    "weights": "weights",
    "large": "integers past 2^53",
    "mixtures": "those beside fractions",
    "offset": "constant",
}


def document() -> str:
    """The text of docs/formats.md."""
    told = _table(
        ("format", "what", "suffixes", "told by", "counts from", "read or written"),
        [_told(each) for each in FORMATS.values()],
    )
    carried = _table(
        ("format", "names", *_CARRIES.values()),
        [_carried(each) for each in FORMATS.values()],
    )
    meanings = _table(("fault", "meaning"), list(FAULTS.items()))
    faults = _table(("format", *FAULTS), [_faults(each) for each in FORMATS.values()])
    parts = [
        _INTRODUCTION,
        "## Which there are\n",
        told,
        "## What they carry\n" + _CARRIED,
        carried,
        "## What is done about faults\n\nA repair is counted in a warning. `-` cannot be.\n",
        meanings,
        faults,
        "## Each of them\n",
        *_described(),
    ]
    return "\n".join(parts)


def _told(each: Format) -> list[str]:
    holds = {"max-cut": "a graph", "qubo": "a QUBO", "ising": "an Ising problem"}
    kinds = " or ".join(holds[kind] for kind in each.kinds)
    return [
        f"`{each.name}`",
        f"{each.title}: {kinds}",
        " ".join(f"`{suffix}`" for suffix in each.suffixes),
        each.signature or "-",
        "1" if each.counted else "-",
        "both" if each.write else "read",
    ]


def _carried(each: Format) -> list[str]:
    marks = ["yes" if mark in each.carries else "no" for mark in _CARRIES]
    if each.is_graph:
        marks[-2:] = ["-", "-"]
    return [f"`{each.name}`", _NAMES[each.names], *marks]


def _faults(each: Format) -> list[str]:
    return [f"`{each.name}`", *(each.faults.get(fault, "-") for fault in FAULTS)]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _described() -> list[str]:
    """What each format's module says of itself; one may have several formats."""
    formats: dict[str, list[str]] = {}
    for each in FORMATS.values():
        reader = each.read.func if isinstance(each.read, functools.partial) else each.read
        formats.setdefault(reader.__module__, []).append(f"`{each.name}`")
    return [
        f"### {', '.join(names)}\n\n{(sys.modules[module].__doc__ or '').strip()}\n"
        for module, names in formats.items()
    ]


if __name__ == "__main__":
    print(document(), end="")
