"""Tests of ecord-convert: what it writes, keeps and refuses."""

import os
import pathlib
import subprocess
import sys

import pytest

from ecord_jax.graphs import read_graph, read_problem

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUDY = "3 2\n1 2 9007199254740993\n2 3 -7\n"


@pytest.fixture
def call(tmp_path):
    def call(*arguments, text=None):
        command = [sys.executable, "-m", "ecord_jax.cli.convert", *arguments]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            input=text,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        return done.returncode, done.stdout, done.stderr

    (tmp_path / "g.txt").write_text(RUDY)
    return call


def test_there_and_back(call, tmp_path):
    names = ["g.txt", "g.mtx", "g.json", "g.npz", "g.wel", "g.csv.xz", "again.txt"]
    for source, target in zip(names, names[1:], strict=False):
        assert call(source, target) == (0, "", "")
    assert (tmp_path / "again.txt").read_text() == RUDY
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_pipes(call):
    status, out, err = call("-", "-", "--from=rudy", "--to=matrix-market", text=RUDY)
    assert (status, err) == (0, "")
    assert out.endswith("3 3 2\n2 1 9007199254740993\n3 2 -7\n")


def test_zero_based(call, tmp_path):
    (tmp_path / "zero.txt").write_text("3 2\n0 1 5\n1 2 7\n")
    assert call("zero.txt", "one.txt")[0] == 2
    assert call("zero.txt", "one.txt", "--zero_based")[0] == 0
    assert (tmp_path / "one.txt").read_text() == "3 2\n1 2 5\n2 3 7\n"


def test_what_would_be_lost(call, tmp_path):
    (tmp_path / "named.wel").write_text("a b 2\n")
    (tmp_path / "s.ising").write_text("5\na 1\na b 3\n")
    for source, target, lost in [
        ("g.txt", "g.col", "weights other than 1"),
        ("named.wel", "named.txt", "the names of the vertices"),
        ("s.ising", "s.qubo", "the names of the variables; the constant 7"),
        ("s.ising", "s.json.gz", None),
        ("s.ising", "s.txt", "that it is an Ising problem"),
        ("g.txt", "g.bq", "that the objective is maximised"),
    ]:
        status, out, err = call(source, target)
        if lost is None:
            assert (status, out, err) == (0, "", "")
            continue
        assert (status, out) == (2, "")
        assert len(err.splitlines()) == 1
        assert lost in err
        assert not (tmp_path / target).exists()
        status, out, err = call(source, target, "--lossy")
        assert (status, out) == (0, "")
        assert all(line.startswith("ecord-convert: warning: ") for line in err.splitlines())
        assert lost.partition(";")[0] in err
    assert read_problem(tmp_path / "s.json.gz").names == ("a", "b")
    assert read_graph(tmp_path / "g.col").num_edges == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["g.txt"], "missing argument OUT"),
        (["g.txt", "a.mtx", "b.mtx"], "unexpected argument 'b.mtx'"),
        (["none.txt", "a.mtx"], "none.txt: No such file"),
        (["g.txt", "none/a.mtx"], "none/a.mtx: No such file"),
        (["g.txt", "."], "no format has the suffix of '.'"),
        (["g.txt", ".", "--to=json"], "Is a directory"),
        (["g.txt", "", "--to=json"], "ecord-convert: "),
        (["g.txt", "a.foo"], "no format has the suffix of 'a.foo'"),
        (["g.txt", "a.graph"], "only read"),
        (["g.txt", "a.mtx", "--from=gset"], "--from=gset"),
        (["g.txt", "a.mtx", "--from=json"], "g.txt:1: broken JSON"),
    ],
)
def test_bad_input_is_one_line(call, tmp_path, arguments, words):
    status, out, err = call(*arguments)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert words in err
    assert [path.name for path in tmp_path.iterdir()] == ["g.txt"]


def test_an_existing_file_is_kept_where_writing_fails(call, tmp_path):
    (tmp_path / "g.col").write_text("old")
    assert call("g.txt", "g.col")[0] == 2
    assert (tmp_path / "g.col").read_text() == "old"
    assert call("g.txt", "g.txt", "--to=json")[0] == 0
    assert read_graph(tmp_path / "g.txt").weights.tolist() == [2**53 + 1, -7]
