"""dimod's BinaryQuadraticModel, read and made; dimod itself is needed only to make one."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ecord_jax.errors import EcordError, MissingExtraError
from ecord_jax.graphs.coefficients import Entries, Names, ising_entries
from ecord_jax.graphs.sums import MAX_INTEGRAL_FLOAT

if TYPE_CHECKING:
    import dimod

__all__ = ["Vartype", "bqm_entries", "make_bqm"]

Vartype = Literal["SPIN", "BINARY"]


def bqm_entries(bqm: Any) -> tuple[Vartype, Names, Entries, Any]:
    """Reads a model.

    Args:
      bqm: anything with `vartype`, `linear`, `quadratic` and `offset` as dimod's models have them.

    Returns:
      The values that variables take, the variables in their order, the coefficients, the offset.

    Raises:
      EcordError: where it is something else, or a coefficient is no finite number.
    """
    try:
        vartype = getattr(bqm.vartype, "name", bqm.vartype)
        linear, quadratic = dict(bqm.linear.items()), dict(bqm.quadratic.items())
        offset = bqm.offset
    except (AttributeError, TypeError):
        vartype = None
    if vartype not in ("SPIN", "BINARY"):
        expected = "dimod's BinaryQuadraticModel, of SPIN or BINARY variables"
        raise EcordError(f"expected {expected}; got a {type(bqm).__name__}")
    # Linear biases are per variable and quadratic ones per pair, whatever the values are.
    return vartype, *ising_entries(linear, quadratic, names=linear), offset


def make_bqm(
    linear: Mapping[Hashable, int | float],
    quadratic: Mapping[tuple[Hashable, Hashable], int | float],
    offset: int | float,
    vartype: Vartype,
    *,
    negate: bool,
) -> dimod.BinaryQuadraticModel:
    """Makes a model, of dtype object if some integer would be rounded as a float64.

    Args:
      linear: of every variable, in the order wanted.
      quadratic: of pairs of them.
      offset: the constant.
      vartype: which values variables take.
      negate: whether the model is minus that.

    Raises:
      MissingExtraError: without dimod.
    """
    try:
        import dimod
    except ImportError as error:
        raise MissingExtraError("a BinaryQuadraticModel", "dimod", "dimod") from error
    numbers = chain(linear.values(), quadratic.values(), [offset])
    large = any(isinstance(value, int) and abs(value) > MAX_INTEGRAL_FLOAT for value in numbers)
    sign = -1 if negate else 1
    bqm = dimod.BinaryQuadraticModel(vartype, dtype=object if large else np.float64)
    # Linear biases first: the constructor would order the variables as their pairs come.
    bqm.add_linear_from((name, sign * value) for name, value in linear.items())
    bqm.add_quadratic_from((u, v, sign * value) for (u, v), value in quadratic.items())
    bqm.offset = sign * offset
    return bqm
