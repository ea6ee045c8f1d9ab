"""Solvers by name, as `experiments/compare.py` is told which: NAME, or NAME:ARGUMENT."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ecord_jax.errors import OptionError
from ecord_jax.search.result import SolveResult
from ecord_jax.search.solve import solve

__all__ = ["Solver", "find_solver", "solver_names"]


@dataclasses.dataclass(frozen=True)
class Solver:
    """A solver with all but a graph, a key and limits.

    Attributes:
        name: as it was asked for.
        run: called with a graph, `key`, `trajectories`, `time_limit` and `num_steps`.
        compiles: whether a first call takes longer than those after it.
    """

    name: str
    run: Callable[..., SolveResult]
    compiles: bool = True


@dataclasses.dataclass(frozen=True)
class _Peer:
    """Attributes:
    module: within this package.
    function: its name there.
    options: what it is called with.
    read: what the argument stands for, further options; None where it takes none.
    compiles: see `Solver`.
    """

    module: str
    function: str
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    read: Callable[[str], Mapping[str, Any]] | None = None
    compiles: bool = True


def _temperature(text: str) -> dict[str, float]:
    return {"temperature": float(text)}


def _tenure(text: str) -> dict[str, Any]:
    tabu = importlib.import_module("ecord_jax.baselines.tabu")
    return {"tenure": {"fixed": tabu.FIXED, "shrinking": tabu.SHRINKING}[text]}


def _parameters(text: str) -> dict[str, str]:
    return {"parameters": text}


_PEERS = {
    "dwave-descent": _Peer("dwave", "dwave_descent", compiles=False),
    "dwave-sa": _Peer("dwave", "dwave_annealing", compiles=False),
    "dwave-tabu": _Peer("dwave", "dwave_tabu", compiles=False),
    "gw": _Peer("gw", "gw"),
    "leleu": _Peer("leleu", "leleu", read=_parameters),
    "mca": _Peer("mca", "mca"),
    "mca-soft": _Peer("mca", "mca_soft", read=_temperature),
    "mip": _Peer("mip", "mip", compiles=False),
    "rank2": _Peer("rank2", "rank2"),
    "simcim": _Peer("simcim", "simcim", read=_parameters),
    "tabu": _Peer("tabu", "tabu", read=_tenure),
}
# Those of `solve` by what stands before the agent: greedy actions as in the paper's first table,
# the agent's own temperatures, and these on what presolve leaves.
_LEARNED: dict[str, dict[str, Any]] = {
    "ecord": {"presolve": False},
    "ecord-det": {"presolve": False, "temperature": 0.0},
    "ecord-full": {"presolve": True},
}
_ALIASES = {"swift": "ecord:swift"}


def solver_names() -> list[str]:
    """What `find_solver` knows, sorted; those that end with a colon need an agent's name."""
    return sorted([*_PEERS, *_ALIASES, *(f"{name}:" for name in _LEARNED)])


def find_solver(name: str) -> Solver:
    """Gives a solver.

    Args:
        name: `ecord:AGENT` (its own temperatures), `ecord-det:AGENT` (greedy actions) or
            `ecord-full:AGENT` (presolve first), where AGENT is a shipped agent or a .safetensors
            file; `swift` for `ecord:swift`; `mca-soft:TEMPERATURE`; `tabu:fixed` or
            `tabu:shrinking`; `simcim:SET` and `leleu:SET`, with what was found for a set; or a name
            of `solver_names` by itself.

    Raises:
        OptionError: for another name, or an argument that makes no sense.
    """
    kind, colon, argument = _ALIASES.get(name, name).partition(":")
    if kind in _LEARNED and argument:
        return Solver(name, functools.partial(solve, agent=argument, **_LEARNED[kind]))
    peer = _PEERS.get(kind)
    if peer is None:
        raise OptionError(f"no solver {name!r}; there are {', '.join(solver_names())}")
    options = dict(peer.options)
    if colon:
        if peer.read is None:
            raise OptionError(f"solver {name!r}: {kind} takes no argument")
        try:
            options |= peer.read(argument)
        except (KeyError, ValueError):
            raise OptionError(f"solver {name!r}: {argument!r} makes no sense to {kind}") from None
    return Solver(name, _Late(peer.module, peer.function, options), peer.compiles)


@dataclasses.dataclass(frozen=True)
class _Late:
    """A function of this package, imported when it is first called."""

    module: str
    function: str
    options: dict[str, Any]

    def __call__(self, graph: Any, **limits: Any) -> SolveResult:
        module = importlib.import_module(f"ecord_jax.baselines.{self.module}")
        return getattr(module, self.function)(graph, **limits, **self.options)
