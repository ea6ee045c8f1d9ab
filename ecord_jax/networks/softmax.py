"""Softmax over peeks: the policy without learning (SM D, "MCA-soft"; at temperature 0 "MCA").

It has the interface of `EcordNetwork`, so that the same rollout runs it on the same clock.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from flax import linen as nn

from ecord_jax.env.types import Observation, Scaling
from ecord_jax.graphs.arrays import GraphArrays

__all__ = ["SoftmaxConfig", "SoftmaxNetwork"]


@dataclass(frozen=True)
class SoftmaxConfig:
    """Attributes:
    scaling: unit of the temperature: the peek as observed in it.
    temperatures: (lowest, highest), see `EcordConfig`.
    """

    scaling: Scaling = "scale_free"
    temperatures: tuple[float, float] = (0.0, 0.0)


class SoftmaxNetwork(nn.Module):
    """Its Q-value of a vertex is the observed peek. No parameters, no memory."""

    config: SoftmaxConfig

    def encode(self, arrays: GraphArrays) -> tuple:
        """Nothing."""
        return ()

    def q_values(self, embeddings: tuple, observation: Observation, hidden: jax.Array) -> jax.Array:
        """float32 [N], -inf for padding."""
        return jnp.where(observation.mask, observation.features[1], -jnp.inf)
