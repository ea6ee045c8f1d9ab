"""The vertex-flipping environment of Max-Cut: see `ecord_jax.env.maxcut` for its specification."""

from ecord_jax.env.maxcut import (
    observe,
    observe_global,
    observe_vertices,
    reset,
    step,
    step_and_look,
)
from ecord_jax.env.types import SCALINGS, Observation, Scaling, State, vertex_features

__all__ = [
    "SCALINGS",
    "Observation",
    "Scaling",
    "State",
    "observe",
    "observe_global",
    "observe_vertices",
    "reset",
    "step",
    "step_and_look",
    "vertex_features",
]
