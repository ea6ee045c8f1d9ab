"""The incremental step: against the plain network fed the same stale vector, on device and host."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

import ecord_jax as ej
from ecord_jax.agents import load_agent
from ecord_jax.env import Observation, observe, reset, step
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph, models
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import factor, initial_hidden, q_values
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.fast import BLOCK
from ecord_jax.search import incremental, incremental_host, incremental_walk
from ecord_jax.search.incremental import incremental_rollout
from ecord_jax.search.incremental_host import _rows, can_walk, start_walk, survey
from ecord_jax.search.rollout import Carry, rollout
from ecord_jax.search.temperature import adapt
from tests.helpers import quick_jit, random_agent

SIZE, K, T = 150, 12, 96
TEMPERATURE = 0.3
SMALL = {"embedding": 4, "layers": 2, "hidden": 12, "message": 6, "value_width": 8}
CONFIGS = {
    "paper gru": EcordConfig(**SMALL),
    "paper zero": EcordConfig(**SMALL, rnn="zero"),
    "paper none": EcordConfig(**SMALL, rnn="none"),
    "free": EcordConfig(**SMALL, rnn="none", scaling="scale_free"),
    "budget": EcordConfig(**SMALL, rnn="none", scaling="budget"),
    "long": EcordConfig(**SMALL, rnn="none", scaling="long"),
    "one time": EcordConfig(**SMALL, rnn="none", scaling="one_time"),
    "free mlp": EcordConfig(
        **SMALL, rnn="none", scaling="scale_free", hidden_projection="mlp", gnn="zero"
    ),
}
HOST = [name for name, config in CONFIGS.items() if can_walk(config)]


@functools.cache
def setting(name):
    """Signed float weights, a hub, an agent of any parameters, start labels."""
    rng = np.random.default_rng(1)
    edges = models.erdos_renyi(SIZE, 0.04, seed=2).edges
    hub = np.stack([np.zeros(40, np.int64), np.arange(1, 41)], axis=1)
    edges = np.unique(np.concatenate([edges, hub]), axis=0)
    graph = Graph.from_edges(edges, rng.normal(size=len(edges)), num_vertices=SIZE)
    arrays = to_arrays(graph, min_row_block=64)
    agent = load_agent(name) if name == "mixture" else random_agent(CONFIGS[name], arrays)
    return graph, arrays, agent, rng.integers(0, 2, SIZE).astype(np.int8)


def start(arrays, agent, labels):
    padded = jnp.pad(jnp.asarray(labels), (0, arrays.vertex_mask.shape[0] - SIZE))
    return Carry(reset(arrays, padded, T), initial_hidden(agent))


@functools.partial(quick_jit, static_argnames=("num_steps", "every"))
def run(agent, arrays, carry, actions=None, *, num_steps, every, temperature=TEMPERATURE):
    return incremental_rollout(
        agent,
        arrays,
        carry,
        jax.random.key(3),
        num_steps=num_steps,
        refresh_every=every,
        embeddings=factor(agent, arrays),
        temperature=temperature,
        actions=actions,
    )


def plain_walk(agent, arrays, carry, actions):
    """The observation after each of some flips, that before the first one first."""

    def body(state, action):
        after, _ = step(arrays, state, action, scaling=agent.config.scaling)
        return after, observe(arrays, after, scaling=agent.config.scaling)

    first = observe(arrays, carry.state, scaling=agent.config.scaling)
    rest = jax.lax.scan(body, carry.state, actions)[1]
    return jax.tree.map(lambda x, y: jnp.concatenate([x[None], y]), first, rest)


def stale(agent, arrays, seen, actions):
    """The last observation, with the globals of the last refresh and the times that each vertex had
    when it was last looked at."""
    rows, senders = np.asarray(arrays.row_start), np.asarray(arrays.graph.senders)
    actions = np.asarray(actions)
    many = incremental.recent_flips(agent.config.scaling)
    for t, action in enumerate(actions):
        if t % K == 0:
            vector, times = seen.globals[t], np.stack([x[t] for x in seen.features[2:]])
        near = senders[rows[action] : rows[action + 1]]
        touched = np.concatenate([[action], near, actions[max(t + 1 - many, 0) : t + 1]])
        touched = touched.astype(int)
        for now, feature in zip(times, seen.features[2:], strict=True):
            now[touched] = np.asarray(feature[t + 1])[touched]
    features = [x[-1] for x in seen.features[:2]]
    return Observation((*features, *jnp.asarray(times)), vector, seen.mask[0])


@pytest.mark.parametrize("name", [*CONFIGS, "mixture"])
def test_scores_are_the_plain_ones_of_what_was_seen(name):
    _, arrays, agent, labels = setting(name)
    carry = start(arrays, agent, labels)
    _, record, scores = run(agent, arrays, carry, num_steps=T, every=K)
    seen = quick_jit(plain_walk)(agent, arrays, carry, record.action)
    hidden = carry.hidden
    if hidden.size:
        before = T - K
        hidden = replay(agent, arrays, carry, record.action[:before], before).hidden
    late = stale(agent, arrays, seen, record.action)
    made = quick_jit(factor)(agent, arrays)
    expected = np.asarray(quick_jit(q_values)(agent, made, late, hidden))[:SIZE]
    assert np.ptp(expected) > 0.05
    np.testing.assert_allclose(scores[:SIZE], expected, atol=1e-4)
    assert (np.asarray(scores[SIZE:]) == -np.inf).all()


@functools.partial(quick_jit, static_argnums=4)
def replay(agent, arrays, carry, actions, num_steps):
    return rollout(agent, arrays, carry, jax.random.key(0), num_steps=num_steps, actions=actions)[0]


@pytest.mark.parametrize("name", HOST)
def test_the_host_scores_as_the_device_does(name):
    """After every kind of step: at a refresh, just after one, and just before the next."""
    graph, arrays, agent, labels = setting(name)
    carry = start(arrays, agent, labels)
    walk = start_walk(survey(agent, graph, K), labels, TEMPERATURE, np.random.default_rng(0))
    walk.advance(T, T)
    # The last draw was made by scores of before it.
    _, record, _ = run(agent, arrays, carry, jnp.asarray(walk.actions), num_steps=T, every=K)
    np.testing.assert_allclose(walk.cuts[1:], record.cut, atol=1e-3)
    actions = [*walk.actions]
    for _ in range(2):
        walk.advance(1, T)
        actions.append(int(walk.actions[0]))
    seen = quick_jit(plain_walk)(agent, arrays, carry, jnp.asarray(actions[:-1]))
    late = stale(agent, arrays, seen, actions[:-1])
    made = quick_jit(factor)(agent, arrays)
    expected = np.asarray(quick_jit(q_values)(agent, made, late, carry.hidden))[:SIZE]
    np.testing.assert_allclose(walk.scores, expected, atol=1e-4)


def test_the_host_sees_the_budget():
    graph, _, agent, labels = setting("budget")
    ground = survey(agent, graph, K)
    scores = []
    for budget in (T, T, 20 * SIZE):
        walk = start_walk(ground, labels, TEMPERATURE, np.random.default_rng(0))
        walk.advance(1, budget)
        scores.append(walk.scores.copy())
    np.testing.assert_array_equal(scores[0], scores[1])
    assert np.abs(scores[2] - scores[0]).max() > 0.01
    walk = start_walk(ground, labels, TEMPERATURE, np.random.default_rng(0))
    walk.advance(1, T, 19 * T)
    assert walk.state.shared[incremental_walk.SEEN_PROGRESS] == 0.95
    assert np.abs(walk.scores - scores[0]).max() > 0.01


def test_a_row_of_the_static_table_is_contiguous():
    """Of several blocks too: where its numbers lie apart, scoring takes ten times as long."""
    blocks = np.arange(2 * 3 * (BLOCK + 16), dtype=np.float32).reshape(2, 3, -1)
    rows = _rows(blocks)
    assert rows.flags.c_contiguous
    np.testing.assert_array_equal(rows[[5, BLOCK + 7]], [blocks[0, :, 5], blocks[1, :, 7]])


def test_a_refresh_of_every_step_is_the_plain_rollout():
    _, arrays, agent, labels = setting("free mlp")
    carry, key = start(arrays, agent, labels), jax.random.key(1)
    greedy = quick_jit(lambda a, g, c: rollout(a, g, c, key, num_steps=40)[1].action)
    actions = run(agent, arrays, carry, num_steps=40, every=1, temperature=0.0)[1].action
    np.testing.assert_array_equal(actions, greedy(agent, arrays, carry))


@pytest.mark.parametrize("temperature", [0.0, 0.02, 0.5, 50.0])
def test_draws_of_the_host_follow_the_softmax(temperature):
    """On scores as they stand, by even draws; 150 vertices make a tree of three levels."""
    graph, _, agent, labels = setting("free")
    walk = start_walk(survey(agent, graph, K), labels, temperature, np.random.default_rng(2))
    walk.advance(K + 3, 0)
    tree = walk.state
    many = 20_000
    drawn = [_draw((i + 0.5) / many, tree) for i in range(many)]
    q = walk.scores.astype(float)
    expected = scipy.special.softmax(q / max(temperature, 1e-12))
    np.testing.assert_allclose(np.bincount(drawn, minlength=SIZE) / many, expected, atol=2e-3)


def _draw(draw, tree):
    return incremental_walk._draw(draw, tree.tops, tree.sums, tree.offsets, tree.shared)


def test_the_host_walks_on_whatever_the_size():
    """One vertex, no edges, and more vertices than a level of the tree has."""
    for size in (1, 2, 17, 300):
        graph = Graph.from_edges(np.zeros((0, 2), int), [], num_vertices=size)
        agent = setting("free")[2]
        walk = start_walk(survey(agent, graph, 3), np.zeros(size), 0.1, np.random.default_rng(0))
        walk.advance(20, 20)
        assert walk.step == 20
        assert walk.best_cut == 0


def test_the_best_labels_have_the_best_cut():
    graph, _, agent, labels = setting("mixture")
    walk = start_walk(survey(agent, graph, K), labels, 0.01, np.random.default_rng(3))
    for _ in range(5):
        walk.advance(200, 0)
        assert graph.cut(walk.best_labels) == pytest.approx(walk.best_cut, abs=1e-3)
        assert graph.cut(walk.labels) == pytest.approx(walk.cuts[-1], abs=1e-3)
    assert walk.best_cut > 1.5 * graph.cut(labels)


def test_a_walk_far_below_its_best_goes_back_to_it_cooler(monkeypatch):
    monkeypatch.setattr(incremental_host, "_LEAST_FLIPS", K + 1)
    graph, arrays, agent, labels = setting("free")
    unit, temperature, went = 20 * SIZE * float(arrays.field_scale), 0.3, []
    walk = start_walk(survey(agent, graph, K), labels, 0.3, np.random.default_rng(3), unit)
    for turn in range(20):
        best, reached = walk.best_labels, walk.labels.copy()
        before = walk.best_cut, graph.cut(walk.labels)
        walk.advance(1000, 0)
        assert walk.step == (turn + 1) * 2 * K  # a multiple of K
        begun = reached
        if turn:
            warmth, melted = adapt(temperature, (before[0] - before[1]) / unit, 2 * K / SIZE)
            temperature, begun = float(warmth), best if melted else reached
            went.append(bool(melted))
        assert 1 / walk.state.shared[incremental_walk.COLDNESS] == pytest.approx(temperature)
        assert walk.cuts[0] == pytest.approx(graph.cut(begun), abs=1e-3)
        flips = np.bincount(walk.actions, minlength=SIZE) & 1
        np.testing.assert_array_equal(walk.labels, begun ^ flips)
        assert graph.cut(walk.best_labels) == pytest.approx(walk.best_cut, abs=1e-3)
    assert 0 < np.mean(went) < 1


def test_slices_do_not_matter_to_a_walk_that_adapts():
    graph, arrays, agent, labels = setting("free")
    unit, ends = SIZE * float(arrays.field_scale), []
    for slices in ([2000], [100, 1, 399, 700, 2000]):
        walk = start_walk(survey(agent, graph, K), labels, 0.3, np.random.default_rng(3), unit)
        for goal in np.cumsum(slices):
            while walk.step < min(goal, 2000):
                walk.advance(min(int(goal), 2000) - walk.step, 0)
        ends.append((walk.labels.tolist(), walk.best_cut))
    assert ends[0] == ends[1]


def test_the_host_leaves_given_temperatures():
    graph, _, agent, labels = setting("free")
    for temperature in (0.0, 0.3):
        walk = start_walk(survey(agent, graph, K), labels, temperature, np.random.default_rng(3))
        before = walk.state.shared[incremental_walk.COLDNESS]
        walk.advance(10 * K, 0)
        assert walk.step == 10 * K
        assert walk.state.shared[incremental_walk.COLDNESS] == before


def test_solve_goes_by_refresh_every():
    graph, _, agent, _ = setting("mixture")
    cuts = {}
    for every in (1, 7, "auto"):
        result = ej.solve(
            graph,
            agent=agent,
            refresh_every=every,
            num_steps=400,
            trajectories=3,
            presolve=False,
            move="ecord",
            key=jax.random.key(0),
        )
        assert result.cut == graph.cut(result.labels)
        assert result.steps == 400
        cuts[every] = result.cut
    # 150 vertices: "auto" looks at all of them in every step.
    assert cuts["auto"] == cuts[1]
    assert min(cuts.values()) > 0.97 * max(cuts.values())


def test_solve_takes_late_looks_with_an_rnn():
    graph, _, agent, _ = setting("paper gru")
    result = ej.solve(
        graph, agent=agent, refresh_every=8, num_steps=64, trajectories=2, key=jax.random.key(0)
    )
    assert result.cut == graph.cut(result.labels)


@pytest.mark.parametrize("every", [0, -1, 1.5, "often", True, None])
def test_bad_refreshes(every):
    graph, _, agent, _ = setting("mixture")
    with pytest.raises(OptionError, match="refresh_every"):
        ej.solve(graph, agent=agent, refresh_every=every, num_steps=4, key=jax.random.key(0))


def test_bad_rollouts():
    _, arrays, agent, labels = setting("free")
    carry = start(arrays, agent, labels)
    with pytest.raises(OptionError, match="must divide"):
        run(agent, arrays, carry, num_steps=10, every=4)
    with pytest.raises(OptionError, match="row_block"):
        run(agent, to_arrays(setting("free")[0]), carry, num_steps=8, every=4)
