"""networkx's node-link JSON: an object with `nodes`, each with its `id`, and `edges` or `links`.

    {"directed": false, "multigraph": false, "graph": {},
     "nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a", "target": "b", "weight": 2}]}

The weight is 1 where there is none. An id may be anything in JSON but an object; a list becomes a
tuple. Other attributes are dropped.

See https://networkx.org/documentation/stable/reference/readwrite/json_graph.html.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from operator import itemgetter, methodcaller
from typing import Any

import numpy as np

from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.format import SUMMED, Format, warn
from ecord_jax.graphs.io.json_values import from_json, json_texts, numbers_from_json
from ecord_jax.graphs.io.lines import written
from ecord_jax.graphs.io.table import make_graph

__all__ = ["NODE_LINK", "is_node_link", "node_link_text", "read_node_link"]

_EXPECTED = "an object with 'nodes', and with 'edges' or 'links'"
_OWN_KEYS = ("weight", "key")  # of an edge; a multigraph's edges have a key


def is_node_link(document: Any) -> bool:
    """Whether JSON has what networkx's node-link JSON has."""
    return isinstance(document, dict) and "nodes" in document


def read_node_link(source: Source, first: int = 1) -> Graph:
    """Reads a graph from node-link JSON.

    Args:
      source: the file.
      first: says nothing here, since vertices have names.

    Returns:
      The graph, its vertices in the order of the nodes. Integers stay exact up to 64 bits.

    Raises:
      GraphFileError: where the file is not as it should be.
    """
    document = source.json
    edges_key = [
        key for key in ("edges", "links") if isinstance(document, dict) and key in document
    ]
    if not is_node_link(document) or len(edges_key) != 1:
        raise source.error("no node-link JSON", expected=_EXPECTED)
    if document.get("directed", False) is not False:
        raise source.error("the graph is directed", expected='"directed": false')
    nodes, edges = document["nodes"], document[edges_key[0]]
    for key, items in (("nodes", nodes), (edges_key[0], edges)):
        if not isinstance(items, list) or not set(map(type, items)) <= {dict}:
            raise source.error(f"{key!r} is no list of objects")
    names = _names(source, nodes)
    ends = _ends(source, edges, edges_key[0], names)
    weights = numbers_from_json(
        source,
        list(map(methodcaller("get", "weight", 1), edges)),
        lambda i: f"the weight of {edges_key[0]}[{i}]",
    )
    graph = make_graph(source, ends, weights, names)
    extras = sum(map(len, nodes)) - len(nodes) + sum(map(len, edges)) - 2 * len(edges)
    extras -= sum(sum(map(methodcaller("__contains__", key), edges)) for key in _OWN_KEYS)
    attributes = document.get("graph")
    extras += len(attributes) if isinstance(attributes, dict | list) else 0
    warn(extras, "attribute", "attributes", "dropped")
    return graph


def node_link_text(graph: Graph) -> str:
    """The graph as JSON, a line for each node and edge."""
    names = json_texts(graph.names)
    nodes = ",\n".join([f'{{"id": {name}}}' for name in names])
    rows = zip(graph.edges.tolist(), written(graph.weights), strict=True)
    edges = ",\n".join(
        [f'{{"source": {names[u]}, "target": {names[v]}, "weight": {w}}}' for (u, v), w in rows]
    )
    head = '{"directed": false, "multigraph": false, "graph": {}'
    return f'{head}, "nodes": [\n{nodes}\n], "edges": [\n{edges}\n]}}\n'


def _names(source: Source, nodes: Sequence[dict[str, Any]]) -> Sequence[Hashable]:
    return _all_names(source, _column(source, nodes, "id", "nodes"), "nodes")


def _ends(
    source: Source, edges: Sequence[dict[str, Any]], key: str, names: Sequence[Hashable]
) -> np.ndarray:
    """Looks up the ends of edges; int64 [E, 2]."""
    index = {} if isinstance(names, range) else {name: i for i, name in enumerate(names)}
    if index and len(index) < len(names):
        raise source.error(f"{len(names) - len(index)} nodes have the id of another one")
    columns = []
    for side in ("source", "target"):
        ends = _column(source, edges, side, key)
        places = _places_in_range(ends, names) if isinstance(names, range) else None
        if places is None:
            places = _look_up(source, ends, key, index or {n: i for i, n in enumerate(names)})
        columns.append(places)
    return np.stack(columns, axis=1)


def _places_in_range(ends: list[Any], names: range) -> np.ndarray | None:
    """Where ends are in a row of integers; None where one is not, or is no integer."""
    try:
        array = np.array(ends, np.int64) if set(map(type, ends)) <= {int} else None
    except OverflowError:
        return None
    if array is None or ((array < names.start) | (array >= names.stop)).any():
        return None
    return array - names.start


def _look_up(
    source: Source, ends: list[Any], key: str, index: Mapping[Hashable, int]
) -> np.ndarray:
    """Looks ends up; int64 [E]."""
    wanted = _all_names(source, ends, key)
    try:
        return np.fromiter(map(index.__getitem__, wanted), np.int64, len(wanted))
    except KeyError:
        place = next(i for i, end in enumerate(wanted) if end not in index)
        cause = f"{key}[{place}]: no node {wanted[place]!r}"
        raise source.error(cause, expected="the id of one") from None


def _column(source: Source, items: Sequence[dict[str, Any]], key: str, where: str) -> list[Any]:
    try:
        return list(map(itemgetter(key), items))
    except KeyError:
        place = next(i for i, item in enumerate(items) if key not in item)
        raise source.error(f"{where}[{place}] has no {key!r}") from None


def _all_names(source: Source, values: list[Any], where: str) -> Sequence[Hashable]:
    try:
        return from_json(values)
    except ValueError as error:
        raise source.error(f"{where}: {error}") from None


NODE_LINK = Format(
    name="json",
    title="networkx's node-link JSON",
    kinds=("max-cut",),
    suffixes=(".json",),
    signature="JSON that has `nodes`",
    read=read_node_link,
    write=node_link_text,
    names="all",
    lists_vertices=True,
    faults={"repeats": SUMMED, "reverse": SUMMED, "loops": "dropped", "extras": "dropped"},
)
