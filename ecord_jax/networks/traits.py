"""What `swift` knows of a graph as a whole; its parameters are linear in these few numbers.

One policy for all graphs is a compromise: tied vertices want it warmer, dense graphs colder. The
numbers are 0 for a sparse graph of equal weights without ties, and about 1 where a trait is marked;
a row of parameters is what such a graph wants to be different. Shape letters: G traits, H
half-edges, N vertices.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["TRAITS", "graph_params", "graph_traits"]

TRAITS = ("base", "degree", "ties", "unevenness")

_SPARSE, _DENSER = 5.0, math.log(50.0)  # a mean degree, and how far above it a trait is 1
_SQUARE = 0.4  # ties of a square lattice
_LONG_TAIL = 1.5
_MOST = 2.0  # nothing was trained beyond


def graph_traits(owners: np.ndarray, weights: np.ndarray, num_vertices: int) -> np.ndarray:
    """Looks at a graph.

    Args:
        owners: int [H], an end of each half-edge.
        weights: [H], of a size that can be squared.
        num_vertices: N, at least 1.

    Returns:
        float64 [G], in the order of `TRAITS`: 1; the log of the mean degree over that of a sparse
        graph; how often a flip changes nothing, over how often on a square lattice; and the log of
        H sum w^2 / (sum |w|)^2, which is 0 where all weights are of one size.
    """
    sizes = np.abs(weights[weights != 0])
    if len(sizes) == 0:
        return np.array([1.0, 0.0, 0.0, 0.0])
    denser = math.log(len(weights) / num_vertices / _SPARSE) / _DENSER
    uneven = math.log(len(sizes) * float((sizes**2).sum()) / float(sizes.sum()) ** 2)
    ties = _tie_share(owners, weights, num_vertices)
    traits = [1.0, denser, ties / _SQUARE, uneven / _LONG_TAIL]
    return np.clip(traits, -_MOST, _MOST)


def _tie_share(owners: np.ndarray, weights: np.ndarray, size: int) -> float:
    """How often the two sides of a vertex tie, on average over vertices, with random neighbours.

    Where weights are multiples of the least |w|, those of a vertex that sum up to an even number of
    it can cancel out, and do so with probability 2 / (2 pi sum_j w_ij^2)^(1/2), by the local
    central limit theorem (.40 for the four edges of a square lattice, where it is 3/8); others
    hardly ever.
    """
    units = np.abs(weights) / np.abs(weights[weights != 0]).min()
    if not np.array_equal(units, np.round(units)):
        return 0.0
    fields = np.bincount(owners, units**2, minlength=size)
    even = (np.bincount(owners, units, minlength=size) % 2 == 0) & (fields > 0)
    return float((even * np.sqrt(2 / (math.pi * np.maximum(fields, 1)))).mean())


def graph_params(params: dict[str, Any], traits: np.ndarray) -> dict[str, Any]:
    """The parameters for one graph.

    Args:
        params: see `ecord_jax.networks.swift.param_shapes`; numpy or JAX arrays.
        traits: of the graph.

    Returns:
        Those that have a row for each trait without these rows; the others as they are.
    """
    return {
        name: traits.astype(value.dtype) @ value if name != "readout" else value
        for name, value in params.items()
    }
