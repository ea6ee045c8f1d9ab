"""A table of runs that survives being killed: each row is on the disk before the next run begins.

FOLDER/results.csv       one line a run, appended as it ends
FOLDER/curves.jsonl      the same for its curve, written before the line in the table
FOLDER/results.parquet, FOLDER/curves.parquet    the same as columns, written at the end
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ecord_jax.cli.output import write_whole
from ecord_jax.errors import MissingExtraError, OptionError
from ecord_jax.search.result import Progress

__all__ = ["Key", "Row", "RowFile", "Table"]


class Key(NamedTuple):
    """What tells runs apart.

    Attributes:
        graph: its name.
        fingerprint: of the graph.
        solver: its name.
        seed: of the run.
        trajectories: of the run.
        step_limit, second_limit: the budget, None for no limit.
    """

    graph: str
    fingerprint: str
    solver: str
    seed: int
    trajectories: int
    step_limit: int | None
    second_limit: float | None


class Row(NamedTuple):
    """One run. Empty in the file where None.

    Attributes:
        set: of the graph.
        graph, vertices, edges, fingerprint: of the graph.
        solver, seed, trajectories, step_limit, second_limit: see `Key`.
        options: what was found for the set before its runs, as NAME=VALUE.
        cut: counted again from the labels.
        reference: best known cut; `ratio` is over it.
        paper_reference: the one of the ECORD paper, where that has another.
        seconds, compile_seconds: see `ecord_jax.baselines.fair`.
        best_seconds: when the cut was met, on the clock of `seconds`.
        steps, stopped_by: see `SolveResult`; "best_known" where that cut was to end the run.
        labels_sha256: of the labels, a byte 0 or 1 for each vertex.
        versions, machine, device: where and with what it ran.
    """

    set: str
    graph: str
    vertices: int
    edges: int
    fingerprint: str
    solver: str
    seed: int
    trajectories: int
    step_limit: int | None
    second_limit: float | None
    options: str
    cut: int | float
    reference: float | None
    ratio: float | None
    paper_reference: float | None
    seconds: float
    compile_seconds: float
    best_seconds: float
    steps: int
    stopped_by: str
    labels_sha256: str
    versions: str
    machine: str
    device: str

    @property
    def key(self) -> Key:
        return Key(*(getattr(self, name) for name in Key._fields))


_TEXTS = {
    *("set", "graph", "fingerprint", "solver", "options", "stopped_by", "labels_sha256"),
    *("versions", "machine", "device"),
}
_INTEGERS = {"vertices", "edges", "seed", "trajectories", "step_limit", "steps"}


class Table:
    """The table of a folder, which is made where it is missing.

    Attributes:
        rows: those that are there, in the order in which they were added; of several with a key
            the last.

    Raises:
        OptionError: if results.csv is there and is no such table.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._csv, self._curves = folder / "results.csv", folder / "curves.jsonl"
        self._folder = folder
        lines = _whole_lines(self._csv)
        if not lines:
            _append(self._csv, _csv_line(Row._fields))
        elif next(csv.reader(lines[:1])) != list(Row._fields):
            raise OptionError(f"{self._csv}: is not a table of this program; choose another --out")
        _whole_lines(self._curves)
        rows = map(_read_row, csv.reader(lines[1:]))
        self._by_key = {row.key: row for row in rows}

    @property
    def rows(self) -> list[Row]:
        return list(self._by_key.values())

    def add(self, row: Row, curve: Iterable[Progress]) -> None:
        """Appends a run; it is on the disk when this returns."""
        line = json.dumps({"key": row.key, "curve": [list(point) for point in curve]})
        _append(self._curves, line + "\n")
        _append(self._csv, _csv_line(["" if value is None else value for value in row]))
        self._by_key[row.key] = row

    def curves(self) -> dict[Key, list[Progress]]:
        """The curve of each row."""
        found = {}
        for line in _whole_lines(self._curves):
            entry = json.loads(line)
            found[Key(*entry["key"])] = [Progress(*point) for point in entry["curve"]]
        return {row.key: found[row.key] for row in self.rows if row.key in found}

    def write_parquet(self) -> None:
        """Writes rows and curves as parquet.

        Raises:
            MissingExtraError: without pandas or pyarrow.
        """
        points = [
            {**key._asdict(), **point._asdict()}
            for key, curve in self.curves().items()
            for point in curve
        ]
        _write_parquet(self._folder / "results.parquet", [row._asdict() for row in self.rows])
        _write_parquet(self._folder / "curves.parquet", points)


def _append(path: Path, text: str) -> None:
    """Adds text to a file; it is on the disk when this returns."""
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _whole_lines(path: Path) -> list[str]:
    """Lines of a file; the last is cut off where it has no end, which a kill leaves."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    return whole.decode().splitlines()


def _csv_line(values: Iterable[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()


def _read_row(fields: list[str]) -> Row:
    return Row(**{name: _read(name, text) for name, text in zip(Row._fields, fields, strict=True)})


def _read(name: str, text: str) -> Any:
    if name in _TEXTS:
        return text
    if not text:
        return None
    is_integer = name in _INTEGERS or (name == "cut" and text.lstrip("-").isdigit())
    return int(text) if is_integer else float(text)


def _write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    try:
        import pandas
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("a parquet file", "pandas and pyarrow", "experiments") from None
    frame = pandas.DataFrame(rows)
    if "cut" in frame:
        frame["cut"] = frame["cut"].astype(float)
    write_whole(str(path), lambda file: frame.to_parquet(file, index=False))


def _insist_on(path: Path, options: Mapping[str, Any], is_new: bool) -> None:
    """Keeps the options of a table beside it, or refuses others than are kept there."""
    kept = path.with_name(f"{path.name}.json")
    if is_new:
        text = json.dumps(dict(options), indent=1) + "\n"
        write_whole(str(kept), lambda name: Path(name).write_text(text, encoding="utf-8"))
        return
    try:
        found = dict(json.loads(kept.read_text(encoding="utf-8")))
    except (FileNotFoundError, TypeError, ValueError):
        raise OptionError(f"{kept}: does not say how {path.name} was made") from None
    for name, value in options.items():
        if found.get(name) != value:
            made = f"{path}: was made with {name}={found.get(name)!r}, not {value!r}"
            raise OptionError(f"{made}; choose another file")


class RowFile:
    """A CSV file of any columns, each row on the disk as soon as it is added.

    Args:
        path: of the file; made with its folder where it is missing.
        columns: their names.
        options: by name, with what all rows are made, as JSON has it; kept in a file beside it,
            PATH.json.

    Attributes:
        rows: what is there, as text by column.

    Raises:
        OptionError: if the file has other columns, or its rows were made with other options.
    """

    def __init__(
        self, path: Path, columns: Sequence[str], options: Mapping[str, Any] | None = None
    ) -> None:
        self._path, self._columns = path, list(columns)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = _whole_lines(path)
        if not lines:
            lines = [_csv_line(columns)]
            _append(path, lines[0])
        reader = csv.DictReader(lines)
        if reader.fieldnames != self._columns:
            raise OptionError(f"{path}: is not a table of this program; choose another file")
        self.rows: list[dict[str, str]] = list(reader)
        if options is not None:
            _insist_on(path, options, is_new=not self.rows)

    def add(self, *values: Any) -> None:
        """Appends a row."""
        self.add_all([values])

    def add_all(self, rows: Sequence[Sequence[Any]]) -> None:
        """Appends rows that belong together."""
        _append(self._path, "".join(map(_csv_line, rows)))
        for row in rows:
            pairs = zip(self._columns, row, strict=True)
            self.rows.append({name: str(value) for name, value in pairs})
