"""Max-Cut as a mixed-integer program, solved by HiGHS in place of the paper's CPLEX.

HiGHS (Huangfu and Hall, Math. Prog. Comp. 10, 2018) is what `scipy.optimize.milp` calls.

The standard linearisation, with a side x_i for each vertex and a y_e for each edge e = uv:

    maximise sum_e w_e y_e
    y_e <= x_u + x_v,  y_e <= 2 - x_u - x_v     where w_e > 0
    y_e >= x_u - x_v,  y_e >= x_v - x_u         where w_e < 0
    x_i in {0, 1},  y_e in [0, 1],  x_0 = 0

Shape letters: N vertices, E edges.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import numpy as np
import scipy.optimize
import scipy.sparse

from ecord_jax.baselines.run import Callback, Run
from ecord_jax.graphs import Graph
from ecord_jax.search.result import SolveResult, StoppedBy

__all__ = ["MipResult", "mip", "solve_mip"]


class MipResult(NamedTuple):
    """Attributes:
    result: as of any other solver; stopped_by is "optimal" where HiGHS has proved its cut.
    bound: no cut is above it, to the tolerances of HiGHS (1e-6 of the largest weight).
    """

    result: SolveResult
    bound: float


def mip(
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int = 20,
    time_limit: float | None = None,
    num_steps: int | None = None,
    callback: Callback | None = None,
    default_seconds: float = 30.0,
) -> SolveResult:
    """Looks for the largest cut by HiGHS, and may prove it; see `solve_mip`."""
    return solve_mip(
        graph,
        key=key,
        trajectories=trajectories,
        time_limit=time_limit,
        num_steps=num_steps,
        callback=callback,
        default_seconds=default_seconds,
    ).result


def solve_mip(
    graph: Graph,
    *,
    key: jax.Array,
    trajectories: int = 20,
    time_limit: float | None = None,
    num_steps: int | None = None,
    callback: Callback | None = None,
    default_seconds: float = 30.0,
) -> MipResult:
    """Looks for the largest cut of a graph by HiGHS; gives its bound, too.

    Args:
        graph: the graph.
        key: not used: nothing is random.
        trajectories: not used: there is one search.
        time_limit: seconds. Some stages of HiGHS do not look at the clock, which takes it past its
            limit on large graphs.
        num_steps: not used: nodes of a search tree are not flips. `SolveResult.steps` has them.
        callback: see `ecord_jax.baselines.run.Run`.
        default_seconds: the time limit where none is given.

    Raises:
        OptionError: for an option that makes no sense.
    """
    run = Run(
        graph,
        "mip",
        key=key,
        trajectories=trajectories,
        time_limit=default_seconds if time_limit is None else time_limit,
        num_steps=None,
        callback=callback,
    )
    if run.over is not None:
        return MipResult(run.result(run.over), float(graph.positive_weight))
    unit = float(np.abs(graph.weights).max())
    options = {"time_limit": max(run.watch.left, 1e-3), "mip_rel_gap": 0.0}
    found = scipy.optimize.milp(**_program(graph, unit), options=options)
    if found.x is not None:
        run.offer((found.x[: graph.num_vertices] > 0.5).astype(np.int8))
    run.steps = int(getattr(found, "mip_node_count", None) or 0)
    dual = getattr(found, "mip_dual_bound", None)
    bound = float(graph.positive_weight)
    if dual is not None and np.isfinite(dual):
        bound = min(bound, -unit * float(dual))
    stopped_by: StoppedBy = "optimal" if found.status == 0 else run.over or "time_limit"
    return MipResult(run.result(stopped_by), bound)


def _program(graph: Graph, unit: float) -> dict[str, object]:
    """Arguments of `scipy.optimize.milp`: x and then y, weights over a unit."""
    n, e = graph.num_vertices, graph.num_edges
    weights = np.asarray(graph.weights, np.float64) / unit
    # Both constraints of an edge: y - x_u - x_v <= 0 and y + x_u + x_v <= 2 where the weight is
    # positive, -y + x_u - x_v <= 0 and -y - x_u + x_v <= 0 where it is not.
    positive = weights > 0
    sign = np.where(positive, 1.0, -1.0)
    first = np.stack([sign, np.where(positive, -1.0, 1.0), np.full(e, -1.0)])
    second = np.stack([sign, np.where(positive, 1.0, -1.0), np.ones(e)])
    columns = np.stack([n + np.arange(e), *graph.edges.T])
    rows = np.tile(np.arange(e), (3, 1))
    matrix = scipy.sparse.csr_array(
        (
            np.concatenate([first.ravel(), second.ravel()]),
            (np.concatenate([rows.ravel(), e + rows.ravel()]), np.tile(columns.ravel(), 2)),
        ),
        shape=(2 * e, n + e),
    )
    most = np.concatenate([np.zeros(e), np.where(positive, 2.0, 0.0)])
    upper = np.ones(n + e)
    upper[0] = 0.0
    return {
        "c": np.concatenate([np.zeros(n), -weights]),
        "integrality": np.concatenate([np.ones(n), np.zeros(e)]),
        "bounds": scipy.optimize.Bounds(0.0, upper),
        "constraints": scipy.optimize.LinearConstraint(matrix, -np.inf, most),
    }
