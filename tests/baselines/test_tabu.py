"""Tests of tabu search: both machines are held to the rules, replayed in plain Python."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ecord_jax.baselines import tabu as tabu_module
from ecord_jax.baselines.tabu import tabu
from ecord_jax.baselines.tabu_device import start_trajectories, tabu_chunk
from ecord_jax.baselines.tabu_host import HostCrew
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.graphs.exact import largest_cut
from ecord_jax.search import tabu as tabu_loops
from ecord_jax.search.tabu import TabuWalk, as_units, survey
from ecord_jax.search.tabu_walk import BEST, BEST_TURN, TOTAL
from ecord_jax.search.tenure import FIXED, SHRINKING, Tenure

SIZE, FLIPS = 150, 600  # three blocks of 64
WEIGHTS = {
    "unit": lambda rng, count: np.ones(count, np.int64),
    "signed": lambda rng, count: rng.choice([-3, -1, 0, 1, 2], count),
    "halves": lambda rng, count: rng.choice([-0.5, 1.5, 2.0], count),
    "large": lambda rng, count: rng.integers(-(10**6), 10**6, count),
    "gaussian": lambda rng, count: rng.normal(size=count),
}
QUEUED = {"unit", "signed", "halves"}  # those that have buckets


def random_graph(kind, size=SIZE, degree=5, seed=0):
    """A random graph with a hub, which is joined to half of the others, and a lone vertex."""
    rng = np.random.default_rng(seed)
    pairs = {
        tuple(sorted(rng.choice(size - 1, 2, replace=False))) for _ in range(size * degree // 2)
    }
    pairs |= {(0, int(v)) for v in range(1, size - 1, 2)}
    weights = WEIGHTS[kind](rng, len(pairs))
    return Graph.from_edges(sorted(pairs), weights, num_vertices=size)


def check_rules(graph, labels, actions, tenures, tolerance):
    """Replays flips; gives the cuts before the first and after each."""
    matrix = graph.adjacency().toarray()
    sides, free = 1.0 - 2.0 * labels, np.zeros(graph.num_vertices)
    cuts = [graph.cut(labels)]
    for now, (vertex, tenure) in enumerate(zip(actions, tenures, strict=True)):
        gains = sides * (matrix @ sides)
        assert free[vertex] <= now
        assert gains[vertex] >= gains[free <= now].max() - tolerance
        sides[vertex] *= -1
        free[vertex] = now + 1 + tenure
        cuts.append(graph.cut((sides < 0).astype(np.int8)))
    return np.array(cuts, np.float64)


def draw(seed, shape=(FLIPS,), high=SIZE):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, SIZE, np.int8)
    return labels, rng.random(shape, np.float32), rng.integers(0, high, shape).astype(np.int32)


@pytest.mark.parametrize("most", [20, SIZE])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("degree", [5, 40])
def test_walks_on_the_host_keep_the_rules(kind, most, degree):
    graph = random_graph(kind, degree=degree)
    ground = survey(graph)
    assert (ground.matrix is not None) == (degree == 40)
    assert (ground.firsts is not None) == (degree == 5 and kind in QUEUED)
    labels, draws, tenures = draw(1, high=most)
    walk, actions = TabuWalk(ground, labels, np.random.default_rng(0)), []
    for part in np.split(np.arange(FLIPS), [1, 200, 207]):  # tenures outlive chunks
        before = len(actions)
        done, rises, summary = walk.walk(draws[part].astype(np.float64), tenures[part])
        actions += done.tolist()
        walk.step += len(part)
        cuts = check_rules(graph, labels, actions, tenures[: len(actions)], 1e-9)[before:]
        unit = walk.cut / graph.cut(labels)  # the ground's units over the graph's
        np.testing.assert_allclose(rises, unit * (cuts - cuts[0]), atol=1e-6)
        assert summary[TOTAL] == pytest.approx(unit * (cuts[-1] - cuts[0]), abs=1e-6)
        assert summary[BEST] == pytest.approx(unit * (cuts.max() - cuts[0]), abs=1e-6)
        assert cuts[int(summary[BEST_TURN])] == pytest.approx(cuts.max())
    flips = np.bincount(actions, minlength=SIZE)
    np.testing.assert_array_equal(walk.labels, labels ^ (flips & 1))


@pytest.mark.parametrize("kind", WEIGHTS)
def test_passes_do_the_same_as_blocks(kind, monkeypatch):
    monkeypatch.setattr(tabu_loops, "_MOST_UNITS", 0)  # no buckets, which draw in another order
    graph = random_graph(kind, degree=40)
    labels, draws, tenures = draw(3)
    found = []
    for part in (0.0, 1.0):
        monkeypatch.setattr(tabu_loops, "_DENSE", part)
        ground = survey(graph)
        assert (ground.matrix is None) == (part == 1.0)
        walk = TabuWalk(ground, labels, np.random.default_rng(0))
        found.append(walk.walk(draws.astype(np.float64), tenures)[0])
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("kind", ["signed", "gaussian"])
def test_trajectories_on_the_device_keep_the_rules(kind):
    graph, count = random_graph(kind), 100
    arrays = to_arrays(graph)
    labels, draws, tenures = draw(2, (2, 2 * count))
    state, actions = start_trajectories(arrays, np.stack([labels, 1 - labels])), []
    for part in np.split(np.arange(2 * count), 2):
        state, done = tabu_chunk(
            arrays, state, jnp.int32(part[0]), draws[:, part], tenures[:, part], jnp.int32(count)
        )
        actions.append(np.asarray(done))
    for b, start in enumerate([labels, 1 - labels]):
        flips = np.concatenate([a[b] for a in actions])
        cuts = check_rules(graph, start, flips, tenures[b], 1e-4)
        assert graph.cut(np.asarray(state.best_labels[b, :SIZE])) == pytest.approx(cuts.max())
        assert float(state.best_cut[b]) == pytest.approx(cuts.max(), rel=1e-5)


def test_flips_of_a_device_beyond_the_last_step_do_not_count():
    graph = random_graph("unit")
    arrays = to_arrays(graph)
    labels, draws, tenures = draw(2, (2, 100))
    start = start_trajectories(arrays, np.stack([labels, labels]))
    state, actions = tabu_chunk(arrays, start, jnp.int32(0), draws, tenures, jnp.int32(7))
    cuts = check_rules(graph, labels, np.asarray(actions[0]), tenures[0], 0)
    assert cuts.max() > float(state.best_cut[0]) == cuts[:8].max()


def test_first_flip_by_hand():
    # All on one side: gains are 1, 3, 5, 3; vertex 2 is flipped, then 0 gains 1, 1 and 3 lose 1.
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)], [1, 2, 3])
    walk = TabuWalk(survey(graph), np.zeros(4, np.int8), np.random.default_rng(0))
    actions, _, summary = walk.walk(np.array([0.5, 0.5]), np.array([1, 1], np.int32))
    assert actions.tolist() == [2, 0]
    assert summary.tolist() == [6, 6, 2]
    assert walk.labels.tolist() == [1, 0, 1, 0]
    assert walk.free.tolist() == [3, 0, 2, 0]


@pytest.mark.parametrize("kind", ["unit", "gaussian"])
def test_chance_decides_between_equal_gains_on_the_host(kind):
    weight = 1 if kind == "unit" else 0.1
    graph = Graph.from_edges([(i, (i + 1) % SIZE) for i in range(SIZE)], np.full(SIZE, weight))
    graph = graph if kind == "unit" else Graph.from_edges(graph.edges, [*graph.weights[1:], 0.05])
    ground, first = survey(graph), []
    ties = SIZE if kind == "unit" else SIZE - 2
    for number in range(ties):
        walk = TabuWalk(ground, np.zeros(SIZE, np.int8), np.random.default_rng(0))
        first += walk.walk(np.array([(number + 0.5) / ties]), np.ones(1, np.int32))[0].tolist()
    assert len(set(first)) == ties


def test_chance_decides_between_equal_gains_on_the_device():
    graph = Graph.from_edges([(i, (i + 1) % SIZE) for i in range(SIZE)])
    arrays = to_arrays(graph)
    start = start_trajectories(arrays, np.zeros((SIZE, SIZE), np.int8))
    draws = (np.arange(SIZE, dtype=np.float32)[:, None] + 0.5) / SIZE
    tenures = np.ones((SIZE, 1), np.int32)
    _, actions = tabu_chunk(arrays, start, jnp.int32(0), draws, tenures, jnp.int32(1))
    assert len(np.unique(actions)) == SIZE


@pytest.mark.parametrize(
    ("weights", "units"),
    [
        ([0.5, 1.5, -2.0], [1, 3, -4]),
        ([6, -9, 0], [2, -3, 0]),
        ([2.0**-60, 2.0**-59], [1, 2]),
        ([0.0, 0.0], [0, 0]),
        ([], []),
        ([2**40, 2**41], [1, 2]),
        ([2**60, -(2**60), 0], [1, -1, 0]),
        ([1, 2**40], None),
        ([0.1, 0.25], None),
        ([1e300, 1e-300], None),
    ],
)
def test_units(weights, units):
    found = as_units(np.array(weights))
    assert found is None if units is None else found.tolist() == units


@pytest.mark.parametrize("kind", sorted(QUEUED))
def test_every_bucket_has_room(kind):
    graph = random_graph(kind, size=11, degree=3)
    ground = survey(graph)
    most = len(ground.firsts) // 2
    room = np.diff(ground.firsts, append=ground.room)
    scaled = Graph.from_edges(graph.edges, as_units(graph.weights), num_vertices=11)
    sides = 1 - 2 * (np.arange(2**11)[:, None] >> np.arange(11) & 1)
    gains = sides * (sides @ scaled.adjacency().toarray())
    for value in range(-most, most + 1):
        assert (gains == value).sum(axis=1).max() <= room[value + most]


def test_tenures_shrink_by_equal_factors():
    used, low, high = np.array([0.0, 0.5, 1.0]), np.zeros(3), np.full(3, 1 - 1e-12)
    tenure = Tenure((0.1, 0.2), (0.001, 0.002))
    assert tenure.draw(used, low, 10_000).tolist() == [1000, 100, 10]
    assert tenure.draw(used, high, 10_000).tolist() == [2000, 200, 20]
    assert tenure.draw(used, high, 5).tolist() == [1, 1, 1]
    assert tenure.draw(used, high, 1).tolist() == [0, 0, 0]
    assert Tenure((1, 1), (1, 1)).draw(used, high, 7).tolist() == [6, 6, 6]


@pytest.mark.parametrize("backend", ["numba", "jax"])
@pytest.mark.parametrize("kind", ["unit", "signed"])
def test_it_finds_the_largest_cut(kind, backend):
    graph = random_graph(kind, size=40, degree=3, seed=3)
    options = {"key": jax.random.key(0), "trajectories": 8, "num_steps": 1500, "backend": backend}
    result = tabu(graph, **options)
    assert result.cut == largest_cut(graph) == graph.cut(result.labels)
    assert result.stopped_by == "num_steps"
    assert result.steps == 1500
    np.testing.assert_array_equal(tabu(graph, **options).labels, result.labels)


def test_shrinking_tenures_are_stronger():
    graph = random_graph("unit", size=1000, seed=5)
    options = {"key": jax.random.key(0), "trajectories": 10, "num_steps": 30_000}
    assert tabu(graph, tenure=SHRINKING, **options).cut > tabu(graph, tenure=FIXED, **options).cut


def test_the_best_of_all_walks_is_given():
    graph = random_graph("gaussian")
    labels = np.random.default_rng(0).integers(0, 2, (5, SIZE), np.int8)
    crew = HostCrew(graph, labels, FIXED, np.random.default_rng(1))
    best = graph.cut(crew.advance(50, 50))
    assert best == max(graph.cut(walk.best_labels) for walk in crew._walks)
    for walk, start in zip(crew._walks, labels, strict=True):
        assert graph.cut(walk.best_labels) >= graph.cut(start)
        assert walk.cut / walk.best_cut == pytest.approx(
            graph.cut(walk.labels) / graph.cut(walk.best_labels)
        )


@pytest.mark.parametrize("backend", ["numba", "jax"])
def test_a_time_limit_is_kept(backend):
    graph = random_graph("unit")
    tabu(graph, key=jax.random.key(0), num_steps=1, backend=backend)  # compiles
    began = time.monotonic()
    result = tabu(graph, key=jax.random.key(0), time_limit=0.5, backend=backend)
    assert 0.5 <= time.monotonic() - began < 2.5
    assert result.stopped_by == "time_limit"


def test_chunks_are_compiled_once():
    graph, options = random_graph("unit"), {"key": jax.random.key(0), "backend": "jax"}
    tabu(graph, num_steps=1, **options)
    compiled = tabu_chunk._cache_size()
    tabu(graph, num_steps=2000, **options)
    tabu(random_graph("unit", seed=1), num_steps=2000, **options)
    assert tabu_chunk._cache_size() == compiled


def test_graphs_without_a_choice():
    none = Graph.from_edges([], num_vertices=3)
    assert tabu(none, key=jax.random.key(0)).stopped_by == "optimal"
    pair = Graph.from_edges([(0, 1)])
    for backend in ("numba", "jax"):
        result = tabu(pair, key=jax.random.key(0), num_steps=5, backend=backend)
        assert (result.cut, result.stopped_by) == (1, "optimal")


def test_bad_options():
    graph, key = Graph.from_edges([(0, 1)]), jax.random.key(0)
    with pytest.raises(OptionError, match="backend='gpu' is none of auto, numba, jax"):
        tabu(graph, key=key, backend="gpu")
    with pytest.raises(OptionError, match="tenures from 0.2 to 0.1"):
        Tenure((0.2, 0.1), (0.1, 0.2))
    with pytest.raises(OptionError, match="trajectories"):
        tabu(graph, key=key, trajectories=0)


def test_auto_takes_the_device_where_there_is_an_accelerator(monkeypatch):
    graph, key = random_graph("unit"), jax.random.key(0)
    calls = []
    monkeypatch.setattr(tabu_module, "HostCrew", lambda *args: calls.append(args))
    with pytest.raises(AttributeError):
        tabu(graph, key=key, num_steps=20)
    assert len(calls) == 1
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert tabu(graph, key=key, num_steps=20).steps == 20
    assert len(calls) == 1
