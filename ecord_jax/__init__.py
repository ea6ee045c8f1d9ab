"""ECORD in JAX: reinforcement learning for Max-Cut (arXiv:2205.14105).

    import ecord_jax as ej
    import jax

    graph = ej.read_graph("G1.txt")
    result = ej.solve(graph, time_limit=30, key=jax.random.key(0))
    print(result.cut, result.labels)

What is named here is imported when it is first used, so that programs that need no more than a
graph do not wait for JAX. Importing touches no device and sets no flag or seed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ecord_jax import functional
    from ecord_jax.agents import load_agent
    from ecord_jax.graphs import Graph, Problem, read_graph
    from ecord_jax.sampler import EcordSampler
    from ecord_jax.search.result import SolveResult
    from ecord_jax.search.solve import solve

__all__ = [
    "EcordSampler",
    "Graph",
    "Problem",
    "SolveResult",
    "functional",
    "load_agent",
    "read_graph",
    "solve",
]

_HOME = {
    "EcordSampler": "ecord_jax.sampler",
    "Graph": "ecord_jax.graphs",
    "Problem": "ecord_jax.graphs",
    "SolveResult": "ecord_jax.search.result",
    "load_agent": "ecord_jax.agents",
    "read_graph": "ecord_jax.graphs",
    "solve": "ecord_jax.search.solve",
}


def __getattr__(name: str) -> Any:
    """Imports what is asked for (PEP 562)."""
    value: Any
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name == "functional":
        value = importlib.import_module("ecord_jax.functional")
    elif name == "__version__":
        value = _version()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("ecord-jax")
    except metadata.PackageNotFoundError:
        return "unknown"  # a checkout that is not installed


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
