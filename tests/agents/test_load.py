"""Tests of agents on disk: what is saved comes back, and what is broken is refused in a line."""

import dataclasses
import json
import pathlib
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.numpy

from ecord_jax import agents
from ecord_jax.agents import full_name, load_agent, save_agent, shipped_agents
from ecord_jax.env import observe, reset
from ecord_jax.errors import AgentError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import Agent, encode, init_agent, initial_hidden, q_values
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.softmax import SoftmaxConfig
from ecord_jax.networks.swift import SwiftConfig
from ecord_jax.search.swift import start_walk, survey

GRAPH = Graph.from_edges([(0, 1), (1, 2), (2, 3)], [1, -2, 3])
ARRAYS = to_arrays(GRAPH)
CONFIG = EcordConfig(hidden=8, embedding=4, message=4, layers=1, value_width=4, advantage_width=4)
AGENT = init_agent(CONFIG, ARRAYS, jax.random.key(0))
NAME = "params/value/Dense_0/kernel"


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "some.safetensors"
    save_agent(AGENT, path, {"seed": 3, "command": "train it"})
    return path


def rewrite(path, change):
    """Changes the parameters of a saved agent."""
    params = safetensors.numpy.load_file(path)
    change(params)
    safetensors.numpy.save_file(params, path)


def values(agent):
    state = reset(ARRAYS, jnp.zeros(16, jnp.int8))
    observation = observe(ARRAYS, state, scaling=agent.config.scaling)
    return q_values(agent, encode(agent, ARRAYS), observation, initial_hidden(agent))


def test_names_tell_agents_of_a_path_apart(saved):
    before = full_name(str(saved))
    path, _, checksum = before.rpartition("@")
    assert (path, len(checksum)) == (str(saved), 8)
    assert full_name(str(saved)) == before
    card = saved.with_suffix(".json")
    text = card.read_text()
    card.write_text(text.replace('"share_layers": true', '"share_layers": false'))
    assert full_name(str(saved)) != before
    card.write_text(text)
    rewrite(saved, lambda params: params.update({NAME: params[NAME] + 1}))
    assert full_name(str(saved)) != before
    assert full_name("er40") == "er40"
    with pytest.raises(AgentError, match=r"no.safetensors: No such file"):
        full_name("no.safetensors")


@pytest.mark.parametrize("as_text", [True, False])
def test_comes_back(saved, as_text):
    agent = load_agent(str(saved) if as_text else saved)
    assert agent.config == CONFIG
    assert jax.tree.structure(agent) == jax.tree.structure(AGENT)
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(agent))
    jax.tree.map(np.testing.assert_array_equal, agent.params, AGENT.params)
    np.testing.assert_array_equal(values(agent), values(AGENT))


@pytest.mark.parametrize(
    "changes",
    [
        {"rnn": "none", "scaling": "scale_free", "temperatures": (0.01, 0.5)},
        {"gnn": "zero", "hidden_projection": "mlp"},
        {"share_layers": False, "layers": 2},
    ],
)
def test_any_architecture_comes_back(tmp_path, changes):
    config = dataclasses.replace(CONFIG, **changes)
    agent = init_agent(config, ARRAYS, jax.random.key(1))
    save_agent(agent, tmp_path / "a.safetensors", {})
    loaded = load_agent(tmp_path / "a.safetensors")
    assert loaded.config == config
    jax.tree.map(np.testing.assert_array_equal, loaded.params, agent.params)


def test_files(saved):
    assert sorted(path.name for path in saved.parent.iterdir()) == ["some.json", saved.name]
    names = safetensors.numpy.load_file(saved).keys()
    assert NAME in names
    assert len(names) == len(jax.tree.leaves(AGENT.params))
    card = json.loads(saved.with_suffix(".json").read_text())
    assert (card["seed"], card["command"]) == (3, "train it")
    assert EcordConfig.from_dict(card["config"]) == CONFIG
    assert list(card["config"]) == [field.name for field in dataclasses.fields(EcordConfig)]


def test_saving_again_replaces(saved):
    other = AGENT.replace(params=jax.tree.map(lambda x: x + 1, AGENT.params))
    save_agent(other, saved, {})
    jax.tree.map(np.testing.assert_array_equal, load_agent(saved).params, other.params)


def test_a_failed_save_leaves_the_old_agent(saved, monkeypatch):
    def fail(params, path):
        pathlib.Path(path).write_bytes(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(safetensors.numpy, "save_file", fail)
    with pytest.raises(OSError, match="No space left"):
        save_agent(AGENT, saved, {})
    load_agent(saved)
    assert len(list(saved.parent.iterdir())) == 2


def test_saving_what_cannot_be_saved(tmp_path):
    with pytest.raises(AgentError, match="has no parameters"):
        save_agent(Agent({}, SoftmaxConfig()), tmp_path / "a.safetensors", {})
    with pytest.raises(AgentError, match=r"ends with \.safetensors"):
        save_agent(AGENT, tmp_path / "a.npz", {})
    assert not list(tmp_path.iterdir())


def test_shipped_agents_load():
    names = shipped_agents()
    assert "softmax" in names
    assert names == sorted(names)
    for name in names:
        agent = load_agent(name)
        if isinstance(agent.config, SwiftConfig):
            walk = start_walk(survey(agent, GRAPH), np.zeros(4, np.int8), np.random.default_rng(0))
            walk.advance(20, 20)
            assert walk.best_cut > 0
        else:
            assert jnp.isfinite(values(agent)[:4]).all(), name
    folder = pathlib.Path(agents.__file__).parent
    assert {path.stem for path in folder.glob("*.safetensors")} == set(names) - {"softmax"}
    assert {path.stem for path in folder.glob("*.json")} == set(names) - {"softmax"}


def test_shipped_agents_are_found_by_name(saved, monkeypatch):
    monkeypatch.setattr(agents.importlib.resources, "files", lambda _: saved.parent)
    assert shipped_agents() == ["softmax", "some"]
    assert load_agent("some").config == CONFIG


def test_a_swift_agent_comes_back(tmp_path):
    path, agent = tmp_path / "a.safetensors", load_agent("swift")
    save_agent(agent, path, {"seed": 1})
    again = load_agent(path)
    assert again.config == agent.config == SwiftConfig()
    assert again.params.keys() == agent.params.keys()
    for name, value in agent.params.items():
        np.testing.assert_array_equal(again.params[name], value)
    card = json.loads((tmp_path / "a.json").read_text())
    assert (card["network"], card["seed"]) == ("swift", 1)
    for changed in ({**card, "network": "slow"}, {**card, "config": {"depth": 1}}, [card]):
        (tmp_path / "a.json").write_text(json.dumps(changed))
        with pytest.raises(AgentError, match="a.json"):
            load_agent(path)
    (tmp_path / "a.json").write_text(json.dumps(card))
    rewrite(path, lambda params: params.update(curve=np.zeros(3, np.float32)))
    with pytest.raises(AgentError, match="'curve' has shape"):
        load_agent(path)


def test_softmax_has_no_parameters():
    agent = load_agent("softmax")
    assert isinstance(agent.config, SoftmaxConfig)
    assert agent.params == {}
    low, high = agent.config.temperatures
    assert 0 < low < high


def test_unknown_name():
    for name in ("nobody", "some.json", "/etc/passwd", ""):
        with pytest.raises(AgentError) as error:
            load_agent(name)
        assert f"there is no agent {name!r}; expected one of" in str(error.value)
        assert all(known in str(error.value) for known in shipped_agents())


def half(path):
    path.write_bytes(path.read_bytes()[:-10])


def other_shape(path):
    rewrite(path, lambda params: params.update({NAME: np.zeros((3, 3), np.float32)}))


def other_type(path):
    rewrite(path, lambda params: params.update({NAME: params[NAME].astype(np.float64)}))


def not_finite(path):
    rewrite(path, lambda params: params[NAME].__setitem__((0, 0), np.nan))


def one_less(path):
    rewrite(path, lambda params: params.pop(NAME))


def one_more(path):
    rewrite(path, lambda params: params.update(extra=np.zeros(1, np.float32)))


def pickled(path):
    path.write_bytes(pickle.dumps({NAME: np.zeros(3)}))


def card(**changes):
    def change(path):
        path = path.with_suffix(".json")
        content = json.loads(path.read_text())
        content["config"] = {**content["config"], **changes}
        path.write_text(json.dumps(content))

    return change


def card_text(text):
    return lambda path: path.with_suffix(".json").write_text(text)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda path: path.unlink(), "some.safetensors: No such file"),
        (lambda path: path.write_bytes(b""), "not a whole .safetensors file"),
        (lambda path: path.write_bytes(b"\xff" * 100), "not a whole .safetensors file"),
        (half, "not a whole .safetensors file"),
        (pickled, "not a whole .safetensors file"),
        (other_shape, f"'{NAME}' has shape (3, 3); the card says (8, 4)"),
        (other_type, f"'{NAME}' has values that are not finite float32"),
        (not_finite, f"'{NAME}' has values that are not finite float32"),
        (one_less, f"parameter '{NAME}' is missing"),
        (one_more, "parameter 'extra' is not one of the card's"),
        (lambda path: path.with_suffix(".json").unlink(), "some.json: No such file"),
        (card_text(""), "some.json: not an agent's card"),
        (card_text("[1, 2]"), "some.json: not an agent's card"),
        (card_text("{}"), "some.json: not an agent's card"),
        (card_text('{"config": 3}'), "some.json: not an agent's card"),
        (card(hidden=9), "the card says"),
        (card(hidden="many"), "some.json: "),
        (card(depth=9), "some.json: unknown network field 'depth'"),
        (card(rnn="lstm"), "some.json: rnn='lstm' is none of"),
        (card(rnn="none"), "params/gru/"),
    ],
)
def test_damage_is_named_in_one_line(saved, damage, words):
    damage(saved)
    with pytest.raises(AgentError) as error:
        load_agent(saved)
    assert words in str(error.value)
    assert "some." in str(error.value)
    assert "\n" not in str(error.value)
