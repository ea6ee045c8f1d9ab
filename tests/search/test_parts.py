"""Tests of what is kept of each connected component."""

import itertools

import jax
import numpy as np
import pytest

from ecord_jax.graphs import Graph
from ecord_jax.search.chunk import Found
from ecord_jax.search.parts import BestParts


def two_parts(rng):
    """Two random graphs of seven vertices, numbered in turns."""
    pairs = [(i, j) for i in range(14) for j in range(i) if (i - j) % 2 == 0]
    return Graph.from_edges(pairs, rng.integers(-3, 4, len(pairs)), num_vertices=14)


def played(graph, rng, steps, counting):
    """Random flips: the labels after each, and what a chunk tells of them."""
    start = rng.integers(0, 2, graph.num_vertices).astype(np.int8)
    actions = rng.integers(0, graph.num_vertices, steps)
    seen = [start]
    for action in actions:
        seen.append(seen[-1].copy())
        seen[-1][action] ^= 1
    cuts = np.array([graph.cut(labels) for labels in seen], np.float32)
    top = int(cuts[: counting + 1].argmax())
    cuts[counting + 1 :] = -np.inf
    return seen, actions, cuts, top


def chunk_of(runs):
    best = max(runs, key=lambda run: run[2].max())
    seen, _, cuts, top = best
    found = Found(
        labels=seen[top],
        cut=cuts[top],
        step=np.int32(top),
        actions=np.array([run[1] for run in runs]),
        cuts=np.array([run[2] for run in runs]),
        after=np.array([run[0][-1] for run in runs]),
    )
    return found


@pytest.mark.parametrize("counting", [0, 1, 9, 30])
def test_every_component_is_at_its_best(counting):
    rng = np.random.default_rng(counting)
    for _ in range(20):
        graph = two_parts(rng)
        halves = [
            Graph.from_edges(graph.edges[rows], graph.weights[rows], num_vertices=14)
            for rows in (graph.edges[:, 0] % 2 == 0, graph.edges[:, 0] % 2 == 1)
        ]
        first = rng.integers(0, 2, 14).astype(np.int8)
        parts, seen = BestParts(graph, first), [first]
        for _ in range(3):
            runs = [played(graph, rng, 30, counting) for _ in range(4)]
            before = sum(max(half.cut(labels) for labels in seen) for half in halves)
            seen += itertools.chain.from_iterable(run[0][: counting + 1] for run in runs)
            best = sum(max(half.cut(labels) for labels in seen) for half in halves)
            better = parts.take(chunk_of(runs))
            assert (better is not None) == (best > before)
            if better is not None:
                assert better.step is None
                assert graph.cut(better.labels) == best


def test_one_component_is_what_the_device_found():
    rng = np.random.default_rng(0)
    graph = Graph.from_edges([(i, i + 1) for i in range(9)])
    parts = BestParts(graph, np.zeros(10, np.int8))
    runs = [played(graph, rng, 12, 12) for _ in range(3)]
    better = parts.take(chunk_of(runs))
    best = max(runs, key=lambda run: run[2].max())
    assert better.labels.tolist() == best[0][best[3]].tolist()
    assert better.step == best[3]
    assert parts.take(chunk_of(runs)) is None  # no better the second time


def test_many_components_are_all_solved(monkeypatch):
    """Together they would hardly ever be at their best at one step."""
    import ecord_jax as ej

    rng = np.random.default_rng(1)
    size, count = 8, 40
    pairs = np.array([(i, j) for i in range(size) for j in range(i)])
    edges = np.concatenate([pairs + size * number for number in range(count)])
    weights = rng.integers(1, 9, len(edges)) * rng.choice([-1, 1], len(edges))
    graph = Graph.from_edges(edges, weights)
    sides = np.array([(0, *rest) for rest in itertools.product((0, 1), repeat=size - 1)])
    crossing = sides[:, pairs[:, 0]] != sides[:, pairs[:, 1]]
    best = (crossing @ weights.reshape(count, -1).T).max(axis=0).sum()
    result = ej.solve(graph, agent="softmax", num_steps=3000, key=jax.random.key(0))
    assert result.cut == best
