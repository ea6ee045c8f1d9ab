"""Tests of experiments/make_data.py: the same graphs at each run, read by evaluate.py."""

import dataclasses
import hashlib
import itertools
import json
import re

import numpy as np
import pytest

from ecord_jax.graphs import models, planted
from ecord_jax.graphs.fingerprint import fingerprint

ER40 = "846b65b126039063f8f735c9f6b5de5b799ec57b3572b1ce2efcc3f13b8b544f"
BA20 = "ba8b78c943485103abb7ad58b928dc48afb6f9db562ea807a85cdab1e6bc716c"


@pytest.fixture(scope="module")
def program(load_program):
    return load_program("make_data")


@pytest.fixture
def call(program, call_program):
    return lambda *arguments: call_program(program, *arguments)


def test_sets_are_those_of_the_paper(program):
    sets = program.SETS
    for kind, n, (split, graphs) in itertools.product(
        ("ER", "BA"), (40, 60, 100, 200, 500), (("validation", 50), ("test", 100))
    ):
        spec = sets[f"{kind}{n}_{split}"]
        assert (spec.graphs, spec.parameters["weights"]) == (graphs, "signed")
        assert spec.parameters["num_vertices"] == n
    gset = {800: 19176, 1000: 9990, 2000: 19990, 5000: 12498, 7000: 17148, 10000: 9999}
    for n, edges in gset.items():
        spec = sets[f"ER{n}_validation"]
        expected = spec.parameters["edge_probability"] * n * (n - 1) / 2
        assert expected == pytest.approx(edges, rel=1e-3)
        assert (spec.graphs, spec.parameters["weights"]) == (10, "unit")
    assert len(sets) == 2 * 6 * 2 + 6 + 5 + 5 + len(program.KINDS)


def test_sets_never_change(program):
    """What seed 0 stands for, for good; so results can be compared without copies of the graphs."""
    for name, digest in (("ER40_test", ER40), ("BA20_validation", BA20)):
        spec = program.SETS[name]
        seeds = program.graph_seeds(name, spec.graphs, 0)
        graphs = program.make_graphs(spec, seeds)
        assert program.manifest(name, spec, seeds, graphs)["fingerprint"] == digest


def test_files(call, load_program, tmp_path):
    status, out, err = call(f"--out={tmp_path / 'new'}", "--sets=ER20_test,BA60_validation")
    assert (status, err) == (0, "")
    assert [re.sub(".*/", "", line) for line in out.splitlines()] == [
        "ER20_test.npz: 100 graphs, best known cuts proven",
        "BA60_validation.npz: 50 graphs, best known cuts proven",
    ]
    graphs, opt = load_program("evaluate").read_set(tmp_path / "new" / "ER20_test.npz")
    described = json.loads((tmp_path / "new" / "ER20_test.json").read_text())
    assert described["parameters"] == {
        "num_vertices": 20,
        "edge_probability": 0.15,
        "weights": "signed",
    }
    # Each graph can be made again of what is written.
    assert graphs == [
        models.erdos_renyi(**described["parameters"], seed=seed) for seed in described["seeds"]
    ]
    hashes = "".join(f"{fingerprint(graph)}\n" for graph in graphs)
    assert described["fingerprint"] == hashlib.sha256(hashes.encode()).hexdigest()
    assert set(described["versions"]) == {"python", "numpy", "ecord-jax"}
    labels = np.array(list(itertools.product((0, 1), repeat=20))[: 2**19], np.int8).T
    for graph, value in list(zip(graphs, opt, strict=True))[:2]:
        cut = sum(w * (labels[u] ^ labels[v]) for (u, v), w in zip(*pairs(graph), strict=True))
        assert cut.max() == value


def pairs(graph):
    return graph.edges.tolist(), graph.weights.astype(np.int8).tolist()


def test_another_run_writes_the_same_bytes(call, tmp_path):
    for folder in ("one", "two"):
        assert call(f"--out={tmp_path / folder}", "--sets=BA20_test")[0] == 0
    assert call(f"--out={tmp_path / 'three'}", "--sets=BA20_test", "--seed=1")[0] == 0
    for suffix in (".npz", ".json"):
        one, two, three = (
            (tmp_path / folder / f"BA20_test{suffix}").read_bytes()
            for folder in ("one", "two", "three")
        )
        assert one == two != three


def test_values_that_are_not_known_are_left_out(call, load_program, tmp_path):
    status, out, _ = call(f"--out={tmp_path}", "--sets=ER800_validation")
    assert status == 0
    assert "no best known cuts" in out
    with np.load(tmp_path / "ER800_validation.npz") as file:
        assert set(file.files) == {"n", "offsets", "edges", "weights"}
        assert file["n"].tolist() == [800] * 10
    _, opt = load_program("evaluate").read_set(tmp_path / "ER800_validation.npz", limit=2)
    assert np.isnan(opt).all()
    assert json.loads((tmp_path / "ER800_validation.json").read_text())["opt"] == "none"


def test_one_wide_graph_leaves_out_all_values(program):
    one, other = (
        program.SetSpec("erdos_renyi", {"num_vertices": n, "edge_probability": 1.0}, 1, True)
        for n in (5, 30)
    )
    assert program.largest_cuts(one, [0]) == ([6], "elimination of vertices")
    assert program.largest_cuts(other, [0]) is None
    assert program.largest_cuts(dataclasses.replace(one, proven=False), [0]) is None


def test_planted_and_gaussian_sets(call, load_program, tmp_path):
    status, _, _ = call(f"--out={tmp_path}", "--sets=PLANTED2000_test,TORUS2000_test,gaussian_test")
    assert status == 0
    read_set = load_program("evaluate").read_set
    (graph,), (cut,) = read_set(tmp_path / "PLANTED2000_test.npz")
    described = json.loads((tmp_path / "PLANTED2000_test.json").read_text())
    made = planted.planted_torus(**described["parameters"], seed=described["seeds"][0])
    assert described["model"] == "ecord_jax.graphs.planted.planted_torus"
    assert (graph, cut) == (made.graph, made.cut)
    lattices, opt = read_set(tmp_path / "TORUS2000_test.npz")
    assert [(graph.num_vertices, graph.num_edges) for graph in lattices] == [(2000, 4000)] * 2
    assert np.isnan(opt).all()
    (gaussian,), _ = read_set(tmp_path / "gaussian_test.npz")
    described = json.loads((tmp_path / "gaussian_test.json").read_text())
    assert gaussian == models.erdos_renyi(**described["parameters"], seed=described["seeds"][0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "flag --out is needed"),
        (["--out={}/data", "--sets=ER30_test"], "no set 'ER30_test'; there are ER20_validation,"),
        (["--out={}/file/data"], "Not a directory"),
        (["--out={}/data", "--seed=-1"], "--seed=-1"),
        (["--out={}/data", "more"], "unexpected argument 'more'"),
    ],
)
def test_bad_input(call, tmp_path, arguments, words):
    (tmp_path / "file").touch()
    status, _, err = call(*(argument.format(tmp_path) for argument in arguments))
    assert status == 2
    assert len(err.splitlines()) == 1
    assert words in err
