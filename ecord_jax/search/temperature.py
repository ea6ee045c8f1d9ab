"""Temperatures of a search: one a trajectory. Shape letters: B trajectories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ecord_jax.errors import OptionError

__all__ = ["ladder"]


def ladder(
    temperature: float | Sequence[float] | str, trajectories: int, config: Any
) -> np.ndarray:
    """Spreads temperatures over trajectories.

    Args:
        temperature: a number, for all of them; a list, dealt out in turn (trajectory b gets entry
            b modulo its length); or "auto", a geometric ladder from the lowest to the highest of
            `config.temperatures`, the middle of it for a single trajectory.
        trajectories: B.
        config: of the agent; only its `temperatures` are looked at.

    Returns:
        float32 [B].

    Raises:
        OptionError: for a temperature that is not a finite number >= 0, or a list that is empty or
            longer than B.
    """
    if isinstance(temperature, str):
        if temperature != "auto":
            raise OptionError(f"temperature={temperature!r} is neither numbers nor 'auto'")
        low, high = config.temperatures
        return _geometric(low, high, trajectories)
    values = _checked(temperature)
    if len(values) > trajectories:
        raise OptionError(
            f"{len(values)} temperatures need as many trajectories, not {trajectories}"
        )
    return np.resize(values, trajectories).astype(np.float32)


def _geometric(low: float, high: float, trajectories: int) -> np.ndarray:
    """Even steps of the logarithm; those of a ladder that begins with 0 are even themselves."""
    if trajectories == 1:
        return np.full(1, math.sqrt(low * high) if low else high / 2, np.float32)
    spread = np.geomspace if low > 0 else np.linspace
    return spread(low, high, trajectories).astype(np.float32)


def _checked(temperature: Any) -> np.ndarray:
    """float64, at least one value."""
    try:
        values = np.atleast_1d(np.asarray(temperature, np.float64))
    except (TypeError, ValueError):
        raise OptionError(f"temperature={temperature!r} is neither numbers nor 'auto'") from None
    if values.ndim != 1 or not values.size:
        raise OptionError("temperature must be a number, a list of numbers or 'auto'")
    for value in values:
        if not 0 <= value < math.inf:
            raise OptionError(f"temperature={value:g} must be a finite number >= 0")
    return values
