"""Tests that each format does about faults what its entry, and so docs/formats.md, says it does."""

import io
import json
import pathlib
import struct
import warnings

import numpy as np
import pytest

from ecord_jax.errors import EcordWarning, GraphFileError
from ecord_jax.graphs.io.document import document
from ecord_jax.graphs.io.format import ERROR, FAULTS
from ecord_jax.graphs.io.formats import FORMATS, read_any

ROOT = pathlib.Path(__file__).resolve().parents[2]
MTX = "%%MatrixMarket matrix coordinate"


def node_link(*edges, attribute=""):
    rows = ", ".join(f'{{"source": {u}, "target": {v}, "weight": 2}}' for u, v in edges)
    nodes = f'{{"id": 1{attribute}}}, {{"id": 2}}'
    return f'{{"nodes": [{nodes}], "edges": [{rows}]}}'


def npz(*edges):
    file = io.BytesIO()
    np.savez(file, edges=np.array(edges), weights=np.ones(len(edges), int), range=[0, 2, 1])
    return file.getvalue()


def bqm_json(*pairs, claim=None):
    fields = {
        "variable_type": "SPIN",
        "variable_labels": [0, 1],
        "linear_biases": [0, 0],
        "num_interactions": len(pairs) if claim is None else claim,
        "quadratic_head": [u for u, _ in pairs],
        "quadratic_tail": [v for _, v in pairs],
        "quadratic_biases": [1] * len(pairs),
    }
    return json.dumps(fields)


@pytest.mark.parametrize("claim", [[1], {}, "1", None, 1.5])
def test_a_number_of_interactions_that_is_none(tmp_path, claim):
    text = json.dumps({**json.loads(bqm_json((0, 1))), "num_interactions": claim})
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(GraphFileError, match="the lengths do not fit: num_interactions"):
        read_any(tmp_path / "a.json")


def bqm_file(*lists, claim=None):
    """A file of variables that have these neighbours, as dimod lays it out."""
    halves = sum(map(len, lists))
    header = {
        "shape": [len(lists), halves // 2 if claim is None else claim],
        "dtype": "float64",
        "itype": "int32",
        "ntype": "int32",
        "vartype": "SPIN",
        "variables": False,
    }
    text = json.dumps(header).encode()
    data = b"DIMODBQM\2\0" + struct.pack("<I", len(text)) + text + struct.pack("<d", 0)
    for i in range(len(lists)):
        data += struct.pack("<id", sum(map(len, lists[:i])), 1)
    return data + b"".join(struct.pack("<id", v, 3) for each in lists for v in each)


GOOD_BINARY = {"npz": npz((0, 1)), "bqm": bqm_file([1], [0])}
EXAMPLES = {
    "rudy": {
        "repeats": "2 2\n1 2 1\n1 2 1\n",
        "reverse": "2 2\n1 2 1\n2 1 1\n",
        "loops": "2 2\n1 2 1\n1 1 1\n",
        "count": "2 2\n1 2 1\n",
        "range": "2 1\n1 3 1\n",
    },
    "matrix-market": {
        "repeats": f"{MTX} real general\n2 2 2\n1 2 1\n1 2 1\n",
        "reverse": f"{MTX} real symmetric\n2 2 2\n1 2 1\n2 1 1\n",
        "loops": f"{MTX} real general\n2 2 1\n1 1 1\n",
        "count": f"{MTX} real general\n2 2 2\n1 2 1\n",
        "range": f"{MTX} real general\n2 2 1\n1 3 1\n",
    },
    "dimacs": {
        "repeats": "p edge 2 2\ne 1 2\ne 1 2\n",
        "reverse": "p edge 2 1\ne 1 2\ne 2 1\n",
        "loops": "p edge 2 1\ne 1 1\n",
        "count": "p edge 2 3\ne 1 2\ne 1 2\n",
        "range": "p edge 2 1\ne 1 3\n",
        "extras": "p edge 2 1\nn 1 7\ne 1 2\n",
    },
    "metis": {
        "repeats": "2 2\n2 2\n1 1\n",
        "reverse": "2 1\n2\n\n",
        "loops": "1 1\n1 1\n",
        "count": "2 2\n2\n1\n",
        "range": "2 1\n3\n1\n",
        "extras": "1 0 10\n7\n",
    },
    "edges": {"repeats": "1 2 1\n1 2 1\n", "reverse": "1 2 1\n2 1 1\n", "loops": "1 1 1\n"},
    "el": {"repeats": "1 2\n1 2\n", "reverse": "1 2\n2 1\n", "loops": "a a\n"},
    "csv": {"repeats": "1,2,1\n1,2,1\n", "reverse": "1,2,1\n2,1,1\n", "loops": "1,1,1\n"},
    "json": {
        "repeats": node_link((1, 2), (1, 2)),
        "reverse": node_link((1, 2), (2, 1)),
        "loops": node_link((1, 1)),
        "extras": node_link((1, 2), attribute=', "color": "red"'),
    },
    "npz": {
        "repeats": npz((0, 1), (0, 1)),
        "reverse": npz((0, 1), (1, 0)),
        "loops": npz((1, 1)),
        "range": npz((0, 2)),
    },
    "qubo": {
        "repeats": "p qubo 0 2 0 2\n0 1 1\n0 1 1\n",
        "reverse": "p qubo 0 2 0 2\n0 1 1\n1 0 1\n",
        "count": "p qubo 0 2 0 2\n0 1 1\n",
        "range": "p qubo 0 2 0 1\n0 2 1\n",
    },
    "biq-mac": {
        "repeats": "2 2\n1 2 1\n1 2 1\n",
        "reverse": "2 2\n1 2 1\n2 1 1\n",
        "count": "2 2\n1 2 1\n",
        "range": "2 1\n1 3 1\n",
    },
    "bqm-json": {
        "repeats": bqm_json((0, 1), (0, 1)),
        "reverse": bqm_json((0, 1), (1, 0)),
        "loops": bqm_json((1, 1)),
        "count": bqm_json((0, 1), claim=2),
        "range": bqm_json((0, 2)),
    },
    "bqm": {
        "repeats": bqm_file([1, 1], [0, 0]),
        "reverse": bqm_file([1, 1], []),
        "loops": bqm_file([0, 0], []),
        "count": bqm_file([1], [0], claim=2),
        "range": bqm_file([1], [2]),
    },
    "coo": {
        "repeats": "# vartype=SPIN\n0 1 1\n0 1 1\n",
        "reverse": "# vartype=SPIN\n0 1 1\n1 0 1\n",
    },
    "ising": {
        "repeats": "0 1 1\n0 1 1\n",
        "reverse": "0 1 1\n1 0 1\n",
        "loops": "0 0 1\n",
    },
}


def test_there_is_an_example_of_every_fault():
    declared = {name: set(each.faults) for name, each in FORMATS.items()}
    assert declared == {name: set(examples) for name, examples in EXAMPLES.items()}
    assert set().union(*declared.values()) == set(FAULTS)


@pytest.mark.filterwarnings("ignore::ecord_jax.errors.EcordWarning")
@pytest.mark.parametrize(
    ("name", "fault", "content"), [(n, f, c) for n, e in EXAMPLES.items() for f, c in e.items()]
)
def test_faults(tmp_path, name, fault, content):
    path = tmp_path / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = FORMATS[name].faults[fault]
    if done.startswith(ERROR):
        with pytest.raises(GraphFileError):
            read_any(path, name)
        return
    with pytest.warns(EcordWarning) as caught:
        read_any(path, name)
    (warning,) = caught
    assert str(warning.message).startswith("1 ")
    assert done in str(warning.message)


@pytest.mark.parametrize(("name", "content"), GOOD_BINARY.items())
def test_the_same_without_the_fault(tmp_path, name, content):
    (tmp_path / "file").write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_any(tmp_path / "file", name)


@pytest.mark.filterwarnings("ignore::ecord_jax.errors.EcordWarning")
def test_repairs_are_counted(tmp_path):
    path = tmp_path / "file"
    path.write_text("p edge 3 3\nn 1 7\nd 2\ne 1 2\ne 2 1\ne 1 2\ne 1 3\ne 3 2\ne 2 2\n")
    with pytest.raises(GraphFileError, match="6 lines of 4 different ones"):
        read_any(path)
    path.write_text(path.read_text().replace("3 3", "3 4"))
    with pytest.warns(EcordWarning) as caught:
        graph = read_any(path)
    assert [str(warning.message) for warning in caught] == [
        "2 lines about vertices were dropped",
        "2 repeated edges were dropped",
        "1 self loop was dropped: a loop is never cut",
    ]
    assert graph.weights.tolist() == [1, 1, 1]
    path.write_text("3 2 11 2\n7 7 2 5\n7 7 1 5 3 6\n7 7 2 6\n")
    with pytest.warns(EcordWarning, match="6 weights of vertices were dropped"):
        assert read_any(path, "metis").weights.tolist() == [5, 6]
    path.write_text("# vartype=SPIN\n0 1 1\n1 0 2\n0 1 4\n0 0 1\n0 0 1\n")
    with pytest.warns(EcordWarning, match="3 repeated coefficients were summed"):
        problem = read_any(path)
    assert (problem.quadratic.tolist(), problem.linear.tolist()) == ([7], [2, 0])


def test_the_docs_are_what_the_code_says():
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert text == document(), "python -m ecord_jax.graphs.io.document > docs/formats.md"
