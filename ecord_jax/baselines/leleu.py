"""Chaotic amplitude control (Leleu, Yamamoto, McMahon and Aihara, Phys. Rev. Lett. 122, 040607,
2019), for many trajectories at once.

Every vertex has an amplitude x and an error variable e, which destabilises local minima by making
all amplitudes alike. With the couplings J of `ecord_jax.baselines.amplitudes`,

    dx_i/dt = (p - 1) x_i - x_i^3 + c e_i sum_j J_ij x_j
    de_i/dt = -b (x_i^2 - a) e_i
    a = a0 + a1 tanh(d h),  p = p0 - p1 tanh(d h),  h = (H(x) - H*) / N

by Euler steps that keep |x_i| within dt^-1/2, where H is the energy of the signs of x, H* the least
that the trajectory has met, and b grows from 0 at the rate g, and from 0 again when no less was met
for a time tau. In the paper, b is beta, c epsilon, d delta, g gamma, a0 alpha, p0 pi and a1, p1
rho. The signs of least energy are the labels; there is no end to a run, which goes on as chaos.

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

__all__ = ["RANGES", "LeleuParameters", "leleu"]

_RUN_LENGTH = 5000
_SMALL = 1e-2  # of the amplitudes at the start
_MOST_ERROR = 32.0


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class LeleuParameters:
    """Attributes:
    time_step: of Euler's method.
    coupling: c.
    pump, pump_swing: p0 and p1.
    target, target_swing: a0 and a1.
    sensitivity: d.
    growth: g.
    patience: tau.
    """

    time_step: float = 0.1
    coupling: float = 1.0
    pump: float = 0.5
    pump_swing: float = 0.0
    target: float = 1.0
    target_swing: float = 0.5
    sensitivity: float = 10.0
    growth: float = 0.01
    patience: float = 100.0


# Where values are searched; those with a positive lower end on a logarithmic scale.
RANGES: dict[str, tuple[float, float]] = {
    "time_step": (0.03, 0.4),
    "coupling": (0.2, 3.0),
    "pump": (-1.0, 1.5),
    "pump_swing": (0.0, 1.0),
    "target": (0.3, 3.0),
    "target_swing": (-0.5, 1.0),
    "sensitivity": (0.5, 100.0),
    "growth": (3e-4, 0.3),
    "patience": (10.0, 1000.0),
}


class _State(NamedTuple):
    """Attributes:
    x, error: float32 [N, B].
    rate: float32 [B], b.
    best: float32 [B], H*.
    best_signs: bool [N, B], where it was met.
    waited: float32 [B], time since then or since b was 0 again.
    step: int32 [].
    """

    x: jax.Array
    error: jax.Array
    rate: jax.Array
    best: jax.Array
    best_signs: jax.Array
    waited: jax.Array
    step: jax.Array


@dataclasses.dataclass(frozen=True)
class Leleu:
    """Chaotic amplitude control as an `ecord_jax.baselines.amplitudes.Annealing`."""

    parameters: LeleuParameters

    def start(self, size: int, trajectories: int, key: jax.Array) -> _State:
        x = _SMALL * jax.random.normal(key, (size, trajectories))
        zeros = jnp.zeros(trajectories, jnp.float32)
        none = jnp.full(trajectories, jnp.inf, jnp.float32)
        return _State(x, jnp.ones_like(x), zeros, none, x > 0, zeros, jnp.int32(0))

    def advance(self, blocks: Blocks, state: _State, goal: int, length: int) -> _State:
        return _advance(blocks, self.parameters, state, goal)

    def signs(self, blocks: Blocks, state: _State) -> jax.Array:
        return _judge(state, fields(blocks, _to_spins(state.x))).best_signs


def leleu(
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int = 20,
    time_limit: float | None = None,
    num_steps: int | None = None,
    callback: Callback | None = None,
    parameters: LeleuParameters | str | None = None,
    run_length: int = _RUN_LENGTH,
) -> SolveResult:
    """Looks for a large cut of a graph by chaotic amplitude control; see this module.

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
        The best labels that any trajectory met.

    Raises:
        OptionError: for an option that makes no sense.
    """
    chosen = found_parameters("leleu", LeleuParameters, graph, parameters)
    return anneal(
        graph,
        "leleu",
        Leleu(chosen),
        key=key,
        trajectories=trajectories,
        time_limit=time_limit,
        num_steps=num_steps,
        callback=callback,
        run_length=run_length,
    )


@jax.jit
def _advance(blocks: Blocks, parameters: LeleuParameters, state: _State, goal: int) -> _State:
    return jax.lax.while_loop(
        lambda state: state.step < goal, lambda state: _step(blocks, parameters, state), state
    )


def _to_spins(x: jax.Array) -> jax.Array:
    return jnp.where(x > 0, 1.0, -1.0)


def _judge(state: _State, spin_fields: jax.Array) -> _State:
    """The state that knows the energy of its signs, given their fields [N, B]."""
    energy = _energy(state.x, spin_fields)
    better = energy < state.best
    return state._replace(
        best=jnp.where(better, energy, state.best),
        best_signs=jnp.where(better, state.x > 0, state.best_signs),
        waited=jnp.where(better, 0.0, state.waited),
    )


def _energy(x: jax.Array, spin_fields: jax.Array) -> jax.Array:
    return -jnp.sum(_to_spins(x) * spin_fields, axis=0) / 2


def _step(blocks: Blocks, parameters: LeleuParameters, state: _State) -> _State:
    p, x, trajectories = parameters, state.x, state.x.shape[1]
    # One product for both: what it costs is mostly looking up neighbours.
    both = fields(blocks, jnp.concatenate([x, _to_spins(x)], axis=1))
    state = _judge(state, both[:, trajectories:])
    gap = (_energy(x, both[:, trajectories:]) - state.best) / x.shape[0]
    swing = jnp.tanh(p.sensitivity * gap)
    target, pump = p.target + p.target_swing * swing, p.pump - p.pump_swing * swing
    # Beyond it the cubic term would turn the sign at each step, and no trajectory comes back.
    most = 1 / jnp.sqrt(p.time_step)
    push = (pump - 1) * x - x**3 + p.coupling * state.error * both[:, :trajectories]
    error = state.error * (1 - p.time_step * state.rate * (x**2 - target))
    again = state.waited > p.patience
    return state._replace(
        x=jnp.clip(x + p.time_step * push, -most, most),
        error=jnp.clip(error, 0.0, _MOST_ERROR),
        rate=jnp.where(again, 0.0, state.rate + p.time_step * p.growth),
        waited=jnp.where(again, 0.0, state.waited + p.time_step),
        step=state.step + 1,
    )
