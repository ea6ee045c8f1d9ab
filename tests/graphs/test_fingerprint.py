"""Tests of fingerprints, with the GSet graphs where they are."""

import hashlib

import numpy as np
import pytest

from ecord_jax.graphs import Graph, read_graph
from ecord_jax.graphs.fingerprint import fingerprint, gset_graphs
from ecord_jax.graphs.io.rudy import write_rudy


def test_what_is_hashed():
    graph = Graph.from_edges([(2, 0), (1, 0)], [-3, 2**60], num_vertices=4)
    text = b"4 2\n1 2 1152921504606846976\n1 3 -3\n"
    assert fingerprint(graph) == hashlib.sha256(text).hexdigest()
    floats = Graph.from_edges([(0, 1)], [0.1])
    assert fingerprint(floats) == hashlib.sha256(b"2 1\n1 2 0.1\n").hexdigest()
    assert fingerprint(Graph.from_edges([])) == hashlib.sha256(b"0 0\n").hexdigest()


def test_what_counts():
    edges = np.array([(0, 1), (1, 2), (0, 3)])
    graph = Graph.from_edges(edges, [1, 2, 3])
    same = Graph.from_edges(edges[::-1, ::-1], [3.0, 2.0, 1.0], names="abcd")
    assert fingerprint(graph) == fingerprint(same)
    others = [
        Graph.from_edges(edges, [1, 2, 4]),
        Graph.from_edges(edges, [1, 2, 3], num_vertices=5),
        Graph.from_edges(edges[:2], [1, 2], num_vertices=4),
    ]
    assert len({fingerprint(other) for other in [graph, *others]}) == 4


def test_a_file_has_the_fingerprint_of_its_graph(tmp_path):
    graph = Graph.from_edges([(4, 1), (2, 3)], [-1, 1])
    write_rudy(tmp_path / "graph.txt.gz", graph)
    assert fingerprint(read_graph(tmp_path / "graph.txt.gz")) == fingerprint(graph)


def test_the_table():
    table = gset_graphs()
    names = [f"G{i}" for i in (*range(1, 68), 70, 72, 77, 81)]
    assert list(table) == names
    assert all(graph.name == name for name, graph in table.items())
    assert len({graph.fingerprint for graph in table.values()}) == 71
    assert all(len(graph.fingerprint) == 64 for graph in table.values())
    assert table["G81"][:4] == ("G81", 20000, 40000, 34)
    # The G23 of the literature has the edges of G28.
    assert table["G23"].num_edges == table["G28"].num_edges


@pytest.mark.parametrize("name", ["G1", "G14", "G23", "G55", "G70"])
def test_gset_graphs(shared, name):
    graph = read_graph(shared / "data" / "gset" / f"{name}.txt.gz")
    wanted = gset_graphs()[name]
    assert (graph.num_vertices, graph.num_edges) == (wanted.num_vertices, wanted.num_edges)
    assert graph.weights.sum() == wanted.total_weight
    assert fingerprint(graph) == wanted.fingerprint


def test_the_table_is_the_shared_one(shared):
    lines = (shared / "gset_fingerprints.tsv").read_text().splitlines()[2:]
    rows = ["\t".join(map(str, graph)) for graph in gset_graphs().values()]
    assert rows == lines
