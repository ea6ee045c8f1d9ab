"""Recomputes the cut that labels make of a graph, or the objective of values.

Usage: ecord-verify FILE VALUES [--cut=VALUE] [--json]

FILE is what ecord-solve was given. VALUES has one line `name value` a vertex or variable: the side,
0 or 1; x, 0 or 1; or the spin, -1 or 1. The sum is made here, term by term in plain Python, not by
the code that found it. Exit status: 0; 1 where --cut is given and differs; 2 for a bad file or
flag.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import NoReturn

from absl import flags

from ecord_jax.cli import common
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Problem, read_problem, read_values

__all__ = ["entry", "main"]

_PROGRAM = "ecord-verify"
_EXACT = 2**53  # up to which an integer is a float
# Flags of its own, so that binaries that share a flag's name can be imported together.
_FLAGS = flags.FlagValues()
_CUT = flags.DEFINE_string("cut", None, "The cut that it should be.", flag_values=_FLAGS)
_OBJECTIVE = flags.DEFINE_string(
    "objective", None, "The objective that it should be.", flag_values=_FLAGS
)
_FORMAT, _ZERO_BASED = common.define_format(_FLAGS)
_JSON = flags.DEFINE_boolean("json", False, "Print one JSON object.", flag_values=_FLAGS)


def main(argv: Sequence[str]) -> int:
    path, values_path = common.positionals(argv, "FILE", "VALUES")
    claimed = _claim()
    problem = read_problem(path, _FORMAT.value, zero_based=_ZERO_BASED.value)
    is_graph = problem.kind == "max-cut"
    if _CUT.value is not None and not is_graph:
        raise OptionError(f"flag --cut={_CUT.value}: {path} is no graph; use --objective")
    name = "cut" if is_graph else "objective"
    found = _count(problem, read_values(values_path, problem).tolist())
    agrees = None if claimed is None else found == claimed
    if _JSON.value:
        sizes = {"vertices": problem.num_variables, "edges": len(problem.pairs)}
        print(json.dumps({name: found, **sizes, "claimed": claimed, "agrees": agrees}))
    else:
        print(f"{name}: {found}")
    if agrees is False:
        sys.stdout.flush()
        print(f"{_PROGRAM}: the {name} is {found}, not {claimed} as claimed", file=sys.stderr)
        return 1
    return 0


def entry() -> NoReturn:
    """What the installed program calls."""
    common.run(main, _FLAGS, program=_PROGRAM)


def _count(problem: Problem, values: list[int]) -> int | float:
    """Sums the terms of the objective; exact, floats rounded once at the end."""
    terms: list[int | float] = [problem.offset]
    for value, weight in zip(values, problem.linear.tolist(), strict=True):
        terms.append(value * weight)
    for (i, j), weight in zip(problem.pairs.tolist(), problem.quadratic.tolist(), strict=True):
        sign = int(values[i] != values[j]) if problem.kind == "max-cut" else values[i] * values[j]
        terms.append(sign * weight)
    if all(isinstance(term, int) for term in terms):
        return sum(terms)
    if abs(problem.offset) <= _EXACT:
        return math.fsum(terms)
    return float(sum(map(Fraction, terms), Fraction(0)))


def _claim() -> int | float | None:
    """Reads the claimed value; an integer stays one, since a float would round a long one."""
    given = {"cut": _CUT.value, "objective": _OBJECTIVE.value}
    claims = {name: text for name, text in given.items() if text is not None}
    if len(claims) == 2:
        raise OptionError("flags --cut and --objective: only one of them can be given")
    for name, text in claims.items():
        try:
            value: int | float = int(text)
        except ValueError:
            try:
                value = float(text)
            except ValueError:
                value = math.nan
        if not math.isfinite(value):
            raise OptionError(f"flag --{name}={text}: not a finite number")
        return value
    return None


if __name__ == "__main__":
    entry()
