"""Outside solvers of the package dwave-samplers: tabu search, simulated annealing, and steepest
descent, each through its own interface, on the Ising problem of a graph.

A step is about one flip, so that budgets in steps are comparable: for annealing |V| steps are a
sweep, which proposes |V| flips; a descent counts as |V|. Shape letters: B trajectories, which are
what the package calls reads, N vertices.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Hashable
from typing import Any

import jax
import numpy as np

from ecord_jax.baselines.run import Callback, Run
from ecord_jax.errors import MissingExtraError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.bqm import make_bqm
from ecord_jax.search.result import SolveResult

__all__ = ["dwave_annealing", "dwave_descent", "dwave_tabu"]

_SWEEPS = 1000  # of an annealing run, where only time is limited; the package's own default
_MOST_MILLISECONDS = 2**31 - 1


def dwave_tabu(
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int = 20,
    time_limit: float | None = None,
    num_steps: int | None = None,
    callback: Callback | None = None,
) -> SolveResult:
    """Looks for a large cut by `dwave.samplers.TabuSampler` (Palubeckis, 2004).

    Args:
        graph: the graph.
        key: of `jax.random.key`; draws the seed.
        trajectories: B, searches one after the other.
        time_limit: seconds for all of them, 30 if neither limit is given; each restarts until its
            part is over.
        num_steps: flips of each, which then does not restart; those of the descents from new best
            cuts are not counted.
        callback: see `ecord_jax.baselines.run.Run`.

    Raises:
        MissingExtraError: without dwave-samplers.
        OptionError: for an option that makes no sense.
    """

    def sample(run: Run, sampler: Any, bqm: Any, seed: int) -> Any:
        limits: dict[str, int] = {}
        if num_steps is not None:
            limits |= {"num_restarts": 0, "coefficient_z_first": 1, "lower_bound_z": num_steps}
            run.steps = num_steps
        part = min(1000 * run.watch.left / trajectories, _MOST_MILLISECONDS)
        timeout = max(1, int(part))
        return sampler.sample(bqm, num_reads=trajectories, seed=seed, timeout=timeout, **limits)

    run = Run(
        graph,
        "dwave-tabu",
        key=key,
        trajectories=trajectories,
        time_limit=time_limit,
        num_steps=num_steps,
        callback=callback,
    )
    return _repeat(run, graph, "TabuSampler", sample)


def dwave_annealing(
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int = 20,
    time_limit: float | None = None,
    num_steps: int | None = None,
    callback: Callback | None = None,
) -> SolveResult:
    """Looks for a large cut by `dwave.samplers.SimulatedAnnealingSampler`.

    Args:
        graph: the graph.
        key: of `jax.random.key`; draws the seeds.
        trajectories: B.
        time_limit: seconds, 30 if neither limit is given; runs of 1000 sweeps until then.
        num_steps: of each trajectory's one run; |V| are a sweep, and there is one at least.
        callback: see `ecord_jax.baselines.run.Run`.

    Raises:
        MissingExtraError: without dwave-samplers.
        OptionError: for an option that makes no sense.
    """
    n = max(graph.num_vertices, 1) if isinstance(graph, Graph) else 1
    sweeps = _SWEEPS if num_steps is None else max(1, round(num_steps / n))

    def sample(run: Run, sampler: Any, bqm: Any, seed: int) -> Any:
        found = sampler.sample(
            bqm,
            num_reads=trajectories,
            num_sweeps=sweeps,
            seed=seed,
            interrupt_function=lambda: run.watch.left <= 0,
        )
        run.steps = run.steps + sweeps * n if num_steps is None else num_steps
        return found

    run = Run(
        graph,
        "dwave-sa",
        key=key,
        trajectories=trajectories,
        time_limit=time_limit,
        num_steps=num_steps,
        callback=callback,
    )
    return _repeat(run, graph, "SimulatedAnnealingSampler", sample)


def dwave_descent(
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int = 20,
    time_limit: float | None = None,
    num_steps: int | None = None,
    callback: Callback | None = None,
) -> SolveResult:
    """Looks for a large cut by `dwave.samplers.SteepestDescentSampler` from random labels.

    Args:
        graph: the graph.
        key: of `jax.random.key`; draws the seeds.
        trajectories: B.
        time_limit: seconds, 30 if neither limit is given; descents from new labels until then.
        num_steps: of each trajectory; a descent counts as |V|, and there is one at least.
        callback: see `ecord_jax.baselines.run.Run`.

    Raises:
        MissingExtraError: without dwave-samplers.
        OptionError: for an option that makes no sense.
    """

    def sample(run: Run, sampler: Any, bqm: Any, seed: int) -> Any:
        run.steps = min(run.steps + graph.num_vertices, run.last_step)
        return sampler.sample(bqm, num_reads=trajectories, seed=seed, large_sparse_opt=True)

    run = Run(
        graph,
        "dwave-descent",
        key=key,
        trajectories=trajectories,
        time_limit=time_limit,
        num_steps=num_steps,
        callback=callback,
    )
    return _repeat(run, graph, "SteepestDescentSampler", sample)


def _repeat(
    run: Run, graph: Graph, sampler: str, sample: Callable[[Run, Any, Any, int], Any]
) -> SolveResult:
    """Samples until the run is over."""
    try:
        made = getattr(importlib.import_module("dwave.samplers"), sampler)()
    except ImportError:
        raise MissingExtraError(f"dwave's {sampler}", "dwave-samplers", "peers") from None
    if run.over is not None:
        return run.result(run.over)
    bqm = _to_bqm(graph)
    while (over := run.over) is None:
        found = sample(run, made, bqm, int(run.rng.integers(2**31)))
        spins = found.record.sample[:, np.argsort(list(found.variables))]
        run.offer((spins[found.record.energy.argmin()] > 0).astype(np.int8))
    return run.result(over)


def _to_bqm(graph: Graph) -> Any:
    """Weights as couplings of spins, over a power of two that brings the largest near 1."""
    exponent = math.frexp(float(np.abs(graph.weights).max()))[1]
    weights = np.ldexp(graph.weights.astype(np.float64), -exponent).tolist()
    pairs = map(tuple, graph.edges.tolist())
    linear: dict[Hashable, float] = dict.fromkeys(range(graph.num_vertices), 0.0)
    quadratic = dict(zip(pairs, weights, strict=True))
    return make_bqm(linear, quadratic, 0.0, "SPIN", negate=False)
