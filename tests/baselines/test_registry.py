"""Tests of solvers by name."""

import jax
import pytest

from ecord_jax.agents import full_name, load_agent, save_agent
from ecord_jax.baselines.registry import find_solver, solver_names
from ecord_jax.baselines.simcim import simcim
from ecord_jax.errors import OptionError
from ecord_jax.graphs import models

KEY = jax.random.key(0)
GRAPH = models.erdos_renyi(12, 0.5, seed=0, weights="signed")


def test_names():
    names = solver_names()
    assert names == sorted(names)
    assert {"mca", "mca-soft", "simcim", "leleu", "mip", "gw", "rank2", "tabu"} <= set(names)


ROLLOUT = {"move": "ecord", "ablate": ("presolve", "starts", "merge", "reheat", "restart")}


def test_a_peer_and_its_argument():
    found = find_solver("simcim:BA40")
    result = found.run(GRAPH, key=KEY, trajectories=3, time_limit=None, num_steps=30)
    expected = simcim(GRAPH, key=KEY, trajectories=3, num_steps=30, parameters="BA40")
    assert (found.name, result.agent, result.trajectories) == ("simcim:BA40", "simcim", 3)
    assert result.labels.tolist() == expected.labels.tolist()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ecord:mixture", {"agent": "mixture", **ROLLOUT}),
        ("ecord-det:er40", {"agent": "er40", "temperature": 0.0, **ROLLOUT}),
        ("ecord-full:mixture", {"agent": "mixture", "move": "ecord"}),
        ("swift", {"agent": "swift", **ROLLOUT}),
        ("solve", {}),
        ("solve:tabu", {"move": "tabu"}),
        ("solve:-merge", {"ablate": ("merge",)}),
        ("solve:-starts-merge-restart", {"ablate": ("starts", "merge", "restart")}),
        ("solve:ecord-merge", {"move": "ecord", "ablate": ("merge",)}),
    ],
)
def test_learned_ones(name, options):
    found = find_solver(name)
    assert found.name == name
    assert found.run.keywords == options


def test_an_agent_of_a_file_is_known_by_what_is_there(tmp_path):
    path = tmp_path / "a.safetensors"
    save_agent(load_agent("swift"), path, {})
    found = find_solver(f"ecord:{path}")
    assert found.name == f"ecord:{full_name(str(path))}"
    assert found.run.keywords["agent"] == str(path)


@pytest.mark.parametrize(
    "name",
    ["no", "ecord", "ecord:", "gw:3", "mca-soft:warm", "", ":er40", "swift:er40"],
)
def test_unknown_names(name):
    with pytest.raises(OptionError, match="solver"):
        find_solver(name)


@pytest.mark.parametrize(
    "argument", ["no", "-", "tabu-", "-no", "-merge-no", "-merge-merge", "-tabu"]
)
def test_no_argument_of_solve(argument):
    with pytest.raises(OptionError, match=r"is not \[MOVE\]\[-INGREDIENT\]"):
        find_solver(f"solve:{argument}")


def test_tenures_of_tabu():
    from ecord_jax.search.tenure import FIXED

    assert find_solver("tabu:fixed").run.options == {"tenure": FIXED}
    assert find_solver("tabu").run.options == {}
    with pytest.raises(OptionError, match="'long' makes no sense to tabu"):
        find_solver("tabu:long")


def test_tuning_is_of_a_set():
    pytest.importorskip("ecord_jax.baselines.mca")
    solver = find_solver("mca-soft")
    graphs = [models.erdos_renyi(12, 0.5, seed=s, weights="signed") for s in range(3)]
    ready, found = solver.tuned(graphs, key=KEY, trajectories=4)
    assert list(found) == ["temperature"]
    result = ready.run(GRAPH, key=KEY, trajectories=4, time_limit=None, num_steps=24)
    assert result.cut == GRAPH.cut(result.labels)
    fixed = find_solver("mca-soft:0.1")
    assert fixed.tuned(graphs, key=KEY, trajectories=4) == (fixed, {})
