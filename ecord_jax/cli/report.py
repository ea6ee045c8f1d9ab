"""What ecord-solve prints of a result: lines for people, or fields for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ecord_jax.graphs import Problem
    from ecord_jax.search.bound import Bound
    from ecord_jax.search.result import SolveResult

__all__ = ["to_fields", "to_lines"]


def to_lines(problem: Problem, objective: int | float, result: SolveResult) -> Iterator[str]:
    """Lines for people.

    Args:
        problem: what was solved.
        objective: its value at the labels that were found.
        result: of the search.
    """
    graph = problem.graph
    if problem.kind != "max-cut":
        sense = {"min": "minimised", "max": "maximised"}[problem.sense]
        yield f"objective: {objective}"
        yield f"problem: {problem.kind}, {problem.num_variables} variables, {sense}"
    yield f"cut: {result.cut}"
    yield f"graph: {graph.num_vertices} vertices, {graph.num_edges} edges"
    if result.reduction is not None:
        yield f"presolve: {result.reduction.summary}"
    yield f"search: {result.agent}, {result.trajectories} trajectories of {result.steps} steps"
    if sum(result.effort.values()) > 0:
        yield _who_found(result)
    if result.bound is not None:
        kind = "certified" if result.bound.certified else "an estimate"
        gap = 100 * _gap(result.bound, result.cut)
        yield f"bound: {result.bound.value} ({kind}), gap {gap:.3f} %"
    if result.optimal:
        yield "optimal: there is no larger cut"
    times = ", ".join(f"{name} {value:.1f}" for name, value in result.seconds.items())
    yield f"seconds: {times}; stopped by {result.stopped_by}"


def _who_found(result: SolveResult) -> str:
    whole = sum(result.effort.values())
    parts = (
        f"{name} {100 * spent / whole:.0f} % of the time and "
        f"{result.improvements.get(name, 0)} improvements"
        for name, spent in result.effort.items()
    )
    return f"found by {result.found_by}; {', '.join(parts)}"


def to_fields(
    problem: Problem,
    objective: int | float,
    result: SolveResult,
    *,
    seed: int,
) -> dict[str, Any]:
    """What --json prints; arguments as those of `to_lines`, and the seed that was given."""
    seconds = {name: round(value, 3) for name, value in result.seconds.items()}
    return {
        "kind": problem.kind,
        "sense": problem.sense,
        "objective": objective,
        "cut": result.cut,
        "vertices": problem.graph.num_vertices,
        "edges": problem.graph.num_edges,
        "steps": result.steps,
        "trajectories": result.trajectories,
        "seed": seed,
        "agent": result.agent,
        "found_by": result.found_by,
        "effort": {
            name: {
                "seconds": round(spent, 3),
                "improvements": result.improvements.get(name, 0),
            }
            for name, spent in result.effort.items()
        },
        "seconds": seconds,
        "stopped_by": result.stopped_by,
        "optimal": result.optimal,
        "bound": result.bound and _bound_fields(problem, result.bound, result.cut),
        "presolve": result.reduction
        and {
            "vertices": result.reduction.graph.num_vertices,
            "edges": result.reduction.graph.num_edges,
            "seconds": seconds["presolve"],
        },
    }


def _bound_fields(problem: Problem, bound: Bound, cut: int | float) -> dict[str, Any]:
    return {
        "cut": bound.value,
        "objective": problem.bound(bound.value),
        "certified": bound.certified,
        "gap": _gap(bound, cut),
        "seconds": round(bound.seconds, 3),
    }


def _gap(bound: Bound, cut: int | float) -> float:
    """What the bound leaves above the cut, over the bound."""
    room = bound.largest_cut - cut
    return float(room / abs(bound.largest_cut)) if room > 0 else 0.0
