"""Tests of the environment against numbers worked by hand and against cuts counted on the host."""

import re
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecord_jax.env import maxcut, observe, observe_global, reset, step, vertex_features
from ecord_jax.env.types import SCALINGS, TIME_SCALES, sees_budget
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import to_arrays
from tests.helpers import padded, pick, quick_jit, reachable, stack

# Vertices 0, 1, 2 in a triangle and 3 alone: peeks of the empty cut are 5, 1, 2, 0.
TRIANGLE = Graph.from_edges([(0, 1), (1, 2), (0, 2)], [2, -1, 3], num_vertices=4)
FIELD_SCALE = np.sqrt((13 + 5 + 10 + 0) / 4)  # of the triangle

N, E = 32, 512  # what random graphs are padded to, so that they share programs


class Played(NamedTuple):
    """A few flips: the state after them, and the reward and cut after each."""

    state: maxcut.State
    rewards: jax.Array
    cuts: jax.Array


def _play(arrays, labels, actions):
    def body(state, action):
        state, reward = step(arrays, state, action)
        return state, (reward, state.cut)

    state, (rewards, cuts) = jax.lax.scan(body, reset(arrays, labels), actions)
    return Played(state, rewards, cuts)


play = quick_jit(_play)
play_many = quick_jit(jax.vmap(_play, (None, 0, 0)))
play_graphs = quick_jit(jax.vmap(jax.vmap(_play, (None, 0, 0))))


one_step = quick_jit(step, static_argnames="scaling")


def start(graph, labels=()):
    arrays = to_arrays(graph)
    padding = arrays.vertex_mask.shape[0] - len(labels)
    return arrays, quick_jit(reset)(arrays, np.pad(np.array(labels, np.int8), (0, padding)))


def flip(arrays, state, *actions, scaling="paper"):
    """The state after the flips, and their rewards."""
    rewards = []
    for action in actions:
        state, reward = one_step(arrays, state, action, scaling=scaling)
        rewards.append(float(reward))
    return state, rewards


def peeks_by_hand(graph, labels):
    sides = 2 * np.asarray(labels, np.float64) - 1
    return sides * (graph.adjacency() @ sides)


def check(graph, labels, actions, played, *, exact):
    """Compares what was played with the host's own flips, cuts and peeks."""
    z = np.array(labels[: graph.num_vertices], np.int8)
    cuts, flipped = [graph.cut(z)], {}
    for t, action in enumerate(np.asarray(actions).tolist(), start=1):
        z[action] ^= 1
        flipped[action] = t
        cuts.append(graph.cut(z))
    state = jax.tree.map(np.asarray, played.state)
    n, size = graph.num_vertices, graph.num_vertices
    tolerance = 0 if exact else 1e-5 * (1 + np.abs(graph.weights).sum())
    np.testing.assert_array_equal(state.labels[:n], z)
    np.testing.assert_allclose(state.peeks[:n], peeks_by_hand(graph, z), rtol=0, atol=tolerance)
    np.testing.assert_allclose(played.cuts, cuts[1:], rtol=0, atol=tolerance)
    best = np.maximum.accumulate(cuts)
    np.testing.assert_allclose(state.best_cut, best[-1], rtol=0, atol=tolerance)
    np.testing.assert_allclose(cuts[state.best_step], best[-1], rtol=0, atol=2 * tolerance)
    np.testing.assert_allclose(
        played.rewards, np.maximum(np.diff(best), 0) / size, rtol=1e-6, atol=2 * tolerance / size
    )
    assert state.step == len(actions)
    assert {i: int(t) for i, t in enumerate(state.last_flip[:n]) if t > 0} == flipped
    if exact:
        assert state.best_step == int(np.argmax(cuts))
    assert not state.labels[n:].any()
    assert not state.peeks[n:].any()


@st.composite
def graphs(draw, weights):
    """Up to N - 1 vertices, some alone, in several parts or around a hub."""
    n = draw(st.integers(1, N - 1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    present = np.triu(rng.random((n, n)) < draw(st.sampled_from([0.02, 0.1, 0.4])), 1)
    if draw(st.booleans()):
        present[0, 1:] |= rng.random(n - 1) < 0.9
    edges = np.argwhere(present)[: E // 2]
    values = {
        "signed": rng.integers(-9, 10, len(edges)),
        "floats": rng.normal(size=len(edges)) * 10.0 ** rng.integers(-2, 3),
    }[weights]
    return Graph.from_edges(edges, values, num_vertices=n)


def draws(graph, seed, *shape, flips=24):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, (*shape, N)).astype(np.int8)
    actions = rng.integers(0, graph.num_vertices, (*shape, flips)).astype(np.int32)
    # Hubs and returns to the same vertex must come often.
    actions[..., ::5] = 0
    return labels, actions


def test_peeks_cut_and_reward_by_hand():
    arrays, state = start(TRIANGLE)
    assert state.peeks[:4].tolist() == [5, 1, 2, 0]
    assert (float(state.cut), float(state.best_cut), int(state.best_step)) == (0, 0, 0)
    state, rewards = flip(arrays, state, 0)
    # Neighbours change by twice the weight, vertex 0 by twice its peek.
    assert state.peeks[:4].tolist() == [-5, 1 - 2 * 2, 2 - 2 * 3, 0]
    assert (float(state.cut), rewards) == (5, [5 / 4])
    state, rewards = flip(arrays, state, 2)
    assert state.peeks[:4].tolist() == [-5 + 2 * 3, -3 + 2 * 1, 4, 0]
    assert (float(state.cut), float(state.best_cut), rewards) == (1, 5, [0])
    assert state.labels.tolist()[:4] == [1, 0, 1, 0]
    # Coming back to the best cut is no gain and does not move its step.
    state, rewards = flip(arrays, state, 3, 2)
    assert (float(state.cut), int(state.best_step), int(state.step)) == (5, 1, 4)
    assert rewards == [0, 0]


def test_reward_counts_from_the_best_cut():
    arrays, state = start(TRIANGLE, [0, 0, 1, 0])  # cut 2
    state, rewards = flip(arrays, state, 2, 0)  # cuts 0, 5
    assert rewards == [0, 3 / 4]
    assert int(state.best_step) == 2


def test_paper_observation_by_hand():
    arrays, state = start(TRIANGLE)
    state, _ = flip(arrays, state, 0, 2)
    seen = observe(arrays, state, scaling="paper")
    assert seen.vertex.shape == (16, vertex_features("paper")) == (16, 3)
    # label, peek / |V|, steps since the flip / 40 (never flipped: since the start)
    expected = [[1, 1 / 4, 1 / 40], [0, -1 / 4, 2 / 40], [1, 4 / 4, 0], [0, 0, 2 / 40]]
    np.testing.assert_allclose(seen.vertex[:4], expected, rtol=1e-6)
    np.testing.assert_allclose(seen.globals, [(1 - 5) / 4, 4 / 4], rtol=1e-6)
    assert seen.mask.tolist() == [True] * 4 + [False] * 12
    np.testing.assert_array_equal(observe_global(arrays, state), seen.globals)


def test_scale_free_observation_by_hand():
    arrays, state = start(TRIANGLE)
    np.testing.assert_allclose(arrays.field_scale, FIELD_SCALE, rtol=1e-6)
    state, rewards = flip(arrays, state, 0, 2, scaling="scale_free")
    np.testing.assert_allclose(rewards, [5 / FIELD_SCALE, 0], rtol=1e-6)
    seen = observe(arrays, state, scaling="scale_free")
    assert seen.vertex.shape == (16, vertex_features("scale_free")) == (16, 6)
    since = {0: [1, 1, 1, 1 / 1.2], 1: [1] * 4, 2: [0] * 4, 3: [1] * 4}
    peeks = np.array([1, -1, 4, 0]) / FIELD_SCALE
    expected = [[label, peeks[i], *since[i]] for i, label in enumerate([1, 0, 1, 0])]
    np.testing.assert_allclose(seen.vertex[:4], expected, rtol=1e-6)
    gap = -np.log1p(4 / FIELD_SCALE)
    np.testing.assert_allclose(seen.globals, [gap, 4 / FIELD_SCALE], rtol=1e-6)


def test_paper_times_are_clipped_at_40_steps():
    arrays, state = start(TRIANGLE)
    state, _ = flip(arrays, state, 0, *[3] * 39)
    times = observe(arrays, state).vertex[:4, 2]
    np.testing.assert_allclose(times, [39 / 40, 1, 1, 0], rtol=1e-6)
    state, _ = flip(arrays, state, 2, *[3] * 8)
    times = observe(arrays, state).vertex[:4, 2]
    np.testing.assert_allclose(times, [1, 1, 8 / 40, 0], rtol=1e-6)


def test_scale_free_times_are_in_units_of_the_graph():
    path = Graph.from_edges([(i, i + 1) for i in range(999)])
    arrays, state = start(path)
    state, _ = flip(arrays, state, 7, *[500] * 5)
    times = observe(arrays, state, scaling="scale_free").vertex[:, 2:]
    np.testing.assert_allclose(times[7], [5 / 10, 5 / 30, 5 / 100, 5 / 300], rtol=1e-6)
    np.testing.assert_array_equal(times[500], np.zeros(4))
    np.testing.assert_array_equal(times[8], np.ones(4))


@pytest.mark.parametrize("scaling", [name for name in SCALINGS if name != "paper"])
def test_the_scale_free_family(scaling):
    """Its members differ in the times, and in what they see of the budget."""
    arrays = to_arrays(TRIANGLE)
    state, _ = flip(arrays, reset(arrays, jnp.zeros(16, jnp.int8), 8), 0, 2, scaling=scaling)
    seen, usual = (observe(arrays, state, scaling=name) for name in (scaling, "scale_free"))
    np.testing.assert_array_equal(seen.vertex[:, :2], usual.vertex[:, :2])
    scales = np.array(TIME_SCALES[scaling])
    np.testing.assert_allclose(seen.vertex[0, 2:], np.minimum(1 / (4 * scales), 1), rtol=1e-6)
    assert vertex_features(scaling) == 2 + len(scales)
    np.testing.assert_array_equal(seen.globals[:2], usual.globals)
    # Two of eight flips are done; eight flips of four vertices are an eighth of 16 |V|.
    expected = [2 / 8, -np.log(8)] if sees_budget(scaling) else []
    np.testing.assert_allclose(seen.globals[2:], expected, rtol=1e-6)


@pytest.mark.parametrize(("budget", "expected"), [(1, -np.log(8)), (1 << 30, 0.0)])
def test_budgets_out_of_range_look_like_its_ends(budget, expected):
    arrays = to_arrays(TRIANGLE)
    state, _ = flip(arrays, reset(arrays, jnp.zeros(16, jnp.int8), budget), 0, 2)
    progress, horizon = observe_global(arrays, state, scaling="budget")[2:]
    np.testing.assert_allclose([progress, horizon], [min(2 / budget, 1), expected], rtol=1e-6)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_largest_peek_ignores_padding(scaling):
    graph = Graph.from_edges([(0, 1)], [6])
    arrays, state = start(graph, [0, 1])
    scale = 2 if scaling == "paper" else 6
    seen = observe_global(arrays, state, scaling=scaling)
    np.testing.assert_allclose(seen[:2], [0, -6 / scale])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int32, np.int64])
def test_reset_takes_labels_of_any_kind(dtype):
    arrays = to_arrays(TRIANGLE)
    labels = np.ones(16, dtype)  # padding too, which must not count
    labels[0] = 0
    state = reset(arrays, labels)
    assert state.labels.dtype == jnp.int8
    assert state.labels.tolist() == [0, 1, 1, 1] + [0] * 12
    assert float(state.cut) == 5


@pytest.mark.parametrize(("weights", "exact"), [("signed", True), ("floats", False)])
@pytest.mark.parametrize("blocks", ["one", "many"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_flips_follow_the_host(weights, exact, blocks, data):
    graph = data.draw(graphs(weights))
    width = {"one": N, "many": 8}[blocks]
    arrays = padded(to_arrays(graph), N, E, row_block=width, one_block=blocks == "one")
    labels, actions = draws(graph, data.draw(st.integers(0, 99)))
    check(graph, labels, actions, play(arrays, labels, actions), exact=exact)


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_flips_follow_the_host_when_batched(data):
    """Rows of different lengths share the turns of one loop."""
    pair = [data.draw(graphs("signed")) for _ in range(2)]
    batch = [padded(to_arrays(g), N, E, row_block=8, one_block=False) for g in pair]
    taken = [draws(g, data.draw(st.integers(0, 99)), 3) for g in pair]
    many = play_many(batch[0], *taken[0])
    both = play_graphs(
        stack(*batch),
        *(np.stack(x) for x in zip(*taken, strict=True)),
    )
    for i in range(3):
        check(pair[0], *(x[i] for x in taken[0]), pick(many, i), exact=True)
        for j in range(2):
            check(pair[j], *(x[i] for x in taken[j]), pick(both, (j, i)), exact=True)


def test_graphs_as_they_come_follow_the_host():
    """Without the padding of the tests above: row blocks and bucket sizes as `to_arrays` has it."""
    rng = np.random.default_rng(5)
    spokes = [(0, i) for i in range(1, 40)]
    rest = [(u, v) for u, v in rng.integers(1, 48, (60, 2)).tolist() if u < v]
    edges = sorted({*spokes, *rest})
    graph = Graph.from_edges(edges, rng.choice([-1, 1], len(edges)), num_vertices=48)
    arrays = to_arrays(graph)
    assert not arrays.one_block
    assert arrays.vertex_mask.shape == (48,)  # no padding: edges' padding joins a real vertex
    labels = rng.integers(0, 2, 48)
    actions = rng.integers(0, 48, 60)
    actions[::4], actions[1::8] = 0, 47
    check(graph, labels, actions, play(arrays, labels, actions), exact=True)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_padding_changes_nothing(scaling):
    rng = np.random.default_rng(1)
    graph = Graph.from_edges(np.argwhere(np.triu(rng.random((20, 20)) < 0.3, 1)))
    arrays = to_arrays(graph)
    larger = padded(arrays, 96, 480)
    labels, actions = rng.integers(0, 2, 96), rng.integers(0, 20, 30)
    plain = play(arrays, labels[:32], actions)
    among = play(larger, labels, actions)
    np.testing.assert_array_equal(plain.cuts, among.cuts)
    np.testing.assert_array_equal(plain.rewards, among.rewards)
    few = observe(arrays, plain.state, scaling=scaling)
    many = observe(larger, among.state, scaling=scaling)
    np.testing.assert_array_equal(few.vertex[:20], many.vertex[:20])
    np.testing.assert_array_equal(few.globals, many.globals)
    assert int(many.mask.sum()) == 20


@pytest.mark.parametrize(("factor", "rtol"), [(8, 0), (0.37, 1e-5)])
def test_scale_free_observations_and_rewards_have_no_unit(factor, rtol):
    rng = np.random.default_rng(2)
    edges = np.argwhere(np.triu(rng.random((24, 24)) < 0.3, 1))
    weights = rng.normal(size=len(edges))
    labels = rng.integers(0, 2, 32)

    def seen(weights):
        arrays, state = start(Graph.from_edges(edges, weights, num_vertices=24), labels[:24])
        state, rewards = flip(arrays, state, 3, 1, 4, 1, 5, 9, scaling="scale_free")
        return observe(arrays, state, scaling="scale_free"), np.array(rewards)

    (one, rewards), (other, other_rewards) = seen(weights), seen(factor * weights)
    assert rewards.any()
    np.testing.assert_allclose(one.vertex, other.vertex, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(one.globals, other.globals, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(rewards, other_rewards, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_graphs_without_edges_have_finite_observations(scaling):
    arrays, state = start(Graph.from_edges(np.zeros((0, 2), int), num_vertices=1))
    state, rewards = flip(arrays, state, 0, scaling=scaling)
    assert rewards == [0]
    seen = observe(arrays, state, scaling=scaling)
    assert np.isfinite(seen.vertex).all()
    assert np.isfinite(seen.globals).all()
    np.testing.assert_array_equal(seen.globals[:2], [0, 0])


LEAVES = 100_000


@pytest.fixture(scope="module")
def star():
    graph = Graph.from_edges([(0, i) for i in range(1, LEAVES + 1)])
    return graph, to_arrays(graph)


def test_hub_of_a_large_star(star):
    graph, arrays = star
    assert not arrays.one_block
    assert arrays.row_block < 100  # the leaves' steps must not pay for the hub
    labels = np.zeros((2, arrays.vertex_mask.shape[0]), np.int8)
    labels[1, 2] = 1
    played = play_many(arrays, labels, np.array([[0, 1], [2, 1]]))  # hub and leaf side by side
    for i, actions in enumerate([[0, 1], [2, 1]]):
        check(graph, labels[i], actions, pick(played, i), exact=True)


@pytest.mark.parametrize("depth", [1, 2])
def test_blocks_of_a_batch_copy_no_peeks(star, depth):
    """A loop whose bound is batched selects old or new peeks, [B, N], at each of 12500 turns."""
    _, arrays = star
    shape = (2, 3)[-depth:]
    many = step
    for _ in shape:
        many = jax.vmap(many, (None, 0, 0))
    n = arrays.vertex_mask.shape[0]
    state = jax.eval_shape(lambda: reset(arrays, jnp.zeros(n, jnp.int8)))
    state = jax.tree.map(lambda x: jax.ShapeDtypeStruct((*shape, *x.shape), x.dtype), state)
    actions = jax.ShapeDtypeStruct(shape, jnp.int32)
    text = jax.jit(many).lower(arrays, state, actions).compile().as_text()
    peeks = rf"f32\[{','.join(map(str, (*shape, n)))}\]"
    bodies = [reachable(text, name) for name in re.findall(r"body=%?([\w.\-]+)", text)]
    assert any(re.search(peeks, body) for body in bodies)  # the loop over blocks is among them
    for body in bodies:
        assert not re.search(rf"= {peeks}\S* (select|copy)\(", body)
