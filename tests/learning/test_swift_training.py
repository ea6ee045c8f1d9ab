"""Tests of the training of `swift`: what it draws, that it learns, that it goes on bit for bit."""

import dataclasses
import json
import math

import numpy as np
import pytest

from ecord_jax.agents import load_agent
from ecord_jax.errors import AgentError, OptionError
from ecord_jax.learning import evolution, swift_trainer
from ecord_jax.learning.evolution import (
    INPUTS,
    EvolutionConfig,
    EvolutionState,
    final_cuts,
    first_state,
    generation,
    unpack,
)
from ecord_jax.learning.instances import KINDS, draw_instance
from ecord_jax.networks.swift import (
    SwiftConfig,
    param_shapes,
    swift_globals,
    swift_scores,
    swift_tables,
    time_places,
)
from ecord_jax.networks.traits import TRAITS, graph_params

SMALL = EvolutionConfig(
    generations=4, population=8, elite=3, instances=11, vertices=(60, 90), factors=(2.0, 4.0)
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
    moved = one[0].mean != first_state(SMALL).mean
    np.testing.assert_array_equal(moved, first_state(SMALL).spread > 0)
    other = generation(dataclasses.replace(SMALL, seed=1), first_state(SMALL))
    assert (other[0].mean != one[0].mean).any()


def test_candidates_leave_a_graph_as_it_was():
    """They share one that was made ready once, and so do the walks over it."""
    rng = np.random.default_rng(5)
    candidates = first_state(SMALL).mean * np.array([[1.0], [0.7]])
    for kind in ("sparse", "complete"):
        instances = [draw_instance(kind, (1600, 2400), (2.0, 3.0), rng) for _ in "ab"]
        both = final_cuts(candidates, SMALL.network, instances, walks=3)
        assert both.shape == (2, 2, 3)
        assert len(np.unique(both)) > 6
        for p, i, w in np.ndindex(both.shape):
            alone = instances[i]._replace(seed=instances[i].seed + w)
            (cut,) = final_cuts(candidates[p : p + 1], SMALL.network, [alone]).ravel()
            assert both[p, i, w] == cut


def test_every_kind_has_its_turn(monkeypatch):
    """Also where a generation has fewer graphs than there are kinds."""
    config, drawn = dataclasses.replace(SMALL, instances=4, population=2, elite=1), []

    def draw(kind, *others):
        drawn.append(kind)
        return draw_instance(kind, *others)

    monkeypatch.setattr(evolution, "draw_instance", draw)
    state = first_state(config)
    for _ in range(4):
        state, _ = generation(config, state)
    assert drawn == [*KINDS, KINDS[0]]


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
    np.testing.assert_allclose(
        np.concatenate([value.ravel() for value in params.values()]), vector, rtol=1e-6
    )
    gnn = SwiftConfig(encoder="gnn")
    params = unpack(np.arange(225), gnn)
    assert {name: value.shape for name, value in params.items()} == param_shapes(gnn)
    assert params["readout"].tolist() == np.arange(189, 225).reshape(9, 4).tolist()


def test_a_graph_network_begins_as_the_shipped_agent():
    gnn = SwiftConfig(encoder="gnn")
    config = dataclasses.replace(SMALL, network=gnn, start="swift", elite=3)
    state, shipped = first_state(config), load_agent("swift").params
    params = unpack(state.mean, config.network)
    assert not params.pop("readout").any()
    for name, value in params.items():
        np.testing.assert_array_equal(value, shipped[name])
    spreads = unpack(state.spread, config.network)
    np.testing.assert_allclose(spreads.pop("readout"), SMALL.spread / 3)
    assert not spreads.pop("long").any()  # there are no long walks
    for value in spreads.values():
        np.testing.assert_allclose(value, SMALL.spread)
    after, _ = generation(config, state)
    assert unpack(after.mean, config.network)["readout"].all()


def test_rows_that_are_not_trained_stay():
    config = dataclasses.replace(SMALL, traits=("degree", "ties"))
    before = first_state(config)
    moved = unpack(generation(config, before)[0].mean - before.mean, config.network)
    assert not moved.pop("long").any()  # there are no long walks
    for value in moved.values():
        assert value[1:3].all()
        assert not value[[0, *range(3, len(TRAITS))]].any()


@pytest.mark.parametrize("encoder", ["degree", "gnn"])
def test_parameters_that_are_not_trained_stay(encoder):
    config = dataclasses.replace(
        SMALL, network=SwiftConfig(encoder=encoder), params=("long", "bias"), factors=(1.0, 121.0)
    )
    before = first_state(config)
    moved = unpack(generation(config, before)[0].mean - before.mean, config.network)
    assert moved.pop("long").all()
    assert moved.pop("bias").all()
    assert not any(value.any() for value in moved.values())


def test_a_run_from_another_one_tells_both_commands(tmp_path, few_validations):
    short = dataclasses.replace(SMALL, generations=1, kinds=("sparse",))
    swift_trainer.train_swift(short, tmp_path / "one", command="first")
    start = str(tmp_path / "one" / "agent.safetensors")
    further = dataclasses.replace(short, start=start)
    swift_trainer.train_swift(further, tmp_path / "two", command="second")
    assert json.loads((tmp_path / "two" / "agent.json").read_text())["command"] == "first && second"


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("encoder", ["degree", "gnn"])
def test_what_is_left_out_is_not_seen(name, encoder):
    """Nor is it learned: after a generation the scores depend on all inputs but that one."""
    network = SwiftConfig(encoder=encoder)
    config = dataclasses.replace(SMALL, network=network, without=(name,), kinds=("sparse",))
    config = dataclasses.replace(config, instances=1, population=4, elite=1, factors=(121.0, 125.0))
    params = unpack(generation(config, first_state(config))[0].mean, network)
    seen = set()
    for other in INPUTS:
        for value in (0.4, 2.5):
            at = {other: value if other != "time" else int(2 * value)}
            if not np.allclose(_scores(params, network, **at), _scores(params, network)):
                seen.add(other)
    gone = {"degree", "crowding", "field"} if name == "degree" else {name}
    assert seen == INPUTS.keys() - gone


def _scores(params, network, **changes):
    at = {"progress": 0.1, "stagnation": 0.1, "horizon": 30.0, "degree": 3.0, "time": 3}
    at |= dict.fromkeys(TRAITS[2:], 0.1) | changes
    traits = [1.0, math.log(at["degree"]), *(at[name] for name in TRAITS[2:])]
    params = graph_params(params, np.array(traits))
    features = np.full((40, 9 if network.encoder == "gnn" else 1), math.log(at["degree"]))
    tables = swift_tables(params, network, features)
    shared = [np.float64(at[name]) for name in ("progress", "stagnation", "horizon")]
    globals_ = swift_globals(params, time_places(network, 40), *shared)
    return swift_scores(tables, globals_, np.linspace(-1, 1, 40), np.full(40, at["time"]))


@pytest.fixture
def few_validations(monkeypatch):
    monkeypatch.setattr(swift_trainer, "_GRAPHS", 1)


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
    for damaged in (b"no", b""):
        (tmp_path / "parts" / "checkpoint.npz").write_bytes(damaged)
        with pytest.raises(AgentError, match="not a checkpoint"):
            swift_trainer.train_swift(SMALL, tmp_path / "parts", resume=True)


def test_configurations_that_make_no_sense():
    with pytest.raises(OptionError, match="elite=9"):
        EvolutionConfig(elite=9, population=8)
    with pytest.raises(OptionError, match="generations=0"):
        EvolutionConfig(generations=0)
    with pytest.raises(OptionError, match="traits: there must be one"):
        EvolutionConfig(traits=())
    with pytest.raises(OptionError, match="nothing is left to train"):
        first_state(EvolutionConfig(traits=("ties",), without=("ties",)))
    with pytest.raises(OptionError, match="start=er40: is no agent of the kind"):
        first_state(EvolutionConfig(start="er40"))
    with pytest.raises(OptionError, match="'size' is none of base"):
        EvolutionConfig(traits=("size",))
    with pytest.raises(OptionError, match="'colour' is none of progress"):
        EvolutionConfig(without=("colour",))
    with pytest.raises(OptionError, match="'line' is none of sparse"):
        EvolutionConfig(kinds=("line",))
    with pytest.raises(OptionError, match="'speed' is none of temperature"):
        EvolutionConfig(params=("speed",))
    with pytest.raises(OptionError, match="params: there must be one"):
        EvolutionConfig(params=())
    with pytest.raises(OptionError, match="params=readout, traits=base.*nothing is left to train"):
        first_state(EvolutionConfig(params=("readout",)))
    with pytest.raises(OptionError, match=r"params=long, .*factors=\(4.0, 120.0\): nothing"):
        first_state(EvolutionConfig(params=("long",)))
    with pytest.raises(OptionError, match="kinds: there must be"):
        EvolutionConfig(kinds=())
    with pytest.raises(AgentError, match="no agent 'x'"):
        first_state(EvolutionConfig(start="x"))
    with pytest.raises(OptionError, match="knots=5"):
        first_state(EvolutionConfig(network=SwiftConfig(knots=5)))
