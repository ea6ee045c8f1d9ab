"""States and observations of the environment.

Shape letters: N padded vertices, F features of a vertex, G global ones.
"""

from __future__ import annotations

from typing import Literal, get_args

import jax
import jax.numpy as jnp
from flax import struct

__all__ = [
    "SCALINGS",
    "TIME_SCALES",
    "UNLIMITED",
    "Observation",
    "Scaling",
    "State",
    "sees_budget",
    "vertex_features",
]

Scaling = Literal["paper", "one_time", "scale_free", "budget", "long"]
SCALINGS: tuple[Scaling, ...] = get_args(Scaling)

# Fractions of |V| at which the time features saturate. A good tabu tenure is |V|/20 to |V|/10, so
# the scales surround that. The loop of `ecord_jax.search.incremental_walk` has room for four.
_SCALES = (0.01, 0.03, 0.1, 0.3)
TIME_SCALES: dict[Scaling, tuple[float, ...]] = {
    "one_time": (0.1,),
    "scale_free": _SCALES,
    "budget": _SCALES,
    "long": (0.01, 0.06, 0.3, 1.5),
}
UNLIMITED = 1 << 30  # flips of an episode whose end nobody knows


@struct.dataclass
class State:
    """One trajectory.

    Attributes:
        labels: int8 [N], side of each vertex, 0 or 1 (padding: 0).
        peeks: float32 [N], change of the cut if the vertex were flipped.
        last_flip: int32 [N], step at which the vertex was last flipped, `NEVER` before that.
        step: int32 [], flips done since `reset`.
        budget: int32 [], flips of the whole episode.
        cut: float32 [], current cut in device units.
        best_cut: float32 [], largest cut met since `reset`.
        best_step: int32 [], step at which `best_cut` was first met. Together with the actions taken
            it gives the best labels back; they are never copied.
    """

    labels: jax.Array
    peeks: jax.Array
    last_flip: jax.Array
    step: jax.Array
    budget: jax.Array
    cut: jax.Array
    best_cut: jax.Array
    best_step: jax.Array


@struct.dataclass
class Observation:
    """What the agent sees of a state.

    Attributes:
        features: F arrays float32 [N] (`vertex_features(scaling)` of them): label, peek, times.
        globals: float32 [G], distance of the cut from the best one, and the largest peek; with
            `sees_budget` also progress and horizon.
        mask: bool [N], false for padding.
    """

    features: tuple[jax.Array, ...]
    globals: jax.Array
    mask: jax.Array

    @property
    def vertex(self) -> jax.Array:
        """float32 [N, F], the features as the plain network takes them."""
        return jnp.stack(self.features, axis=-1)


def vertex_features(scaling: Scaling) -> int:
    """Number F of per-vertex features: label, peek, and one in the paper or several times."""
    return 3 if scaling == "paper" else 2 + len(TIME_SCALES[scaling])


def sees_budget(scaling: Scaling) -> bool:
    """Whether progress and horizon are observed."""
    return scaling in ("budget", "long")
