"""`swift` on an accelerator: the compiled chunk, and what it does in a while.

Shape letters: B trajectories, T steps of a chunk.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.graphs import Graph
from ecord_jax.networks.agent import Agent
from ecord_jax.search.chunk import group_size
from ecord_jax.search.fleet import Fleet
from ecord_jax.search.prepare import Prepared, translate_memory_errors
from ecord_jax.search.swift_device import start_swift, swift_chunk, swift_ground

__all__ = ["prepare_swift_device"]

_CHUNK_SECONDS = 0.25
_STEP_SECONDS, _STEP_SECONDS_EACH = 1e-4, 1e-7  # rough; of a step, and for each trajectory
_LONGEST_CHUNK = 4096
_FEW = 6.0  # see `ecord_jax.search.campaign`


def prepare_swift_device(
    graph: Graph,
    agent: Agent,
    starts: np.ndarray,
    fallback: np.ndarray | None,
    *,
    last_step: int,
    left: Callable[[], float],
    seed: list[int],
) -> Prepared:
    """Looks at the graph, compiles the chunk and measures it.

    Args:
        graph: the graph.
        agent: of a `SwiftConfig`.
        starts: int8 [B, num_vertices], start labels.
        fallback: int8 [num_vertices], those of all where there is time for few flips a vertex;
            None for `starts` then, too.
        last_step: flips of each trajectory after which the search ends.
        left: gives the seconds until it must end; infinite where only steps are counted.
        seed: of the draws.

    Raises:
        EcordError: if the device has not enough memory.
    """
    with translate_memory_errors(len(starts)):
        ground = swift_ground(agent, graph)
        group = group_size(len(starts), len(ground.tables.gain), jax.default_backend())
        every = agent.config.refresh_every(graph.num_vertices, graph.num_edges)
        rounds = _rounds(every, group, last_step)
        number = int(np.random.default_rng(seed).integers(2**63))
        keys = jax.random.split(jax.random.key(number), len(starts) // group)
        search = start_swift(ground, starts[:group], keys[0])
        compiled = (
            jax.jit(swift_chunk, static_argnames="rounds", donate_argnames="search")
            .lower(ground, search, jnp.int32(0), jnp.int32(0), rounds=rounds)
            .compile()
        )
        fleet = Fleet(
            lambda one, budget: compiled(ground, one, jnp.int32(budget), jnp.int32(last_step)),
            math.prod(rounds),
            len(keys),
            last_step,
            left,
        )
        if not math.isinf(left()):
            fleet.measure(search)
            if fallback is not None and fleet.budget(0) < _FEW * graph.num_vertices:
                starts = np.broadcast_to(fallback, starts.shape)
        searches = [
            (number, start_swift(ground, starts[number * group :][:group], key))
            for number, key in enumerate(keys)
        ]
    return Prepared(searches, fleet.run, math.prod(rounds))


def _rounds(every: int, trajectories: int, last_step: int) -> tuple[int, int]:
    """Looks at the globals in a chunk, and steps from one to the next."""
    pace = _STEP_SECONDS + _STEP_SECONDS_EACH * trajectories
    steps = min(int(_CHUNK_SECONDS / pace), _LONGEST_CHUNK, last_step)
    every = min(every, steps)
    return steps // every, every
