"""Proof by floating point that a sparse symmetric matrix is positive semidefinite, but for a shift.

Rump (Verification of positive definiteness, BIT 46, 2006, after Higham and Demmel): if Cholesky's
method in floating point runs to its end for a matrix A, which has at most b entries other than zero
to the left of the diagonal in any row of its profile, then no eigenvalue of A is below

    -sum_i g a_ii    with g = k u / (1 - 2 k u), k = b + 2, u = 2^-53,

but for what underflows. This holds for every order of summation, so for LAPACK's blocks and
threads, and for fused operations too; twice that sum, as taken here, allows for divisions that are
multiplications by a reciprocal. It assumes rounding to nearest, and a LAPACK that forms inner
products by adding products, as all do on CPUs.

The matrix is put in order by Cuthill and McKee's method and factored as a band, so that a grid or a
long graph of many more than 10 000 vertices, whose full matrix would not fit, is no trouble.

Shape letters: N rows, b width of the band below the diagonal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.linalg.lapack
import scipy.sparse.csgraph

__all__ = ["Band", "proven_shift", "smallest_eigenvalue", "to_band"]

_MOST_ENTRIES = 10**8  # of a band: 800 megabytes, the whole matrix of 10 000 rows
_UNIT = 2.0**-53
_TINY = 1e-290  # far above what underflows, even where the processor flushes it to zero
_MOST_STEPS = 1000
_STEPS = 100  # of Lanczos's method between two looks at the eigenvalue


class Band(NamedTuple):
    """A symmetric matrix without diagonal, in an order that keeps its entries near to that.

    Attributes:
        rows: int64 [entries below the diagonal].
        columns: int64, the same shape, each less than its row.
        values: float64, the same shape.
        order: int32 [N], the row of the given matrix that each row is. Rows of zeros are left out.
        width: b.
    """

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    order: np.ndarray
    width: int

    @property
    def fits(self) -> bool:
        """Whether its factor is of a size that is tried."""
        return (self.width + 1) * len(self.order) <= _MOST_ENTRIES


def to_band(matrix: scipy.sparse.csr_array) -> Band:
    """Puts a matrix in order.

    Args:
        matrix: float64 [N, N], symmetric, with a diagonal of zeros.
    """
    matrix = matrix.copy()
    matrix.eliminate_zeros()
    order = scipy.sparse.csgraph.reverse_cuthill_mckee(matrix, symmetric_mode=True)
    order = order[np.diff(matrix.indptr)[order] > 0]
    place = np.zeros(matrix.shape[0], np.int64)
    place[order] = np.arange(len(order))
    entries = matrix.tocoo()
    rows, columns = place[entries.row], place[entries.col]
    below = rows > columns
    rows, columns, values = rows[below], columns[below], entries.data[below]
    return Band(rows, columns, values, order, int((rows - columns).max(initial=0)))


def proven_shift(band: Band, diagonal: np.ndarray) -> float | None:
    """Tries to prove that a matrix with this diagonal is positive semidefinite if it is shifted.

    Args:
        band: the matrix without its diagonal.
        diagonal: float64 [N], in the order of the matrix that the band was made of.

    Returns:
        A shift c for which it is: the matrix plus c on all its diagonal has no negative eigenvalue.
        About b times the trace times 2e-16. None where the matrix itself has one, or might have.

    Raises:
        MemoryError: where its factor is too large.
    """
    if not band.fits:
        raise MemoryError(f"a band of {band.width + 1} by {len(band.order)} is not tried")
    chosen, size = diagonal[band.order], len(band.order)
    if not diagonal.min(initial=0) >= 0:
        return None
    if not size:
        return 0.0
    factor = np.zeros((band.width + 1, size), order="F")
    factor[0] = chosen
    factor[band.rows - band.columns, band.columns] = band.values
    factor, info = scipy.linalg.lapack.dpbtrf(factor, lower=1, overwrite_ab=1)
    # Finite pivots above zero: no entry can have become infinite or NaN on the way.
    if info != 0 or not np.all((factor[0] > 0) & np.isfinite(factor[0])):
        return None
    trace = math.fsum(chosen.tolist())
    return 2 * (band.width + 4) * _UNIT * trace + size * (size + trace) * _TINY


def smallest_eigenvalue(matrix: scipy.sparse.csr_array, tolerance: float) -> float:
    """Estimates the smallest eigenvalue by Lanczos's method: from above, so that it proves nothing.

    Vectors are not made orthogonal again, which costs steps and no accuracy at the ends of the
    spectrum.

    Args:
        matrix: float64 [N, N], symmetric.
        tolerance: it ends where some steps change the estimate by less than that and a hundredth of
            the estimate, if that is negative.
    """
    vector = np.random.default_rng(0).normal(size=matrix.shape[0])
    vector /= np.linalg.norm(vector)
    before, beside, estimate = np.zeros_like(vector), 0.0, math.inf
    main: list[float] = []
    off: list[float] = []
    while len(main) < _MOST_STEPS:
        image = matrix @ vector - beside * before
        main.append(float(image @ vector))
        image -= main[-1] * vector
        beside = float(np.linalg.norm(image))
        ended = beside <= tolerance  # the vectors span all that can be reached
        if ended or len(main) % _STEPS == 0:
            found = scipy.linalg.eigvalsh_tridiagonal(
                np.array(main), np.array(off), select="i", select_range=(0, 0)
            )
            last, estimate = estimate, float(found[0])
            if ended or last - estimate <= tolerance + 0.01 * max(0.0, -estimate):
                break
        off.append(beside)
        before, vector = vector, image / beside
    return estimate
