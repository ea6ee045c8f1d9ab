"""Tests of `solve`: exact cuts, optimality, limits, interruption, one compile."""

import functools
import itertools
import math
import signal
import threading
import time

import chex
import jax
import numpy as np
import pytest

import ecord_jax as ej
from ecord_jax.errors import AgentError, EcordError, OptionError
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import init_agent
from ecord_jax.networks.config import EcordConfig
from ecord_jax.search import prepare
from ecord_jax.search import solve as solve_module
from ecord_jax.search.chunk import search_chunk

KEY = jax.random.key(0)
TRIANGLE = ej.Graph.from_edges([(0, 1), (1, 2), (0, 2)])
SMALL = {"embedding": 4, "layers": 1, "value_width": 4, "advantage_width": 4}
AGENT = init_agent(
    EcordConfig(scaling="scale_free", rnn="none", temperatures=(0.02, 0.5), **SMALL),
    to_arrays(TRIANGLE),
    jax.random.key(1),
)
RECURRENT = init_agent(
    EcordConfig(hidden=16, message=4, **SMALL), to_arrays(TRIANGLE), jax.random.key(1)
)


def random_graph(seed, n=40, degree=6.0, kind="unit"):
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(n) for j in range(i) if rng.random() < degree / max(n - 1, 1)]
    weights = {
        "unit": np.ones(len(pairs), np.int64),
        "signed": rng.integers(-4, 5, len(pairs)),
        "float": rng.normal(size=len(pairs)),
        "negative": -rng.integers(1, 5, len(pairs)),
    }[kind]
    return ej.Graph.from_edges(np.reshape(pairs, (-1, 2)).astype(int), weights, num_vertices=n)


GRAPH = random_graph(0)


def solve(graph=GRAPH, **options):
    """By the agent alone: plain chunks of its rollout."""
    limit = {} if "time_limit" in options else {"num_steps": 40}
    usual = {"agent": AGENT, "key": KEY, "trajectories": 4, "move": "ecord"}
    return ej.solve(graph, **{**usual, **limit, **options})


@pytest.fixture
def short_chunks(monkeypatch):
    """Chunks of 16 steps, and one size for all small graphs, so that they share one program."""
    monkeypatch.setattr(prepare, "chunk_length", lambda *_: 16)
    monkeypatch.setattr(prepare, "to_arrays", functools.partial(to_arrays, min_edges=320))


def check(result, graph):
    """What holds for any result: the cut is that of the labels, and the curve leads to it."""
    assert result.labels.dtype == np.int8
    assert result.labels.shape == (graph.num_vertices,)
    ends = result.labels[graph.edges]
    crossing = graph.weights[ends[:, 0] != ends[:, 1]]
    if graph.weights.dtype == np.int64:
        assert type(result.cut) is int
        assert result.cut == sum(crossing.tolist())
    else:
        assert type(result.cut) is float
        assert result.cut == math.fsum(crossing.tolist())
    seconds, steps, cuts = zip(*result.curve, strict=True)
    assert list(seconds) == sorted(seconds)
    assert list(cuts) == sorted(cuts)
    assert (steps[0], steps[-1], cuts[-1]) == (0, result.steps, result.cut)
    assert max(steps) == result.steps
    assert list(result.seconds) == ["read", "presolve", "compile", "search", "total"]
    *parts, total = result.seconds.values()
    assert total == pytest.approx(sum(parts))
    assert result.seconds["total"] == pytest.approx(seconds[-1])


def brute_force(graph):
    sides = itertools.product((0, 1), repeat=max(graph.num_vertices - 1, 0))
    return max(graph.cut((*side, 0)[: graph.num_vertices]) for side in sides)


def small_graphs():
    kinds = ("unit", "signed", "float", "negative")
    for seed in range(280):
        size, degree = seed % 9 + 1, (0.0, 1.0, 2.5, 5.0, 9.0)[seed % 5]
        yield random_graph(seed, size, degree, kinds[seed % 4])
    yield ej.Graph.from_edges([])


@pytest.mark.parametrize("presolve", [True, False])
def test_small_graphs_against_brute_force(short_chunks, presolve):
    found_best, claimed = 0, 0
    graphs = list(small_graphs())
    for graph in graphs:
        result = solve(graph, presolve=presolve)
        check(result, graph)
        best = brute_force(graph)
        assert result.cut <= best
        found_best += result.cut == best
        if result.stopped_by == "optimal":
            claimed += 1
            assert result.cut == best
        else:
            assert (result.stopped_by, result.steps) == ("num_steps", 40)
    assert found_best >= 0.9 * len(graphs)
    assert 0.3 * len(graphs) < claimed
    assert presolve or claimed < 0.9 * len(graphs)


@pytest.mark.parametrize("size", [0, 1, 7])
def test_without_edges(size):
    graph = ej.Graph.from_edges([], num_vertices=size)
    for init in ("random", "equal"):
        result = solve(graph, init=init)
        check(result, graph)
        assert (result.cut, result.stopped_by, result.steps) == (0, "optimal", 0)
        assert result.labels.tolist() == [0] * size


def test_without_positive_weights_nothing_is_cut():
    graph = random_graph(1, kind="negative")
    result = solve(graph)
    check(result, graph)
    assert (result.cut, result.stopped_by, result.steps) == (0, "optimal", 0)
    assert len(set(result.labels.tolist())) == 1


def test_search_stops_where_nothing_can_be_better(monkeypatch, short_chunks):
    ring = ej.Graph.from_edges([(i, (i + 1) % 8) for i in range(8)])
    monkeypatch.setattr(solve_module, "greedy_labels", lambda graph, labels, *_: labels)
    result = solve(ring, num_steps=100_000, presolve=False)
    check(result, ring)
    assert (result.cut, result.stopped_by) == (8, "optimal")
    assert 0 < result.steps < 100_000


def test_search_is_better_than_greedy():
    graph = random_graph(3, 60)
    result = solve(graph, num_steps=400, agent="softmax", temperature=0.2, trajectories=20)
    check(result, graph)
    by_greedy = max(point.cut for point in result.curve if point.step == 0)
    assert result.cut > by_greedy
    assert result.agent == "softmax"


@pytest.mark.parametrize("agent", [AGENT, RECURRENT])
def test_same_key_same_labels(short_chunks, agent):
    first, second = (solve(agent=agent, num_steps=300) for _ in range(2))
    check(first, GRAPH)
    assert (first.labels == second.labels).all()
    assert [point[1:] for point in first.curve] == [point[1:] for point in second.curve]
    other = solve(agent=agent, num_steps=300, key=jax.random.key(5))
    assert [point[1:] for point in first.curve] != [point[1:] for point in other.curve]


def test_a_longer_search_goes_on_from_a_shorter_one(short_chunks):
    runs = [solve(num_steps=steps) for steps in (7, 16, 100)]
    for shorter, longer in itertools.pairwise(runs):
        points = [point[1:] for point in shorter.curve[:-1]]
        # Steps that do not count would show here.
        assert points == [p[1:] for p in longer.curve[:-1] if p.step <= shorter.steps]
    assert [run.steps for run in runs] == [7, 16, 100]


def test_one_compile_for_a_whole_solve(monkeypatch, short_chunks):
    chex.clear_trace_counter()
    monkeypatch.setattr(prepare, "search_chunk", chex.assert_max_traces(search_chunk, n=1))
    encode = chex.assert_max_traces(prepare.factor, n=1)
    monkeypatch.setattr(prepare, "factor", encode)
    reports = []
    solve(num_steps=333, presolve=False, callback=lambda progress: reports.append(progress.step))
    assert len(set(reports)) == 22
    # The sizes are the same when padded.
    assert solve(random_graph(8), num_steps=50, presolve=False).steps == 50


def test_groups_take_turns(monkeypatch, short_chunks):
    monkeypatch.setattr(prepare, "group_size", lambda *_: 2)
    chex.clear_trace_counter()
    monkeypatch.setattr(prepare, "search_chunk", chex.assert_max_traces(search_chunk, n=1))
    reports = []
    options = {"num_steps": 40, "trajectories": 6, "temperature": [0, 0.02, 0.05, 0.1, 0.2, 0.5]}
    result = solve(callback=reports.append, **options)
    check(result, GRAPH)
    assert result.stopped_by == "num_steps"
    assert [report.step for report in reports if report.step] == [16] * 3 + [32] * 3 + [40] * 3
    assert (solve(**options).labels == result.labels).all()
    # Each row of start labels goes to a trajectory of its own.
    best = np.zeros((6, 40), np.int8)
    best[5] = result.labels
    monkeypatch.setattr(solve_module, "greedy_labels", lambda graph, labels, *_: labels)
    assert solve(init=best, **{**options, "num_steps": 1}).cut == result.cut


def test_callback(short_chunks):
    reports = []
    result = solve(num_steps=40, callback=reports.append)
    assert [report.step for report in reports if report.step] == [16, 32, 40]
    assert reports[0].step == 0
    assert reports[-1].cut == result.cut
    assert all(a.seconds <= b.seconds for a, b in itertools.pairwise(reports))


def test_time_limit():
    solve()  # compiled, with chunks as long as they are
    result = solve(time_limit=1.0)
    check(result, GRAPH)
    assert result.stopped_by == "time_limit"
    assert result.steps > 0
    assert 0.5 < result.seconds["total"] < 2.0


def test_default_limit(monkeypatch, short_chunks):
    monkeypatch.setattr(solve_module, "_DEFAULT_SECONDS", 0.5)
    result = ej.solve(GRAPH, agent=AGENT, key=KEY, trajectories=4, move="ecord")
    assert result.stopped_by == "time_limit"
    assert result.seconds["total"] < 2.0


def test_whichever_limit_is_first(short_chunks):
    solve()  # compiled
    assert solve(time_limit=60, num_steps=5).stopped_by == "num_steps"
    assert solve(time_limit=0.5, num_steps=10**9).stopped_by == "time_limit"


def test_compiling_past_the_limit(monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(prepare, "to_arrays", lambda *_, **__: release.wait(20))
    try:
        result = solve(time_limit=0.5)
        assert prepare.is_preparing()
    finally:
        release.set()
    check(result, GRAPH)
    assert (result.stopped_by, result.steps) == ("time_limit", 0)
    assert 0.4 < result.seconds["total"] < 1.5
    assert result.seconds["compile"] == pytest.approx(0.5, abs=0.4)
    sides = 2 * result.labels.astype(int) - 1
    peeks = sides * (GRAPH.adjacency() @ sides)
    assert peeks.max() <= 0, "the host's cut is not as good as flips make it"
    deadline = time.monotonic() + 20
    while prepare.is_preparing() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not prepare.is_preparing()


def fake_chunks(monkeypatch, seconds):
    """Replaces the device by chunks that sleep and find nothing; gives the list of their starts."""
    starts = []

    def run(search):
        starts.append(time.monotonic())
        time.sleep(seconds)
        labels, cuts = np.zeros((1, GRAPH.num_vertices), np.int8), np.zeros((1, 9), np.float32)
        actions = np.zeros((1, 8), int)
        return search, prepare.Found(labels[0], np.float32(0), np.int32(0), actions, cuts, labels)

    monkeypatch.setattr(solve_module, "prepare", lambda *_: prepare.Prepared([None], run, 8))
    return starts


def test_no_chunk_that_would_pass_the_limit_is_begun(monkeypatch):
    starts = fake_chunks(monkeypatch, 0.5)
    result = solve(time_limit=1.4)
    assert len(starts) == 2
    assert result.steps == 16
    assert result.stopped_by == "time_limit"
    assert result.seconds["total"] < 1.4


def test_one_chunk_is_always_done(monkeypatch):
    starts = fake_chunks(monkeypatch, 0.6)
    result = solve(time_limit=0.3)
    assert len(starts) == 1
    assert (result.steps, result.stopped_by) == (8, "time_limit")


@pytest.mark.parametrize("at", [0, 16, 32])
def test_interrupted(short_chunks, at):
    def interrupt(progress):
        if progress.step == at:
            signal.raise_signal(signal.SIGINT)

    result = solve(num_steps=1000, callback=interrupt)
    check(result, GRAPH)
    assert (result.stopped_by, result.steps) == ("interrupted", at)


def test_interrupted_before_the_host_is_done(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(solve_module, "greedy_labels", interrupt)
    result = solve()
    check(result, GRAPH)
    assert (result.stopped_by, result.steps) == ("interrupted", 0)


def test_other_errors_are_not_hidden(monkeypatch, short_chunks):
    def fail(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        solve(callback=fail)
    monkeypatch.setattr(prepare, "factor", fail)
    with pytest.raises(ZeroDivisionError):
        solve()


def test_too_little_memory(monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(prepare, "to_arrays", fail)
    with pytest.raises(EcordError, match="not enough memory for 4 trajectories"):
        solve()


@pytest.mark.parametrize(
    "options",
    [
        {"time_limit": 0},
        {"time_limit": -1.0},
        {"time_limit": math.nan},
        {"time_limit": math.inf},
        {"time_limit": "5"},
        {"num_steps": 0},
        {"num_steps": -3},
        {"num_steps": 2.5},
        {"num_steps": True},
        {"num_steps": 2**31},
        {"trajectories": 0},
        {"trajectories": 2.0},
        {"trajectories": 10**10},
        {"temperature": -1},
        {"temperature": "hot"},
        {"init": "zero"},
        {"init": np.zeros((3, 40), np.int8)},
        {"move": "annealing"},
        {"ablate": ["greedy"]},
        {"ablate": "merge"},
        {"key": 0},
        {"key": jax.random.split(KEY)},
        {"graph": "G1.txt"},
    ],
)
def test_options_that_make_no_sense(options):
    with pytest.raises(OptionError) as error:
        solve(**options)
    assert next(iter(options)) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "labels", [np.zeros(39, int), np.full(40, 2), np.zeros((4, 39), int), np.zeros(40) + 0.5]
)
def test_labels_that_are_not_of_the_graph(labels):
    with pytest.raises(EcordError, match="labels"):
        solve(init=labels)


def test_numbers_of_numpy_do_not_overflow():
    graph = random_graph(6, 60)
    solve(graph, agent="swift", num_steps=100)  # compiled
    steps, trajectories = np.int32(10**9), np.int32(20)
    result = solve(graph, num_steps=steps, trajectories=trajectories, agent="swift", time_limit=0.5)
    assert result.stopped_by == "time_limit"
    assert result.steps > 1000


def test_unknown_agent():
    with pytest.raises(AgentError, match="there is no agent 'nobody'"):
        solve(agent="nobody")


def test_given_labels_count(monkeypatch, short_chunks):
    graph = random_graph(4, 9, kind="signed")
    sides = itertools.product((0, 1), repeat=9)
    best = np.array(max(sides, key=graph.cut), np.int8)
    monkeypatch.setattr(solve_module, "greedy_labels", lambda graph, labels, *_: labels)
    result = solve(graph, init=best, num_steps=1)
    check(result, graph)
    assert result.cut == graph.cut(best)
    rows = np.zeros((4, 9), np.int8)
    rows[2] = best
    result = solve(graph, init=rows, num_steps=1)
    check(result, graph)
    assert result.cut == result.curve[0].cut == graph.cut(best)


@pytest.mark.parametrize("unit", [1e-300, 0.3, 1e300, 2**60])
def test_cuts_are_exact_for_any_size_of_weights(short_chunks, unit):
    weights = [unit, -unit, unit, unit, unit * 3]
    graph = ej.Graph.from_edges([(0, 1), (1, 2), (2, 3), (1, 3), (0, 3)], weights)
    result = solve(graph)
    check(result, graph)
    assert result.cut == brute_force(graph)


def test_result_is_frozen(short_chunks):
    result = solve(TRIANGLE)
    with pytest.raises(AttributeError):
        result.cut = 3
    assert result.agent == "custom"
    assert result.trajectories == 4
