"""Tests of a chunk of steps against the rollout that it is made of."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ecord_jax.env import reset
from ecord_jax.env.maxcut import NEVER
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import encode, init_agent, initial_hidden
from ecord_jax.networks.config import EcordConfig
from ecord_jax.search.chunk import chunk_length, group_size, search_chunk, start_search
from ecord_jax.search.rollout import Carry, rollout
from ecord_jax.search.temperature import LEAST_SIZE, adapt

SIZE, TRAJECTORIES, STEPS = 12, 3, 8
TEMPERATURES = jnp.array([0.0, 0.05, 5.0])


def make_graph():
    rng = np.random.default_rng(0)
    pairs = [(i, j) for i in range(SIZE) for j in range(i) if rng.random() < 0.5]
    return Graph.from_edges(pairs, rng.integers(-3, 4, len(pairs)), num_vertices=SIZE)


GRAPH = make_graph()
ARRAYS = to_arrays(GRAPH)
CONFIG = EcordConfig(hidden=16, embedding=4, message=4, layers=1, value_width=4, advantage_width=4)
AGENT = init_agent(CONFIG, ARRAYS, jax.random.key(3))
EMBEDDINGS = encode(AGENT, ARRAYS)
chunk = jax.jit(search_chunk, static_argnames=("num_steps", "adapts"))


def go_on(search, last_step=10**6, num_steps=STEPS):
    return chunk(AGENT, ARRAYS, EMBEDDINGS, search, last_step, num_steps=num_steps)


def starts(seed=0):
    labels = np.zeros((TRAJECTORIES, ARRAYS.vertex_mask.shape[0]), np.int8)
    labels[:, :SIZE] = np.random.default_rng(seed).integers(0, 2, (TRAJECTORIES, SIZE))
    return labels


def cut(labels):
    return GRAPH.cut(np.asarray(labels)[:SIZE])


@jax.jit
@jax.vmap
def plain(carry, key, temperature):
    return rollout(AGENT, ARRAYS, carry, key, num_steps=STEPS, temperature=temperature)


def by_hand(labels, key, chunks):
    """The same trajectories by plain rollouts; labels after each step, exact cuts, and the end."""
    state = jax.vmap(lambda one: reset(ARRAYS, one))(jnp.asarray(labels))
    hidden = jnp.stack([initial_hidden(AGENT)] * TRAJECTORIES)
    carry, seen = Carry(state, hidden), [[row] for row in labels]
    for _ in range(chunks):
        key, chunk_key = jax.random.split(key)
        keys = jax.random.split(chunk_key, TRAJECTORIES)
        carry, record = plain(carry, keys, TEMPERATURES)
        for b, actions in enumerate(np.asarray(record.action)):
            for action in actions:
                after = seen[b][-1].copy()
                after[action] ^= 1
                seen[b].append(after)
    return seen, carry


@pytest.mark.parametrize("last_step", [3, 8, 13, 24])
def test_is_the_rollout_and_keeps_the_first_best_labels(last_step):
    labels, key = starts(), jax.random.key(7)
    search, found = start_search(AGENT, labels, TEMPERATURES, key), None
    for _ in range(3):
        search, found = go_on(search, last_step)
    seen, carry = by_hand(labels, key, 3)
    best = []
    for b, visited in enumerate(seen):
        cuts = [cut(one) for one in visited[: last_step + 1]]
        at = int(np.argmax(cuts))
        best.append(cuts[at])
        assert search.trajectories.best_cut[b] == cuts[at]
        assert search.trajectories.best_step[b] == at
        assert (search.trajectories.best_labels[b] == visited[at]).all()
        assert (search.trajectories.labels[b] == visited[-1]).all()
    np.testing.assert_array_equal(search.trajectories.last_flip, carry.state.last_flip)
    if last_step == 24:  # else later observations have another best cut
        np.testing.assert_allclose(search.trajectories.hidden, carry.hidden, atol=1e-5)
    assert search.step == 24
    assert found.cut == max(best) == cut(found.labels)
    assert found.step == search.trajectories.best_step[int(np.argmax(best))]


def test_trajectories_far_below_their_best_go_back_to_it_cooler():
    labels = starts()
    search = start_search(AGENT, labels, TEMPERATURES, jax.random.key(7))
    expected, went = np.asarray(TEMPERATURES), []
    for turn in range(20):
        before = jax.tree.map(np.asarray, search.trajectories)
        search, found = chunk(AGENT, ARRAYS, EMBEDDINGS, search, 10**6, num_steps=2, adapts=True)
        cuts, begun = np.asarray(found.cuts), before.labels
        if turn:
            gap = (before.best_cut - [cut(one) for one in begun]) / (
                float(ARRAYS.field_scale) * LEAST_SIZE
            )
            expected, melted = map(np.asarray, adapt(expected, gap, 2 / SIZE))
            begun = np.where(melted[:, None], before.best_labels, begun)
            went.append(melted)
        np.testing.assert_allclose(cuts[:, 0], [cut(one) for one in begun], atol=1e-4)
        np.testing.assert_allclose(search.trajectories.temperature, expected, rtol=1e-5)
    assert 0 < np.mean(went) < 1


def test_given_temperatures_stay():
    search, _ = go_on(start_search(AGENT, starts(), TEMPERATURES, jax.random.key(7)))
    np.testing.assert_array_equal(search.trajectories.temperature, TEMPERATURES)


def test_start_labels_count():
    best = max(
        (np.array([m >> i & 1 for i in range(SIZE)], np.int8) for m in range(2**SIZE)), key=cut
    )
    labels = starts()
    labels[1, :SIZE] = best
    search, found = go_on(start_search(AGENT, labels, TEMPERATURES, jax.random.key(0)))
    assert found.cut == cut(best) == cut(found.labels)
    assert found.step == 0
    assert (search.trajectories.best_labels[1, :SIZE] == best).all()


def test_start():
    search = start_search(AGENT, starts(), TEMPERATURES, jax.random.key(0))
    assert search.trajectories.hidden.shape == (TRAJECTORIES, CONFIG.hidden)
    assert not search.trajectories.hidden.any()
    assert (search.trajectories.last_flip == NEVER).all()
    assert search.step == 0
    assert (search.trajectories.best_cut == -np.inf).all()


def test_rounding_errors_do_not_grow():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=GRAPH.num_edges) * 1000 + 0.1
    graph = Graph.from_edges(GRAPH.edges, weights, num_vertices=SIZE)
    arrays = to_arrays(graph)
    search = start_search(AGENT, starts(), TEMPERATURES, jax.random.key(0))
    for _ in range(200):
        search, found = chunk(AGENT, arrays, EMBEDDINGS, search, 10**6, num_steps=STEPS)
    exact = graph.cut(np.asarray(found.labels)[:SIZE])
    np.testing.assert_allclose(found.cut, exact, rtol=2e-6)


def test_chunk_length():
    lengths = [
        chunk_length(20, n, backend) for backend in ("cpu", "gpu") for n in (16, 800, 10**4, 10**7)
    ]
    for length in lengths:
        assert 1 <= length <= 512
        assert length & (length - 1) == 0
    assert lengths[0] == 128
    assert lengths[3] == lengths[7] == 1
    assert lengths[:4] == sorted(lengths[:4], reverse=True)
    # A quarter of a second at most, but for the largest.
    assert lengths[2] * (1e-3 + 1.5e-8 * 20 * 10**4) <= 0.25
    assert lengths[6] > lengths[2]


def test_group_size():
    for backend in ("cpu", "gpu"):
        sizes = [group_size(20, n, backend) for n in (16, 2000, 10**4, 10**5, 10**7, 10**8)]
        assert sizes == sorted(sizes, reverse=True)
        assert all(20 % size == 0 for size in sizes)
        assert sizes[0] == 20
        assert sizes[-1] == 1
        assert sizes[3] == 20
        assert group_size(20, 4 * 10**6, backend) == 5
        assert group_size(19, 10**7, backend) == 1
    assert group_size(1, 16, "cpu") == 1
