"""Tests of experiments/ablations.py: its variants, its table, and a run of it."""

import csv
import dataclasses
import functools
import itertools
from types import SimpleNamespace

import pytest
from ml_collections import ConfigDict

from ecord_jax.agents import load_agent, save_agent
from ecord_jax.baselines.registry import find_solver
from ecord_jax.baselines.table import Key
from ecord_jax.graphs import models
from ecord_jax.graphs.io import write_graph
from ecord_jax.learning.config import TrainConfig
from ecord_jax.search.solve import INGREDIENTS


@pytest.fixture(scope="module")
def ablations(load_program):
    return load_program("ablations")


@pytest.fixture
def call(ablations, call_program):
    return functools.partial(call_program, ablations)


@pytest.fixture
def agents(ablations, tmp_path):
    """Four agents, all the same."""
    folder = tmp_path / "agents"
    folder.mkdir()
    for stem, _ in ablations.AGENTS.values():
        save_agent(load_agent("er40"), folder / f"{stem}.safetensors", {})
    return folder


def test_variants_leave_out_what_they_say(ablations):
    names = ablations.search_variants()
    options = {variant: find_solver(name).run.keywords for variant, name in names.items()}
    left_out = {variant: set(found.get("ablate", ())) for variant, found in options.items()}
    every = set(INGREDIENTS)
    for ingredient in INGREDIENTS:
        assert left_out[f"without {ingredient}"] == {ingredient}
        if ingredient != "reheat":  # nothing without merge
            assert left_out[f"{ingredient} alone"] == every - {ingredient}
    for variant in ("none", "tabu none", "swift none", "mixture none"):
        assert left_out[variant] == every
    for variant in ("solve", "tabu", "swift"):
        assert left_out[variant] == set()
    runs = [
        (found.get("move", "mixed"), frozenset(left_out[variant]), found.get("agent", "swift"))
        for variant, found in options.items()
    ]
    assert len(set(runs)) == len(runs) == 2 * len(INGREDIENTS) + 6


def test_agents_act_as_in_the_paper(ablations, agents):
    solvers = ablations.make_solvers(str(agents))
    assert list(solvers)[-4:] == ["paper agent", "no GNN", "no RNN", "DQN"]
    options = solvers["no GNN"].run.keywords
    assert options["agent"] == str(agents / "no_gnn.safetensors")
    assert (options["temperature"], options["refresh_every"]) == ((0.0,), 1)
    assert (options["move"], options["ablate"]) == ("ecord", INGREDIENTS)


def test_trainings_of_the_docstring(ablations):
    """Each makes a configuration, and they differ from the first in what they ablate only."""
    found = {}
    for line in ablations.__doc__.splitlines():
        command, _, rest = line.strip().partition(" --out=runs/")
        if command == "$TRAIN":
            stem, *overrides = rest.split()
            found[stem] = dict(o.removeprefix("--config.").split("=") for o in overrides)
    assert found == {
        "full": {},
        "no_gnn": {"network.gnn": "zero"},
        "no_rnn": {"network.rnn": "zero", "bptt": "0"},
        "dqn": {"algorithm": "dqn"},
    }
    assert set(found) == {stem for stem, _ in ablations.AGENTS.values()}
    for overrides in found.values():
        config = ConfigDict(dataclasses.asdict(TrainConfig()))
        config.update_from_flattened_dict(
            {k: int(v) if k == "bptt" else v for k, v in overrides.items()}
        )
        TrainConfig.from_dict(config.to_dict())


def test_the_table_by_hand(ablations):
    cuts = {("a", "x"): [90, 100, 98], ("b", "x"): [200, 80, 80], ("a", "y"): [0]}
    runs = {
        Key(graph, "f", variant, seed, 20, None, 1.0): (variant, cut)
        for (variant, graph), found in cuts.items()
        for seed, cut in enumerate(found)
    }
    rows = [SimpleNamespace(key=key, cut=cut) for key, (_, cut) in runs.items()]
    unwanted = SimpleNamespace(key=rows[0].key._replace(seed=9), cut=10**6)
    lines = {key: variant for key, (variant, _) in runs.items()}
    entries = ablations.make_table([unwanted, *rows], lines)
    # The best cut of x is 200, the means are 96 and 120.
    assert [entry[:4] for entry in entries] == [
        ("a", "x", 3, 98),
        ("b", "x", 3, 80),
        ("a", "y", 1, 0),
    ]
    assert [entry.distance for entry in entries] == pytest.approx([52_000, 40_000, 0])


def test_a_run(ablations, call, tmp_path, monkeypatch):
    variants = {"solve": "solve", "tabu none": "solve:tabu-presolve-starts-merge-restart"}
    monkeypatch.setattr(ablations, "search_variants", lambda: variants)
    graphs, out = tmp_path / "graphs", tmp_path / "out"
    graphs.mkdir()
    for seed in range(2):
        write_graph(graphs / f"g{seed}.txt", models.erdos_renyi(60, 0.2, seed=seed))
    arguments = [f"--graphs={graphs}", f"--out={out}", "--seconds=0.2", "--seeds=2", "--plot"]
    status, printed, error = call(*arguments)
    assert (status, error) == (0, "")
    assert "without --agents these are left out: paper agent, no GNN, no RNN, DQN" in printed
    rows = list(csv.DictReader((out / "table.csv").read_text().splitlines()))
    assert [(row["variant"], row["graph"]) for row in rows] == list(
        itertools.product(variants, ("g0", "g1"))
    )
    assert rows[-1]["solver"] == variants["tabu none"]
    assert min(float(row["distance_1e-5"]) for row in rows) == 0
    assert sorted(path.name for path in out.glob("*.png")) == ["g0.png", "g1.png"]
    before = (out / "results.csv").read_text()
    assert call(*arguments)[0] == 0
    assert (out / "results.csv").read_text() == before
    assert len(before.splitlines()) == 1 + 2 * 2 * 2


@pytest.mark.slow
def test_all_variants_run(ablations, call, agents, tmp_path):
    graph, out = tmp_path / "g.txt", tmp_path / "out"
    write_graph(graph, models.erdos_renyi(60, 0.2, seed=0))
    status, printed, error = call(
        f"--graphs={graph}", f"--out={out}", "--seconds=0.2", "--seeds=1", f"--agents={agents}"
    )
    assert (status, error) == (0, "")
    assert len((out / "results.csv").read_text().splitlines()) == 1 + 16 + 4
    assert "DQN" in printed


@pytest.mark.parametrize("bad", [["--agents=nowhere"], ["--graphs="], ["--out="]])
def test_bad_flags(call, tmp_path, bad):
    status, _, error = call("--graphs=g.txt", f"--out={tmp_path / 'out'}", *bad)
    assert status == 2
    assert len(error.strip().splitlines()) == 1
