"""Tests that dimod reads what is written for it, and that what dimod writes is read."""

import itertools
import json
import warnings

import dimod
import numpy as np
import pytest
from dimod.serialization import coo

from ecord_jax.graphs import Problem, read_problem, write_problem

NAMES = (("a", "b", "c", "d"), (0, 1, 2, 3), (7, "x", ("t", 3), 2.5))


def model(names, vartype, dtype=np.float64):
    """A random one, whose last variable is in no pair."""
    rng = np.random.default_rng(0)
    pairs = [pair for pair in itertools.combinations(names[:3], 2) if rng.random() < 0.8]
    linear = dict(zip(names, rng.normal(size=4), strict=True))
    quadratic = dict(zip(pairs, rng.normal(size=len(pairs)), strict=True))
    return dimod.BinaryQuadraticModel(linear, quadratic, 1.5, vartype, dtype=dtype)


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
@pytest.mark.parametrize("names", NAMES, ids=str)
def test_json(names, vartype, tmp_path):
    bqm = model(names, vartype)
    (tmp_path / "dimod.json").write_text(json.dumps(bqm.to_serializable()))
    problem = read_problem(tmp_path / "dimod.json")
    assert problem == Problem.from_bqm(bqm)
    assert tuple(problem.names) == tuple(bqm.variables)
    write_problem(tmp_path / "ours.json", problem)
    again = json.loads((tmp_path / "ours.json").read_text())
    assert dimod.BinaryQuadraticModel.from_serializable(again) == bqm


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("names", NAMES, ids=str)
def test_files(names, dtype, version, tmp_path):
    bqm = model(names, "SPIN", dtype)
    with bqm.to_file(version=version) as file:
        (tmp_path / "dimod").write_bytes(file.read())
    problem = read_problem(tmp_path / "dimod")
    assert problem == Problem.from_bqm(bqm)
    assert tuple(problem.names) == tuple(bqm.variables)
    write_problem(tmp_path / "ours.bqm", problem)
    with dimod.BinaryQuadraticModel(bqm, dtype=np.float64).to_file() as file:
        assert (tmp_path / "ours.bqm").read_bytes() == file.read()


def test_an_empty_file_of_dimod(tmp_path):
    bqm = dimod.BinaryQuadraticModel("BINARY")
    with bqm.to_file() as file:
        (tmp_path / "dimod").write_bytes(file.read())
    assert read_problem(tmp_path / "dimod") == Problem.from_bqm(bqm)


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_coo(vartype, tmp_path):
    bqm = model((5, 2, 9, 0), vartype)
    bqm.offset = 0
    with open(tmp_path / "dimod.txt", "w") as file:
        coo.dump(bqm, file, vartype_header=True)
    problem = read_problem(tmp_path / "dimod.txt")
    assert problem.names == (0, 2, 5, 9)
    for values in itertools.product((-1, 1) if vartype == "SPIN" else (0, 1), repeat=4):
        sample = dict(zip(problem.names, values, strict=True))
        assert problem.objective(sample) == pytest.approx(bqm.energy(sample), abs=1e-5)
    small = Problem.from_ising([1e-7, 0, 0], {(0, 1): 1e300})
    write_problem(tmp_path / "ours.coo", small)
    with open(tmp_path / "ours.coo") as file:
        again = coo.load(file)
    assert Problem.from_bqm(again) == small
    assert list(again.variables) == [0, 1, 2]


def test_integers_that_dimod_would_round(tmp_path):
    problem = Problem.from_ising([2**53 + 1], {}, offset=10**30)
    write_problem(tmp_path / "ours.json", problem)
    assert read_problem(tmp_path / "ours.json") == problem
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = json.loads((tmp_path / "ours.json").read_text())
        assert dimod.BinaryQuadraticModel.from_serializable(text).linear[0] == 2.0**53
