"""Random search for the hyperparameters of annealing solvers on a set of graphs.

As the ECORD paper has its baselines tuned, a set at a time; random search (Bergstra and Bengio,
JMLR 13, 2012) in place of a grid, since there are six to nine of them. Shape letters: G graphs, T
trials, B trajectories, N vertices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jax
import numpy as np

from ecord_jax.baselines.amplitudes import Annealing, couplings
from ecord_jax.graphs import Graph
from ecord_jax.search.fields import padded_vertices

__all__ = ["Found", "draw_parameters", "final_cuts", "search_parameters"]


class Found(NamedTuple):
    """Attributes:
    parameters: the best of the trials.
    ratio: mean over graphs of (best cut of the trajectories / best cut of all trials).
    mean_ratio: mean over graphs and trajectories of the same.
    """

    parameters: dict[str, float]
    ratio: float
    mean_ratio: float


def search_parameters(
    graphs: Sequence[Graph],
    ranges: Mapping[str, tuple[float, float]],
    make: Callable[[dict[str, float]], Annealing],
    *,
    key: jax.Array,
    trials: int,
    trajectories: int = 20,
    num_steps: Callable[[Graph], int] = lambda graph: 2 * graph.num_vertices,
    first: Sequence[dict[str, float]] = (),
) -> Found:
    """Tries random parameters on every graph, and gives the best.

    Args:
        graphs: G, with cuts above 0.
        ranges: lowest and highest value of each parameter.
        make: what anneals with given parameters.
        key: of `jax.random.key`; consumed.
        trials: T.
        trajectories: B of each graph.
        num_steps: length of the run for a graph.
        first: parameters of the first trials, which are not drawn.

    Returns:
        Those of the largest ratio; of the largest mean ratio where several have that.
    """
    rng = np.random.default_rng(np.asarray(jax.random.key_data(key)).tolist())
    drawn = [draw_parameters(ranges, rng) for _ in range(trials - len(first))]
    candidates = [*first, *drawn]
    cuts = np.array(
        [
            final_cuts(graph, [make(values) for values in candidates], key, trajectories, steps)
            for graph, steps in zip(graphs, map(num_steps, graphs), strict=True)
        ]
    )  # [G, T, B]
    ratios = cuts / cuts.max(axis=(1, 2), keepdims=True)
    best, mean = ratios.max(axis=2).mean(axis=0), ratios.mean(axis=(0, 2))
    chosen = max(range(len(candidates)), key=lambda t: (best[t], mean[t]))
    return Found(candidates[chosen], float(best[chosen]), float(mean[chosen]))


def draw_parameters(
    ranges: Mapping[str, tuple[float, float]], rng: np.random.Generator
) -> dict[str, float]:
    """One draw: log-uniform where the lower end is positive, uniform elsewhere."""

    def draw(low: float, high: float) -> float:
        if low > 0:
            return math.exp(rng.uniform(math.log(low), math.log(high)))
        return rng.uniform(low, high)

    return {name: float(f"{draw(*ends):.4g}") for name, ends in ranges.items()}


def final_cuts(
    graph: Graph,
    annealings: Sequence[Annealing],
    key: jax.Array,
    trajectories: int,
    num_steps: int,
) -> np.ndarray:
    """Cuts float64 [T, B] at the end of one run of `num_steps` for each of T ways to anneal."""
    blocks, (u, v) = couplings(graph), graph.edges.T
    cuts = []
    for annealing in annealings:
        state = annealing.start(padded_vertices(graph.num_vertices), trajectories, key)
        state = annealing.advance(blocks, state, num_steps, num_steps)
        signs = np.asarray(annealing.signs(blocks, state))
        cuts.append(graph.weights.astype(np.float64) @ (signs[u] != signs[v]))
    return np.array(cuts)
