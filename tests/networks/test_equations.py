"""The networks against the equations of SM B, written out vertex by vertex in plain numpy."""

import functools

import jax
import numpy as np
import pytest

from ecord_jax.env import observe, observe_global, reset, step
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import encode, q_values, remember
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.layers import GRUCell
from tests.helpers import quick_jit, random_agent

VERTICES = 14
SMALL = {"embedding": 4, "layers": 3, "hidden": 12, "message": 6, "value_width": 8}
CONFIGS = {
    "paper": EcordConfig(),
    "published": EcordConfig(**SMALL, hidden_projection="mlp", stop_gradient=False),
    "layers": EcordConfig(**SMALL, share_layers=False),
    "free": EcordConfig(**SMALL, scaling="scale_free", rnn="none"),
    "free mlp": EcordConfig(**SMALL, scaling="scale_free", rnn="none", hidden_projection="mlp"),
    "rnn zero": EcordConfig(**SMALL, rnn="zero"),
    "gnn zero": EcordConfig(**SMALL, gnn="zero"),
}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def leaky_relu(x):
    return np.where(x > 0, x, 0.01 * x)


def dense(p, x):
    return np.asarray(x, float) @ p["kernel"] + p.get("bias", 0)


def layer_norm(p, x):
    return (x - x.mean()) / np.sqrt(x.var() + 1e-6) * p["scale"] + p["bias"]


def gru(p, state, x):
    """Columns of the kernels: reset, update and new gate."""
    r_x, z_x, n_x = np.split(dense(p["input"], x), 3)
    r_h, z_h, n_h = np.split(dense(p["state"], state), 3)
    z = sigmoid(z_x + z_h)
    return (1 - z) * np.tanh(n_x + sigmoid(r_x + r_h) * n_h) + z * state


def neighbours(graph, i):
    """Pairs of neighbour and weight."""
    pairs = zip(graph.edges.tolist(), graph.weights.tolist(), strict=True)
    return [(u + v - i, w) for (u, v), w in pairs if i in (u, v)]


def vertex_input(graph, i, scaling):
    if scaling == "paper":
        return [1.0]
    scale = np.sqrt(2 * (graph.weights.astype(float) ** 2).sum() / graph.num_vertices)
    weights = np.array([w for _, w in neighbours(graph, i)])
    size = np.sqrt((weights**2).sum()) / scale
    return [1.0, size, weights.sum() / np.abs(weights).sum() if len(weights) else 0.0]


def embeddings(config, p, graph):
    """x_i of every vertex."""
    if config.gnn == "zero":
        return np.zeros((graph.num_vertices, config.embedding))
    unit = 1.0
    if config.scaling == "scale_free":
        unit = np.sqrt((graph.weights.astype(float) ** 2).mean())
    n = range(graph.num_vertices)
    x = [dense(p["embed"], vertex_input(graph, i, config.scaling)) for i in n]
    for layer in range(config.layers):
        part = p[f"round_{0 if config.share_layers else layer}"]
        after = []
        for i in n:
            sent = [w / unit * dense(part["message"], x[j]) for j, w in neighbours(graph, i)]
            mean = np.sum(sent, axis=0) / len(sent) if sent else np.zeros(config.embedding)
            after.append(layer_norm(part["norm"], gru(part["gru"], x[i], mean)))
        x = after
    return np.array([dense(p["project"], x_i) for x_i in x])


def memory(config, hidden, seen):
    match config.rnn:
        case "gru":
            return hidden
        case "zero":
            return np.zeros(config.hidden)
        case _:
            return seen.globals


def projection(config, p, h):
    """W_h h, or the published code's layers."""
    if config.hidden_projection == "linear":
        return dense(p["Dense_0"], h)
    inner = leaky_relu(layer_norm(p["LayerNorm_0"], dense(p["Dense_0"], np.tanh(h))))
    return leaky_relu(layer_norm(p["LayerNorm_1"], dense(p["Dense_1"], inner)))


def q_by_hand(config, p, x, seen, hidden):
    h = np.asarray(memory(config, hidden, seen), float)
    value = dense(p["value"]["Dense_1"], leaky_relu(dense(p["value"]["Dense_0"], np.tanh(h))))[0]
    projected = projection(config, p["project_hidden"], h)
    # One matrix for [x_i, W_o o_i, W_h h], of which the network keeps three parts.
    parts = ["advantage_vertex", "advantage_observation", "advantage_hidden"]
    if config.gnn == "zero":
        p = {**p, parts[0]: {"kernel": np.zeros((config.embedding, config.advantage_width))}}
    first = {
        "kernel": np.concatenate([p[part]["kernel"] for part in parts]),
        "bias": p["advantage_hidden"]["bias"],
    }
    q = []
    for i, x_i in enumerate(x):
        v_i = np.concatenate([x_i, dense(p["embed_observation"], seen.vertex[i])])
        inner = dense(first, np.concatenate([v_i, projected]))
        inner = leaky_relu(layer_norm(p["advantage_norm"], inner))
        q.append(value + dense(p["advantage_out"], inner)[0])
    return np.array(q)


def remember_by_hand(config, p, x, seen, action, next_globals, hidden):
    if config.rnn != "gru":
        return hidden
    flipped = [x[action], dense(p["embed_observation"], seen.vertex[action]), next_globals]
    return gru(p["gru"], hidden, leaky_relu(dense(p["message"], np.concatenate(flipped))))


@functools.cache
def setting(name):
    """A graph with a hub, a vertex of its own and weights of both signs; an agent of any weights;
    and what it sees before and after a flip of vertex 2 late in a trajectory."""
    config = CONFIGS[name]
    rng = np.random.default_rng(8)
    edges = np.argwhere(np.triu(rng.random((VERTICES - 1, VERTICES - 1)) < 0.3, 1)).tolist()
    edges = sorted({*map(tuple, edges), *((0, i) for i in range(1, VERTICES - 2))})
    weights = rng.choice([-2.0, -1.0, 1.0, 0.5], len(edges))
    graph = Graph.from_edges(edges, weights, num_vertices=VERTICES)
    arrays = to_arrays(graph)
    state = reset(arrays, rng.integers(0, 2, arrays.vertex_mask.shape[0]))
    one_step = quick_jit(functools.partial(step, scaling=config.scaling))
    for action in (1, 4, 1, 9):
        state, _ = one_step(arrays, state, action)
    seen = observe(arrays, state, scaling=config.scaling)
    after, _ = one_step(arrays, state, 2)
    next_globals = observe_global(arrays, after, scaling=config.scaling)
    width = config.hidden if config.rnn == "gru" else 0
    hidden = rng.normal(size=width).astype(np.float32)
    agent = random_agent(config, arrays)
    params = jax.tree.map(lambda x: np.asarray(x, float), agent.params["params"])
    return graph, arrays, agent, params, jax.tree.map(np.asarray, seen), next_globals, hidden


@pytest.mark.parametrize("name", CONFIGS)
def test_networks_are_their_equations(name):
    config = CONFIGS[name]
    graph, arrays, agent, params, seen, next_globals, hidden = setting(name)

    @quick_jit
    def network(agent, hidden):
        made = encode(agent, arrays)
        q = q_values(agent, made, seen, hidden)
        return made.vertex, q, remember(agent, made, 2, seen.vertex[2], next_globals, hidden)

    vertex, q, after = network(agent, hidden)
    x = embeddings(config, params.get("encoder"), graph)
    np.testing.assert_allclose(vertex[:VERTICES], x, atol=1e-5, rtol=1e-5)
    expected = q_by_hand(config, params, x, seen, hidden)
    assert expected.std() > 0.05
    np.testing.assert_allclose(q[:VERTICES], expected, atol=1e-5, rtol=1e-5)
    assert (np.asarray(q[VERTICES:]) == -np.inf).all()
    expected = remember_by_hand(config, params, x, seen, 2, next_globals, hidden)
    np.testing.assert_allclose(after, expected, atol=1e-5, rtol=1e-5)


def test_shapes_are_those_of_the_paper():
    _, _, _, params, *_ = setting("paper")
    assert params["encoder"]["round_0"]["message"]["kernel"].shape == (16, 16)  # W_g
    assert list(params["encoder"]) == ["embed", "project", "round_0"]
    assert params["encoder"]["project"]["kernel"].shape == (16, 16)  # W_p
    assert params["embed_observation"]["kernel"].shape == (3, 16)  # W_o
    assert params["project_hidden"]["Dense_0"]["kernel"].shape == (1024, 32)  # W_h
    assert params["message"]["kernel"].shape == (34, 64)  # W_m
    assert params["gru"]["state"]["kernel"].shape == (1024, 3 * 1024)
    rows = [params[f"advantage_{x}"]["kernel"].shape for x in ("vertex", "observation", "hidden")]
    assert rows == [(16, 64), (16, 64), (32, 64)]


def test_recurrent_kernels_begin_orthogonal():
    start = quick_jit(GRUCell(6).init)(jax.random.key(0), np.zeros(6), np.zeros(2))
    for gate in np.split(start["params"]["state"]["kernel"], 3, axis=1):
        np.testing.assert_allclose(gate.T @ gate, np.eye(6), atol=1e-5)
