"""The vertex-flipping environment of Max-Cut: see `ecord_jax.env.maxcut` for its specification."""

from ecord_jax.env.maxcut import (
    observe,
    observe_global,
    observe_vertices,
    reset,
    step,
    step_and_look,
)
from ecord_jax.env.types import (
    SCALINGS,
    UNLIMITED,
    Observation,
    Scaling,
    State,
    sees_budget,
    vertex_features,
)

__all__ = [
    "SCALINGS",
    "UNLIMITED",
    "Observation",
    "Scaling",
    "State",
    "observe",
    "observe_global",
    "observe_vertices",
    "reset",
    "sees_budget",
    "step",
    "step_and_look",
    "vertex_features",
]
