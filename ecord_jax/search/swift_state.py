"""What one walk of `swift` on the host consists of, and the numbers of its places.

Vertices are numbered by their rows. Shapes: N vertices, H half-edges, K edges of the time curve, L
levels of sums, S numbers on all of them, T flips of a chunk.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

FAN = 32  # numbers that make a sum
BATCH = 16  # flips that vertices are drawn for at once, see `ecord_jax.search.swift_batch`
LANES = 8  # exponentials are computed in multiples of so many
CACHED = 1 << 14  # rows of so many vertices lie in the processor's cache anyway
# What a vertex has for itself; two of them are a cache line.
ROW = np.dtype(
    [
        ("peek", np.float64),
        *[(name, np.float32) for name in ("gain", "bias", "drift", "penalty", "side")],
        ("place", np.int32),
    ]
)
# Places in `shared` and in `counts`, rows of `columns`.
CUT, BEST, TOP, COLDNESS, PROGRESS, RISE, DIP, UNIT = 0, 1, 2, 3, 4, 5, 6, 7
TOTAL, OTHERS, INSIDE = 8, 9, 10
STEP, BUDGET, BEST_STEP, EVERY, COUNTED, PAST = 0, 1, 2, 3, 4, 5
DRAWN, AT, END, BATCHES, CHANGED = 6, 7, 8, 9, 10
GAIN, BASE, FACE, FIELD = 0, 1, 2, 3
CURVE = 16  # where it begins in `settings`


class WalkState(NamedTuple):
    """A walk between two chunks.

    Attributes:
        order: int32 [N], the vertex of the graph that each is.
        starts, near, weights: [N + 1], [H], [H]: the neighbours of each vertex, and the weights of
            the edges to them.
        edges: int64 [K], see `time_edges`.
        places: float64 [2, K], see `time_places`.
        settings: float64 [16 + knots], the parameters of the globals: `temperature` [6], `penalty`
            [3], `bend` [3], `long` [3], `memory` [1] and `curve`.
        levels: int64 [L], where in `sums` each level begins.
        rows: ROW [N]: of each vertex the peek, in units of the weights; gain, bias, drift and
            penalty, see `SwiftTables`; the side, 1 or -1; and where in the ring its last flip is,
            if it is there.
        bins: unsigned [N], those of the time since the last flip.
        held: float64 [K + 1], see `Globals`, as of the last refresh.
        ring: int32 [a power of 2 above edges[-1]], the last flips; -1 where the vertex was flipped
            again.
        faded: float64 [as many], the penalty of each of their vertices.
        sums: float64 [S], the weights with which vertices are flipped, up to a factor, and level by
            level the sums of 32 numbers of the level before; each level is filled up with zeros to
            a multiple of 32, the last has no more than 32.
        some, exponents: int32 and float64 [., a multiple of 8]: room for the vertices that a step
            weighs anew.
        matrix: float [N, N], the weights; [0, 0] where neighbours are few.
        columns: float64 [4, N], where there is a matrix: the gain again; what else there is of a
            score; the side; and the field, which is the peek if the side were 1.
        ahead, rests: int32 and float64 [BATCH]: the blocks of 32 vertices drawn for a batch, in
            whose places their vertices come later; and where in their sums.
        marks: int32 [blocks], the last batch that each changed in.
        changed: int32 [blocks], those that have changed in this batch.
        draws: float64 [T], uniform numbers; some more where there are batches.
        choices: float64 [T], more such numbers, where there are batches.
        actions: int32 [T], the vertices flipped.
        cuts: float64 [T + 1], the cut before the first and after each.
        shared: float64 [11]: the cut, the best one, the largest score at the last refresh, 1 / T,
            the progress, the two factors of the bend, 1 / s; and of a batch the sum of all weights
            at its begin, that of what has not changed since, and that of the changed blocks now.
        counts: int64 [11]: flips done, the budget, when the best was met, flips between refreshes,
            when peeks were last computed, and how many count as done before the first; of `draws`
            those used; and of a batch the place, the end, the number, and blocks changed.
    """

    order: Any
    starts: Any
    near: Any
    weights: Any
    edges: Any
    places: Any
    settings: Any
    levels: Any
    rows: Any
    bins: Any
    held: Any
    ring: Any
    faded: Any
    sums: Any
    some: Any
    exponents: Any
    matrix: Any
    columns: Any
    ahead: Any
    rests: Any
    marks: Any
    changed: Any
    draws: Any
    choices: Any
    actions: Any
    cuts: Any
    shared: Any
    counts: Any
