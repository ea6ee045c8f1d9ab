"""The vertex-flipping environment of Max-Cut: see `ecord_jax.env.maxcut` for its specification."""

from ecord_jax.env.maxcut import observe, observe_global, reset, step
from ecord_jax.env.types import SCALINGS, Observation, Scaling, State, vertex_features

__all__ = [
    "SCALINGS",
    "Observation",
    "Scaling",
    "State",
    "observe",
    "observe_global",
    "reset",
    "step",
    "vertex_features",
]
