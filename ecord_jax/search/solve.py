"""Solving a graph: start labels, chunks of steps, the clock, and the exact result.

Shape letters: B trajectories, N vertices of the graph (without padding).
"""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
import os
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.agents import load_agent
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.presolve import Reduction
from ecord_jax.graphs.presolve import presolve as reduce
from ecord_jax.networks.agent import Agent
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.swift import SwiftConfig
from ecord_jax.search.bound import upper_bound
from ecord_jax.search.campaign import Campaign, Plan
from ecord_jax.search.greedy import greedy_labels
from ecord_jax.search.hunt import Chunks, Hunt, Relay
from ecord_jax.search.incremental_host import can_walk, incremental_mover
from ecord_jax.search.prepare import prepare, translate_memory_errors
from ecord_jax.search.result import Incumbent, Progress, SolveResult, Watch
from ecord_jax.search.run import Run
from ecord_jax.search.starts import start_labels
from ecord_jax.search.swift import swift_mover
from ecord_jax.search.swift_fleet import prepare_swift_device
from ecord_jax.search.temperature import adapts, ladder
from ecord_jax.search.walks import TABU, Mover

__all__ = ["INGREDIENTS", "Move", "check_limits", "check_options", "solve"]

Move = Literal["mixed", "ecord", "tabu"]
INGREDIENTS = ("presolve", "starts", "merge", "reheat", "restart")

_DEFAULT_SECONDS = 30.0
# Steps are counted in int32, and the time since a flip that never was is the step plus 2^30.
_MOST_STEPS = 2**30 - 2**10
_MOST_TRAJECTORIES = 2**20
_REFRESHES = 80  # looks at all vertices in |V| steps; more make no better cuts


def solve(
    graph: Graph,
    *,
    agent: str | os.PathLike[str] | Agent = "swift",
    time_limit: float | None = None,
    num_steps: int | None = None,
    trajectories: int = 20,
    temperature: float | Sequence[float] | str = "auto",
    key: jax.Array,
    init: Any = "random",
    refresh_every: int | str = "auto",
    move: Move = "mixed",
    presolve: bool = True,
    ablate: Collection[str] = (),
    bound: bool = False,
    callback: Callable[[Progress], None] | None = None,
) -> SolveResult:
    """Looks for a large cut of a graph.

    Several trajectories flip one vertex after another, as the agent or tabu search says, from start
    labels on; their best cuts are merged, and others begin, see `ecord_jax.search.campaign`. The
    best cut that is met is the result. It is never below that of the first start labels (of given
    ones the best) after all single flips that pay, which the host makes before anything else.

    Args:
        graph: the graph.
        agent: a shipped agent's name, the path of a .safetensors file, or an agent.
        time_limit: seconds for the whole call, compiling included. It is passed by at most half a
            second and a chunk of steps (well below a second but for the largest graphs). 30 if
            neither limit is given; if both are, whichever comes first ends the search.
        num_steps: flips of each trajectory, those over merged graphs included. Without a time limit
            the same key and number give the same labels on the same machine.
        trajectories: B.
        temperature: a number, a list or "auto": a ladder over the trajectories, from which each
            adapts, see `ecord_jax.search.temperature`; "auto" for `swift`, which has learned its
            own.
        key: of `jax.random.key`; consumed.
        init: "random", "equal", "rank2" or labels [N] or [B, N], see
            `ecord_jax.search.starts.start_labels`; later rounds begin at random.
        refresh_every: steps between two looks at all vertices; in between an agent looks again at
            those whose observation has changed, and what it remembers is as it was, see
            `ecord_jax.search.incremental`. 1 is the paper's step. "auto" is |V| / 80 for agents
            without an RNN, and 1 for others; no matter for `swift`.
        move: who flips: "mixed", the agent and tabu search, more often the one that does better
            (agents without a compiled loop: the agent for half of the time, then tabu search);
            "ecord", the agent alone; "tabu", tabu search alone, and the agent does nothing.
        presolve: whether the graph is first made smaller by exact rules, see
            `ecord_jax.graphs.presolve`; labels and cuts are those of the graph as given either way.
        ablate: ingredients that are left out: "presolve"; "starts", beginning with good labels
            where there is time for few flips a vertex; "merge", searching what good cuts disagree
            in; "reheat", walks that go on from what this finds; "restart", rounds of walks that
            grow longer, instead of one that takes all the time.
        bound: whether an upper bound is computed, see `ecord_jax.search.bound`: beside the search
            of up to 2000 vertices, which ends as optimal where it reaches it, and else after it.
            What is left to do of it when the search ends takes time of its own, as long as the
            time limit again at most, and what it takes to certify it. Where it fails, as for too
            little memory, there is a warning and no bound.
        callback: called after each chunk of steps, and before the first about ten times a second.
            A KeyboardInterrupt, raised in it or by Ctrl-C, ends the search with what it has found
            so far.

    Returns:
        The best cut and its labels.

    Raises:
        OptionError: for an option that makes no sense.
        AgentError: for an agent that cannot be loaded.
        EcordError: for labels that are not those of the graph, or too little memory.

    Example:
        >>> result = solve(graph, time_limit=10, key=jax.random.key(0))
        >>> assert result.cut == graph.cut(result.labels)
    """
    seconds, last_step = check_limits(time_limit, num_steps)
    watch = Watch(seconds)
    trajectories = check_options(graph, trajectories, key)
    left_out = _check_ingredients(ablate)
    policy = agent if isinstance(agent, Agent) else load_agent(agent)
    host_key, device_key = jax.random.split(key)
    rng = np.random.default_rng(np.asarray(jax.random.key_data(host_key)).tolist())
    plan = Plan(
        trajectories,
        last_step,
        lambda: watch.left,
        np.asarray(jax.random.key_data(device_key)).tolist(),
        starts="starts" not in left_out,
        merge="merge" not in left_out,
        reheat="reheat" not in left_out,
        restart="restart" not in left_out,
    )
    make = _maker(policy, move, temperature, refresh_every, plan, device_key)
    with translate_memory_errors(trajectories):
        starts = start_labels(graph, init, trajectories, rng, watch.deadline)
    # Of labels that are good for something the best: walks may have no time for all of them.
    drawn = isinstance(init, str) and init != "rank2"
    first = starts[0] if drawn else max(starts, key=graph.cut)
    if not graph.positive_weight:  # then nothing is better than to cut nothing
        first = np.zeros_like(first)
    presolve = presolve and "presolve" not in left_out
    bounder = functools.partial(upper_bound, time_limit=time_limit) if bound else None
    run = Run(Incumbent(graph, first, watch), watch, trajectories, last_step, callback, bounder)
    stopped_by = run.search(
        lambda: greedy_labels(graph, first, rng, watch.deadline),
        lambda: reduce(graph) if presolve else Reduction.unchanged(graph),
        lambda reduction: make(
            reduction.graph, starts[:, reduction.vertices], run.best.labels[reduction.vertices]
        ),
    )
    seconds = watch.elapsed
    proof = run.finish_bound(graph)
    optimal = proof is not None and proof.proves(run.best.cut)
    return SolveResult(
        cut=run.best.cut,
        labels=run.best.labels,
        curve=(*run.best.curve, Progress(seconds, run.steps, run.best.cut)),
        steps=run.steps,
        trajectories=trajectories,
        seconds={
            "read": 0.0,
            **run.seconds,
            "search": seconds - sum(run.seconds.values()),
            "total": seconds,
        },
        stopped_by=stopped_by,
        optimal=optimal or run.best.is_optimal,
        bound=proof,
        agent="custom" if isinstance(agent, Agent) else os.fspath(agent),
        reduction=run.reduction if presolve else None,
        found_by=run.best.found_by,
        effort=run.hunt.effort if run.hunt else {},
        improvements=dict(run.best.improvements),
    )


def _maker(
    policy: Agent,
    move: str,
    temperature: Any,
    refresh_every: int | str,
    plan: Plan,
    key: jax.Array,
) -> Callable[[Graph, np.ndarray, np.ndarray], Hunt]:
    """What makes a search of a graph, start labels and the best labels so far."""
    if move not in get_args(Move):
        raise OptionError(f"move={move!r} is none of {', '.join(get_args(Move))}")
    _check_refresh(refresh_every)
    is_swift = isinstance(policy.config, SwiftConfig)
    if is_swift and not (isinstance(temperature, str) and temperature == "auto"):
        raise OptionError(f"temperature={temperature!r}: this agent has learned its own")
    temperatures = (
        np.zeros(0) if is_swift else ladder(temperature, plan.trajectories, policy.config)
    )

    adapting = adapts(temperature, policy.config)

    def make(graph: Graph, starts: np.ndarray, best: np.ndarray) -> Hunt:
        with translate_memory_errors(plan.trajectories):
            if move == "tabu":
                return Campaign(graph, [TABU], starts, best, plan)
            every = _refresh_every(refresh_every, graph.num_vertices, policy.config)
            mover = _host_mover(policy, temperatures, every, adapting)
            if mover is not None:
                movers = [mover] if move == "ecord" else [mover, TABU]
                return Campaign(graph, movers, starts, best, plan)
            ours, theirs = (plan, None) if move == "ecord" else _halves(plan)
            if isinstance(policy.config, SwiftConfig):
                prepared = prepare_swift_device(
                    graph,
                    policy,
                    starts,
                    best if ours.starts else None,
                    last_step=ours.last_step,
                    left=ours.left,
                    seed=list(ours.seed),
                )
            else:
                prepared = prepare(
                    graph,
                    policy,
                    starts,
                    temperatures,
                    ours.last_step,
                    every,
                    key,
                    ours.left,
                    adapting,
                )
            chunks = Chunks(prepared, ours.last_step, ours.left)
            if theirs is None:
                return chunks
            return Relay(chunks, Campaign(graph, [TABU], starts, best, theirs))

    return make


def _host_mover(
    policy: Agent, temperatures: np.ndarray, refresh_every: int, adapting: bool
) -> Mover | None:
    """The agent as a compiled loop, where there is one and JAX computes on the host as well."""
    if jax.default_backend() != "cpu":
        return None
    if isinstance(policy.config, SwiftConfig):
        return swift_mover(policy)
    # Compiled for the host that step is many times faster than what XLA makes of it there.
    if refresh_every > 1 and can_walk(policy.config):
        return incremental_mover(policy, temperatures, refresh_every, adapting)
    return None


def _halves(plan: Plan) -> tuple[Plan, Plan]:
    """Half of the time and of the flips, and the rest."""
    half, steps = max(plan.left() / 2, 0.0), -(-plan.last_step // 2)
    first = dataclasses.replace(plan, last_step=steps)
    if not math.isinf(half):
        first = dataclasses.replace(first, left=lambda: plan.left() - half)
    return first, dataclasses.replace(plan, last_step=plan.last_step - steps)


def _check_ingredients(ablate: Collection[str]) -> set[str]:
    if isinstance(ablate, str) or not set(ablate) <= set(INGREDIENTS):
        raise OptionError(f"ablate={ablate!r} is no collection of {', '.join(INGREDIENTS)}")
    return set(ablate)


def check_limits(time_limit: float | None, num_steps: int | None) -> tuple[float, int]:
    """Checks both limits; gives the seconds and the steps that a search may take.

    Raises:
        OptionError: for a limit that makes no sense.
    """
    if num_steps is not None:
        _check_integer("num_steps", num_steps, _MOST_STEPS)
    steps = _MOST_STEPS if num_steps is None else int(num_steps)
    if time_limit is None:
        return (_DEFAULT_SECONDS if num_steps is None else math.inf), steps
    if not isinstance(time_limit, numbers.Real) or not 0 < time_limit < math.inf:
        raise OptionError(f"time_limit={time_limit!r} must be a finite number of seconds above 0")
    return float(time_limit), steps


def check_options(graph: Graph, trajectories: int, key: jax.Array) -> int:
    """Gives the trajectories; raises OptionError for options that would fail far from here."""
    if not isinstance(graph, Graph):
        raise OptionError(f"graph is a {type(graph).__name__}; expected an ecord_jax.Graph")
    _check_integer("trajectories", trajectories, _MOST_TRAJECTORIES)
    is_key = isinstance(key, jax.Array) and jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    if not is_key or key.shape != ():
        raise OptionError("key must be one key of jax.random.key")
    return int(trajectories)  # numpy's would overflow


def _check_refresh(refresh_every: int | str) -> None:
    if isinstance(refresh_every, str):
        if refresh_every != "auto":
            raise OptionError(f"refresh_every={refresh_every!r} is neither an integer nor 'auto'")
    else:
        _check_integer("refresh_every", refresh_every, _MOST_STEPS)


def _refresh_every(refresh_every: int | str, size: int, config: Any) -> int:
    """K for a graph of so many vertices."""
    if not isinstance(config, EcordConfig):
        return 1
    if isinstance(refresh_every, str):
        return max(size // _REFRESHES, 1) if config.rnn != "gru" else 1
    return int(refresh_every)


def _check_integer(name: str, value: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not 1 <= value <= most:
        raise OptionError(f"{name}={value!r} must be an integer from 1 to {most}")
