"""Tests of experiments/evaluate.py on small sets made here."""

import csv
import functools
import itertools
import json

import chex
import jax
import numpy as np
import pytest

from ecord_jax.agents import load_agent, save_agent
from ecord_jax.errors import GraphFileError
from ecord_jax.graphs import Graph, write_graph
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import init_agent
from ecord_jax.networks.config import EcordConfig


@pytest.fixture(scope="module")
def evaluate(load_program):
    """The program as a module."""
    return load_program("evaluate")


def make_graphs(sizes, seed=0):
    rng = np.random.default_rng(seed)
    graphs = []
    for n in sizes:
        pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.6]
        weights = rng.choice([-1, 1], len(pairs))
        graphs.append(Graph.from_edges(pairs, weights, num_vertices=n))
    return graphs


def best_known(graph):
    return max(graph.cut(sides) for sides in itertools.product((0, 1), repeat=graph.num_vertices))


def write_set(path, graphs, **more):
    """Writes a set in the format of the published ones."""
    sizes = [graph.num_edges for graph in graphs]
    np.savez_compressed(
        path,
        n=np.array([graph.num_vertices for graph in graphs], np.int32),
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        edges=np.concatenate([graph.edges for graph in graphs]).astype(np.int32),
        weights=np.concatenate([graph.weights for graph in graphs]).astype(np.int8),
        **more,
    )


GRAPHS = make_graphs([9, 10, 10, 7])
OPT = np.array([best_known(graph) for graph in GRAPHS], np.float64)


@pytest.fixture
def folder(tmp_path):
    write_set(tmp_path / "some.npz", GRAPHS, opt=OPT)
    half = np.where([True, False, True, False], OPT, np.nan)
    write_set(tmp_path / "half.npz", GRAPHS, opt=half, opt_source=np.array(["exact"] * 4))
    write_set(tmp_path / "none.npz", GRAPHS)
    return tmp_path


@pytest.fixture
def call(evaluate, call_program):
    """Calls the program; gives its status and what it printed."""
    return functools.partial(call_program, evaluate)


def test_reads_what_is_there(evaluate, folder):
    graphs, opt = evaluate.read_set(folder / "some.npz")
    assert graphs == GRAPHS
    assert opt.tolist() == OPT.tolist()
    graphs, opt = evaluate.read_set(folder / "none.npz", limit=3)
    assert graphs == GRAPHS[:3]
    assert np.isnan(opt).tolist() == [True] * 3


def test_any_other_file_is_one_graph(evaluate, tmp_path):
    (tmp_path / "one.txt").write_text("3 2\n1 2 1\n2 3 1\n")
    graphs, opt = evaluate.read_set(tmp_path / "one.txt")
    assert [graph.num_edges for graph in graphs] == [2]
    assert np.isnan(opt).tolist() == [True]


def save_array(path):
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def save_set(path, **changes):
    arrays = {"n": [3], "offsets": [0, 1], "edges": [[0, 1]], "weights": [1], **changes}
    arrays = {name: np.array(value) for name, value in arrays.items()}
    arrays["n"] = arrays["n"].astype(int) if arrays["n"].size == 0 else arrays["n"]
    np.savez(path, **arrays)


def test_a_graph_in_the_layout_of_this_package(evaluate, tmp_path):
    write_graph(tmp_path / "one.npz", GRAPHS[0])
    (graph,), opt = evaluate.read_set(tmp_path / "one.npz")
    assert graph == GRAPHS[0]
    assert np.isnan(opt).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "No such file"),
        (lambda path: path.write_bytes(b"PK\x03\x04 no zip"), "not an npz file"),
        (lambda path: path.write_text("text"), "not an npz file"),
        (lambda path: np.savez(path, n=[1], offsets=[0, 0]), "has no array 'edges'"),
        (lambda path: write_set(path, GRAPHS, n2=np.array([{}])), "not an npz file of numbers"),
        (lambda path: path.write_bytes(b""), "not an npz file of numbers"),
        (save_array, "not an npz file of numbers"),
        (lambda path: save_set(path, offsets=[0]), "the arrays do not fit together"),
        (lambda path: save_set(path, offsets=[0, 2]), "the arrays do not fit together"),
        (
            lambda path: save_set(path, n=[2, 2], offsets=np.array([0, 1, 0], np.uint8)),
            "the arrays do not fit together",
        ),
        (lambda path: save_set(path, n=[1.5]), "the arrays do not fit together"),
        (lambda path: save_set(path, weights=[[1]]), "the arrays do not fit together"),
        (lambda path: save_set(path, opt=[1.0, 2.0]), "the arrays do not fit together"),
        (lambda path: save_set(path, edges=[[0, 7]]), "graph 0: "),
        (lambda path: save_set(path, n=[], offsets=[0]), "has no graphs"),
    ],
)
def test_bad_sets(evaluate, tmp_path, make, words):
    make(tmp_path / "a.npz")
    with pytest.raises(GraphFileError, match="a.npz: ") as error:
        evaluate.read_set(tmp_path / "a.npz")
    assert words in str(error.value)


def test_row(evaluate):
    cuts = np.array([[8.0, 10.0], [6.0, 3.0], [1.0, 2.0], [5.0, 5.0]])
    row = evaluate.make_row("name", 0.5, cuts, np.array([10.0, 12.0, np.nan, 0.0]), 1.234)
    assert (row.set, row.temperature, row.graphs, row.left_out) == ("name", 0.5, 4, 2)
    assert row.ratio == pytest.approx((1.0 + 0.5) / 2)
    assert (row.low, row.high) == pytest.approx((0.58, 0.92))
    assert row.mean_ratio == pytest.approx((0.8 + 1.0 + 0.5 + 0.25) / 4)
    assert row.reached == 0.5
    assert row.cut == pytest.approx((10 + 6 + 2 + 5) / 4)


def test_a_set_of_several_sizes_compiles_once_and_gives_exact_cuts(evaluate, monkeypatch):
    chex.clear_trace_counter()
    traced = chex.assert_max_traces(evaluate.best_labels.__wrapped__, n=1)
    jitted, returned = jax.jit(traced, static_argnames="num_steps"), []

    def noted(*args, **options):
        returned.append(np.asarray(jitted(*args, **options)))
        return returned[-1]

    monkeypatch.setattr(evaluate, "best_labels", noted)
    config = evaluate.EvaluateConfig("softmax", (), trajectories=6, seed=3)
    agent = load_agent("softmax")
    cuts = {t: evaluate.evaluate_set(config, agent, GRAPHS, t) for t in (0.0, 0.5, "auto")}
    assert len(returned) == 12
    for g, (labels, row) in enumerate(zip(returned[:4], cuts[0.0], strict=True)):
        assert row.tolist() == [GRAPHS[g].cut(one[: GRAPHS[g].num_vertices]) for one in labels]
        assert not labels[:, GRAPHS[g].num_vertices :].any()
    for found in cuts.values():
        assert (found <= OPT[:, None]).all()
        assert found.max(axis=1).mean() > 0.9 * OPT.mean()
    assert (cuts[0.0] != cuts[0.5]).any()
    again = evaluate.evaluate_set(config, agent, GRAPHS, 0.5)
    np.testing.assert_array_equal(again, cuts[0.5])


def test_steps_are_those_of_each_graph(evaluate):
    """Without a flip the cuts are those of the random start labels."""
    config = evaluate.EvaluateConfig("softmax", (), trajectories=200, steps_factor=0.0)
    cuts = evaluate.evaluate_set(config, load_agent("softmax"), GRAPHS, 0.0)
    mean = [graph.weights.sum() / 2 for graph in GRAPHS]
    np.testing.assert_allclose(cuts.mean(axis=1), mean, atol=1.0)


def test_table_and_files(call, folder):
    out = folder / "rows.csv"
    names = f"--sets={folder / 'some.npz'},{folder / 'half.npz'},{folder / 'none.npz'}"
    arguments = ["--agent=softmax", "--temperature=0,0.3", "--trajectories=8", f"--out={out}"]
    status, printed, err = call(names, *arguments)
    assert (status, err) == (0, "")
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert printed.count("\n") == 1 + len(rows) == 7
    keys = [(row["set"], float(row["temperature"])) for row in rows]
    assert keys == list(itertools.product(("some", "half", "none"), (0.0, 0.3)))
    assert [row["left_out"] for row in rows] == ["0", "0", "2", "2", "4", "4"]
    assert {row["graphs"] for row in rows} == {"4"}
    assert all(0.8 < float(row["ratio"]) <= 1 for row in rows[:4])
    assert {row["ratio"] for row in rows[4:]} == {"nan"}
    assert rows[0]["cut"] == rows[4]["cut"]
    card = json.loads(out.with_suffix(".json").read_text())
    assert card["config"]["temperatures"] == [0.0, 0.3]
    assert card["config"]["trajectories"] == 8
    assert "SoftmaxConfig" in card["network"]


def test_an_agent_of_a_file_and_a_folder_of_sets(call, evaluate, folder):
    config = EcordConfig(rnn="none", embedding=4, layers=1, value_width=4, advantage_width=4)
    agent = jax.jit(init_agent, static_argnums=0)(config, to_arrays(GRAPHS[0]), jax.random.key(0))
    save_agent(agent, folder / "a.safetensors", {})
    (folder / "some.npz").rename(folder / f"{evaluate.DEFAULT_SETS[0]}.npz")
    arguments = [f"--agent={folder / 'a.safetensors'}", f"--data={folder}", "--limit=2"]
    status, printed, _ = call(*arguments, f"--sets={evaluate.DEFAULT_SETS[0]}", "--trajectories=3")
    assert status == 0
    assert printed.splitlines()[1].split()[:3] == [evaluate.DEFAULT_SETS[0], "0", "2"]
    status, _, err = call(*arguments)  # the other sets are not there
    assert status == 2
    assert f"{evaluate.DEFAULT_SETS[1]}.npz: No such file" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--sets or --data is needed"),
        (["more"], "unexpected argument 'more'"),
        (["--sets=no.npz"], "no.npz: No such file"),
        (["--sets=x", "--temperature=warm"], "--temperature"),
        (["--sets=x", "--trajectories=0"], "--trajectories=0"),
        (["--sets=x", "--out=rows.txt"], "ends with .csv"),
        (["--sets=x", "--out=no/rows.csv"], "--out=no/rows.csv"),
    ],
)
def test_bad_input(call, arguments, words):
    status, _, err = call("--agent=softmax", *arguments)
    assert status == 2
    assert err.count("\n") == 1
    assert words in err


def test_published_sets(evaluate, shared):
    graphs, opt = evaluate.read_set(shared / "data" / "er_ba" / "validation_ER_20.npz", 30)
    config = evaluate.EvaluateConfig("softmax", (), trajectories=50)
    cuts = evaluate.evaluate_set(config, load_agent("softmax"), graphs, 0.2)
    assert (cuts.max(axis=1) <= opt).all()  # they are exact
    assert cuts.max(axis=1).sum() >= 0.99 * opt.sum()
