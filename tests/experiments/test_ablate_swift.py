"""Tests of experiments/ablate_swift.py, with trainings that are too small to be of use."""

import csv
import dataclasses
import functools

import numpy as np
import pytest

from ecord_jax.agents import load_agent
from ecord_jax.learning import swift_trainer
from ecord_jax.learning.instances import KINDS


@pytest.fixture(scope="module")
def program(load_program):
    return load_program("ablate_swift")


@pytest.fixture
def call(program, call_program, monkeypatch):
    """With small trainings, validations and graphs."""
    monkeypatch.setattr(swift_trainer, "_GRAPHS", 1)
    monkeypatch.setattr(program, "_VERTICES", (60, 90))
    real = program.make_config

    def make_config(variant, seed):
        small = {"population": 4, "elite": 1, "instances": 2, "vertices": (60, 90)}
        return dataclasses.replace(real(variant, seed), **small, factors=(2.0, 3.0))

    monkeypatch.setattr(program, "make_config", make_config)
    return functools.partial(call_program, program)


def test_variants_are_trained_and_played_once(call, tmp_path):
    out, runs = tmp_path / "rows.csv", tmp_path / "runs"
    small = ("--seeds=2", "--generations=1", "--graphs=1", f"--out={out}", f"--runs={runs}")
    status, printed, _ = call("--variants=shipped,no-time", *small)
    assert status == 0
    assert [line.split()[0] for line in printed.splitlines()] == ["variant", "shipped", "no-time"]
    text = out.read_text()
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 3 * len(KINDS) * 3
    own = [1e5 * float(row["gain"]) for row in rows if row["variant"] == "shipped"]
    assert f"{np.mean(own):.1f} (0.0)" in printed
    agents = [load_agent(runs / f"no-time-{seed}" / "agent.safetensors") for seed in range(2)]
    assert not any(agent.params["curve"].any() for agent in agents)
    assert (agents[0].params["bend"] != agents[1].params["bend"]).any()
    status, printed, _ = call("--variants=shipped,no-time,gnn", *small)
    assert status == 0
    assert out.read_text().startswith(text)
    assert printed.splitlines()[-1].startswith("gnn")
    assert load_agent(runs / "gnn-1" / "agent.safetensors").config.encoder == "gnn"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--runs={out}"], "--runs and --out are needed"),
        (["--runs={out}/runs", "--out={out}/rows.csv", "--variants=no-luck"], "no 'no-luck'"),
    ],
)
def test_what_makes_no_sense(call, tmp_path, arguments, words):
    status, _, err = call(*(text.format(out=tmp_path) for text in arguments))
    assert status == 2
    assert words in err
    assert not (tmp_path / "runs").exists()
