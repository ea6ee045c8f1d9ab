"""Tests of the upper bound: never below the largest cut, near the relaxation, proved or not."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest

from ecord_jax.errors import EcordError, OptionError
from ecord_jax.graphs import Graph, read_graph
from ecord_jax.graphs.presolve import Reduction, presolve
from ecord_jax.search import bound as bound_module
from ecord_jax.search import definite
from ecord_jax.search.bound import Bound, cut_step, upper_bound

WEIGHTS = {
    "ones": lambda rng, m: np.ones(m, int),
    "signs": lambda rng, m: rng.choice([-1, 1], m),
    "integers": lambda rng, m: rng.integers(-9, 10, m),
    "even": lambda rng, m: 6 * rng.integers(-3, 4, m),
    "huge": lambda rng, m: rng.integers(-(2**62), 2**62, m),
    "floats": lambda rng, m: rng.normal(size=m),
    "decimals": lambda rng, m: rng.integers(-50, 51, m) / 10,
    "wide": lambda rng, m: rng.choice([-1.0, 1.0], m) * 10.0 ** rng.integers(-12, 13, m),
}
ODD = nx.convert_node_labels_to_integers(nx.triangular_lattice_graph(3, 4))


def random_graph(rng, kind, most=11):
    """Sparse ones fall apart and leave vertices alone."""
    n = int(rng.integers(2, most))
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    edges = pairs[rng.random(len(pairs)) < rng.choice([0.2, 0.5, 1.0])]
    return Graph.from_edges(edges, WEIGHTS[kind](rng, len(edges)), num_vertices=n)


def all_cuts(graph):
    """All cuts, exact for integers: the first vertex is on side 0."""
    free = max(graph.num_vertices - 1, 0)
    labels = np.arange(2**free)[:, None] >> np.arange(free) & 1
    labels = np.pad(labels, ((0, 0), (graph.num_vertices - free, 0)))
    crosses = labels[:, graph.edges[:, 0]] != labels[:, graph.edges[:, 1]]
    if graph.weights.dtype.kind == "f":
        best = np.argmax(crosses @ graph.weights)
        return [graph.cut(labels[best])]
    return (crosses @ graph.weights.astype(object)).tolist() if graph.num_edges else [0]


def check(problem, graph):
    """Checks a bound of a small graph; gives it."""
    bound, cuts = upper_bound(problem), all_cuts(graph)
    assert bound.certified
    assert max(cuts) <= bound.largest_cut <= bound.value <= graph.positive_weight
    assert bound.proves(max(cuts)) == (max(cuts) == bound.largest_cut)
    size = float(np.abs(graph.weights.astype(float)).sum())
    assert bound.relaxation is None or bound.value <= bound.relaxation + 1e-5 * size
    if bound.step:
        assert all(cut % bound.step == 0 for cut in cuts)
    return bound


@pytest.mark.parametrize("kind", WEIGHTS)
def test_never_below_brute_force(kind):
    rng = np.random.default_rng(0)
    for _ in range(40):
        graph = random_graph(rng, kind)
        check(graph, graph)


@pytest.mark.parametrize("kind", ["ones", "signs", "integers", "huge", "floats", "decimals"])
def test_never_below_brute_force_after_presolve(kind):
    rng, left = np.random.default_rng(0), 0
    for _ in range(60):
        graph = random_graph(rng, kind)
        reduction = presolve(graph)
        if reduction.graph.num_vertices:
            left += 1
            check(reduction, graph)
    assert left > 5


def test_halves_of_a_reduction():
    """Weights 1/2 that presolve makes, times 2, and what they are worth in the source."""
    rng = np.random.default_rng(3)
    scales = []
    while scales.count(2) < 3:
        network = nx.gnm_random_graph(12, 24, seed=len(scales))
        graph = Graph.from_edges(np.array(network.edges()), rng.integers(1, 4, 24), 12)
        reduction = presolve(graph)
        if reduction.graph.num_vertices:
            check(reduction, graph)
        scales.append(reduction.scale if reduction.graph.num_vertices else 0)


def test_reduction_of_nothing_left():
    reduction = presolve(Graph.from_networkx(nx.cycle_graph(7)))
    bound = upper_bound(reduction)
    assert (bound.value, bound.certified) == (6, True)
    assert bound.proves(6)


# Graphs that look the same from every vertex: N/4 times the largest eigenvalue of the Laplacian.
@pytest.mark.parametrize(
    ("network", "value", "cut"),
    [
        (nx.cycle_graph(5), 5 * (1 + math.cos(math.pi / 5)) / 2, 4),
        (nx.cycle_graph(8), 8, 8),
        (nx.complete_graph(8), 16, 16),
        (nx.complete_graph(9), 81 / 4, 20),
        (nx.petersen_graph(), 12.5, 12),
        (nx.complete_bipartite_graph(5, 7), 35, 35),
    ],
    ids=["C5", "C8", "K8", "K9", "Petersen", "K5,7"],
)
def test_known_values_prove_cuts(network, value, cut):
    bound = upper_bound(Graph.from_networkx(network))
    assert bound.certified
    assert value <= bound.value <= value * (1 + 1e-6)
    assert bound.proves(cut)
    assert not bound.proves(cut - 1)


def test_bipartite_graphs_are_proved():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 15, (80, 2)) * 2 + [0, 1]
    edges = np.unique(edges, axis=0)
    graph = Graph.from_edges(edges, rng.integers(1, 100, len(edges)))
    bound = upper_bound(graph)
    assert (bound.value, bound.certified) == (graph.positive_weight, True)
    assert bound.proves(graph.positive_weight)
    # The same cut with all vertices of one side mirrored: half of the weights are negative then.
    side = rng.integers(0, 2, 30)
    signs = np.where(side[edges[:, 0]] == side[edges[:, 1]], 1, -1)
    mirrored = Graph.from_edges(edges, graph.weights * signs)
    assert upper_bound(mirrored).proves(mirrored.positive_weight)


@pytest.mark.parametrize(
    ("edges", "weights", "size", "value"),
    [
        ([], None, 0, 0),
        ([], None, 1, 0),
        ([], None, 6, 0),
        ([(0, 1)], [7], 2, 7),
        ([(0, 1)], [0], 2, 0),
        ([(0, 1), (1, 2), (0, 2)], [-1, -1, -5], 3, 0),
        ([(0, 1), (1, 2), (0, 2)], [-0.1, -0.1, -0.5], 4, 0),
        ([(0, 1), (1, 2), (0, 2)], [0, 0, 2], 8, 2),
    ],
)
def test_where_the_positive_weight_is_all(edges, weights, size, value):
    graph = Graph.from_edges(edges, weights, num_vertices=size)
    bound = upper_bound(graph)
    assert (bound.value, bound.certified) == (value, True)
    assert bound.proves(value)


@pytest.mark.parametrize("unit", [2.0**-1022, 1e-300, 1e-5, 1e300])
def test_any_unit_of_weights(unit):
    graph = Graph.from_edges(np.array(ODD.edges()), [unit] * ODD.number_of_edges())
    with np.errstate(all="raise", under="ignore"):
        bound = check(graph, graph)
    assert bound.value < graph.positive_weight


def test_light_parts_do_not_spoil_heavy_ones():
    """Float32 sees next to nothing of the light ones."""
    edges = np.array(ODD.edges())
    more = len(edges) * [1.0]
    for light in (1e-10, 1e-30, 1e-300):
        both = Graph.from_edges(np.concatenate([edges, edges + len(ODD)]), [*more, *more])
        both = Graph(both.edges, np.repeat([1.0 + 2**-52, light], len(edges)), both.names)
        bound = upper_bound(both)
        assert bound.certified
        assert bound.value <= bound.relaxation * (1 + 1e-5)


def test_beyond_the_largest_float():
    edges = [(0, 1), (1, 2), (0, 2)]
    with pytest.raises(EcordError, match="beyond the largest"):
        upper_bound(Graph.from_edges(edges, [1.5e308] * 3))


@pytest.mark.parametrize("kind", ["ones", "signs", "integers", "even"])
def test_step_is_the_greatest(kind):
    rng = np.random.default_rng(1)
    for _ in range(20):
        graph = random_graph(rng, kind)
        assert cut_step(graph) == (math.gcd(*all_cuts(graph)) or cut_step(graph))


def test_step_of_other_weights():
    assert cut_step(Graph.from_edges([(0, 1)], [0.5])) == 0
    assert cut_step(Graph.from_edges([(0, 1), (1, 2)], [2**62, -(2**62)])) == 1
    assert cut_step(Graph.from_edges([], num_vertices=3)) == 1


def test_room_above_a_cut():
    def bound(value, step, certified=True):
        return Bound(value, certified, step, None, 0.0)

    assert bound(12.999, 1).largest_cut == 12
    assert bound(13.999, 2).largest_cut == 12
    assert bound(-0.5, 1).largest_cut == -1
    assert bound(12.5, 0).largest_cut == 12.5
    assert bound(math.inf, 1).largest_cut == math.inf
    assert isinstance(bound(13.9, 2).largest_cut, int)
    assert bound(12.999, 1).proves(12)
    assert not bound(13.0, 1).proves(12)
    assert not bound(12.5, 0).proves(12.4999)
    assert bound(12.5, 0).proves(12.5)
    assert not bound(12.0, 1, certified=False).proves(12)


def test_an_estimate_proves_nothing(monkeypatch):
    monkeypatch.setattr(definite, "_MOST_ENTRIES", 0)
    bound = upper_bound(Graph.from_networkx(nx.complete_graph(9)))
    assert not bound.certified
    assert bound.value == pytest.approx(81 / 4, rel=1e-5)
    assert not bound.proves(20)
    assert not bound.proves(10**9)
    # The sum of the positive weights needs no factorisation.
    star = upper_bound(Graph.from_networkx(nx.star_graph(9)))
    assert (star.value, star.certified) == (9, True)


def test_too_little_memory_leaves_an_estimate(monkeypatch):
    def fail(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(bound_module, "proven_shift", fail)
    assert not upper_bound(Graph.from_networkx(nx.complete_graph(9))).certified


def test_an_early_end_is_looser_and_certified():
    graph = Graph.from_networkx(nx.gnm_random_graph(30, 100, seed=0))
    early, late = upper_bound(graph, time_limit=1e-9), upper_bound(graph)
    assert early.certified
    assert late.certified
    assert early.relaxation < late.relaxation < late.value < early.value <= graph.positive_weight


def test_a_wrong_eigenvalue_is_found_out(monkeypatch):
    """What Lanczos's method gives is never trusted."""
    monkeypatch.setattr(bound_module, "smallest_eigenvalue", lambda rows, tolerance: 0.0)
    rng = np.random.default_rng(0)
    for _ in range(10):
        graph = random_graph(rng, "signs")
        bound = upper_bound(graph, time_limit=1e-9)
        assert bound.certified
        assert max(all_cuts(graph)) <= bound.largest_cut


def test_same_graph_same_bound():
    graph = Graph.from_networkx(nx.gnm_random_graph(30, 100, seed=1))
    assert upper_bound(graph).value == upper_bound(graph).value
    assert upper_bound(graph).value == upper_bound(Reduction.unchanged(graph)).value


@pytest.mark.parametrize("limit", [0, -1, math.nan, "1"])
def test_limits_that_make_no_sense(limit):
    with pytest.raises(OptionError, match="time_limit"):
        upper_bound(Graph.from_edges([(0, 1)]), time_limit=limit)


def test_problems_that_make_no_sense():
    with pytest.raises(OptionError, match="expected a Graph or a Reduction"):
        upper_bound([(0, 1)])


def test_against_cvxpy():
    cvxpy = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(0)
    for seed in range(3):
        network = nx.gnm_random_graph(25, 80, seed=seed)
        graph = Graph.from_edges(np.array(network.edges()), rng.integers(-5, 6, 80), 25)
        laplacian = np.diag(graph.adjacency().sum(axis=1)) - graph.adjacency().toarray()
        matrix = cvxpy.Variable((25, 25), PSD=True)
        objective = cvxpy.Maximize(cvxpy.trace(laplacian @ matrix) / 4)
        problem = cvxpy.Problem(objective, [cvxpy.diag(matrix) == 1])
        value = problem.solve(solver=cvxpy.SCS, eps=1e-7)
        bound = upper_bound(graph)
        assert bound.value == pytest.approx(value, rel=1e-5)
        assert bound.relaxation == pytest.approx(value, rel=1e-5)


# Values of the relaxation as published, of G1 to G5 by Helmberg and Rendl among others.
VALUES = {"G1": 12083.2, "G14": 3191.6, "G22": 14135.9, "G55": 11039.5}
QUICK = "G1"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == QUICK else pytest.mark.slow) for name in VALUES]
)
def test_gset(name, shared):
    bound = upper_bound(read_graph(shared / "data" / "gset" / f"{name}.txt.gz"))
    assert bound.certified
    assert bound.value == pytest.approx(VALUES[name], abs=0.06)
    assert bound.value <= bound.relaxation * (1 + 2e-6)
    if name == QUICK:
        assert bound.seconds < 20  # a third of that on two free cores


@pytest.mark.slow
def test_a_torus_beyond_the_size_of_full_matrices():
    """20 000 vertices with weights +1 and -1, in which every cut is even."""
    place = np.arange(20_000).reshape(100, 200)
    edges = [np.stack([place, np.roll(place, -1, axis)], -1).reshape(-1, 2) for axis in (0, 1)]
    weights = np.random.default_rng(0).choice([-1, 1], 40_000)
    bound = upper_bound(Graph.from_edges(np.concatenate(edges), weights), time_limit=60)
    assert (bound.certified, bound.step) == (True, 2)
    assert bound.value <= bound.relaxation * 1.001
