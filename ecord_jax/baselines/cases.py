"""Graphs to compare solvers on, and what is known of their largest cuts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ecord_jax.errors import GraphFileError, OptionError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.fingerprint import fingerprint, gset_graphs
from ecord_jax.graphs.io.sets import read_set

__all__ = ["Case", "Reference", "find_files", "read_cases", "read_references"]

_NO_GRAPHS = {".csv", ".json", ".log", ".md", ".parquet", ".part", ".png", ".tsv", ".wrong"}


class Reference(NamedTuple):
    """Attributes:
    value: the best known cut.
    paper_value: what the ECORD paper's ratios are over, None for graphs that it has not.
    """

    value: float
    paper_value: float | None


class Case(NamedTuple):
    """Attributes:
    set: name of the file of sets, or of the folder of the graph's file.
    name: of the graph, different for each of them.
    graph: the graph.
    fingerprint: see `ecord_jax.graphs.fingerprint`.
    reference: what is known of its cut, None if nothing is.
    """

    set: str
    name: str
    graph: Graph
    fingerprint: str
    reference: Reference | None


def find_files(paths: Sequence[str]) -> list[Path]:
    """The files of graphs that paths stand for: a folder's sets, or else its graphs, in order.

    Raises:
        OptionError: for a folder without any.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        if not path.is_dir():
            files.append(path)
            continue
        inside = [file for file in path.iterdir() if file.is_file() and file.name[0] != "."]
        sets = [file for file in inside if file.suffix == ".npz"]
        found = sets or [file for file in inside if file.suffix not in _NO_GRAPHS]
        if not found:
            raise OptionError(f"{path}: no graphs in this folder")
        files += sorted(found, key=_natural)
    return files


def read_references(path: Path) -> dict[str, Reference]:
    """Reads best known cuts by the graphs' fingerprints.

    Args:
        path: a JSON object whose field `graphs` has for each name of a GSet graph, or fingerprint,
            the best known cut `value`, its `source` and the `date` of that, and, where the paper
            has another one, `paper_value`.

    Raises:
        GraphFileError: for a file that is not so.
    """
    known = gset_graphs()
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["graphs"]
        return {
            known[name].fingerprint if name in known else name: Reference(
                entry["value"], entry.get("paper_value")
            )
            for name, entry in entries.items()
        }
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise GraphFileError(path, f"is no file of references ({error!r})") from None


def read_cases(
    files: Sequence[Path], references: dict[str, Reference], limit: int | None = None
) -> list[Case]:
    """Reads all graphs.

    Args:
        files: npz files, whose own `opt` comes before other references, or one graph each.
        references: by fingerprint.
        limit: only so many graphs of each set.

    Raises:
        GraphFileError, EcordError: for a file that cannot be read.
        OptionError: for two graphs of the same name.
    """
    cases: list[Case] = []
    read: Counter[str] = Counter()
    for file in files:
        is_set = file.suffix == ".npz"
        set_ = file.stem if is_set else file.resolve().parent.name
        if not is_set and limit is not None and read[set_] >= limit:
            continue
        graphs, opt = read_set(file, limit)
        read[set_] += 1
        for index, (graph, own) in enumerate(zip(graphs, opt, strict=True)):
            name = f"{set_}/{index}" if is_set else file.name.split(".")[0]
            digest = fingerprint(graph)
            reference = references.get(digest)
            if not np.isnan(own):
                reference = Reference(float(own), None)
            cases.append(Case(set_, name, graph, digest, reference))
    repeated = [name for name, count in Counter(case.name for case in cases).items() if count > 1]
    if repeated:
        raise OptionError(f"two graphs are called {repeated[0]}")
    return cases


def _natural(path: Path) -> list[tuple[int, str]]:
    """G2 before G14."""
    parts = re.split(r"(\d+)", path.name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
