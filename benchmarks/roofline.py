"""What part of the machine's bandwidth and peak a step reaches.

    python benchmarks/roofline.py --vertices=10000 --trajectories=20

Both are measured in the same run: peak by a large product of matrices, bandwidth by a triad
a = b + s c over arrays of together as many bytes as the step moves (but no longer than --triad), so
that what fits a cache is held to what the cache gives. Flops and bytes of a step are counted by
formula, as below, the least that a step must do: what is read or written once counts once, whatever
is copied besides. The `bound` is the time that they would take at bandwidth and peak, whichever is
longer.

    B trajectories, N vertices, E directed edges, H hidden width, A = 64 features, F observations,
    D embedding width, M width of the GRU's input, V of the value head, L rounds
    GRU        2 B 3 H (H + M) flops; 4 (3 H (H + M) + 3 B H) bytes
    heads      2 B (2 D H + A 2 D + H V); 4 (2 D H + H V) bytes (fast leaves the value head out)
    plain      head 2 B N A (F + 6) flops; state 9 B N bytes read, an array [B, N, A] written and
               read twice: 16 B N A bytes
    fast       head 2 B N (A (F + 1) + 2 D + F^2) flops; state 9 B N bytes, tables 4 N (A + 2 D)
               once, Q-values 8 B N
    eco-dqn    2 B N (7 (2 A - 1) + A^2 (1 + 4 L) + 2 A) flops of products and 2 B E A (1 + L) of
               sums; arrays [B, N, A] of 4 bytes: 4 L + 5 written and read; 8 E (1 + L) of edges
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import common
import jax
import jax.numpy as jnp
from absl import flags
from policies import POLICIES

from ecord_jax.baselines.eco_dqn import EcoConfig
from ecord_jax.cli.common import run
from ecord_jax.env import vertex_features
from ecord_jax.errors import OptionError
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.config import EcordConfig

_FLAGS = flags.FlagValues()
_VERTICES = flags.DEFINE_list("vertices", ["2000", "10000"], "Sizes.", flag_values=_FLAGS)
_TRAJECTORIES = flags.DEFINE_integer(
    "trajectories", 20, "Side by side.", lower_bound=1, flag_values=_FLAGS
)
_POLICIES = flags.DEFINE_list(
    "policies", ["plain", "fast", "eco-dqn", "gru"], "Which.", flag_values=_FLAGS
)
_AGENT = flags.DEFINE_string(
    "agent", "paper", "paper (untrained), or as ecord-solve has it.", flag_values=_FLAGS
)
_REPEATS = flags.DEFINE_integer("repeats", 5, "Turns.", lower_bound=1, flag_values=_FLAGS)
_TRIAD = flags.DEFINE_integer("triad", 2**25, "Most numbers an array.", flag_values=_FLAGS)
_MATRIX = flags.DEFINE_integer("matrix", 2048, "Width of the product.", flag_values=_FLAGS)
_OUT, _JSON = common.define_output(_FLAGS)

_MEAN_DEGREE = 5.0
_CALLS = 4  # of what measures the machine, a turn
_STEPS = {"plain": 4, "fast": 16, "eco-dqn": 1, "gru": 64}
_COLUMNS = (
    "policy",
    "vertices",
    "megaflop",
    "megabyte",
    "milliseconds",
    "bound_milliseconds",
    "gigabytes_per_second",
    "percent_of_peak",
    "percent_of_bandwidth",
)


class Work(NamedTuple):
    """What a step must do: flops, and bytes to and from memory."""

    flops: float
    bytes: float


class _Sizes(NamedTuple):
    """What the formulas depend on."""

    trajectories: int
    vertices: int
    edges: int
    config: EcordConfig


def _memory(s: _Sizes, value_head: bool) -> Work:
    """GRU and what the heads make of the hidden state."""
    c, b = s.config, s.trajectories
    width = c.hidden if c.rnn == "gru" else 2
    value = width * c.value_width * value_head
    project = 2 * c.embedding * width
    heads = Work(2 * b * (project + c.advantage_width * 2 * c.embedding + value), 4 * project)
    gru = _gru(s, c.message) if c.rnn == "gru" else Work(0, 0)
    return Work(heads.flops + gru.flops, heads.bytes + 4 * value + gru.bytes)


def _gru(s: _Sizes, inputs: int = 0) -> Work:
    b, h = s.trajectories, s.config.hidden
    weights = 3 * h * (h + inputs)
    return Work(2 * b * weights, 4 * (weights + 3 * b * h))


def _plain(s: _Sizes) -> Work:
    cells, a = s.trajectories * s.vertices, s.config.advantage_width
    memory = _memory(s, value_head=True)
    flops = 2 * cells * a * (vertex_features(s.config.scaling) + 6)
    return Work(memory.flops + flops, memory.bytes + cells * (9 + 16 * a))


def _fast(s: _Sizes) -> Work:
    cells, a = s.trajectories * s.vertices, s.config.advantage_width
    f, d = vertex_features(s.config.scaling), 2 * s.config.embedding
    memory = _memory(s, value_head=False)
    tables = 4 * s.vertices * (a + d)
    flops = 2 * cells * (a * (f + 1) + d + f * f)
    return Work(memory.flops + flops, memory.bytes + tables + cells * (9 + 8))


def _eco_dqn(s: _Sizes) -> Work:
    eco = EcoConfig()
    a, rounds, cells = eco.features, eco.rounds, s.trajectories * s.vertices
    products = 2 * cells * (7 * (2 * a - 1) + a * a * (1 + 4 * rounds) + 2 * a)
    sums = 2 * s.trajectories * s.edges * a * (1 + rounds)
    moved = 2 * 4 * cells * a * (4 * rounds + 5) + 8 * s.edges * (1 + rounds)
    return Work(products + sums, moved)


_WORK: dict[str, Callable[[_Sizes], Work]] = {
    "plain": _plain,
    "fast": _fast,
    "eco-dqn": _eco_dqn,
    "gru": _gru,
}


def main(argv: Sequence[str]) -> None:
    """Prints a row a policy and size."""
    common.no_arguments(argv)
    unknown = set(_POLICIES.value) - set(_WORK)
    if unknown:
        raise OptionError(f"flag --policies: {min(unknown)!r} is none of {', '.join(_WORK)}")
    sizes = common.parse_sizes("vertices", _VERTICES.value)
    report = common.Report("roofline", _COLUMNS, _OUT.value, _JSON.value)
    peak = _measure_peak()
    report.say("gigaflops_per_second", peak / 1e9)
    for size in sizes:
        for row in _rows(size, peak):
            report.add(row)
    report.finish()


def _measure_peak() -> float:
    """Flops a second."""
    m = jnp.ones((_MATRIX.value, _MATRIX.value))
    return 2 * _MATRIX.value**3 / _seconds(jnp.matmul, m, m)


def _measure_bandwidth(bytes_moved: float) -> float:
    """Bytes a second, of a loop over three arrays of together about that many."""
    b = jnp.ones(min(max(int(bytes_moved / 12), 1), _TRIAD.value))
    return 3 * b.nbytes / _seconds(lambda b, c: b + 2.0 * c, b, b + 1)


def _seconds(function: Callable[..., jax.Array], *arguments: jax.Array) -> float:
    """The first quartile, since what else the machine does can only add, of some calls each."""
    compiled = jax.jit(function)

    def calls() -> None:
        jax.block_until_ready([compiled(*arguments) for _ in range(_CALLS)])

    return common.interleaved({0: calls}, repeats=_REPEATS.value)[0].low / _CALLS


def _rows(size: int, peak: float) -> list[dict[str, Any]]:
    graph = common.random_graph(size, _MEAN_DEGREE)
    arrays = to_arrays(graph)
    agent = common.named_agent(_AGENT.value, arrays)
    sizes = _Sizes(_TRAJECTORIES.value, size, 2 * graph.num_edges, agent.config)
    turns = {
        name: functools.partial(
            POLICIES[name](agent, graph, arrays, sizes.trajectories, jax.random.key(0)).run,
            _STEPS[name],
        )
        for name in _POLICIES.value
    }
    timings = common.interleaved(turns, repeats=_REPEATS.value)
    rows = []
    for name, timing in timings.items():
        work, seconds = _WORK[name](sizes), timing.median / _STEPS[name]
        bandwidth = _measure_bandwidth(work.bytes)
        rows.append(
            {
                "policy": name,
                "vertices": size,
                "edges": graph.num_edges,
                "trajectories": sizes.trajectories,
                "megaflop": work.flops / 1e6,
                "megabyte": work.bytes / 1e6,
                "milliseconds": 1e3 * seconds,
                "bound_milliseconds": 1e3 * max(work.flops / peak, work.bytes / bandwidth),
                "gigabytes_per_second": bandwidth / 1e9,
                "percent_of_peak": 100 * work.flops / seconds / peak,
                "percent_of_bandwidth": 100 * work.bytes / seconds / bandwidth,
            }
        )
    return rows


if __name__ == "__main__":
    run(main, _FLAGS)
