"""Tests of experiments/ablate_mixture.py, with trainings that are too small to be of use."""

import csv
import dataclasses
import functools

import numpy as np
import pytest

from ecord_jax.agents import load_agent
from ecord_jax.graphs.generators import GraphDistribution


@pytest.fixture(scope="module")
def program(load_program):
    return load_program("ablate_mixture")


@pytest.fixture
def call(program, call_program, monkeypatch):
    """With small trainings and graphs."""
    base = program.PRESETS["mixture"]
    small = dataclasses.replace(
        base,
        graphs=GraphDistribution("er", 12, edge_probability=0.4),
        num_graphs=4,
        batch_size=8,
        buffer_size=256,
        validation_trajectories=2,
        validation_factor=1,
    )
    monkeypatch.setitem(program.PRESETS, "mixture", small)
    monkeypatch.setattr(program, "_VERTICES", (60, 90))
    monkeypatch.setattr(program, "_PACED_VERTICES", 60)
    monkeypatch.setattr(program, "flip_seconds", lambda agent: 1e-5 * len(agent.config.rnn))
    return functools.partial(call_program, program)


def test_variants_differ_in_what_they_say(program, call):
    program._FLAGS(["ablate_mixture"])
    configs = {name: program.make_config(name, 3) for name in program.VARIANTS}
    base = configs["mixture"]
    assert base.network == program.PRESETS["mixture"].network
    assert (configs["n-step-1"].n_step, configs["gru-128"].network.hidden) == (1, 128)
    for name, (network, rest) in program.VARIANTS.items():
        back = {field: getattr(base, field) for field in rest}
        config = dataclasses.replace(configs[name], network=base.network, **back)
        assert config == base
        own = {field: getattr(configs[name].network, field) for field in network}
        assert own == network


@pytest.mark.slow
def test_variants_are_trained_and_played_once(call, tmp_path):
    out, runs = tmp_path / "rows.csv", tmp_path / "runs"
    small = ("--updates=10", "--trajectories=2", "--kinds=sparse,hubs", "--budgets=2,time")
    flags = (*small, f"--out={out}", f"--runs={runs}", "--variants=shipped,mixture,budget")
    status, printed, _ = call(*flags)
    assert status == 0
    assert printed.splitlines()[0].split() == ["variant", "2", "time"]
    text = out.read_text()
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 3 * 2 * 2
    cuts = {
        (row["variant"], row["budget"], row["kind"]): float(row["cut"]) / float(row["total"])
        for row in rows
    }
    leads = [1e5 * (cuts["shipped", "2", k] - cuts["mixture", "2", k]) for k in ("sparse", "hubs")]
    error = np.std(leads, ddof=1) / 2**0.5
    assert f"{np.mean(leads):.0f} ({error:.0f})" in printed
    assert load_agent(runs / "budget-0" / "agent.safetensors").config.scaling == "budget"
    assert call(*flags)[1] == printed
    assert out.read_text() == text


def test_slower_variants_do_fewer_flips_in_the_same_time(program, call, monkeypatch, tmp_path):
    paces = iter([4e-5, 1e-5])  # its own, and that of "mixture"
    monkeypatch.setattr(program, "flip_seconds", lambda agent: next(paces))
    small = ("--trajectories=2", "--kinds=sparse", "--budgets=30,time", "--variants=shipped")
    out = tmp_path / "rows.csv"
    assert call(*small, f"--out={out}", f"--runs={tmp_path}")[0] == 0
    usual, timed = (int(row["flips"]) for row in csv.DictReader(out.read_text().splitlines()))
    assert timed == round(usual / 4)


@pytest.mark.parametrize(
    ("flag", "message"),
    [("--variants=best", "'best'"), ("--kinds=odd", "'odd'"), ("--budgets=0", "'0'")],
)
def test_bad_flags(call, flag, message, tmp_path):
    flags = ("--variants=shipped", "--budgets=2", flag)
    status, _, complaint = call(f"--out={tmp_path / 'x.csv'}", f"--runs={tmp_path}", *flags)
    assert status == 2
    assert message in complaint
