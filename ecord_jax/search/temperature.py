"""Temperatures of a search: one a trajectory, and how "auto" adapts it on the way.

An agent of the paper makes better cuts the warmer it is, up to a temperature at which it melts: it
falls far below its best cut, sees observations that it was never trained on, and hardly comes back.
Where that is depends on the graph, its size and the length of the search: at mean degree 2 three
times as high as at 5, at 10 000 vertices half of what it is at 1 000. So "auto" warms a trajectory
slowly as long as it is near its best cut, and cools it quickly where it begins to fall.

Shape letters: B trajectories.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from ecord_jax.errors import OptionError
from ecord_jax.networks.config import EcordConfig

__all__ = ["ADAPTS_A_SWEEP", "NEAR", "adapt", "ladder", "to_adapt"]

ADAPTS_A_SWEEP = 80  # times in |V| flips
NEAR = 0.003  # of s |V|: so far below its best cut a trajectory still is near it
_WARMING, _COOLING = 0.8, -28.0  # of log T, in |V| flips


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


def to_adapt(temperature: float | Sequence[float] | str, config: Any) -> bool:
    """Whether temperatures adapt: those of "auto", for an agent of the paper.

    Args:
        temperature: as `ladder` takes it.
        config: of the agent.
    """
    return isinstance(temperature, str) and isinstance(config, EcordConfig)


def adapt(temperature: ArrayLike, gap: ArrayLike, flips: ArrayLike, lowest: ArrayLike) -> jax.Array:
    """The temperature with which a trajectory goes on.

    Args:
        temperature: [...]; 0 stays 0 where it is the lowest.
        gap: [...], best cut minus cut, over s |V|, s the scale of local fields of
            `ecord_jax.graphs.arrays`.
        flips: since the last call, over |V|; more than one count as one.
        lowest: of all temperatures.

    Returns:
        [...].
    """
    rate = jnp.where(jnp.asarray(gap) <= NEAR, _WARMING, _COOLING)
    return jnp.maximum(temperature * jnp.exp(rate * jnp.minimum(flips, 1.0)), lowest)


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
