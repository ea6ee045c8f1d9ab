"""Temperatures of a search: one a trajectory, and how those of "auto" adapt on the way.

An agent of the paper makes better cuts the warmer it is, up to a temperature at which it melts: it
falls far below its best cut, sees what it was never trained on, and does not come back however cold
it then is. Where that is depends on the graph, its size and the length of the search: at mean
degree 2 three times as high as at 5, at 5 000 vertices half of what it is at 1 000. So "auto" warms
each trajectory slowly, and one that has fallen goes back to its best labels, cooler.

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

__all__ = ["LEAST_SIZE", "adapt", "adapts", "ladder"]

# A fall of a few flips is none, however small the graph is.
LEAST_SIZE = 2000
_NEAR = 0.002  # of s |V|: who is further below the best cut has melted
_COLDEST = 1e-9  # so that none becomes 0
_WARMER = 0.25  # of log T, in |V| flips
_COOLER = 0.7


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


def adapts(temperature: float | Sequence[float] | str, config: Any) -> bool:
    """Whether temperatures adapt: those of "auto", for an agent of the paper that is not greedy.

    Args:
        temperature: as `ladder` takes it.
        config: of the agent.
    """
    if not isinstance(temperature, str) or not isinstance(config, EcordConfig):
        return False
    return config.temperatures[0] > 0


def adapt(temperature: ArrayLike, gap: ArrayLike, flips: ArrayLike) -> tuple[jax.Array, jax.Array]:
    """How trajectories go on after some flips.

    Args:
        temperature: [...].
        gap: [...], best cut minus cut, over s |V|, s the `field_scale` of
            `ecord_jax.graphs.arrays.GraphArrays`, |V| at least `LEAST_SIZE`.
        flips: over |V|, since the last call; more than one count as one.

    Returns:
        float [...], the temperature; bool [...], whether to go back to the best labels.
    """
    melted = jnp.asarray(gap) > _NEAR
    warmer = jnp.exp(_WARMER * jnp.minimum(flips, 1.0))
    after = jnp.asarray(temperature) * jnp.where(melted, _COOLER, warmer)
    return jnp.maximum(after, _COLDEST), melted


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
