"""Tests of experiments/tune_baselines.py, with searches that are too short to be of use."""

import functools
import json

import pytest

from ecord_jax.baselines.leleu import RANGES


@pytest.fixture(scope="module")
def program(load_program):
    return load_program("tune_baselines")


@pytest.fixture
def call(program, call_program):
    return functools.partial(call_program, program)


def test_entries_are_added_to_a_file(call, tmp_path):
    out = tmp_path / "found.json"
    small = ("--trials=2", "--graphs=1", "--trajectories=2", "--most_steps=5", f"--out={out}")
    status, printed, err = call("--sets=ER40", *small)
    assert (status, err) == (0, "")
    assert printed.startswith("simcim ER40: ratio ")
    first = json.loads(out.read_text())
    assert call("--sets=BA40,ER60", "--solvers=leleu", *small)[0] == 0
    found = json.loads(out.read_text())
    assert list(found["simcim"]) == ["ER40"]
    assert list(found["leleu"]) == ["ER40", "BA40", "ER60"]
    assert found["leleu"]["ER40"] == first["leleu"]["ER40"]
    entry = found["leleu"]["BA40"]
    assert list(entry["parameters"]) == list(RANGES)
    assert entry["steps"] == 5
    assert len(entry["features"]) == 4
    command = "python experiments/tune_baselines.py --sets=BA40 --trials=2 --graphs=1"
    assert entry["command"].startswith(command)


def test_graphs_are_those_of_the_paper_and_none_of_its_sets(program, load_program):
    make_data = load_program("make_data")
    for name in ("ER40", "BA100"):
        graphs = program.make_graphs(name, 3, 0)
        assert graphs == program.make_graphs(name, 3, 0)
        spec = make_data.SETS[f"{name}_test"]
        others = make_data.make_graphs(spec, make_data.graph_seeds(f"{name}_test", 3, 0))
        assert {graph.num_vertices for graph in graphs} == {others[0].num_vertices}
        assert set(graphs).isdisjoint(others)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--out is needed"),
        (["--out=x.json", "--sets=ER41"], "no set 'ER41'"),
        (["--out=x.json", "--solvers=gw"], "no 'gw'"),
        (["--out=no/x.json"], "--out=no/x.json"),
    ],
)
def test_bad_input(call, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    status, _, err = call(*arguments)
    assert status == 2
    assert words in err
