"""Tests of what an agent's configuration does, and of what may not change its Q-values."""

import dataclasses
import functools
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ecord_jax.env import observe, reset
from ecord_jax.errors import AgentError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import (
    Agent,
    encode,
    init_agent,
    initial_hidden,
    q_values,
    remember,
    scaling,
)
from ecord_jax.networks.config import EcordConfig
from ecord_jax.search.rollout import Carry, rollout
from ecord_jax.search.temperature import ladder
from tests.helpers import padded, quick_jit, random_agent, stack

N = 12
BASE = EcordConfig(
    embedding=4, layers=2, hidden=16, message=8, value_width=8, advantage_width=8, scaling="paper"
)
FREE = dataclasses.replace(BASE, scaling="scale_free", rnn="none")

# What each field is set to, to see a change.
CHANGES = {
    "scaling": "scale_free",
    "gnn": "zero",
    "rnn": "zero",
    "embedding": 5,
    "layers": 1,
    "share_layers": False,
    "hidden": 15,
    "message": 7,
    "value_width": 7,
    "advantage_width": 7,
    "hidden_projection": "mlp",
    "stop_gradient": False,
    "temperatures": (0.1, 0.2),
}


@functools.cache
def graph(seed=0):
    rng = np.random.default_rng(seed)
    edges = np.argwhere(np.triu(rng.random((N - 1, N - 1)) < 0.4, 1))
    return Graph.from_edges(edges, rng.choice([-1, 1, 2], len(edges)), num_vertices=N)


def labels_of(size, seed=0):
    labels = np.zeros(size, np.int8)
    labels[:N] = np.random.default_rng(seed).integers(0, 2, N)
    return labels


ACTIONS = np.array([3, 1, 4, 1])


def play(agent, arrays, labels, actions=ACTIONS):
    """Q-values [T, N] before each of a few flips."""
    carry = Carry(reset(arrays, labels), initial_hidden(agent))
    return rollout(
        agent,
        arrays,
        carry,
        jax.random.key(0),
        num_steps=len(actions),
        actions=jnp.asarray(actions),
        record=lambda _, q, action: q,
    )[1].extra


@functools.cache
def played(config):
    """Q-values and the gradient of their squares."""
    arrays = to_arrays(graph())
    labels = labels_of(16)

    def squares(agent):
        q = play(agent, arrays, labels)
        return jnp.sum(q[:, :N] ** 2), q[:, :N]

    gradient = jax.value_and_grad(squares, has_aux=True)
    (_, q), slopes = quick_jit(gradient)(random_agent(config, arrays))
    return np.asarray(q), jax.tree.map(np.asarray, slopes.params["params"])


def shapes(config):
    agent = jax.eval_shape(lambda: init_agent(config, to_arrays(graph()), jax.random.key(0)))
    return {jax.tree_util.keystr(k): v.shape for k, v in jax.tree_util.tree_leaves_with_path(agent)}


def differs(config, other):
    """What tells the two apart: the cheapest to see."""
    if shapes(config) != shapes(other):
        return "shapes"
    if ladder("auto", 3, config).tolist() != ladder("auto", 3, other).tolist():
        return "temperatures"
    (q, slopes), (other_q, other_slopes) = played(config), played(other)
    if np.abs(q - other_q).max() > 1e-3:
        return "q"
    pairs = zip(jax.tree.leaves(slopes), jax.tree.leaves(other_slopes), strict=True)
    return "gradient" if max(np.abs(x - y).max() for x, y in pairs) > 1e-3 else "nothing"


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(EcordConfig)])
def test_every_field_has_an_effect(field):
    seen = {"layers": "q", "stop_gradient": "gradient", "temperatures": "temperatures"}
    other = dataclasses.replace(BASE, **{field: CHANGES[field]})
    assert differs(BASE, other) == seen.get(field, "shapes")


@pytest.mark.parametrize(
    "config",
    [
        BASE,
        dataclasses.replace(BASE, hidden_projection="mlp", share_layers=False),
        dataclasses.replace(FREE, hidden_projection="mlp"),
    ],
)
def test_every_parameter_is_learned(config):
    _, slopes = played(config)
    for path, slope in jax.tree_util.tree_leaves_with_path(slopes):
        assert np.abs(slope).max() > 1e-6, jax.tree_util.keystr(path)


def one_q(agent, arrays, hidden=None, labels=None):
    """Q-values of one state, without compiling anew for each."""
    labels = labels_of(arrays.vertex_mask.shape[0]) if labels is None else labels
    seen = observe(arrays, reset(arrays, labels), scaling=scaling(agent))
    return q_values(agent, encode(agent, arrays), seen, hidden)


quick_q = quick_jit(one_q)


def test_rnn_zero_ignores_the_hidden_state_and_gru_does_not():
    arrays = to_arrays(graph())
    for rnn, change in (("gru", True), ("zero", False)):
        agent = random_agent(dataclasses.replace(BASE, rnn=rnn), arrays)
        q, other = (quick_q(agent, arrays, np.full(16, x, np.float32)) for x in (0, 1))
        assert (np.abs(q - other)[:N].max() > 1e-3) == change
        assert initial_hidden(agent).shape == ((16,) if change else (0,))


@pytest.mark.parametrize("projection", ["linear", "mlp"])
@pytest.mark.parametrize("head", ["value", "advantage"])
def test_without_rnn_both_heads_see_the_global_observations(projection, head):
    arrays = to_arrays(graph())
    agent = random_agent(dataclasses.replace(FREE, hidden_projection=projection), arrays)
    seen = observe(arrays, reset(arrays, labels_of(16)), scaling="scale_free")

    @quick_jit
    def look(globals_):
        changed = dataclasses.replace(seen, globals=globals_)
        q = q_values(agent, encode(agent, arrays), changed, jnp.zeros(0))[:N]
        return q.mean() if head == "value" else q - q.mean()

    q, gap, peek = (look(jnp.array(x)) for x in ([0.0, 1.0], [-1.0, 1.0], [0.0, 2.0]))
    assert np.abs(q - gap).max() > 1e-4
    assert np.abs(q - peek).max() > 1e-4


def test_gnn_zero_tells_vertices_apart_by_observation_only():
    arrays = to_arrays(graph())
    blind = random_agent(dataclasses.replace(BASE, gnn="zero"), arrays)
    assert not np.asarray(encode(blind, arrays).vertex).any()
    twins = to_arrays(Graph.from_edges([(0, 1), (2, 3), (3, 4)], [2, 1, 1]))  # peeks 2 of 0 and 3
    for config, same in ((blind.config, True), (BASE, False)):
        agent = random_agent(config, twins)
        q = quick_q(agent, twins, initial_hidden(agent), np.zeros(16, np.int8))
        assert (abs(q[0] - q[3]) < 1e-6) == same


@pytest.mark.parametrize("stop", [True, False])
def test_gradient_stops_at_the_flipped_vertex(stop):
    arrays = to_arrays(graph())
    agent = random_agent(dataclasses.replace(BASE, stop_gradient=stop), arrays)
    seen = observe(arrays, reset(arrays, labels_of(16)))

    def remembered(params):
        one = agent.replace(params=params)
        made, start = encode(one, arrays), initial_hidden(one)
        hidden = remember(one, made, 3, seen.vertex[3], seen.globals, start)
        return jnp.sum(hidden**2)

    slopes = quick_jit(jax.grad(remembered))(agent.params)["params"]
    flows = {name: any(np.any(x) for x in jax.tree.leaves(part)) for name, part in slopes.items()}
    assert flows["gru"]
    assert flows["message"]
    assert flows["encoder"] == flows["embed_observation"] == (not stop)


@pytest.mark.parametrize("config", [BASE, FREE])
def test_permuting_vertices_permutes_embeddings_and_q_values(config):
    arrays = to_arrays(graph())
    agent = random_agent(config, arrays)
    to = np.random.default_rng(1).permutation(N)
    ends = np.sort(to[graph().edges], axis=1)
    other = to_arrays(Graph.from_edges(ends, graph().weights, num_vertices=N))
    labels, moved = labels_of(16), np.zeros(16, np.int8)
    moved[to] = labels[:N]
    seen = quick_jit(lambda a: encode(agent, a).vertex)
    vertex, other_vertex = seen(arrays), seen(other)
    np.testing.assert_allclose(other_vertex[to], vertex[:N], atol=1e-5)
    assert np.asarray(vertex[:N]).std(axis=0).min() > 1e-3
    run = quick_jit(play)
    q = run(agent, arrays, labels, ACTIONS)
    other_q = run(agent, other, moved, to[ACTIONS])
    np.testing.assert_allclose(other_q[:, to], q[:, :N], atol=1e-5)


@pytest.mark.parametrize("config", [BASE, FREE])
def test_padding_and_batching_change_nothing(config):
    """Graphs of 12 and 2 vertices as they come, and as one batch."""
    graphs = [graph(), Graph.from_edges([(0, 1)], [3])]
    agent = random_agent(config, to_arrays(graphs[0]))
    batch = [padded(to_arrays(g), 48, 96, row_block=8, one_block=False) for g in graphs]
    actions = [ACTIONS % g.num_vertices for g in graphs]
    labels = np.stack([labels_of(48, i) for i in range(2)])
    together = quick_jit(jax.vmap(play, (None, 0, 0, 0)))(
        agent, stack(*batch), labels, np.stack(actions)
    )
    run = quick_jit(play)
    for i, one in enumerate(graphs):
        n = one.num_vertices
        q = run(agent, to_arrays(one), labels[i, :16], actions[i])
        np.testing.assert_allclose(together[i, :, :n], q[:, :n], atol=1e-5)
        assert (np.asarray(together[i, :, n:]) == -np.inf).all()


def test_scale_free_q_values_have_no_unit():
    agent = random_agent(FREE, to_arrays(graph()))
    larger = Graph.from_edges(graph().edges, graph().weights * 1000.0, num_vertices=N)
    q, other = (quick_q(agent, to_arrays(g), jnp.zeros(0)) for g in (graph(), larger))
    np.testing.assert_allclose(q[:N], other[:N], atol=1e-5)


def test_graphs_without_edges_have_finite_q_values():
    arrays = to_arrays(Graph.from_edges(np.zeros((0, 2), int), num_vertices=3))
    for config in (BASE, FREE):
        agent = random_agent(config, arrays)
        q = quick_q(agent, arrays, initial_hidden(agent), np.zeros(16, np.int8))
        assert np.isfinite(q[:3]).all()


def test_an_agent_is_parameters_and_a_static_configuration():
    arrays = to_arrays(graph())
    start = quick_jit(lambda key: init_agent(FREE, arrays, key))
    one, same, other = (start(jax.random.key(i)) for i in (0, 0, 1))
    assert isinstance(one, Agent)
    assert one.config == FREE
    assert all(isinstance(x, jax.Array) for x in jax.tree.leaves(one))
    kernels = [x.params["params"]["value"]["Dense_0"]["kernel"] for x in (one, same, other)]
    np.testing.assert_array_equal(kernels[0], kernels[1])
    assert np.abs(kernels[0] - kernels[2]).min() > 0
    hash(jax.tree.structure(one))  # so that it can be an argument of a jitted function


def test_configurations_survive_json():
    config = dataclasses.replace(FREE, temperatures=(0.01, 0.1))
    written = json.loads(json.dumps(dataclasses.asdict(config)))
    assert EcordConfig.from_dict(written) == config


@pytest.mark.parametrize(
    "values",
    [
        {"rnn": "lstm"},
        {"gnn": "off"},
        {"scaling": "free"},
        {"hidden_projection": "none"},
        {"hidden": 0},
        {"temperatures": (0.2, 0.1)},
        {"temperatures": (-1, 0)},
        {"depth": 3},
    ],
)
def test_configurations_that_make_no_sense_are_refused(values):
    with pytest.raises(AgentError, match=next(iter(values))):
        EcordConfig.from_dict(values)
