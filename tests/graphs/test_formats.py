"""Tests of reading graphs and problems in every format: what is told apart, read and refused."""

import bz2
import dataclasses
import gzip
import io
import itertools
import json
import lzma
import re
import warnings

import networkx
import numpy as np
import pytest
import scipy.io

from ecord_jax.errors import EcordError, EcordWarning, GraphFileError, OptionError
from ecord_jax.graphs import Graph, Problem, read_graph, read_problem, write_graph, write_problem
from ecord_jax.graphs.io.files import read_source
from ecord_jax.graphs.io.formats import FORMATS, detect

MTX = "%%MatrixMarket matrix coordinate"
TRIANGLE = Graph.from_edges([(0, 1), (1, 2), (0, 2)], [5, 7, -3], names=range(1, 4))
PATH = Graph.from_edges([(0, 1), (1, 2)], names=range(1, 4))
# x'Qx + 2 of three variables; -2 x0 + 3 x0 x1 - x2 + 2
QUBO = Problem.from_qubo({(0, 0): -2, (0, 1): 3, (2, 2): -1}, names=range(3))
SPINS = Problem.from_ising([0.5, 0, 0], {(0, 1): 1, (1, 2): 1, (0, 2): 1})


@pytest.fixture
def write(tmp_path):
    """Gives a function that writes text or bytes to a file of some name."""

    def write(content, name="file"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def quietly(read, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EcordWarning)
        return read(*args, **kwargs)


def best_objective(problem):
    low = -1 if problem.kind == "ising" else 0
    values = itertools.product((low, 1), repeat=problem.num_variables)
    return (max if problem.sense == "max" else min)(map(problem.objective, values))


NODE_LINK = networkx.node_link_data(TRIANGLE.to_networkx(), edges="links")
GRAPHS = [
    ("3 3\n1 2 5\n2 3 7\n1 3 -3\n", "g.txt", "rudy", TRIANGLE),
    ("3 3\n1 2 5\n2 3 7\n1 3 -3\n", "g", "rudy", TRIANGLE),
    (f"{MTX} real symmetric\n% c\n\n3 3 3\n2 1 5\n3 2 7\n3 1 -3\n", "g", "matrix-market", TRIANGLE),
    (f"{MTX} integer general\n3 3 3\n1 2 5\n2 3 7\n1 3 -3\n", "g.txt", "matrix-market", TRIANGLE),
    (
        f"{MTX.lower()} INTEGER General\n3 3 6\n2 1 5\n3 2 7\n3 1 -3\n1 2 5\n2 3 7\n1 3 -3",
        "g.bq",
        "matrix-market",
        TRIANGLE,
    ),
    (f"{MTX} pattern symmetric\n3 3 2\n2 1\n3 2\n", "g.mtx", "matrix-market", PATH),
    (f"{MTX} pattern general\n3 3 4\n2 1\n1 2\n3 2\n2 3\n", "g.mtx", "matrix-market", PATH),
    (
        f"{MTX[:-10]}array real symmetric\n3 3\n0\n5\n-3\n0\n7\n0\n",
        "g.mtx",
        "matrix-market",
        TRIANGLE,
    ),
    (
        f"{MTX[:-10]}array integer general\n3 3\n0\n5\n-3\n5\n0\n7\n-3\n7\n0\n",
        "g.mtx",
        "matrix-market",
        TRIANGLE,
    ),
    ("c one\n\nc\np edge 3 2\nc two\ne 1 2\r\n e 3  2\n", "g", "dimacs", PATH),
    ("p col 3 2\ne 1 2\ne 2 3\n", "g.txt", "dimacs", PATH),
    ("% c\n3 2\n2\n 1 3 \n% c\n2", "g.graph", "metis", PATH),
    ("3 3 1\n2 5 3 -3\n1 5 3 7\n1 -3 2 7\n\n", "g.graph", "metis", TRIANGLE),
    ("1 2 5\n2 3 7\n1 3 -3\n", "g.wel", "edges", TRIANGLE),
    ("# c\n1 2\n\n3\t2\n", "g.el", "el", PATH),
    ("1, 2,5\n2,3 ,7\n1,3,-3\n", "g.csv", "csv", TRIANGLE),
    (json.dumps(NODE_LINK), "g", "json", TRIANGLE),
    (json.dumps(NODE_LINK).replace("links", "edges"), "g.json", "json", TRIANGLE),
]
PROBLEMS = [
    ("c c\np qubo 0 3 3 1\n0 0 -2\n1 1 0\nc\n2 2 -1\n0 1 3\n", "q", "qubo", QUBO),
    ("p qubo unconstrained 9 2 1\n0 0 -2\n2 2 -1.0\n0 1 3\n", "q.txt", "qubo", QUBO),
    ("# c\n3 3\n1 1 -2\n3 3 -1\n2 1 1.5\n", "q.bq", "biq-mac", QUBO),
    ("3 3\n1 1 -2\n3 3 -1\n1 2 1.5\n", "q.sparse", "biq-mac", QUBO),
    ("# vartype=BINARY\n0 0 -2\n2 2 -1.000000\n1 0 3\n", "q.txt", "coo", QUBO),
    ("# c, vartype: SPIN\n0 0 0.5\n0 1 1\n1 2 1\n0 2 1\n", "q", "coo", SPINS),
    ("# c\n0 0.5\n0 1 1\n1 2 1\n0 2 1\n", "s.ising", "ising", SPINS),
]


@pytest.mark.parametrize(("content", "name", "format", "expected"), GRAPHS)
def test_graphs(write, content, name, format, expected):
    path = write(content, name)
    assert detect(read_source(path), path).name == format
    graph = read_graph(path)
    assert graph.names == expected.names
    assert read_graph(path, format) == graph
    assert graph.edges.tolist() == expected.edges.tolist()
    assert graph.weights.tolist() == expected.weights.tolist()
    assert read_problem(path) == Problem.from_max_cut(graph)


@pytest.mark.parametrize(("content", "name", "format", "expected"), PROBLEMS)
def test_problems(write, content, name, format, expected):
    path = write(content, name)
    assert detect(read_source(path), path).name == format
    problem = read_problem(path)
    if format == "biq-mac":
        assert problem.names == range(1, 4)
    numbered = Graph(problem.pairs, problem.quadratic, expected.names)
    assert dataclasses.replace(problem, couplings=numbered) == expected
    assert read_problem(path, format) == problem
    with pytest.raises(GraphFileError, match="not a graph; expected a graph; read_problem"):
        read_graph(path)


def test_words_come_in_the_order_of_their_first_use(write):
    graph = read_graph(write("# c\nz b 2\nb a-1 0.5\n", "g.wel"))
    assert graph.names == ("z", "b", "a-1")
    assert graph.weights.tolist() == [2, 0.5]
    graph = read_graph(write("New York, Rio\nRio,Bonn\n", "g.csv"))
    assert graph.names == ("New York", "Rio", "Bonn")
    problem = read_problem(write("-1\nb 2\na b 1\n", "s.ising"))
    assert (problem.names, problem.offset) == (("b", "a"), -1)


def test_integers_that_name_vertices(write):
    graph = read_graph(write(f"{2**62 + 1} 7 0.5\n7 {2**62} 1\n", "g.wel"))
    assert graph.names == (7, 2**62, 2**62 + 1)
    assert read_graph(write("3 5\n4 3\n", "g.el")).names == range(3, 6)


def test_a_graph_is_a_problem_unless_it_is_all_isolated_vertices(write):
    path = write("1000000 0\n", "g.txt")
    assert read_problem(path).num_variables == 10**6
    path = write("2147483647 1\n1 2\n", "g.txt")
    assert read_graph(path).num_vertices == 2**31 - 1
    with pytest.raises(GraphFileError, match="but 1 coefficients or edges; .* than 1000100"):
        read_problem(path)


def test_isolated_vertices_are_not_written_one_by_one(tmp_path):
    graph = Graph.from_edges([(0, 1)], num_vertices=2**31 - 1)
    for name in ("g.json", "g.qubo", "g.bqm", "g.ising", "g.coo"):
        with pytest.raises(EcordError, match="too many for"):
            write_graph(tmp_path / name, graph, lossy=True)
    for name in ("g.txt", "G.MTX.GZ", "g.npz", "g.col"):
        write_graph(tmp_path / name, graph)
        assert read_graph(tmp_path / name).num_vertices == 2**31 - 1
    assert (tmp_path / "G.MTX.GZ").read_bytes()[:2] == b"\x1f\x8b"


def test_words_that_would_not_read_back(tmp_path):
    for name in ("1", "a,b", "#a", "a b", "source", "", "\u00a0", 'a"', "a\n", "-.5e1", "\udcff"):
        graph = Graph.from_edges([(0, 1)], names=("target", name))
        with pytest.raises(EcordError, match="cannot carry the names"):
            write_graph(tmp_path / "g.wel", graph)


def test_zero_based(write):
    for content, name, expected in [
        ("3 2\n0 1\n1 2\n", "g.txt", PATH),
        ("p edge 3 2\ne 0 1\ne 1 2\n", "g.col", PATH),
        ("3 2\n1\n0 2\n1\n", "g.graph", PATH),
        (f"{MTX} pattern symmetric\n3 3 2\n1 0\n2 1\n", "g.mtx", PATH),
    ]:
        path = write(content, name)
        graph = read_graph(path, zero_based=True)
        assert graph.names == range(3)
        assert graph.edges.tolist() == expected.edges.tolist()
        with pytest.raises(GraphFileError, match=r"no (vertex|row or column) 0 .*counted from 1"):
            read_graph(path)
    assert read_problem(write("3 3\n0 0 -2\n2 2 -1\n1 0 1.5", "q.bq"), zero_based=True) == QUBO
    with pytest.raises(OptionError, match="el files do not count"):
        read_graph(write("0 1\n", "g.el"), zero_based=True)


def test_compressed(write, tmp_path):
    text = b"3 3\n1 2 5\n2 3 7\n1 3 -3\n"
    padded = lzma.compress(text[:9]) + lzma.compress(text[9:]) + b"\0" * 4
    for data in (gzip.compress(text), bz2.compress(text), lzma.compress(text), padded):
        assert read_graph(write(data, "g")) == TRIANGLE
    for suffix in (".gz", ".bz2", ".xz"):
        write_graph(tmp_path / f"g.mtx{suffix}", TRIANGLE)
        assert read_graph(tmp_path / f"g.mtx{suffix}") == TRIANGLE
        data = (tmp_path / f"g.mtx{suffix}").read_bytes()
        assert MTX.encode() not in data
        for broken in (data[:-9], data[:20], data + b"more"):
            with pytest.raises(GraphFileError, match="broken (gzip|bzip2|xz) file"):
                read_graph(write(broken, "g"))


def test_standard_input(write, monkeypatch, capfd):
    def use(text):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))

    use(gzip.compress(b"3 3\n1 2 5\n2 3 7\n1 3 -3\n"))
    assert read_graph("-") == TRIANGLE
    use(b"3 1\n1 4 5\n")
    with pytest.raises(GraphFileError, match=re.escape("<standard input>:2: no vertex 4")):
        read_graph("-")


def test_utf16_is_named(write):
    with pytest.raises(GraphFileError, match="UTF-16; expected UTF-8"):
        read_graph(write("3 0\n".encode("utf-16")))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("1 2 5\n2 3 7\n", 1, "bad header, which fits no format .got '1 2 5'.; expected .*rudy, "),
        ("a b\n", 1, "bad header, which fits no format"),
        ("", None, "empty"),
        ('{"a": 1}', None, "this JSON fits no format; expected JSON that has `nodes`, or"),
        ("{", 1, "broken JSON"),
        ('{"nodes": [], "nodes": []}', None, "the key 'nodes' is there twice"),
        ('{"nodes": NaN}', None, "NaN is no number"),
        ('{"nodes": ' + "[" * 100_000, None, "nested too deep"),
        ('{"nodes": ' + "9" * 10_000 + "}", None, "broken JSON"),
    ],
)
def test_what_fits_no_format(write, text, line, words):
    with pytest.raises(GraphFileError, match=words) as error:
        read_graph(write(text, "g.txt"))
    assert error.value.line == line
    assert "\n" not in str(error.value)


def test_unknown_format(write):
    with pytest.raises(OptionError, match="expected one of rudy, matrix-market"):
        read_graph(write("3 0\n"), "gset")
    with pytest.raises(OptionError, match="no format has the suffix of '.*out.foo'"):
        write_graph("out.foo", PATH)
    with pytest.raises(OptionError, match="metis is only read"):
        write_graph("out.graph", PATH)


BAD = {
    "matrix-market": [
        ("%%MatrixMarket matrix coordinate real\n1 1 0\n", 1, "bad first line"),
        (f"{MTX} complex general\n1 1 0\n", 1, "no matrix of a graph"),
        (f"{MTX} real skew-symmetric\n1 1 0\n", 1, "no matrix of a graph"),
        (f"{MTX[:-10]}array pattern general\n1 1\n", 1, "no matrix of a graph"),
        (f"{MTX} real general\n", None, "ends early"),
        (f"{MTX} real general\n% c\n\n3 3\n", 4, "bad size"),
        (f"{MTX} real general\n3 2 0\n", 2, "not square"),
        (f"{MTX} real general\n3 -3 0\n", 2, "bad header"),
        (f"{MTX} real general\n{10**12} {10**12} 0\n", 2, "no more than 2147483647"),
        (f"{MTX} real general\n3 3 {10**12}\n1 2 1\n", 2, "says 1000000000000 entries, .* has 1"),
        (f"{MTX[:-10]}array real general\n{10**9} {10**9}\n1\n", 2, "says 1000000000000000000 ent"),
        (f"{MTX} real general\n3 3 1\n1 2\n", 3, "2 columns"),
        (f"{MTX} pattern general\n3 3 1\n1 2 1\n", 3, "3 columns"),
        (f"{MTX} real general\n3 3 1\n1 4 1\n", 3, "no row or column 4"),
        (f"{MTX} integer general\n3 3 2\n1 2 1\n\n1 3 1.5\n", 5, "line 1 says integer"),
        (f"{MTX} real general\n3 3 2\n1 2 1\n2 1 2\n", 3, r"entry \(1, 2\) differs"),
        (f"{MTX} real general\n3 3 2\n1 2 1\n3 2 2\n", 3, r"entry \(1, 2\) differs"),
        (f"{MTX} real symmetric\n3 3 2\n1 2 1\n2 1 1\n", 3, "both triangles"),
        (f"{MTX} real general\n3 3 1\n1 2 nan\n", 3, "not a finite number"),
    ],
    "dimacs": [
        ("p edge 3\n", 1, "bad problem line"),
        ("c c\np sp 3 2\n", 2, "bad problem line"),
        ("p edge 3 x\n", 1, "bad problem line"),
        (f"p edge {10**12} 0\n", 1, "no more than"),
        ("p edge 3 1\n1 2\n", 2, "no edge .got '1 2'.; expected e u v"),
        ("p edge 3 1\ne 1\n", 2, "1 columns"),
        ("p edge 3 1\ne 1 2 3\n", 2, "3 columns"),
        ("p edge 3 1\nc\ne 1 4\n", 3, "no vertex 4 .got 'e 1 4'"),
        ("p edge 3 1\ne 1 b\n", 2, "not an integer"),
        (f"p edge 3 {10**12}\ne 1 2\n", 1, "the file has 1 lines of 1 different"),
    ],
    "metis": [
        ("", None, "empty"),
        ("% c\n3\n", 2, "bad header"),
        ("3 2 111\n", 1, "one thing in METIS and another in Chaco"),
        ("3 2 2\n", 1, "expected fmt 0, 1, 10 or 11"),
        (f"{10**12} 0\n", 1, "no more than"),
        (f"{10**9} 0\n\n", 1, "says 1000000000 vertices, the file has 1"),
        ("3 2\n2\n1 3", 1, "says 3 vertices, the file has 2"),
        ("2 1\n2\n1\n1\n", 4, "a line too many"),
        ("3 3\n2\n1 3\n2\n", 1, "says 3 edges, the file has 2"),
        ("2 1\n3\n1\n", 2, "no vertex 3"),
        ("% c\n2 1\n% c\n2\n% c\nx\n", 6, "'x' is not an integer"),
        ("2 1\n2\n1-1\n", 3, "'1-1' is not an integer"),
        ("2 1 1\n2 5\n1\n", 3, "1 numbers .*expected neighbours, each with its weight"),
        ("2 1 10 2\n1 1 2\n1\n", 3, "1 numbers .*expected 2 weights of the vertex, and neigh"),
        ("2 1 1\n2 5\n1 6\n", 2, "vertex 2 has another weight"),
        ("2 1 1\n2 5\n1 99999999999999999999\n", 3, "not an integer of 64 bits"),
        ("2 1\n2\n\n", 2, "vertex 2 does not have 1 as a neighbour"),
        ("2 1\n2 2\n1 1\n", 2, "vertex 2 is there twice"),
        ("2 1\n1\n2\n", 2, "vertex 1 is its own neighbour"),
    ],
    "edges": [
        ("", None, "empty"),
        ("1 2 3 4\n", 1, "4 columns"),
        ("1 2\n1 2 3\n", 2, "3 columns where"),
        ("1 -2\n", 1, "no vertex -2"),
        ("1 2\n1 99999999999999999999\n", 2, "no vertex 99999999999999999999"),
        ("1 2\n1 b\n", 2, "not an integer"),
        ("1 2.5\n", 1, "not an integer"),
        ("a b\nc\n", 2, "1 columns"),
        ("a b\na 1\n", 2, "'1' is a number, others are words"),
        ("a b c\n", 1, "not a finite number"),
        ("a b 1\na c inf\n", 2, "not a finite number"),
        ("a b 1e999\n", 1, "too large"),
        ('a "b" 1\n', 1, "cannot be a vertex"),
        ("a b\u00a0c\n", 1, "cannot be a vertex"),
        ("source target\na b\n", 1, "titles of columns"),
        ("a b 9007199254740993\na c 0.5\n", 1, "would be rounded"),
        ("1 2 0.5\n1 3 9007199254740993\n", 2, "would be rounded"),
    ],
    "csv": [
        ("1 2 3\n", 1, "1 columns"),
        ("1,2 3\n", 1, "not an integer"),
        ("1,,3\n", 1, "not an integer"),
        ("1,2,\n", 1, "not a finite number"),
        ("source,target,weight\n1,2,3\n", 1, "titles of columns"),
        ("x,y\n1,2\n", 2, "'1' is a number, others are words"),
        ("a,b\n,b\n", 2, "cannot be a vertex"),
    ],
    "json": [
        ("[]", None, "no node-link JSON"),
        ('{"nodes": []}', None, "no node-link JSON"),
        ('{"nodes": [], "edges": [], "links": []}', None, "no node-link JSON"),
        ('{"nodes": [], "edges": [], "directed": true}', None, "directed"),
        ('{"nodes": [1], "edges": []}', None, "'nodes' is no list of objects"),
        ('{"nodes": [], "edges": {}}', None, "'edges' is no list of objects"),
        ('{"nodes": [{}], "edges": []}', None, r"nodes\[0\] has no 'id'"),
        ('{"nodes": [{"id": {}}], "edges": []}', None, "an object cannot be a name"),
        ('{"nodes": [{"id": 1}, {"id": 1.0}], "edges": []}', None, "1 nodes have the id"),
        ('{"nodes": [{"id": 1}], "edges": [{"source": 1}]}', None, r"edges\[0\] has no 'target'"),
        ('{"nodes": [{"id": 1}], "edges": [{"source": 1, "target": "1"}]}', None, "no node '1'"),
    ],
    "qubo": [
        ("0 0 1\n", 1, "bad program line"),
        ("p qubo 0 2 1\n", 1, "bad program line"),
        ("p qubo 0 2 -1 0\n", 1, "bad program line"),
        ("p qubo 0 2 1 0\n2 2 1\n", 2, "no node 2 .*0..1 by maxNodes"),
        ("p qubo 0 2 2 0\n1 1 1\n", 1, "says 2 nodes, the file has 1"),
        (f"p qubo 0 {10**12} 0 {10**12}\n0 1 1\n", 1, "couplers, the file has 1"),
        ("p qubo 0 2 0 1\nc\n1 0 1\n", 3, "wrong way round"),
        ("p qubo 0 2 2 0\n1 1 1\n1 1 1\n", 3, "twice"),
        ("p qubo 0 2 0 2\n0 1 1\n0 1 2\n", 3, "twice"),
        ("p qubo 0 2 0 1\n0 1\n", 2, "2 columns"),
    ],
    "biq-mac": [
        ("", None, "empty"),
        ("2\n", 1, "bad header"),
        ("2 1\n1 1\n", 2, "2 columns"),
        ("2 2\n1 1 1\n", 1, "says 2 entries, the file has 1"),
        ("2 2\n1 2 1\n2 1 1\n", 3, "twice"),
        ("2 1\n0 1 1\n", 2, "no variable 0"),
        (f"2 2\n2 2 {2**63 - 1}\n1 2 {2**62}\n", 3, "too large, since it counts twice"),
        ("2 1\n1 2 1e308\n", 2, "too large, since it counts twice"),
        ("2000000000 1\n1 2 1\n", 1, "2000000000 variables, but 1 coefficients"),
    ],
    "coo": [
        ("0 0 1\n", None, "no vartype; expected a line"),
        ("# vartype=SPINS\n0 0 1\n", None, "vartype SPINS"),
        ("# vartype=SPIN\n# vartype=BINARY\n0 0 1\n", None, "vartype BINARY and SPIN"),
        ("# vartype=SPIN\n0 0\n", 2, "2 columns"),
        ("# vartype=SPIN\na b 1\n", 2, "not an integer"),
    ],
    "ising": [
        ("", None, "empty"),
        ("1\n\n2\n", 3, "a second constant"),
        ("x\n", 1, "constant is not a finite number"),
        ("1e999\n", 1, "constant is not a finite number"),
        ("0 1\n0 1 2 3\n", 2, "4 columns"),
        ("0 1\n0 2\n", 2, "twice"),
        ("0 1 1\n1 0 1\n", 2, "twice"),
        ("0 0 1\n", 1, "of a variable to itself .*expected 'i h' for a field"),
        ("a 1\na b c\n", 2, "not a finite number"),
        ("a b\n", 1, "not a finite number"),
    ],
}


@pytest.mark.parametrize(
    ("format", "text", "line", "words"), [(f, *case) for f, cases in BAD.items() for case in cases]
)
def test_bad_files_name_the_line(write, format, text, line, words):
    path = write(text, "file")
    with pytest.raises(GraphFileError, match=words) as error:
        quietly(read_problem, path, format)
    assert error.value.line == line
    assert str(error.value).startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert "\n" not in str(error.value)


def test_weights_in_json(write):
    def read(*weights):
        edges = [f'{{"source": {i}, "target": 9, "weight": {w}}}' for i, w in enumerate(weights)]
        nodes = [f'{{"id": {i}}}' for i in range(10)]
        return read_graph(write(f'{{"nodes": [{",".join(nodes)}], "edges": [{",".join(edges)}]}}'))

    assert read(2**63 - 1, -(2**63)).weights.tolist() == [2**63 - 1, -(2**63)]
    assert read(2**53, 0.5).weights.tolist() == [2**53, 0.5]
    for bad, words in [
        (["true"], "is no number"),
        (["null"], "is no number"),
        (['"1"'], "is no number .got '1'"),
        ([2**63], "beyond 64 bits"),
        (["1e999"], "not finite"),
        ([2**53 + 1, 0.5], "rounded beside fractions"),
    ]:
        with pytest.raises(GraphFileError, match=words):
            read(*bad)


def test_names_in_json(tmp_path):
    names = ("a", 10, 2.5, None, ("t", (1, 2)), "\u00e9\ud800")
    graph = Graph.from_edges([(0, 1), (4, 5)], [1, 2], names=names)
    for name in ("g.json", "g.npz"):
        write_graph(tmp_path / name, graph)
        assert read_graph(tmp_path / name).names == names
    deep = ("x",)
    for _ in range(30):
        deep = (deep,)
    for name in (deep, np.int64(3), float("nan"), 2**70, frozenset()):
        with pytest.raises(EcordError, match="cannot carry the names"):
            write_graph(tmp_path / "g.json", Graph.from_edges([], names=[name]))


def test_npz(write, tmp_path):
    def save(**arrays):
        file = io.BytesIO()
        np.savez(file, **arrays)
        return write(file.getvalue(), "g")

    good = {"edges": [[0, 1]], "weights": [2], "range": [5, 9, 2]}
    assert read_graph(save(**good)) == Graph.from_edges([(0, 1)], [2], names=(5, 7))
    for change, words in [
        ({"edges": [[0, 2]]}, "joins 0 and 2"),
        ({"edges": [0, 1]}, "pairs of vertices"),
        ({"edges": [[0.5, 1]]}, "pairs of integers"),
        ({"weights": [1, 2]}, "2 weights for 1 edges"),
        ({"weights": [1j]}, "must be numbers"),
        ({"range": [0, 1, 0]}, "bad names"),
        ({"range": [-(2**63), 2**63 - 1, 1]}, "bad names"),
        ({"range": [0, 2]}, "expected three integers"),
        ({"names": np.zeros(2, np.uint8)}, "expected arrays 'edges', 'weights' and either"),
        ({"edges": np.array([None])}, "broken npz file: .*allow_pickle"),
    ]:
        with pytest.raises(GraphFileError, match=words):
            read_graph(save(**{**good, **change}))
    with pytest.raises(GraphFileError, match="expected arrays"):
        read_graph(save(a=[1]))
    with pytest.raises(GraphFileError, match="broken npz file"):
        read_graph(write(b"PK\x03\x04rest"))


def test_npz_headers_that_claim_too_much(write):
    """An array of 8 TB has no place; one of 8 GB is never filled."""
    for count in (10**12, 10**9):
        file = io.BytesIO()
        np.savez(file, edges=np.zeros((0, 2), int), weights=np.zeros(7, int), range=[0, 0, 1])
        claim = f"({count},), }}"
        data = file.getvalue()
        start = data.index(b"(7,), }")
        data = data[:start] + claim.encode() + data[start + len(claim) :]
        with pytest.raises(GraphFileError, match="broken npz file"):
            read_graph(write(data))


def test_matrices_as_scipy_reads_them(tmp_path):
    rng = np.random.default_rng(0)
    for symmetry, field in itertools.product(("general", "symmetric"), ("integer", "real")):
        matrix = np.triu(rng.integers(-3, 4, (9, 9)), 1) / (4 if field == "real" else 1)
        matrix = (matrix + matrix.T).astype(float if field == "real" else int)
        for given in (matrix, scipy.sparse.coo_array(matrix)):
            scipy.io.mmwrite(tmp_path / "m.mtx", given, field=field, symmetry=symmetry)
            graph = read_graph(tmp_path / "m.mtx")
            assert np.array_equal(graph.adjacency().toarray(), matrix)
            write_graph(tmp_path / "again.mtx", graph)
            assert np.array_equal(scipy.io.mmread(tmp_path / "again.mtx").toarray(), matrix)


def test_networkx_reads_what_is_written(tmp_path):
    graph = Graph.from_edges([(0, 1), (1, 2)], [2, 0.5], names=("a", 10, ("t", 3)))
    write_graph(tmp_path / "g.json", graph)
    data = json.loads((tmp_path / "g.json").read_text())
    again = networkx.node_link_graph(data, edges="edges")
    assert Graph.from_networkx(again) == graph


def cases(shared):
    return json.loads((shared / "cases" / "cases.json").read_text())


def test_cases_of_matrices(shared, write):
    found = [case for case in cases(shared) if case["format"] == "matrix-market"]
    assert len(found) >= 4
    for case in found:
        graph = read_graph(write(case["text"], "m.mtx"))
        assert best_objective(Problem.from_max_cut(graph)) == case["expect"]["cut"], case["id"]
        assert graph.num_edges == case["expect"].get("edges", graph.num_edges), case["id"]


def test_cases_in_every_format_that_carries_them(shared, tmp_path):
    """Graphs, with whatever names, keep their best cut on the way through each format."""
    for case in cases(shared):
        if case["kind"] == "networkx":
            pairs = networkx.Graph()
            pairs.add_weighted_edges_from(case["text"])
            graph = Graph.from_networkx(pairs)
        elif case["kind"] == "maxcut" and not case["expect"].get("error"):
            (tmp_path / "case").write_bytes(case["text"].encode())
            graph = quietly(read_graph, tmp_path / "case")
        else:
            continue
        for name, each in FORMATS.items():
            if each.write is None:
                continue
            try:
                write_graph(tmp_path / "out", graph, name)
            except EcordError:
                quietly(write_graph, tmp_path / "out", graph, name, lossy=True)
                if not each.is_graph:
                    problem = read_problem(tmp_path / "out", name)
                    assert best_objective(problem) == -case["expect"]["cut"], case["id"]
                continue
            again = read_problem(tmp_path / "out", name)
            assert best_objective(again) == case["expect"]["cut"], (case["id"], name)


def test_cases_of_problems(shared, tmp_path):
    """The file of a case says what the case says, after a change of variables, too."""
    by_id = {case["id"]: case for case in cases(shared)}
    qubo = by_id["qubo-upper"]["text"]
    Q = {(i, i): -value for i, value in enumerate(qubo["diag"], 1)}
    Q |= {(i, j): -value for i, j, value in qubo["pairs"]}
    ising = by_id["ising-field"]["text"]
    fields = dict(enumerate(ising["h"], 1))
    couplings = {(i, j): value for i, j, value in ising["J"]}
    k4 = {(i, j): value for i, j, value in by_id["ising-k4"]["text"]["J"]}
    for id, problem in [
        ("qubo-upper", Problem.from_qubo(Q)),
        ("ising-field", Problem.from_ising(fields, couplings)),
        ("ising-k4", Problem.from_ising(None, k4)),
    ]:
        value = by_id[id]["expect"]["value"] * (-1 if id == "qubo-upper" else 1)
        for name, each in FORMATS.items():
            if each.is_graph:
                continue
            if problem.kind == "ising" and each.kinds == ("qubo",):
                with pytest.raises(EcordError, match="the constant"):
                    write_problem(tmp_path / "out", problem, name)
                continue
            write_problem(tmp_path / "out", problem, name)
            assert best_objective(read_problem(tmp_path / "out", name)) == value, (id, name)
