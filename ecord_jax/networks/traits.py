"""What `swift` knows of a graph as a whole; its parameters are linear in these few numbers.

One policy for all graphs is a compromise: tied vertices want it warmer, dense graphs colder at the
end of long walks, and where there are many triangles the penalty of a flip may be smaller; where
each flip changes many vertices a little, a walk does best as a tabu search whose tenure shrinks,
faster where an outer field holds them, which in a cut is one more vertex with edges to all of them.
The numbers are 0 for a sparse graph of equal weights without ties and triangles, and about 1 where
a trait is marked; a row of parameters is what such a graph wants to be different. Shape letters: G
traits, H half-edges, N vertices.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["TRAITS", "graph_params", "graph_traits"]

TRAITS = ("base", "degree", "ties", "unevenness", "triangles", "crowding", "field")

_SPARSE, _DENSER = 5.0, math.log(50.0)  # a mean degree, and how far above it a trait is 1
_SQUARE = 0.4  # ties of a square lattice
_LONG_TAIL = 1.5
_CROWD = 20.0  # a mean degree
_HELD = 1 / 3  # of all local fields, at the vertex that stands for a random QUBO's linear part
_TRIANGLES = 0.24  # of a union of two planar graphs
_WEDGES = 4096  # that are looked at
_RANGE = -0.25, 1.5  # graphs to train on have hardly more of any trait
_PARTS = 6  # of the least weight, of which weights may be multiples
_EXACT = 1e-9


def graph_traits(
    owners: np.ndarray, near: np.ndarray, weights: np.ndarray, num_vertices: int
) -> np.ndarray:
    """Looks at a graph.

    Args:
        owners, near: int [H], both ends of each half-edge.
        weights: [H], of a size that can be squared.
        num_vertices: N, at least 1.

    Returns:
        float64 [G], in the order of `TRAITS`: 1; the log of the mean degree over that of a sparse
        graph; how often a flip changes nothing, over how often on a square lattice; the log of the
        mean w^2 over the square of the mean |w|, which is 0 where all weights are of one size, less
        where vertices are crowded, since the weights of many neighbours average out; how much more
        often two neighbours of a vertex make a triangle with it that cannot be cut whole than
        degrees alone would have it, over how much in a union of two planar graphs; how crowded
        vertices are, d^4 / (d^4 + 20^4) with the mean degree d; and that times the largest part
        that one vertex has of all local fields, over a third, which the linear part of a QUBO has.
        All but the first from -.25 to 1.5. Edges of weight 0 are none.
    """
    there = weights != 0
    sizes, owners, near = np.abs(weights[there]), owners[there], near[there]
    if len(sizes) == 0:
        return np.append(1.0, np.zeros(len(TRAITS) - 1))
    sizes = sizes / sizes.max()
    degree = len(sizes) / num_vertices
    denser = math.log(degree / _SPARSE) / _DENSER
    crowded = degree**4 / (degree**4 + _CROWD**4)
    uneven = math.log(float((sizes**2).mean()) / float(sizes.mean()) ** 2) / _LONG_TAIL
    ties = _tie_share(owners, sizes, num_vertices)
    frustrated = _frustrated_share(owners, near, np.sign(weights[there]), num_vertices)
    uneven = min(uneven, _RANGE[1]) * (1.0 - crowded)
    held = _largest_share(owners, sizes) * crowded / _HELD
    traits = [denser, ties / _SQUARE, uneven, frustrated / _TRIANGLES, crowded, held]
    return np.append(1.0, np.clip(traits, *_RANGE))


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


def _largest_share(owners: np.ndarray, sizes: np.ndarray) -> float:
    """What part of all local fields sum_j w_ij^2 one vertex has, less if few edges make it up.

    For one heavy edge is no outer field.
    """
    fields, fourths = np.bincount(owners, sizes**2), np.bincount(owners, sizes**4)
    spread = fields - fourths / np.where(fields > 0, fields, 1.0)
    return float(spread.max() / fields.sum())


def _frustrated_share(
    owners: np.ndarray, near: np.ndarray, signs: np.ndarray, num_vertices: int
) -> float:
    """How much more often two neighbours of a vertex are joined than degrees alone would have it.

    One that makes a triangle of which all three edges could be cut, or none need be, counts -1. Of
    the vertex at an end of a random edge, that edge's other end and another neighbour, on average
    over some draws, always the same.
    """
    keys = owners.astype(np.int64) * num_vertices + near
    order = np.argsort(keys, kind="stable")
    keys, signs, rng = keys[order], signs[order], np.random.default_rng(0)
    first = rng.integers(len(keys), size=_WEDGES)
    center, one = np.divmod(keys[first], num_vertices)
    bounds = np.searchsorted(keys, [center * num_vertices, (center + 1) * num_vertices])
    second = rng.integers(*bounds)
    other = keys[second] % num_vertices
    third = np.minimum(np.searchsorted(keys, one * num_vertices + other), len(keys) - 1)
    joined = keys[third] == one * num_vertices + other
    found = (joined * signs[first] * signs[second] * signs[third])[one != other]
    # What graphs of these degrees have anyway (Newman, Networks, 2010, section 13.4).
    degrees = np.bincount(owners, minlength=num_vertices).astype(float)
    chance = float((degrees * (degrees - 1)).sum()) ** 2 / float(degrees.sum()) ** 3
    chance = max(chance, len(keys) / (num_vertices * (num_vertices - 1)))
    return max(float(found.mean()) - chance * float(signs.mean()) ** 3, 0.0) if len(found) else 0.0


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
