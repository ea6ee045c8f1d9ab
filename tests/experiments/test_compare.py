"""Tests of experiments/compare.py: all solvers on small graphs, kills, bad input."""

import csv
import functools
import importlib.util
import json
import subprocess
import sys
import time

import numpy as np
import pytest

from ecord_jax.baselines.registry import Solver, solver_names
from ecord_jax.graphs import models
from ecord_jax.graphs.exact import largest_cut

GRAPHS = [models.erdos_renyi(n, 0.5, seed=n, weights="signed") for n in (9, 10, 11, 12, 13)]
OPT = np.array([largest_cut(graph) for graph in GRAPHS], np.float64)
# What a resumed run must have in common with one that was not stopped.
SAME = ("set", "graph", "solver", "seed", "cut", "ratio", "steps", "stopped_by", "labels_sha256")


@pytest.fixture(scope="module")
def compare(load_program):
    return load_program("compare")


@pytest.fixture
def call(compare, call_program):
    return functools.partial(call_program, compare)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    path = tmp_path_factory.mktemp("sets") / "small.npz"
    np.savez(
        path,
        n=np.array([graph.num_vertices for graph in GRAPHS]),
        offsets=np.cumsum([0, *(graph.num_edges for graph in GRAPHS)]),
        edges=np.concatenate([graph.edges for graph in GRAPHS]),
        weights=np.concatenate([graph.weights for graph in GRAPHS]),
        opt=OPT,
    )
    return path


def read(folder):
    return list(csv.DictReader((folder / "results.csv").read_text().splitlines()))


def same(rows):
    return [tuple(row[name] for name in SAME) for row in rows]


@pytest.mark.slow
def test_all_solvers(call, graphs, tmp_path):
    """What of them is here: peers of extras are left out where these are not installed."""
    modules = {"mca-soft": "mca", "dwave-sa": "dwave"}
    names = [name for name in solver_names() if not name.startswith(("dwave", "ecord"))]
    names = [
        name
        for name in names
        if name == "swift"
        or importlib.util.find_spec(f"ecord_jax.baselines.{modules.get(name, name)}")
    ]
    solvers = [*names, "ecord-det:softmax", "ecord:softmax"]
    if importlib.util.find_spec("dwave") and importlib.util.find_spec("dwave.samplers"):
        solvers += ["dwave-tabu", "dwave-sa", "dwave-descent"]
    out = tmp_path / "out"
    status, printed, err = call(
        f"--graphs={graphs}", f"--solvers={','.join(solvers)}", f"--out={out}", "--plot"
    )
    assert (status, err) == (0, "")
    rows = read(out)
    assert len(rows) == 5 * len(solvers)
    for row in rows:
        g = int(row["graph"].removeprefix("small/"))
        assert int(row["edges"]) == GRAPHS[g].num_edges
        assert float(row["reference"]) == OPT[g]
        assert float(row["ratio"]) == int(row["cut"]) / OPT[g] <= 1
        assert int(row["step_limit"]) == 2 * GRAPHS[g].num_vertices
        assert (row["trajectories"], row["second_limit"], row["seed"]) == ("50", "", "0")
        assert 0 <= float(row["best_seconds"]) <= float(row["seconds"]) < 30
    # 50 trajectories on such graphs: most reach the optimum, mca its local ones.
    for solver in solvers:
        ratios = [float(row["ratio"]) for row in rows if row["solver"] == solver]
        assert np.mean(ratios) > 0.9, solver
        assert f"small                   {solver} " in printed
    assert (out / "small.png").exists()
    names = {file.name for file in out.iterdir()}
    assert names == {
        *("results.csv", "results.parquet", "curves.jsonl", "curves.parquet", "small.png"),
    }


def stopping_solver(compare, monkeypatch, after):
    """Makes the program be interrupted within its n-th run of any solver."""
    runs = []

    def stopped(name):
        solver = real(name)

        def run(*args, **options):
            runs.append(name)
            if len(runs) == after:
                raise KeyboardInterrupt
            return solver.run(*args, **options)

        return Solver(solver.name, run, solver.compiles)

    real = compare.find_solver
    monkeypatch.setattr(compare, "find_solver", stopped)


ARGUMENTS = ("--solvers=simcim,gw,leleu:ER40", "--seeds=2", "--steps=20", "--trajectories=3")


def test_resuming_gives_the_same_table(call, compare, graphs, tmp_path, monkeypatch):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert call(f"--graphs={graphs}", *ARGUMENTS, f"--out={whole}")[0] == 0
    assert len(read(whole)) == 30
    for after in (9, 20):
        with monkeypatch.context() as patch:
            stopping_solver(compare, patch, after)
            assert call(f"--graphs={graphs}", *ARGUMENTS, f"--out={parts}")[0] == 130
        with (parts / "results.csv").open("a") as file:  # what a kill may leave
            file.write("small,small/3,12,")
    first = read(parts)[:-1]
    assert 0 < len(first) < 30
    assert call(f"--graphs={graphs}", *ARGUMENTS, f"--out={parts}")[0] == 0
    rows = read(parts)
    assert rows[: len(first)] == first  # not run again
    assert same(rows) == same(read(whole))
    # And nothing is left to do.
    before = (parts / "results.csv").read_bytes()
    assert call(f"--graphs={graphs}", *ARGUMENTS, f"--out={parts}")[0] == 0
    assert (parts / "results.csv").read_bytes() == before


@pytest.mark.slow
def test_a_killed_process_is_resumed(call, compare, graphs, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert call(f"--graphs={graphs}", *ARGUMENTS, f"--out={whole}")[0] == 0
    command = [sys.executable, compare.__file__, f"--graphs={graphs}", *ARGUMENTS]
    process = subprocess.Popen([*command, f"--out={parts}"], stderr=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        if (parts / "results.csv").exists() and len(read(parts)) >= 4:
            break
        time.sleep(0.005)
    process.kill()
    process.wait()
    assert 0 < len(read(parts)) < 30
    assert call(f"--graphs={graphs}", *ARGUMENTS, f"--out={parts}")[0] == 0
    assert same(read(parts)) == same(read(whole))


def test_rows_do_not_depend_on_what_else_is_compared(call, graphs, tmp_path):
    both, alone = tmp_path / "both", tmp_path / "alone"
    call(f"--graphs={graphs}", *ARGUMENTS, f"--out={both}")
    alone_arguments = ("--solvers=gw", "--seeds=1,0", "--limit=2", *ARGUMENTS[2:])
    call(f"--graphs={graphs}", *alone_arguments, f"--out={alone}")
    rows = [row for row in read(both) if row["solver"] == "gw"][:4]
    assert sorted(same(rows)) == sorted(same(read(alone)))


def test_time_limits_and_curves(call, graphs, tmp_path):
    out = tmp_path / "out"
    status, _, _ = call(
        f"--graphs={graphs}", "--limit=1", "--solvers=simcim,mip", "--seconds=0.3", f"--out={out}"
    )
    assert status == 0
    simcim, mip = read(out)
    assert (simcim["step_limit"], simcim["second_limit"]) == ("", "0.3")
    assert 0.25 < float(simcim["seconds"]) < 1.5
    assert mip["stopped_by"] == "optimal"
    assert mip["compile_seconds"] == "0.0"
    for line in (out / "curves.jsonl").read_text().splitlines():
        curve = json.loads(line)["curve"]
        assert curve == sorted(curve)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--solvers=mip", "--out=x"], "flag --graphs is needed"),
        (["--graphs=a.npz", "--out=x"], "flag --solvers is needed"),
        (["--graphs=a.npz", "--solvers=mip"], "flag --out is needed"),
        (["--graphs=a.npz", "--solvers=best", "--out=x"], "no solver 'best'"),
        (["--graphs=a.npz", "--solvers=mip", "--out=x", "--seeds=0"], "--seeds"),
        (["--graphs=a.npz", "--solvers=mip", "--out=x", "--seeds=1,1"], "--seeds"),
        (["--graphs=a.npz", "--solvers=mip", "--out=x", "--seconds=-1"], "--seconds=-1"),
        (["--graphs=a.npz", "--solvers=mip", "--out=x", "--steps=0"], "--steps=0"),
        (["--graphs=a.npz", "--solvers=mip", "--out=x"], "a.npz: No such file"),
        (["--graphs=a", "--solvers=mip", "--out=x", "more"], "unexpected argument 'more'"),
        (["--graphs=a", "--solvers=mip", "--out=x", "--steps=3", "--steps_factor=2"], "exclude"),
    ],
)
def test_bad_input(call, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    status, _, err = call(*arguments)
    assert status == 2
    assert err.count("\n") == 1
    assert words in err
    assert not (tmp_path / "x").exists()
