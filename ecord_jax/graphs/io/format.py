"""What is said of a file format: how it is told, what it can carry, what is done about faults."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal

from ecord_jax.errors import EcordWarning
from ecord_jax.graphs.cut_form import Kind
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.problem import Problem

__all__ = ["ERROR", "FAULTS", "SUMMED", "Format", "warn"]

ERROR = "error"
SUMMED = "summed"

# What may be wrong with a file that can be read all the same, or why it is not.
FAULTS = {
    "repeats": "an edge or entry is given more than once",
    "reverse": "an edge or entry is given in both directions",
    "loops": "an edge joins a vertex to itself",
    "count": "the header says another number of edges or entries",
    "range": "a vertex or variable is not one of those that the header says",
    "extras": "there is something that Max-Cut has no use for, as weights of vertices",
}


@dataclasses.dataclass(frozen=True)
class Format:
    """A file format.

    Attributes:
      name: what --format takes.
      title: what people call it.
      kinds: the kinds of problem that it holds; ("max-cut",) for graphs.
      suffixes: that tell it, where the content does not.
      signature: how the content tells it, in words; empty where it does not.
      read: makes a Graph, or for other kinds a Problem, of a source and the number of the first
        vertex, 1 or, if the user says so, 0.
      write: makes the content of a file; None where it is only read.
      counted: whether vertices are counted in it, from 1, so that some files count from 0.
      names: which names of vertices it carries: "none" but their order; "integers" from 0 on;
        "words" without blanks, too; "cells", words that may have blanks in them; or "all".
      carries: what else it carries, of: "weights"; "isolated" vertices; "order" of the vertices;
        "offset"; "large" integers, those past 2^53; "mixtures" of those and fractions.
      losses: says what else is lost of a problem or graph, if anything.
      lists_vertices: whether a file has a place for each vertex of a graph, with edges or not.
      faults: what is done about each of FAULTS that can be: ERROR, or a repair, which is counted in
        a warning.
    """

    name: str
    title: str
    kinds: tuple[Kind, ...]
    read: Callable[[Source, int], Graph | Problem]
    faults: Mapping[str, str]
    suffixes: tuple[str, ...] = ()
    signature: str = ""
    write: Callable[[Any], str | bytes] | None = None
    counted: bool = False
    names: Literal["none", "integers", "words", "cells", "all"] = "none"
    carries: frozenset[str] = frozenset({"weights", "isolated", "order", "large"})
    losses: Callable[[Any], list[str]] = lambda item: []
    lists_vertices: bool = False

    @property
    def is_graph(self) -> bool:
        return self.kinds == ("max-cut",)


def warn(count: int, one: str, many: str, done: str) -> None:
    """Warns of a repair, if there was any.

    Args:
      count: how often it was done.
      one: what it was done to, as "repeated edge".
      many: the same for several.
      done: what was done, as "summed".
    """
    if count:
        what = f"{one} was" if count == 1 else f"{many} were"
        warnings.warn(f"{count} {what} {done}", EcordWarning, stacklevel=3)
