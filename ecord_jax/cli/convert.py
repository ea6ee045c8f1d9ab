"""Writes a graph, a QUBO or an Ising problem in another file format.

Usage: ecord-convert IN OUT [--from=FORMAT] [--to=FORMAT] [--zero_based] [--lossy]

Formats are told by the content of IN and the suffixes of both; docs/formats.md lists them. "-" is
standard input or output. Names, constants and exact integers are kept; what the format of OUT
cannot carry is an error, unless --lossy leaves it out. Exit status: 0, or 2 for a bad file or flag.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from absl import flags

from ecord_jax.cli import common
from ecord_jax.cli.output import write_whole
from ecord_jax.errors import GraphFileError
from ecord_jax.graphs.io.files import STANDARD, write_text
from ecord_jax.graphs.io.formats import FORMATS, encode, read_any

__all__ = ["entry", "main"]

_PROGRAM = "ecord-convert"
_FLAGS = flags.FlagValues()
_FROM = flags.DEFINE_enum(
    "from", None, list(FORMATS), "The format of IN; told by the file.", flag_values=_FLAGS
)
_TO = flags.DEFINE_enum(
    "to", None, list(FORMATS), "The format of OUT; told by its suffix.", flag_values=_FLAGS
)
_ZERO_BASED = flags.DEFINE_boolean(
    "zero_based", False, "IN counts from 0, though its format does from 1.", flag_values=_FLAGS
)
_LOSSY = flags.DEFINE_boolean(
    "lossy", False, "Leave out what the format of OUT cannot carry.", flag_values=_FLAGS
)


def main(argv: Sequence[str]) -> None:
    source, target = common.positionals(argv, "IN", "OUT")
    item = read_any(source, _FROM.value, zero_based=_ZERO_BASED.value)

    content = encode(target, item, _TO.value, lossy=_LOSSY.value)
    if target == STANDARD:
        write_text(target, content)
        return
    try:
        write_whole(target, lambda path: write_text(path, content))
    except GraphFileError as error:
        _, cause = error.args
        raise GraphFileError(target, cause) from None  # not that of the unfinished file


def entry() -> NoReturn:
    """What the installed program calls."""
    common.run(main, _FLAGS, program=_PROGRAM)


if __name__ == "__main__":
    entry()
