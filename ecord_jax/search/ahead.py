"""What merged graphs need compiled, before they are there."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from concurrent.futures import Future

import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.graphs.presolve import compile_rules
from ecord_jax.search.prepare import in_background
from ecord_jax.search.walks import Mover

__all__ = ["compile_rules_ahead", "compile_walks"]


@functools.cache
def compile_rules_ahead(dtype: np.dtype) -> Future[None]:
    """Compiles what reduces merged graphs, once in a process and while walks go on."""
    return in_background(functools.partial(compile_rules, dtype))


def compile_walks(dtype: np.dtype, movers: Sequence[Mover]) -> None:
    """Compiles what walks over merged graphs, which may be dense where the graph is not.

    Args:
        dtype: of the weights.
        movers: those that walk.
    """
    size, rng = 70, np.random.default_rng(0)
    every = np.stack(np.triu_indices(size, 1), axis=1)
    ring = every[(every[:, 1] - every[:, 0]) % (size - 2) == 1]
    one = 1 if dtype.kind == "i" else 0.1  # floats that are whole would become integers
    # Those that have small units, those that have not, and many neighbours.
    for pairs, unit in ((ring, 1), (ring, 2**20), (every, 1)):
        weights = (rng.permutation(len(pairs)) % 2 * unit + 1) * one
        graph = Graph.from_edges(pairs, weights, size)
        for mover in movers:
            if mover.merges:
                mover.look(graph)(0, np.zeros(size, np.int8), rng).advance(1, 1)
