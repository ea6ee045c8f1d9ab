"""Sums over neighbours in all three forms, and the memory that the encoder takes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import encode
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.encoder import neighbour_sums
from tests.helpers import padded, quick_jit, random_agent

N, E = 32, 112


def some_graph():
    rng = np.random.default_rng(0)
    edges = np.argwhere(np.triu(rng.random((21, 21)) < 0.2, 1))
    return Graph.from_edges(edges, rng.choice([-2, 1, 3], len(edges)), num_vertices=21)


# D decides between the dense product and the edges; E is no multiple of 24 or 111.
FORMS = {"dense": (16, 2**16), "edges": (2, 2**16), "blocks": (2, 24), "one block": (2, 111)}


@pytest.mark.parametrize("form", FORMS)
def test_sums_over_neighbours_are_products_with_the_weights(form):
    width, block = FORMS[form]
    assert (width * E >= N * N) == (form == "dense")
    graph = some_graph()
    arrays = padded(to_arrays(graph), N, E)
    matrix = np.zeros((N, N))
    matrix[tuple(graph.edges.T)] = graph.weights
    matrix += matrix.T
    x = np.random.default_rng(1).normal(size=(N, width))

    @quick_jit
    def both(x):
        found, pull = jax.vjp(neighbour_sums(arrays.graph, N, width, edge_block=block), x)
        return found, pull(x)[0]

    for found in both(jnp.asarray(x, jnp.float32)):
        np.testing.assert_allclose(found, matrix @ x, atol=1e-5)


@pytest.mark.parametrize("scaling", ["paper", "scale_free"])
def test_memory_is_a_few_numbers_an_edge(scaling):
    """Compiled for a graph that is never made; messages of all edges would take 64 bytes each."""
    n, edges = 2**14, 2**23
    small = to_arrays(some_graph())
    agent = random_agent(EcordConfig(hidden=8, scaling=scaling), small)
    sizes = {small.graph.edges.shape: (edges,), small.row_start.shape: (n + 1,)}
    large = jax.tree.map(
        lambda x: jax.ShapeDtypeStruct(sizes.get(x.shape, x.shape), x.dtype), small
    )
    compiled = jax.jit(encode).lower(agent, large).compile()
    assert compiled.memory_analysis().temp_size_in_bytes < 16 * edges + 1024 * n
