"""From graph and agent to a compiled chunk, in a thread of its own.

The caller may stop waiting at any time; XLA cannot be stopped, so that the thread then goes on. It
is no daemon thread, because Python crashes if it ends while one compiles: a process waits for it at
its end, unless it leaves by `os._exit`, as the command-line program does.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.env import sees_budget
from ecord_jax.errors import EcordError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import Agent, factor
from ecord_jax.search.chunk import (
    Found,
    Search,
    chunk_length,
    group_size,
    search_chunk,
    start_search,
)
from ecord_jax.search.fleet import Fleet

__all__ = ["Prepared", "in_background", "is_preparing", "prepare", "translate_memory_errors"]

_THREAD = "ecord_jax-prepare"
_Value = TypeVar("_Value")


class Prepared(NamedTuple):
    """Attributes:
    searches: numbered groups of trajectories before their first chunks.
    run: does a group's next chunk; the search that it is given is used up.
    num_steps: steps of a chunk.
    """

    searches: list[Any]
    run: Callable[[Any], tuple[Any, Found]]
    num_steps: int


def prepare(
    graph: Graph,
    agent: Agent,
    starts: np.ndarray,
    temperatures: np.ndarray,
    last_step: int,
    refresh_every: int,
    key: jax.Array,
    left: Callable[[], float],
    adapts: bool = False,
) -> Prepared:
    """Puts the graph on the device, embeds its vertices and compiles the chunk.

    Args:
        graph: the graph.
        agent: who will flip.
        starts: int8 [B, num_vertices], start labels.
        temperatures: float32 [B].
        last_step: cuts after more steps than that do not count.
        refresh_every: K, see `ecord_jax.search.incremental`.
        key: consumed.
        left: gives the seconds until the search must end; infinite where only steps are counted.
        adapts: whether temperatures adapt, see `ecord_jax.search.temperature`.

    Raises:
        EcordError: if the device has not enough memory.
    """
    trajectories = len(temperatures)
    with translate_memory_errors(trajectories):
        # The incremental step takes any row in one block.
        degree = int(np.bincount(graph.edges.ravel(), minlength=1).max())
        wanted = 1 << max(degree - 1, 0).bit_length() if refresh_every > 1 else 0
        arrays = to_arrays(graph, min_row_block=wanted)
        padded = arrays.vertex_mask.shape[0]
        group = group_size(trajectories, padded, jax.default_backend())
        length = chunk_length(group, padded, jax.default_backend())
        # A chunk begins by looking at all vertices.
        refresh_every = min(refresh_every, length)
        length -= length % refresh_every
        labels = np.pad(starts, ((0, 0), (0, padded - graph.num_vertices)))
        keys = jax.random.split(key, trajectories // group)
        searches = [
            start_search(agent, labels[rows], temperatures[rows], keys[g])
            for g, rows in enumerate(_slices(trajectories, group))
        ]
        embeddings = jax.jit(factor)(agent, arrays)
        chunk = jax.jit(
            search_chunk,
            static_argnames=("num_steps", "refresh_every", "adapts"),
            donate_argnames="search",
        )
        last = jnp.asarray(last_step, jnp.int32)
        lowered = chunk.lower(
            agent,
            arrays,
            embeddings,
            searches[0],
            last,
            last,
            num_steps=length,
            refresh_every=refresh_every,
            adapts=adapts,
        )
        compiled = lowered.compile()
        jax.block_until_ready(embeddings)

        def run(search: Search, budget: int) -> tuple[Search, Found]:
            return compiled(agent, arrays, embeddings, search, last, jnp.int32(budget))

        fleet = Fleet(run, length, len(searches), last_step, left)
        if sees_budget(agent.config.scaling) and not math.isinf(left()):
            fleet.measure(jax.tree.map(jnp.copy, searches[0]))
    return Prepared(list(enumerate(searches)), fleet.run, length)


def _slices(size: int, width: int) -> list[slice]:
    return [slice(start, start + width) for start in range(0, size, width)]


def in_background(make: Callable[[], _Value]) -> Future[_Value]:
    """Calls a function in a thread; what it gives or raises is the future's."""
    future: Future[_Value] = Future()

    def work() -> None:
        try:
            future.set_result(make())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, name=_THREAD).start()
    return future


def is_preparing() -> bool:
    """Whether a thread of `in_background` still works, so that the process could not end now."""
    return any(thread.name == _THREAD for thread in threading.enumerate())


@contextlib.contextmanager
def translate_memory_errors(trajectories: int) -> Iterator[None]:
    """Turns errors of too little memory, on the host or the device, into a line for the user."""
    try:
        yield
    except (MemoryError, jax.errors.JaxRuntimeError) as error:
        if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
            raise EcordError(f"not enough memory for {trajectories} trajectories") from error
        raise
