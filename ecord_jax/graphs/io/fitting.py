"""Making a graph or a problem such that a format can carry it, and saying what is lost that way."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ecord_jax.errors import EcordError
from ecord_jax.graphs.coefficients import field_sums, join
from ecord_jax.graphs.cut_form import edge_indicator
from ecord_jax.graphs.edges import as_weights, exact_sum
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.entries import most_vertices
from ecord_jax.graphs.io.format import Format
from ecord_jax.graphs.io.json_values import are_json
from ecord_jax.graphs.io.named import are_integers, are_words
from ecord_jax.graphs.problem import Problem
from ecord_jax.graphs.sums import MAX_INTEGRAL_FLOAT

__all__ = ["Fitted", "fit"]

_CALLED = {"qubo": "that it is a QUBO", "ising": "that it is an Ising problem"}


class Fitted(NamedTuple):
    """What a format's `write` takes.

    Attributes:
      item: a graph or problem.
      losses: what it has lost; "it cannot carry ..." makes a sentence of each.
    """

    item: Graph | Problem
    losses: list[str]


def fit(item: Graph | Problem, target: Format) -> Fitted:
    """Makes an item such that a format can carry it.

    Args:
      item: a graph, which is a max-cut problem, or a problem.
      target: the format. What it carries stays exact; where the kind of problem has to be changed,
        coefficients that are fractions are rounded once.

    Returns:
      The item, changed as little as can be, and what is lost.

    Raises:
      EcordError: where coefficients become too large, or there are too many vertices.
    """
    losses: list[str] = []
    if isinstance(item, Graph) and target.lists_vertices:
        _check_size(item, target)
    if target.is_graph:
        graph = _to_graph(item, losses)
        if not _carries_names(graph.names, target):
            losses.append("the names of the vertices")
            graph = _renamed(graph)
        return Fitted(graph, losses + _graph_losses(graph, target))
    problem = Problem.from_max_cut(item) if isinstance(item, Graph) else item
    problem = _to_kind(problem, target, losses)
    if not _carries_names(problem.names, target):
        losses.append("the names of the variables")
        problem = dataclasses.replace(problem, couplings=_renamed(problem.couplings))
    problem = _fit_numbers(problem, target, losses)
    return Fitted(problem, losses + target.losses(problem))


def _check_size(graph: Graph, target: Format) -> None:
    """Refuses to list vertices that cost nothing so far, being a number in a header."""
    if graph.num_vertices > most_vertices(graph.num_edges):
        sizes = f"{graph.num_vertices} vertices, but {graph.num_edges} edges"
        raise EcordError(f"{sizes}: too many for {target.name}, which lists each vertex")


def _to_graph(item: Graph | Problem, losses: list[str]) -> Graph:
    if isinstance(item, Graph):
        return item
    if item.kind != "max-cut":
        losses.append(
            f"{_CALLED[item.kind]} (what is written is the graph whose maximum cut solves it)"
        )
    return item.graph


def _graph_losses(graph: Graph, target: Format) -> list[str]:
    losses = []
    if "weights" not in target.carries and (graph.weights != 1).any():
        losses.append("weights other than 1")
    if "isolated" not in target.carries:
        ends = np.sort(graph.edges, axis=None)  # np.unique is slow where it need not sort
        alone = graph.num_vertices - np.count_nonzero(np.diff(ends, prepend=-1))
        if alone:
            losses.append(f"{alone} {'vertex' if alone == 1 else 'vertices'} without edges")
    return losses + target.losses(graph)


def _carries_names(names: Sequence[Hashable], target: Format) -> bool:
    """Whether names read back as they are; those that only count, from 0 or 1, say nothing."""
    match target.names:
        case "none":
            return _is_count(names)
        case "integers":
            return are_integers(names)
        case "words":
            return are_integers(names) or are_words(names)
        case "cells":
            return are_integers(names) or are_words(names, ",")
        case "all":
            return are_json(names)


def _is_count(names: Sequence[Hashable]) -> bool:
    """Whether names are 0, 1, 2 and so on, or 1, 2 and so on."""
    first = names[0] if names else 0
    if type(first) is not int or first not in (0, 1):
        return False
    row = range(first, first + len(names))
    return names == row if isinstance(names, range) else tuple(names) == tuple(row)


def _renamed(graph: Graph) -> Graph:
    return Graph(graph.edges, graph.weights, range(graph.num_vertices))


def _to_kind(problem: Problem, target: Format, losses: list[str]) -> Problem:
    """Makes a problem of a kind that a format has, to be minimised."""
    if problem.kind not in target.kinds and problem.kind == "max-cut":
        linear, quadratic = edge_indicator(problem.couplings)
        couplings = _with_weights(problem.couplings, as_weights(quadratic))
        problem = Problem("qubo", "max", couplings, linear)
    if problem.kind not in target.kinds:
        change = _to_spins if problem.kind == "qubo" else _to_binary
        problem = change(problem, losses)
    if problem.sense == "max":
        losses.append("that the objective is maximised (its opposite is written, to be minimised)")
        couplings = _with_weights(problem.couplings, _opposite(problem.quadratic))
        linear, offset = _opposite(problem.linear), -problem.offset
        problem = Problem(problem.kind, "min", couplings, linear, offset)
    return problem


def _to_spins(problem: Problem, losses: list[str]) -> Problem:
    """Puts x = (s + 1) / 2; the objective stays what it is."""
    constant = Fraction(problem.offset) + Fraction(exact_sum(problem.linear)) / 2
    constant += Fraction(exact_sum(problem.quadratic)) / 4
    fields = _sum_fields(problem, (problem.linear, problem.linear, problem.quadratic))
    if any(part.dtype.kind == "i" and _is_cut(part) for part in (fields, problem.quadratic)):
        losses.append("digits of the coefficients, of which it has quarters")
    couplings = _with_weights(problem.couplings, _quarter(problem.quadratic))
    offset = _to_number(constant, losses)
    return Problem("ising", problem.sense, couplings, _quarter(fields), offset)


def _to_binary(problem: Problem, losses: list[str]) -> Problem:
    """Puts s = 2 x - 1; the objective stays what it is."""
    constant = Fraction(problem.offset) - Fraction(exact_sum(problem.linear))
    constant += Fraction(exact_sum(problem.quadratic))
    minus = _opposite(problem.quadratic)
    linear = _sum_fields(problem, (problem.linear, problem.linear, minus, minus))
    couplings = _with_weights(problem.couplings, _fourfold(problem.quadratic))
    return Problem("qubo", problem.sense, couplings, linear, _to_number(constant, losses))


def _sum_fields(problem: Problem, parts: Sequence[np.ndarray]) -> np.ndarray:
    """Adds up, for each variable, linear parts [N] and, after them, quadratic ones [E].

    The first two are linear; a quadratic one adds to both of its variables.
    """
    variables = [np.arange(problem.num_variables)] * 2
    values = [*parts[:2]]
    for part in parts[2:]:
        variables += [*problem.pairs.T]
        values += [part, part]
    places, sums = field_sums(np.concatenate(variables), join(*values), problem.num_variables)
    fields = np.zeros(problem.num_variables, sums.dtype)
    fields[places] = sums
    return fields


def _fit_numbers(problem: Problem, target: Format, losses: list[str]) -> Problem:
    """Takes away what a format cannot carry of constants and numbers."""
    if problem.offset and "offset" not in target.carries:
        losses.append(f"the constant {problem.offset}")
        problem = dataclasses.replace(problem, offset=0)
    parts = (problem.linear, problem.quadratic)
    whole = [part for part in parts if part.dtype.kind == "i"]
    large = any(_exceeds(part) for part in whole)
    beside = large and len(whole) < len(parts)
    if beside and "mixtures" not in target.carries:
        losses.append("integers past 2^53 beside fractions")
    if isinstance(problem.offset, int):
        large = large or abs(problem.offset) > MAX_INTEGRAL_FLOAT
    if large and "large" not in target.carries:
        losses.append("integers past 2^53")
        problem = dataclasses.replace(problem, offset=_to_float(problem.offset))
    return problem


def _exceeds(values: np.ndarray) -> bool:
    return bool(((values > MAX_INTEGRAL_FLOAT) | (values < -MAX_INTEGRAL_FLOAT)).any())


def _with_weights(graph: Graph, weights: np.ndarray) -> Graph:
    return Graph(graph.edges, weights, graph.names)


def _opposite(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "i" and values.size and values.min() == np.iinfo(np.int64).min:
        raise EcordError("a coefficient of -2^63 has no opposite of 64 bits")
    return 0 - values  # not -values, so that a zero stays positive


def _fourfold(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "i" and ((values >= 2**61) | (values < -(2**61))).any():
        raise EcordError("four times a coefficient is beyond 64 bits")
    with np.errstate(over="ignore"):  # the infinity is refused by Graph
        return 4 * values


def _quarter(values: np.ndarray) -> np.ndarray:
    whole = values.dtype.kind == "i" and not (values % 4).any()
    return values // 4 if whole else values / 4


def _is_cut(values: np.ndarray) -> bool:
    """Whether quarters of some integers are not exact."""
    return bool((values % 4 != 0).any()) and _exceeds(values)


def _to_number(value: Fraction, losses: list[str]) -> int | float:
    if value.denominator == 1:
        return value.numerator
    number = _to_float(value)
    if number != value:
        losses.append("digits of the constant")
    return number


def _to_float(value: Fraction | int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        raise EcordError("the constant is beyond the largest float64") from None
