"""Values of the variables of a problem, as a user gives them."""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ecord_jax.errors import EcordError

__all__ = ["check_values"]


def check_values(values: Any, names: Sequence[Hashable], lowest: int) -> np.ndarray:
    """Checks values of N variables.

    Args:
      values: [N] integers or booleans in the order of the names, or {name: integer}.
      names: [N] of the variables.
      lowest: the value that a variable may have beside 1: 0 or -1.

    Returns:
      The same as int8 [N].

    Raises:
      EcordError: for values of another length, type or range, or names that do not match.
    """
    if isinstance(values, Mapping):
        values = _in_order(values, names)
    try:
        array = np.asarray(values)
    except ValueError:
        raise EcordError("values must be a flat list of integers") from None
    if array.shape != (len(names),):
        raise EcordError(f"values must have shape ({len(names)},); got {array.shape}")
    if array.size and array.dtype.kind not in "biu":
        raise EcordError(f"values must be integers; got {array.dtype}")
    bad = np.flatnonzero((array != lowest) & (array != 1))
    if bad.size:
        name = reprlib.repr(names[bad[0]])
        raise EcordError(f"values must be {lowest} or 1; that of {name} is {array[bad[0]]}")
    return array.astype(np.int8)


def _in_order(values: Mapping[Any, Any], names: Sequence[Hashable]) -> list[Any]:
    """Values by name, as a list."""
    wrong = [name for name in names if name not in values]
    wrong += [] if wrong else list(values.keys() - set(names))
    if wrong:
        name = reprlib.repr(wrong[0])
        raise EcordError(f"values must name each variable once; {name} is missing or unknown")
    return [values[name] for name in names]
