"""dimod's BinaryQuadraticModel as JSON: what its `to_serializable` gives, schema 2 or 3.

An object with `variable_type` (SPIN or BINARY), `variable_labels`, `offset`, `linear_biases` and,
for pairs of places in the labels, `quadratic_head`, `quadratic_tail` and `quadratic_biases`. The
energy is minimised. Integers stay exact here; dimod makes floats of them.

See https://github.com/dwavesystems/dimod; dimod itself is not needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ecord_jax.graphs.io.entries import KINDS, find_bad_pair, make_problem
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.format import ERROR, Format
from ecord_jax.graphs.io.json_values import from_json, json_texts, numbers_from_json
from ecord_jax.graphs.io.lines import written
from ecord_jax.graphs.problem import Problem

__all__ = ["BQM_JSON", "bqm_json_text", "is_bqm_json", "read_bqm_json"]

_LISTS = (
    "variable_labels",
    "linear_biases",
    "quadratic_head",
    "quadratic_tail",
    "quadratic_biases",
)


def is_bqm_json(document: Any) -> bool:
    """Whether JSON has what a BinaryQuadraticModel has."""
    return isinstance(document, dict) and "linear_biases" in document


def read_bqm_json(source: Source, first: int = 1) -> Problem:
    """Reads a QUBO or an Ising problem from a BinaryQuadraticModel.

    Args:
      source: the file.
      first: says nothing here, since variables have names.

    Returns:
      The problem, its variables in their order.

    Raises:
      GraphFileError: where the file is not as it should be.
    """
    document = source.json
    if not is_bqm_json(document):
        raise source.error("no BinaryQuadraticModel", expected="an object with 'linear_biases'")
    if document.get("use_bytes", False) is not False:
        raise source.error("the biases are bytes", expected='"use_bytes": false')
    kind = KINDS.get(str(document.get("variable_type")))
    if kind is None:
        raise source.error("bad 'variable_type'", expected="SPIN or BINARY")
    labels, linear, head, tail, quadratic = (_list(source, document, key) for key in _LISTS)
    _check_sizes(source, document)
    try:
        names = from_json(labels)
    except ValueError as error:
        raise source.error(f"variable_labels: {error}") from None
    return make_problem(
        source,
        kind,
        names,
        _pairs(source, head, tail, len(names)),
        numbers_from_json(source, quadratic, lambda i: f"quadratic_biases[{i}]"),
        offset=_offset(source, document),
        linear=numbers_from_json(source, linear, lambda i: f"linear_biases[{i}]"),
    )


def bqm_json_text(problem: Problem) -> str:
    """The problem as dimod's `to_serializable` has it, in one line."""
    fields = {
        "type": '"BinaryQuadraticModel"',
        "version": '{"bqm_schema": "3.0.0"}',
        "use_bytes": "false",
        "index_type": '"int64"',
        "bias_type": '"float64"',
        "num_variables": str(problem.num_variables),
        "num_interactions": str(len(problem.pairs)),
        "variable_labels": _listed(json_texts(problem.names)),
        "variable_type": f'"{problem.vartype}"',
        "offset": repr(problem.offset),
        "info": "{}",
        "linear_biases": _listed(written(problem.linear)),
        "quadratic_biases": _listed(written(problem.quadratic)),
        "quadratic_head": _listed(written(problem.pairs[:, 0])),
        "quadratic_tail": _listed(written(problem.pairs[:, 1])),
    }
    return "{" + ", ".join(f'"{key}": {value}' for key, value in fields.items()) + "}\n"


def _listed(texts: Sequence[str]) -> str:
    return f"[{', '.join(texts)}]"


def _list(source: Source, document: dict[str, Any], key: str) -> list[Any]:
    values = document.get(key)
    if not isinstance(values, list):
        raise source.error(f"no list {key!r}")
    return values


def _check_sizes(source: Source, document: dict[str, Any]) -> None:
    """Refuses lists that are not as long as each other, or as is said."""
    for size, keys in (("num_variables", _LISTS[:2]), ("num_interactions", _LISTS[2:])):
        lengths = [len(document[key]) for key in keys]
        claimed = document.get(size, lengths[0])
        if any(length != claimed for length in lengths):
            found = ", ".join(f"{key} {n}" for key, n in zip(keys, lengths, strict=True))
            raise source.error(f"the lengths do not fit: {size} {claimed!r}, {found}")


def _pairs(source: Source, head: list[Any], tail: list[Any], size: int) -> np.ndarray:
    """Checks pairs of places; int64 [E, 2]."""
    for key, values in (("quadratic_head", head), ("quadratic_tail", tail)):
        good = set(map(type, values)) <= {int}
        if not good or (values and not (min(values) >= 0 and max(values) < size)):
            wrong = (i for i, v in enumerate(values) if type(v) is not int or not 0 <= v < size)
            cause = f"{key}[{next(wrong)}] is not the place of a variable"
            raise source.error(cause, expected=f"0..{size - 1}")
    ends = np.stack([np.array(head, np.int64), np.array(tail, np.int64)], axis=1)
    place = find_bad_pair(ends)
    if place is not None:
        cause = f"pair {place} (counted from 0), {head[place]} and {tail[place]}, "
        raise source.error(cause + "is there twice or of one variable")
    return ends


def _offset(source: Source, document: dict[str, Any]) -> int | float:
    offset = document.get("offset", 0)
    if type(offset) not in (int, float) or not abs(offset) < float("inf"):
        raise source.error("the offset is not a finite number")
    return offset


BQM_JSON = Format(
    name="bqm-json",
    title="dimod's BinaryQuadraticModel as JSON",
    kinds=("qubo", "ising"),
    suffixes=(".json",),
    signature="JSON that has `linear_biases`",
    read=read_bqm_json,
    write=bqm_json_text,
    names="all",
    carries=frozenset({"weights", "isolated", "order", "offset", "large", "mixtures"}),
    lists_vertices=True,
    faults={"repeats": ERROR, "reverse": ERROR, "loops": ERROR, "count": ERROR, "range": ERROR},
)
