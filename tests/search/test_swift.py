"""Tests of the compiled walk against the policy's definition, and of the search that it makes."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ecord_jax as ej
from ecord_jax.errors import AgentError, EcordError, OptionError
from ecord_jax.graphs import compiled, models
from ecord_jax.networks.agent import Agent, encode
from ecord_jax.networks.swift import (
    SwiftConfig,
    param_shapes,
    swift_globals,
    swift_scores,
    swift_tables,
    time_edges,
    time_places,
    vertex_features,
)
from ecord_jax.networks.traits import TRAITS, graph_params, graph_traits
from ecord_jax.search import campaign, swift, swift_batch, swift_state, swift_walk
from ecord_jax.search.greedy import greedy_labels
from ecord_jax.search.swift import start_walk, survey

CONFIG = SwiftConfig()
RNG = np.random.default_rng(0)
PARAMS = {
    "temperature": [-2.4, -0.6, 0.1, 0.15, 0.2, -0.1],
    "penalty": [-0.8, 0.05, -0.1],
    "long": [-0.3, 0.2, 0.25],
    "curve": [2.0, 1.5, 0.8, 2.4, 0.4, 0.8, -0.2],
    "memory": [0.4],
    "powers": [0.1, -0.05],
    "bias": [0.2, 0.3],
    "bend": [0.4, 0.1, 0.01],
}
# A row for each trait: what others than the first say is small beside it.
PARAMS = {
    name: np.stack([row, *RNG.normal(scale=0.1, size=(len(TRAITS) - 1, len(row)))])
    for name, row in PARAMS.items()
}
PARAMS = {name: value.astype(np.float32) for name, value in PARAMS.items()}
AGENT = Agent(PARAMS, CONFIG)
GNN_CONFIG = SwiftConfig(encoder="gnn")
GNN_PARAMS = {**PARAMS, "readout": RNG.normal(size=(9, 4)).astype(np.float32) / 9}
GNN_AGENT = Agent(GNN_PARAMS, GNN_CONFIG)
KINDS = ("unit", "signed", "float")
NEVER = -(1 << 60)


def random_graph(size, degree, kind, seed=0):
    rng = np.random.default_rng(seed)
    pairs = {tuple(sorted(rng.choice(size, 2, replace=False))) for _ in range(size * degree // 2)}
    weights = {
        "unit": np.ones(len(pairs), np.int64),
        "signed": rng.integers(-3, 4, len(pairs)),
        "float": rng.normal(size=len(pairs)),
    }[kind]
    return ej.Graph.from_edges(sorted(pairs), weights, num_vertices=size)


def new_walk(graph, seed=0, agent=AGENT):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, graph.num_vertices, np.int8)
    return start_walk(survey(agent, graph), labels, rng)


@pytest.mark.parametrize(
    ("loop", "large"), [(swift_walk.walk, 1 << 16), (swift_batch.walk_batches, 0)]
)
def test_a_compiled_flip_counts_no_references(loop, large, monkeypatch):
    """Counting is atomic, and takes longer than all else that a flip does."""
    monkeypatch.setattr(swift, "_LARGE", large)
    new_walk(random_graph(40, 4, "unit")).advance(10, 10)
    codes = compiled._compile(loop, True).inspect_llvm().values()
    assert codes
    assert not any("NRT_incref" in code for code in codes)


def features_of(graph, config=CONFIG):
    matrix = graph.adjacency()
    owners = np.repeat(np.arange(graph.num_vertices), np.diff(matrix.indptr))
    weights = matrix.data.astype(float)
    return vertex_features(config, owners, matrix.indices, weights, graph.num_vertices)


def expected_bins(last, walk, edges):
    return np.searchsorted(edges, walk.step - last, side="right")


def expected_scores(graph, walk, edges, budget, last=None, best_step=0, agent=AGENT, past=0):
    """z / T by the definition, from nothing but the labels and the last flips.

    `last` are the steps of those, `best_step` is when the best was met that the last refresh knew
    of.
    """
    matrix, size = graph.adjacency(), graph.num_vertices
    fields = np.asarray((matrix * matrix).sum(axis=1)).ravel()
    sides = 1.0 - 2.0 * walk.labels
    peeks = sides * (matrix @ sides) / math.sqrt(fields.mean())
    bins = expected_bins(np.full(size, NEVER) if last is None else last, walk, edges)
    before = max(walk.step - 1, 0)
    at = before - before % walk.state.counts[swift_state.EVERY]  # of the last refresh
    owners = np.repeat(np.arange(size), np.diff(matrix.indptr))
    params = {name: value.astype(np.float64) for name, value in agent.params.items()}
    params = graph_params(params, graph_traits(owners, matrix.indices, matrix.data, size))
    shared = swift_globals(
        params,
        time_places(agent.config, size),
        np.float64((past + at) / (past + budget)),
        np.float64((at - best_step) / size),
        np.float64((past + budget) / (6 * size)),
    )
    features = features_of(graph, agent.config)
    tables = swift_tables(params, agent.config, features)
    return swift_scores(tables, shared, peeks, bins)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "agent"), [(7, AGENT), (70, GNN_AGENT), (1500, AGENT)])
def test_weights_are_those_of_the_definition(kind, size, agent):
    """After hundreds of updates each weight is what a look at the whole state gives."""
    check_weights(random_graph(size, 6, kind), agent)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "degree"), [(70, 50), (300, 100), (300, 40)])
def test_weights_where_neighbours_are_many(kind, size, degree):
    graph = random_graph(size, degree, kind)
    assert (len(survey(AGENT, graph).matrix) > 0) == (degree != 40)
    check_weights(graph, past=9_000)


@pytest.mark.parametrize("size", [40_000, 70_000])
def test_weights_where_memory_is_asked_for_ahead(size):
    check_weights(models.erdos_renyi(size, 6 / size, seed=1))


@pytest.mark.parametrize("kind", KINDS)
def test_weights_in_batches(kind, monkeypatch):
    monkeypatch.setattr(swift, "_LARGE", 0)
    check_weights(random_graph(1500, 6, kind))


@pytest.mark.parametrize("kind", ["unit", "float"])
def test_batches_draw_as_single_flips_do(kind, monkeypatch):
    """What is drawn ahead for a batch, against walks that draw each vertex when its time comes."""
    graph, walks, flips = random_graph(400, 6, kind), 8000, 12
    ground, labels = survey(hot_agent(), graph), RNG.integers(0, 2, 400, np.int8)
    adjacent = graph.adjacency().toarray() != 0

    def flipped(seed):
        walk = start_walk(ground, labels, np.random.default_rng(seed))
        walk.advance(flips, 4000)
        return walk.actions

    def table(first_seed):
        """How often each vertex is flipped; how often one after a neighbour, and in its block."""
        actions = np.array([flipped(first_seed + number) for number in range(walks)])
        before, after = actions[:, :-1].ravel(), actions[:, 1:].ravel()
        near, same = adjacent[before, after].sum(), (before // 32 == after // 32).sum()
        return np.array([*np.bincount(actions.ravel(), minlength=400), near, same])

    expected = table(0)
    monkeypatch.setattr(swift, "_LARGE", 0)
    got = table(10**6)
    often = got + expected > 20
    deviations = ((got - expected) / np.sqrt(np.maximum(got + expected, 1)))[often]
    assert often.sum() > 100
    assert (deviations**2).mean() < 1 + 4 * math.sqrt(2 / often.sum())
    assert np.abs(deviations[-2:]).max() < 4


def hot_agent():
    """With it a flip changes a small part of all weights."""
    level = PARAMS["temperature"].copy()
    level[0, 0] += 2.5
    return Agent({**PARAMS, "temperature": level}, CONFIG)


def test_weights_of_a_walk_that_has_a_past():
    check_weights(random_graph(300, 6, "unit"), past=9_000)


@pytest.mark.parametrize(("factor", "past"), [(119, 0), (125, 0), (2000, 0), (40, 90_000)])
def test_weights_of_a_long_walk(factor, past):
    check_weights(random_graph(300, 6, "unit"), past=past, factor=factor)


def check_weights(graph, agent=AGENT, past=0, factor=40):
    size, budget = graph.num_vertices, factor * graph.num_vertices
    walk, edges = new_walk(graph, agent=agent), time_edges(CONFIG, size)
    checked, every = 0, int(walk.state.counts[swift_state.EVERY])
    last, place = np.full(size, NEVER), np.argsort(walk.state.order)

    def advance(num_steps):
        walk.advance(num_steps, budget, past)
        last[walk.actions] = np.arange(walk.step - num_steps, walk.step)

    for number in range(40):
        advance(-walk.step % every)  # so that a refresh is due next
        best = walk.best_step
        advance(1 + number % every)
        np.testing.assert_array_equal(walk.state.bins[place], expected_bins(last, walk, edges))
        scores = expected_scores(graph, walk, edges, budget, last, best, agent, past)
        chances = walk.state.sums[place]
        kept = np.log(chances) > -250
        got = np.log(chances) + walk.state.shared[swift_state.TOP]
        np.testing.assert_allclose(got[kept], scores[kept], rtol=1e-6, atol=1e-6)
        checked += kept.sum()
        for level in np.split(walk.state.sums, walk.state.levels[1:]):
            np.testing.assert_allclose(level.sum(), chances.sum(), rtol=1e-9)
    assert checked > 5 * size


@pytest.mark.parametrize("size", [30, 100_000])
def test_two_rows_are_a_cache_line(size):
    rows = new_walk(models.erdos_renyi(size, 3 / size, seed=1)).state.rows
    assert rows[:2].nbytes == 64
    assert rows.ctypes.data % 64 == 0
    assert rows.flags.c_contiguous


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("degree", "cached"), [(5, 1 << 14), (60, 1 << 14), (5, 0)])
def test_what_a_walk_says_of_its_cuts(kind, degree, cached, monkeypatch):
    """Whether its vertices are in the graph's order or not, as those of large graphs are."""
    monkeypatch.setattr(swift, "CACHED", cached)
    graph = random_graph(90, degree, kind)
    walk, seen = new_walk(graph), []
    unit = 2.0 ** math.frexp(np.abs(graph.weights).max())[1]
    for _ in range(5):
        labels = walk.labels.copy()
        walk.advance(300, 1500)
        for action, cut in zip(walk.actions, walk.state.cuts[1:], strict=True):
            labels[action] ^= 1
            seen.append(graph.cut(labels))
            assert unit * cut == pytest.approx(seen[-1], abs=1e-9)
        assert (labels == walk.labels).all()
        assert graph.cut(walk.best_labels) == pytest.approx(unit * walk.best_cut, abs=1e-9)
        assert unit * walk.best_cut >= max(seen) - 1e-9
    assert walk.step == 1500
    assert seen[walk.best_step - 1] == pytest.approx(unit * walk.best_cut, abs=1e-9)


def check_sums(base, weights, chunks, chunk, budget):
    """Each sum that is kept is that of the level before, whatever the walk has done."""
    walk = new_walk(ej.Graph(base.edges, weights, base.names))
    for _ in range(chunks):
        walk.advance(chunk, budget)
        levels = np.split(walk.state.sums, walk.state.levels[1:])
        for below, here in itertools.pairwise(levels):
            expected = below.reshape(-1, 32).sum(axis=1)
            np.testing.assert_allclose(here[: len(expected)], expected, rtol=1e-6)
            assert (here[len(expected) :] == 0).all()


@pytest.mark.parametrize("large", [1 << 16, 0])
def test_sums_stay_right_while_all_weights_fall(large, monkeypatch):
    """On a short walk over weights of all sizes, each of which makes a step of the fall."""
    monkeypatch.setattr(swift, "_LARGE", large)
    base = models.erdos_renyi(40_000, 6 / 40_000, seed=1)
    weights = 2.0 ** np.random.default_rng(0).uniform(0, 30, base.num_edges)
    check_sums(base, weights, 25, 797, 20_000)


def test_a_graph_without_edges():
    walk = new_walk(ej.Graph.from_edges([], None, 70))
    walk.advance(100, 100)
    assert walk.best_cut == 0
    assert len(set(walk.actions)) > 30


@pytest.mark.parametrize("kind", ["unit", "wide"])
def test_what_a_batch_knows_of_the_sums(kind, monkeypatch):
    """After each flip, in plain Python, where one can look."""
    size, flips, rng = 40_000, 200, np.random.default_rng(0)
    graph = models.erdos_renyi(size, 6 / size, seed=1)
    if kind == "wide":
        graph = ej.Graph(graph.edges, 2.0 ** rng.uniform(0, 30, graph.num_edges), graph.names)
    walk = new_walk(graph)
    walk.advance(6007, 6 * size)
    state = walk.state._replace(
        rows=walk.state.rows.view(np.recarray),
        draws=rng.random(2 * flips),
        choices=rng.random(flips),
        actions=np.empty(flips, np.int32),
        cuts=np.empty(flips + 1),
    )
    begin, take_over, looks = swift_batch._begin_batch, swift_batch._take_over, []

    def look_at_begin(draws, ahead, rests, counts, shared, sums, levels):
        begin(draws, ahead, rests, counts, shared, sums, levels)
        assert shared[swift_state.TOTAL] == pytest.approx(sums[:size].sum(), rel=1e-6)

    def look_after(rise, many, counts, shared, sums):
        take_over(rise, many, counts, shared, sums)
        looks.append(counts[swift_state.CHANGED])
        if counts[swift_state.AT] == counts[swift_state.END]:  # nobody will ask
            return
        blocks = sums[:size].reshape(-1, 32).sum(axis=1)
        changed = state.changed[: counts[swift_state.CHANGED]]
        assert len(set(changed)) == len(changed)
        others = np.delete(blocks, changed).sum()
        near = {"rel": 1e-6, "abs": 1e-6 * blocks.sum()}
        assert shared[swift_state.INSIDE] == pytest.approx(blocks[changed].sum(), **near)
        assert shared[swift_state.OTHERS] == pytest.approx(others, **near)

    monkeypatch.setattr(swift_batch, "_begin_batch", look_at_begin)
    monkeypatch.setattr(swift_batch, "_take_over", look_after)
    swift_batch.walk_batches(state)
    assert len(looks) == flips
    assert max(looks) > 20


@pytest.mark.parametrize("large", [1 << 16, 0])
@pytest.mark.parametrize("power", [1, 4, 6])
def test_sums_stay_right_where_weights_differ_much(power, large, monkeypatch):
    monkeypatch.setattr(swift, "_LARGE", large)
    base = random_graph(1500, 6, "float")
    weights = np.sign(base.weights) * np.abs(base.weights) ** power
    check_sums(base, weights, 200, 31, 30_000)


def test_peeks_are_computed_anew_now_and_then():
    walk = new_walk(random_graph(70, 40, "float"))
    assert len(walk.state.matrix)
    matrix = random_graph(70, 40, "float").adjacency()
    for _ in range(3):
        walk.advance(20 * 70, 10**5)
        walk.state.rows["peek"] += 1e-3  # as if by rounding
        walk.advance(1, 10**5)
    sides = 1.0 - 2.0 * walk.labels
    unit = 2.0 ** math.frexp(np.abs(matrix.data).max())[1]
    peeks = sides * (matrix @ sides) / unit
    np.testing.assert_allclose(walk.state.rows["peek"], peeks, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1.0, 1e160, 1e300])
def test_the_unit_of_weights_does_not_matter(scale):
    base = random_graph(300, 6, "float")
    walks = [new_walk(ej.Graph(base.edges, base.weights * u, base.names)) for u in (1.0, scale)]
    for walk in walks:
        walk.advance(3000, 3000)
    cuts = [base.cut(walk.best_labels) for walk in walks]
    assert cuts[1] > 0.95 * cuts[0] > 0


def test_a_hub_is_not_flipped_for_ever():
    size = 2000
    base = random_graph(size, 4, "unit")
    spokes = [(0, i) for i in range(1, size) if i % 2]
    pairs = sorted({*map(tuple, base.edges.tolist()), *spokes})
    graph = ej.Graph.from_edges(pairs, num_vertices=size)
    walk = new_walk(graph)
    walk.advance(10 * size, 10 * size)
    assert (walk.actions == 0).sum() < 100
    by_greedy = greedy_labels(graph, np.zeros(size, np.int8), np.random.default_rng(0))
    assert graph.cut(walk.best_labels) > graph.cut(by_greedy)


def test_vertices_are_drawn_by_their_weights():
    """The first flip of many walks, against the definition's distribution."""
    graph = random_graph(40, 4, "signed")
    labels, counts, ground = np.zeros(40, np.int8), np.zeros(40), survey(AGENT, graph)
    for seed in range(4000):
        walk = start_walk(ground, labels, np.random.default_rng(seed))
        walk.advance(1, 2000)
        counts[walk.actions[0]] += 1
    walk = start_walk(ground, labels, np.random.default_rng(0))
    weights = np.exp(expected_scores(graph, walk, time_edges(CONFIG, 40), 2000))
    chances = weights / weights.sum()
    expected = 4000 * chances
    large = expected > 5
    assert large.sum() > 3
    assert ((counts - expected)[large] ** 2 / expected[large]).sum() < 3 * large.sum()
    assert abs(counts[~large].sum() - expected[~large].sum()) < 5 * math.sqrt(4000)


@pytest.mark.parametrize(("params", "config"), [(PARAMS, CONFIG), (GNN_PARAMS, GNN_CONFIG)])
def test_definition_is_the_same_on_host_and_device(params, config):
    size, edges = 50, time_edges(CONFIG, 50)
    matrix, peeks = random_graph(size, 5, "float").adjacency(), RNG.normal(size=size)
    owners, near = np.repeat(np.arange(size), np.diff(matrix.indptr)), matrix.indices
    bins = RNG.integers(0, len(edges) + 1, size)

    def scores(params, weights, peeks, bins, *shared):
        features = vertex_features(config, owners, near, weights, size)
        params = graph_params(params, np.array([1.0, 0.5, -0.2, 0.3, 0.1, 0.4, 0.2]))
        tables = swift_tables(params, config, features)
        shared = swift_globals(params, time_places(config, size), *shared)
        return swift_scores(tables, shared, peeks, bins)

    shared = [np.float64(x) for x in (0.3, 0.2, 7.0)]
    host = scores(params, matrix.data, peeks, bins, *shared)
    arrays = jnp.asarray(matrix.data), jnp.asarray(peeks)
    device = jax.jit(scores)(params, *arrays, bins, *shared)
    np.testing.assert_allclose(device, host, rtol=1e-4, atol=1e-4)


def test_features_of_a_star_with_a_tail():
    """0 has the neighbours 1, 2 and 3 by weights 1, 1 and -2; 4 hangs on 3 by 1; 5 has none."""
    edges, weights = [(0, 1), (0, 2), (0, 3), (3, 4)], [1, 1, -2, 1]
    features = features_of(ej.Graph.from_edges(edges, weights, num_vertices=6), GNN_CONFIG)
    relative = np.array([6, 1, 1, 5, 1, 0]) / (14 / 6)
    logs = np.log(np.maximum(relative, 1e-3))
    balance = np.array([0, 1, 1, -1 / 3, 1, 0])
    few = np.sqrt([18 / 36, 1, 1, 17 / 25, 1, 0])
    own = np.stack([logs, balance, few], axis=1)
    means = np.array([[0, 1, 1, 4, 0, 0], [6, 0, 0, 0, 0, 0], [6, 0, 0, 0, 0, 0]]) / 6
    means = np.vstack([means, np.array([[4, 0, 0, 0, 1, 0], [0, 0, 0, 5, 0, 0]]) / 5, np.zeros(6)])
    expected = np.concatenate([own, means @ own, means @ means @ own], axis=1)
    np.testing.assert_allclose(features, expected, rtol=1e-12, atol=1e-12)


def test_an_encoder_without_a_readout_is_that_of_powers():
    graph, own = random_graph(80, 5, "signed"), graph_params(PARAMS, np.ones(len(TRAITS)))
    params = {**own, "readout": np.zeros((9, 4))}
    powers = swift_tables(own, CONFIG, features_of(graph))
    network = swift_tables(params, GNN_CONFIG, features_of(graph, GNN_CONFIG))
    for one, two in zip(powers, network, strict=True):
        np.testing.assert_array_equal(one, two)
    params["readout"][0] = [0.1, 0.2, 0.3, 0.4]  # what a vertex's own field adds
    more = swift_tables(params, GNN_CONFIG, features_of(graph, GNN_CONFIG))
    field = features_of(graph)[:, 0]
    np.testing.assert_allclose(more.gain, powers.gain * np.exp(0.1 * field))
    np.testing.assert_allclose(more.bias, powers.bias + 0.2 * field)
    np.testing.assert_allclose(more.drift, powers.drift + 0.3 * field)
    np.testing.assert_allclose(more.penalty, powers.penalty * np.exp(0.4 * field))


@pytest.mark.parametrize(
    ("graph", "every"),
    [
        (models.random_regular(600, 4, seed=1), 100),
        (models.sherrington_kirkpatrick(97, seed=1), 16),  # 4 looks would be cheap, 6 are least
        (models.sherrington_kirkpatrick(481, seed=1), 24),  # 481 / (480 / 24)
        (ej.Graph.from_edges([], [], num_vertices=1), 1),
    ],
)
def test_the_globals_are_looked_at_more_often_where_flips_change_many(graph, every):
    assert CONFIG.refresh_every(graph.num_vertices, graph.num_edges) == every
    assert survey(AGENT, graph).counts[swift_state.EVERY] == every
    walk = new_walk(graph)
    for _ in range(3):
        walk.advance(every, 1000)
        progress = walk.state.shared[swift_state.PROGRESS]
        assert progress == pytest.approx((walk.step - every) / 1000)  # that of the last look


@pytest.mark.parametrize("size", [1, 2, 31, 33, 100_000])
def test_time_edges(size):
    edges = time_edges(CONFIG, size)
    assert edges[0] >= 1
    assert (np.diff(edges) > 0).all()
    assert edges[-1] == size


@pytest.mark.parametrize("size", [2, 40, 125, 600, 100_000])
def test_a_vertex_just_flipped_is_at_the_first_knot(size):
    edges, (places, _) = time_edges(CONFIG, size), time_places(CONFIG, size)
    assert places[np.searchsorted(edges, 1, side="right")] <= 0
    assert (np.diff(places) >= 0).all()
    assert places[-1] < 1
    if size > 100:
        assert len(set(places)) > 4


def test_flips_are_forgotten_sooner_at_the_end():
    """At p = 1 a vertex is held as one that was flipped e^c times as long ago was at p = 0."""
    size, growth = 10**8, math.log(1 / 0.003) / 6  # of the edges, from one to the next
    places = time_places(CONFIG, size)
    params = graph_params(PARAMS, np.eye(len(TRAITS))[0])
    params |= {"penalty": np.zeros(3), "memory": np.array([growth / math.log(1 / 0.004)])}
    early, late, much = (
        swift_globals(params | {"memory": m}, places, np.float64(p), np.float64(0), np.float64(1))
        for m, p in ((params["memory"], 0), (params["memory"], 1), (np.array([9.0]), 1))
    )
    np.testing.assert_allclose(late.held[1:-2], early.held[2:-1], rtol=1e-5)
    assert late.held[-2] == much.held[0] == much.held[3] == pytest.approx(params["curve"][-1])
    assert early.held[-1] == late.held[-1] == 0


def test_the_last_flips_of_a_small_graph_are_not_forgotten():
    """However strong the memory's fading: a vertex is held as at the beginning of the walk."""
    params = graph_params(PARAMS, np.eye(len(TRAITS))[0])
    params |= {"penalty": np.zeros(3), "memory": np.array([9.0])}
    for size, few in ((125, 7), (375, 3), (10_000, 0)):
        edges, places = time_edges(CONFIG, size), time_places(CONFIG, size)
        early, late = (
            swift_globals(params, places, np.float64(p), np.float64(0), np.float64(1))
            for p in (0, 1)
        )
        same = late.held[:-1] == early.held[:-1]
        assert edges[same].max(initial=0) == few
        assert same[edges <= few].all()
        late_bins = late.held[:-1][edges > few]
        assert late_bins == pytest.approx(np.full(len(late_bins), params["curve"][-1]))


def test_a_walk_in_pieces_is_the_same():
    graph = random_graph(200, 6, "unit")
    whole, pieces = new_walk(graph, seed=3), new_walk(graph, seed=3)
    whole.advance(3000, 3000)
    for steps in (1, 999, 500, 1500):
        pieces.advance(steps, 3000)
    assert (whole.labels == pieces.labels).all()
    assert whole.best_cut == pieces.best_cut
    assert whole.best_step == pieces.best_step


def solve(graph, **options):
    limit = {} if "time_limit" in options else {"num_steps": 4000}
    key = jax.random.key(0)
    return ej.solve(
        graph,
        **{"agent": AGENT, "key": key, "trajectories": 4, "presolve": False, **limit, **options},
    )


def test_solve_by_steps_is_reproducible():
    graph = random_graph(300, 6, "signed")
    one, two = solve(graph), solve(graph)
    assert (one.labels == two.labels).all()
    assert (one.steps, one.stopped_by) == (4000, "num_steps")
    assert one.cut == graph.cut(one.labels)
    assert [point[1:] for point in one.curve] == [point[1:] for point in two.curve]
    other = solve(graph, key=jax.random.key(1))
    assert [point[1:] for point in one.curve] != [point[1:] for point in other.curve]
    # Far above what single flips that pay reach.
    assert one.cut > max(point.cut for point in one.curve if point.step == 0)


@pytest.fixture
def budgets(monkeypatch):
    """Where each slice of a walk ends, and the budget that it was told."""
    seen, real = [], swift.SwiftWalk.advance

    def advance(walk, num_steps, budget, past=0):
        seen.append((walk.step + num_steps, budget))
        real(walk, num_steps, budget, past)

    monkeypatch.setattr(swift.SwiftWalk, "advance", advance)
    return seen


def test_budgets_are_never_passed(budgets):
    graph = random_graph(300, 6, "unit")
    for limits in ({"num_steps": 5_000}, {"time_limit": 1.0, "num_steps": 5_000}):
        solve(graph, **limits)
    solve(graph, time_limit=1.0)
    assert len(budgets) > 10
    assert all(step <= budget for step, budget in budgets)


def test_little_time_begins_with_good_labels(monkeypatch):
    monkeypatch.setattr(campaign, "_HARDLY_ANY", math.inf)
    graph, starts = random_graph(200, 6, "unit"), []
    real = swift.start_walk
    monkeypatch.setattr(swift, "start_walk", lambda *args: (starts.append(args[1]), real(*args))[1])
    options = {"time_limit": 1.0, "move": "ecord"}
    result = solve(graph, ablate=["merge"], **options)
    by_greedy = max(point.cut for point in result.curve if point.step == 0)
    assert len(starts) > 4
    assert {graph.cut(labels) for labels in starts[1:]} == {by_greedy}
    starts.clear()
    solve(graph, ablate=["merge", "starts"], **options)
    assert by_greedy not in {graph.cut(labels) for labels in starts}


def test_too_little_memory(monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(swift, "survey", fail)
    with pytest.raises(EcordError, match="not enough memory for 4 trajectories"):
        solve(random_graph(50, 6, "unit"))


def test_interrupted():
    def interrupt(progress):
        if progress.step:
            raise KeyboardInterrupt

    graph = random_graph(300, 6, "unit")
    result = solve(graph, num_steps=10**8, callback=interrupt)
    assert result.stopped_by == "interrupted"
    assert result.cut == graph.cut(result.labels)


def test_components_are_kept_apart():
    parts = [random_graph(9, 6, "signed", seed) for seed in range(12)]
    edges = np.concatenate([part.edges + 9 * i for i, part in enumerate(parts)])
    weights = np.concatenate([part.weights for part in parts])
    graph = ej.Graph.from_edges(edges, weights, num_vertices=108)
    best = sum(max(part.cut([n >> i & 1 for i in range(9)]) for n in range(256)) for part in parts)
    assert solve(graph, num_steps=20_000).cut == best


def test_solve_by_time():
    graph = random_graph(500, 6, "unit")
    solve(graph)  # compiled
    result = solve(graph, time_limit=1.0)
    assert result.stopped_by == "time_limit"
    assert 0.5 < result.seconds["total"] < 2.0
    assert result.steps > 1000


def test_small_graphs_are_solved():
    rng = np.random.default_rng(5)
    for seed in range(20):
        graph = random_graph(10, 4, KINDS[seed % 3], seed)
        best = max(graph.cut([seed >> i & 1 for i in range(10)]) for seed in range(512))
        result = solve(graph, num_steps=2000, presolve=bool(rng.integers(2)))
        assert result.cut == pytest.approx(best)


@pytest.mark.parametrize("weights", [[1e300, -1e300, 1e300], [1e-300, 1e-300, 2e-300], [0, 0, 0]])
def test_weights_of_any_size(weights):
    graph = ej.Graph.from_edges([(0, 1), (1, 2), (0, 2)], weights, num_vertices=4)
    result = solve(graph, num_steps=50)
    assert result.cut == max(graph.cut([n >> i & 1 for i in range(4)]) for n in range(8))


def test_it_has_no_other_temperature():
    with pytest.raises(OptionError, match="has learned its own"):
        solve(random_graph(10, 3, "unit"), temperature=0.1)


def test_it_is_no_network_for_the_rollout():
    with pytest.raises(AgentError, match="walks on the host"):
        encode(AGENT, None)


def test_parameters():
    assert {name: value.shape for name, value in PARAMS.items()} == param_shapes(CONFIG)
    with pytest.raises(AgentError, match="knots=1"):
        SwiftConfig(knots=1)
    with pytest.raises(AgentError, match="'depth'"):
        SwiftConfig.from_dict({"depth": 3})
