"""The loss against the equations: a plain loop over stored steps, with networks of its own."""

import dataclasses
import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ecord_jax.env import State
from ecord_jax.env.maxcut import NEVER
from ecord_jax.graphs.arrays import from_dense
from ecord_jax.graphs.generators import GraphDistribution
from ecord_jax.learning.config import TrainConfig
from ecord_jax.learning.loss import Terms, batch_loss, munchausen_terms, returns
from ecord_jax.learning.replay import Transition, cut_window
from ecord_jax.networks.config import EcordConfig
from ecord_jax.search.rollout import Carry
from tests.helpers import pick, quick_jit, random_agent, stack

N, HIDDEN, EPISODES = 5, 16, 3
CONFIG = TrainConfig(
    network=EcordConfig(
        embedding=4, layers=2, hidden=HIDDEN, message=6, value_width=8, advantage_width=8
    ),
    graphs=GraphDistribution("er", N),
    num_graphs=2,
    update_every=5,
    bptt=3,
    temperature=0.1,
    munchausen_clip=-0.2,
)
LENGTH = CONFIG.episode_length


class Stored(NamedTuple):
    """One step of an episode, as the plain environment below has it; before the flip, but for
    `reward` and `next_globals`."""

    episode: int
    step: int
    labels: np.ndarray
    last_flip: np.ndarray
    peeks: np.ndarray
    cut: float
    best_cut: float
    best_step: int
    action: int
    reward: float
    next_globals: np.ndarray
    hidden: np.ndarray

    @property
    def globals(self):
        return np.array([self.cut - self.best_cut, self.peeks.max()]) / N

    @property
    def vertex(self):
        since = [self.step - (t if t > 0 else 0) for t in self.last_flip]
        return np.stack([self.labels, self.peeks / N, np.minimum(since, 40) / 40], axis=1)


def cut_of(matrix, labels):
    return sum(matrix[i, j] for i in range(N) for j in range(i) if labels[i] != labels[j])


def flip(labels, i):
    return np.where(np.arange(N) == i, 1 - labels, labels)


def peeks_of(matrix, labels):
    return np.array([cut_of(matrix, flip(labels, i)) for i in range(N)]) - cut_of(matrix, labels)


@functools.cache
def graphs():
    """One matrix of weights an episode."""
    rng = np.random.default_rng(0)
    upper = np.triu(rng.choice([-1.0, 0, 1, 2], (EPISODES, N, N)), 1)
    return upper + upper.transpose(0, 2, 1)


@functools.cache
def stored():
    """Episodes one after the other, as a trajectory leaves them in the replay; hidden states are
    any, as those of earlier parameters would be."""
    rng = np.random.default_rng(1)
    steps = []
    for episode, matrix in enumerate(graphs()):
        labels, flipped = rng.integers(0, 2, N), np.full(N, NEVER)
        best, best_step = cut_of(matrix, labels), 0
        for t in range(LENGTH):
            cut, action = cut_of(matrix, labels), int(rng.integers(N))
            after_labels = flip(labels, action)
            after = cut_of(matrix, after_labels)
            next_best, next_peeks = max(after, best), peeks_of(matrix, after_labels)
            step = Stored(
                episode=episode,
                step=t,
                labels=labels,
                last_flip=flipped,
                peeks=peeks_of(matrix, labels),
                cut=cut,
                best_cut=best,
                best_step=best_step,
                action=action,
                reward=(next_best - best) / N,
                next_globals=np.array([after - next_best, next_peeks.max()]) / N,
                hidden=rng.normal(size=HIDDEN),
            )
            steps.append(step)
            labels = after_labels
            flipped = np.where(np.arange(N) == action, t + 1, flipped)
            best, best_step = next_best, t + 1 if after > best else best_step
    return steps


# The networks of SM B with a dense matrix of weights.


def dense(p, x):
    return x @ p["kernel"] + p.get("bias", 0.0)


def layer_norm(p, x):
    x = x - x.mean(-1, keepdims=True)
    return x / jnp.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * p["scale"] + p["bias"]


def leaky_relu(x):
    return jnp.maximum(x, 0.01 * x)


def gru(p, state, x):
    r_x, z_x, n_x = jnp.split(dense(p["input"], x), 3, -1)
    r_h, z_h, n_h = jnp.split(dense(p["state"], state), 3, -1)
    z = jax.nn.sigmoid(z_x + z_h)
    return (1 - z) * jnp.tanh(n_x + jax.nn.sigmoid(r_x + r_h) * n_h) + z * state


@jax.jit
def embed(p, matrix):
    p = p["encoder"]
    degree = (matrix != 0).sum(1)[:, None]
    x = jnp.tile(dense(p["embed"], jnp.ones(1)), (N, 1))
    for _ in range(2):
        part = p["round_0"]
        mean = matrix @ dense(part["message"], x) / jnp.maximum(degree, 1)
        x = layer_norm(part["norm"], gru(part["gru"], x, mean))
    return dense(p["project"], x)


@jax.jit
def q_of(p, x, vertex, h):
    value = dense(p["value"]["Dense_1"], leaky_relu(dense(p["value"]["Dense_0"], jnp.tanh(h))))
    first = (
        dense(p["advantage_vertex"], x)
        + dense(p["advantage_observation"], dense(p["embed_observation"], vertex))
        + dense(p["advantage_hidden"], dense(p["project_hidden"]["Dense_0"], h))
    )
    inner = leaky_relu(layer_norm(p["advantage_norm"], first))
    return value + dense(p["advantage_out"], inner)[:, 0]


@jax.jit
def next_hidden(p, x_i, vertex_i, next_globals, h):
    flipped = jnp.concatenate([x_i, dense(p["embed_observation"], vertex_i)])
    message = jnp.concatenate([jax.lax.stop_gradient(flipped), next_globals])
    return gru(p["gru"], h, leaky_relu(dense(p["message"], message)))


def q_along(params, first, last):
    """Q-values before each of the stored steps first..last, replayed from the first one's hidden
    state. A plain loop."""
    p, steps = params["params"], stored()
    x = embed(p, graphs()[steps[first].episode])
    h, q = jnp.asarray(steps[first].hidden, jnp.float32), []
    for s in steps[first : last + 1]:
        q.append(q_of(p, x, s.vertex, h))
        h = next_hidden(p, x[s.action], s.vertex[s.action], s.next_globals, h)
    return q


def target_of(config, q, at):
    """The regression target of stored step `at`, from the target network's Q-values of the steps
    by their place in the replay."""
    steps, target = stored(), 0.0
    tau = config.temperature

    def log_policy(t):
        return q[t] - q[t].max() - tau * math.log(np.exp((q[t] - q[t].max()) / tau).sum())

    for i in range(config.n_step + 1):
        t = at + i
        if t >= len(steps) or steps[t].episode != steps[at].episode:
            break  # the episode is over
        if i == config.n_step:
            if config.algorithm == "dqn":
                value = q[t].max()
            else:
                policy = np.exp(log_policy(t) / tau)
                value = (policy * (q[t] - log_policy(t))).sum()
                value -= tau * math.log(N) if config.size_baseline else 0
            target += config.discount**i * value
        else:
            gained = steps[t].reward
            if config.algorithm == "mdqn":
                clipped = max(log_policy(t)[steps[t].action], config.munchausen_clip)
                gained += config.munchausen * clipped
                if i > 0:  # the entropy of a state inside the return
                    gained -= clipped
                    gained -= tau * math.log(N) if config.size_baseline else 0
            target += config.discount**i * gained
    return target


def loss_by_hand(config, at, params, target_params):
    """Algorithm 1 for stored step `at`."""
    steps = stored()
    start = at - min(steps[at].step, config.bptt)
    q = q_along(params, start, at)
    until = min(at + config.n_step, LENGTH * (steps[at].episode + 1) - 1)
    judged = [np.asarray(x, float) for x in q_along(target_params, start, until)]
    judged = dict(enumerate(judged, start))
    losses = []
    for t in [at] if config.loss_steps == "last" else range(start, at + 1):
        error = q[t - start][steps[t].action] - target_of(config, judged, t)
        if config.loss == "squared":
            losses.append(error**2)
        else:
            huge = jnp.abs(error) > 1
            losses.append(jnp.where(huge, jnp.abs(error) - 0.5, 0.5 * error**2))
    return sum(losses) / len(losses)


def transition(s: Stored) -> Transition:
    state = State(
        labels=jnp.asarray(s.labels, jnp.int8),
        peeks=jnp.asarray(s.peeks, jnp.float32),
        last_flip=jnp.asarray(s.last_flip, jnp.int32),
        step=jnp.asarray(s.step, jnp.int32),
        budget=jnp.asarray(LENGTH, jnp.int32),
        cut=jnp.asarray(s.cut, jnp.float32),
        best_cut=jnp.asarray(s.best_cut, jnp.float32),
        best_step=jnp.asarray(s.best_step, jnp.int32),
    )
    carry = Carry(state, jnp.asarray(s.hidden, jnp.float32))
    return Transition(jnp.asarray(s.episode, jnp.int32), carry, jnp.asarray(s.action, jnp.int32))


@functools.cache
def sequence():
    return stack(*map(transition, stored()))


@functools.cache
def pool():
    graph = functools.partial(from_dense, max_edges=32, row_block=8)
    return quick_jit(jax.vmap(graph))(jnp.asarray(graphs(), jnp.float32))


@functools.cache
def agents():
    agent, target = (random_agent(CONFIG.network, pick(pool(), 0), seed) for seed in (0, 1))
    return agent, target


# Places of the steps that are learned from: inside an episode; at the beginning of one, where less
# than k_BPTT can be replayed and earlier steps of the window belong to the one before; at its end.
PLACES = {
    "inside": 6,
    "first": LENGTH,
    "second": LENGTH + 1,
    "third": 2 * LENGTH + 2,
    "fourth": LENGTH + 3,
    "last": LENGTH - 1,
    "last but one": 2 * LENGTH - 2,
}
CONFIGS = {
    "the paper's": CONFIG,
    "three steps": dataclasses.replace(
        CONFIG, n_step=3, loss_steps="all", loss="squared", size_baseline=True, discount=0.9
    ),
    "dqn": dataclasses.replace(CONFIG, n_step=3, algorithm="dqn"),
}


def windows(config):
    """What the replay would sample around each place: leaves [places, W]."""
    starts = [at - config.bptt for at in PLACES.values()]
    return stack(*(pick(sequence(), slice(i, i + config.window)) for i in starts))


@functools.cache
def found(name):
    """Loss and gradient of each place by the library."""
    config = CONFIGS[name]
    agent, target = agents()

    def one(params, window, pool):
        window = cut_window(window, bptt=config.bptt)
        batch = jax.tree.map(lambda x: x[None], window)
        return batch_loss(agent.replace(params=params), target, pool, batch, config=config)

    gradients = jax.vmap(jax.value_and_grad(one, has_aux=True), (None, 0, None))
    (loss, metrics), slopes = quick_jit(gradients)(agent.params, windows(config), pool())
    return loss, metrics, slopes


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("place", PLACES)
def test_loss_and_gradient_are_those_of_a_plain_loop(name, place):
    agent, target = agents()
    by_hand = jax.value_and_grad(functools.partial(loss_by_hand, CONFIGS[name], PLACES[place]))
    expected, expected_slopes = by_hand(agent.params, target.params)
    index = [*PLACES].index(place)
    loss, _, slopes = pick(found(name), index)
    assert expected > 1e-6
    np.testing.assert_allclose(loss, expected, rtol=1e-4)
    pairs = zip(
        jax.tree_util.tree_leaves_with_path(slopes), jax.tree.leaves(expected_slopes), strict=True
    )
    for (path, slope), expected_slope in pairs:
        tolerance = 1e-5 + 1e-4 * np.abs(expected_slope).max()
        np.testing.assert_allclose(
            slope, expected_slope, atol=tolerance, err_msg=jax.tree_util.keystr(path)
        )


def test_gradient_flows_through_the_replayed_steps():
    """What the comparison above would not tell: the GRU is learned from k' > 0 steps only."""
    slopes = found("the paper's")[2]["params"]["gru"]["state"]["kernel"]
    sizes = dict(zip(PLACES, np.abs(slopes).max(axis=(1, 2)), strict=True))
    assert sizes["first"] == 0
    assert min(size for place, size in sizes.items() if place != "first") > 1e-4


def test_metrics_are_of_the_step_learned_from():
    agent, target = agents()
    _, metrics, _ = found("three steps")
    for index, at in enumerate(PLACES.values()):
        start = at - min(stored()[at].step, CONFIG.bptt)
        q = q_along(agent.params, start, at)[-1][stored()[at].action]
        np.testing.assert_allclose(metrics["q"][index], q, rtol=1e-4, atol=1e-5)


def test_a_batch_is_the_mean_of_its_windows():
    config, (agent, target) = CONFIG, agents()
    cut = jax.vmap(functools.partial(cut_window, bptt=config.bptt))
    loss, metrics = quick_jit(
        lambda windows, pool: batch_loss(agent, target, pool, cut(windows), config=config)
    )(windows(config), pool())
    each, each_metrics, _ = found("the paper's")
    np.testing.assert_allclose(loss, each.mean(), rtol=1e-5)
    np.testing.assert_allclose(metrics["target"], each_metrics["target"].mean(), rtol=1e-5)


def terms(q, action, **fields):
    fields = {"temperature": 0.5, "munchausen_clip": -1.0, **fields}
    config = dataclasses.replace(CONFIG, **fields)
    return [
        float(x)
        for x in munchausen_terms(jnp.array(q), action, config=config, num_vertices=jnp.array(2))
    ]


def test_munchausen_terms_by_hand():
    """Two vertices with Q / tau = 0 and ln 3: policy 1/4, 3/4; logsumexp ln 4."""
    q = [0.0, 0.5 * math.log(3)]
    soft = 0.5 * math.log(4)
    for action, policy in enumerate((1 / 4, 3 / 4)):
        log_policy = 0.5 * math.log(policy)
        expected = [0.9 * log_policy, -log_policy, soft]
        assert terms(q, action) == pytest.approx(expected, rel=1e-5)
    # The soft value is the mean of Q - tau ln pi.
    mean = 3 / 4 * (q[1] - 0.5 * math.log(3 / 4)) + 1 / 4 * (0 - 0.5 * math.log(1 / 4))
    assert soft == pytest.approx(mean)
    # tau ln pi(0) = -0.69 is clipped before alpha is applied.
    assert terms(q, 0, munchausen_clip=-0.5)[:2] == pytest.approx([0.9 * -0.5, 0.5])
    assert terms(q, 0, munchausen=0.0)[0] == 0
    # The entropy of two equal vertices, tau ln 2, counts as nothing.
    assert terms([0.3, 0.3], 0, size_baseline=True)[1:] == pytest.approx([0, 0.3], abs=1e-6)
    uncounted = 0.5 * math.log(2)
    assert terms([0.3, 0.3], 0)[1:] == pytest.approx([uncounted, 0.3 + uncounted])


def test_plain_dqn_has_no_terms_by_hand():
    found = terms([0.1, 0.4, 0.2], 0, algorithm="dqn", size_baseline=True)
    assert found == pytest.approx([0, 0, 0.4])


def test_munchausen_terms_ignore_padding_and_stay_finite():
    with_padding = terms([0.0, 0.2, -np.inf], 1)
    assert with_padding == pytest.approx(terms([0.0, 0.2], 1))
    assert terms([0.0, 100.0], 0, temperature=1e-3) == pytest.approx([-0.9, 1, 100])


def returns_of(alive, n_step):
    """Rewards 1, 2, 4, ..; bonuses -.1, -.2, ..; entropies .01, .02, ..; values 10, 20, .. and
    discount 1/2."""
    size = len(alive)
    config = dataclasses.replace(CONFIG, discount=0.5, n_step=n_step)
    reward, bonus = 2.0 ** jnp.arange(size), -0.1 * jnp.arange(1, size + 1)
    value = 10.0 * jnp.arange(1, size + 1)
    terms = Terms(bonus, -0.1 * bonus, value)
    return returns(reward, terms, jnp.array(alive), config=config).tolist()


def test_returns_by_hand():
    assert returns_of([True] * 4, 1) == pytest.approx([0.9 + 10, 1.8 + 15, 3.7 + 20])
    assert returns_of([True] * 4, 3) == pytest.approx([0.9 + 1.82 / 2 + 3.73 / 4 + 40 / 8])


def test_returns_end_with_the_episode_by_hand():
    # The episode's last step is the second: its state is the last that counts.
    assert returns_of([True, True, False, False], 1) == pytest.approx([0.9 + 10, 1.8, 0])
    assert returns_of([True, True, False, False], 2) == pytest.approx([0.9 + 1.82 / 2, 1.8])
    assert returns_of([True, False, False, False], 3) == pytest.approx([0.9])
