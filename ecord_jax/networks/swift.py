"""`swift`: a policy whose flip costs a few vertices' worth of arithmetic, whatever |V| is.

The graph is looked at once, by an encoder that gives each vertex a few scalars. After that the
weight with which vertex i is flipped is exp(z_i / T), with

    z_i = A_i x_i + k(x_i) + B_i + D_i p - C_i M P(t_i e^(c p))

x_i the peek over the local-field scale s, t_i the time since its last flip over |V| (P is a
learned curve, beyond its last knot what it is there, piecewise constant on `time_edges`; nothing is
held against a vertex whose t_i is past 1), c how much sooner flips are forgotten at the end (but
for the last few on a small graph, see `time_places`), k a learned bend of the gain, and T and M
learned functions of the globals: progress p = flips done / budget, stagnation q = flips since the
best cut improved / |V|, and horizon h = log(budget / 6 |V|), with g = max(h - log 20, 0) for what
long walks want besides. All parameters are linear in a few
traits of the graph (`ecord_jax.networks.traits`). Between two steps only the flipped vertex, its
neighbours and the few whose t_i crosses an edge of the curve change.

The encoder "degree" takes the scalars for powers of a vertex's own local field (its degree, where
all weights are 1). The encoder "gnn" adds what a graph network without hidden layers reads from the
surroundings (means over neighbours, twice, then one linear map: Wu et al., Simplifying Graph
Convolutional Networks, ICML 2019).

It has no memory but the times since the flips. This module is its definition, for numpy arrays on
the host and JAX arrays alike; `ecord_jax.search.swift_walk` steps it. Shape letters: N vertices, H
half-edges, F features of a vertex, K edges of the time curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.errors import AgentError
from ecord_jax.networks.config import check_fields
from ecord_jax.networks.traits import TRAITS

__all__ = [
    "LONG",
    "Encoder",
    "Globals",
    "SwiftConfig",
    "SwiftTables",
    "param_shapes",
    "swift_globals",
    "swift_scores",
    "swift_tables",
    "time_edges",
    "time_places",
    "vertex_features",
]

Encoder = Literal["degree", "gnn"]

# The time curve's knots are log-spaced between these parts of |V|; bins begin a little below.
_FIRST_KNOT, _FIRST_EDGE = 0.004, 0.003
_LEAST_FIELD = 1e-3  # of the mean, under the logarithm
_OWN, _ROUNDS = 3, 2  # features of a vertex itself, and how often they are averaged
_CIRCLE = 7  # flips
_LONGEST_STAGNATION = 3.0
_CHANGED = 24  # weights that flips change for each one that a look at the globals does
LONG = 20.0  # a budget over 6 |V| from which on a walk is long
_DEEPEST = 3.0  # the bend of a loss goes no further: a hub's would outgrow what it loses


@dataclass(frozen=True)
class SwiftConfig:
    """Attributes:
    knots: of the time curve.
    bins: at most so many edges of the piecewise constant curve (K).
    refreshes: how often in |V| flips the globals are looked at anew, at least: more often where a
        flip changes so many vertices that looking at all of them costs little besides.
    encoder: what gives each vertex its scalars, see above.
    """

    knots: int = 7
    bins: int = 7
    refreshes: int = 6
    encoder: Encoder = "degree"

    def __post_init__(self) -> None:
        # With fewer than two knots or bins there is no curve that ends at |V|.
        for name, least in (("knots", 2), ("bins", 2), ("refreshes", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise AgentError(f"{name}={value!r} must be an integer of at least {least}")
        if self.encoder not in get_args(Encoder):
            known = ", ".join(get_args(Encoder))
            raise AgentError(f"encoder={self.encoder!r} is none of {known}")

    def refresh_every(self, num_vertices: int, num_edges: int) -> int:
        """Flips from one look at the globals to the next."""
        cheap = 2 * num_edges / max(num_vertices, 1) / _CHANGED
        return max(int(num_vertices / max(self.refreshes, cheap)), 1)

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
    """

    gain: Any
    bias: Any
    drift: Any
    penalty: Any


class Globals(NamedTuple):
    """What all vertices share until the next refresh; scalars, but for one.

    Attributes:
        temperature: T.
        progress: p.
        held: [K + 1], M P on the bins of `time_edges`; the last is 0.
        rise: factor of positive x in k(x).
        dip: factor of the square of negative x in k(x), which stays what it is at x = -3.
    """

    temperature: Any
    progress: Any
    held: Any
    rise: Any
    dip: Any


def param_shapes(config: SwiftConfig) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the parameters, all float32.

    Of these each trait of a graph has a row, which `graph_params` adds up: `temperature`, the
    coefficients of log T in 1, p, p^2, q, h and h p; `penalty`, those of M: of p and q, and the
    power of the budget; `long`, those of log T in g and g p, and of log M in g; `curve`, the
    time curve at its knots; `memory`, c over its length; `powers`, the exponents of the relative
    local field in A and C; `bias`, its factors in B and D; `bend`, those of k. `readout`, of the
    encoder "gnn" alone, is added to log A, B, D and log C: at 0 it is "degree".
    """
    widths = {"temperature": 6, "penalty": 3, "long": 3, "curve": config.knots}
    widths |= {"memory": 1, "powers": 2, "bias": 2, "bend": 3}
    own: dict[str, tuple[int, ...]] = {n: (len(TRAITS), width) for n, width in widths.items()}
    return own if config.encoder == "degree" else {**own, "readout": (_OWN * (_ROUNDS + 1), 4)}


def time_edges(config: SwiftConfig, num_vertices: int) -> np.ndarray:
    """int64 [K], flips since the last one at which a vertex enters the next bin of the curve."""
    parts = np.geomspace(_FIRST_EDGE, 1.0, config.bins)
    return np.unique(np.maximum(np.round(parts * num_vertices), 1).astype(np.int64))


def vertex_features(
    config: SwiftConfig, owners: Any, near: Any, weights: Any, num_vertices: int
) -> Any:
    """Looks at a graph.

    A vertex's own features are the log of its local field sum_j w_ij^2 over the mean one; the
    balance of its weights, sum_j w_ij / sum_j |w_ij|; and how few of them make up its field, (sum_j
    w_ij^4)^(1/2) / sum_j w_ij^2, 1 where it is one. Means over neighbours are weighted by w_ij^2.

    Args:
        config: of the agent.
        owners, near: int [H], both ends of each half-edge.
        weights: [H], of a size that can be squared.
        num_vertices: N.

    Returns:
        [N, F]: the first column for the encoder "degree"; for "gnn" all of a vertex itself, their
        means over its neighbours, and the means of those.
    """
    xp = _namespace(weights)

    def total(values: Any) -> Any:
        length = {"minlength" if xp is np else "length": num_vertices}
        return xp.bincount(owners, values, **length)

    fields = total(weights**2)
    mean = fields.mean()
    own = [xp.log(xp.maximum(fields / xp.where(mean > 0, mean, 1.0), _LEAST_FIELD))]
    if config.encoder == "gnn":
        shares = weights**2 / _above_zero(xp, fields)[owners]
        balance = total(weights) / _above_zero(xp, total(xp.abs(weights)))
        own += [balance, xp.sqrt(total(shares**2))]
        for column in range(_OWN * _ROUNDS):
            own.append(total(shares * own[column][near]))
    return xp.stack(own, axis=1)


def _above_zero(xp: Any, values: Any) -> Any:
    return xp.where(values > 0, values, 1.0)


def time_places(config: SwiftConfig, num_vertices: int) -> np.ndarray:
    """Where the middle (geometric) of each bin but the last is on the time curve.

    A vertex just flipped is at its beginning: on a small graph one flip is more of |V| than the
    first knots are, and the vertex must not flip back for all that. Nor may `memory` move what was
    flipped a few flips ago there: to forget that is to walk in circles.

    Returns:
        float64 [2, K]: the place, from 0 to 1 on the curve, and below where a bin of a large graph
        is before it; and 1 where `memory` moves it, 0 where it does not.
    """
    edges = time_edges(config, num_vertices)
    below = np.concatenate([[max(edges[0] / 2, 1.0)], edges[:-1]])
    middles = 0.5 * (np.log(below) + np.log(edges)) - math.log(max(num_vertices, 1))
    places = np.where(below <= 1, 0.0, 1.0 - middles / math.log(_FIRST_KNOT))
    return np.stack([places, (edges > _CIRCLE) | (places < 0)])


def swift_tables(params: dict[str, Any], config: SwiftConfig, features: Any) -> SwiftTables:
    """What is computed once a graph.

    Args:
        params: `graph_params` of the graph.
        config: of the agent.
        features: [N, F], `vertex_features` of the graph.
    """
    xp = _namespace(features)
    field, powers, bias = features[:, 0], params["powers"], params["bias"]
    scalars = [-powers[0] * field, bias[0] * field, bias[1] * field, powers[1] * field]
    if config.encoder == "gnn":
        scalars = list(xp.stack(scalars) + (features @ params["readout"]).T)
    gain, level, drift, penalty = scalars
    return SwiftTables(xp.exp(gain), level, drift, xp.exp(penalty))


def swift_globals(
    params: dict[str, Any], places: Any, progress: Any, stagnation: Any, budget: Any
) -> Globals:
    """What all vertices share.

    Args:
        params: `graph_params` of the graph.
        places: [2, K], `time_places` of the graph.
        progress: flips done over the budget, 0..1.
        stagnation: flips since the best cut improved, over |V|.
        budget: flips of the whole walk, over 6 |V|; above 0.
    """
    xp = _namespace(progress)
    t, m, long, bend = (params[name] for name in ("temperature", "penalty", "long", "bend"))
    p, q = progress, xp.minimum(stagnation, _LONGEST_STAGNATION)
    h, g = xp.log(budget), xp.log(xp.maximum(budget / LONG, 1.0))
    level = t[0] + t[1] * p + t[2] * p * p + t[3] * q + t[4] * h + t[5] * h * p
    level = level + long[0] * g + long[1] * g * p
    factor = xp.maximum(1.0 + m[0] * p + m[1] * q, 0.0) * xp.exp(m[2] * h + long[2] * g)
    curve = params["curve"]
    knots = xp.linspace(0.0, 1.0, len(curve), dtype=curve.dtype)
    faded = xp.interp(places[0] + params["memory"][0] * p * places[1], knots, curve)
    held = xp.append(factor * faded, 0.0)
    return Globals(xp.exp(level), p, held, bend[0] + bend[1] * p, bend[2] + 0.0 * p)


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
    return (gain - tables.penalty * shared.held[bins]) / shared.temperature


def _namespace(array: Any) -> Any:
    """numpy for what lives on the host, else jax.numpy: both compute the same."""
    return jnp if isinstance(array, jax.Array) else np
