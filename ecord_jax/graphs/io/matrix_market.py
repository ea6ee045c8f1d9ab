"""MatrixMarket: the matrix of a graph's weights.

The first line says what follows, as `%%MatrixMarket matrix coordinate integer symmetric`. Then,
below comment lines that begin with %, come `n n m` and one line `i j w` an entry, counted from 1;
or, for a dense `array`, `n n` and the entries column by column. `pattern` has no weights: they are
1.

An entry is the weight of its edge, not half of it. A symmetric matrix holds one triangle,
whichever. In a general one a triangle may be empty; where both are there, they must be equal. Zeros
are edges where they are stored, and none in a dense matrix.

See R. Boisvert, R. Pozo, K. Remington, The Matrix Market Exchange Formats, NISTIR 5935 (1996).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ecord_jax.graphs.edges import merge
from ecord_jax.graphs.graph import Graph
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.format import ERROR, SUMMED, Format
from ecord_jax.graphs.io.lines import (
    Header,
    blank_out,
    check_count,
    counts_header,
    find_header,
    line_of,
    split_blanks,
    written,
)
from ecord_jax.graphs.io.table import Rows, make_graph, read_table

__all__ = ["BANNER", "MATRIX_MARKET", "matrix_market_text", "read_matrix_market"]

BANNER = "%%matrixmarket"
_COMMENTS = ("%",)
_SIZES = {"coordinate": ("the size of the matrix, 'n n m'", 3), "array": ("its size, 'n n'", 2)}
_FIELDS = ("real", "integer", "pattern")
_SYMMETRIES = ("general", "symmetric")
_EXPECTED = (
    "'%%MatrixMarket matrix' with coordinate or array; real, integer or pattern; general or "
    "symmetric"
)


class _Kind(NamedTuple):
    """What the banner says, in small letters."""

    form: str
    field: str
    symmetry: str


class _Entries(NamedTuple):
    """The entries of a matrix.

    Attributes:
      ends: int64 [M, 2], 0-based.
      values: int64 or float64 [M], or None where all are 1.
      rows: int64 [M], which row of the table each is from.
    """

    ends: np.ndarray
    values: np.ndarray | None
    rows: np.ndarray


def read_matrix_market(source: Source, first: int = 1) -> Graph:
    """Reads a graph from a MatrixMarket file.

    Args:
      source: the file.
      first: what the first row and column are called, 0 or 1.

    Returns:
      The graph, its vertices named from `first` on.

    Raises:
      GraphFileError: where the file is not as it should be, or the matrix not symmetric.
    """
    kind, header = _read_head(source)
    expected, length = _SIZES[kind.form]
    tokens = split_blanks(header.text)
    if len(tokens) != length:
        raise source.error("bad size", line=header.line, expected=expected)
    size, columns, *count = counts_header(source, header, tokens, expected)
    if size != columns:
        raise source.error("the matrix is not square", line=header.line)
    if count:
        entries = _read_coordinates(source, header, kind, size, count[0], first)
    else:
        entries = _read_array(source, header, kind, size)
    kept = _one_triangle(source, header, kind, entries, size, first)
    values = None if entries.values is None else entries.values[kept]
    return make_graph(source, entries.ends[kept], values, range(first, size + first))


def matrix_market_text(graph: Graph) -> str:
    """The lower triangle of the graph's symmetric matrix, entries as its edges are in order."""
    field = "integer" if graph.weights.dtype.kind == "i" else "real"
    n, m = graph.num_vertices, graph.num_edges
    lines = [f"%%MatrixMarket matrix coordinate {field} symmetric", f"{n} {n} {m}"]
    ends, weights = (graph.edges + 1).tolist(), written(graph.weights)
    lines += [f"{v} {u} {w}" for (u, v), w in zip(ends, weights, strict=True)]
    return "\n".join(lines) + "\n"


def _read_head(source: Source) -> tuple[_Kind, Header]:
    """Reads the banner, and finds the line below it that has the size; comments are emptied."""
    banner, _, rest = source.text.partition("\n")
    words = split_blanks(banner.lower())
    if len(words) != 5 or words[:2] != [BANNER, "matrix"]:
        raise source.error("bad first line", line=1, expected=_EXPECTED)
    kind = _Kind(*words[2:])
    if (
        kind.form not in _SIZES
        or kind.field not in _FIELDS
        or kind.symmetry not in _SYMMETRIES
        or (kind.form, kind.field) == ("array", "pattern")
    ):
        raise source.error("no matrix of a graph", line=1, expected=_EXPECTED)
    header = find_header(rest, _COMMENTS)
    if not header.text:
        raise source.error("the file ends early", expected=_SIZES[kind.form][0])
    return kind, Header(header.text, header.line + 1, blank_out(header.body, _COMMENTS))


def _read_coordinates(
    source: Source, header: Header, kind: _Kind, size: int, count: int, first: int
) -> _Entries:
    """Reads lines `i j value`, or `i j` of a pattern."""
    pattern = kind.field == "pattern"
    layout = Rows.counted(
        size,
        first,
        line="i j" if pattern else "i j value",
        columns=(2,) if pattern else (3,),
        key="row or column",
        value="entry",
    )
    table = read_table(source, header.body, header.line + 1, layout)
    check_count(source, header.line, count, len(table.keys), "entries")
    _check_integers(source, header, kind, table.values)
    return _Entries(table.keys - first, table.values, np.arange(len(table.keys)))


def _read_array(source: Source, header: Header, kind: _Kind, size: int) -> _Entries:
    """Reads a value a line, those of a column together; symmetric ones from the diagonal on."""
    layout = Rows(line="one value", columns=(1,), keys=0, value="entry")
    values = read_table(source, header.body, header.line + 1, layout).values
    assert values is not None  # there is a column
    full = kind.symmetry == "general"
    check_count(
        source,
        header.line,
        size * size if full else size * (size + 1) // 2,
        len(values),
        "entries",
    )
    _check_integers(source, header, kind, values)
    kept = np.flatnonzero(values)
    columns, rows = np.divmod(np.arange(size * size), size) if full else np.triu_indices(size)
    return _Entries(np.stack([rows[kept], columns[kept]], axis=1), values[kept], kept)


def _check_integers(source: Source, header: Header, kind: _Kind, values: np.ndarray | None) -> None:
    """Refuses a point or an exponent where the banner says integer."""
    if kind.field == "integer" and values is not None and values.dtype.kind == "f":
        lines = header.body.split("\n")
        number = next(i for i, line in enumerate(lines) if set(line) & set(".eE"))
        raise source.error(
            "no integer, though line 1 says integer",
            line=header.line + 1 + number,
            expected="integers, or real on line 1",
        )


def _one_triangle(
    source: Source, header: Header, kind: _Kind, entries: _Entries, size: int, first: int
) -> np.ndarray:
    """Checks that the triangles of a matrix agree.

    Returns:
      bool [M], the entries that make the edges, each edge once if its entries are not repeated.
    """
    low, high = entries.ends.min(axis=1), entries.ends.max(axis=1)
    below = entries.ends[:, 0] > entries.ends[:, 1]
    above = entries.ends[:, 0] < entries.ends[:, 1]
    everything = np.ones(len(below), bool)
    if not below.any() or not above.any():
        return everything
    keys = low * size + high
    if kind.symmetry == "symmetric":
        wrong = np.intersect1d(keys[above], keys[below])
        cause = "is in both triangles of a matrix that line 1 calls symmetric"
    else:
        values = np.ones(len(below), np.int64) if entries.values is None else entries.values
        sums = [merge(entries.ends[part], values[part], size) for part in (above, below)]
        if all(np.array_equal(*pair) for pair in zip(sums[0][:2], sums[1][:2], strict=True)):
            return ~below
        wrong = _differing(*((s.edges[:, 0] * size + s.edges[:, 1], s.weights) for s in sums))
        everything = ~below | ~np.isin(keys, keys[above])  # a zero may be stored below alone
        cause = "differs from its mirror image: the matrix is not symmetric"
    if wrong.size:
        place = np.flatnonzero((above | below) & np.isin(keys, wrong))[0]
        i, j = (entries.ends[place] + first).tolist()
        line = line_of(header.body, header.line + 1, int(entries.rows[place]))
        raise source.error(f"entry ({i}, {j}) {cause}", line=line)
    return everything


def _differing(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """The keys that do not have the same value in both of two lists; what is missing is zero."""
    keys = np.union1d(first[0], second[0])
    values = []
    for some_keys, some_values in (first, second):
        column = np.zeros(len(keys), some_values.dtype)
        column[np.searchsorted(keys, some_keys)] = some_values
        values.append(column)
    return keys[values[0] != values[1]]


MATRIX_MARKET = Format(
    name="matrix-market",
    title="MatrixMarket matrix",
    kinds=("max-cut",),
    suffixes=(".mtx", ".mm"),
    signature="the first line begins with `%%MatrixMarket`",
    read=read_matrix_market,
    write=matrix_market_text,
    counted=True,
    faults={
        "repeats": SUMMED,
        "reverse": f"{ERROR}, unless both of a general matrix are equal",
        "loops": "dropped",
        "count": ERROR,
        "range": ERROR,
    },
)
