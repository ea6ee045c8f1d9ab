"""Tests of graphs to compare on, and of the references."""

import json
import pathlib

import numpy as np
import pytest

from ecord_jax.baselines.cases import Reference, find_files, read_cases, read_references
from ecord_jax.errors import GraphFileError, OptionError
from ecord_jax.graphs import models, write_graph
from ecord_jax.graphs.fingerprint import fingerprint, gset_graphs

GRAPHS = [models.erdos_renyi(8, 0.6, seed=s) for s in range(4)]
REFERENCES = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "references.json"


def write_set(path, graphs, opt=None):
    sizes = [graph.num_edges for graph in graphs]
    arrays = {
        "n": np.array([graph.num_vertices for graph in graphs]),
        "offsets": np.cumsum([0, *sizes]),
        "edges": np.concatenate([graph.edges for graph in graphs]),
        "weights": np.concatenate([graph.weights for graph in graphs]),
    }
    np.savez(path, **arrays, **({} if opt is None else {"opt": np.array(opt)}))


def test_own_values_come_before_others(tmp_path):
    write_set(tmp_path / "a.npz", GRAPHS[:3], [7.0, np.nan, np.nan])
    known = {fingerprint(GRAPHS[i]): Reference(9.0, 8.0) for i in (0, 1)}
    cases = read_cases([tmp_path / "a.npz"], known)
    assert [case.name for case in cases] == ["a/0", "a/1", "a/2"]
    assert [case.reference for case in cases] == [Reference(7.0, None), Reference(9.0, 8.0), None]
    assert [case.graph for case in cases] == GRAPHS[:3]
    assert cases[2].fingerprint == fingerprint(GRAPHS[2])


def test_folders_and_limits(tmp_path):
    folder = tmp_path / "some"
    folder.mkdir()
    for name, graph in zip(("G14", "G2", "G1", "H"), GRAPHS, strict=True):
        write_graph(folder / f"{name}.txt.gz", graph, "rudy")
    (folder / "README.md").write_text("text")
    for name in (".hidden", "G3.txt.part", "G4.txt.wrong"):
        (folder / name).write_text("text")
    files = find_files([str(folder)])
    assert [file.name for file in files] == [f"{n}.txt.gz" for n in ("G1", "G2", "G14", "H")]
    cases = read_cases(files, {}, limit=2)
    assert [(case.set, case.name) for case in cases] == [("some", "G1"), ("some", "G2")]
    write_set(folder / "b.npz", GRAPHS)
    write_set(folder / "c.npz", GRAPHS)
    files = find_files([str(folder)])  # sets hide single graphs
    assert [case.name for case in read_cases(files, {}, limit=1)] == ["b/0", "c/0"]


def test_bad_input(tmp_path):
    with pytest.raises(OptionError, match="no graphs in this folder"):
        find_files([str(tmp_path)])
    write_set(tmp_path / "a.npz", GRAPHS)
    with pytest.raises(OptionError, match="two graphs are called a/0"):
        read_cases([tmp_path / "a.npz"] * 2, {})
    with pytest.raises(GraphFileError, match="No such file"):
        read_cases([tmp_path / "b.npz"], {})
    for text in ("{", "[]", '{"graphs": {"G1": {"source": "x"}}}', '{"graphs": [1]}'):
        (tmp_path / "r.json").write_text(text)
        with pytest.raises(GraphFileError, match="is no file of references"):
            read_references(tmp_path / "r.json")


def test_references_of_the_gset():
    found, names = read_references(REFERENCES), gset_graphs()
    for name, value, paper in (("G55", 10299, 10294), ("G60", 14188, 14176), ("G70", 9595, 9591)):
        assert found[names[name].fingerprint] == Reference(value, paper)
    assert found[names["G1"].fingerprint] == Reference(11624, None)
    entries = json.loads(REFERENCES.read_text())["graphs"].values()
    assert all(entry["source"] and entry["date"] for entry in entries)
