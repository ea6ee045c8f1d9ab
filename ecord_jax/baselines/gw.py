"""Goemans and Williamson's cuts (J. ACM 42, 1995): random hyperplanes through the vectors of the
semidefinite relaxation, the best of many.

With positive weights a cut is expected to be at least 0.87856 of the relaxation's value. Vectors
are those of `ecord_jax.search.sdp`. Shape letters: N vertices, R columns, B trajectories.
"""

from __future__ import annotations

import jax
import numpy as np

from ecord_jax.baselines.run import Callback, Run
from ecord_jax.graphs import Graph
from ecord_jax.search.result import SolveResult
from ecord_jax.search.sdp import low_rank_sdp

__all__ = ["gw", "round_vectors"]


def gw(
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int = 20,
    time_limit: float | None = None,
    num_steps: int | None = None,
    callback: Callback | None = None,
) -> SolveResult:
    """Looks for a large cut of a graph by Goemans and Williamson's method.

    Args:
        graph: the graph.
        key: of `jax.random.key`; consumed.
        trajectories: B, hyperplanes of a step.
        time_limit: seconds for the whole call, 30 if neither limit is given.
        num_steps: so that num_steps * trajectories hyperplanes are tried.
        callback: see `ecord_jax.baselines.run.Run`.

    Returns:
        The best of all hyperplanes' cuts, as it is: no local search follows.

    Raises:
        OptionError: for an option that makes no sense.
    """
    run = Run(
        graph,
        "gw",
        key=key,
        trajectories=trajectories,
        time_limit=time_limit,
        num_steps=num_steps,
        callback=callback,
    )
    if run.over is not None:
        return run.result(run.over)
    vectors = low_rank_sdp(graph, key=key, deadline=run.watch.deadline).vectors
    while True:
        run.offer(round_vectors(graph, vectors, trajectories, run.rng))
        run.steps += 1
        if (over := run.over) is not None:
            return run.result(over)


def round_vectors(
    graph: Graph, vectors: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """The labels of the best of some random hyperplanes.

    Args:
        graph: the graph.
        vectors: [N, R].
        count: hyperplanes.
        rng: draws them.

    Returns:
        int8 [N].
    """
    sides = vectors @ rng.normal(size=(vectors.shape[1], count)) > 0
    u, v = graph.edges.T
    cuts = graph.weights.astype(np.float64) @ (sides[u] != sides[v])
    return sides[:, cuts.argmax()].astype(np.int8)
