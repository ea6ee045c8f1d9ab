"""Every field of a training configuration has an effect, seen where it is cheapest to see."""

import dataclasses
import functools
import re
import tempfile
from pathlib import Path
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import struct

from ecord_jax.errors import OptionError
from ecord_jax.graphs.arrays import from_dense
from ecord_jax.graphs.generators import GraphDistribution
from ecord_jax.learning import trainer, validation
from ecord_jax.learning.config import TrainConfig
from ecord_jax.learning.loss import batch_loss
from ecord_jax.learning.replay import cut_window, make_buffer
from ecord_jax.learning.update import act, epsilon, init_train_state, optimiser, update
from ecord_jax.networks.agent import Agent
from ecord_jax.networks.config import EcordConfig

BASE = TrainConfig(
    network=EcordConfig(
        embedding=4, layers=1, hidden=8, message=4, value_width=4, advantage_width=4
    ),
    graphs=GraphDistribution("er", 8),
    num_graphs=2,
    update_every=4,
    batch_size=3,
    buffer_size=40,
    num_updates=10,
    bptt=2,
    validation_graphs=2,
    validation_trajectories=2,
)


def text(function, *args):
    """The program that JAX makes of a function, constants and all."""
    return re.sub(r"0x\w+", "", str(jax.make_jaxpr(function)(*args)))


@functools.cache
def state_of(config):
    return jax.eval_shape(lambda: init_train_state(config))


def shapes(config):
    return [(x.shape, str(x.dtype)) for x in jax.tree.leaves(state_of(config))]


def beginning(config):
    return text(lambda: init_train_state(config))


def acting(config):
    return text(functools.partial(act, config), state_of(config))


def updating(config):
    return text(functools.partial(update, config), state_of(config))


def losing(config):
    """The program of the loss alone."""
    state = state_of(config)

    def loss(agent, pool, replay):
        sequences = make_buffer(config).sample(replay, jax.random.key(0)).experience
        windows = jax.vmap(lambda w: cut_window(w, bptt=config.bptt))(sequences)
        return batch_loss(agent, agent, pool, windows, config=config)

    return text(loss, state.agent, state.pool, state.replay)


def exploring(config):
    return [float(epsilon(config, steps)) for steps in (0, 10, 1000, 10**6)]


def descending(config):
    """Adam's steps for a constant gradient: minus the learning rate of each."""
    adam = optimiser(config)
    state, steps = adam.init(jnp.zeros(())), []
    for _ in range(3):
        step, state = adam.update(jnp.ones(()), state)
        steps.append(round(-float(step), 7))
    return steps


def validating(config):
    """Shapes and lengths of the validation, with the playing left out."""
    seen, empty = [], from_dense(jnp.zeros((8, 8)), max_edges=16, row_block=8)

    def best_cuts(agent, graphs, key, temperatures, *, num_steps):
        seen.append((graphs.num_vertices.shape[0], len(temperatures), num_steps))
        return np.ones((graphs.num_vertices.shape[0], len(temperatures)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validation, "best_cuts", best_cuts)
        patch.setattr(validation, "sample_graph", lambda *args: empty)
        made = validation.make_validation(config)
        validation.score(config, Agent({}, config.network), made)
    return seen


@struct.dataclass
class Toy:
    """What the trainer needs of a training state if nothing happens to it."""

    agent: Agent


def training(config):
    """After which updates the trainer validates, with all else left out."""
    seen, run = [], trainer._Run(Toy(Agent({}, config.network)), best_params={})
    left_out = "Checkpoints MetricsLog describe_run make_validation plot_learning_curve _save_best"
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        for name in left_out.split():
            patch.setattr(trainer, name, mock.MagicMock())
        patch.setattr(trainer, "_start", lambda *args: run)
        patch.setattr(trainer, "update", lambda config, state: (state, {}))
        patch.setattr(trainer, "_validate", lambda config, run, *rest: seen.append(run.updates))
        trainer.train(config, Path(folder))
    return seen


def keeping(config):
    """Which parameters the trainer validates and keeps."""
    agent = Agent({"w": jnp.zeros(())}, config.network)
    state = mock.MagicMock(agent=agent, target_params={"w": jnp.ones(())})
    run = trainer._Run(state, best_params={})
    with pytest.MonkeyPatch.context() as patch:
        judge = lambda config, agent, validation: validation_score(agent)  # noqa: E731
        patch.setattr(trainer, "score", judge)
        trainer._validate(config, run, None, mock.MagicMock())
    return [float(run.best_params["w"]), run.best.mean]


def validation_score(agent):
    return validation.Score(1.0, float(agent.params["w"]))


# What each field is set to, and where that is seen.
CHANGES = {
    "network": (dataclasses.replace(BASE.network, hidden=9), shapes),
    "graphs": (GraphDistribution("er", 8, signs="positive"), acting),
    "num_updates": (8, descending),
    "num_graphs": (4, shapes),
    "update_every": (8, acting),
    "batch_size": (4, updating),
    "buffer_size": (80, shapes),
    "episode_factor": (4, acting),
    "most_rounds": (3, acting),
    "continued": (0.5, acting),
    "learning_rate": (2e-3, descending),
    "final_learning_rate": (1e-4, descending),
    "soft_update": (0.02, updating),
    "bptt": (1, losing),
    "n_step": (2, losing),
    "discount": (0.8, losing),
    "epsilon_start": (0.9, exploring),
    "epsilon_end": (0.1, exploring),
    "epsilon_steps": (2000, exploring),
    "algorithm": ("dqn", losing),
    "temperature": (0.02, losing),
    "munchausen": (0.8, losing),
    "munchausen_clip": (-2.0, losing),
    "size_baseline": (True, losing),
    "loss": ("squared", losing),
    "loss_steps": ("all", losing),
    "averaged": (True, keeping),
    "validate_every": (3, training),
    "validation_graphs": (3, validating),
    "validation_trajectories": (3, validating),
    "validation_factor": (3, validating),
    "seed": (1, beginning),
}


@functools.cache
def seen_of(look, config):
    return look(config)


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(TrainConfig)])
def test_every_field_has_an_effect(field):
    value, look = CHANGES[field]
    # A schedule that ends shows where it ends.
    base = dataclasses.replace(BASE, final_learning_rate=5e-4) if field == "num_updates" else BASE
    other = dataclasses.replace(base, **{field: value})
    assert seen_of(look, base) != seen_of(look, other)


@pytest.mark.parametrize("look", [acting, losing])
def test_the_same_configuration_is_the_same_program(look):
    """Or else the test above would see a change in anything."""
    assert look(BASE) == seen_of(look, BASE)


@pytest.mark.parametrize("field", ["temperature", "algorithm"])
def test_acting_follows_the_temperature_too(field):
    other = dataclasses.replace(BASE, **{field: CHANGES[field][0]})
    assert seen_of(acting, BASE) != seen_of(acting, other)


def test_the_last_update_is_validated_too():
    assert training(dataclasses.replace(BASE, validate_every=4)) == [4, 8, 10]


def test_exploration_decays_linearly_over_environment_steps():
    assert exploring(TrainConfig())[0] == 1
    found = [float(epsilon(TrainConfig(), s)) for s in (0, 1250, 2500, 5000, 40_000)]
    np.testing.assert_allclose(found, [1, 0.7625, 0.525, 0.05, 0.05], rtol=1e-6)
    none = dataclasses.replace(BASE, epsilon_start=0.0, epsilon_end=0.0, epsilon_steps=0)
    assert exploring(none) == [0] * 4


def test_learning_rate_follows_a_cosine():
    assert descending(BASE) == [1e-3] * 3
    config = dataclasses.replace(BASE, num_updates=2, final_learning_rate=2e-4)
    np.testing.assert_allclose(descending(config), [1e-3, 6e-4, 2e-4], rtol=1e-4)


def test_defaults_are_the_papers():
    config = TrainConfig()
    assert (config.batch_size, config.update_every, config.buffer_size) == (64, 8, 40_000)
    assert (config.learning_rate, config.soft_update, config.bptt) == (1e-3, 0.01, 5)
    assert (config.discount, config.munchausen, config.munchausen_clip) == (0.7, 0.9, -1)
    assert (config.temperature, config.episode_length, config.n_step) == (0.01, 80, 1)
    assert config.num_updates * config.update_every == 40_000
    assert (config.continued, config.size_baseline) == (0, False)


def test_lengths_by_hand():
    config = dataclasses.replace(BASE, buffer_size=60)  # 30 steps of each trajectory, 28 kept
    assert (config.episode_length, config.window, config.steps_kept) == (16, 3, 28)
    # 28 kept steps touch up to two episodes of 16 and the one that runs.
    assert config.pool_slots == 3


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("algorithm", "sac"),
        ("loss", "l1"),
        ("loss_steps", "first"),
        ("n_step", 0),
        ("bptt", -1),
        ("continued", 1.5),
        ("most_rounds", 0),
        ("update_every", 5),  # 16 steps of an episode
        ("buffer_size", 4),
        ("batch_size", 0),
        ("network", dataclasses.replace(BASE.network, rnn="none")),
    ],
)
def test_configurations_that_make_no_sense_are_refused(field, value):
    name = "bptt" if field == "network" else field
    with pytest.raises(OptionError, match=name):
        dataclasses.replace(BASE, **{field: value})
