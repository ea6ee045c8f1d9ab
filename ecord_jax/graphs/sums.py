"""Sums that are not rounded before the end, of integers of any size and of floats.

Shapes: M terms.
"""

from __future__ import annotations

import math
import numbers
import reprlib
from collections.abc import Iterable
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ecord_jax.errors import EcordError
from ecord_jax.graphs.edges import exact_sum

__all__ = ["MAX_INTEGRAL_FLOAT", "ExactSum", "as_number", "round_outwards"]

# Up to here every integer is a float64 of its own, so a float holding one means that integer.
MAX_INTEGRAL_FLOAT = 2**53


class ExactSum(NamedTuple):
    """A sum that is not rounded yet: that of an integer and of floats.

    Attributes:
      whole: what the integers sum to.
      floats: the others.
      is_integer: whether there are no others.
    """

    whole: int
    floats: list[float]
    is_integer: bool

    @classmethod
    def of(cls, terms: Iterable[tuple[np.ndarray, np.ndarray]], offset: int | float) -> ExactSum:
        """Sums coefficients times signs, and an offset.

        Args:
          terms: pairs of coefficients, int64 or float64 [M], and int8 signs [M], each -1, 0 or 1.
          offset: finite.
        """
        is_integer = isinstance(offset, int)
        whole = int(offset) if is_integer else 0
        floats = [] if is_integer else [float(offset)]
        for values, signs in terms:
            if values.dtype.kind == "i":  # not multiplied: -2**63 has no opposite
                whole += int(exact_sum(values[signs > 0]) - exact_sum(values[signs < 0]))
            else:
                is_integer = False
                floats += (values * signs)[signs != 0].tolist()
        return cls(whole, floats, is_integer)

    @property
    def rounded(self) -> int | float:
        """The sum: a Python int of integers, else the float nearest to it.

        Raises:
          EcordError: where that is beyond the largest float64.
        """
        return self.whole if self.is_integer else _fsum([*self.floats, *_split(self.whole)])

    @property
    def exact(self) -> Fraction:
        """The sum itself; raises EcordError where its floats alone sum beyond float64."""
        total = Fraction(self.whole)
        parts: list[float] = []
        # What fsum rounds away is below half a unit in the last place: a few turns leave nothing.
        while part := _fsum(chain(self.floats, (-p for p in parts))):
            parts.append(part)
            total += Fraction(part)
        return total


def as_number(value: Any, what: str) -> int | float:
    """Checks one number: an int, of any size, where it is an integer, else a float.

    Args:
      value: a number; a float that holds an integer of up to 53 bits counts as one.
      what: what a message calls it.

    Raises:
      EcordError: where it is no finite number.
    """
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    if isinstance(value, numbers.Integral):
        return int(value)
    try:
        number = float(value) if isinstance(value, numbers.Real) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise EcordError(f"{what} must be a finite number; got {reprlib.repr(value)}")
    exact = number.is_integer() and abs(number) <= MAX_INTEGRAL_FLOAT
    return int(number) if exact else number


def round_outwards(value: Fraction, upwards: bool) -> float:
    """The float nearest to a number that is not below it, or not above it.

    Raises:
      EcordError: where it is beyond the largest float64.
    """
    try:
        nearest = float(value)
    except OverflowError:
        raise EcordError("the objective is beyond the largest float64") from None
    if upwards and nearest < value:
        return math.nextafter(nearest, math.inf)
    return math.nextafter(nearest, -math.inf) if not upwards and nearest > value else nearest


def _fsum(values: Iterable[float]) -> float:
    try:
        return math.fsum(values)
    except OverflowError:
        raise EcordError("the objective is beyond the largest float64") from None


def _split(whole: int) -> list[float]:
    """Floats whose sum is an integer, exactly."""
    parts = []
    while whole:
        try:
            parts.append(float(whole))
        except OverflowError:
            raise EcordError("the objective is beyond the largest float64") from None
        whole -= int(parts[-1])
    return parts
