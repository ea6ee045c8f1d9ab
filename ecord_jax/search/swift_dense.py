"""One walk of `swift` on the host where a vertex has many neighbours: passes over all vertices.

Their numbers lie side by side in columns, and the weights of their edges in rows of a matrix.
Shapes are those of `ecord_jax.search.swift_state`.
"""

from __future__ import annotations

from typing import Any

from ecord_jax.search.swift_state import (
    BASE,
    COLDNESS,
    CUT,
    DIP,
    EVERY,
    FACE,
    FIELD,
    GAIN,
    PROGRESS,
    RISE,
    STEP,
    TOP,
    UNIT,
    WalkState,
)
from ecord_jax.search.swift_step import DEEPEST, age, begin, exp, look, note, take, weigh_all
from ecord_jax.search.swift_sums import draw, sum_up

__all__ = ["walk_dense"]


def walk_dense(w: WalkState) -> None:
    """Does one flip for each draw, by passes over all vertices."""
    rows, columns, shared, counts = w.rows, w.columns, w.shared, w.counts
    w.cuts[0] = begin(w.starts, w.near, w.weights, rows, shared, counts)
    for i in range(len(rows)):
        columns[FACE, i], columns[FIELD, i] = rows[i].side, rows[i].peek * rows[i].side
    for turn in range(len(w.draws)):
        step = counts[STEP]
        if step % counts[EVERY] == 0:
            look(w.settings, shared, counts, len(rows), w.places, w.held)
            _set_peeks(rows, columns)
            weigh_all(rows, w.bins, w.held, shared, w.sums, w.levels)
            _set_bases(rows, w.bins, w.held, shared, columns[BASE])
        vertex = draw(w.draws[turn], w.sums, w.levels)
        columns[BASE, vertex] += rows[vertex].penalty * (w.held[w.bins[vertex]] - w.held[0])
        note(vertex, step, rows, w.bins, w.ring, w.faded)
        many = age(step + 1, w.edges, w.ring, w.faded, w.bins, w.held, w.some, w.exponents)
        for m in range(many):
            columns[BASE, w.some[m]] += w.exponents[m]
        side = columns[FACE, vertex]
        shared[CUT] += columns[FIELD, vertex] * side
        columns[FACE, vertex] = rows[vertex].side = -side
        _pass(w.matrix[vertex], side, columns, shared, w.sums)
        sum_up(1, w.sums, w.levels)
        w.actions[turn], w.cuts[turn + 1] = vertex, shared[CUT]
        take(step + 1, shared, counts)
    _set_peeks(rows, columns)


def _set_peeks(rows: Any, columns: Any) -> None:
    for i in range(len(rows)):
        rows[i].peek = columns[FIELD, i] * columns[FACE, i]


def _set_bases(rows: Any, bins: Any, held: Any, shared: Any, bases: Any) -> None:
    for i in range(len(rows)):
        bias = rows[i].bias + rows[i].drift * shared[PROGRESS]
        bases[i] = bias - rows[i].penalty * held[bins[i]]


def _pass(row: Any, side: float, columns: Any, shared: Any, sums: Any) -> None:
    """Changes the fields as a vertex with these weights leaves a side; weighs all vertices."""
    gains, bases, faces, fields = columns[GAIN], columns[BASE], columns[FACE], columns[FIELD]
    unit, rise, dip = shared[UNIT], shared[RISE], shared[DIP]
    coldness, top = shared[COLDNESS], shared[TOP]
    for i in range(len(row)):
        fields[i] -= 2.0 * side * row[i]
        x = fields[i] * faces[i] * unit
        loss = min(max(x, DEEPEST), 0.0)
        z = gains[i] * x + rise * max(x, 0.0) + dip * loss * loss + bases[i]
        sums[i] = z * coldness - top
    # Apart: both in one loop need more registers than there are.
    for i in range(len(row)):
        sums[i] = exp(sums[i])
