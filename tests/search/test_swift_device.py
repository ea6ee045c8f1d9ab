"""Tests of `swift` in JAX against the walk on the host and the policy's definition."""

import functools
import math
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ecord_jax as ej
from ecord_jax.agents import load_agent
from ecord_jax.env import reset
from ecord_jax.graphs import models
from ecord_jax.networks.swift import time_edges
from ecord_jax.search import swift, swift_fleet
from ecord_jax.search.swift import start_walk, survey
from ecord_jax.search.swift_device import (
    start_swift,
    swift_chunk,
    swift_ground,
    swift_rollout,
)
from ecord_jax.search.swift_fleet import prepare_swift_device
from tests.helpers import reachable
from tests.search.test_swift import AGENT, CONFIG, expected_scores, random_graph

BODY = r"body=%?([\w.\-]+)"


def rounded(graph):
    """With weights that the device need not round."""
    return ej.Graph(graph.edges, np.float32(graph.weights).astype(float), graph.names)


GRAPHS = {
    "unit": random_graph(300, 6, "unit"),
    "float": rounded(random_graph(300, 6, "float")),
    "hubs": rounded(models.power_law(700, 5.0, seed=1, weights="gaussian")),
    "crowded": models.sherrington_kirkpatrick(200, seed=1),
    "tiny": random_graph(5, 2, "signed"),
}


def padded(ground, labels):
    return np.pad(labels, (0, len(ground.tables.gain) - len(labels)))


@functools.partial(jax.jit, static_argnames="rounds")
def roll(ground, labels, key, budget, actions=None, *, rounds):
    state, ring = reset(ground.arrays, labels), jnp.zeros(labels.shape[0] + 1, jnp.int32)
    return swift_rollout(ground, state, ring, key, budget, rounds=rounds, actions=actions)


@pytest.mark.parametrize("cached", [1 << 14, 0])
@pytest.mark.parametrize("name", GRAPHS)
def test_weights_are_those_of_the_walk(name, cached, monkeypatch):
    """After the same flips, hundreds of them; on one graph at the beginning of a long walk.

    Where the walk's vertices are in the graph's order and where they are not.
    """
    monkeypatch.setattr(swift, "CACHED", cached)
    with jax.enable_x64(True):
        ground = swift_ground(AGENT, GRAPHS[name], dtype=jnp.float64)
        compare_weights(GRAPHS[name], ground, 1e-6, 6000 if name == "unit" else 60)


@pytest.mark.parametrize("wide", [False, True])
def test_weights_in_single_precision(wide):
    """Whether JAX has double precision or not."""
    with jax.enable_x64(wide):
        compare_weights(GRAPHS["hubs"], swift_ground(AGENT, GRAPHS["hubs"]), 1e-5)


def compare_weights(graph, ground, tolerance, budget=60):
    assert ground.arrays.one_block == (graph is not GRAPHS["hubs"])
    size, every = graph.num_vertices, CONFIG.refresh_every(graph.num_vertices, graph.num_edges)
    labels = np.random.default_rng(0).integers(0, 2, size, np.int8)
    walk, rounds = start_walk(survey(AGENT, graph), labels, np.random.default_rng(1)), (40, every)
    walk.advance(40 * every, budget * every)
    state, _, actions, cuts, scores = roll(
        ground,
        padded(ground, labels),
        jax.random.key(0),
        budget * every,
        walk.actions,
        rounds=rounds,
    )
    assert (actions == walk.actions).all()
    assert (state.labels[:size] == walk.labels).all()
    cut = graph.cut(walk.labels)
    assert cuts[-1] == pytest.approx(cut, abs=1e-3)
    assert (scores[size:] == -jnp.inf).all()
    scores, chances = np.asarray(scores)[walk.state.order].astype(float), walk.state.sums[:size]
    np.testing.assert_allclose(
        np.exp(scores - scores.max()), chances / chances.max(), rtol=0, atol=tolerance
    )


def test_vertices_are_drawn_by_their_weights():
    """The first flip of many trajectories, against the definition's distribution."""
    graph = random_graph(40, 4, "signed")
    ground, labels = swift_ground(AGENT, graph), np.zeros(40, np.int8)
    keys = jax.random.split(jax.random.key(0), 4000)
    first = jax.vmap(lambda key: roll(ground, padded(ground, labels), key, 2000, rounds=(1, 1))[2])
    counts = np.bincount(np.asarray(first(keys)).ravel(), minlength=40)
    walk = start_walk(survey(AGENT, graph), labels, np.random.default_rng(0))
    weights = np.exp(expected_scores(graph, walk, time_edges(CONFIG, 40), 2000))
    expected = 4000 * weights / weights.sum()
    large = expected > 5
    assert large.sum() > 3
    assert ((counts - expected)[large] ** 2 / expected[large]).sum() < 3 * large.sum()
    assert abs(counts[~large].sum() - expected[~large].sum()) < 5 * math.sqrt(4000)


@pytest.mark.parametrize("name", ["unit", "hubs"])
def test_chunks(name):
    graph, ground = GRAPHS[name], swift_ground(AGENT, GRAPHS[name])
    size = graph.num_vertices
    rounds = (4, CONFIG.refresh_every(size, graph.num_edges))
    starts = np.random.default_rng(0).integers(0, 2, (3, size), np.int8)
    search, chunk = (
        start_swift(ground, starts, jax.random.key(0)),
        jax.jit(swift_chunk, static_argnames="rounds"),
    )
    steps, labels, best = math.prod(rounds), starts.copy(), -math.inf
    for turn in range(4):
        last = 3 * steps + 5
        search, found = chunk(ground, search, 4 * steps, last, rounds=rounds)
        assert found.cuts[0, 0] == pytest.approx(graph.cut(labels[0]), abs=1e-3)
        for t in range(steps):
            labels[np.arange(3), found.actions[:, t]] ^= 1
            if turn * steps + t < last:
                best = max(best, *(graph.cut(one) for one in labels))
        assert (found.after[:, :size] == labels).all()
        assert found.cut == pytest.approx(best, abs=1e-3)
        assert graph.cut(np.asarray(found.labels[:size])) == pytest.approx(best, abs=1e-3)
        assert (np.asarray(found.cuts) == -np.inf).sum() == (3 * (steps - 5) if turn == 3 else 0)
    assert search.step == 4 * steps
    assert 0 < found.step <= last


def test_cuts_are_as_good_as_those_of_walks():
    agent, graph = load_agent("swift"), models.random_regular(200, 4, seed=2)
    ground, starts = swift_ground(agent, graph), np.zeros((32, 200), np.int8)
    search = start_swift(ground, starts, jax.random.key(0))
    rounds = (500, agent.config.refresh_every(200, graph.num_edges))
    budget = math.prod(rounds)
    after, _ = jax.jit(swift_chunk, static_argnames="rounds")(
        ground, search, budget, budget, rounds=rounds
    )
    seen = survey(agent, graph)
    walks = [start_walk(seen, z, np.random.default_rng(i)) for i, z in enumerate(starts)]
    for walk in walks:
        walk.advance(budget, budget)
    here = np.asarray(after.trajectories.best_cut)
    there = np.array([graph.cut(walk.best_labels) for walk in walks])
    deviation = math.sqrt((here.var() + there.var()) / 32)
    assert abs(here.mean() - there.mean()) < 4 * deviation + 1e-9


@pytest.mark.parametrize("name", ["unit", "hubs"])
def test_a_compiled_step_copies_nothing_of_the_state(name):
    """Within the loops over steps and over blocks no [B, N] is copied, selected or computed."""
    ground = swift_ground(AGENT, GRAPHS[name])
    size, count = len(ground.tables.gain), 3
    search = start_swift(ground, np.zeros((count, size), np.int8), jax.random.key(0))
    run = jax.jit(functools.partial(swift_chunk, rounds=(3, 5)))
    text = run.lower(ground, search, 100, 100).compile().as_text()
    shapes = "|".join([str(size), str(size + 1), f"{-(-size // 32)},32"])
    rounds = [reachable(text, body) for body in re.findall(BODY, text[text.index("\nENTRY ") :])]
    inner = [reachable(text, body) for one in rounds for body in re.findall(BODY, one)]
    assert any(re.search(rf"s32\[{count},{size + 1}\]", body) for body in inner)  # the ring
    for body in inner:
        wide = re.findall(rf"= \w+\[{count},(?:{shapes})\]\S* (\S+)\(", body)
        assert not {"copy", "select", "add", "multiply", "exponential"} & set(wide)


def solve(graph, monkeypatch, **options):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    usual = {"agent": AGENT, "trajectories": 4, "presolve": False, "move": "ecord"}
    return ej.solve(graph, key=jax.random.key(0), **{**usual, **options})


def test_solve_by_steps_is_reproducible(monkeypatch):
    monkeypatch.setattr(swift_fleet, "group_size", lambda *_: 2)
    graph = random_graph(120, 5, "signed")
    one, two = (solve(graph, monkeypatch, num_steps=600) for _ in range(2))
    assert (one.labels == two.labels).all()
    assert (one.steps, one.stopped_by) == (600, "num_steps")
    assert one.cut == graph.cut(one.labels)
    assert one.cut > max(point.cut for point in one.curve if point.step == 0)


def test_solve_by_time(monkeypatch):
    """Compiling may take any part of the limit: what ends the search is its second chunk."""
    monkeypatch.setattr(swift_fleet, "_LONGEST_CHUNK", 64)

    def end(progress):
        if progress.step > 64:
            raise KeyboardInterrupt

    graph = random_graph(96, 5, "unit")
    result = solve(graph, monkeypatch, time_limit=120.0, callback=end)
    assert result.stopped_by == "interrupted"
    assert result.steps == 128
    assert result.cut == graph.cut(result.labels)


@pytest.mark.parametrize("good", [True, False])
def test_little_time_begins_with_good_labels(monkeypatch, good):
    """Where they are given: without the ingredient "starts" they are not."""
    monkeypatch.setattr(swift_fleet, "_FEW", math.inf)
    graph, fallback = GRAPHS["tiny"], np.array([0, 1, 0, 1, 1], np.int8)
    prepared = prepare_swift_device(
        graph,
        AGENT,
        np.zeros((2, 5), np.int8),
        fallback if good else None,
        last_step=10,
        left=lambda: 1.0,
        seed=[1, 2],
    )
    ((_, search),) = prepared.searches
    assert (search.trajectories.labels[:, :5] == (fallback if good else 0)).all()
    assert prepared.num_steps == 10
