"""Tests of a search that takes over where another one has come to."""

import math

import numpy as np

from ecord_jax.graphs import models
from ecord_jax.search.campaign import Campaign, Plan
from ecord_jax.search.chunk import Found
from ecord_jax.search.hunt import Chunks, Relay
from ecord_jax.search.prepare import Prepared
from ecord_jax.search.walks import TABU, Mover

GRAPH = models.torus((5, 6), seed=1)


def chunks(groups, last_step, left):
    """Chunks of eight steps, after which each group stands at labels of its own, padded."""

    def run(number):
        after = np.pad(groups[number], ((0, 0), (0, 2)))
        actions, cuts = np.zeros((len(after), 8), int), np.zeros((len(after), 9))
        return number, Found(after[0], np.float32(0), np.int32(3), actions, cuts, after)

    return Chunks(Prepared(list(range(len(groups))), run, 8), last_step, left)


def test_relay_hands_labels_over():
    starts, size = {}, GRAPH.num_vertices
    groups = np.random.default_rng(0).integers(0, 2, (2, 3, size), np.int8)

    def look(graph, dense=True):
        begin = TABU.look(graph)

        def start(number, labels, rng):
            starts.setdefault(number, labels)  # of the first round
            return begin(number, labels, rng)

        return start

    def left():
        return math.inf

    nobody = np.zeros((6, size), np.int8)
    second = Campaign(
        GRAPH, [Mover("tabu", look, True)], nobody, nobody[0], Plan(6, 5000, left, [1])
    )
    starts.clear()
    relay = Relay(chunks(groups, 20, left), second)
    found = [one for one in relay.run() if one is not None]
    assert np.array_equal([starts[i] for i in range(6)], groups.reshape(6, size))
    assert relay.steps == 20 + 5000
    assert list(relay.effort) == ["ecord", "tabu", "merge"]
    assert [one.by for one in found[:6]] == ["ecord"] * 6
    later = [one.step for one in found[6:]]
    assert later == sorted(later)
    assert later[0] > 20
    assert later[-1] == 5020


def test_chunks_end_with_the_time_but_one_is_done():
    one = chunks(np.zeros((1, 2, 30), np.int8), 10**6, lambda: -1.0)
    assert len(list(one.run())) == 1
    assert one.steps == 8
