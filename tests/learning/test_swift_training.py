"""Tests of the training of `swift`: what it draws, that it learns, that it goes on bit for bit."""

import dataclasses
import json

import numpy as np
import pytest

from ecord_jax.agents import load_agent
from ecord_jax.errors import AgentError, OptionError
from ecord_jax.learning import swift_trainer
from ecord_jax.learning.evolution import (
    EvolutionConfig,
    EvolutionState,
    final_cuts,
    first_state,
    generation,
    unpack,
)
from ecord_jax.learning.instances import KINDS, draw_instance
from ecord_jax.networks.swift import SwiftConfig, param_shapes

SMALL = EvolutionConfig(
    generations=4, population=8, elite=2, instances=11, vertices=(60, 90), factors=(2.0, 4.0)
)


@pytest.mark.parametrize("kind", KINDS)
def test_instances(kind):
    rng = np.random.default_rng(1)
    for _ in range(5):
        instance = draw_instance(kind, (100, 200), (3.0, 5.0), rng)
        size = instance.graph.num_vertices
        assert instance.graph.num_edges > 0
        assert size <= 201
        assert 3 * size - 1 <= instance.budget <= 5 * size + 1
    first, again = (draw_instance(kind, (50, 90), (1, 2), np.random.default_rng(2)) for _ in "ab")
    assert first.graph == again.graph
    assert first[2:] == again[2:]


def test_a_generation_is_reproducible():
    one, two = (generation(SMALL, first_state(SMALL)) for _ in range(2))
    np.testing.assert_array_equal(one[0].mean, two[0].mean)
    assert one[1] == two[1]
    assert one[0].done == 1
    assert (one[0].mean != first_state(SMALL).mean).all()
    other = generation(dataclasses.replace(SMALL, seed=1), first_state(SMALL))
    assert (other[0].mean != one[0].mean).any()


def test_it_learns_what_was_spoilt():
    """From a temperature far too high it finds a lower one, which gives better cuts."""
    config = dataclasses.replace(SMALL, generations=8, population=12, elite=3, spread=0.6)
    spoilt = first_state(config).mean
    spoilt[0] = 1.0
    state = EvolutionState(spoilt, np.full(len(spoilt), config.spread))
    for _ in range(config.generations):
        state, _ = generation(config, state)
    rng = np.random.default_rng(9)
    instances = [draw_instance(kind, (60, 90), (3.0, 4.0), rng) for kind in KINDS]
    before, after = final_cuts(np.stack([spoilt, state.mean]), config.network, instances)
    assert state.mean[0] < spoilt[0]
    assert (after >= before).mean() > 0.8


def test_parameters_of_a_vector():
    vector = first_state(SMALL).mean
    params = unpack(vector, SMALL.network)
    assert {name: value.shape for name, value in params.items()} == param_shapes(SMALL.network)
    np.testing.assert_allclose(np.concatenate(list(params.values())), vector, rtol=1e-6)


@pytest.fixture
def few_validations(monkeypatch):
    monkeypatch.setattr(swift_trainer, "_PER_KIND", 1)
    monkeypatch.setattr(swift_trainer, "_VERTICES", (60, 90))
    monkeypatch.setattr(swift_trainer, "_FACTORS", (2.0, 3.0))


def test_a_run_that_is_resumed_is_the_same(tmp_path, few_validations):
    whole = swift_trainer.train_swift(SMALL, tmp_path / "whole", validate_every=2, command="c")
    half = dataclasses.replace(SMALL, generations=2)
    swift_trainer.train_swift(half, tmp_path / "parts", validate_every=2)
    with pytest.raises(OptionError, match="holds a training run"):
        swift_trainer.train_swift(SMALL, tmp_path / "parts")
    parts = swift_trainer.train_swift(SMALL, tmp_path / "parts", resume=True, validate_every=2)
    for name, value in whole.params.items():
        np.testing.assert_array_equal(value, parts.params[name])
    found = load_agent(tmp_path / "whole" / "agent.safetensors")
    assert found.config == SwiftConfig()
    np.testing.assert_array_equal(found.params["curve"], whole.params["curve"])
    card = json.loads((tmp_path / "whole" / "agent.json").read_text())
    assert (card["network"], card["command"], card["seed"]) == ("swift", "c", 0)
    lines = (tmp_path / "whole" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["update"] for line in lines] == [1, 2, 3, 4]
    other = dataclasses.replace(SMALL, population=10)
    with pytest.raises(AgentError, match="another configuration"):
        swift_trainer.train_swift(other, tmp_path / "parts", resume=True)
    (tmp_path / "parts" / "checkpoint.npz").write_bytes(b"no")
    with pytest.raises(AgentError, match="not a checkpoint"):
        swift_trainer.train_swift(SMALL, tmp_path / "parts", resume=True)


def test_configurations_that_make_no_sense():
    with pytest.raises(OptionError, match="elite=9"):
        EvolutionConfig(elite=9, population=8)
    with pytest.raises(OptionError, match="generations=0"):
        EvolutionConfig(generations=0)
    with pytest.raises(OptionError, match="knots=5"):
        first_state(EvolutionConfig(network=SwiftConfig(knots=5)))
