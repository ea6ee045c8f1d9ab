"""Tests of the training graphs' distributions, over a few hundred samples of each."""

import functools
import hashlib

import jax
import numpy as np
import pytest

from ecord_jax.errors import OptionError
from ecord_jax.graphs import models
from ecord_jax.graphs.generators import GraphDistribution, sample_graph
from tests.helpers import quick_jit

SAMPLES = 300
DISTRIBUTIONS = {
    "er": GraphDistribution("er", 24, edge_probability=0.3),
    "ba": GraphDistribution("ba", 20, attachments=3),
    "mixture": GraphDistribution("mixture", 30, degrees=(3.0, 12.0), signs="either"),
    "torus": GraphDistribution("torus", 25),
    "torus, 3-D": GraphDistribution("torus", 27, dimensions=3, signs="either"),
}


@functools.cache
def samples(name):
    """Dense matrices [SAMPLES, N, N] and the stacked arrays they were read from."""
    distribution = DISTRIBUTIONS[name]
    keys = jax.random.split(jax.random.key(7), SAMPLES)
    arrays = quick_jit(jax.vmap(lambda key: sample_graph(distribution, key)))(keys)
    n = distribution.num_vertices
    matrices = np.zeros((SAMPLES, n, n))
    senders, receivers = np.asarray(arrays.graph.senders), np.asarray(arrays.graph.receivers)
    for i, edges in enumerate(np.asarray(arrays.graph.n_edge)[:, 0]):
        matrices[i, receivers[i, :edges], senders[i, :edges]] = arrays.graph.edges[i, :edges]
    return matrices, arrays


def mean_is(values, expected, *, sigmas=5):
    """Whether independent values may have this mean."""
    values = np.asarray(values, float).ravel()
    return abs(values.mean() - expected) <= sigmas * values.std() / np.sqrt(len(values))


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_graphs_are_symmetric_with_unit_weights(name):
    matrices, arrays = samples(name)
    np.testing.assert_array_equal(matrices, matrices.transpose(0, 2, 1))
    assert not np.diagonal(matrices, axis1=1, axis2=2).any()
    assert set(np.unique(matrices)) <= {-1, 0, 1}
    assert (arrays.num_vertices == DISTRIBUTIONS[name].num_vertices).all()
    np.testing.assert_array_equal(arrays.degree, (matrices != 0).sum(axis=2))
    scale = np.sqrt((matrices**2).sum(axis=(1, 2)) / matrices.shape[1])
    np.testing.assert_allclose(arrays.field_scale, np.where(scale > 0, scale, 1), rtol=1e-6)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_all_edges_find_room(name):
    _, arrays = samples(name)
    kept = np.asarray(arrays.graph.n_edge)[:, 0]
    assert (kept <= DISTRIBUTIONS[name].max_edges).all()
    assert (kept == np.asarray(arrays.row_start)[:, -1]).all()


def test_er_has_each_edge_with_its_probability():
    matrices, _ = samples("er")
    present = matrices != 0
    n = present.shape[1]
    assert mean_is(present.sum(axis=(1, 2)) / 2, 0.3 * n * (n - 1) / 2)
    upper = present[:, *np.triu_indices(n, 1)]
    # Each pair by itself, within six standard deviations; and pairs are independent.
    assert np.abs(upper.mean(axis=0) - 0.3).max() < 6 * np.sqrt(0.21 / SAMPLES)
    assert abs(np.corrcoef(upper[:, :40].T)[np.triu_indices(40, 1)].mean()) < 0.02


def test_signs_are_even_and_differ_within_a_graph():
    matrices, _ = samples("er")
    upper = np.triu(matrices, 1)
    assert mean_is(upper[upper != 0], 0)
    assert all((m > 0).any() and (m < 0).any() for m in matrices)


def test_ba_grows_by_its_attachments():
    matrices, _ = samples("ba")
    present = matrices != 0
    n, m = 20, 3
    assert (present.sum(axis=(1, 2)) == 2 * m * (n - m)).all()
    # Each newcomer joins m that were there before it; the first one all m of the start.
    earlier = np.tril(present).sum(axis=2)
    assert (earlier[:, m:] == m).all()
    assert not earlier[:, :m].any()
    assert present[:, m, :m].all()


def test_ba_attaches_by_degree():
    """After the first newcomer, vertex m, has degree m, the second draws m of m + 1 by degree."""
    distribution = GraphDistribution("ba", 6, attachments=2, signs="positive")
    keys = jax.random.split(jax.random.key(3), 2000)
    arrays = quick_jit(jax.vmap(lambda key: sample_graph(distribution, key)))(keys)
    senders = np.asarray(arrays.graph.senders)
    start = np.asarray(arrays.row_start)
    second = [set(senders[i, start[i, 3] : start[i, 3] + 2].tolist()) for i in range(2000)]
    # Degrees 1, 1, 2: vertices 0 and 1 are drawn, in either order, with chance 2 · 1/4 · 1/3.
    assert mean_is([pair == {0, 1} for pair in second], 2 / 4 * 1 / 3)


def test_mixture_draws_a_degree_and_a_sign_for_each_graph():
    matrices, _ = samples("mixture")
    degree = (matrices != 0).sum(axis=2).mean(axis=1)
    sparse, dense = degree[degree < 7], degree[degree >= 7]
    assert mean_is(sparse, 3)
    assert mean_is(dense, 12)
    assert mean_is(degree < 7, 0.5)
    positive = (matrices >= 0).all(axis=(1, 2))
    assert mean_is(positive, 0.5)
    rest = np.triu(matrices[~positive], 1)
    assert mean_is(rest[rest != 0], 0)


def test_positive_graphs_have_weights_of_one():
    distribution = GraphDistribution("er", 12, edge_probability=0.5, signs="positive")
    arrays = quick_jit(lambda key: sample_graph(distribution, key))(jax.random.key(0))
    assert set(np.unique(arrays.graph.edges)) == {0, 1}


def test_same_key_same_graph_and_other_keys_others():
    matrices, arrays = samples("er")
    again = quick_jit(lambda key: sample_graph(DISTRIBUTIONS["er"], key))(
        jax.random.split(jax.random.key(7), SAMPLES)[4]
    )
    for one, all_of_them in zip(jax.tree.leaves(again), jax.tree.leaves(arrays), strict=True):
        np.testing.assert_array_equal(one, all_of_them[4])
    assert len({m.tobytes() for m in matrices}) == SAMPLES


@pytest.mark.parametrize(
    ("distribution", "digest"),
    [
        (GraphDistribution(), "f5b90edf37d3078a"),
        (GraphDistribution("ba", 40), "9f90557467bbb80b"),
        (GraphDistribution("mixture", 50, signs="either"), "4cc5efe5720e8520"),
        (GraphDistribution("er", 30, signs="positive"), "b2a6ce21fd2fee17"),
    ],
)
def test_keys_stand_for_graphs(distribution, digest):
    """The shipped agents' cards name the graphs that they learned from by a seed alone."""
    arrays = quick_jit(lambda key: sample_graph(distribution, key))(jax.random.key(11))
    real = int(arrays.graph.n_edge[0])
    parts = (arrays.row_start, arrays.graph.senders[:real], arrays.graph.edges[:real])
    types = (np.int32, np.int32, np.int8)
    content = b"".join(np.asarray(x).astype(t).tobytes() for x, t in zip(parts, types, strict=True))
    assert hashlib.sha256(content).hexdigest()[:16] == digest


@pytest.mark.parametrize("name", ["torus", "torus, 3-D"])
def test_torus_is_that_of_the_host(name):
    matrices, arrays = samples(name)
    distribution = DISTRIBUTIONS[name]
    shape = (distribution.side,) * distribution.dimensions
    host = models.torus(shape, seed=0).adjacency().toarray()
    np.testing.assert_array_equal(matrices != 0, np.broadcast_to(host != 0, matrices.shape))
    assert (arrays.degree == 2 * distribution.dimensions).all()
    assert arrays.row_block == 8
    signed = matrices[(matrices < 0).any(axis=(1, 2))]
    expected = 1.0 if distribution.signs == "signed" else 0.5
    assert abs(len(signed) / SAMPLES - expected) < (0.15 if expected < 1 else 1e-9)
    upper = np.triu(signed, 1)
    assert mean_is(upper[upper != 0], 0)


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_empty_and_complete_graphs(chance):
    distribution = GraphDistribution("er", 8, edge_probability=chance)
    arrays = quick_jit(lambda key: sample_graph(distribution, key))(jax.random.key(1))
    assert arrays.degree.tolist() == [7 * chance] * 8


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "ws"},
        {"signs": "negative"},
        {"num_vertices": 1},
        {"edge_probability": 1.5},
        {"kind": "ba", "attachments": 40},
        {"kind": "ba", "attachments": 0},
        {"kind": "mixture", "degrees": ()},
        {"kind": "torus", "num_vertices": 40},
        {"kind": "torus", "num_vertices": 4},
        {"kind": "torus", "num_vertices": 64, "dimensions": 4},
        {"kind": "torus", "num_vertices": 36, "dimensions": 3},
    ],
)
def test_distributions_that_make_no_sense_are_refused(fields):
    with pytest.raises(OptionError):
        GraphDistribution(**fields)
