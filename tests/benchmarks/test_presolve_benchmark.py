"""Tests of benchmarks/presolve.py: its rows say what presolve does."""

import json
import pathlib
import subprocess
import sys

import pytest

from ecord_jax.graphs import read_graph
from ecord_jax.graphs.presolve import presolve

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = "ecord_jax/data/example.txt.gz"


@pytest.fixture(scope="module")
def call():
    def call(*arguments):
        command = [sys.executable, "benchmarks/presolve.py", *arguments]
        return subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)}
        )

    return call


def test_files_and_generated_graphs(call):
    done = call(f"--graphs={EXAMPLE},ecord_jax/data", "--vertices=50,70", "--json")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    graph = read_graph(ROOT / EXAMPLE)
    reduced = presolve(graph).graph
    for row in rows[:2]:
        assert row["graph"] == "example"
        assert (row["vertices"], row["edges"]) == (graph.num_vertices, graph.num_edges)
        assert (row["vertices_after"], row["edges_after"]) == (
            reduced.num_vertices,
            reduced.num_edges,
        )
    assert len(rows) == 2 + 2 * 5
    assert {row["graph"].split()[-1] for row in rows[2:]} == {"50", "70"}
    assert rows[2]["vertices"] == 50
    assert rows[2]["largest_weight"] <= rows[2]["edges"]


def test_table(call):
    lines = call("--vertices=30").stdout.splitlines()
    assert len(lines) == 6
    assert lines[0].split()[:3] == ["graph", "vertices", "edges"]


@pytest.mark.parametrize("flag", ["--vertices=ten", "--vertices=0", "--graphs=nothing.txt", "more"])
def test_bad_input_is_one_line(call, flag):
    done = call(flag)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
