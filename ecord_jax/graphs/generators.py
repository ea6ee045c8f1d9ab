"""Random graphs made on the device, for training: one pure function of a key per distribution.

Shape letters: N vertices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np

from ecord_jax.errors import OptionError
from ecord_jax.graphs.arrays import GraphArrays, bucket, from_dense
from ecord_jax.graphs.edge_sampling import torus_edges

__all__ = ["GraphDistribution", "sample_graph"]

Kind = Literal["er", "ba", "mixture", "torus"]
Signs = Literal["signed", "positive", "either"]


@dataclass(frozen=True)
class GraphDistribution:
    """A distribution of weighted graphs.

    Attributes:
        kind: `er`: each edge with probability `edge_probability` (Erdos-Renyi); `ba`: preferential
            attachment of `attachments` edges a vertex (Barabasi-Albert); `mixture`: Erdos-Renyi
            with a mean degree drawn from `degrees`; `torus`: a periodic lattice of equal sides
            (with signed weights the ±J spin glass), whose edges are always the same.
        num_vertices: N; of `torus`, a square or a cube as `dimensions` says.
        edge_probability: of `er`; the paper's 0.15.
        attachments: of `ba`; the paper's 4.
        degrees: of `mixture`.
        signs: weights are ±1 with equal chance, +1, or either of the two a graph.
        dimensions: of `torus`: 2 or 3; each vertex has two neighbours along each.
    """

    kind: Kind = "er"
    num_vertices: int = 40
    edge_probability: float = 0.15
    attachments: int = 4
    degrees: tuple[float, ...] = (3.0, 6.0, 12.0, 24.0)
    signs: Signs = "signed"
    dimensions: int = 2

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind) or self.signs not in get_args(Signs):
            raise OptionError(f"unknown graph kind {self.kind!r} or signs {self.signs!r}")
        if self.num_vertices < 2:
            raise OptionError(f"num_vertices={self.num_vertices} must be at least 2")
        if not 0 <= self.edge_probability <= 1:
            raise OptionError(f"edge_probability={self.edge_probability} must be in [0, 1]")
        if self.kind == "ba" and not 1 <= self.attachments < self.num_vertices:
            raise OptionError(f"attachments={self.attachments} must be in [1, num_vertices)")
        if self.kind == "mixture" and not self.degrees:
            raise OptionError("degrees must not be empty")
        if self.kind == "torus":
            self._check_torus()

    def _check_torus(self) -> None:
        if self.dimensions not in (2, 3):
            raise OptionError(f"dimensions={self.dimensions} must be 2 or 3")
        if self.side < 3 or self.side**self.dimensions != self.num_vertices:
            raise OptionError(
                f"num_vertices={self.num_vertices} of a torus must be a side of at least 3 to the "
                f"power of dimensions={self.dimensions}"
            )

    @property
    def side(self) -> int:
        """Vertices along each axis of a torus."""
        return round(self.num_vertices ** (1 / self.dimensions))

    @property
    def largest_mean_degree(self) -> float:
        """Expected degree of the densest graphs."""
        n = self.num_vertices
        match self.kind:
            case "er":
                return self.edge_probability * (n - 1)
            case "ba":
                return 2.0 * self.attachments
            case "torus":
                return 2.0 * self.dimensions
            case _:
                return min(float(max(self.degrees)), n - 1.0)

    @property
    def max_edges(self) -> int:
        """Directed edges to make room for: six standard deviations above the mean."""
        n, pairs = self.num_vertices, self.num_vertices * (self.num_vertices - 1) / 2
        if self.kind == "ba":
            return bucket(2 * self.attachments * (n - self.attachments))
        if self.kind == "torus":
            return bucket(2 * self.dimensions * n)
        chance = self.largest_mean_degree / (n - 1)
        most = pairs * chance + 6 * math.sqrt(pairs * chance * (1 - chance)) + 6
        return bucket(2 * math.ceil(min(most, pairs)))

    @property
    def row_block(self) -> int:
        """Neighbours that a flip updates at once; longer rows take several blocks."""
        if self.kind == "torus":
            return 8
        most = self.largest_mean_degree
        wanted = min(math.ceil(most + 4 * math.sqrt(most)), self.num_vertices - 1)
        return max(8, math.ceil(wanted / 8) * 8)


def sample_graph(distribution: GraphDistribution, key: jax.Array) -> GraphArrays:
    """One graph of the distribution, on the device.

    Args:
        distribution: static.
        key: consumed.
    """
    structure_key, sign_key, either_key = jax.random.split(key, 3)
    n = distribution.num_vertices
    if distribution.kind == "ba":
        present = _barabasi_albert(n, distribution.attachments, structure_key)
    elif distribution.kind == "torus":
        present = _torus(distribution)
    else:
        present = _erdos_renyi(distribution, structure_key)
    signs = jnp.where(jax.random.bernoulli(sign_key, shape=(n, n)), 1.0, -1.0)
    if distribution.signs == "positive":
        signs = jnp.ones_like(signs)
    elif distribution.signs == "either":
        signs = jnp.where(jax.random.bernoulli(either_key), signs, 1.0)
    upper = jnp.triu(present * signs, 1)
    return from_dense(
        upper + upper.T, max_edges=distribution.max_edges, row_block=distribution.row_block
    )


def _erdos_renyi(distribution: GraphDistribution, key: jax.Array) -> jax.Array:
    n = distribution.num_vertices
    degree_key, edge_key = jax.random.split(key)
    chance = jnp.asarray(distribution.edge_probability)
    if distribution.kind == "mixture":
        degrees = jnp.asarray(distribution.degrees)
        chance = jnp.minimum(jax.random.choice(degree_key, degrees) / (n - 1), 1.0)
    return jax.random.bernoulli(edge_key, chance, (n, n)).astype(jnp.float32)


def _torus(distribution: GraphDistribution) -> jax.Array:
    low, high = torus_edges((distribution.side,) * distribution.dimensions)
    n = distribution.num_vertices
    return jnp.zeros((n, n)).at[np.minimum(low, high), np.maximum(low, high)].set(1.0)


def _barabasi_albert(n: int, attachments: int, key: jax.Array) -> jax.Array:
    """Each new vertex joins `attachments` others, drawn by degree without repetition; the first
    one joins the `attachments` vertices that the graph starts with."""

    def attach(degree: jax.Array, vertex_and_noise):
        vertex, noise = vertex_and_noise
        start = jnp.where(jnp.arange(n) < attachments, 0.0, -jnp.inf)
        by_degree = jnp.where(degree > 0, jnp.log(degree), -jnp.inf)
        # The largest Gumbel-perturbed log-weights are a draw without replacement.
        scores = jnp.where(vertex == attachments, start, by_degree) + noise
        _, chosen = jax.lax.top_k(scores, attachments)
        row = jnp.zeros(n).at[chosen].set(1.0)
        return (degree + row).at[vertex].add(attachments), row

    newcomers = jnp.arange(attachments, n)
    noise = jax.random.gumbel(key, (n - attachments, n))
    _, rows = jax.lax.scan(attach, jnp.zeros(n), (newcomers, noise))
    lower = jnp.zeros((n, n)).at[newcomers].set(rows)
    return lower.T
