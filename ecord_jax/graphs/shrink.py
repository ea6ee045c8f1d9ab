"""The loop that shrinks a graph: exact rules, to a fixpoint, smallest degree first.

A cut is written in spins, s = 1 on side 0 and -1 on side 1: an edge of weight w adds
w (1 - s_u s_v) / 2. Each rule takes one vertex u away and leaves the best value that the rest can
have with it, so that any labels of the rest, completed in the best way, lose nothing:

- Degree 0: any label.
- Heavy edge: where |w_uv| >= sum of the other |w_ux|, nothing is lost by s_u = -sign(w_uv) s_v: to
  turn u so gains |w_uv| and costs at most the others. The edges of u move to v, with another sign
  where the spins differ. Every vertex of degree 1 or 2 has such an edge.
- Star-triangle: for u of degree 3 with weights p, q, r and no heavy edge, the best s_u gives
  (p + q + r + |p s_a + q s_b + r s_c|) / 2. An even function of three spins is a constant and a
  triangle: w_ab = -sign(p q) (|p| + |q| - |r|) / 2, and so round.
- Twins: u and v have the same neighbours x, and w_ux = k w_vx for all of them. Then the fields of u
  and v are proportional, and s_u = sign(k) s_v is best whatever the others are. An edge between u
  and v may only add to that, sign(k) w_uv < 0; else what is best depends on the field.

Edges that meet add up, and go where they cancel. No rule raises the sum of all |w|, so that what
fits its type at first always does. Weights are halved only where that is exact: a star with an odd
sum stays, and whoever wants halves and quarters scales by a power of two beforehand.

The functions run in plain Python on lists and compiled on arrays, see `ecord_jax.graphs.compiled`,
and change `ecord_jax.graphs.rows`.
"""

from __future__ import annotations

from typing import Any

from ecord_jax.graphs.rows import (
    MASK,
    NUM_SHELVES,
    REMOVED,
    RULES,
    Rows,
    add,
    append,
    find,
    forget,
    insert,
    mix,
    remove,
    take_out,
    wake,
)

__all__ = ["shrink"]

_STAR, _TWINS = RULES.index("star-triangle"), RULES.index("twins")
_MOST_LOOKS = 64  # at neighbours that may be twins


def shrink(r: Rows) -> None:
    """Builds the rows of `ends` and `weights`, and applies the rules until there is none to apply.

    Args:
      r: all nodes in no ring (next to themselves), nothing in the table, nothing counted.
    """
    _build(r)
    while _apply_rule(r):
        pass


def _build(r: Rows) -> None:
    for edge in range(len(r.weights)):
        insert(r, edge, r.ends[2 * edge], r.ends[2 * edge + 1], r.weights[edge])
    for vertex in range(len(r.degrees)):
        wake(r, vertex)


def _apply_rule(r: Rows) -> bool:
    """Takes one of the waiting vertices away, if there is a rule for it; False if none waits."""
    u = _next(r)
    if u < 0:
        return False
    degree = r.degrees[u]
    half, total = _heaviest(r, u)
    weight = r.weights[half >> 1] if degree > 0 else 0
    v, sign = u, 0
    if degree == 0:
        r.counts[0] += 1
        forget(r, u)
    elif 2 * abs(weight) >= total:
        r.counts[min(degree, 3)] += 1
        v, sign = r.ends[half], (-1 if weight > 0 else 1)
    elif degree == 3 and total % 2 == 0:
        r.counts[_STAR] += 1
        _replace_star(r, u)
    else:
        v, sign = _find_twin(r, u, abs(weight))
        r.counts[_TWINS] += abs(sign)
    if sign != 0:
        _contract(r, u, v, sign)
    return True


def _next(r: Rows) -> int:
    """Takes out one of the waiting vertices of smallest degree; -1 if none waits.

    Of small degree, the last to come is the first: a region is finished before the next one is
    begun. Others take turns, so that a large row is not looked at after each change of it.
    """
    for shelf in range(NUM_SHELVES):
        ring = r.shelves + shelf
        node = r.after[ring] if shelf == NUM_SHELVES - 1 else r.before[ring]
        if node != ring:
            take_out(r, node)
            r.shelf[node - r.waiting] = -1
            return node - r.waiting
    return -1


def _heaviest(r: Rows, u: int) -> tuple[int, Any]:
    """Gives the heaviest half-edge out of a vertex, and the sum of all magnitudes."""
    heavy = half = r.after[r.rows + u]
    heaviest = total = 0
    while half < r.rows:
        size = abs(r.weights[half >> 1])
        total += size
        if size > heaviest:
            heaviest, heavy = size, half
        half = r.after[half]
    return heavy, total


def _contract(r: Rows, u: int, v: int, sign: int) -> None:
    """Ties the spin of u to sign times that of v and moves its edges there, or the other way."""
    if r.degrees[u] > r.degrees[v]:  # the smaller row is moved
        u, v = v, u
    _depend(r, 0, v, -sign)
    forget(r, u)
    half = r.after[r.rows + u]
    while half < r.rows:
        edge, x = half >> 1, r.ends[half]
        weight = r.weights[edge]
        remove(r, edge)
        if x != v:
            add(r, edge, v, x, sign * weight)
        half = r.after[r.rows + u]
    wake(r, v)


def _replace_star(r: Rows, u: int) -> None:
    """Puts a triangle between the three neighbours of u, whose weights have an even sum."""
    i = r.after[r.rows + u]
    j = r.after[i]
    k = r.after[j]
    a, b, c = r.ends[i], r.ends[j], r.ends[k]
    p, q, s = r.weights[i >> 1], r.weights[j >> 1], r.weights[k >> 1]
    _depend(r, 0, a, p)
    _depend(r, 1, b, q)
    _depend(r, 2, c, s)
    forget(r, u)
    for half in (i, j, k):
        remove(r, half >> 1)
    sides = ((i, a, b, p, q, s), (j, b, c, q, s, p), (k, c, a, s, p, q))
    for half, v, x, to_v, to_x, opposite in sides:
        size = (abs(to_v) + abs(to_x) - abs(opposite)) // 2
        add(r, half >> 1, v, x, -size if (to_v > 0) == (to_x > 0) else size)


def _find_twin(r: Rows, u: int, heaviest: Any) -> tuple[int, int]:
    """Looks for a twin of u; gives it and the sign between their spins, 0 for none.

    Neighbours that are twins have the same set of vertices, each with its neighbours, so that few
    must be looked at closely, but in a clique. Other twins differ by a factor, and are met in a
    ring of vertices that have been here before.
    """
    _hash_row(r, u, heaviest)
    looks = 0
    half = r.after[r.rows + u]
    while half < r.rows and looks < _MOST_LOOKS:
        v = r.ends[half]
        if r.set_hashes[v] == r.set_hashes[u]:
            looks += 1
            sign = _compare(r, u, v, 1 if r.weights[half >> 1] > 0 else -1)
            if sign != 0:
                return v, sign
        half = r.after[half]
    take_out(r, r.compared + u)
    ring = r.buckets + ((r.row_hashes[u] >> 20) & (len(r.after) - r.buckets - 1))
    node = r.after[ring]
    while node != ring:
        v = node - r.compared
        if r.row_hashes[v] == r.row_hashes[u]:
            sign = _compare(r, u, v, 0)
            if sign != 0:
                return v, sign
        node = r.after[node]
    append(r, ring, r.compared + u)
    return u, 0


def _hash_row(r: Rows, u: int, heaviest: Any) -> None:
    """Hashes the row of u so that neither the order nor a factor matters."""
    row, members, sign, least = 0, mix(u), 0, len(r.degrees)
    half = r.after[r.rows + u]
    while half < r.rows:
        v, weight = r.ends[half], r.weights[half >> 1]
        share = int(abs(float(weight)) / float(heaviest) * 2**30 + 0.5)
        row = (row + mix(v) * (share if weight > 0 else -share)) & MASK
        members = (members + mix(v)) & MASK
        if v < least:  # some neighbour that twins agree on: its sign is the row's
            least, sign = v, (1 if weight > 0 else -1)
        half = r.after[half]
    # Mixed once more, because shares of equal weights have all their low bits 0.
    r.row_hashes[u], r.set_hashes[u] = mix(sign * row & MASK), members


def _compare(r: Rows, u: int, v: int, between: int) -> int:
    """Gives the sign of the factor between the rows of two twins, 0 if they are none.

    An edge between them, whose weight has the sign `between`, is not part of the rows.
    """
    if r.degrees[u] != r.degrees[v]:
        return 0
    sign, p, q = 0, 0, 0
    half = r.after[r.rows + u]
    while half < r.rows:
        x, weight = r.ends[half], r.weights[half >> 1]
        half = r.after[half]
        if x == v:
            if between == 0:  # neighbours, by an accident of hashes
                return 0
            continue
        edge = r.table[find(r, v, x)]
        if edge < 0:
            return 0
        other = r.weights[edge]
        if sign == 0:
            # The factor is p / q in lowest terms: exact, and without products that overflow.
            a, b = abs(weight), abs(other)
            while b != 0:
                a, b = b, a % b
            p, q = weight // a, other // a
            sign = 1 if (p > 0) == (q > 0) else -1
            if sign * between > 0:
                return 0
        if weight % p != 0 or other % q != 0 or weight // p != other // q:
            return 0
    return sign


def _depend(r: Rows, place: int, v: int, weight: Any) -> None:
    """Notes one of the edges that decide the label of the vertex that is taken away next."""
    r.near[3 * r.counts[REMOVED] + place] = v
    r.pulls[3 * r.counts[REMOVED] + place] = weight
