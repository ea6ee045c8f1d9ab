"""How much memory trajectories take, and a search of a million vertices.

    python benchmarks/memory.py
    python benchmarks/memory.py --vertices=100000 --edges=300000 --seconds=20

Table: bytes a trajectory and vertex on top of what all share (graph, tables of the policy): of the
state that is kept between steps, and of all that a compiled step needs, the difference of XLA's own
account at two numbers of trajectories. Then `ecord_jax.solve` runs in a process of its own on a
random graph of --vertices and --edges, and its peak is read off.
"""

import math
import time
from collections.abc import Sequence
from typing import Any

import common
import jax
from absl import flags
from policies import POLICIES

from ecord_jax.cli.common import run
from ecord_jax.errors import OptionError
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import init_agent, initial_hidden
from ecord_jax.networks.config import EcordConfig

_FLAGS = flags.FlagValues()
_TABLE = flags.DEFINE_integer(
    "table_vertices", 10_000, "Of the table's graph.", lower_bound=1, flag_values=_FLAGS
)
_POLICIES = flags.DEFINE_list(
    "policies", [name for name in POLICIES if name != "gru"], "Which.", flag_values=_FLAGS
)
_VERTICES = flags.DEFINE_integer(
    "vertices", 10**6, "Of the search's graph; 0 for no search.", lower_bound=0, flag_values=_FLAGS
)
_EDGES = flags.DEFINE_integer(
    "edges", 3 * 10**6, "Of the search's graph.", lower_bound=1, flag_values=_FLAGS
)
_TRAJECTORIES = flags.DEFINE_integer(
    "trajectories", 20, "Of the search.", lower_bound=1, flag_values=_FLAGS
)
_SECONDS = flags.DEFINE_float("seconds", 120.0, "Of the search.", flag_values=_FLAGS)
_AGENT = flags.DEFINE_string(
    "agent", "paper", "paper (untrained), or as ecord-solve has it.", flag_values=_FLAGS
)
_OUT, _JSON = common.define_output(_FLAGS)

_COLUMNS = ("policy", "vertices", "state_bytes", "step_bytes")
_FEW, _MANY = 20, 40  # trajectories whose difference is taken


def main(argv: Sequence[str]) -> None:
    """Prints a row a policy, and the search's peak."""
    common.no_arguments(argv)
    unknown = set(_POLICIES.value) - set(POLICIES)
    if unknown:
        raise OptionError(f"flag --policies: {min(unknown)!r} is none of {', '.join(POLICIES)}")
    report = common.Report("memory", _COLUMNS, _OUT.value, _JSON.value)
    for policy in _POLICIES.value:
        report.add(_measure(policy, _TABLE.value))
    if _VERTICES.value:
        arguments = (_VERTICES.value, _EDGES.value, _TRAJECTORIES.value, _SECONDS.value)
        report.say("search", common.apart(search, _AGENT.value, *arguments))
    report.finish()


def _measure(policy: str, size: int) -> dict[str, Any]:
    graph = common.random_graph(size, 5.0)
    arrays = to_arrays(graph)
    agent = common.named_agent(_AGENT.value, arrays)
    few, many = (
        POLICIES[policy](agent, graph, arrays, count, jax.random.key(0)) for count in (_FEW, _MANY)
    )
    cells = (_MANY - _FEW) * (arrays.row_start.shape[0] - 1)
    # The RNN's hidden state is one of a trajectory, not of a vertex.
    hidden = 0 if policy == "eco-dqn" else initial_hidden(agent).nbytes
    return {
        "policy": policy,
        "vertices": size,
        "state_bytes": (many.state_bytes - few.state_bytes - hidden * (_MANY - _FEW)) / cells,
        "step_bytes": (many.step_bytes() - few.step_bytes()) / cells,
    }


def search(agent: str, vertices: int, edges: int, trajectories: int, seconds: float) -> Any:
    """Solves a random graph; gives what was found, how far it came and the peak of memory."""
    import ecord_jax

    graph = common.random_graph(vertices, 2 * edges / vertices)
    if agent == "paper":
        small = to_arrays(common.random_graph(16, 2.0))
        agent = init_agent(EcordConfig(), small, jax.random.key(0))
    before, start = common.peak_megabytes(), time.monotonic()
    result = ecord_jax.solve(
        graph,
        agent=agent,
        trajectories=trajectories,
        time_limit=seconds,
        presolve=False,
        key=jax.random.key(0),
    )
    return {
        "vertices": vertices,
        "edges": graph.num_edges,
        "trajectories": trajectories,
        "cut": result.cut,
        "verified": bool(math.isclose(graph.cut(result.labels), result.cut)),
        "steps": result.steps,
        "stopped_by": result.stopped_by,
        "seconds": round(time.monotonic() - start, 1),
        "megabytes_before": before,
        "peak_megabytes": common.peak_megabytes(),
    }


if __name__ == "__main__":
    run(main, _FLAGS)
