"""`swift` and tabu search from the same labels with the same number of flips, on one graph.

Shape letters: B trajectories, N vertices.
"""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.learning.instances import Instance, draw_instance
from ecord_jax.networks.agent import Agent
from ecord_jax.search import swift, tabu
from ecord_jax.search.tenure import Tenure
from ecord_jax.search.walks import num_processors

__all__ = ["best_cuts", "draw_held_out"]

_HELD_OUT = 2**32 - 1  # graphs from such seeds are none of a training


def draw_held_out(
    kind: str, vertices: tuple[int, int], factor: float, seed: int, number: int
) -> Instance:
    """A graph that no training has seen, the same for every budget.

    Args:
        kind: one of `ecord_jax.learning.instances.KINDS`.
        vertices: least and most.
        factor: the budget over |V|.
        seed: of the set.
        number: of the graph among those of its kind.
    """
    rng = np.random.default_rng([_HELD_OUT, seed, *vertices, number, *kind.encode()])
    return draw_instance(kind, vertices, (factor, factor), rng)


def best_cuts(solver: Agent | Tenure, instance: Instance, trajectories: int) -> np.ndarray:
    """The best cut of each trajectory, counted again from its labels.

    Args:
        solver: an agent of a `SwiftConfig`, or how long tabu search bars vertices.
        instance: graph, budget, and seed of labels (the same for all solvers) and draws.
        trajectories: B.

    Returns:
        float64 [B].
    """
    graph, budget = instance.graph, instance.budget
    if graph.num_vertices == 0 or budget == 0:
        return np.zeros(trajectories)
    rng = np.random.default_rng(instance.seed)
    starts = rng.integers(0, 2, (trajectories, graph.num_vertices), np.int8)
    walk = _walk_swift(solver, graph) if isinstance(solver, Agent) else _walk_tabu(solver, graph)
    with ThreadPoolExecutor(min(num_processors(), trajectories)) as pool:
        labels = pool.map(functools.partial(walk, budget), starts, rng.spawn(trajectories))
        return np.array([graph.cut(one) for one in labels], float)


def _walk_swift(agent: Agent, graph: Graph) -> Any:
    ground = swift.survey(agent, graph)

    def walk(budget: int, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        trajectory = swift.start_walk(ground, labels, rng)
        trajectory.advance(budget, budget)
        return trajectory.best_labels

    return walk


def _walk_tabu(tenure: Tenure, graph: Graph) -> Any:
    ground = tabu.survey(graph)

    def walk(budget: int, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        trajectory = tabu.TabuWalk(ground, labels, rng, tenure)
        trajectory.advance(budget, budget)
        return trajectory.best_labels

    return walk
