"""SimCIM: annealing by a simulated coherent Ising machine (Tiunov, Ulanov and Lvovsky, Optics
Express 27, 10288, 2019), for many trajectories at once.

The amplitudes x start at 0. With the couplings J of `ecord_jax.baselines.amplitudes`, Gaussian f
and a pump p that rises with the time t in [0, 1],

    d <- m d + (1 - m) (r (p(t) x + J x) + n f)
    x <- x + d where that is within [-1, 1], else its end
    p(t) = p0 + (p1 - p0) (1 + tanh(s (2t - 1)) / tanh(s)) / 2

where m is the momentum, r the rate and n the noise. Below p = -1 noise is all there is; from there
on the leading directions of J grow first. The signs at the end are the labels.

Shape letters: N padded vertices, B trajectories.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp

from ecord_jax.baselines.amplitudes import anneal
from ecord_jax.baselines.found import found_parameters
from ecord_jax.baselines.run import Callback
from ecord_jax.graphs import Graph
from ecord_jax.search.fields import Blocks, fields
from ecord_jax.search.result import SolveResult

__all__ = ["RANGES", "SimCimParameters", "simcim"]

_RUN_LENGTH = 1000


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SimCimParameters:
    """Attributes:
    pump_start, pump_end: p0 and p1, in units of the largest eigenvalue of J.
    steepness: s of the hyperbolic tangent; small is a straight line.
    rate: r.
    noise: n.
    momentum: m, from 0 to below 1.
    """

    pump_start: float = -1.0
    pump_end: float = 0.0
    steepness: float = 1.0
    rate: float = 0.5
    noise: float = 0.1
    momentum: float = 0.9


# Where values are searched; those with a positive lower end on a logarithmic scale.
RANGES: dict[str, tuple[float, float]] = {
    "pump_start": (-1.5, 0.0),
    "pump_end": (-0.5, 1.0),
    "steepness": (0.1, 3.0),
    "rate": (0.03, 2.0),
    "noise": (0.003, 0.5),
    "momentum": (0.0, 0.95),
}


class _State(NamedTuple):
    """Attributes:
    x, change: float32 [N, B], amplitudes and d.
    key: of the noise.
    step: int32 [].
    """

    x: jax.Array
    change: jax.Array
    key: jax.Array
    step: jax.Array


@dataclasses.dataclass(frozen=True)
class SimCim:
    """SimCIM as an `ecord_jax.baselines.amplitudes.Annealing`."""

    parameters: SimCimParameters

    def start(self, size: int, trajectories: int, key: jax.Array) -> _State:
        zeros = jnp.zeros((size, trajectories), jnp.float32)
        return _State(zeros, zeros, key, jnp.int32(0))

    def advance(self, blocks: Blocks, state: _State, goal: int, length: int) -> _State:
        return _advance(blocks, self.parameters, state, goal, length)

    def signs(self, blocks: Blocks, state: _State) -> jax.Array:
        return state.x > 0


def simcim(
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int = 20,
    time_limit: float | None = None,
    num_steps: int | None = None,
    callback: Callback | None = None,
    parameters: SimCimParameters | str | None = None,
    run_length: int = _RUN_LENGTH,
) -> SolveResult:
    """Looks for a large cut of a graph by SimCIM; see this module.

    Args:
        graph: the graph.
        key: of `jax.random.key`; consumed.
        trajectories: B.
        time_limit: seconds for the whole call, 30 if neither limit is given; runs of `run_length`
            follow each other until then.
        num_steps: the length of the one run that is made. A step updates all vertices.
        callback: see `ecord_jax.baselines.run.Run`.
        parameters: by default those found for graphs that are most like this one; or of a set of
            `ecord_jax/baselines/found.json` by its name.
        run_length: see above.

    Returns:
        The best labels at the end of a run.

    Raises:
        OptionError: for an option that makes no sense.
    """
    chosen = found_parameters("simcim", SimCimParameters, graph, parameters)
    return anneal(
        graph,
        "simcim",
        SimCim(chosen),
        key=key,
        trajectories=trajectories,
        time_limit=time_limit,
        num_steps=num_steps,
        callback=callback,
        run_length=run_length,
    )


@jax.jit
def _advance(
    blocks: Blocks, parameters: SimCimParameters, state: _State, goal: int, length: int
) -> _State:
    return jax.lax.while_loop(
        lambda state: state.step < goal,
        lambda state: _step(blocks, parameters, state, length),
        state,
    )


def _step(blocks: Blocks, parameters: SimCimParameters, state: _State, length: int) -> _State:
    pump = pump_at(parameters, state.step / length)
    noise = jax.random.normal(jax.random.fold_in(state.key, state.step), state.x.shape)
    push = parameters.rate * (pump * state.x + fields(blocks, state.x)) + parameters.noise * noise
    change = parameters.momentum * state.change + (1 - parameters.momentum) * push
    x = jnp.clip(state.x + change, -1.0, 1.0)
    return _State(x, change, state.key, state.step + 1)


def pump_at(parameters: SimCimParameters, time: jax.Array | float) -> jax.Array:
    """p(t) for t in [0, 1]."""
    s = parameters.steepness
    part = (1 + jnp.tanh(s * (2 * time - 1)) / jnp.tanh(s)) / 2
    return parameters.pump_start + (parameters.pump_end - parameters.pump_start) * part
