"""The host loop: what it writes, and that an interrupted run goes on bit for bit."""

import dataclasses
import json
import runpy
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from ecord_jax.agents import load_agent
from ecord_jax.errors import AgentError, OptionError
from ecord_jax.learning import trainer
from ecord_jax.learning.config import TrainConfig
from ecord_jax.learning.log import MetricsLog
from ecord_jax.networks.config import EcordConfig

ROOT = Path(__file__).parents[2]
CONFIG = runpy.run_path(str(ROOT / "experiments" / "configs" / "train.py"))["PRESETS"]["smoke"]


def metrics(folder):
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


class Killed(Exception):
    """Stands for a process that ends."""


def killed_after(update, monkeypatch):
    """Makes training end right after the checkpoint of an update."""
    save = trainer.Checkpoints.save

    def save_and_end(self, at, *args):
        save(self, at, *args)
        if at == update:
            raise Killed

    monkeypatch.setattr(trainer.Checkpoints, "save", save_and_end)


# Without an RNN the hidden state is empty, which a checkpoint must survive too.
NO_RNN = dataclasses.replace(CONFIG, network=EcordConfig(rnn="none", value_width=8), bptt=0)


@pytest.mark.slow
@pytest.mark.parametrize("config", [CONFIG, NO_RNN], ids=["gru", "none"])
def test_resumed_run_equals_an_uninterrupted_one_bit_for_bit(config, tmp_path, monkeypatch):
    whole = trainer.train(config, tmp_path / "whole", checkpoint_every=10)
    with monkeypatch.context() as patch:
        killed_after(20, patch)
        with pytest.raises(Killed):
            trainer.train(config, tmp_path / "cut", checkpoint_every=10)
    with (tmp_path / "cut" / "metrics.jsonl").open("a") as file:
        file.write('{"update": 23, "loss": 1.0}\n{"upda')  # what a killed run may leave
    resumed = trainer.train(config, tmp_path / "cut", resume=True, checkpoint_every=10)

    assert metrics(tmp_path / "cut") == metrics(tmp_path / "whole")
    files = [tmp_path / name / "agent.safetensors" for name in ("whole", "cut")]
    assert files[0].read_bytes() == files[1].read_bytes()
    first, second = (safetensors.numpy.load_file(file) for file in files)
    assert first.keys() == second.keys()
    leaves = [np.concatenate([x.ravel() for x in _leaves(agent)]) for agent in (whole, resumed)]
    np.testing.assert_array_equal(*leaves)
    assert np.isfinite(leaves[0]).all()


def _leaves(agent):
    import jax

    return [np.asarray(leaf) for leaf in jax.tree.leaves(agent.params)]


@pytest.mark.slow
def test_a_run_leaves_agent_card_metrics_and_curve(tmp_path):
    short = dataclasses.replace(CONFIG, num_updates=20)
    agent = trainer.train(short, tmp_path, command="python experiments/train.py")
    card = json.loads((tmp_path / "agent.json").read_text())
    assert card["command"] == "python experiments/train.py"
    assert card["seed"] == 0
    assert card["updates"] == 20
    assert 0 < card["validation"]["mean"] <= card["validation"]["best"]
    assert TrainConfig.from_dict(card["train"]) == short
    loaded = load_agent(tmp_path / "agent.safetensors")
    assert loaded.config == agent.config
    for ours, theirs in zip(_leaves(agent), _leaves(loaded), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert {"loss", "q", "epsilon"} <= metrics(tmp_path)[0].keys()
    assert (tmp_path / "learning_curve.png").read_bytes().startswith(b"\x89PNG")

    with pytest.raises(OptionError, match="holds a training run already"):
        trainer.train(short, tmp_path)
    other = dataclasses.replace(short, network=EcordConfig(hidden=8, value_width=8))
    with pytest.raises(AgentError, match="unusable checkpoint"):
        trainer.train(other, tmp_path, resume=True)


def test_metrics_beyond_the_checkpoint_are_dropped(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"update": 1, "a": 1}\n{"update": 2, "a": 2}\n{"up')
    MetricsLog(path, keep_until=1).write(2, 0.5, {"a": np.float32(3)})
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows == [{"update": 1, "a": 1}, {"update": 2, "seconds": 0.5, "a": 3.0}]


def test_config_survives_json():
    text = json.dumps(dataclasses.asdict(CONFIG))
    assert TrainConfig.from_dict(json.loads(text)) == CONFIG
    with pytest.raises(OptionError, match="unknown training field 'typo'"):
        TrainConfig.from_dict({**json.loads(text), "typo": 1})


@pytest.mark.slow
def test_a_run_goes_on_as_it_began(tmp_path):
    short = dataclasses.replace(CONFIG, num_updates=2)
    trainer.train(short, tmp_path)
    with pytest.raises(AgentError, match="belongs to another configuration"):
        trainer.train(dataclasses.replace(short, discount=0.9), tmp_path, resume=True)
    trainer.train(dataclasses.replace(short, num_updates=3), tmp_path, resume=True)
