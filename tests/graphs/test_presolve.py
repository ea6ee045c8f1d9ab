"""Tests of presolve: nothing is lost, each rule is used, nothing is left that one would take."""

import itertools
import math
import subprocess
import sys
import warnings
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecord_jax.errors import EcordError, EcordWarning
from ecord_jax.graphs import Graph, compiled, read_graph, rows, shrink
from ecord_jax.graphs.presolve import Reduction, presolve

HUGE = 2**62

signs = st.sampled_from([-1, 1])
integers = st.integers(-9, 9)
halves = integers.map(lambda x: x / 2)
heavy = st.builds(lambda x, power: x * 10**power, st.integers(-3, 3), st.integers(0, 6))
decimals = st.integers(-500, 500).map(lambda x: x / 100)
exotic = st.floats(-1e200, 1e200)
kinds_of_weights = [st.just(1), signs, integers, halves, heavy, decimals, exotic]


@st.composite
def graphs(draw, largest=10):
    """Any graph of few vertices, the sparse ones as likely as the dense ones."""
    size = draw(st.integers(0, largest))
    pairs = list(itertools.combinations(range(size), 2))
    edges = draw(st.permutations(pairs))[: draw(st.integers(0, len(pairs)))]
    weights = draw(st.sampled_from(kinds_of_weights))
    values = draw(st.lists(weights, min_size=len(edges), max_size=len(edges)))
    return Graph.from_edges(edges, values, num_vertices=size)


@st.composite
def glued(draw):
    """Cliques that share vertices, or are joined by one edge, numbered in any order."""
    pairs, size = set(itertools.combinations(range(5), 2)), 5
    for _ in range(draw(st.integers(1, 2))):
        at, new = draw(st.integers(0, size - 1)), range(size, size + draw(st.integers(4, 5)))
        joined = draw(st.booleans())
        clique = list(new) if joined else [at, *new][:-1]
        pairs |= set(itertools.combinations(clique, 2)) | ({(at, size)} if joined else set())
        size = max(clique) + 1
    order = draw(st.permutations(range(size)))
    weights = draw(st.lists(signs, min_size=len(pairs), max_size=len(pairs)))
    edges = [(order[u], order[v]) for u, v in sorted(pairs)]
    return Graph.from_edges(edges, weights, num_vertices=size)


def all_labels(size):
    return (np.arange(2**size)[:, None] >> np.arange(size) & 1).astype(np.int8)


def all_cuts(graph):
    """The cut of each of `all_labels`."""
    labels, cuts = all_labels(graph.num_vertices), np.zeros(2**graph.num_vertices)
    cuts = cuts.astype(graph.weights.dtype)
    for (u, v), weight in zip(graph.edges, graph.weights, strict=True):
        cuts += (labels[:, u] != labels[:, v]) * weight
    return cuts


def tolerance(graph):
    """Zero where sums are exact."""
    return 0 if graph.weights.dtype.kind == "i" else 1e-13 * float(np.abs(graph.weights).sum())


def value(reduction, cut):
    """What a cut of the reduced graph is worth; a Fraction where that is exact."""
    number = Fraction if isinstance(reduction.constant, int) else float
    return number(reduction.constant) + number(cut) / reduction.scale


def check(graph, most=64):
    """Checks a reduction against all labels of the graph, and as many of the reduced one."""
    reduction = presolve(graph)
    reduced, allowed = reduction.graph, tolerance(graph)
    cuts = all_cuts(reduced)
    assert abs(value(reduction, cuts.max().item()) - all_cuts(graph).max().item()) <= allowed
    labels = all_labels(reduced.num_vertices)
    some = np.linspace(0, len(labels) - 1, min(most, len(labels))).astype(int)
    for row, cut in zip(labels[some], cuts[some], strict=True):
        lifted = reduction.lift(row)
        assert lifted.dtype == np.int8
        assert abs(graph.cut(lifted) - value(reduction, cut.item())) <= allowed
    assert all_cuts(graph).max() - allowed <= reduction.bound <= graph.positive_weight + allowed
    assert reduction.optimal == (reduced.num_vertices == 0)
    assert len(reduction.vertices) == reduced.num_vertices
    check_fixpoint(reduced)
    return reduction


def check_fixpoint(graph):
    """Checks that no rule holds for any vertex, part or pair, by other means."""
    network = graph.to_networkx()
    for part in nx.connected_components(network):
        assert nx.is_biconnected(network.subgraph(part))
        assert not is_balanced(network.subgraph(part))
    rows = {u: {v: network[u][v]["weight"] for v in network[u]} for u in network}
    for row in rows.values():
        sizes = [abs(weight) for weight in row.values()]
        assert 2 * max(sizes) < math.fsum(sizes)
        # Three floats far smaller than the rest of the graph may have no halves.
        assert len(row) > 3 or (len(row) == 3 and graph.weights.dtype.kind == "f")
    for u, v in itertools.combinations(rows, 2):
        assert not are_twins(rows[u], rows[v], u, v)


def is_balanced(network):
    labels, todo = {}, [next(iter(network))]
    labels[todo[0]] = 0
    while todo:
        u = todo.pop()
        for v, data in network[u].items():
            label = labels[u] ^ (data["weight"] > 0)
            if v not in labels:
                labels[v] = label
                todo.append(v)
            if labels[v] != label:
                return False
    return True


def are_twins(row, other, u, v):
    if (row.keys() - {v}) != (other.keys() - {u}):
        return False
    factors = {Fraction(row[x]) / Fraction(other[x]) for x in row if x != v}
    return len(factors) == 1 and row.get(v, 0) * factors.pop() <= 0


def clique(weights, names=(0, 1, 2, 3, 4)):
    """A clique that no rule but that of its weights reduces."""
    return [(u, v, w) for (u, v), w in zip(itertools.combinations(names, 2), weights, strict=True)]


def make(rows, num_vertices=None):
    return Graph.from_edges([row[:2] for row in rows], [row[2] for row in rows], num_vertices)


@pytest.fixture
def _compiled(monkeypatch):
    monkeypatch.setattr(compiled, "MOST_PLAIN", 0)


@pytest.fixture
def _no_compiler(monkeypatch):
    def fail(loop):
        raise AssertionError(f"{loop} was compiled")

    monkeypatch.setattr(compiled, "_compile", fail)


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_nothing_is_lost(graph):
    check(graph)


@settings(max_examples=60, deadline=None)
@given(glued())
def test_nothing_is_lost_where_blocks_meet(graph):
    reduction = check(graph)
    labels = all_labels(reduction.graph.num_vertices)[-2:]
    for row in labels:
        parts = [row[part.vertices] for part in reduction.parts]
        assert reduction.join(parts).tolist() == row.tolist()


@settings(max_examples=60, deadline=None)
@given(graphs(largest=7))
def test_every_assignment_of_kept_vertices(graph):
    check(graph, most=2**7)


def test_larger_graphs_of_all_kinds():
    """Sparse enough for long chains of rules; numpy draws what hypothesis takes too long for."""
    rng, fired = np.random.default_rng(0), {}
    for trial in range(60):
        size = int(rng.integers(10, 17))
        pairs = [pair for pair in itertools.combinations(range(size), 2) if rng.random() < 0.3]
        weights = [rng.integers(-4, 5, len(pairs)), rng.normal(size=len(pairs))][trial % 2]
        reduction = check(Graph.from_edges(pairs, weights, size), most=16)
        fired = {rule: fired.get(rule, 0) + count for rule, count in reduction.fired.items()}
    assert all(fired[rule] > 20 for rule in ("degree 1", "degree 2", "heavy edge", "star-triangle"))


# Five vertices, degree 4, all weights of one size: nothing but twins could be reduced, and there
# are none.
STUBBORN = clique([1] * 10)
# Two triangles with a common edge: the smallest graph that needs the loop.
DIAMOND = [(0, 1, 1), (0, 2, 1), (1, 2, 1), (0, 3, 1), (1, 3, 1)]


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        (DIAMOND, "isolated"),
        (DIAMOND, "degree 1"),
        (DIAMOND, "degree 2"),
        (DIAMOND, "parallel"),
        (clique([1] * 6, range(4)), "star-triangle"),
        ([*STUBBORN[1:], (0, 1, 9)], "heavy edge"),
        (clique([-1, 1, 1, 1, 1, 1, 1, 1, 1, 1]), "twins"),
        ([*STUBBORN, *clique([1] * 10, [4, 5, 6, 7, 8])], "split"),
        ([*STUBBORN, (9, 10, -5)], "balanced"),
        ([*STUBBORN, (9, 10, -5), (10, 11, 4), (9, 11, 3), (11, 12, 1)], "balanced"),
    ],
)
def test_each_rule_is_used(rows, rule):
    assert check(make(rows)).fired[rule] > 0


def test_what_no_rule_holds_for_stays():
    graph = make(STUBBORN)
    reduction = check(graph)
    assert reduction.graph == graph
    assert sum(reduction.fired.values()) == 0
    assert (reduction.constant, reduction.scale, reduction.optimal) == (0, 1, False)
    assert "5 vertices and 10 edges reduced to 5 and 10" in reduction.summary


def twins(row, other, between=0):
    """Two vertices with given weights to the vertices of a clique that stays."""
    rows = clique([50, 51, 52, 53, 54, 55, 56, 57, 58, 59])
    rows += [(u, x, w) for u, ws in ((5, row), (6, other)) for x, w in enumerate(ws) if w]
    return make([*rows, (5, 6, between)])


TWINS = [
    ([1, 1, 1, 1], [1, 1, 1, 1], 0, True),
    ([1, -2, 2, 1, 1], [-1, 2, -2, -1, -1], 0, True),
    ([2, 4, 4, 6], [3, 6, 6, 9], 0, True),
    ([2, 4, 4, 6], [-3, -6, -6, -9], 0, True),
    ([2, 4, 4, 6], [3, 6, 6, 10], 0, False),
    ([2, 4, 4, 6], [2, 4, 4, -6], 0, False),
    ([2, 2, 2, 2], [0, 2, 2, 2, 2], 0, False),
    ([2, 2, 2, 2, 2], [2, 2, 2, 2], 0, False),
    ([2, 4, 4, 6], [3, 6, 6, 9], -1, True),
    ([2, 4, 4, 6], [-3, -6, -6, -9], 1, True),
    ([2, 4, 4, 6], [3, 6, 6, 9], 1, False),
    ([2, 4, 4, 6], [-3, -6, -6, -9], -1, False),
    ([0.5, 0.25, 0.25, 0.25], [1, 0.5, 0.5, 0.5], 0, True),
    ([0.1, 0.2, 0.3, 0.1], [0.2, 0.4, 0.6, 0.2], 0, True),
    ([0.1, 0.2, 0.3, 0.1], [0.2, 0.4, 0.6, 0.3], 0, False),
]


@pytest.mark.parametrize(("row", "other", "between", "merged"), TWINS)
def test_twins(row, other, between, merged):
    reduction = check(twins(row, other, between))
    assert reduction.fired["twins"] == merged


@pytest.mark.parametrize(("row", "other", "between", "merged"), TWINS)
def test_no_rule_trusts_a_hash(row, other, between, merged, monkeypatch):
    """All vertices and edges have the same hash: slow, and as exact."""
    for module in (rows, shrink):
        monkeypatch.setattr(module, "mix", lambda number: 0)
    test_twins(row, other, between, merged)


def test_many_twins_become_one():
    left, right = range(6), range(6, 12)
    colours = np.random.default_rng(2).choice([-1, 1], 6)
    rows = [(u, v, int(colours[v - 6])) for u in left for v in right]
    reduction = check(make([*rows, *clique([7] * 15, right)]))
    assert reduction.fired["twins"] == 5
    assert reduction.optimal or reduction.graph.num_vertices <= 7


def test_neighbours_of_a_large_clique_are_not_all_compared():
    size = 120  # without a limit to close looks this would take minutes, not a moment
    weights = np.random.default_rng(0).integers(50, 60, size * (size - 1) // 2)
    pairs = list(itertools.combinations(range(size), 2))
    reduction = presolve(Graph.from_edges(pairs, weights))
    assert reduction.graph.num_edges == len(pairs)


@pytest.mark.parametrize(
    ("graph", "best"),
    [
        (Graph.from_edges([]), 0),
        (Graph.from_edges([], num_vertices=3), 0),
        (Graph.from_edges([(0, 1)]), 1),
        (Graph.from_edges([(0, 1)], [-2]), 0),
        (Graph.from_edges([(0, 1), (1, 2), (0, 2)]), 2),
        (Graph.from_edges([(0, 1), (1, 2), (0, 2)], [-1, -1, 1]), 0),
        (Graph.from_edges([(0, 1), (1, 2), (0, 2)], [0, 0, 0]), 0),
        (Graph.from_networkx(nx.complete_graph(5), weight=None), 6),
        (Graph.from_networkx(nx.random_labeled_tree(50, seed=0), weight=None), 49),
        (Graph.from_networkx(nx.cycle_graph(50), weight=None), 50),
        (Graph.from_networkx(nx.cycle_graph(51), weight=None), 50),
        (Graph.from_networkx(nx.complete_bipartite_graph(7, 8), weight=None), 56),
        (Graph.from_networkx(nx.grid_2d_graph(9, 9), weight=None), 144),
        (Graph.from_networkx(nx.ladder_graph(40), weight=None), 118),
        (Graph.from_networkx(nx.wheel_graph(40), weight=None), 58),
        (Graph.from_edges(list(itertools.combinations(range(8), 2)), [-1] * 28), 0),
    ],
    ids=str,
)
def test_known_answers(graph, best):
    reduction = presolve(graph)
    if graph.num_vertices == 5:  # K5 is the smallest graph that stays
        assert not reduction.optimal
        assert value(reduction, all_cuts(reduction.graph).max().item()) == best
        return
    assert reduction.optimal
    assert reduction.constant == best
    assert graph.cut(reduction.lift([])) == best
    assert reduction.parts == ()
    assert reduction.join([]).shape == (0,)


def test_multigraph_of_two_vertices():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EcordWarning)
        for weights, best in (([1, 2, -4], 0), ([1, 2, 4], 7), ([1, 2, -3], 0)):
            reduction = presolve(Graph.from_edges([(0, 1), (1, 0), (0, 1)], weights))
            assert (reduction.optimal, reduction.constant) == (True, best)


def test_weights_of_zero_are_no_edges():
    rows = [(u, v, 1) for u, v in itertools.combinations(range(5), 2)]
    zeros = [(u, v, 0) for u in range(5) for v in range(5, 9)]
    reduction = check(make([*rows, *zeros]))
    assert reduction.graph.num_vertices == 5


@pytest.mark.usefixtures("_no_compiler")
@pytest.mark.parametrize("kind", ["star", "path", "odd cycle", "signed bipartite"])
def test_a_million_that_labels_satisfy_are_done_at_once(kind):
    count, rng = 10**6, np.random.default_rng(0)
    if kind == "star":
        edges = np.stack([np.zeros(count, int), np.arange(1, count + 1)], axis=1)
        weights = np.ones(count, int)
    elif kind == "path":
        edges = np.stack([np.arange(count), np.arange(1, count + 1)], axis=1)
        weights = rng.choice([-1, 1], count)
    elif kind == "odd cycle":
        edges = np.stack([np.arange(count + 1), np.roll(np.arange(count + 1), 1)], axis=1)
        weights = rng.integers(2, 10**9, count + 1)
        weights[17] = 1
    else:
        edges = np.unique(np.sort(rng.integers(0, count // 4, (count, 2))), axis=0)
        edges = edges[edges[:, 0] < edges[:, 1]]
        planted = rng.integers(0, 2, count // 4)
        weights = np.where(planted[edges[:, 0]] != planted[edges[:, 1]], 2, -3)
    graph = Graph.from_edges(edges, weights)
    reduction = presolve(graph)
    assert reduction.optimal
    best = graph.positive_weight - (kind == "odd cycle")
    assert reduction.constant == best == graph.cut(reduction.lift([]))


def test_halves_make_a_scale():
    """A vertex of degree 3 on a clique that stays: its triangle has weights of 1/2."""
    reduction = check(make([*STUBBORN, (0, 5, 1), (1, 5, 1), (2, 5, 1)]))
    assert reduction.scale == 2
    assert reduction.graph.weights.tolist() == [1, 1, 2, 2, 1, 2, 2, 2, 2, 2]
    assert isinstance(reduction.constant, int)


def test_common_factors_of_integers_stay():
    reduction = check(make([*((u, v, 12 * w) for u, v, w in STUBBORN), (0, 5, 12)]))
    assert (reduction.scale, reduction.graph.weights.tolist()) == (1, [12] * 10)


def test_fractions_of_two_become_integers():
    reduction = check(make([(u, v, w * 0.125) for u, v, w in STUBBORN]))
    assert (reduction.scale, reduction.graph.weights.tolist()) == (8, [1] * 10)


def test_other_floats_stay():
    rows = [(u, v, w + 0.1 * (u + v)) for u, v, w in STUBBORN]
    reduction = check(make(rows))
    assert (reduction.scale, reduction.graph) == (1, make(rows))


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1.0, 1e150, 1e290])
def test_floats_of_any_size(scale):
    rng = np.random.default_rng(1)
    rows = [(u, v, scale * rng.normal()) for u, v in itertools.combinations(range(7), 2)]
    check(make([*rows, (0, 7, scale / 3), (1, 7, scale / 3), (2, 7, scale / 3)]))


@pytest.mark.parametrize("size", [1, 2**20, 2**40, HUGE // 40 - 1, HUGE // 20, HUGE // 10, HUGE])
def test_large_integers(size):
    """Odd weights around a star, which leaves less and less room for halves; then none at all."""
    rows = [(u, v, w * size) for u, v, w in STUBBORN]
    graph = make([*rows, (0, 5, size | 1), (1, 5, size | 1), (2, 5, size | 1)])
    reduction = presolve(graph)
    assert reduction.graph.weights.dtype == np.int64
    for row in all_labels(reduction.graph.num_vertices):
        lifted = graph.cut(reduction.lift(row))
        assert lifted == value(reduction, reduction.graph.cut(row))
    assert (reduction.fired["star-triangle"] == 1) == (size < HUGE // 30)


def test_weights_too_large_for_the_rules_may_be_balanced():
    weights = [2 * HUGE - 1, -2 * HUGE, 2 * HUGE - 2]
    for last in ([], [(0, 3)]):  # a path, and a cycle that loses no more than its last edge
        graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), *last], weights + [1] * len(last))
        assert presolve(graph).optimal
        assert presolve(graph).constant == 4 * HUGE - 3


def test_floats_that_sum_to_infinity_are_left_alone():
    graph = make([(u, v, 1.7e308 * w) for u, v, w in STUBBORN])
    assert presolve(graph).graph == graph


def test_vertices_say_where_the_kept_ones_were():
    rows = clique([1] * 10, [11, 3, 5, 7, 9])
    reduction = presolve(make([*rows, (0, 3, 1), (3, 4, 2)]))
    assert reduction.vertices.tolist() == [3, 5, 7, 9, 11]


def test_parts():
    one, two = clique([1] * 10, [0, 2, 4, 6, 8]), clique([1] * 15, [1, 3, 5, 7, 9, 2])
    reduction = check(make([*one, *two]))
    assert reduction.fired["split"] == 1
    assert [part.graph.num_vertices for part in reduction.parts] == [6, 5]
    for part in reduction.parts:
        assert list(part.graph.names) == part.vertices.tolist()
        assert part.graph.num_edges == math.comb(part.graph.num_vertices, 2)
    best = [all_labels(len(p.vertices))[all_cuts(p.graph).argmax()] for p in reduction.parts]
    assert reduction.source.cut(reduction.lift(reduction.join(best))) == 6 + 9
    with pytest.raises(EcordError, match="1 lists of labels for 2 parts"):
        reduction.join(best[:1])
    with pytest.raises(EcordError, match="shape"):
        reduction.join(best[::-1])


def test_a_chain_of_blocks_agrees_at_every_link():
    """Labels are turned over from block to block, each by the one before."""
    rng = np.random.default_rng(0)
    rows = [row for k in range(0, 400, 4) for row in clique([1] * 10, range(k, k + 5))]
    order = rng.permutation(401)
    graph = make([(order[u], order[v], w) for u, v, w in rows])
    reduction = presolve(graph)
    assert (len(reduction.parts), reduction.graph.num_vertices) == (100, 500)
    for _ in range(5):
        labels = rng.integers(0, 2, 500)
        assert graph.cut(reduction.lift(labels)) == reduction.graph.cut(labels)


@pytest.mark.parametrize("weight", [2, 2.75])
def test_the_reduction_that_changes_nothing(weight):
    graph = make([(0, 1, weight), (1, 2, 3)])
    reduction = Reduction.unchanged(graph)
    assert reduction.graph is graph
    assert (reduction.constant, reduction.bound, reduction.optimal) == (0, weight + 3, False)
    assert type(reduction.constant) is type(weight)
    assert reduction.lift([0, 1, 1]).tolist() == [0, 1, 1]
    assert reduction.vertices.tolist() == [0, 1, 2]


def test_labels_that_do_not_fit():
    reduction = presolve(make(STUBBORN))
    for labels in ([0, 1], [0, 0, 0, 0, 2]):
        with pytest.raises(EcordError, match="labels must"):
            reduction.lift(labels)


def random_graph(kind, size=3000):
    rng = np.random.default_rng(3)
    edges = np.unique(np.sort(rng.integers(0, size, (2 * size, 2))), axis=0)
    edges = edges[edges[:, 0] < edges[:, 1]]
    if kind == "float":
        return Graph.from_edges(edges, rng.normal(size=len(edges)), size)
    return Graph.from_edges(edges, rng.integers(-2, 3, len(edges)), size)


@pytest.mark.parametrize("kind", ["int", pytest.param("float", marks=pytest.mark.slow)])
def test_compiled_and_plain_loops_agree(kind, monkeypatch):
    plain = [presolve(graph) for graph in (random_graph(kind), random_graph(kind, 20))]
    monkeypatch.setattr(compiled, "MOST_PLAIN", 0)
    for expected in plain:
        found = presolve(expected.source)
        assert found.graph == expected.graph
        assert found.fired == expected.fired
        labels = np.random.default_rng(0).integers(0, 2, found.graph.num_vertices)
        assert found.lift(labels).tolist() == expected.lift(labels).tolist()


@pytest.mark.usefixtures("_compiled")
def test_nothing_is_lost_by_the_compiled_loop():
    rng = np.random.default_rng(5)
    for _ in range(100):
        size = int(rng.integers(2, 12))
        pairs = [pair for pair in itertools.combinations(range(size), 2) if rng.random() < 0.5]
        check(Graph.from_edges(pairs, rng.integers(-2, 3, len(pairs)), size))


def test_a_ladder_of_a_million():
    """A chain of rules as long as the graph."""
    i = 2 * np.arange(500_000)
    rails = np.concatenate([np.stack([i, i + 2], 1), np.stack([i + 1, i + 3], 1)])
    steps = np.stack([np.append(i, 10**6), np.append(i + 1, 10**6 + 1)], axis=1)
    weights = np.append(-np.ones(len(rails), int), np.arange(1, len(steps) + 1) % 2 * 2 - 1)
    reduction = presolve(Graph.from_edges(np.concatenate([rails, steps]), weights))
    # Rungs of both signs in turn, the first and the last one positive: to cut them all gains 1.
    assert (reduction.optimal, reduction.constant) == (True, 1)


@pytest.mark.slow
@pytest.mark.parametrize("hubs", [2, 3, 4, 5])
def test_hubs_of_many_cost_no_more_than_others(hubs):
    """All vertices but a few have the same neighbours: quadratic if rows were searched."""
    count = 200_000
    edges = np.stack(
        [np.tile(np.arange(hubs), count), np.repeat(np.arange(count) + hubs, hubs)], axis=1
    )
    weights = np.random.default_rng(0).choice([-1, 1], len(edges))
    reduction = presolve(Graph.from_edges(edges, weights))
    assert reduction.graph.num_vertices < 40


@pytest.mark.slow
def test_a_million_vertices():
    rng, size = np.random.default_rng(0), 10**6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EcordWarning)
        graph = Graph.from_edges(rng.integers(0, size, (3 * size // 2, 2)), num_vertices=size)
    reduction = presolve(graph)
    assert reduction.graph.num_vertices < 0.4 * size
    labels = rng.integers(0, 2, reduction.graph.num_vertices)
    assert graph.cut(reduction.lift(labels)) == value(reduction, reduction.graph.cut(labels))


# As ../shared/presolve_facts.md has them; they depend a little on the order.
@pytest.mark.parametrize(
    ("name", "vertices", "edges"),
    [("G55", 3708, 11875), ("G60", 5155, 16262), ("G70", 1408, 3750), ("G1", 800, 19176)],
)
def test_sizes_of_gset(name, vertices, edges, shared):
    graph = read_graph(shared / "data" / "gset" / f"{name}.txt.gz")
    reduction = presolve(graph)
    assert reduction.graph.num_vertices == pytest.approx(vertices, rel=0.01)
    assert reduction.graph.num_edges == pytest.approx(edges, rel=0.01)
    assert reduction.scale <= 2
    assert len(reduction.parts) == 1
    labels = np.random.default_rng(0).integers(0, 2, reduction.graph.num_vertices)
    assert graph.cut(reduction.lift(labels)) == value(reduction, reduction.graph.cut(labels))


def test_small_graphs_import_no_compiler():
    program = (
        "import sys; from ecord_jax.graphs import Graph; from ecord_jax.graphs.presolve import *\n"
        "presolve(Graph.from_edges([(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]))\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.filterwarnings("ignore:overflow")  # which numba does not tell, but numpy does
def test_a_full_disk_does_no_harm(monkeypatch):
    calls = []

    def compile_but_do_not_keep(loop, _):
        def run(state):
            calls.append(loop)
            if len(calls) == 1:
                raise OSError("No space left on device")
            loop(state)

        return run

    monkeypatch.setattr(compiled, "MOST_PLAIN", 0)
    monkeypatch.setattr(compiled, "_compile", compile_but_do_not_keep)
    assert presolve(make(DIAMOND)).constant == 4
    assert len(calls) > 1


@pytest.mark.slow
def test_compiled_code_is_kept_where_the_environment_says(tmp_path):
    program = (
        "from ecord_jax.graphs import Graph, compiled; from ecord_jax.graphs.presolve import *\n"
        "compiled.MOST_PLAIN = 0\n"
        "print(presolve(Graph.from_edges([(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)])).constant)"
    )
    for _ in range(2):
        run = [sys.executable, "-c", program]
        done = subprocess.run(
            run, check=True, capture_output=True, env={"NUMBA_CACHE_DIR": str(tmp_path)}
        )
        assert done.stdout == b"4\n"
        assert list(tmp_path.rglob("shrink.*.nbc"))
