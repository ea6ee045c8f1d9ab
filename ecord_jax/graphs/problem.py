"""Problems whose answer is a maximum cut: QUBO, Ising, dimod's models, and the way back.

    problem = Problem.from_qubo({("a", "a"): -1, ("a", "b"): 2}, sense="min")
    labels = search(problem.graph)
    x = problem.values(labels)  # 0 or 1, in the order of problem.names
    problem.objective(x)

Conventions, each with an example, are in docs/conventions.md. Shapes: N variables, E pairs of
them; graphs have N vertices, or N + 1 with the ancilla.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ecord_jax.errors import EcordError
from ecord_jax.graphs.bqm import bqm_entries, make_bqm
from ecord_jax.graphs.coefficients import (
    Entries,
    Names,
    collect,
    ising_entries,
    qubo_entries,
)
from ecord_jax.graphs.cut_form import STEP, Kind, cut_graph, edge_indicator, rounding
from ecord_jax.graphs.edges import as_weights
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.sums import ExactSum, as_number, round_outwards
from ecord_jax.graphs.values import check_values

if TYPE_CHECKING:
    import dimod

__all__ = ["Problem"]

Sense = Literal["min", "max"]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """An objective over N variables, and the graph whose maximum cuts are its best values.

    `from_max_cut`, `from_qubo`, `from_ising` and `from_bqm` make it; the constructor takes
    coefficients that are in canonical form already. Objectives, with sums over `pairs`:

      max-cut   the `quadratic` of the pairs that are on different sides, to be maximised
      qubo      sum of linear[i] x_i, sum of quadratic[p] x_i x_j, and offset; x is 0 or 1
      ising     sum of linear[i] s_i, sum of quadratic[p] s_i s_j, and offset; s is -1 or +1

    Attributes:
      kind: "max-cut", "qubo" or "ising".
      sense: "min" or "max": which values of the objective are good.
      couplings: the variables as vertices, their quadratic coefficients as weights of edges.
      linear: [N], read-only; int64 where all of them are integers, else float64.
      offset: an int, of any size, or a float.
      graph: what to cut. Its vertices are the variables, in their order; after them, only where
        the problem has fields (what tells s from -s), the ancilla: one vertex more.
    """

    kind: Kind
    sense: Sense
    couplings: Graph
    linear: np.ndarray
    offset: int | float = 0
    graph: Graph = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        if self.kind not in STEP:
            raise EcordError(f"kind={self.kind!r} must be one of {', '.join(STEP)}")
        if self.sense not in ("min", "max"):
            raise EcordError(f"sense={self.sense!r} must be 'min' or 'max'")
        linear = as_weights(self.linear)
        if linear.shape != (self.num_variables,):
            raise EcordError(
                f"there are {linear.size} linear coefficients for {self.num_variables} variables"
            )
        object.__setattr__(self, "offset", as_number(self.offset, "the offset"))
        if self.kind == "max-cut" and (self.sense == "min" or linear.any() or self.offset):
            raise EcordError("a max-cut problem is maximised, without linear part and offset")
        linear.flags.writeable = False
        object.__setattr__(self, "linear", linear)
        graph = cut_graph(self.kind, self.sense == "max", self.couplings, linear)
        object.__setattr__(self, "graph", graph)

    @classmethod
    def from_max_cut(cls, graph: Graph) -> Problem:
        """Makes a problem of a graph; the values are its labels, the objective is the cut."""
        if not isinstance(graph, Graph):
            raise EcordError(f"expected an ecord_jax.Graph; got a {type(graph).__name__}")
        return cls("max-cut", "max", graph, np.zeros(graph.num_vertices, np.int64))

    @classmethod
    def from_qubo(
        cls,
        Q: Any,
        *,
        sense: Sense = "min",
        offset: int | float = 0,
        names: Iterable[Hashable] | None = None,
    ) -> Problem:
        """Makes a problem of a quadratic function of binary variables: x'Qx + offset.

        Args:
          Q: a matrix [N, N], dense or of scipy.sparse, or {(i, j): value}. Every entry counts as it
            stands, so that q_ij and q_ji add up: an upper triangle U and (U + U') / 2 are the same.
            The diagonal holds the linear coefficients, since x_i² = x_i.
          sense: whether it is to be minimised or maximised.
          offset: a constant.
          names: of the variables, in the order wanted: for a matrix 0..N-1 by default; for a
            mapping those it has, ascending if they are integers, else in the order of their first
            use. More names than Q has are variables without coefficients.

        Returns:
          The problem. Entries that add up do so exactly; floats are rounded once.

        Raises:
          EcordError: for what is no finite number, a matrix that is not square, unknown names, or
            coefficients that add up to weights beyond 64 bits.

        Example:
          >>> problem = Problem.from_qubo({("a", "a"): -1, ("b", "b"): -1, ("a", "b"): 3})
          >>> problem.names, problem.objective([1, 0])
          (('a', 'b'), -1)
        """
        return cls._of("qubo", sense, *qubo_entries(Q, names), offset)

    @classmethod
    def from_ising(
        cls,
        h: Mapping[Any, Any] | Sequence[Any] | np.ndarray | None,
        J: Any,
        offset: int | float = 0,
        *,
        sense: Sense = "min",
        names: Iterable[Hashable] | None = None,
    ) -> Problem:
        """Makes a problem of spins: sum h_i s_i + sum over i < j of J_ij s_i s_j + offset.

        Args:
          h: fields: {i: value}, or a list [N] in the order of the names; None for none.
          J: couplings: {(i, j): value}, where (j, i) adds to (i, j), as in dimod; or a matrix
            [N, N]. Each pair counts once, so a symmetric matrix and its upper triangle are the
            same. (dimod adds up the two triangles of a matrix.)
          offset: a constant.
          sense: whether it is to be minimised or maximised.
          names: as in `from_qubo`; by default 0..N-1 with a matrix or a list, which sets N.

        Returns:
          The problem.

        Raises:
          EcordError: as `from_qubo`; where J couples a variable to itself (s² = 1 is a constant,
            which belongs to the offset); or where both triangles of a matrix are there and differ.

        Example:
          >>> problem = Problem.from_ising([0.5, 0, 0], {(0, 1): 1, (1, 2): 1, (0, 2): 1})
          >>> problem.objective([-1, 1, 1])
          -1.5
        """
        return cls._of("ising", sense, *ising_entries(h, J, names), offset)

    @classmethod
    def from_bqm(cls, bqm: Any) -> Problem:
        """Makes a problem of dimod's BinaryQuadraticModel, which is minimised.

        Args:
          bqm: of vartype SPIN, an Ising problem, or BINARY, a QUBO. The variables keep its order.

        Returns:
          The problem; floats that all hold integers count as integers.

        Raises:
          EcordError: for any other model, or what is no finite number.
        """
        vartype, names, entries, offset = bqm_entries(bqm)
        kind: Kind = "ising" if vartype == "SPIN" else "qubo"
        return cls._of(kind, "min", names, entries, offset)

    @classmethod
    def _of(
        cls, kind: Kind, sense: Sense, names: Names, entries: Entries, offset: int | float
    ) -> Problem:
        linear, merged = collect(entries, len(names))
        return cls(kind, sense, Graph(merged.edges, merged.weights, names), linear, offset)

    @property
    def names(self) -> Sequence[Hashable]:
        """[N] what the user calls the variables; the ancilla is none."""
        return self.couplings.names

    @property
    def num_variables(self) -> int:
        return self.couplings.num_vertices

    @property
    def pairs(self) -> np.ndarray:
        """int64 [E, 2], read-only: the pairs that have a coefficient, i < j, in order."""
        return self.couplings.edges

    @property
    def quadratic(self) -> np.ndarray:
        """[E], read-only, int64 or float64: the coefficient of each pair."""
        return self.couplings.weights

    @property
    def vartype(self) -> Literal["SPIN", "BINARY"]:
        """Which values variables take, in dimod's terms: -1 and +1, or 0 and 1."""
        return "SPIN" if self.kind == "ising" else "BINARY"

    @property
    def ancilla(self) -> int | None:
        """The vertex of `graph` that is no variable, the last one; None where there is none."""
        return None if self.graph.num_vertices == self.num_variables else self.num_variables

    def values(self, labels: Any) -> np.ndarray:
        """Turns labels of `graph` into values of the variables.

        Args:
          labels: [N] or, with an ancilla, [N + 1] integers, 0 or 1.

        Returns:
          int8 [N]: sides or x, 0 or 1; or spins. A variable is 1 on the ancilla's side; without
          one, label 1 is 1, though the other way round is as good.

        Raises:
          EcordError: for labels of another length, type or value.
        """
        sides = self.graph.check_labels(labels)
        own = sides[: self.num_variables]
        binary = own if self.ancilla is None else (own == sides[self.ancilla]).astype(np.int8)
        return 2 * binary - 1 if self.kind == "ising" else binary.copy()

    def labels(self, values: Any) -> np.ndarray:
        """Turns values into labels of `graph`, which `values` turns back.

        Args:
          values: as in `objective`.

        Returns:
          int8 [N] or, with an ancilla, [N + 1].

        Raises:
          EcordError: for values of another length, type or range.
        """
        binary = (self._check(values) > 0).astype(np.int8)
        return binary if self.ancilla is None else np.append(binary, np.int8(1))

    def objective(self, values: Any) -> int | float:
        """The objective of values, from the user's own coefficients.

        Args:
          values: [N] integers in the order of `names`, or {name: integer}; -1 or +1 for spins, else
            0 or 1.

        Returns:
          A Python int, exact, where coefficients and offset are integers; else the float that is
          nearest to the true sum.

        Raises:
          EcordError: for values of another length, type or range, or a sum beyond float64.
        """
        return self._sum(self._check(values)).rounded

    def bound(self, cut_bound: int | float | Fraction) -> int | float:
        """Turns a bound of the cut into one of the objective.

        Args:
          cut_bound: a number that no cut of `graph` is above.

        Returns:
          A number that no objective is below, if it is minimised, or above, if it is maximised.
          An int where coefficients and offset are integers; a float is on the safe side of what
          was rounded on the way.

        Raises:
          EcordError: where the bound is not finite.
        """
        if not math.isfinite(cut_bound):
            raise EcordError(f"a bound of the cut must be a finite number; got {cut_bound}")
        most = Fraction(cut_bound)
        if self.graph.weights.dtype.kind == "i":
            most = Fraction(math.floor(most))
        slack = rounding(self.kind, self.couplings, self.linear, self.graph)
        gain = STEP[self.kind] * (most + Fraction(slack))
        nothing_cut = self._sum(np.ones(self.num_variables, np.int8))
        upwards = self.sense == "max"
        bound = nothing_cut.exact + (gain if upwards else -gain)
        if nothing_cut.is_integer:
            return math.floor(bound) if upwards else math.ceil(bound)
        return round_outwards(bound, upwards)

    def to_bqm(self) -> dimod.BinaryQuadraticModel:
        """The same as dimod's model, whose energy is minimised.

        Returns:
          A model of vartype SPIN for Ising problems, else BINARY, with the variables in their
          order. Its energy is the objective, or minus that where it is maximised; only a cut of
          float weights is rounded. Of dtype object if some integer would be rounded as a float64.

        Raises:
          MissingExtraError: without dimod.
        """
        linear, quadratic = self.linear, self.quadratic.tolist()
        if self.kind == "max-cut":
            linear, quadratic = edge_indicator(self.couplings)
        ends = ((self.names[i], self.names[j]) for i, j in self.pairs.tolist())
        by_name = dict(zip(self.names, linear.tolist(), strict=True))
        by_pair = dict(zip(ends, quadratic, strict=True))
        return make_bqm(by_name, by_pair, self.offset, self.vartype, negate=self.sense == "max")

    def _check(self, values: Any) -> np.ndarray:
        return check_values(values, self.names, -1 if self.kind == "ising" else 0)

    def _sum(self, values: np.ndarray) -> ExactSum:
        """The objective of values that are checked."""
        ends = values[self.pairs]
        signs = ends[:, 0] * ends[:, 1]
        if self.kind == "max-cut":
            signs = (ends[:, 0] != ends[:, 1]).astype(np.int8)
        return ExactSum.of([(self.linear, values), (self.quadratic, signs)], self.offset)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Problem):
            return NotImplemented
        return (
            (self.kind, self.sense, self.offset) == (other.kind, other.sense, other.offset)
            and type(self.offset) is type(other.offset)
            and self.linear.dtype == other.linear.dtype
            and np.array_equal(self.linear, other.linear)
            and self.couplings == other.couplings
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.sense, self.couplings))

    def __repr__(self) -> str:
        return (
            f"Problem(kind={self.kind!r}, sense={self.sense!r}, "
            f"num_variables={self.num_variables}, num_pairs={len(self.pairs)})"
        )
