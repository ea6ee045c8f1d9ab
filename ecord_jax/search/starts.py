"""Labels that trajectories start from. Shape letters: B trajectories, N vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph

__all__ = ["start_labels"]


def start_labels(
    graph: Graph, init: Any, trajectories: int, rng: np.random.Generator
) -> np.ndarray:
    """Start labels of every trajectory.

    Args:
        graph: the graph.
        init: "random", each vertex on either side with equal chance; "equal", all on side 0; or
            labels [N] for all trajectories, or [B, N] one row for each.
        trajectories: B.
        rng: used by "random" only.

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
        raise OptionError(f"init={init!r} is neither 'random', 'equal' nor labels")
    labels = np.asarray(init)
    if labels.ndim == 2:
        if len(labels) != trajectories:
            raise OptionError(f"init has {len(labels)} rows for {trajectories} trajectories")
        return np.stack([graph.check_labels(row) for row in labels])
    return np.tile(graph.check_labels(labels), (trajectories, 1))
