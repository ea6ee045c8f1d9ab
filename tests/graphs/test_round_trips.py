"""Tests that what is written reads back as it was, in and between all formats, or is refused."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ecord_jax.errors import EcordError
from ecord_jax.graphs import Graph, Problem
from ecord_jax.graphs.io.biq_mac import BIQ_MAC
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.fitting import fit
from ecord_jax.graphs.io.formats import FORMATS, encode

WRITTEN = [each for each in FORMATS.values() if each.write is not None]
MAX_VERTICES = 5

small = st.integers(-9, 9)
wide = st.integers(-(2**63) + 1, 2**63 - 1)
finite = st.floats(allow_nan=False, allow_infinity=False)
quarters = st.integers(-(2**20), 2**20).map(lambda value: value / 4)
words = st.text(min_size=1, max_size=4)
json_names = st.recursive(  # without True and 1.0, which are equal to 1
    st.one_of(st.integers(0, 99), words, finite.filter(lambda x: x % 1), st.none()),
    lambda parts: st.tuples(parts, parts),
    max_leaves=3,
)


def name_lists(size):
    """Lists of so many names, of each of the sorts that formats tell apart."""

    def lists(names):
        return st.lists(names, min_size=size, max_size=size, unique=True).map(tuple)

    return st.one_of(
        st.sampled_from([range(size), range(1, size + 1), range(3, size + 3)]),
        lists(st.integers(0, 2**63 - 1)),
        lists(st.sampled_from(["a", "b2", "x:y", "\u00e9", "z-1", "nan", "e5"])),
        lists(st.sampled_from(["a b", "New York", "c", "d", "e", "1 2"])),
        lists(words),
        lists(json_names),
    )


@st.composite
def graphs(draw, weights=None, names=True):
    size = draw(st.integers(0, MAX_VERTICES))
    pairs = list(itertools.combinations(range(size), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    of = draw(st.sampled_from([st.just(1), small, wide, finite])) if weights is None else weights
    values = draw(st.lists(of, min_size=len(edges), max_size=len(edges)))
    chosen = draw(name_lists(size)) if names else range(size)
    return Graph.from_edges(edges, values, names=chosen)


@st.composite
def problems(draw, values=None, names=True, kinds=("qubo", "ising")):
    of = draw(st.sampled_from([small, wide, finite])) if values is None else values
    couplings = draw(graphs(of, names))
    of = draw(st.sampled_from([small, wide, finite])) if values is None else values
    size = couplings.num_vertices
    linear = draw(st.lists(of, min_size=size, max_size=size))
    offset = draw(st.one_of(st.just(0), small, st.integers(-(10**30), 10**30), finite))
    kind = draw(st.sampled_from(kinds))
    try:
        return Problem(kind, "min", couplings, np.array(linear), offset if values is None else 0)
    except EcordError:  # its graph would have weights that are too large
        assume(False)


def read_back(item, target, lossy=False):
    content = encode("file", item, target.name, lossy=lossy)
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
    return target.read(Source("file", data), 1)


def in_order(item, target, counted=False):
    """The item in an order that does not matter, where a format does not carry one.

    Names that count from 0 count from 1 where the format counts, or `counted` is true.
    """
    couplings = item if isinstance(item, Graph) else item.couplings
    size, names = couplings.num_vertices, couplings.names
    order = range(size)
    if "order" not in target.carries:
        order = sorted(order, key=lambda i: (str(type(names[i])), sort_key(names[i])))
        names = tuple(names[i] for i in order)
    if (counted or target.names == "none") and tuple(names) == tuple(range(size)):
        names = range(1, size + 1)
    place = np.argsort(np.array(order, int)) if size else np.zeros(0, int)
    moved = Graph.from_edges(place[couplings.edges], couplings.weights, names=names)
    if isinstance(item, Graph):
        return moved
    return dataclasses.replace(item, couplings=moved, linear=item.linear[np.array(order, int)])


def sort_key(name):
    return name if isinstance(name, int | str) else repr(name)


@pytest.mark.filterwarnings("ignore::ecord_jax.errors.EcordWarning")
@pytest.mark.parametrize("target", WRITTEN, ids=lambda each: each.name)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_identity_or_refusal(target, data):
    """What is refused would indeed not have read back."""
    item = data.draw(graphs() if target.is_graph else problems(kinds=target.kinds))
    losses = fit(item, target).losses
    if losses:
        with pytest.raises(EcordError, match="cannot carry"):
            encode("file", item, target.name)
        try:
            again = read_back(item, target, lossy=True)
        except EcordError:
            return
    else:
        again = read_back(item, target)
    assert (in_order(again, target) == in_order(item, target)) == (not losses)


def test_halves_beside_large_integers_are_refused():
    couplings = Graph.from_edges([(0, 1)], [1])
    problem = Problem("qubo", "min", couplings, np.array([0, 2**53 + 2]), 0)
    with pytest.raises(EcordError, match="cannot carry digits of coefficients"):
        encode("file", problem, "biq-mac")


def test_halves_beside_large_fractions_are_carried():
    """They are floats before and after, so that reading integers as floats does them no harm."""
    couplings = Graph.from_edges([(0, 1)], [1])
    problem = Problem("qubo", "min", couplings, np.array([0.0, 2.0**53 + 2]), 0)
    assert not fit(problem, BIQ_MAC).losses
    assert in_order(read_back(problem, BIQ_MAC), BIQ_MAC) == in_order(problem, BIQ_MAC)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(item=st.one_of(graphs(), problems()))
def test_identity_between_formats(item):
    """From each format to each other one and back: the file is the same."""
    carrying = [each for each in WRITTEN if not changes_kind(item, each)]
    carrying = [each for each in carrying if not fit(item, each).losses]
    for first, second in itertools.permutations(carrying, 2):
        read = read_back(item, first)
        assert not fit(read, second).losses
        again = read_back(read_back(read, second), first)
        again, read = (in_order(item, first) for item in (again, read))
        assert in_order(again, second, True) == in_order(read, second, True)


def changes_kind(item, target):
    return ("max-cut" if isinstance(item, Graph) else item.kind) not in target.kinds


@settings(max_examples=60, deadline=None)
@given(problem=problems(st.one_of(small, quarters), names=False))
def test_change_of_variables(problem):
    """The objective stays what it is for all values, x = (s + 1) / 2."""
    target = FORMATS["ising" if problem.kind == "qubo" else "bqm-json"]
    if problem.kind == "ising":
        target = dataclasses.replace(target, kinds=("qubo",))
    fitted = fit(problem, target)
    assert fitted.losses == []
    assert fitted.item.kind != problem.kind
    for bits in itertools.product((0, 1), repeat=problem.num_variables):
        spins = [2 * bit - 1 for bit in bits]
        here, there = (bits, spins) if problem.kind == "qubo" else (spins, bits)
        assert fitted.item.objective(there) == problem.objective(here)


@settings(max_examples=40, deadline=None)
@given(graph=graphs(st.one_of(small, quarters), names=False))
def test_a_cut_as_a_qubo_and_as_spins(graph):
    for name in ("bqm-json", "ising"):
        fitted = fit(graph, FORMATS[name])
        assert len(fitted.losses) == 1
        for sides in itertools.product((0, 1), repeat=graph.num_vertices):
            values = sides if name == "bqm-json" else [2 * side - 1 for side in sides]
            assert fitted.item.objective(values) == -graph.cut(sides)


def test_a_problem_as_a_graph():
    problem = Problem.from_qubo({("a", "a"): -2, ("a", "b"): 3}, offset=7)
    fitted = fit(problem, FORMATS["json"])
    assert fitted.item == problem.graph
    assert "that it is a QUBO" in fitted.losses[0]


@pytest.mark.parametrize(
    ("linear", "offset", "words"),
    [
        ([2**60 + 1], 0, "digits of the coefficients"),
        ([1], 10**30, "digits of the constant"),
        ([0], 10**400 + 1, None),
    ],
)
def test_numbers_that_a_change_of_variables_rounds(linear, offset, words):
    couplings = Graph.from_edges([], num_vertices=1)
    problem = Problem("qubo", "min", couplings, np.array(linear), offset)
    losses = fit(problem, FORMATS["ising"]).losses
    assert losses == [] if words is None else words in losses[0]


def test_numbers_that_are_too_large():
    couplings = Graph.from_edges([(0, 1)], [2**62])
    problem = Problem("ising", "min", couplings, np.zeros(2, int))
    with pytest.raises(EcordError, match="four times a coefficient is beyond 64 bits"):
        encode("file", problem, "qubo")
    huge = Problem("qubo", "min", couplings, np.zeros(2, int), 10**400)
    with pytest.raises(EcordError, match="beyond the largest float64"):
        encode("file", huge, "bqm", lossy=True)
