"""Coefficients of quadratic problems, read from what the user has and added up exactly.

Whatever they come from, they become one list of entries (i, j, value), where i = j is a linear
one. Shapes: N variables, M entries, E pairs of variables.
"""

from __future__ import annotations

import math
import numbers
import reprlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ecord_jax.errors import EcordError
from ecord_jax.graphs.edges import MergedEdges, as_weights, merge
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.sums import MAX_INTEGRAL_FLOAT

__all__ = [
    "Entries",
    "Names",
    "collect",
    "field_sums",
    "ising_entries",
    "join",
    "merge_entries",
    "qubo_entries",
]

Names = Sequence[Hashable]


class Entries(NamedTuple):
    """Coefficients as they were given: those of one pair, in either order, add up.

    Attributes:
      ends: int64 [M, 2], 0-based variables; both the same in a linear entry.
      values: int64 or float64 [M], finite.
    """

    ends: np.ndarray
    values: np.ndarray


def qubo_entries(Q: Any, names: Iterable[Hashable] | None) -> tuple[Names, Entries]:
    """Reads the matrix of a QUBO; see `ecord_jax.graphs.problem.Problem.from_qubo`."""
    if isinstance(Q, Mapping):
        order = _order(_ends_of(Q), names)
        return order, _from_mapping(Q, order, "Q")
    size, entries = _from_matrix(Q, "Q")
    return _name_all(names, size, "Q"), entries


def ising_entries(h: Any, J: Any, names: Iterable[Hashable] | None) -> tuple[Names, Entries]:
    """Reads fields and couplings; see `ecord_jax.graphs.problem.Problem.from_ising`."""
    if h is None or (not isinstance(h, Mapping) and _length(h) == 0):
        h = {}
    if isinstance(J, Mapping):
        order = (
            _order(chain(h, _ends_of(J)), names)
            if isinstance(h, Mapping)
            else _name_all(names, _length(h), "h")
        )
        couplings = _from_mapping(J, order, "J")
    else:
        size, couplings = _from_matrix(J, "J")
        order = _name_all(names, size, "J")
    alone = np.flatnonzero((couplings.ends[:, 0] == couplings.ends[:, 1]) & (couplings.values != 0))
    if alone.size:
        name = reprlib.repr(order[couplings.ends[alone[0], 0]])
        raise EcordError(f"J couples {name} to itself; s² = 1 is a constant, add it to the offset")
    if not isinstance(J, Mapping):
        couplings = _join_triangles(couplings, len(order))
    return order, _concatenate(_fields(h, order), couplings)


def collect(entries: Entries, num_variables: int) -> tuple[np.ndarray, MergedEdges]:
    """Adds up the entries of each variable and of each pair, exactly or rounded once.

    Returns:
      Linear coefficients [N], and the pairs with their coefficients in canonical form.

    Raises:
      EcordError: where a sum is too large.
    """
    ends, values = entries
    alone = ends[:, 0] == ends[:, 1]
    variables, own = field_sums(ends[alone, 0], values[alone], num_variables)
    linear = np.zeros(num_variables, own.dtype)
    linear[variables] = own
    return linear, merge_entries(Entries(ends[~alone], values[~alone]), num_variables)


def field_sums(
    variables: np.ndarray, values: np.ndarray, num_variables: int
) -> tuple[np.ndarray, np.ndarray]:
    """Sums values by variable, integers exactly and floats rounded once.

    Args:
      variables: int64 [M], 0..N-1.
      values: int64 or float64 [M].
      num_variables: N.

    Returns:
      The variables that there are, ascending, and their sums.

    Raises:
      EcordError: where a sum is too large.
    """
    ends = np.stack([variables, np.full_like(variables, num_variables)], axis=1)
    merged = merge_entries(Entries(ends, values), num_variables + 1)
    return merged.edges[:, 0], merged.weights


def merge_entries(entries: Entries, num_variables: int) -> MergedEdges:
    """Adds up the entries of each pair; raises EcordError where a sum is too large."""
    try:
        return merge(entries.ends, entries.values, num_variables)
    except EcordError:
        raise EcordError("coefficients add up beyond 64 bits, or the largest float64") from None


def join(*lists: np.ndarray) -> np.ndarray:
    """Makes one list of several, each int64 or float64; no integer is rounded for a float's sake.

    Raises:
      EcordError: where one would be.
    """
    lists = tuple(values for values in lists if values.size)
    for values in lists if len({values.dtype.kind for values in lists}) > 1 else ():
        if values.dtype.kind == "i":
            large = (values > MAX_INTEGRAL_FLOAT) | (values < -MAX_INTEGRAL_FLOAT)
            _check_mixture([*values[large].tolist(), 0.5])
    return np.concatenate(lists) if lists else np.zeros(0, np.int64)


def _concatenate(first: Entries, second: Entries) -> Entries:
    return Entries(np.concatenate([first.ends, second.ends]), join(first.values, second.values))


def _ends_of(pairs: Mapping[Any, Any]) -> Iterable[Hashable]:
    """Both names of each key, in order; a string of two letters is no pair."""
    for key in pairs:
        if not isinstance(key, tuple) or len(key) != 2:
            got = reprlib.repr(key)
            raise EcordError(f"coefficients need pairs of variables as keys; got {got}")
        yield from key


def _order(used: Iterable[Hashable], names: Iterable[Hashable] | None) -> Names:
    """Gives the variables in the user's order.

    Args:
      used: names that have coefficients, in the order of their first use, repeats allowed.
      names: the order; None for the default: ascending where all names are integers, else `used`.
    """
    found = tuple(dict.fromkeys(used))
    if names is not None:
        return _listed(names)
    if all(map(_is_integer, found)):
        return _listed(sorted(found))  # type: ignore[type-var]
    return found


def _is_integer(name: Any) -> bool:
    return isinstance(name, numbers.Integral) and not isinstance(name, bool)


def _listed(names: Iterable[Hashable]) -> Names:
    """The names as a tuple; 0..N-1 as a range, as a matrix's variables have them."""
    if isinstance(names, range):
        return names
    listed = tuple(names.tolist() if isinstance(names, np.ndarray) else names)
    numbered = all(map(_is_integer, listed)) and listed == tuple(range(len(listed)))
    return range(len(listed)) if numbered else listed


def _name_all(names: Iterable[Hashable] | None, size: int, what: str) -> Names:
    if names is None:
        return range(size)
    names = _listed(names)
    if len(names) != size:
        raise EcordError(f"there are {len(names)} names for the {size} variables of {what}")
    return names


def _length(h: Any) -> int:
    try:
        return len(h)
    except TypeError:
        raise EcordError(f"h must be a mapping or a list; got a {type(h).__name__}") from None


def _fields(h: Any, names: Names) -> Entries:
    """Linear entries, of a mapping from names or of a list in their order."""
    if isinstance(h, Mapping):
        own = {(name, name): value for name, value in h.items()}
        return _from_mapping(own, names, "h", keys=list(h))
    values = h if isinstance(h, np.ndarray) else list(h)
    if len(values) != len(names) or getattr(values, "ndim", 1) != 1:
        got = f"shape {getattr(values, 'shape', (len(values),))}"
        raise EcordError(f"h must have shape ({len(names)},), one value a variable; got {got}")
    every = np.arange(len(names))
    return Entries(np.stack([every, every], axis=1), _as_coefficients(values, lambda i: f"h[{i}]"))


def _from_mapping(
    pairs: Mapping[Any, Any], names: Names, what: str, keys: Sequence[Any] | None = None
) -> Entries:
    """Reads {(name, name): value}; errors quote the key, or what `keys` has in its place."""
    try:
        index = {name: i for i, name in enumerate(names)}
    except TypeError:
        raise EcordError("names must be hashable") from None
    try:
        ends = [index[name] for name in _ends_of(pairs)]
    except KeyError as error:
        name = reprlib.repr(error.args[0])
        raise EcordError(f"{what} has a coefficient of {name}, which is no variable") from None
    shown = list(pairs) if keys is None else keys
    values = _as_coefficients(list(pairs.values()), lambda i: f"{what}[{reprlib.repr(shown[i])}]")
    return Entries(np.asarray(ends, np.int64).reshape(-1, 2), values)


def _from_matrix(matrix: Any, what: str) -> tuple[int, Entries]:
    """Reads the entries of a square matrix, zeros only where a sparse one stores them.

    Returns:
      N and the entries.
    """
    sparse = hasattr(matrix, "tocoo")
    try:
        if sparse:
            matrix = matrix.tocoo()
        else:  # without `object` numpy would make floats of large integers in nested lists
            matrix = np.asarray(matrix, None if hasattr(matrix, "__array__") else object)
    except (TypeError, ValueError):
        raise EcordError(f"cannot read {what} as a matrix") from None
    matrix = matrix.reshape(0, 0) if matrix.shape == (0,) else matrix
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise EcordError(f"{what} must be a square matrix; got shape {matrix.shape}")
    if sparse:
        ends, values = np.stack([matrix.row, matrix.col], axis=1), matrix.data
    else:  # objects are looked at one by one: None is not zero
        ends = np.argwhere(np.ones(matrix.shape) if matrix.dtype == object else matrix != 0)
        values = matrix[tuple(ends.T)]
    checked = _as_coefficients(values, lambda i: f"{what}[{ends[i, 0]}, {ends[i, 1]}]")
    kept = slice(None) if sparse else checked != 0
    return int(matrix.shape[0]), Entries(ends[kept].astype(np.int64), checked[kept])


def _join_triangles(entries: Entries, size: int) -> Entries:
    """Makes one triangle of a matrix's two, which must be equal where both are there."""
    import scipy.sparse

    matrix = scipy.sparse.coo_array((entries.values, tuple(entries.ends.T)), shape=(size, size))
    try:
        graph = Graph.from_scipy(matrix)
    except EcordError as error:
        raise EcordError(f"J: {error}") from None
    return Entries(graph.edges, graph.weights)


def _as_coefficients(values: Any, name_of: Callable[[int], str]) -> np.ndarray:
    """Converts numbers to int64 where all of them are integers, else to float64.

    Args:
      values: a numeric array [M], or a sequence of M Python numbers.
      name_of: what a message calls a value, by its index.

    Returns:
      int64 or float64 [M]; floats that all hold integers of up to 53 bits count as integers.

    Raises:
      EcordError: for what is no finite number, or does not fit.
    """
    if isinstance(values, np.ndarray) and values.dtype != object:
        if values.dtype.kind not in "biuf":
            raise EcordError(f"coefficients must be real numbers; got {values.dtype}")
        bad = np.flatnonzero(~np.isfinite(values))
    else:
        values = list(values)
        bad = np.flatnonzero([not _is_finite_number(value) for value in values])
    if bad.size:
        value = values[bad[0]]
        got = reprlib.repr(value.item() if isinstance(value, np.generic) else value)
        raise EcordError(f"{name_of(int(bad[0]))} must be a finite number; got {got}")
    if isinstance(values, list):
        _check_mixture(values)
    try:
        return as_weights(np.asarray(values, object) if isinstance(values, list) else values)
    except EcordError:
        message = "a coefficient is beyond 64 bits, or the largest float64"
        raise EcordError(message) from None


def _is_finite_number(value: Any) -> bool:
    try:
        return isinstance(value, numbers.Real) and math.isfinite(value)
    except OverflowError:  # a large integer or fraction, for which there may be no place later
        return True


def _check_mixture(values: Sequence[Any]) -> None:
    """Refuses integers that would be rounded because not all of them are integers."""
    whole = [int(value) for value in values if isinstance(value, numbers.Integral)]
    for value in whole if len(whole) < len(values) else ():
        significant = value // (value & -value) if value else 0
        if abs(significant) > MAX_INTEGRAL_FLOAT:
            raise EcordError(f"the coefficient {value} would be rounded beside fractions")
