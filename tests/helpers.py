"""What tests of several rooms share: agents with any parameters, padding, quick compilation."""

import dataclasses
import functools
import math
import re

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.graphs.arrays import GraphArrays
from ecord_jax.networks.agent import Agent, init_agent
from ecord_jax.networks.config import EcordConfig

# Tests run small programs once: most of their time goes into compiling.
quick_jit = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


def random_agent(config: EcordConfig, arrays: GraphArrays, seed: int = 0) -> Agent:
    """An agent whose every parameter, biases too, is drawn at random; nothing is compiled."""
    shapes = jax.eval_shape(lambda: init_agent(config, arrays, jax.random.key(0)))
    rng = np.random.default_rng(seed)

    def draw(path, leaf):
        width = math.sqrt(leaf.shape[0]) if len(leaf.shape) > 1 else 3.0
        center = 1.0 if path[-1].key == "scale" else 0.0
        return jnp.asarray(center + rng.normal(size=leaf.shape) / width, leaf.dtype)

    return Agent(jax.tree_util.tree_map_with_path(draw, shapes.params), config)


def padded(arrays: GraphArrays, n: int, e: int, **changes) -> GraphArrays:
    """The same graph among more padding: N = n and E = e."""
    more_n, more_e = n - arrays.vertex_mask.shape[0], e - arrays.graph.edges.shape[0]
    assert more_n >= 0
    assert more_e >= 0
    real = int(arrays.graph.n_edge[0])

    def ends(x):
        return jnp.pad(x[:real], (0, e - real), constant_values=n - 1)

    graph = arrays.graph._replace(
        edges=jnp.pad(arrays.graph.edges, (0, more_e)),
        senders=ends(arrays.graph.senders),
        receivers=ends(arrays.graph.receivers),
        n_node=arrays.graph.n_node.at[1].add(more_n),
        n_edge=arrays.graph.n_edge.at[1].add(more_e),
    )
    row_start = jnp.pad(arrays.row_start, (0, more_n), mode="edge")
    return dataclasses.replace(arrays, graph=graph, row_start=row_start, **changes)


def pick(tree, index):
    """`x[index]` of every leaf."""
    return jax.tree.map(lambda x: x[index], tree)


def stack(*trees):
    """Trees of the same shapes as one, with a leading axis."""
    return jax.tree.map(lambda *x: jnp.stack(x), *trees)


def reachable(text, name):
    """A computation of compiled HLO and those that it calls, nested loops left out."""
    parts = dict(re.findall(r"^(?:ENTRY )?%?([\w.\-]+) \(.*?\{\n(.*?)^\}", text, re.M | re.S))
    found, queue = [], [name]
    while queue:
        part = parts[queue.pop()]
        found.append(part)
        queue += re.findall(r"(?:calls|to_apply)=%?([\w.\-]+)", part)
    return "\n".join(found)
