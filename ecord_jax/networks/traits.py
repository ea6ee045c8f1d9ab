"""What `swift` knows of a graph as a whole; its parameters are linear in these few numbers.

One policy for all graphs is a compromise: tied vertices want it warmer, dense graphs colder at the
end of long walks. The numbers are 0 for a sparse graph of equal weights without ties, and about 1
where a trait is marked; a row of parameters is what such a graph wants to be different. Shape
letters: G traits, H half-edges, N vertices.
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
_RANGE = -0.25, 1.5  # graphs to train on have hardly more of any trait
_PARTS = 6  # of the least weight, of which weights may be multiples
_EXACT = 1e-9


def graph_traits(owners: np.ndarray, weights: np.ndarray, num_vertices: int) -> np.ndarray:
    """Looks at a graph.

    Args:
        owners: int [H], an end of each half-edge.
        weights: [H], of a size that can be squared.
        num_vertices: N, at least 1.

    Returns:
        float64 [G], in the order of `TRAITS`: 1; the log of the mean degree over that of a sparse
        graph; how often a flip changes nothing, over how often on a square lattice; and the log of
        the mean w^2 over the square of the mean |w|, which is 0 where all weights are of one size.
        Edges of weight 0 are none.
    """
    sizes, owners = np.abs(weights[weights != 0]), owners[weights != 0]
    if len(sizes) == 0:
        return np.array([1.0, 0.0, 0.0, 0.0])
    sizes = sizes / sizes.max()
    denser = math.log(len(sizes) / num_vertices / _SPARSE) / _DENSER
    uneven = math.log(float((sizes**2).mean()) / float(sizes.mean()) ** 2)
    ties = _tie_share(owners, sizes, num_vertices)
    return np.append(1.0, np.clip([denser, ties / _SQUARE, uneven / _LONG_TAIL], *_RANGE))


def _tie_share(owners: np.ndarray, sizes: np.ndarray, num_vertices: int) -> float:
    """How often the two sides of a vertex tie, on average over vertices, with random neighbours.

    Where weights are multiples of a unit, those of a vertex that sum up to an even number of it,
    and none of which outweighs the others, can cancel out. They do with probability
    2 / (2 pi sum_j w_ij^2)^(1/2), by the local central limit theorem (.40 for the four edges of a
    square lattice, where it is 3/8); others never, or hardly ever.
    """
    units = _in_units(sizes)
    if units is None:
        return 0.0
    total = np.bincount(owners, units, minlength=num_vertices)
    most = np.zeros(num_vertices)
    np.maximum.at(most, owners, units)
    can = (total % 2 == 0) & (total > 0) & (2 * most <= total)
    fields = np.bincount(owners, units**2, minlength=num_vertices)
    return float((can * np.sqrt(2 / (math.pi * np.maximum(fields, 1)))).mean())


def _in_units(sizes: np.ndarray) -> np.ndarray | None:
    """Sizes as multiples of the least one, or a simple part of it; None if they are not."""
    least = sizes.min()
    if least < _EXACT:  # of the largest, 1: all numbers would be multiples
        return None
    for parts in range(1, _PARTS + 1):
        units = sizes * (parts / least)
        if np.allclose(units, np.round(units), rtol=_EXACT, atol=0):
            return np.round(units)
    return None


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
