"""Tests of benchmarks/reading.py: its rows say what reading gives, for every format."""

import json
import pathlib
import subprocess
import sys

import pytest

from ecord_jax.graphs.io.formats import FORMATS

ROOT = pathlib.Path(__file__).resolve().parents[2]


def call(*arguments):
    return subprocess.run(
        [sys.executable, "benchmarks/reading.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT)},
    )


def test_rows():
    done = call("--vertices=50", "--edges=90", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = {row["format"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert set(rows) == {*FORMATS, "rudy float", "edges words"}
    edges = rows["rudy"]["edges"]
    assert 80 < edges <= 90
    for name, row in rows.items():
        assert row["edges"] == edges, name
        assert 40 < row["vertices"] <= 50, name
        assert row["peak_megabytes"] > 20, name
    assert rows["json"]["vertices"] == rows["qubo"]["vertices"] == 50


def test_table():
    lines = call("--vertices=9", "--edges=9", "--formats=coo").stdout.splitlines()
    assert lines[0].split() == ["format", "megabytes", "seconds", "cpu_seconds", "peak_megabytes"]
    assert lines[1].split()[0] == "coo"


@pytest.mark.parametrize("flag", ["--formats=gset", "--vertices=one", "more"])
def test_bad_input_is_one_line(flag):
    done = call(flag)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
