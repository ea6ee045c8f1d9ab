"""All file formats: telling them, reading and writing. See docs/formats.md.

A format is told by the content, where that has a signature; else by the file's suffix; else a
first line of two integers is rudy's header. What fits nothing is an error that names the formats.
"""

from __future__ import annotations

import os
import warnings

from ecord_jax.errors import EcordError, EcordWarning, OptionError
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.biq_mac import BIQ_MAC
from ecord_jax.graphs.io.bqm_file import BQM_FILE, MAGIC
from ecord_jax.graphs.io.bqm_json import BQM_JSON, is_bqm_json
from ecord_jax.graphs.io.coo import COO, has_vartype
from ecord_jax.graphs.io.dimacs import DIMACS, find_problem_line
from ecord_jax.graphs.io.edge_list import CSV, EDGES, UNWEIGHTED
from ecord_jax.graphs.io.entries import check_unused
from ecord_jax.graphs.io.files import Source, plain_name, read_source, write_text
from ecord_jax.graphs.io.fitting import fit
from ecord_jax.graphs.io.format import Format
from ecord_jax.graphs.io.ising import ISING
from ecord_jax.graphs.io.lines import find_header, is_integer, split_blanks
from ecord_jax.graphs.io.matrix_market import BANNER, MATRIX_MARKET
from ecord_jax.graphs.io.metis import METIS
from ecord_jax.graphs.io.node_link import NODE_LINK, is_node_link
from ecord_jax.graphs.io.npz import NPZ
from ecord_jax.graphs.io.qbsolv import QBSOLV
from ecord_jax.graphs.io.rudy import COMMENTS, RUDY
from ecord_jax.graphs.problem import Problem

__all__ = [
    "FORMATS",
    "detect",
    "encode",
    "read_any",
    "read_graph",
    "read_problem",
    "write_any",
    "write_graph",
    "write_problem",
]

FORMATS = {
    each.name: each
    for each in (
        RUDY,
        MATRIX_MARKET,
        DIMACS,
        METIS,
        EDGES,
        UNWEIGHTED,
        CSV,
        NODE_LINK,
        NPZ,
        QBSOLV,
        BIQ_MAC,
        BQM_JSON,
        BQM_FILE,
        COO,
        ISING,
    )
}
_CALLED = {"max-cut": "a graph", "qubo": "a QUBO", "ising": "an Ising problem"}
_ZIP_MAGIC = b"PK\x03\x04"
_SIGNATURE_AREA = 65536  # characters that a comment with a signature must be among


def read_graph(
    path: str | os.PathLike[str], format: str | None = None, *, zero_based: bool = False
) -> Graph:
    """Reads a graph from a file, plain or compressed with gzip, bzip2 or xz.

    Args:
      path: the file, or "-" for standard input.
      format: its format, one of `FORMATS`; told by the content and the suffix by default.
      zero_based: whether the file counts vertices from 0, though its format does from 1.

    Returns:
      The graph, its vertices named as in the file.

    Raises:
      GraphFileError: where the file is not as it should be, fits no format or is no graph; the
        message names the line.
      OptionError: for an unknown format, or `zero_based` for one that does not count vertices.
    """
    source, chosen = _open(path, format, zero_based)
    if not chosen.is_graph:
        kinds = " or ".join(_CALLED[kind] for kind in chosen.kinds)
        cause = f"this is {kinds} ({chosen.name}), not a graph"
        raise source.error(cause, expected="a graph; read_problem reads both")
    graph = _read(source, chosen, zero_based)
    assert isinstance(graph, Graph)
    return graph


def read_problem(
    path: str | os.PathLike[str], format: str | None = None, *, zero_based: bool = False
) -> Problem:
    """Reads a problem from a file: a graph, whose cut is maximised, a QUBO or an Ising problem.

    Args:
      path: as in `read_graph`.
      format: as in `read_graph`.
      zero_based: as in `read_graph`; variables of a QUBO may be counted, too.

    Returns:
      The problem, its variables named as in the file.

    Raises:
      GraphFileError: where the file is not as it should be or fits no format; the message names
        the line.
      OptionError: as `read_graph`.
    """
    source, chosen = _open(path, format, zero_based)
    item = _read(source, chosen, zero_based)
    if isinstance(item, Problem):
        return item
    check_unused(source, None, item.num_vertices, item.num_edges)
    return Problem.from_max_cut(item)


def read_any(
    path: str | os.PathLike[str], format: str | None = None, *, zero_based: bool = False
) -> Graph | Problem:
    """Reads what is in a file: a Graph, or a Problem that is none; see `read_problem`."""
    source, chosen = _open(path, format, zero_based)
    return _read(source, chosen, zero_based)


def write_graph(
    path: str | os.PathLike[str], graph: Graph, format: str | None = None, *, lossy: bool = False
) -> None:
    """Writes a graph; as a QUBO or an Ising problem, too, where the format is for those.

    Args:
      path: the file, or "-" for standard output; compressed where its name ends with .gz, .bz2 or
        .xz.
      graph: what to write.
      format: one of `FORMATS`; told by the suffix by default.
      lossy: whether what the format cannot carry may be left out, with a warning.

    Raises:
      GraphFileError: where the file cannot be written.
      EcordError: where something would be lost.
      OptionError: for an unknown format or suffix, or one that is only read.
    """
    write_any(path, graph, format, lossy=lossy)


def write_problem(
    path: str | os.PathLike[str],
    problem: Problem,
    format: str | None = None,
    *,
    lossy: bool = False,
) -> None:
    """Writes a problem; a QUBO as an Ising problem and the other way round where need be.

    Args:
      path: as in `write_graph`.
      problem: what to write. Where the format is for the other kind, x = (s + 1) / 2 is put in,
        and the objective stays what it is.
      format: as in `write_graph`.
      lossy: as in `write_graph`.

    Raises:
      As `write_graph`.
    """
    write_any(path, problem, format, lossy=lossy)


def write_any(
    path: str | os.PathLike[str],
    item: Graph | Problem,
    format: str | None = None,
    *,
    lossy: bool = False,
) -> None:
    """Writes a graph or a problem; see `write_graph` and `write_problem`."""
    write_text(path, encode(path, item, format, lossy=lossy))


def encode(
    path: str | os.PathLike[str],
    item: Graph | Problem,
    format: str | None = None,
    *,
    lossy: bool = False,
) -> str | bytes:
    """What `write_any` writes, before it is compressed."""
    is_graph = isinstance(item, Graph) or item.kind == "max-cut"
    target = _by_name(format) if format is not None else _by_suffix(path, graph=is_graph)
    if target is None:
        raise OptionError(
            f"no format has the suffix of {os.fspath(path)!r}; name one of {_names()}"
        )
    if target.write is None:
        raise OptionError(f"the format {target.name} is only read")
    fitted = fit(item, target)
    if fitted.losses and not lossy:
        lost = "; ".join(fitted.losses)
        raise EcordError(f"{target.name} cannot carry {lost} (lossy writes the rest)")
    for loss in fitted.losses:
        warnings.warn(f"{target.name} cannot carry {loss}", EcordWarning, stacklevel=3)
    return target.write(fitted.item)


def detect(source: Source, path: str | os.PathLike[str]) -> Format:
    """Tells the format of a file.

    Args:
      source: what is in it.
      path: its name.

    Raises:
      GraphFileError: where it fits none.
    """
    return _by_signature(source) or _by_suffix(path) or _by_header(source)


def _open(
    path: str | os.PathLike[str], format: str | None, zero_based: bool
) -> tuple[Source, Format]:
    wanted = None if format is None else _by_name(format)
    source = read_source(path)
    chosen = wanted or detect(source, path)
    if zero_based and not chosen.counted:
        raise OptionError(f"zero_based: {chosen.name} files do not count from 1")
    return source, chosen


def _read(source: Source, chosen: Format, zero_based: bool) -> Graph | Problem:
    try:
        return chosen.read(source, 0 if zero_based else 1)
    except MemoryError:
        raise source.error("there is not enough memory for it") from None


def _by_name(name: str) -> Format:
    if name not in FORMATS:
        raise OptionError(f"format {name!r}: expected one of {_names()}")
    return FORMATS[name]


def _by_signature(source: Source) -> Format | None:
    """The format that the content has the signature of, if it has one."""
    if source.data.startswith(_ZIP_MAGIC):
        return NPZ
    if source.data.startswith(MAGIC):
        return BQM_FILE
    area = source.text[:_SIGNATURE_AREA].lstrip()
    if area.lower().startswith(BANNER):
        return MATRIX_MARKET
    if area.startswith("{"):
        for known, chosen in ((is_bqm_json, BQM_JSON), (is_node_link, NODE_LINK)):
            if known(source.json):
                return chosen
        expected = f"{NODE_LINK.signature}, or {BQM_JSON.signature}"
        raise source.error("this JSON fits no format", expected=expected)
    words = split_blanks(find_problem_line(area).text)
    if words[:1] == ["p"] and len(words) > 1:
        return {"edge": DIMACS, "col": DIMACS, "qubo": QBSOLV}.get(words[1])
    return COO if has_vartype(area) else None


def _by_suffix(path: str | os.PathLike[str], *, graph: bool | None = None) -> Format | None:
    """The format that has the file's suffix, if there is one.

    Args:
      path: the file.
      graph: whether a graph is to be written to it, or a problem; None where it is read.
    """
    name = plain_name(path)
    found = [each for each in FORMATS.values() if name.endswith(each.suffixes)]
    if graph is None:  # that of rudy is on files of any text
        return next((each for each in found if each is not RUDY), None)
    return next((each for each in found if each.is_graph == graph), None) or next(iter(found), None)


def _by_header(source: Source) -> Format:
    """Rudy, or an error that names the formats."""
    header = find_header(source.text, COMMENTS)
    if not header.text:
        raise source.error("the file is empty", expected="a header line 'n m'")
    tokens = split_blanks(header.text)
    if len(tokens) != 2 or not all(map(is_integer, tokens)):
        raise source.error(
            "bad header, which fits no format",
            line=header.line,
            expected=f"two integers, the numbers of vertices and edges, or one of {_names()} named",
        )
    return RUDY


def _names() -> str:
    return ", ".join(FORMATS)
