"""Random numbers that are the same everywhere: on any machine, with any version of numpy.

numpy keeps the integers of its bit generators and of `SeedSequence` for good, but not what a
`Generator` makes of them (NEP 19); and log, exp and pow differ in their last digit between
platforms. So everything here is made of PCG64's integers by operations that IEEE 754 fixes to the
last bit: + - * / and square root.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ecord_jax.errors import OptionError

__all__ = ["Draws", "check_integer", "exact_log", "exact_power"]

# ln 2 in two parts, so that small multiples of the first are exact.
_LN2_HIGH, _LN2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
_CHUNK = 4096


class Draws:
    """A stream of random numbers; each call takes the next ones.

    Args:
      seed: an integer of at least 0; or a `numpy.random.Generator`, which is advanced by four
        draws, so that what is made of it next differs.

    Raises:
      OptionError: for a seed of another type or below 0.
    """

    def __init__(self, seed: int | np.random.Generator) -> None:
        if isinstance(seed, np.random.Generator):
            seed_bits = [int(word) for word in seed.bit_generator.random_raw(4)]
        else:
            seed_bits = [check_integer("seed", seed, 0)]
        self._bits = np.random.PCG64(np.random.SeedSequence(seed_bits))

    def raw(self, count: int) -> np.ndarray:
        """uint64 [count], all 64 bits random."""
        return self._bits.random_raw(count)

    def uniform(self, count: int) -> np.ndarray:
        """float64 [count], multiples of 2**-53 in [0, 1)."""
        return (self.raw(count) >> np.uint64(11)) * 2.0**-53

    def uniforms(self) -> Iterator[float]:
        """The same one by one without end, for loops in Python; taken in chunks."""
        while True:
            yield from self.uniform(_CHUNK).tolist()

    def below(self, limit: int, count: int) -> np.ndarray:
        """int64 [count] in 0..limit-1; chances differ by less than limit / 2**53."""
        return (self.uniform(count) * limit).astype(np.int64)

    def signs(self, count: int) -> np.ndarray:
        """int64 [count], -1 or 1."""
        return 1 - 2 * (self.raw(count) >> np.uint64(63)).astype(np.int64)

    def permutation(self, count: int) -> np.ndarray:
        """int64 [count], 0..count-1 in random order."""
        return np.argsort(self.raw(count), kind="stable").astype(np.int64)

    def gaussian(self, count: int) -> np.ndarray:
        """float64 [count], mean 0 and variance 1; Marsaglia's polar method."""
        pairs, missing = [np.zeros((0, 2))], count
        while missing > 0:
            points = self.uniform(2 * (missing // 2 + missing // 4 + 8)).reshape(-1, 2) * 2 - 1
            square = points[:, 0] * points[:, 0] + points[:, 1] * points[:, 1]
            inside = (square > 0) & (square < 1)
            points, square = points[inside], square[inside]
            pairs.append(points * np.sqrt(-2 * exact_log(square) / square)[:, None])
            missing -= 2 * len(points)
        return np.concatenate(pairs).ravel()[:count]


def exact_log(x: np.ndarray) -> np.ndarray:
    """Natural logarithm of positive normal floats [...], within two units of the last digit."""
    mantissa, exponent = np.frexp(x)
    small = mantissa < 0.7071067811865476
    mantissa = np.where(small, 2 * mantissa, mantissa)  # 0.707..1.414, so that |z| <= 0.172
    exponent = exponent - small
    z = (mantissa - 1) / (mantissa + 1)
    square, series = z * z, np.zeros_like(z)
    for k in range(21, 0, -2):  # log m = 2 artanh z
        series = series * square + 1 / k
    return 2 * z * series + exponent * _LN2_LOW + exponent * _LN2_HIGH


def exact_power(base: np.ndarray, exponent: float) -> np.ndarray:
    """`base**exponent` for bases [...] in [0, 1] and an exponent above 0, about 15 digits."""
    x = exponent * exact_log(np.maximum(base, 1e-300))
    x = np.maximum(x, -700.0)  # below, the result is nothing beside 1
    turns = np.rint(x * 1.4426950408889634)
    rest = (x - turns * _LN2_HIGH) - turns * _LN2_LOW  # |rest| <= 0.347
    series = np.ones_like(rest)
    for k in range(14, 0, -1):  # exp by its series
        series = series * (rest / k) + 1
    return np.ldexp(series, turns.astype(np.int64))


def check_integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Gives an integer argument as Python's int.

    Raises:
      OptionError: where it is no integer or out of least..most.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise OptionError(f"{name}={value!r} must be an integer")
    if value < least:
        raise OptionError(f"{name}={value} must be at least {least}")
    if most is not None and value > most:
        raise OptionError(f"{name}={value} must be at most {most}")
    return int(value)
