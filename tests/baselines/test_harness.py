"""Tests of runs into a table: those that end at the best known cut, and those that a user ends."""

import dataclasses
import itertools

import pytest

from ecord_jax.baselines.cases import Case, Reference
from ecord_jax.baselines.harness import Budget, compare
from ecord_jax.baselines.registry import Solver, find_solver
from ecord_jax.baselines.table import Table
from ecord_jax.errors import OptionError
from ecord_jax.graphs import models
from ecord_jax.graphs.exact import largest_cut

GRAPH = models.erdos_renyi(18, 0.8, seed=0, weights="signed")
CASE = Case("set", "graph", GRAPH, "fingerprint", Reference(largest_cut(GRAPH), None))
MINUTE = Budget(5, None, None, 60.0)


def run(folder, name, budget, **options):
    """The row of a run, and its curve."""
    table = Table(folder)
    compare([CASE], [find_solver(name)], [0], budget, table, **options)
    (row,) = table.rows
    return row, table.curves()[row.key]


COMPILING = ["ecord:softmax", "rank2", "mca-soft", "simcim"]


@pytest.mark.parametrize(
    "name",
    [
        *("solve", "solve:tabu", "ecord:swift", "tabu"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in COMPILING),
    ],
)
def test_a_run_ends_at_the_best_known_cut(tmp_path, name):
    row, curve = run(tmp_path, name, MINUTE, until_best_known=True)
    assert (row.stopped_by, row.cut) == ("best_known", CASE.reference.value)
    assert row.seconds < 20
    assert curve[-1].cut == row.cut


@pytest.mark.parametrize("name", ["solve", "tabu", "mca-soft:0.1"])
def test_it_is_the_same_run_until_then(tmp_path, name):
    budget = Budget(5, 3000, None, None)
    whole, expected = run(tmp_path / "whole", name, budget)
    row, curve = run(tmp_path / "part", name, budget, until_best_known=True)
    assert row.key == whole.key
    assert (whole.stopped_by, row.stopped_by) == ("num_steps", "best_known")
    assert [point[1:] for point in curve[:-1]] == [
        point[1:] for point in itertools.takewhile(lambda p: p.cut <= row.cut, expected[:-1])
    ]


def test_without_a_best_known_cut_nothing_ends_a_run(tmp_path):
    table, case = Table(tmp_path), CASE._replace(reference=None)
    budget = Budget(5, 100, None, None)
    compare([case], [find_solver("tabu")], [0], budget, table, until_best_known=True)
    assert table.rows[0].stopped_by == "num_steps"


@pytest.mark.parametrize("until_best_known", [False, True])
def test_a_run_that_the_user_ends_is_not_in_the_table(tmp_path, until_best_known):
    def interrupted(graph, **limits):
        result = find_solver("tabu").run(graph, **{**limits, "num_steps": 1, "callback": None})
        return dataclasses.replace(result, cut=0, stopped_by="interrupted")

    table, solver = Table(tmp_path), Solver("slow", interrupted, compiles=False)
    with pytest.raises(KeyboardInterrupt):
        compare([CASE], [solver], [0], MINUTE, table, until_best_known=until_best_known)
    assert table.rows == []


def test_a_run_that_ended_early_is_done_again_as_a_whole(tmp_path):
    budget = Budget(5, 3000, None, None)
    assert run(tmp_path, "tabu", budget, until_best_known=True)[0].stopped_by == "best_known"
    row, curve = run(tmp_path, "tabu", budget)
    assert (row.stopped_by, curve[-1].step) == ("num_steps", 3000)
    assert run(tmp_path, "tabu", budget, until_best_known=True)[0] == row


def test_what_was_tuned_on_other_graphs_is_not_mixed(tmp_path):
    def tune(graphs, **_):
        return {"temperature": len(graphs)}

    def play(graph, temperature, **limits):
        return find_solver("tabu").run(graph, **limits)

    table, solver = Table(tmp_path), Solver("tuned", play, compiles=False, tune=tune)
    budget, others = Budget(5, 10, None, None), [CASE, CASE._replace(name="other")]
    compare([CASE], [solver], [0], budget, table)
    with pytest.raises(OptionError, match="tuned on set: tuned to temperature=2 on these graphs"):
        compare(others, [solver], [0], budget, table)
    compare([others[1]._replace(set="more")], [solver], [0], budget, table)
    compare(others, [solver], [0], budget._replace(trajectories=2), table)
    assert [row.options[-1] for row in table.rows] == ["1", "1", "2", "2"]
