"""States and observations of the environment. Shape letters: N padded vertices, F features."""

from __future__ import annotations

from typing import Literal, get_args

import jax
import jax.numpy as jnp
from flax import struct

__all__ = ["SCALINGS", "TIME_SCALES", "Observation", "Scaling", "State", "vertex_features"]

Scaling = Literal["paper", "scale_free"]
SCALINGS: tuple[Scaling, ...] = get_args(Scaling)

# Fractions of |V| at which the time features of `scale_free` saturate. A good tabu tenure is
# |V|/20 to |V|/10, so the scales surround that.
TIME_SCALES = (0.01, 0.03, 0.1, 0.3)


@struct.dataclass
class State:
    """One trajectory.

    Attributes:
        labels: int8 [N], side of each vertex, 0 or 1 (padding: 0).
        peeks: float32 [N], change of the cut if the vertex were flipped.
        last_flip: int32 [N], step at which the vertex was last flipped, `NEVER` before that.
        step: int32 [], flips done since `reset`.
        cut: float32 [], current cut in device units.
        best_cut: float32 [], largest cut met since `reset`.
        best_step: int32 [], step at which `best_cut` was first met. Together with the actions taken
            it gives the best labels back; they are never copied.
    """

    labels: jax.Array
    peeks: jax.Array
    last_flip: jax.Array
    step: jax.Array
    cut: jax.Array
    best_cut: jax.Array
    best_step: jax.Array


@struct.dataclass
class Observation:
    """What the agent sees of a state.

    Attributes:
        features: F arrays float32 [N] (`vertex_features(scaling)` of them): label, peek, times.
        globals: float32 [2], distance of the cut from the best one, and the largest peek.
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
    """Number F of per-vertex features: 3 in the paper, 2 + len(TIME_SCALES) scale-free."""
    return 3 if scaling == "paper" else 2 + len(TIME_SCALES)
