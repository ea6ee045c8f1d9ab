"""Solvers by name, as `experiments/compare.py` is told which: NAME, or NAME:ARGUMENT."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import jax

from ecord_jax.agents import full_name
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.search.result import SolveResult
from ecord_jax.search.solve import INGREDIENTS, Move, solve

__all__ = ["Solver", "find_solver", "solver_names"]

_SMALL = 500  # vertices of the largest graphs for which the paper has its finer grid


@dataclasses.dataclass(frozen=True, eq=False)
class Solver:
    """A solver with all but a graph, a key and limits.

    Attributes:
        name: as it was asked for; with a checksum, where an agent is that of a file.
        run: called with a graph, `key`, `trajectories`, `time_limit`, `num_steps` and `callback`.
        compiles: whether a first call takes longer than those after it.
        tune: finds options of `run` for a set of graphs; None where there are none to be found.
    """

    name: str
    run: Callable[..., SolveResult]
    compiles: bool = True
    tune: Callable[..., Mapping[str, Any]] | None = None

    def tuned(self, graphs: Sequence[Graph], **options: Any) -> tuple[Solver, Mapping[str, Any]]:
        """What is to be run on a set of graphs, and what was found for them.

        Args:
            graphs: of the set.
            options: `key` and `trajectories`, as for `run`.
        """
        if self.tune is None:
            return self, {}
        found = self.tune(graphs, **options)
        return dataclasses.replace(self, run=functools.partial(self.run, **found)), found


@dataclasses.dataclass(frozen=True)
class _Peer:
    """Attributes:
    module: within this package.
    function: its name there.
    read: the options that the argument stands for; None where it takes none.
    compiles, tune: see `Solver`; `tune` is for a name without an argument.
    """

    module: str
    function: str
    read: Callable[[str], Mapping[str, Any]] | None = None
    compiles: bool = True
    tune: Callable[..., Mapping[str, Any]] | None = None


def _tune_temperature(
    graphs: Sequence[Graph], *, key: jax.Array, trajectories: int
) -> dict[str, float]:
    """The best of the paper's grid on these graphs, as the paper has it."""
    module = importlib.import_module("ecord_jax.baselines.mca")
    is_small = max(graph.num_vertices for graph in graphs) <= _SMALL
    grid = module.SMALL_GRAPHS if is_small else module.LARGE_GRAPHS
    found = module.tune_temperature(graphs, key=key, grid=grid, trajectories=trajectories)
    return {"temperature": float(found.temperature)}


def _temperature(text: str) -> dict[str, float]:
    return {"temperature": float(text)}


def _seconds(text: str) -> dict[str, float]:
    return {"default_seconds": float(text)}


def _tenure(text: str) -> dict[str, Any]:
    tenure = importlib.import_module("ecord_jax.search.tenure")
    return {"tenure": {"fixed": tenure.FIXED, "shrinking": tenure.SHRINKING}[text]}


def _parameters(text: str) -> dict[str, str]:
    return {"parameters": text}


_PEERS = {
    "dwave-descent": _Peer("dwave", "dwave_descent", compiles=False),
    "dwave-sa": _Peer("dwave", "dwave_annealing", compiles=False),
    "dwave-tabu": _Peer("dwave", "dwave_tabu", compiles=False),
    "gw": _Peer("gw", "gw"),
    "leleu": _Peer("leleu", "leleu", read=_parameters),
    "mca": _Peer("mca", "mca"),
    "mca-soft": _Peer("mca", "mca_soft", read=_temperature, tune=_tune_temperature),
    "mip": _Peer("mip", "mip", read=_seconds, compiles=False),
    "rank2": _Peer("rank2", "rank2"),
    "simcim": _Peer("simcim", "simcim", read=_parameters),
    "tabu": _Peer("tabu", "tabu", read=_tenure),
}
# Those of `solve` by what stands before the agent: its rollout alone, at its own temperatures or
# with greedy actions as in the paper's first table, and with all that `solve` adds but tabu search.
_ROLLOUT: dict[str, Any] = {"move": "ecord", "ablate": INGREDIENTS}
_LEARNED: dict[str, dict[str, Any]] = {
    "ecord": _ROLLOUT,
    "ecord-det": _ROLLOUT | {"temperature": 0.0},
    "ecord-full": {"move": "ecord"},
}
_ALIASES = {"swift": "ecord:swift"}


def solver_names() -> list[str]:
    """What `find_solver` knows, sorted; those that end with a colon need an agent's name."""
    return sorted([*_PEERS, *_ALIASES, "solve", *(f"{name}:" for name in _LEARNED)])


def find_solver(name: str) -> Solver:
    """Gives a solver.

    Args:
        name: `solve`, with its defaults, or `solve:[MOVE][-INGREDIENT]...`, with another move or
            without some ingredients, as `solve:tabu` or `solve:ecord-merge-restart`; `ecord:AGENT`
            (its rollout alone, at its own temperatures), `ecord-det:AGENT` (greedy actions) or
            `ecord-full:AGENT` (all that `solve` does without tabu search), where AGENT is a shipped
            agent or a .safetensors file; `swift` for `ecord:swift`;
            `mca-soft:TEMPERATURE`, or `mca-soft` to have it tuned; `tabu:fixed` or
            `tabu:shrinking`; `mip:SECONDS`, where time is not limited otherwise; `simcim:SET` and
            `leleu:SET`, with what was found for a set; or a name of `solver_names` by itself.

    Raises:
        OptionError: for another name, or an argument that makes no sense.
        AgentError: for a file of an agent that cannot be read.
    """
    kind, colon, argument = _ALIASES.get(name, name).partition(":")
    if kind == "solve":
        return Solver(name, functools.partial(solve, **_solve_options(name, argument)))
    if kind in _LEARNED and argument:
        checksum = full_name(argument).removeprefix(argument)
        run = functools.partial(solve, agent=argument, **_LEARNED[kind])
        return Solver(name + checksum, run)
    peer = _PEERS.get(kind)
    if peer is None:
        raise OptionError(f"no solver {name!r}; there are {', '.join(solver_names())}")
    options: dict[str, Any] = {}
    if colon:
        if peer.read is None:
            raise OptionError(f"solver {name!r}: {kind} takes no argument")
        try:
            options |= peer.read(argument)
        except (KeyError, ValueError):
            raise OptionError(f"solver {name!r}: {argument!r} makes no sense to {kind}") from None
    tune = None if colon else peer.tune
    return Solver(name, _Late(peer.module, peer.function, options), peer.compiles, tune)


def _solve_options(name: str, argument: str) -> dict[str, Any]:
    """What the argument of `solve:ARGUMENT` stands for."""
    move, *left_out = argument.split("-")
    repeated = len(set(left_out)) < len(left_out)
    if move not in ("", *get_args(Move)) or not set(left_out) <= set(INGREDIENTS) or repeated:
        raise OptionError(
            f"solver {name!r}: {argument!r} is not [MOVE][-INGREDIENT]... with a move of "
            f"{', '.join(get_args(Move))} and different ingredients of {', '.join(INGREDIENTS)}"
        )
    options = {"move": move, "ablate": tuple(left_out)}
    return {option: value for option, value in options.items() if value}


@dataclasses.dataclass(frozen=True)
class _Late:
    """A function of this package, imported when it is first called."""

    module: str
    function: str
    options: dict[str, Any]

    def __call__(self, graph: Graph, **limits: Any) -> SolveResult:
        module = importlib.import_module(f"ecord_jax.baselines.{self.module}")
        return getattr(module, self.function)(graph, **self.options, **limits)
