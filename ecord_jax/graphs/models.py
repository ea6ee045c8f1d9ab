"""Random graphs made on the host, one function a model; those of known optimum are in `planted`.

Each takes a seed, an integer of at least 0 or a `numpy.random.Generator`, and gives the same graph
for the same integer on any machine and with any version of numpy (see `draws`). Time and memory
are those of the edges: a million vertices of degree six take a few seconds.

Weights are `unit` (1), `signed` (-1 or 1 with equal chance) or `gaussian` (mean 0, variance 1),
drawn in the order of the graph's edges after the edges themselves. Shapes: N vertices, E edges.
Arguments that make no sense raise an OptionError.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from ecord_jax.errors import OptionError
from ecord_jax.graphs.draws import Draws, check_integer, exact_power
from ecord_jax.graphs.edge_sampling import (
    distinct_keys,
    edge_keys,
    nth_pair,
    regular_keys,
    skipping_subset,
    stacked_triangulation,
    torus_edges,
)
from ecord_jax.graphs.edges import MAX_VERTICES
from ecord_jax.graphs.graph import Graph

__all__ = [
    "Seed",
    "Weights",
    "barabasi_albert",
    "erdos_renyi",
    "planar_union",
    "power_law",
    "random_regular",
    "sherrington_kirkpatrick",
    "torus",
]

Seed = int | np.random.Generator
Weights = Literal["unit", "signed", "gaussian"]

# Below, most of the draws fall on the same few pairs of hubs.
_LEAST_EXPONENT = 2.1
# Above, all degrees are the same but for chance.
_MOST_EXPONENT = 100


def erdos_renyi(
    num_vertices: int, edge_probability: float, *, seed: Seed, weights: Weights = "unit"
) -> Graph:
    """G(N, p): each pair of vertices is an edge with the same probability, by itself.

    The pairs that are none are skipped in one geometric draw (Batagelj and Brandes, Phys. Rev. E
    71, 036113, 2005).

    Args:
      num_vertices: N.
      edge_probability: p, from 0 to 1. GSet's G1 has 0.06, G22 0.01, G70 0.0002.
      seed: see above.
      weights: see above.
    """
    n = _vertices(num_vertices)
    p = _real("edge_probability", edge_probability, 0, 1)
    draws = Draws(seed)
    num_pairs = n * (n - 1) // 2
    chosen = np.arange(num_pairs) if p == 1 else skipping_subset(num_pairs, p, draws)
    return _graph(edge_keys(*nth_pair(chosen), n), n, weights, draws)


def barabasi_albert(
    num_vertices: int, attachments: int, *, seed: Seed, weights: Weights = "unit"
) -> Graph:
    """Preferential attachment (Barabasi and Albert, Science 286, 1999), as networkx has it.

    The first `attachments` vertices are joined to the next one; each later vertex is joined to
    `attachments` different ones before it, drawn by their degrees.

    Args:
      num_vertices: N.
      attachments: m, from 1 to N - 1; there are m (N - m) edges. The paper has 4.
      seed: see above.
      weights: see above.
    """
    n = _vertices(num_vertices)
    m = check_integer("attachments", attachments, 1, n - 1)
    draws = Draws(seed)
    uniforms = draws.uniforms()
    targets = list(range(m))
    ends = [*range(m), *[m] * m]  # each vertex as often as its degree
    for vertex in range(m + 1, n):
        chosen: dict[int, None] = {}  # a set in the order of the draws
        while len(chosen) < m:
            chosen[ends[int(next(uniforms) * len(ends))]] = None
        targets += chosen
        ends += chosen
        ends += [vertex] * m
    newcomers = np.repeat(np.arange(m, n), m)
    return _graph(edge_keys(np.array(targets, np.int64), newcomers, n), n, weights, draws)


def random_regular(
    num_vertices: int, degree: int, *, seed: Seed, weights: Weights = "unit"
) -> Graph:
    """Every vertex has the same degree.

    Ends of edges are paired at random; the few pairs that are loops or repeat another exchange an
    end with an edge drawn at random (a switching, McKay and Wormald, J. Algorithms 11, 1990). That
    is uniform over such graphs in the limit of many vertices; for degrees of up to 3 it is nearly
    so at any size.

    Args:
      num_vertices: N.
      degree: d, from 0 to N - 1; N d must be even.
      seed: see above.
      weights: see above.
    """
    n = _vertices(num_vertices)
    d = check_integer("degree", degree, 0, max(n - 1, 0))
    if n * d % 2:
        raise OptionError(f"degree={d} is odd, so num_vertices={n} must be even")
    draws = Draws(seed)
    if 2 * d <= n - 1:
        return _graph(regular_keys(n, d, draws), n, weights, draws)
    # What a dense graph lacks is sparse, and switchings find room there.
    absent = regular_keys(n, n - 1 - d, draws)
    every = edge_keys(*nth_pair(np.arange(n * (n - 1) // 2)), n)
    return _graph(np.setdiff1d(every, absent, assume_unique=True), n, weights, draws)


def torus(shape: Sequence[int], *, seed: Seed, weights: Weights = "signed") -> Graph:
    """A lattice that is periodic along each axis, with two neighbours along each.

    Signed weights make the ±J spin glass of GSet's G11 (2-D) or of Ising benchmarks (3-D),
    Gaussian ones the Edwards-Anderson model.

    Args:
      shape: sides, one an axis, each at least 3; vertex (i, j, ...) is counted in C order.
      seed: see above.
      weights: see above.
    """
    if isinstance(shape, str) or not isinstance(shape, Sequence) or not shape:
        raise OptionError(f"shape={shape!r} must be a list of sides")
    # With a side of 2, a vertex would have the same neighbour twice.
    sides = [check_integer("a side of shape", side, 3) for side in shape]
    n = _vertices(math.prod(sides))
    return _graph(edge_keys(*torus_edges(sides), n), n, weights, Draws(seed))


def planar_union(
    num_vertices: int, *, seed: Seed, density: float = 0.99, weights: Weights = "unit"
) -> Graph:
    """Union of two nearly maximal planar graphs, as rudy made GSet's G14 to G21 and G51 to G54.

    Each is a stacked triangulation (every vertex is put into a face drawn at random and joined to
    its corners) with its vertices shuffled, and loses a random part of its 3 N - 6 edges. Degrees
    have the long tail of G14's. An edge of both stands once, so there are a few less than
    2 * density * (3 N - 6).

    Args:
      num_vertices: N, at least 3.
      seed: see above.
      density: part of the edges that stay, rounded down; rudy's 99 %.
      weights: see above.
    """
    n = _vertices(num_vertices, 3)
    keep = int(_real("density", density, 0, 1) * (3 * n - 6))
    draws = Draws(seed)
    layers = []
    for _ in range(2):
        edges = stacked_triangulation(n, draws)
        kept = draws.permutation(n)[edges[draws.permutation(len(edges))[:keep]]]
        layers.append(edge_keys(kept[:, 0], kept[:, 1], n))
    keys = np.sort(np.concatenate(layers))
    return _graph(keys[np.diff(keys, prepend=-1) > 0], n, weights, draws)


def sherrington_kirkpatrick(
    num_vertices: int, *, seed: Seed, weights: Weights = "gaussian"
) -> Graph:
    """All pairs are edges (Sherrington and Kirkpatrick, Phys. Rev. Lett. 35, 1975).

    Args:
      num_vertices: N.
      seed: see above.
      weights: see above; not divided by the root of N, which no cut depends on.
    """
    n = _vertices(num_vertices)
    return _graph(edge_keys(*nth_pair(np.arange(n * (n - 1) // 2)), n), n, weights, Draws(seed))


def power_law(
    num_vertices: int,
    mean_degree: float,
    *,
    seed: Seed,
    exponent: float = 2.5,
    weights: Weights = "unit",
) -> Graph:
    """Degrees k as frequent as k**-exponent, from hub 0 down (Chung and Lu, PNAS 99, 2002).

    Pairs are drawn with both ends by weight, those of 0..i together ((i + 1) / N)**(1 - a) with
    a = 1 / (exponent - 1), until there are enough different ones without loops.

    Args:
      num_vertices: N.
      mean_degree: there are round(N mean_degree / 2) edges; from 0 to (N - 1) / 2.
      seed: see above.
      exponent: of the degrees, from 2.1 to 100; many networks have 2 to 3.
      weights: see above.
    """
    n = _vertices(num_vertices)
    wanted = round(n * _real("mean_degree", mean_degree, 0, max(n - 1, 0) / 2) / 2)
    gamma = _real("exponent", exponent, _LEAST_EXPONENT, _MOST_EXPONENT)
    draws = Draws(seed)

    def draw(count: int) -> np.ndarray:
        # The weights are cumulated in closed form, so a power of a uniform number is a vertex.
        places = n * exact_power(draws.uniform(count), (gamma - 1) / (gamma - 2))
        return np.minimum(places.astype(np.int64), n - 1)

    return _graph(distinct_keys(wanted, n, draw), n, weights, draws)


def _vertices(value: Any, least: int = 0) -> int:
    return check_integer("num_vertices", value, least, MAX_VERTICES)


def _real(name: str, value: Any, least: float, most: float) -> float:
    """Checks a real argument."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise OptionError(f"{name}={value!r} must be a number")
    if not least <= value <= most:  # true for NaN
        raise OptionError(f"{name}={value} must be from {least:g} to {most:g}")
    return float(value)


def _graph(keys: np.ndarray, n: int, weights: Weights, draws: Draws) -> Graph:
    """Makes a graph of the keys of its edges, all different, and draws its weights."""
    if weights not in get_args(Weights):
        raise OptionError(f"weights={weights!r} is none of {', '.join(get_args(Weights))}")
    edges = np.stack(np.divmod(np.sort(keys), max(n, 1)), axis=1)
    match weights:
        case "unit":
            values = np.ones(len(edges), np.int64)
        case "signed":
            values = draws.signs(len(edges))
        case _:
            values = draws.gaussian(len(edges))
    return Graph(edges, values, range(n))
