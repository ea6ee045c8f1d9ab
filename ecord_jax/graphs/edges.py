"""Edge lists in canonical form, and exact sums of their weights.

Canonical: edges int64 [E, 2] with u < v, in lexicographic order and without repeats; weights [E]
int64 where all of them are integers, else float64, all finite. Shapes: N vertices, E edges.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ecord_jax.errors import EcordError

__all__ = ["MAX_VERTICES", "MergedEdges", "as_edges", "as_weights", "exact_sum", "merge"]

# A vertex fits an int32, which is what the device counts in.
MAX_VERTICES = 2**31 - 1
# Up to here every integer is a float64 of its own, so a float holding one means that integer.
_MAX_INTEGRAL_FLOAT = 2.0**53
_INT64_LIMIT = 2**63


class MergedEdges(NamedTuple):
    """A canonical edge list and what was done to make it so.

    Attributes:
      edges: int64 [E, 2], canonical.
      weights: int64 or float64 [E].
      num_repeats: edges that were added to another one between the same vertices.
      num_loops: edges from a vertex to itself that were dropped.
    """

    edges: np.ndarray
    weights: np.ndarray
    num_repeats: int
    num_loops: int


def as_edges(edges: Any) -> np.ndarray:
    """Converts pairs of vertex indices to an array.

    Args:
      edges: pairs of integers: an array [E, 2] or any iterable of pairs.

    Returns:
      int64 [E, 2], not yet canonical.

    Raises:
      EcordError: where they are not pairs of integers.
    """
    array = _as_array(edges, "edges")
    if array.size == 0:
        return np.zeros((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise EcordError(f"edges must be pairs of vertices, shape [E, 2]; got {array.shape}")
    if array.dtype.kind not in "iu":
        raise EcordError(f"edges must be pairs of integers; got {array.dtype}")
    return array.astype(np.int64)


def as_weights(weights: Any, num_edges: int | None = None) -> np.ndarray:
    """Converts weights to int64 where all are integers, else to float64.

    Args:
      weights: [E] numbers: an array or any iterable. Floats that all hold integers of up to 53
        bits count as integers.
      num_edges: how many there must be; any number where it is None.

    Returns:
      int64 or float64 [E], finite.

    Raises:
      EcordError: for a wrong number of them, an integer beyond 64 bits, or a weight that is not a
        finite number.
    """
    array = _as_array(weights, "weights")
    if array.ndim != 1:
        raise EcordError(f"weights must be a flat list, shape [E]; got {array.shape}")
    if num_edges is not None and array.size != num_edges:
        raise EcordError(f"there are {array.size} weights for {num_edges} edges")
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype == object:
        array = _from_objects(array)
    if array.dtype.kind in "biu":
        return _to_int64(array)
    if array.dtype.kind != "f":
        raise EcordError(f"weights must be numbers; got {array.dtype}")
    return _from_floats(array)


def exact_sum(weights: np.ndarray) -> int | float:
    """Sums weights exactly: integers without overflow, floats rounded once at the end.

    Args:
      weights: int64 or float64 [E].

    Returns:
      A Python int for int64 weights, else a Python float.

    Raises:
      EcordError: where floats sum beyond the largest float64.
    """
    if weights.dtype.kind == "i":
        fits = _largest(weights) * weights.size < _INT64_LIMIT
        return int(weights.sum()) if fits else sum(weights.tolist())
    try:
        return math.fsum(weights.tolist())
    except OverflowError:
        raise EcordError("the weights sum beyond the largest float64") from None


def merge(edges: np.ndarray, weights: np.ndarray, num_vertices: int) -> MergedEdges:
    """Brings an edge list into canonical form: loops dropped, repeated edges summed exactly.

    Args:
      edges: int64 [E, 2], each end in 0..num_vertices-1, at most MAX_VERTICES of them.
      weights: int64 or float64 [E].
      num_vertices: N.

    Returns:
      The canonical list. An edge whose weights sum to zero stays.

    Raises:
      EcordError: where weights sum beyond their type.
    """
    low, high = np.minimum(edges[:, 0], edges[:, 1]), np.maximum(edges[:, 0], edges[:, 1])
    proper = low != high
    num_loops = int(proper.size - np.count_nonzero(proper))
    # One integer an edge sorts as the pair does, and much faster; below 2**62, see MAX_VERTICES.
    keys = low * num_vertices + high
    if num_loops:
        keys, weights = keys[proper], weights[proper]
    if np.any(keys[1:] < keys[:-1]):
        order = np.argsort(keys, kind="stable")
        keys, weights = keys[order], weights[order]
    starts = np.flatnonzero(np.concatenate([np.ones(min(1, keys.size), bool), np.diff(keys) > 0]))
    num_repeats = keys.size - starts.size
    if num_repeats:
        keys, weights = keys[starts], _sum_groups(weights, starts)
    canonical = np.stack(np.divmod(keys, max(num_vertices, 1)), axis=1)
    return MergedEdges(canonical, as_weights(weights), num_repeats, num_loops)


def _as_array(values: Any, what: str) -> np.ndarray:
    """Gives `values` as an array, as one of objects where numpy would round Python integers."""
    if not hasattr(values, "__array__"):
        if not isinstance(values, Iterable):
            raise EcordError(f"{what} must be a list or an array; got {type(values).__name__}")
        values = list(values)
    try:
        array = np.asarray(values)
        # numpy makes floats of [2**63, -1] without a word.
        if isinstance(values, list) and array.dtype.kind == "f" and array.ndim == 1:
            array = np.asarray(values, object) if _all_integers(values) else array
    except (TypeError, ValueError, OverflowError):
        raise EcordError(f"{what} must be numbers, in a list of one shape") from None
    return array


def _all_integers(values: Iterable[Any]) -> bool:
    return all(isinstance(value, numbers.Integral) for value in values)


def _from_objects(array: np.ndarray) -> np.ndarray:
    """Converts Python numbers that numpy left as they are; a mixture becomes floats."""
    for index, value in enumerate(array):
        if not isinstance(value, numbers.Real):
            raise EcordError(f"weight {index} (counted from 0) is not a number; got {value!r}")
    dtype = np.int64 if _all_integers(array) else np.float64
    try:
        return array.astype(dtype)
    except OverflowError:
        kind = "64 bits" if dtype is np.int64 else "the largest float64"
        raise EcordError(f"a weight is beyond {kind}") from None


def _to_int64(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "u" and int(array.max()) >= _INT64_LIMIT:
        raise EcordError("a weight is beyond 64 bits")
    return array.astype(np.int64)


def _from_floats(array: np.ndarray) -> np.ndarray:
    """Checks that floats are finite, and gives integers where all of them hold one."""
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, refused below
        array = array.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise EcordError(f"weight {bad[0]} (counted from 0) is {array[bad[0]]}, not finite")
    if np.all(np.rint(array) == array) and np.all(np.abs(array) <= _MAX_INTEGRAL_FLOAT):
        return array.astype(np.int64)
    return array


def _largest(weights: np.ndarray) -> int:
    """Largest magnitude of integer weights, as a Python int since that of -2**63 is not int64."""
    return max(int(weights.max()), -int(weights.min())) if weights.size else 0


def _sum_groups(weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Sums each run of `weights` that begins at one of `starts`, exactly."""
    sizes = np.diff(starts, append=weights.size)
    if weights.dtype.kind == "i":
        if _largest(weights) * int(sizes.max()) < _INT64_LIMIT:
            return np.add.reduceat(weights, starts)
        return as_weights([sum(group.tolist()) for group in np.split(weights, starts[1:])])
    sums = weights[starts]
    pairs = sizes == 2  # the common case; one addition is rounded once, as fsum is
    with np.errstate(over="ignore"):  # the infinity is refused by the caller
        sums[pairs] += weights[starts[pairs] + 1]
    for group in np.flatnonzero(sizes > 2):
        sums[group] = exact_sum(weights[starts[group] : starts[group] + sizes[group]])
    return sums
