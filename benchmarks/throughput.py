"""Steps a second against the number of vertices and of trajectories, of each policy.

    python benchmarks/throughput.py --out=runs/throughput
    python benchmarks/throughput.py --vertices=2000,10000 --trajectories=20 --policies=fast,gru

A step flips one vertex of each trajectory. Policies (see `policies.py`): `plain`, the network as
it is defined; `fast`, the same with its head factored; `incremental`, the same with scores that are
kept; `eco-dqn`, a graph network at each step; `gru`, no policy but the bare product of the RNN, the
floor of a step with it; and, whatever --agent, the shipped `swift` in compiled walks on the host,
or `swift-device`, in JAX. Graphs are random with weights of -1 and 1. Those of a size take turns in
one process; what is shown are medians and half the distance of the quartiles (`spread`). A policy
that would take longer than --longest_step is left out from that size on, and so is `plain` where
its step would need more than --memory.

The plots are the paper's figure: the time of a step with one trajectory (left), and that of a step
and trajectory at the number of trajectories that suits it best (right), whose ratio to ECO-DQN's
stands beside the paper's.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import common
import jax
from absl import flags
from policies import POLICIES, Stepper, WalkStepper

from ecord_jax.cli.common import run
from ecord_jax.errors import OptionError
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import Agent, encode

_FLAGS = flags.FlagValues()
_VERTICES = flags.DEFINE_list(
    "vertices",
    ["30", "100", "300", "1000", "3000", "10000", "100000", "500000", "1000000"],
    "Sizes of graphs.",
    flag_values=_FLAGS,
)
_TRAJECTORIES = flags.DEFINE_list("trajectories", ["1", "20"], "Side by side.", flag_values=_FLAGS)
_POLICIES = flags.DEFINE_list("policies", list(POLICIES), "Which.", flag_values=_FLAGS)
_AGENT = flags.DEFINE_string(
    "agent", "paper", "paper (untrained), or as ecord-solve has it.", flag_values=_FLAGS
)
_MEAN_DEGREE = flags.DEFINE_float("mean_degree", 5.0, "Of the graphs.", flag_values=_FLAGS)
_REPEATS = flags.DEFINE_integer("repeats", 7, "Turns.", lower_bound=1, flag_values=_FLAGS)
_LONGEST = flags.DEFINE_float("longest_step", 3.0, "Seconds, see above.", flag_values=_FLAGS)
_MEMORY = flags.DEFINE_float("memory", 4.0, "Gigabytes, see above.", flag_values=_FLAGS)
_OUT, _JSON = common.define_output(_FLAGS)

_COLUMNS = (
    "policy",
    "vertices",
    "edges",
    "trajectories",
    "milliseconds_per_step",
    "spread",
    "steps_per_second",
    "flips_per_second",
)
_TURN_SECONDS = 0.2
_PLAIN_BYTES = 3 * 64 * 4  # a vertex and trajectory: arrays [B, N, 64] that live side by side
_ENCODER_GRAPH = (10_000, 2.0)  # as GSet's G70
_PAPER_ENCODER_MILLISECONDS = 1.96  # on a GPU
_PAPER_RATIOS = {30: 1.8, 100: 3.0, 300: 12.2, 1000: 39.3, 3000: 104.5, 10_000: 298.9}
_GROWTH_FROM = 10_000


def main(argv: Sequence[str]) -> None:
    """Prints a row a policy, size and number of trajectories."""
    common.no_arguments(argv)
    unknown = set(_POLICIES.value) - set(POLICIES)
    if unknown:
        raise OptionError(f"flag --policies: {min(unknown)!r} is none of {', '.join(POLICIES)}")
    sizes = sorted(common.parse_sizes("vertices", _VERTICES.value))
    counts = sorted(common.parse_sizes("trajectories", _TRAJECTORIES.value))
    report = common.Report("throughput", _COLUMNS, _OUT.value, _JSON.value)
    report.more["agent"] = _AGENT.value
    for count in counts:
        left = dict.fromkeys(_POLICIES.value, 0.0)
        for size in sizes:
            for row in _measure(size, count, left):
                report.add({**row, "device": report.machine["device"]})
    _sum_up(report)
    common.save_plot(report, "throughput", functools.partial(_draw, report.rows), panels=2)
    report.finish()


def _measure(size: int, trajectories: int, last: dict[str, float]) -> Iterator[dict[str, Any]]:
    """Rows of one size. `last` holds the policies still in and their seconds a vertex and step."""
    graph = common.random_graph(size, _MEAN_DEGREE.value)
    arrays = to_arrays(graph)
    agent = common.named_agent(_AGENT.value, arrays)
    for policy, seconds in list(last.items()):
        too_large = policy == "plain" and _PLAIN_BYTES * size * trajectories > _MEMORY.value * 1e9
        if seconds * size > _LONGEST.value or too_large:
            del last[policy]
    paced = {
        policy: _pace(POLICIES[policy](agent, graph, arrays, trajectories, jax.random.key(1)))
        for policy in last
    }
    turns = {name: functools.partial(one.run, steps) for name, (one, steps) in paced.items()}
    for name, timing in common.interleaved(turns, repeats=_REPEATS.value).items():
        seconds = timing.median / paced[name][1]
        last[name] = seconds / size
        yield {
            "policy": name,
            "vertices": graph.num_vertices,
            "edges": graph.num_edges,
            "trajectories": trajectories,
            "milliseconds_per_step": 1e3 * seconds,
            "spread": round(timing.spread, 3),
            "steps_per_second": 1 / seconds,
            "flips_per_second": trajectories / seconds,
        }


def _pace(stepper: Stepper | WalkStepper) -> tuple[Stepper | WalkStepper, int]:
    """Finds out how many steps make a turn."""
    least = stepper.least_steps
    first = functools.partial(stepper.run, least)
    one_step = common.interleaved({0: first}, repeats=2)[0].median / least
    wanted = min(int(_TURN_SECONDS / one_step), stepper.most_steps) // least
    return stepper, least << max(wanted.bit_length() - 1, 0)


def _sum_up(report: common.Report) -> None:
    """Growth, ratios and the encoder."""
    for policy in _POLICIES.value:
        for count in sorted({row["trajectories"] for row in report.rows}):
            rows = [
                row
                for row in report.rows
                if (row["policy"], row["trajectories"]) == (policy, count)
                and row["vertices"] >= _GROWTH_FROM
            ]
            exponent = common.growth_exponent(
                [row["vertices"] for row in rows], [row["milliseconds_per_step"] for row in rows]
            )
            if exponent is not None and policy != "gru":
                report.say(f"growth_exponent_{policy}_{count}", exponent)
    for policy in ("plain", "fast", "incremental"):
        for size, ratio in _ratios(report.rows, policy).items():
            both = {"ours": round(ratio, 2), "paper": _PAPER_RATIOS.get(size)}
            report.say(f"throughput_of_{policy}_over_eco-dqn_at_{size}", both)
    if "plain" in _POLICIES.value:
        report.say("encoder_milliseconds", _encoder_milliseconds(_AGENT.value))
        report.say("encoder_milliseconds_paper", _PAPER_ENCODER_MILLISECONDS)


def _best(rows: Sequence[dict[str, Any]], policy: str) -> dict[int, float]:
    """By vertices, milliseconds a step and trajectory at the number of them that suits."""
    best: dict[int, float] = {}
    for row in rows:
        if row["policy"] == policy:
            each = row["milliseconds_per_step"] / row["trajectories"]
            best[row["vertices"]] = min(each, best.get(row["vertices"], each))
    return best


def _ratios(rows: Sequence[dict[str, Any]], policy: str) -> dict[int, float]:
    """By vertices, how many times ECO-DQN's throughput a policy has."""
    own, eco = _best(rows, policy), _best(rows, "eco-dqn")
    return {size: eco[size] / own[size] for size in sorted(own.keys() & eco.keys())}


def _encoder_milliseconds(name: str) -> float:
    """Of one pass over a graph like GSet's G70."""
    arrays = to_arrays(common.random_graph(*_ENCODER_GRAPH))
    agent: Agent = common.named_agent(name, arrays)
    call = common.blocking(jax.jit(encode), agent, arrays)
    return 1e3 * common.interleaved({0: call}, repeats=_REPEATS.value)[0].median


def _draw(rows: Sequence[dict[str, Any]], axes: Sequence[Any]) -> None:
    single, best = axes
    fewest = min(row["trajectories"] for row in rows)
    for policy in _POLICIES.value:
        one = [r for r in rows if (r["policy"], r["trajectories"]) == (policy, fewest)]
        single.plot(
            [r["vertices"] for r in one],
            [r["milliseconds_per_step"] for r in one],
            marker=".",
            label=policy,
        )
        each = sorted(_best(rows, policy).items())
        best.plot(*zip(*each, strict=True), marker=".") if each else None
    eco = _best(rows, "eco-dqn")
    paper = {size: eco[size] / ratio for size, ratio in _PAPER_RATIOS.items() if size in eco}
    if paper:
        label = "eco-dqn over the paper's ratio"
        best.plot(*zip(*paper.items(), strict=True), "kx", label=label)
        best.legend()
    single.legend()
    single.set_title(f"trajectories: {fewest}")
    best.set_title("a trajectory, at the number that suits best")
    for axis in axes:
        axis.set(xscale="log", yscale="log", xlabel="vertices", ylabel="milliseconds a step")
        axis.grid(alpha=0.3)


if __name__ == "__main__":
    run(main, _FLAGS)
