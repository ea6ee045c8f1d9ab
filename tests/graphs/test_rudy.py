"""Tests of reading and writing rudy text and labels, good and bad."""

import gzip
import hashlib
import itertools
import json
import os
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecord_jax.errors import EcordError, EcordWarning, GraphFileError
from ecord_jax.graphs import Graph, read_graph, read_labels, write_labels
from ecord_jax.graphs.io.rudy import write_rudy

same_file = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture
def read(tmp_path):
    """Gives a function that reads a graph from text or bytes."""

    def read(content):
        path = tmp_path / "graph.txt"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EcordWarning)
            return read_graph(path)

    return read


def best_cut(graph):
    return max(graph.cut(sides) for sides in itertools.product((0, 1), repeat=graph.num_vertices))


@pytest.mark.parametrize(
    "text",
    [
        "3 2\n1 2 5\n2 3 -7\n",
        "3 2\n1 2 5\n2 3 -7",
        "3 2 \r\n1 2 5\r\n2 3 -7 \r\n",
        "3 2\r1 2 5\r2 3 -7\r",
        "\n# one\n% two\n\n 3\t2\n\n2 1  5\n  # three\n\t3 2 -7\t\n\n%",
        "\ufeff3 2\n1 2 +5\n2 3 -7\n",
        "03 2\n01 2 5.0\n2 3 -.7e1\n",
        "# \u00e9\n3 2\n1 2 5\n2 3 -7\n",
    ],
)
def test_ways_to_write_one_graph(read, text):
    expected = Graph.from_edges([(0, 1), (1, 2)], [5, -7], names=(1, 2, 3))
    assert read(text) == expected
    assert read(gzip.compress(text.encode())) == expected


def test_weights(read):
    assert read("3 2\n1 2\n2 3\n").weights.tolist() == [1, 1]
    graph = read("3 2\n1 2 1e12\n2 3 0.003\n")
    assert graph.weights.tolist() == [1e12, 0.003]
    assert graph.weights.dtype == np.float64
    exact = read(f"3 2\n1 2 {2**63 - 1}\n2 3 {2**53 + 1}\n")
    assert exact.weights.tolist() == [2**63 - 1, 2**53 + 1]
    assert read("2 1\n1 2 -9223372036854775808\n").weights.tolist() == [-(2**63)]


def test_vertices(read):
    assert read("0 0\n").num_vertices == 0
    assert read("1 0").names == range(1, 2)
    assert read("5 0\n\n# none\n").num_vertices == 5
    assert read("2147483647 1\n1 2147483647\n").num_vertices == 2**31 - 1


def test_repeats_and_loops_are_reported(tmp_path):
    (tmp_path / "graph").write_text("3 4\n1 2 1\n2 1 1\n1 1 5\n2 3 1\n")
    with pytest.warns(EcordWarning) as caught:
        graph = read_graph(tmp_path / "graph")
    assert graph.weights.tolist() == [2, 1]
    assert len(caught) == 2


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, "empty"),
        ("\n# only\n", None, "empty"),
        ("3\n1 2\n", 1, "header"),
        ("\n3 2 1\n", 2, "header"),
        ("3 x\n", 1, "got '3 x'"),
        ("-3 0\n", 1, "header"),
        ("3 -1\n", 1, "header"),
        ("3.0 0\n", 1, "header"),
        ("1000000000000 0\n", 1, "2147483647"),
        (f"{'9' * 5000} 0\n", 1, "header"),
        ("3 1000000000000\n1 2 1\n", 1, "says 1000000000000 edges, the file has 1"),
        ("3 5\n1 2 1\n2 3 1\n", 1, "says 5 edges, the file has 2"),
        ("3 1\n1 2 1\n2 3 1\n", 1, "says 1 edges, the file has 2"),
        ("3 2\n0 1 1\n1 2 1\n", 2, "no vertex 0 .*counted from 1"),
        ("3 2\n1 2 1\n\n3 4 1\n", 4, "no vertex 4 .*expected 1..3"),
        ("3 1\n1 -2 1\n", 2, "no vertex -2"),
        ("0 1\n1 2 1\n", 2, "no vertex 1"),
        ("3 1\n1 99999999999999999999 1\n", 2, "no vertex 99999999999999999999"),
        ("3 1\n1 2.0 1\n", 2, "not an integer"),
        ("3 1\n1 b 1\n", 2, "not an integer"),
        ("3 2\n1 2 1\n2 3\n", 3, "2 columns where the lines before have 3"),
        ("3 2\n1 2\n2 3 1\n", 3, "3 columns where the lines before have 2"),
        ("3 2\n1 2 1\n2 3 1 1\n", 3, "4 columns"),
        ("3 2\n1 2\n2\n", 3, "1 columns"),
        ("3 1\n1 2 1 # no\n", 2, "5 columns"),
        ("3 1\n1 2 nan\n", 2, "not a finite number"),
        ("3 1\n1 2 -inf\n", 2, "not a finite number"),
        ("3 1\n1 2 0x10\n", 2, "not a finite number"),
        ("3 1\n1 2 1_0\n", 2, "not a finite number"),
        ("3 1\n1 2 \u0661\n", 2, "not a finite number"),
        ("3 1\n1 2\u00a01\n", 2, "not an integer"),
        ("3 1\n1 2 1e400\n", 2, "too large"),
        ("3 2\n1 2 1\n2 3 9223372036854775808\n", 3, "64-bit integer"),
        (f"3 1\n1 2 -{'0' * 5000}{2**63 + 1}\n", 2, "64-bit integer"),
        (f"3 1\n1 2 {'9' * 5000}\n", 2, "too large"),
        ("3 1\n1 2 --1\n", 2, "not a finite number"),
        ("3 1\n1,2,1\n", 2, "1 columns"),
        ("3 1\n1 2 \udcff\n", 2, "not a finite number"),
        ("3 2\n1 2 9223372036854775807\n1 2 1\n", None, "beyond 64 bits"),
    ],
)
def test_bad_files_name_the_line(read, tmp_path, text, line, words):
    with pytest.raises(GraphFileError, match=words) as error:
        read(text.encode("utf-8", "surrogateescape"))
    assert error.value.line == line
    path = str(tmp_path / "graph.txt")
    assert error.value.path == path
    assert str(error.value).startswith(f"{path}: " if line is None else f"{path}:{line}: ")
    assert "\n" not in str(error.value)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\0\0", b"\xff\xfe3\0 \x000\0", b"\0" * 99])
def test_binary_files_are_refused(read, content):
    with pytest.raises(GraphFileError):
        read(content)


def test_broken_gzip(read):
    whole = gzip.compress(b"3 2\n1 2 5\n2 3 -7\n")
    flipped = bytearray(whole)
    flipped[-6] ^= 1  # in the checksum
    for content in (whole[:-9], whole[:12], whole[:2], bytes(flipped), whole + b"more"):
        with pytest.raises(GraphFileError, match="broken gzip file"):
            read(content)


def test_files_that_cannot_be_opened(tmp_path):
    for path, words in [
        (tmp_path / "missing", "No such file"),
        (tmp_path, "Is a directory"),
        (str(tmp_path) + "/a\0b", "null byte"),
    ]:
        with pytest.raises(GraphFileError, match=words) as error:
            read_graph(path)
        assert str(error.value).count(str(tmp_path)) == 1
    (tmp_path / "secret").touch(mode=0o000)
    if os.geteuid() != 0:  # root reads all the same
        with pytest.raises(GraphFileError, match="Permission denied"):
            read_graph(tmp_path / "secret")


def test_cases(shared, read):
    cases = json.loads((shared / "cases" / "cases.json").read_text())
    cases = [case for case in cases if (case["kind"], case["format"]) == ("maxcut", "rudy")]
    assert len(cases) >= 15
    for case in cases:
        expect = case["expect"]
        if expect.get("error"):
            with pytest.raises(GraphFileError):
                read(case["text"])
            continue
        graph = read(case["text"])
        assert best_cut(graph) == expect["cut"], case["id"]
        assert graph.num_vertices == expect.get("labels", graph.num_vertices), case["id"]
        assert graph.num_edges == expect.get("edges", graph.num_edges), case["id"]
        if "side" in expect:
            sides = [int(str(name) in expect["side"]) for name in graph.names]
            assert graph.cut(sides) == expect["cut"], case["id"]


def test_gset_fingerprints(shared, tmp_path):
    rows = (shared / "gset_fingerprints.tsv").read_text().splitlines()
    table = {row.split("\t")[0]: row.split("\t")[1:] for row in rows if not row.startswith("#")}
    paths = sorted((shared / "data" / "gset").glob("G*.txt.gz"))
    assert paths
    for path in paths:
        graph = read_graph(path)
        write_rudy(tmp_path / "again", graph)
        digest = hashlib.sha256((tmp_path / "again").read_bytes()).hexdigest()
        sizes = [graph.num_vertices, graph.num_edges, graph.weights.sum()]
        assert [*map(str, sizes), digest] == table[path.name.removesuffix(".txt.gz")], path.name


lines = st.lists(st.text(st.sampled_from("0123 .-+e#%n\t\x00\u0663"), max_size=9), max_size=6)
line_ends = st.sampled_from(["\n", "\r\n", "\r", "\n\n"])
almost_rudy = st.builds(lambda parts, end: end.join(parts).encode(), lines, line_ends)
tokens = st.lists(st.sampled_from(["1", "2", "3", "0.5", "-1", "2 3", "3 1\n1 2", "\n", "9e9"]))


@same_file
@given(st.one_of(st.binary(), almost_rudy, tokens.map(lambda parts: " ".join(parts).encode())))
def test_any_bytes_end_in_a_graph_or_an_error_of_one_line(read, content):
    try:
        read(content)
        message = "a graph"
    except EcordError as error:
        message = str(error)
    assert len(message.splitlines()) == 1


def read_by_hand(text):
    """Reads rudy text of small integers; gives sums by edge, or None for a bad file."""
    (n, m), *rows = [[int(token) for token in line.split()] for line in text.split("\n")]
    columns = {len(row) for row in rows}
    in_range = all(1 <= vertex <= n for row in rows for vertex in row[:2])
    if len(rows) != m or not in_range or columns not in (set(), {2}, {3}):
        return None
    sums = {}
    for u, v, w in ([*row, 1][:3] for row in rows):
        if u != v:
            sums[min(u, v), max(u, v)] = sums.get((min(u, v), max(u, v)), 0) + w
    return dict(sorted(sums.items()))


@same_file
@given(st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=3), min_size=1, max_size=5))
def test_small_files_read_as_by_hand(read, rows):
    text = "\n".join([f"4 {len(rows)}", *(" ".join(map(str, row)) for row in rows)])
    expected = read_by_hand(text)
    if expected is None:
        with pytest.raises(GraphFileError):
            read(text)
    else:
        graph = read(text)
        assert [tuple(edge) for edge in (graph.edges + 1).tolist()] == list(expected)
        assert graph.weights.tolist() == list(expected.values())


finite = st.floats(allow_nan=False, allow_infinity=False)
some_weights = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3),
    st.lists(finite, min_size=3, max_size=3),
)


@same_file
@given(weights=some_weights, suffix=st.sampled_from(["", ".gz"]))
def test_written_graphs_read_back(tmp_path, weights, suffix):
    graph = Graph.from_edges([(0, 1), (1, 3), (0, 2)], weights, 5, names=range(1, 6))
    path = tmp_path / f"graph{suffix}"
    write_rudy(path, graph)
    assert read_graph(path) == graph
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == bool(suffix)


def test_writing_where_it_cannot(tmp_path):
    graph = Graph.from_edges([(0, 1)])
    with pytest.raises(GraphFileError, match="No such file"):
        write_rudy(tmp_path / "no" / "graph", graph)
    with pytest.raises(GraphFileError, match="Is a directory"):
        write_labels(tmp_path, graph, [0, 1])


NAMED = Graph.from_edges([(0, 1), (1, 2)], names=("a", "two words", 10))


def test_labels_are_written_and_read_back(tmp_path):
    path = tmp_path / "labels"
    write_labels(path, NAMED, [0, 1, 1])
    assert path.read_text() == "a 0\ntwo words 1\n10 1\n"
    labels = read_labels(path, NAMED)
    assert labels.dtype == np.int8
    assert labels.tolist() == [0, 1, 1]
    path.write_bytes(b"\r\n10\t1\r\n a   0 \r\ntwo words 1")
    assert read_labels(path, NAMED).tolist() == [0, 1, 1]
    write_labels(path, Graph.from_edges([]), [])
    assert read_labels(path, Graph.from_edges([])).tolist() == []


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a 0\nb 1\n", 2, "no such vertex .got 'b'"),
        ("a 0\n\na 1\n", 3, "twice .got 'a'"),
        ("a 2\n", 1, "bad side .got 'a 2'"),
        ("a\n", 1, "bad side"),
        ("0\n", 1, "bad side"),
        ("a 0.0\n", 1, "bad side"),
        ("a 0\n", None, "2 of 3 vertices are missing; the first is 'two words'"),
        ("", None, "3 of 3"),
        ("a \udcff\n", 1, "bad side"),
    ],
)
def test_bad_labels_name_the_line(tmp_path, text, line, words):
    path = tmp_path / "labels"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(GraphFileError, match=words) as error:
        read_labels(path, NAMED)
    assert error.value.line == line


@pytest.mark.parametrize("names", [(1, "1"), (" a", "b"), ("", "b"), ("a\nb", "b")])
def test_names_that_would_not_read_back_are_refused(tmp_path, names):
    graph = Graph.from_edges([(0, 1)], names=names)
    with pytest.raises(EcordError):
        write_labels(tmp_path / "labels", graph, [0, 1])
    assert not (tmp_path / "labels").exists()


def test_labels_that_do_not_fit_are_not_written(tmp_path):
    with pytest.raises(EcordError, match="shape"):
        write_labels(tmp_path / "labels", NAMED, [0, 1])
