"""Tabu walks on the host, side by side in threads. Shape letters: B walks, N vertices."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.search.tabu import TabuWalk, survey
from ecord_jax.search.tenure import Tenure
from ecord_jax.search.walks import num_processors

__all__ = ["HostCrew"]


class HostCrew:
    """Walks that share the processors; see `ecord_jax.baselines.tabu.Crew`.

    Args:
        graph: the graph.
        labels: int8 [B, N], where to start.
        tenure: how long vertices are barred.
        rng: seeds those of the walks.
    """

    least, most = 1024, 1 << 18

    def __init__(
        self, graph: Graph, labels: np.ndarray, tenure: Tenure, rng: np.random.Generator
    ) -> None:
        ground = survey(graph)
        self._walks = [
            TabuWalk(ground, row, child, tenure)
            for row, child in zip(labels, rng.spawn(len(labels)), strict=True)
        ]
        self._pool = ThreadPoolExecutor(min(num_processors(), len(labels)))

    def prepare(self) -> None:
        self._walks[0].advance(0, 1)

    def advance(self, num_steps: int, budget: int) -> np.ndarray:
        list(self._pool.map(lambda w: w.advance(num_steps, budget), self._walks))
        return max(self._walks, key=lambda walk: walk.best_cut).best_labels
