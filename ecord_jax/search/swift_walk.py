"""One walk of `swift` on the host, as a compiled loop: a part of a microsecond a flip.

`ecord_jax.search.swift_sums` has how a vertex is drawn, `ecord_jax.search.swift_step` what its flip
changes. The loop follows `ecord_jax.graphs.compiled`.
"""

from __future__ import annotations

from ecord_jax.graphs.compiled import prefetch
from ecord_jax.search.swift_state import CACHED, CUT, EVERY, STEP, WalkState
from ecord_jax.search.swift_step import (
    AHEAD,
    age,
    begin,
    fetch_edges,
    fetch_near,
    fetch_older,
    flip,
    look,
    note,
    take,
    weigh_all,
)
from ecord_jax.search.swift_sums import draw, period, put, sum_up

__all__ = ["walk"]


def walk(w: WalkState) -> None:
    """Does one flip for each draw."""
    rows, shared, counts = w.rows, w.shared, w.counts
    w.cuts[0] = begin(w.starts, w.near, w.weights, rows, shared, counts)
    often = period(len(rows))
    for turn in range(len(w.draws)):
        step = counts[STEP]
        if step % counts[EVERY] == 0:
            look(w.settings, shared, counts, len(rows), w.places, w.held)
            weigh_all(rows, w.bins, w.held, shared, w.sums, w.levels)
        elif step & (often - 1) == 0:
            sum_up(2, w.sums, w.levels)
        vertex = draw(w.draws[turn], w.sums, w.levels)
        # What takes no waiting is done between what is asked for and what needs it.
        if len(rows) > CACHED:
            prefetch(rows, vertex)
            fetch_edges(vertex, w.starts, w.near, w.weights)
            fetch_older(step + AHEAD, w.edges, w.ring, w.faded, w.bins, w.sums)
        note(vertex, step, rows, w.bins, w.ring, w.faded)
        aged = age(step + 1, w.edges, w.ring, w.faded, w.bins, w.held, w.some, w.exponents)
        shared[CUT] += rows[vertex].peek
        if len(rows) > CACHED:
            fetch_near(vertex, len(w.near), w.starts, w.near, rows, w.bins, w.sums)
        many = flip(
            vertex,
            aged,
            w.starts,
            w.near,
            w.weights,
            rows,
            w.bins,
            w.held,
            shared,
            w.some,
            w.exponents,
            w.sums,
        )
        put(many, w.some, w.exponents, w.sums, w.levels)
        w.actions[turn], w.cuts[turn + 1] = vertex, shared[CUT]
        take(step + 1, shared, counts)
