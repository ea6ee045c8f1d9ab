"""Names and numbers in JSON. A name is anything that it has but an object; lists stand for tuples.

Integers stay exact.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ecord_jax.errors import EcordError
from ecord_jax.graphs.edges import as_weights
from ecord_jax.graphs.io.files import Source

__all__ = ["are_json", "from_json", "json_texts", "numbers_from_json"]

_NUMBERS = (int, float)
_MAX_DEPTH = 20  # of lists in a name
_PLAIN = {str, int, float, bool, type(None)}


def from_json(values: Sequence[Any]) -> Sequence[Hashable]:
    """Gives the names that JSON stands for; a range where they are numbers in a row.

    Raises:
      ValueError: says what cannot be a name.
    """
    types = set(map(type, values))
    if types == {int}:
        row = range(values[0], values[0] + len(values))
        return row if list(row) == values else tuple(values)
    return tuple(map(_to_name, values)) if not types <= _PLAIN else tuple(values)


def numbers_from_json(
    source: Source, values: Sequence[Any], name_of: Callable[[int], str]
) -> np.ndarray:
    """Makes an array of numbers.

    Args:
      source: the file, for messages.
      values: what JSON has.
      name_of: what a message calls a value, by its index.

    Returns:
      int64 where all of them are integers, else float64.

    Raises:
      GraphFileError: for what is no finite number or does not fit, and for an integer that would be
        rounded beside fractions.
    """
    types = set(map(type, values))
    wrong = None
    if not types <= {int, float}:
        wrong = next((i, "is no number") for i, v in enumerate(values) if type(v) not in _NUMBERS)
    elif len(types) == 2:
        rounded = (i for i, v in enumerate(values) if type(v) is int and _is_rounded(v))
        wrong = next(((i, "would be rounded beside fractions") for i in rounded), None)
    if wrong:
        index, cause = wrong
        raise source.error(f"{name_of(index)} {cause} (got {reprlib.repr(values[index])})")
    try:
        return as_weights(list(values))
    except EcordError as error:
        raise source.error(str(error)) from None


def are_json(names: Sequence[Hashable]) -> bool:
    """Whether all names read back from JSON as they are."""
    return isinstance(names, range) or all(map(_is_json, names))


def json_texts(names: Sequence[Hashable]) -> list[str]:
    """The names as JSON."""
    return list(map(str if isinstance(names, range) else json.dumps, names))


def _to_name(value: Any, depth: int = 0) -> Hashable:
    if isinstance(value, list):
        if depth == _MAX_DEPTH:
            raise ValueError("a name is nested too deep")
        return tuple(_to_name(part, depth + 1) for part in value)
    if isinstance(value, dict):
        raise ValueError("an object cannot be a name")
    return value


def _is_rounded(value: int) -> bool:
    try:
        return float(value) != value
    except OverflowError:
        return True


def _is_json(name: Any, depth: int = 0) -> bool:
    if type(name) is tuple:
        return depth < _MAX_DEPTH and all(_is_json(part, depth + 1) for part in name)
    if type(name) is float:
        return name - name == 0  # neither infinite nor nan
    if type(name) is int:
        return abs(name) < 2**64  # Python reads no more than some thousand digits
    return type(name) in _PLAIN
