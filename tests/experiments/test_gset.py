"""Tests of experiments/gset.py: medians from curves, budgets, labels, resuming."""

import csv
import functools

import jax
import pytest

from ecord_jax.baselines.cases import Reference
from ecord_jax.baselines.registry import find_solver
from ecord_jax.graphs import models, read_graph, read_labels
from ecord_jax.graphs.fingerprint import fingerprint
from ecord_jax.graphs.io import write_graph
from ecord_jax.search.result import Progress


@pytest.fixture(scope="module")
def gset(load_program):
    return load_program("gset")


@pytest.fixture
def call(gset, call_program):
    return functools.partial(call_program, gset)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "graphs"
    path.mkdir()
    write_graph(path / "small.txt", models.erdos_renyi(60, 0.1, seed=0))
    return path, read_graph(path / "small.txt")


def test_cut_at(gset):
    curve = [Progress(0.1, 0, 5), Progress(2.0, 9, 7), Progress(3.0, 12, 7)]
    assert [gset.cut_at(curve, t) for t in (0.05, 0.1, 1.9, 2.0, 60.0)] == [0, 5, 5, 7, 7]


def test_limit_of_a_name(gset):
    assert gset._limit("tabu", 60.0) == 60.0
    assert gset._limit("tabu@10", 60.0) == 10.0


def test_the_table_and_the_labels(call, gset, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(gset, "TIMES", (0.5, 1.0))
    path, graph = folder
    out = tmp_path / "out"
    arguments = [
        f"--graphs={path}",
        f"--out={out}",
        "--solvers=tabu,tabu@0.5",
        "--seconds=1",
        "--seeds=2",
    ]
    assert call(*arguments)[0] == 0
    rows = list(csv.DictReader((out / "table.csv").read_text().splitlines()))
    assert [row["solver"] for row in rows] == ["tabu", "tabu@0.5"]
    assert rows[1]["cut_1"] == ""
    assert all(row["seeds"] == "2" for row in rows)
    runs = list(csv.DictReader((out / "results.csv").read_text().splitlines()))
    assert len(runs) == 4
    assert sorted(float(run["second_limit"]) for run in runs) == [0.5, 0.5, 1.0, 1.0]
    files = sorted((out / "labels").iterdir())
    assert len(files) == 4
    best = max(float(run["cut"]) for run in runs)
    cuts = [graph.cut(read_labels(file, graph)) for file in files]
    assert max(cuts) == best == float(rows[0]["cut_1"])
    before = (out / "results.csv").read_text()
    assert call(*arguments)[0] == 0
    assert (out / "results.csv").read_text() == before


@pytest.mark.parametrize("bad", [["--solvers=tabu@x"], ["--solvers=nobody"], ["--out="]])
def test_bad_flags(call, folder, tmp_path, bad):
    status, _, error = call(f"--graphs={folder[0]}", f"--out={tmp_path / 'o'}", *bad)
    assert status == 2
    assert len(error.strip().splitlines()) == 1


def test_until_best_known_and_pictures(gset, call, folder, tmp_path, monkeypatch):
    path, graph = folder
    best = find_solver("tabu").run(graph, key=jax.random.key(0), num_steps=10_000).cut
    monkeypatch.setattr(gset, "TIMES", (1.0, 30.0))
    monkeypatch.setattr(
        gset, "read_references", lambda _: {fingerprint(graph): Reference(best, None)}
    )
    out = tmp_path / "out"
    arguments = [f"--graphs={path}", f"--out={out}", "--solvers=solve,tabu", "--seconds=30"]
    assert call(*arguments, "--seeds=1", "--until_best_known", "--plot")[0] == 0
    runs = list(csv.DictReader((out / "results.csv").read_text().splitlines()))
    assert [run["stopped_by"] for run in runs] == ["best_known", "best_known"]
    assert max(float(run["seconds"]) for run in runs) < 15
    rows = list(csv.DictReader((out / "table.csv").read_text().splitlines()))
    assert [float(row["cut_30"]) for row in rows] == [best, best]
    assert (out / "small.png").exists()
