"""Tests of the random graphs made on the host."""

import functools
import math

import networkx as nx
import numpy as np
import pytest

from ecord_jax.errors import OptionError
from ecord_jax.graphs import models
from ecord_jax.graphs.draws import Draws
from ecord_jax.graphs.edge_sampling import nth_pair, stacked_triangulation
from ecord_jax.graphs.fingerprint import fingerprint

MAKERS = {
    "er": functools.partial(models.erdos_renyi, 60, 0.2),
    "er, sparse": functools.partial(models.erdos_renyi, 5000, 4e-4),
    "er, complete": functools.partial(models.erdos_renyi, 9, 1),
    "ba": functools.partial(models.barabasi_albert, 50, 4),
    "regular": functools.partial(models.random_regular, 200, 3),
    "regular, dense": functools.partial(models.random_regular, 21, 14),
    "torus, 2-D": functools.partial(models.torus, (5, 8)),
    "torus, 3-D": functools.partial(models.torus, [3, 4, 5], weights="gaussian"),
    "planar": functools.partial(models.planar_union, 100),
    "sk": functools.partial(models.sherrington_kirkpatrick, 20),
    "sk, signs": functools.partial(models.sherrington_kirkpatrick, 20, weights="signed"),
    "power law": functools.partial(models.power_law, 300, 4),
    "power law, 2.2": functools.partial(models.power_law, 40, 15, exponent=2.2),
}
# The graphs that seed 1 stands for, for good.
GOLDEN = {
    "er": "fb026cb640351fe01ebbee20473c67a865dd6d8b9c5d1cad7d4292be81cceace",
    "er, sparse": "02626a8877573a4bf5d6db1921611b8682452270185b420d2aeabdedf2f9e829",
    "er, complete": "f6e0741c9fcb2102e0fbd7487693d06dab92548c5332e071535c74e49b8ef057",
    "ba": "d86aed1869063da855991c74b64eb6bf4b45bd48de1e6450a7a15c10e60455ab",
    "regular": "b6b67ba2ef69768c537cfbf02fce0a8b9fbdc5cd4a7f315c22fbd4f179a22ab3",
    "regular, dense": "322b64f81370756f3aa82dcccee18f27d6ff685b7f7732feb1388c9d8a0a8aa9",
    "torus, 2-D": "ed5eea43776712214f9b6038cfb9b2f6e53e4c0bf2ca1115c8625988ef5a0330",
    "torus, 3-D": "90b1016a847e65ae4d1e253a0ba90b84c21167ac424940ad0fa165319a1befdb",
    "planar": "6a83c9b613b965f4c857a60a5cfd91ddb83f241573ca6c601f5478113e071726",
    "sk": "5c4559990785b0cf36f5b11eac063d5849a6b4c3a0fad2d464b4f278636e3167",
    "sk, signs": "135b5a9ed3d7edc0e277bad44baca317bb2c42849670a89cc9b99c2ea490b84c",
    "power law": "e0abaee8a1f59daf8a80b5ff2ee88770150681d762853ddd2ccd4a2a3f3862be",
    "power law, 2.2": "a5884440fb20e599b825867d13ad2dd6385e5f122f8dbea70cca368cf05bb577",
}


def degrees(graph):
    return np.bincount(graph.edges.ravel(), minlength=graph.num_vertices)


@pytest.mark.parametrize("name", MAKERS)
def test_seeds_stand_for_graphs(name):
    assert fingerprint(MAKERS[name](seed=1)) == GOLDEN[name]


@pytest.mark.parametrize("name", MAKERS)
def test_seeds(name):
    make = MAKERS[name]
    graph = make(seed=3)
    assert graph == make(seed=np.int64(3))
    assert (graph == make(seed=4)) == (name == "er, complete")
    rng = np.random.default_rng(3)
    first, second = make(seed=rng), make(seed=rng)
    assert first == make(seed=np.random.default_rng(3))
    assert (first == second) == (name == "er, complete")
    with pytest.raises(OptionError, match="^seed=1.5 must be an integer"):
        make(seed=1.5)


@pytest.mark.parametrize("name", MAKERS)
def test_weights(name):
    """Edges do not depend on the kind of weights. The constructor checks that they differ."""
    make = MAKERS[name]
    unit, signed, gaussian = (make(seed=5, weights=kind) for kind in ("unit", "signed", "gaussian"))
    assert (unit.weights == 1).all()
    np.testing.assert_array_equal(unit.edges, signed.edges)
    np.testing.assert_array_equal(unit.edges, gaussian.edges)
    assert set(signed.weights.tolist()) == {-1, 1}
    assert gaussian.weights.dtype == np.float64
    spread = 6 / math.sqrt(unit.num_edges)
    assert abs(signed.weights.mean()) < spread
    assert abs(gaussian.weights.mean()) < spread
    assert abs((gaussian.weights**2).mean() - 1) < 2 * spread
    with pytest.raises(OptionError, match="weights='bimodal' is none of unit, signed, gaussian"):
        make(seed=5, weights="bimodal")


@pytest.mark.parametrize("p", [0.003, 0.3, 0.9])
def test_er_has_each_pair_with_its_probability(p):
    n, runs = 12, 3000
    counts = np.zeros((n, n))
    sizes = []
    for seed in range(runs):
        edges = models.erdos_renyi(n, p, seed=seed).edges
        counts[edges[:, 0], edges[:, 1]] += 1
        sizes.append(len(edges))
    pairs = counts[np.triu_indices(n, 1)] / runs
    assert np.abs(pairs - p).max() < 5 * math.sqrt(p * (1 - p) / runs)
    variance = n * (n - 1) / 2 * p * (1 - p)
    assert np.var(sizes) == pytest.approx(variance, rel=0.15)


def test_er_at_its_ends():
    assert models.erdos_renyi(40, 0, seed=0).num_edges == 0
    assert models.erdos_renyi(40, 1, seed=0).num_edges == 780
    assert models.erdos_renyi(0, 0.5, seed=0).num_vertices == 0
    assert models.erdos_renyi(1, 1.0, seed=0).num_edges == 0
    for p in (5e-324, 1e-300, 1e-20, 1e-17):
        assert models.erdos_renyi(2**31 - 1, p, seed=0).num_edges < 60
    # 2.3e18 pairs: an expectation of 231, of pairs from end to end.
    edges = models.erdos_renyi(2**31 - 1, 1e-16, seed=0).edges
    assert 150 < len(edges) < 320
    assert 0.45 < edges[:, 1].mean() / 2**31 / (2 / 3) < 1.55
    dense = models.erdos_renyi(50, 1 - 1e-9, seed=0)
    assert dense.num_edges == 1225


def test_pairs_are_counted_off():
    u, v = nth_pair(np.arange(10))
    assert list(zip(u.tolist(), v.tolist(), strict=True)) == [
        (u, v) for v in range(5) for u in range(v)
    ]
    v = np.array([2, 3, 1000, 2**20 + 1, 2**31 - 2])
    for u in (0 * v, v - 1, v // 2):
        index = v * (v - 1) // 2 + u
        np.testing.assert_array_equal(nth_pair(index), (u, v))


def test_ba_grows_by_its_attachments():
    for n, m in ((50, 4), (6, 5), (9, 1), (12, 9)):
        graph = models.barabasi_albert(n, m, seed=n)
        assert graph.num_edges == m * (n - m)
        earlier = np.bincount(graph.edges[:, 1], minlength=n)
        assert (earlier[m:] == m).all()
        assert not earlier[:m].any()


def test_ba_attaches_by_degree():
    """After the first newcomer, vertex 2, has degree 2, the second draws 2 of 3 by degree."""
    seconds = [
        frozenset(e[0] for e in models.barabasi_albert(4, 2, seed=s).edges.tolist() if e[1] == 3)
        for s in range(3000)
    ]
    # Degrees 1, 1, 2: vertices 0 and 1 are drawn, in either order, with chance 2 · 1/4 · 1/3.
    assert abs(seconds.count({0, 1}) / 3000 - 1 / 6) < 0.035
    assert abs(seconds.count({0, 2}) - seconds.count({1, 2})) < 300


def test_regular_graphs_are_regular():
    for n in range(12):
        for d in range(max(n, 1)):
            if n * d % 2 == 0:
                graph = models.random_regular(n, d, seed=n)
                assert (degrees(graph) == d).all()
    assert (degrees(models.random_regular(400, 199, seed=0)) == 199).all()


def test_regular_graphs_are_near_uniform():
    """Of the 70 2-regular graphs of 6 vertices 60 are hexagons; each pair is in 2 of 5."""
    graphs = [models.random_regular(6, 2, seed=seed) for seed in range(3000)]
    hexagons = sum(nx.is_connected(graph.to_networkx()) for graph in graphs)
    assert abs(hexagons / 3000 - 6 / 7) < 0.05
    _, counts = np.unique(
        np.concatenate([graph.edges for graph in graphs]) @ [6, 1], return_counts=True
    )
    assert len(counts) == 15
    assert np.abs(counts / 3000 - 0.4).max() < 0.05


def test_torus():
    graph = models.torus((4, 5), seed=0, weights="unit")
    assert (degrees(graph) == 4).all()
    wanted = nx.grid_2d_graph(4, 5, periodic=True)
    assert {frozenset((5 * i + j, 5 * k + m)) for (i, j), (k, m) in wanted.edges} == {
        frozenset(edge) for edge in graph.edges.tolist()
    }
    cube = models.torus((3, 4, 5), seed=0)
    assert cube.num_edges == 180
    assert (degrees(cube) == 6).all()
    assert nx.is_isomorphic(models.torus([7], seed=0).to_networkx(), nx.cycle_graph(7))


def test_planar_union():
    for n in (3, 4, 5, 60):
        edges = stacked_triangulation(n, Draws(n))
        layer = nx.Graph(edges.tolist())
        assert layer.number_of_edges() == len(edges) == 3 * n - 6
        assert nx.check_planarity(layer)[0]
    whole = models.planar_union(60, seed=1, density=1)
    assert 3 * 60 - 6 < whole.num_edges <= 2 * (3 * 60 - 6)
    # Its two layers, and so two permutations: it is not planar, and no vertex is of low degree.
    assert not nx.check_planarity(whole.to_networkx())[0]
    assert degrees(whole).min() >= 4


def test_planar_union_is_like_g14(shared):
    from ecord_jax.graphs import read_graph

    g14 = read_graph(shared / "data" / "gset" / "G14.txt.gz")
    graph = models.planar_union(800, seed=0)
    assert abs(graph.num_edges - g14.num_edges) < 60
    for part in (5, 50, 90):
        mine, theirs = (np.percentile(degrees(g), part) for g in (graph, g14))
        assert abs(mine - theirs) <= 2
    assert degrees(graph).max() > 60


def test_sherrington_kirkpatrick_is_complete():
    graph = models.sherrington_kirkpatrick(30, seed=0)
    assert graph.num_edges == 435
    assert graph.weights.dtype == np.float64
    assert models.sherrington_kirkpatrick(1, seed=0).num_edges == 0


def test_power_law():
    for exponent in (2.5, 3.5):
        graph = models.power_law(100_000, 6, seed=1, exponent=exponent)
        assert graph.num_edges == 300_000
        many = degrees(graph)
        # The share of vertices of degree k or more falls as k**(1 - exponent).
        low, high = ((many >= k).sum() for k in (20, 60))
        assert math.log(low / high) / math.log(3) == pytest.approx(exponent - 1, abs=0.25)
        assert many[:10].mean() > 10 * many[1000:2000].mean()
    flat = degrees(models.power_law(10_000, 6, seed=1, exponent=100))
    assert flat.max() < 30
    assert models.power_law(9, 4, seed=0).num_edges == 18
    assert models.power_law(50, 0, seed=0).num_edges == 0


def test_large_graphs_are_quick():
    """None of them looks at all pairs, 5e9 here."""
    n = 100_000
    assert models.erdos_renyi(n, 4 / n, seed=0).num_edges == pytest.approx(2 * n, rel=0.02)
    assert models.random_regular(n, 4, seed=0).num_edges == 2 * n
    assert models.barabasi_albert(n, 2, seed=0).num_edges == 2 * (n - 2)
    assert models.planar_union(n, seed=0).num_edges == pytest.approx(5.94 * n, rel=0.001)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: models.erdos_renyi(-1, 0.5, seed=0), "num_vertices=-1 must be at least 0"),
        (lambda: models.erdos_renyi(2.0, 0.5, seed=0), "num_vertices=2.0 must be an integer"),
        (lambda: models.erdos_renyi(2**31, 0.5, seed=0), "num_vertices=2147483648 must be at most"),
        (lambda: models.erdos_renyi(9, 1.5, seed=0), "edge_probability=1.5 must be from 0 to 1"),
        (lambda: models.erdos_renyi(9, math.nan, seed=0), "edge_probability=nan must be from"),
        (lambda: models.erdos_renyi(9, "0.5", seed=0), "edge_probability='0.5' must be a number"),
        (lambda: models.erdos_renyi(9, 0.5, seed=-1), "seed=-1 must be at least 0"),
        (lambda: models.barabasi_albert(9, 9, seed=0), "attachments=9 must be at most 8"),
        (lambda: models.barabasi_albert(9, 0, seed=0), "attachments=0 must be at least 1"),
        (lambda: models.random_regular(9, 3, seed=0), "degree=3 is odd, so num_vertices=9 must"),
        (lambda: models.random_regular(9, 9, seed=0), "degree=9 must be at most 8"),
        (lambda: models.random_regular(9, True, seed=0), "degree=True must be an integer"),
        (lambda: models.torus((2, 5), seed=0), "a side of shape=2 must be at least 3"),
        (lambda: models.torus((), seed=0), r"shape=\(\) must be a list of sides"),
        (lambda: models.torus(9, seed=0), "shape=9 must be a list of sides"),
        (lambda: models.torus("99", seed=0), "shape='99' must be a list of sides"),
        (lambda: models.torus((10**6, 10**6), seed=0), "num_vertices=1000000000000 must be at"),
        (lambda: models.planar_union(2, seed=0), "num_vertices=2 must be at least 3"),
        (lambda: models.planar_union(9, seed=0, density=2), "density=2 must be from 0 to 1"),
        (lambda: models.power_law(9, 5, seed=0), "mean_degree=5 must be from 0 to 4"),
        (lambda: models.power_law(9, 2, seed=0, exponent=2), "exponent=2 must be from 2.1 to 100"),
    ],
)
def test_arguments_that_make_no_sense(call, words):
    with pytest.raises(OptionError, match="^" + words) as error:
        call()
    assert "\n" not in str(error.value)
