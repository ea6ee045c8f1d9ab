"""Tests of `Problem`: conventions against dimod, exactness, the way to the graph and back."""

import doctest
import itertools
import math
import pathlib
import pickle
import sys
from fractions import Fraction

import dimod
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from ecord_jax.errors import EcordError, MissingExtraError
from ecord_jax.graphs import Graph, Problem

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEP = {"max-cut": 1, "qubo": Fraction(1, 2), "ising": 2}


def all_labels(problem):
    """Labels up to the exchange of sides, the last vertex's being 1."""
    sides = itertools.product((0, 1), repeat=max(problem.graph.num_vertices - 1, 0))
    return [(*side, 1)[: problem.graph.num_vertices] for side in sides]


def all_values(problem):
    low = -1 if problem.vartype == "SPIN" else 0
    return list(itertools.product((low, 1), repeat=problem.num_variables))


def best(problem):
    """The objective and values of a maximum cut, by brute force."""
    labels = max(all_labels(problem), key=problem.graph.cut)
    values = problem.values(labels)
    return problem.objective(values), values


def true_objective(problem, values):
    """As a fraction, from the coefficients, without the code under test."""
    total = Fraction(problem.offset)
    for value, bias in zip(values, problem.linear.tolist(), strict=True):
        total += int(value) * Fraction(bias)
    for (i, j), bias in zip(problem.pairs.tolist(), problem.quadratic.tolist(), strict=True):
        if problem.kind == "max-cut":
            total += Fraction(bias) if values[i] != values[j] else 0
        else:
            total += int(values[i]) * int(values[j]) * Fraction(bias)
    return total


small = st.integers(-9, 9)
large = st.integers(-(2**40), 2**40)
nasty = st.one_of(
    st.floats(-1e3, 1e3), st.sampled_from([0.1, 1e16, -1e16, 1e-9, 3.0, -0.3, 2.0**60 + 2.0**8])
)


@st.composite
def problems(draw, numbers=large, offsets=None, kinds=("max-cut", "qubo", "ising"), most=5):
    size = draw(st.integers(0, most))
    pairs = [(i, j) for i in range(size) for j in range(i + 1, size) if draw(st.booleans())]
    kind = draw(st.sampled_from(kinds))
    quadratic = {pair: draw(numbers) for pair in pairs}
    if kind == "max-cut":
        weights = list(quadratic.values())
        return Problem.from_max_cut(Graph.from_edges(pairs, weights, num_vertices=size))
    linear = {i: draw(numbers | st.just(0)) for i in range(size)}
    options = {
        "sense": draw(st.sampled_from(("min", "max"))),
        "offset": draw(numbers if offsets is None else offsets),
        "names": range(size),
    }
    if kind == "ising":
        return Problem.from_ising(linear, quadratic, **options)
    return Problem.from_qubo({(i, i): v for i, v in linear.items()} | quadratic, **options)


def random_bqm(seed, most):
    """Integers, halves or floats; dense or sparse; with or without fields; some not connected."""
    rng = np.random.default_rng(seed)
    size, density = seed % most + 1, (1.0, 0.5, 0.2)[seed % 3]

    def draw():
        kind = seed // 2 % 3
        return float((rng.integers(-5, 6), rng.integers(-9, 10) / 2, rng.normal())[kind])

    fields = {f"v{i}": draw() if seed % 5 else 0 for i in range(size)}
    pairs = itertools.combinations(fields, 2)
    quadratic = {pair: draw() for pair in pairs if rng.random() < density}
    return dimod.BinaryQuadraticModel(fields, quadratic, draw(), ("SPIN", "BINARY")[seed % 2])


@pytest.mark.parametrize("seed", range(60))
def test_maximum_cuts_are_ground_states(seed):
    bqm = random_bqm(seed, most=7)
    lowest = dimod.ExactSolver().sample(bqm).first.energy
    problem = Problem.from_bqm(bqm)
    assert problem.kind == {"SPIN": "ising", "BINARY": "qubo"}[bqm.vartype.name]
    assert list(problem.names) == list(bqm.variables)
    objective, values = best(problem)
    assert objective == pytest.approx(lowest, abs=1e-9)
    energy = bqm.energy(dict(zip(bqm.variables, values.tolist(), strict=True)))
    assert objective == pytest.approx(energy, abs=1e-9)
    # Maximised, the same coefficients give the highest energy.
    linear, quadratic = dict(bqm.linear), dict(bqm.quadratic)
    if problem.kind == "ising":
        highest, _ = best(Problem.from_ising(linear, quadratic, bqm.offset, sense="max"))
    else:
        entries = {(v, v): bias for v, bias in linear.items()} | quadratic
        highest, _ = best(Problem.from_qubo(entries, offset=bqm.offset, sense="max"))
    energies = dimod.ExactSolver().sample(bqm).record.energy
    assert highest == pytest.approx(energies.max(), abs=1e-9)


@given(problems(offsets=st.integers(-(2**80), 2**80)))
def test_objective_and_cut_of_integers(problem):
    sign = 1 if problem.sense == "max" else -1
    start = true_objective(problem, np.ones(problem.num_variables, int))
    for labels in all_labels(problem):
        values, cut = problem.values(labels), problem.graph.cut(labels)
        objective = problem.objective(values)
        assert type(objective) is int
        assert objective == true_objective(problem, values)
        assert objective == start + sign * STEP[problem.kind] * cut
        assert problem.bound(cut) == objective


@given(problems(numbers=nasty))
@settings(deadline=None)
def test_objective_and_bound_of_floats(problem):
    true = [true_objective(problem, values) for values in all_values(problem)]
    for values, exact in zip(all_values(problem), true, strict=True):
        assert problem.objective(values) == float(exact)
    # As a fraction, since the graph's own cuts are rounded too.
    cuts = Problem.from_max_cut(problem.graph)
    bound = problem.bound(max(true_objective(cuts, labels) for labels in all_labels(problem)))
    assert type(bound) is type(problem.objective(all_values(problem)[0]))
    if problem.sense == "min":
        assert Fraction(bound) <= min(true)
    else:
        assert Fraction(bound) >= max(true)


@given(problems(numbers=st.integers(-40, 40).map(lambda x: x / 8)))
def test_bound_is_tight_where_nothing_is_rounded(problem):
    objective, values = best(problem)
    assert problem.bound(problem.graph.cut(problem.labels(values))) == objective


@given(problems(), st.data())
def test_labels_and_values(problem, data):
    draw = st.lists(st.booleans(), min_size=problem.num_variables, max_size=problem.num_variables)
    low = -1 if problem.kind == "ising" else 0
    values = np.where(np.array(data.draw(draw), bool), 1, low)
    labels = problem.labels(values)
    assert labels.dtype == problem.values(labels).dtype == np.int8
    assert labels.shape == (problem.graph.num_vertices,)
    np.testing.assert_array_equal(problem.values(labels), values)
    by_name = dict(zip(reversed(problem.names), reversed(values.tolist()), strict=True))
    np.testing.assert_array_equal(problem.labels(by_name), labels)
    assert problem.objective(by_name) == problem.objective(values)
    other = problem.values(1 - labels)
    if problem.ancilla is None:  # the two sides may be exchanged
        np.testing.assert_array_equal(other, low + 1 - values)
    else:
        np.testing.assert_array_equal(other, values)
    assert problem.objective(other) == problem.objective(values)


@given(problems(kinds=("qubo", "ising")))
def test_maximising_is_minimising_the_opposite(problem):
    other = Problem(
        problem.kind,
        "max" if problem.sense == "min" else "min",
        Graph(problem.pairs, -problem.quadratic, problem.names),
        -problem.linear,
        -problem.offset,
    )
    assert other.graph == problem.graph
    for values in all_values(problem):
        assert other.objective(values) == -problem.objective(values)
    assert other.bound(17) == -problem.bound(17)


@given(problems(numbers=small, kinds=("ising",)))
def test_ising_as_qubo(problem):
    """s = 2x - 1, with integers only; dimod's own conversion agrees."""
    size, pairs = problem.num_variables, problem.pairs.tolist()
    entries = {(i, i): 2 * int(h) for i, h in enumerate(problem.linear)}
    offset = problem.offset - int(problem.linear.sum())
    for (i, j), coupling in zip(pairs, problem.quadratic.tolist(), strict=True):
        entries[i, j] = 4 * coupling
        entries[i, i] -= 2 * coupling
        entries[j, j] -= 2 * coupling
        offset += coupling
    qubo = Problem.from_qubo(entries, sense=problem.sense, offset=offset, names=range(size))
    for spins in all_values(problem):
        binary = [(s + 1) // 2 for s in spins]
        assert qubo.objective(binary) == problem.objective(spins)
        np.testing.assert_array_equal(qubo.values(problem.labels(spins))[:size], binary)
    if problem.sense == "min":
        assert Problem.from_bqm(problem.to_bqm().change_vartype("BINARY", inplace=False)) == qubo


def test_case_qubo_upper():
    """Maximise x'Qx; the best value is 7.0 at 100101, given as (Q + Q') / 2 too."""
    upper = np.diag([2, 2, 2, 2, 4.5, 3])
    for i, j in [(1, 2), (1, 3), (2, 3), (2, 4), (4, 5), (5, 6)]:
        upper[i - 1, j - 1] = -15.5
    upper[2, 3] = -31
    symmetric = (upper + upper.T) / 2
    entries = {(f"x{i}", f"x{j}"): upper[i, j] for i, j in np.argwhere(upper)}
    for Q in (
        upper,
        upper.T,
        symmetric,
        scipy.sparse.csr_array(symmetric),
        upper.tolist(),
        entries,
    ):
        problem = Problem.from_qubo(Q, sense="max")
        objective, values = best(problem)
        assert objective == 7.0
        assert "".join(map(str, values)) == "100101"
        assert problem.objective([1, 0, 0, 1, 0, 1]) == 7.0
        assert problem.bound(problem.graph.cut(problem.labels(values))) == 7.0


def test_case_qubo_offset():
    """-(x+y+z) + 100 (xy+yz-1)², whose cubic term is made quadratic by w = xz: -2 at 110 and 011.

    (xy + yz - 1)² = 1 - xy - yz + 2 xyz. A lost constant would give -102.
    """
    entries = {(v, v): -1 for v in "xyz"}
    entries |= {("x", "y"): -100, ("y", "z"): -100, ("y", "w"): 200}
    # 500 (xz - 2xw - 2zw + 3w) is 0 where w = xz and at least 500 elsewhere.
    entries |= {("x", "z"): 500, ("x", "w"): -1000, ("z", "w"): -1000, ("w", "w"): 1500}
    problem = Problem.from_qubo(entries, offset=100, names="xyzw")
    for x, y, z in itertools.product((0, 1), repeat=3):
        value = -(x + y + z) + 100 * (x * y + y * z - 1) ** 2
        assert problem.objective([x, y, z, x * z]) == value
    assert best(problem)[0] == -2
    lowest = {v for v in all_values(problem) if problem.objective(v) == -2}
    assert lowest == {(1, 1, 0, 0), (0, 1, 1, 0)}


def test_case_ising_k4():
    couplings = dict.fromkeys(itertools.combinations(range(1, 5), 2), 1)
    problem = Problem.from_ising(None, couplings)
    objective, values = best(problem)
    assert (objective, problem.graph.cut(problem.labels(values))) == (-2, 4)
    assert problem.ancilla is None
    assert (6 - objective) / 2 == 4  # cut = (W - E) / 2


def test_case_ising_field():
    problem = Problem.from_ising([0.5, 0, 0], {(0, 1): 1, (1, 2): 1, (0, 2): 1})
    assert best(problem)[0] == -1.5
    assert [problem.objective(v) for v in all_values(problem)].count(-1.5) == 3


def test_forms_of_a_qubo():
    """All entries count: upper, lower, symmetric, dense, sparse, lists, and mappings."""
    rng = np.random.default_rng(0)
    upper = np.triu(rng.integers(-5, 6, (6, 6)) * 2)
    forms = [upper, upper.T, (upper + upper.T) / 2, (upper + upper.T) // 2, upper.tolist()]
    forms += [scipy.sparse.csr_matrix(upper), scipy.sparse.coo_array(upper.T)]
    forms += [upper.astype(object), upper.astype(np.int8), upper.astype(np.float32)]
    forms += [{(i, j): upper[i, j] for i, j in np.argwhere(upper)}]
    forms += [{(np.int64(j), np.int64(i)): upper[i, j] for i, j in np.argwhere(upper)[::-1]}]
    expected = Problem.from_qubo(upper)
    assert expected.num_variables == 6
    assert expected.linear.dtype == expected.quadratic.dtype == np.int64
    for form in forms:
        assert Problem.from_qubo(form) == expected
    x = rng.integers(0, 2, 6)
    assert expected.objective(x) == x @ upper @ x
    # A sum over duplicates, as scipy's coordinates mean it.
    twice = scipy.sparse.coo_array(([1, 2, 4], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert Problem.from_qubo(twice).quadratic.tolist() == [7]


def test_forms_of_an_ising_problem():
    upper = np.triu(np.random.default_rng(1).integers(-5, 6, (5, 5)), 1)
    h = [3, 0, -1, 0, 2]
    expected = Problem.from_ising(h, upper, 7)
    mapping = {(i, j): upper[i, j] for i, j in np.argwhere(upper)}
    split = {(j, i): 10 for i, j in mapping} | {pair: v - 10 for pair, v in mapping.items()}
    for couplings in (
        upper,
        upper.T,
        upper + upper.T,
        scipy.sparse.csr_array(upper),
        mapping,
        split,
    ):
        for fields in (h, np.array(h), dict(enumerate(h)), {4: 2, 0: 3, 2: -1}, tuple(h)):
            assert Problem.from_ising(fields, couplings, 7, names=range(5)) == expected
    assert Problem.from_ising(h, mapping, 7) == expected
    for fields in (None, {}, [], np.zeros(0)):
        assert Problem.from_ising(fields, upper) == Problem.from_ising([0] * 5, upper)
    bqm = dimod.BinaryQuadraticModel.from_ising(h, mapping, 7)
    assert bqm == expected.to_bqm()
    spins = [1, -1, -1, 1, 1]
    assert expected.objective(spins) == bqm.energy(dict(enumerate(spins)))


def test_names():
    assert Problem.from_qubo({(5, 2): 1, (9, 9): 1}).names == (2, 5, 9)
    assert Problem.from_qubo({(1, 0): 1, (2, 2): 1}).names == range(3)
    assert Problem.from_qubo({("b", "a"): 1, ("c", "b"): 1}).names == ("b", "a", "c")
    assert Problem.from_qubo({("b", 1): 1, (("t",), ("t",)): 1}).names == ("b", 1, ("t",))
    assert Problem.from_ising({"z": 1}, {("a", "z"): 1}).names == ("z", "a")
    assert Problem.from_qubo(np.eye(2), names=np.array(["p", "q"])).names == ("p", "q")
    # Variables without coefficients stay, and objectives do not mind.
    problem = Problem.from_qubo({("b", "a"): -1}, names=["a", "b", "idle"])
    assert (problem.num_variables, problem.graph.num_vertices) == (3, 4)
    assert best(problem)[0] == -1
    assert Problem.from_qubo(np.zeros((4, 4))).graph.num_vertices == 4
    # Nor does the ancilla take a variable's name.
    problem = Problem.from_ising({"ancilla": 1, "ancilla_": 1}, {})
    assert problem.graph.names == ("ancilla", "ancilla_", "ancilla__")
    assert Problem.from_ising([1, 0], {}).graph.names == range(3)
    bqm = dimod.BinaryQuadraticModel({2: 1, 0: 1, 1: 1}, {}, "SPIN")
    assert Problem.from_bqm(bqm).names == (2, 0, 1)


def test_ancilla_only_for_fields():
    assert Problem.from_ising({"a": 0, "b": 0.0}, {("a", "b"): 1}).ancilla is None
    assert Problem.from_ising({"a": 0, "b": 1}, {("a", "b"): 1}).ancilla == 2
    # x_0 x_1 - (x_0 + x_1) / 2 is a coupling alone.
    problem = Problem.from_qubo([[-0.5, 1], [0, -0.5]])
    assert problem.ancilla is None
    assert (problem.graph.edges.tolist(), problem.graph.weights.tolist()) == ([[0, 1]], [1])
    assert best(problem)[0] == -0.5
    # A pair of weight 0 is kept, an edge of weight 0 to the ancilla is not.
    problem = Problem.from_ising({0: 1, 1: 0}, {(0, 1): 0})
    assert problem.graph.edges.tolist() == [[0, 1], [0, 2]]


def test_integers_beyond_floats():
    big = 2**53 + 1
    problem = Problem.from_qubo({("a", "b"): big, ("a", "a"): -(2**60) - 1}, offset=10**40)
    assert problem.objective([1, 1]) == 10**40 + big - 2**60 - 1
    assert problem.bound(problem.graph.cut(problem.labels([1, 0]))) == 10**40 - 2**60 - 1
    problem = Problem.from_ising([2**62], {}, 1)
    assert (problem.objective([1]), problem.objective([-1])) == (2**62 + 1, 1 - 2**62)
    problem = Problem.from_qubo([[2**61 + 1, 0], [0, 1 - 2**61]])
    assert problem.objective([1, 1]) == 2
    mixed = Problem.from_ising([2**53, -0.5], {}, big)
    assert mixed.objective([1, 1]) == float(Fraction(2**53) - Fraction(1, 2) + big)
    # The least int64 has no opposite, but an objective.
    problem = Problem.from_ising([-(2**63)], {})
    assert problem.objective([-1]) == 2**63
    # A thousand tenths, which float32 or a running sum would miss.
    problem = Problem.from_qubo({(i, i): 0.1 for i in range(1000)})
    assert problem.objective(np.ones(1000, int)) == 100.0
    assert sum([0.1] * 1000) != 100.0


def test_bound_of_fractions():
    problem = Problem.from_qubo([[-1, 3], [0, -1]])  # the least value is -1, at a cut of 4
    assert [problem.bound(cut) for cut in (4, 4.5, 5, 5.99, 6)] == [-1, -1, -1, -1, -2]
    assert Problem.from_ising([1], {}).bound(1.999) == -1
    assert Problem.from_max_cut(Graph.from_edges([(0, 1)])).bound(1.5) == 1
    for wrong in (math.inf, math.nan):
        with pytest.raises(EcordError, match="finite"):
            problem.bound(wrong)


@given(problems(numbers=st.one_of(small, large, nasty), offsets=st.integers(-(2**70), 2**70)))
@settings(deadline=None)
def test_bqm_and_back(problem):
    bqm = problem.to_bqm()
    assert bqm.vartype.name == problem.vartype
    assert list(bqm.variables) == list(problem.names)
    back = Problem.from_bqm(bqm)
    if problem.sense == "min":
        assert back == problem
    sign = 1 if problem.sense == "min" else -1
    # The linear part of a cut is rounded, where weights are floats.
    error = 1e-15 * np.abs(problem.quadratic.astype(float)).sum() * (problem.kind == "max-cut")
    error *= problem.quadratic.dtype == np.float64
    for values in all_values(problem):
        assert abs(back.objective(values) - sign * problem.objective(values)) <= error


@given(problems(kinds=("max-cut",)))
def test_max_cut(problem):
    graph = problem.graph
    assert (problem.sense, problem.offset, problem.ancilla) == ("max", 0, None)
    assert problem.names == graph.names
    energies = Problem.from_bqm(problem.to_bqm())
    for labels in all_labels(problem):
        assert problem.objective(labels) == problem.bound(graph.cut(labels)) == graph.cut(labels)
        assert energies.objective(labels) == -graph.cut(labels)


def test_dtypes_of_bqms():
    for dtype in (np.float32, np.float64, object):
        bqm = dimod.BinaryQuadraticModel(
            {"a": 1, "b": -2}, {("a", "b"): 3}, 4, "BINARY", dtype=dtype
        )
        problem = Problem.from_bqm(bqm)
        assert (problem.linear.tolist(), problem.quadratic.tolist()) == ([1, -2], [3])
        assert type(problem.objective([0, 1])) is int
        assert problem.objective([0, 1]) == 2
    bqm = dimod.BinaryQuadraticModel(
        {0: 2**60 + 1}, {(0, 1): 1 - 2**60}, 2**61, "SPIN", dtype=object
    )
    assert Problem.from_bqm(bqm).objective([1, 1]) == 2**61 + 2
    assert Problem.from_bqm(bqm).to_bqm() == bqm


def test_without_dimod(monkeypatch):
    monkeypatch.setitem(sys.modules, "dimod", None)
    problem = Problem.from_ising({"a": 1}, {})
    with pytest.raises(
        MissingExtraError, match=r"dimod: pip install 'ecord-jax\[dimod\]'$"
    ) as info:
        problem.to_bqm()
    assert isinstance(info.value, EcordError)
    assert isinstance(info.value, ImportError)
    assert str(pickle.loads(pickle.dumps(info.value))) == str(info.value)


def test_as_a_value():
    problem = Problem.from_qubo({("a", "b"): 1, ("a", "a"): 0.5}, offset=1)
    same = Problem.from_qubo({("b", "a"): 1.0, ("a", "a"): 0.5}, offset=1.0, names=["a", "b"])
    assert problem == same
    assert hash(problem) == hash(same)
    assert pickle.loads(pickle.dumps(problem)) == problem
    others = [
        Problem.from_qubo({("a", "b"): 1, ("a", "a"): 0.5}, offset=2),
        Problem.from_qubo({("a", "b"): 1, ("a", "a"): 0.5}, offset=1, sense="max"),
        Problem.from_qubo({("a", "b"): 1, ("b", "b"): 0.5}, offset=1, names="ab"),
        Problem.from_qubo({("a", "b"): 2, ("a", "a"): 0.5}, offset=1),
        Problem.from_qubo({("a", "c"): 1, ("a", "a"): 0.5}, offset=1),
        Problem.from_ising({"a": 0.5}, {("a", "b"): 1}, offset=1),
        problem.graph,
    ]
    for other in others:
        assert problem != other
    assert repr(problem) == "Problem(kind='qubo', sense='min', num_variables=2, num_pairs=1)"
    for array in (problem.linear, problem.pairs, problem.quadratic):
        assert not array.flags.writeable


@pytest.mark.parametrize("size", [0, 1])
def test_degenerate(size):
    for problem in (
        Problem.from_qubo(np.zeros((size, size)), offset=3),
        Problem.from_ising([0] * size, {}, 3),
        Problem.from_bqm(dimod.BinaryQuadraticModel([0] * size, {}, 3, "SPIN")),
    ):
        assert problem.num_variables == problem.graph.num_vertices == size
        assert best(problem)[0] == problem.bound(0) == 3
    assert Problem.from_qubo({}).num_variables == Problem.from_qubo([]).num_variables == 0


MATRIX = [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Problem.from_qubo([[1, None], [0, 1]]), r"Q\[0, 1\] must be .* got None"),
        (lambda: Problem.from_qubo([[1, math.nan], [0, 1]]), r"Q\[0, 1\] must be .* got nan"),
        (lambda: Problem.from_qubo(np.array([[0, 0], [-np.inf, 1]])), r"Q\[1, 0\] must be .*inf"),
        (lambda: Problem.from_qubo({("a", "b"): "1"}), r"Q\[\('a', 'b'\)\] must be .* got '1'"),
        (lambda: Problem.from_qubo({"ab": 1}), "pairs of variables as keys; got 'ab'"),
        (lambda: Problem.from_qubo({(1, 2, 3): 1}), r"pairs .* got \(1, 2, 3\)"),
        (lambda: Problem.from_qubo({("a", "b"): 1}, names="ac"), "Q has a coefficient of 'b'"),
        (lambda: Problem.from_qubo(MATRIX, names="abc"), "3 names for the 2 variables of Q"),
        (lambda: Problem.from_qubo(MATRIX, names="aa"), "names must differ"),
        (lambda: Problem.from_qubo({}, names=[[1]]), "names must be hashable"),
        (lambda: Problem.from_qubo(np.zeros((2, 3))), r"square matrix; got shape \(2, 3\)"),
        (lambda: Problem.from_qubo([[1, 2], [3]]), "square matrix"),
        (lambda: Problem.from_qubo([1, 2]), r"square matrix; got shape \(2,\)"),
        (lambda: Problem.from_qubo(None), "square matrix"),
        (lambda: Problem.from_qubo(np.eye(2) * 1j), "real numbers; got complex128"),
        (lambda: Problem.from_qubo(np.array([["a"]])), "real numbers; got <U1"),
        (lambda: Problem.from_qubo(MATRIX, sense="best"), "sense='best' must be 'min' or 'max'"),
        (lambda: Problem.from_qubo(MATRIX, offset=math.inf), "offset must be .* got inf"),
        (lambda: Problem.from_qubo(MATRIX, offset="1"), "offset must be .* got '1'"),
        (lambda: Problem.from_qubo({(0, 1): 2**64}), "beyond 64 bits"),
        (lambda: Problem.from_qubo({(0, 1): 2**62, (0, 0): 2**62}), "add up beyond 64 bits"),
        (lambda: Problem.from_qubo({(0, 1): 2**62, (1, 0): 2**62}), "add up beyond 64 bits"),
        (lambda: Problem.from_qubo({(0, 0): 1e308}), "largest float64"),
        (lambda: Problem.from_qubo({(0, 1): 2**53 + 1, (0, 0): 0.5}), "9007199254740993 would be"),
        (lambda: Problem.from_ising([0.5, 2**53 + 1], {}), "9007199254740993 would be rounded"),
        (lambda: Problem.from_ising([0.5], {(0, 0): 1}), "J couples 0 to itself"),
        (lambda: Problem.from_ising(None, np.eye(2)), "J couples 0 to itself"),
        (lambda: Problem.from_ising(None, [[0, 1], [2, 0]]), r"J: .*\(0, 1\) is 1, \(1, 0\) is 2"),
        (lambda: Problem.from_ising([1, 2, 3], MATRIX), r"h must have shape \(2,\).* got .*3"),
        (lambda: Problem.from_ising(np.zeros((2, 2)), MATRIX), "h must have shape"),
        (lambda: Problem.from_ising({5: 1}, MATRIX), "h has a coefficient of 5, which is no"),
        (lambda: Problem.from_ising([1], {(0, 1): 1}), "J has a coefficient of 1, which is no"),
        (lambda: Problem.from_ising({"a": None}, {}), r"h\['a'\] must be .* got None"),
        (lambda: Problem.from_ising([[1], [2]], MATRIX), r"h\[0\] must be a finite number"),
        (lambda: Problem.from_ising(3, {}), "h must be a mapping or a list; got a int"),
        (lambda: Problem.from_ising([-(2**63)], {}, sense="max"), "no opposite of 64 bits"),
        (lambda: Problem.from_bqm({(0, 1): 1}), "BinaryQuadraticModel, .*; got a dict"),
        (
            lambda: Problem.from_bqm(dimod.QuadraticModel({}, {}, 0, {})),
            "BinaryQuadraticModel, .*; got a QuadraticModel",
        ),
        (
            lambda: Problem.from_bqm(dimod.BQM({"a": math.nan}, {}, "SPIN")),
            r"h\['a'\] must be a finite number; got nan",
        ),
        (lambda: Problem.from_max_cut([(0, 1)]), "expected an ecord_jax.Graph; got a list"),
        (lambda: Problem("sat", "min", Graph.from_edges([]), []), "kind='sat' must be one of"),
        (lambda: Problem("qubo", "min", Graph.from_edges([]), [1]), "1 linear .* for 0 variables"),
        (
            lambda: Problem("max-cut", "min", Graph.from_edges([]), []),
            "max-cut problem is max",
        ),
    ],
)
def test_bad_problems(make, message):
    with pytest.raises(EcordError, match=message) as info:
        make()
    assert "\n" not in str(info.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0, 1], "values must be -1 or 1; that of 'a' is 0"),
        ([1], r"shape \(2,\); got \(1,\)"),
        ([1.0, 1.0], "must be integers; got float64"),
        ([[1], [1, 1]], "flat list"),
        ({"a": 1}, "'b' is missing or unknown"),
        ({"a": 1, "b": 1, "c": 1}, "'c' is missing or unknown"),
        ([True, False], "values must be -1 or 1"),
    ],
)
def test_bad_values(values, message):
    problem = Problem.from_ising({"a": 1}, {("a", "b"): 1})
    for method in (problem.objective, problem.labels):
        with pytest.raises(EcordError, match=message):
            method(values)
    with pytest.raises(EcordError, match="labels must have shape"):
        problem.values([0, 1])


def test_objective_beyond_floats():
    problem = Problem.from_ising([1e308, 1e308], {(0, 1): 0.5})
    with pytest.raises(EcordError, match="beyond the largest float64"):
        problem.objective([1, 1])
    with pytest.raises(EcordError, match="beyond the largest float64"):
        Problem.from_ising([0.5], {}, 10**400).objective([1])


def test_examples_of_the_conventions():
    """docs/conventions.md says what is so."""
    result = doctest.testfile(str(ROOT / "docs" / "conventions.md"), module_relative=False)
    assert result.failed == 0
    assert result.attempted >= 20
