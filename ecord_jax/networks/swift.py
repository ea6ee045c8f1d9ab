"""`swift`: a policy whose flip costs a few vertices' worth of arithmetic, whatever |V| is.

The graph is looked at once, which gives each vertex a few scalars. After that the weight with which
vertex i is flipped is exp(z_i / T), with

    z_i = A_i x_i + k(x_i) + B_i + D_i p - C_i M P(t_i)

x_i the peek over the local-field scale s, t_i the time since its last flip over |V| (P is a
learned curve, piecewise constant on `time_edges`, and 0 past |V|), k a learned bend of the gain,
and T and M learned functions of the globals: progress p = flips done / budget, stagnation q = flips
since the best cut improved / |V|, and horizon h = log(budget / 6 |V|). Between two steps only the
flipped vertex, its neighbours and the few whose t_i crosses an edge of the curve change.

It has no memory but the times since the flips. This module is its definition, for numpy arrays on
the host and JAX arrays alike; `ecord_jax.search.swift_walk` steps it. Shape letters: N vertices, K
edges of the time curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.errors import AgentError
from ecord_jax.networks.config import check_fields

__all__ = [
    "Globals",
    "SwiftConfig",
    "SwiftTables",
    "param_shapes",
    "swift_globals",
    "swift_scores",
    "swift_tables",
    "time_edges",
]

# The time curve's knots are log-spaced between these parts of |V|; bins begin a little below.
_FIRST_KNOT, _FIRST_EDGE = 0.004, 0.003
_LEAST_FIELD = 1e-3  # of the mean, under the logarithm
_LONGEST_STAGNATION = 3.0
_DEEPEST = 3.0  # the bend of a loss goes no further: a hub's would outgrow what it loses


@dataclass(frozen=True)
class SwiftConfig:
    """Attributes:
    knots: of the time curve.
    bins: at most so many edges of the piecewise constant curve (K).
    refreshes: how often in |V| flips the globals are looked at anew.
    """

    knots: int = 7
    bins: int = 12
    refreshes: int = 25

    def __post_init__(self) -> None:
        # With fewer than two knots or bins there is no curve that ends at |V|.
        for name, least in (("knots", 2), ("bins", 2), ("refreshes", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise AgentError(f"{name}={value!r} must be an integer of at least {least}")

    def refresh_every(self, num_vertices: int) -> int:
        """Flips from one look at the globals to the next."""
        return max(num_vertices // self.refreshes, 1)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> SwiftConfig:
        """Reads what `dataclasses.asdict` wrote.

        Raises:
            AgentError: on an unknown field or a value out of range.
        """
        check_fields(cls, values)
        return cls(**values)


class SwiftTables(NamedTuple):
    """What is computed once a graph.

    Attributes:
        gain: [N], A_i.
        bias: [N], B_i.
        drift: [N], D_i.
        penalty: [N], C_i.
        curve: [K + 1], P on the bins of `time_edges`; the last is 0.
    """

    gain: Any
    bias: Any
    drift: Any
    penalty: Any
    curve: Any


class Globals(NamedTuple):
    """What all vertices share until the next refresh; scalars, or [B].

    Attributes:
        temperature: T.
        progress: p.
        penalty: M.
        rise: factor of positive x in k(x).
        dip: factor of the square of negative x in k(x), which stays what it is at x = -3.
    """

    temperature: Any
    progress: Any
    penalty: Any
    rise: Any
    dip: Any


def param_shapes(config: SwiftConfig) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the parameters, all float32.

    `temperature` are the coefficients of log T in 1, p, p^2, q, h and log(mean degree); `penalty`
    those of M: of p and q, and the powers of the budget and of the mean degree; `powers` the
    exponents of the relative local field in A and C; `bias` those in B and D; `bend` those of k.
    """
    return {
        "temperature": (6,),
        "penalty": (4,),
        "curve": (config.knots,),
        "powers": (2,),
        "bias": (2,),
        "bend": (3,),
    }


def time_edges(config: SwiftConfig, num_vertices: int) -> np.ndarray:
    """int64 [K], flips since the last one at which a vertex enters the next bin of the curve."""
    parts = np.geomspace(_FIRST_EDGE, 1.0, config.bins)
    return np.unique(np.maximum(np.round(parts * num_vertices), 1).astype(np.int64))


def swift_tables(
    params: dict[str, Any], config: SwiftConfig, fields: Any, edges: np.ndarray
) -> SwiftTables:
    """Looks at a graph.

    Args:
        params: see `param_shapes`.
        config: of the agent.
        fields: [N], sum_j w_ij^2 of each vertex.
        edges: `time_edges` of the graph.
    """
    xp = _namespace(fields)
    mean = fields.mean()
    relative = xp.log(xp.maximum(fields / xp.where(mean > 0, mean, 1.0), _LEAST_FIELD))
    powers, bias = params["powers"], params["bias"]
    return SwiftTables(
        gain=xp.exp(-powers[0] * relative),
        bias=bias[0] * relative,
        drift=bias[1] * relative,
        penalty=xp.exp(powers[1] * relative),
        curve=_curve(xp, params["curve"], config, edges, len(fields)),
    )


def _curve(xp: Any, values: Any, config: SwiftConfig, edges: np.ndarray, size: int) -> Any:
    """P in the (geometric) middle of each bin."""
    below = np.concatenate([[max(edges[0] / 2, 1.0)], edges[:-1]])
    middles = 0.5 * (np.log(below) + np.log(edges)) - math.log(max(size, 1))
    knots = np.linspace(math.log(_FIRST_KNOT), 0.0, config.knots)
    return xp.append(xp.interp(middles, knots, values), 0.0)


def swift_globals(
    params: dict[str, Any], progress: Any, stagnation: Any, budget: Any, degree: Any
) -> Globals:
    """What all vertices share.

    Args:
        params: see `param_shapes`.
        progress: flips done over the budget, 0..1.
        stagnation: flips since the best cut improved, over |V|.
        budget: flips of the whole walk, over 6 |V|; above 0.
        degree: mean degree, above 0.
    """
    xp = _namespace(progress)
    t, m, bend = params["temperature"], params["penalty"], params["bend"]
    p, q = progress, xp.minimum(stagnation, _LONGEST_STAGNATION)
    h, d = xp.log(budget), xp.log(degree)
    level = t[0] + t[1] * p + t[2] * p * p + t[3] * q + t[4] * h + t[5] * d
    factor = xp.maximum(1.0 + m[0] * p + m[1] * q, 0.0) * xp.exp(m[2] * h + m[3] * d)
    return Globals(xp.exp(level), p, factor, bend[0] + bend[1] * p, bend[2] + 0.0 * p)


def swift_scores(tables: SwiftTables, shared: Globals, peeks: Any, bins: Any) -> Any:
    """z_i / T: the logarithms of the weights with which vertices are flipped.

    Args:
        tables: of the graph.
        shared: of the moment.
        peeks: [N], over the local-field scale.
        bins: int [N], of the time since the last flip: how many of `time_edges` it reaches.

    Returns:
        [N].
    """
    xp = _namespace(peeks)
    loss = xp.maximum(xp.minimum(peeks, 0.0), -_DEEPEST)
    bend = shared.rise * xp.maximum(peeks, 0.0) + shared.dip * loss * loss
    gain = tables.gain * peeks + bend + tables.bias + tables.drift * shared.progress
    return (gain - tables.penalty * shared.penalty * tables.curve[bins]) / shared.temperature


def _namespace(array: Any) -> Any:
    """numpy for what lives on the host, else jax.numpy: both compute the same."""
    return jnp if isinstance(array, jax.Array) else np
