"""An upper bound of the maximum cut, proved where memory allows: Goemans and Williamson's (1995).

With the weights' symmetric matrix W and their sum T, a cut is T/2 - x W x / 4 for x in {-1, 1}^N.
For every z such that Diag(z) + W has no negative eigenvalue, no cut is above

    T/2 + sum_i z_i / 4,

and the least such bound is the value of the semidefinite relaxation. For its solution v (Burer and
Monteiro, 2003: `ecord_jax.search.sdp`) z_i = |sum_j w_ij v_j|. What v lacks, and float32, makes an
eigenvalue slightly negative; as much of d_i = sum_j |w_ij| is added to z as makes up for it. All of
d would be enough for any z >= 0, which for z = 0 is the sum of the positive weights.

Lanczos's method says how much, too little if anything. That the amount is enough is proved by a
Cholesky factorisation, with a margin for its rounding errors (`ecord_jax.search.definite`); sums
are exact or rounded up. A bound without such a proof is not certified: it is an estimate.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import time
from fractions import Fraction

import jax
import numpy as np
import scipy.sparse

from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.edges import exact_sum
from ecord_jax.graphs.presolve import Reduction
from ecord_jax.search.definite import Band, proven_shift, smallest_eigenvalue, to_band
from ecord_jax.search.sdp import low_rank_sdp, scaled_adjacency

__all__ = ["Bound", "cut_step", "upper_bound"]

_SAFE_SUM = 2**62
# Of the eigenvalues of D^-1/2 (Diag(z) + W) D^-1/2, which are between -1 and 2: how well the
# smallest is estimated, what is added to that at first, also as a part of it, and the factor for a
# next attempt.
_TOLERANCE = 1e-8
_CAUTION, _DOUBT = 1e-7, 0.02
_FACTOR = 10.0


@dataclasses.dataclass(frozen=True)
class Bound:
    """What no cut of a graph is above.

    Attributes:
        value: the bound, rounded up; an int where it is the sum of positive integer weights.
        certified: whether it is proved. If not, it is an estimate, which is likely to hold.
        step: for integer weights every cut is a multiple of it; 0 for others.
        relaxation: cut that the vectors found stand for, a lower bound of the value of the
            relaxation but for rounding; None where none were needed. The difference to `value` is
            what more time, or a proof, would gain at best.
        seconds: that it took.
    """

    value: int | float
    certified: bool
    step: int
    relaxation: float | None
    seconds: float

    @property
    def largest_cut(self) -> int | float:
        """The largest cut that the value leaves room for: an int for integer weights."""
        if not self.step or not math.isfinite(self.value):
            return self.value
        return math.floor(self.value) // self.step * self.step

    def proves(self, cut: int | float) -> bool:
        """Whether a cut is the largest, since it is as large as the bound, if that is certified.

        Args:
            cut: of the same graph, as `Graph.cut` gives it.
        """
        return self.certified and cut >= self.largest_cut


def upper_bound(problem: Graph | Reduction, *, time_limit: float | None = None) -> Bound:
    """Computes an upper bound of the maximum cut.

    It is within about a millionth of the value of the relaxation, and never above the sum of the
    positive weights. It is certified up to 10 000 vertices, and beyond for graphs such as grids
    whose matrix is a narrow band in some order. The same graph gives the same bound on the same
    machine, if no limit ends it early.

    Args:
        problem: a graph, or what `presolve` made of one, for a bound of its `source`. Weights that
            are not integers may have been rounded by presolve: then the source itself is bounded.
        time_limit: seconds, compiling included, after which no better one is looked for; none by
            default. It is certified all the same, which takes well below a second for 2000 vertices
            and some ten seconds for 10 000.

    Returns:
        The bound.

    Raises:
        OptionError: for a limit or problem that makes no sense.
        EcordError: where weights sum beyond the largest float64.

    Example:
        >>> bound = upper_bound(graph, time_limit=60)
        >>> optimal = bound.proves(graph.cut(labels))
    """
    began = time.monotonic()
    deadline = began + _check_limit(time_limit)
    reduction = _exact(problem)
    trivial, step = reduction.bound, cut_step(reduction.source)
    if not reduction.graph.positive_weight:
        return Bound(trivial, True, step, None, time.monotonic() - began)
    vectors = low_rank_sdp(reduction.graph, key=jax.random.key(0), deadline=deadline).vectors
    value, certified, relaxation = _dual(reduction, vectors, trivial)
    return Bound(value, certified, step, relaxation, time.monotonic() - began)


def cut_step(graph: Graph) -> int:
    """A number that every cut is a multiple of: 2 where all vertices have an even degree, say.

    Returns:
        For integer weights the greatest common divisor of the vertices' cuts and twice the weights,
        of which cuts are sums; 1 where that is too large to compute. 0 for other weights.
    """
    if graph.weights.dtype.kind == "f":
        return 0
    if 2 * graph.positive_weight - exact_sum(graph.weights) >= _SAFE_SUM:
        return 1
    degrees = np.zeros(graph.num_vertices, np.int64)
    for ends in graph.edges.T:
        np.add.at(degrees, ends, graph.weights)
    return max(1, int(np.gcd.reduce(np.concatenate([degrees, 2 * graph.weights]))))


def _check_limit(time_limit: float | None) -> float:
    if time_limit is None:
        return math.inf
    if not isinstance(time_limit, numbers.Real) or not time_limit > 0:
        raise OptionError(f"time_limit={time_limit!r} must be a number of seconds above 0")
    return float(time_limit)


def _exact(problem: Graph | Reduction) -> Reduction:
    """What to bound: a reduction whose constant and weights are exact."""
    if isinstance(problem, Graph):
        return Reduction.unchanged(problem)
    if not isinstance(problem, Reduction):
        raise OptionError(f"problem is a {type(problem).__name__}; expected a Graph or a Reduction")
    exact = problem.source.weights.dtype.kind == "i"
    return problem if exact else Reduction.unchanged(problem.source)


def _dual(
    reduction: Reduction, vectors: np.ndarray, trivial: int | float
) -> tuple[int | float, bool, float]:
    """The bound that vectors [N, R] lead to, whether it is proved, and the cut they stand for."""
    rows, exponent = scaled_adjacency(reduction.graph)
    totals = abs(rows) @ np.ones(len(vectors))
    fields = rows @ vectors
    least = np.linalg.norm(fields, axis=1)
    relaxation = _worth(reduction, exponent, Fraction(-float(np.sum(fields * vectors))))
    raised, share = _what_lacks(rows, least, totals)
    band, rounding = to_band(rows), _rounding(totals)
    caution = _CAUTION + _DOUBT * share
    while True:
        diagonal = least + (share + caution) * raised
        shift, fits = _try_proof(band, diagonal)
        total = _sum_up(diagonal) + rounding + len(totals) * Fraction(shift or 0.0)
        value = _round_up(_worth(reduction, exponent, total))
        if value >= trivial:
            return trivial, True, float(relaxation)
        if shift is not None or not fits:
            return value, shift is not None, float(relaxation)
        caution *= _FACTOR


def _try_proof(band: Band, diagonal: np.ndarray) -> tuple[float | None, bool]:
    """What `proven_shift` gives, and whether there was memory for it."""
    try:
        return proven_shift(band, diagonal), True
    except MemoryError:
        return None, False


def _what_lacks(
    rows: scipy.sparse.csr_array, diagonal: np.ndarray, totals: np.ndarray
) -> tuple[np.ndarray, float]:
    """What to add to a diagonal, and how many times, until no eigenvalue is negative.

    Returns:
        The totals [N] or, where that takes less, their mean on every vertex: where weights differ
        by many orders of magnitude, float32 leaves much to do for the light ones only.
    """
    lacks = -smallest_eigenvalue(_normalised(rows, diagonal, totals), _TOLERANCE)
    if lacks > _FACTOR * _CAUTION:
        even = np.where(totals > 0, totals.mean(where=totals > 0), 0.0)
        other = -smallest_eigenvalue(_normalised(rows, diagonal, even), _TOLERANCE)
        if other < lacks:
            return even, max(0.0, other)
    return totals, max(0.0, lacks)


def _normalised(
    rows: scipy.sparse.csr_array, diagonal: np.ndarray, unit: np.ndarray
) -> scipy.sparse.csr_array:
    """D^-1/2 (Diag(diagonal) + rows) D^-1/2 with D of the unit [N]; zero where that is."""
    factors = np.zeros_like(unit)
    np.divide(1.0, np.sqrt(unit), out=factors, where=unit > 0)
    scale = scipy.sparse.diags_array(factors)
    return scale @ (rows + scipy.sparse.diags_array(diagonal)) @ scale


def _worth(reduction: Reduction, exponent: int, total: Fraction) -> Fraction:
    """The source's cut, rounded up if at all, for a sum of z in units of 2^exponent."""
    weights = reduction.graph.weights
    whole = exact_sum(weights)
    if weights.dtype.kind == "f":
        whole = math.nextafter(whole, math.inf)
    cut = Fraction(whole) / 2 + total * Fraction(2) ** (exponent - 2)
    return Fraction(reduction.constant) + cut / reduction.scale


def _rounding(totals: np.ndarray) -> Fraction:
    """What makes up for weights that `scaled_adjacency` rounded, by dominance of the diagonal."""
    return Fraction(4 * 2.0**-53) * _sum_up(totals) + len(totals) * Fraction(2.0**-1000)


def _sum_up(values: np.ndarray) -> Fraction:
    """Sum of floats of at least 0, rounded up."""
    return Fraction(math.nextafter(math.fsum(values.tolist()), math.inf))


def _round_up(number: Fraction) -> float:
    try:
        nearest = float(number)
    except OverflowError:
        return math.inf
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)
