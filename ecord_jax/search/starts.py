"""Labels that trajectories start from. Shape letters: B trajectories, N vertices."""

from __future__ import annotations

import math
import time
from typing import Any

import jax
import numpy as np

from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.search.rank2 import Descents

__all__ = ["start_labels"]


def start_labels(
    graph: Graph,
    init: Any,
    trajectories: int,
    rng: np.random.Generator,
    deadline: float = math.inf,
) -> np.ndarray:
    """Start labels of every trajectory.

    Args:
        graph: the graph.
        init: "random", each vertex on either side with equal chance; "equal", all on side 0;
            "rank2", a rounded descent of the rank-2 relaxation each, see `ecord_jax.search.rank2`;
            or labels [N] for all trajectories, or [B, N] one row for each.
        trajectories: B.
        rng: of what is random.
        deadline: on the clock of `time.monotonic`, when descents must end.

    Returns:
        int8 [B, N].

    Raises:
        OptionError: for anything else.
        EcordError: for labels that are not those of the graph.
    """
    shape = (trajectories, graph.num_vertices)
    if isinstance(init, str):
        if init == "equal":
            return np.zeros(shape, np.int8)
        if init == "random":
            return rng.integers(0, 2, shape, np.int8)
        if init == "rank2":
            return _rank2_labels(graph, trajectories, rng, deadline)
        raise OptionError(f"init={init!r} is neither 'random', 'equal', 'rank2' nor labels")
    labels = np.asarray(init)
    if labels.ndim == 2:
        if len(labels) != trajectories:
            raise OptionError(f"init has {len(labels)} rows for {trajectories} trajectories")
        return np.stack([graph.check_labels(row) for row in labels])
    return np.tile(graph.check_labels(labels), (trajectories, 1))


def _rank2_labels(
    graph: Graph, trajectories: int, rng: np.random.Generator, deadline: float
) -> np.ndarray:
    if graph.num_vertices == 0:
        return np.zeros((trajectories, 0), np.int8)
    descents = Descents(graph, trajectories)
    descents.go_on(jax.random.key(int(rng.integers(2**32))), lambda: time.monotonic() > deadline)
    return descents.labels.copy()
