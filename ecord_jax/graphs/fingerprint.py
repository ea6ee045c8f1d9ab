"""Telling graphs apart by a hash of their edges, and the hashes of the GSet graphs."""

from __future__ import annotations

import functools
import hashlib
from importlib import resources
from typing import NamedTuple

from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.rudy import rudy_text

__all__ = ["GsetGraph", "fingerprint", "gset_graphs"]


class GsetGraph(NamedTuple):
    """What is known of a GSet graph.

    Attributes:
      name: G1 to G81.
      num_vertices: N.
      num_edges: E.
      total_weight: sum of all weights.
      fingerprint: SHA-256 of the graph the literature uses; another one circulates as G23.
    """

    name: str
    num_vertices: int
    num_edges: int
    total_weight: int
    fingerprint: str


def fingerprint(graph: Graph) -> str:
    """SHA-256 of the graph as rudy text, which does not depend on how a file orders its edges.

    The text is the line `n m`, then one line `u v w` an edge, 1-based, u < v, sorted by (u, v);
    integer weights in decimal, others in the shortest digits that read back as they are; line ends
    are LF. Names of vertices do not count, only their order.

    Args:
      graph: any graph.

    Returns:
      64 hexadecimal digits.
    """
    return hashlib.sha256(rudy_text(graph).encode()).hexdigest()


@functools.cache
def gset_graphs() -> dict[str, GsetGraph]:
    """The 71 graphs of the GSet by name, in their order (Helmberg and Rendl, SIAM J. Optim. 10,
    2000; https://web.stanford.edu/~yyye/yyye/Gset/)."""
    table = resources.files("ecord_jax").joinpath("data", "gset_fingerprints.tsv")
    lines = table.read_text(encoding="utf-8").splitlines()[2:]  # below a comment and the header
    rows = [line.split("\t") for line in lines]
    return {
        name: GsetGraph(name, int(vertices), int(edges), int(weight), digest)
        for name, vertices, edges, weight, digest in rows
    }
