"""Graphs and budgets that `swift` is trained on, of every kind that it may meet."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.graphs.models import (
    barabasi_albert,
    erdos_renyi,
    planar_union,
    power_law,
    random_regular,
    sherrington_kirkpatrick,
    torus,
)
from ecord_jax.graphs.presolve import presolve
from ecord_jax.graphs.problem import Problem

__all__ = ["KINDS", "Instance", "draw_instance"]

_Maker = Callable[[int, np.random.Generator], Graph]


class Instance(NamedTuple):
    """Attributes:
    kind: one of KINDS.
    graph: the graph.
    budget: flips.
    seed: of start labels and draws.
    """

    kind: str
    graph: Graph
    budget: int
    seed: int


def draw_instance(
    kind: str, vertices: tuple[int, int], factors: tuple[float, float], rng: np.random.Generator
) -> Instance:
    """Draws a graph and a budget, both log-uniform.

    Args:
        kind: one of KINDS.
        vertices: least and most of the graph; kinds with more edges take a part.
        factors: least and most of the budget over |V|.
        rng: of everything.
    """
    size = round(_log_uniform(*vertices, rng))
    graph = _MAKERS[kind](size, rng)
    budget = round(_log_uniform(*factors, rng) * graph.num_vertices)
    return Instance(kind, graph, budget, int(rng.integers(2**31)))


def _log_uniform(low: float, high: float, rng: np.random.Generator) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _sparse(size: int, rng: np.random.Generator) -> Graph:
    return _random(size, 2.2, 10, rng)


def _dense(size: int, rng: np.random.Generator) -> Graph:
    return _random(max(size // 3, 20), 10, 40, rng)


def _random(size: int, low: float, high: float, rng: np.random.Generator) -> Graph:
    """Of a mean degree in this range."""
    weights = rng.choice(["unit", "signed"])
    share = min(_log_uniform(low, high, rng) / size, 1.0)
    return erdos_renyi(size, share, seed=rng, weights=weights)


def _crowded(size: int, rng: np.random.Generator) -> Graph:
    """A good part of all pairs of vertices."""
    weights = rng.choice(["unit", "signed", "gaussian"])
    return erdos_renyi(max(size // 4, 20), _log_uniform(0.05, 0.9, rng), seed=rng, weights=weights)


def _qubo(size: int, rng: np.random.Generator) -> Graph:
    """Integer coefficients, a good part of them not 0: one vertex is joined to nearly all."""
    size = max(size // 4, 20)
    matrix = np.triu(rng.integers(-100, 101, (size, size)))
    matrix[rng.random((size, size)) >= _log_uniform(0.05, 1.0, rng)] = 0
    return Problem.from_qubo(matrix).graph


def _reduced(size: int, rng: np.random.Generator) -> Graph:
    """What presolve leaves of a sparse graph: weights of many sizes."""
    sparse = erdos_renyi(size, rng.uniform(3.0, 6.0) / size, seed=rng, weights="signed")
    return presolve(sparse).graph


def _square(size: int, rng: np.random.Generator) -> Graph:
    side = max(round(math.sqrt(size)), 3)
    return torus((side, side), seed=rng, weights=rng.choice(["signed", "gaussian"]))


def _cube(size: int, rng: np.random.Generator) -> Graph:
    side = max(round(size ** (1 / 3)), 3)
    return torus((side, side, side), seed=rng, weights=rng.choice(["signed", "gaussian"]))


def _heavy(size: int, rng: np.random.Generator) -> Graph:
    """Weights with a long tail, of both signs."""
    graph = erdos_renyi(size, _log_uniform(3, 12, rng) / size, seed=rng, weights="gaussian")
    weights = np.sign(graph.weights) * np.abs(graph.weights) ** rng.uniform(1.0, 3.0)
    return Graph(graph.edges, weights, graph.names)


def _hubs(size: int, rng: np.random.Generator) -> Graph:
    """A sparse graph with some vertices that a good part of the others is joined to."""
    graph = erdos_renyi(size, rng.uniform(3.0, 6.0) / size, seed=rng)
    hubs = np.repeat(rng.choice(size, 3, replace=False), max(size // 5, 1))
    more = np.stack([hubs, rng.integers(0, size, len(hubs))], axis=1)
    ends = np.sort(np.concatenate([graph.edges, more]), axis=1)
    ends = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)
    return Graph(ends, np.ones(len(ends), np.int64), graph.names)


def _geometric(size: int, rng: np.random.Generator) -> Graph:
    """Points in a square, joined with those that are near: many triangles."""
    from scipy.spatial import KDTree

    radius = math.sqrt(rng.uniform(4.0, 12.0) / (math.pi * size))
    edges = KDTree(rng.random((size, 2))).query_pairs(radius, output_type="ndarray")
    weights = rng.choice([-1, 1], len(edges)) if rng.random() < 0.5 else np.ones(len(edges), int)
    return Graph.from_edges(edges, weights, size)


_MAKERS: dict[str, _Maker] = {
    "sparse": _sparse,
    "dense": _dense,
    "crowded": _crowded,
    "qubo": _qubo,
    "reduced": _reduced,
    "regular": lambda n, rng: random_regular(2 * (n // 2), int(rng.integers(3, 8)), seed=rng),
    "power_law": lambda n, rng: power_law(n, rng.uniform(3.0, 10.0), seed=rng),
    "ba": lambda n, rng: barabasi_albert(n, int(rng.integers(2, 6)), seed=rng),
    "hubs": _hubs,
    "planar": lambda n, rng: planar_union(n // 2, seed=rng, weights=rng.choice(["unit", "signed"])),
    "geometric": _geometric,
    "square": _square,
    "cube": _cube,
    "heavy": _heavy,
    "complete": lambda n, rng: sherrington_kirkpatrick(
        max(n // 8, 20), seed=rng, weights=rng.choice(["signed", "gaussian"])
    ),
}
KINDS = tuple(_MAKERS)
