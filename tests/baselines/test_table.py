"""Tests of the table of runs, its summary and its pictures."""

import csv

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from ecord_jax.baselines.curve_plot import plot_graphs, plot_sets, ratios_at
from ecord_jax.baselines.summary import bootstrap, summarize
from ecord_jax.baselines.table import Row, RowFile, Table
from ecord_jax.errors import OptionError
from ecord_jax.search.result import Progress

ROW = Row(
    set="a",
    graph="a/0",
    vertices=4,
    edges=5,
    fingerprint="f0",
    solver="mca",
    seed=0,
    trajectories=50,
    step_limit=8,
    second_limit=None,
    options="",
    cut=9,
    reference=10.0,
    ratio=0.9,
    paper_reference=None,
    seconds=0.25,
    compile_seconds=1.5,
    best_seconds=0.1,
    steps=8,
    stopped_by="num_steps",
    labels_sha256="00",
    versions="x 1; y, 2",
    machine="m",
    device="cpu",
)
OTHERS = [
    ROW._replace(graph="a/1", cut=0.1 + 0.2, reference=None, ratio=None, step_limit=None),
    ROW._replace(graph="a/2", solver="tabu:fixed", second_limit=0.5, paper_reference=11.0),
]
CURVE = (Progress(0.0, 0, 3), Progress(0.1, 4, 9), Progress(0.25, 8, 9))


@pytest.fixture
def folder(tmp_path):
    table = Table(tmp_path)
    for row in (ROW, *OTHERS):
        table.add(row, CURVE)
    return tmp_path


def test_rows_come_back_as_they_were(folder):
    table = Table(folder)
    assert table.rows == [ROW, *OTHERS]
    assert isinstance(table.rows[0].cut, int)
    assert table.curves() == {row.key: list(CURVE) for row in table.rows}
    lines = list(csv.reader((folder / "results.csv").read_text().splitlines()))
    assert lines[0] == list(Row._fields)
    assert [file.name for file in folder.glob("*.csv")] == ["results.csv"]


@pytest.mark.parametrize("name", ["results.csv", "curves.jsonl"])
def test_any_cut_of_the_last_line_is_dropped(folder, name):
    data = (folder / name).read_bytes()
    begin = data.rstrip(b"\n").rfind(b"\n") + 1
    for end in range(begin, len(data)):
        (folder / name).write_bytes(data[:end])
        table = Table(folder)
        assert (folder / name).read_bytes() == data[:begin]
        assert table.rows == ([ROW, OTHERS[0]] if name == "results.csv" else [ROW, *OTHERS])


def test_a_file_cut_within_its_header_begins_anew(tmp_path):
    (tmp_path / "results.csv").write_text("set,gra")
    table = Table(tmp_path)
    table.add(ROW, CURVE)
    assert Table(tmp_path).rows == [ROW]


def test_another_table_is_left_alone(tmp_path):
    (tmp_path / "results.csv").write_text("a,b\n1,2\n")
    with pytest.raises(OptionError, match="results.csv"):
        Table(tmp_path)
    assert (tmp_path / "results.csv").read_text() == "a,b\n1,2\n"


def test_parquet(folder):
    Table(folder).write_parquet()
    rows = pd.read_parquet(folder / "results.parquet")
    assert list(rows.columns) == list(Row._fields)
    assert rows["cut"].tolist() == [9, 0.1 + 0.2, 9]
    curves = pd.read_parquet(folder / "curves.parquet")
    assert len(curves) == 9
    assert curves["cut"].tolist() == [3, 9, 9] * 3


def test_summary():
    rows = [
        ROW._replace(graph="a/0", ratio=1.0, cut=10),
        ROW._replace(graph="a/0", ratio=0.8, cut=8, seed=1),
        ROW._replace(graph="a/1", ratio=0.5, cut=5),
        ROW._replace(graph="a/1", ratio=0.5, cut=5, seed=1),
        ROW._replace(graph="a/2", ratio=0.9, cut=1),
        ROW._replace(graph="a/2", ratio=None, cut=1, seed=1),
        ROW._replace(set="b", ratio=None),
    ]
    line, other = summarize(rows)
    assert (line.set, line.solver, line.graphs, line.left_out) == ("a", "mca", 3, 1)
    assert line.ratio == pytest.approx(0.7)
    assert (line.low95, line.high95) == pytest.approx((0.5, 0.9))
    assert (line.low68, line.high68) == pytest.approx((0.564, 0.836))
    assert line.cut == pytest.approx((9 + 5 + 1) / 3)
    assert other.set == "b"
    assert np.isnan(other.ratio)


def test_bootstrap_is_that_of_a_normal_mean():
    values = np.random.default_rng(0).normal(size=400)
    low, high = bootstrap(values)
    error = values.std() / 20
    assert (low, high) == pytest.approx(
        (values.mean() - 1.96 * error, values.mean() + 1.96 * error), abs=0.01
    )
    assert bootstrap(values) == (low, high)


def test_ratios_at_times():
    curves = [[Progress(0.0, 0, 2), Progress(1.0, 5, 4)], [Progress(0.5, 0, 3)]]
    ratios = ratios_at(curves, [4.0, 6.0], np.array([0.0, 0.75, 1.0, 9.0]))
    np.testing.assert_allclose(ratios, [[0.5, 0.5, 1, 1], [np.nan, 0.5, 0.5, 0.5]])


def test_pictures(folder):
    table = Table(folder)
    assert plot_sets(table.rows[1:2], table.curves(), folder) == []  # without a reference
    files = plot_sets(table.rows, table.curves(), folder)
    assert files == [folder / "a.png"]
    assert files[0].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_pictures_of_graphs(folder, monkeypatch):
    """A line a solver, from the lowest to the highest run, up to the limit; and the best known."""
    table = Table(folder)
    slow = [Progress(0.2, 0, 2), Progress(0.4, 8, 7)]
    table.add(ROW._replace(seed=1, cut=7, seconds=0.4), slow)
    table.add(ROW._replace(solver="tabu", second_limit=2.0, stopped_by="best_known"), CURVE)
    names = {"mca": "one", "tabu": "other"}
    lines = {row.key: names[row.solver] for row in table.rows if row.solver in names}
    figures = []
    monkeypatch.setattr(plt, "close", figures.append)
    files = plot_graphs(table, {k: v for k, v in lines.items() if k.graph == "a/0"}, folder)
    assert files == [folder / "a-0.png"]
    assert files[0].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    (axis,) = figures[0].axes
    one, other, known = axis.lines
    assert [line.get_label() for line in axis.lines] == ["one", "other", "best known"]
    assert (axis.get_xscale(), set(known.get_ydata())) == ("log", {10.0})
    assert (one.get_xdata()[0], one.get_ydata()[0], one.get_ydata()[-1]) == (0.2, 5.5, 8.0)
    assert (other.get_xdata()[-1], other.get_ydata()[-1]) == (pytest.approx(2.0), 9.0)
    edges = axis.collections[0].get_paths()[0].vertices[:, 1]
    assert (edges.min(), edges.max()) == (2.0, 9.0)


def test_of_runs_with_a_key_the_last_counts(folder):
    table = Table(folder)
    table.add(ROW._replace(cut=10, seconds=2.0), CURVE[1:])
    for again in (table, Table(folder)):
        assert [row.cut for row in again.rows] == [10, *(row.cut for row in OTHERS)]
        assert again.curves()[ROW.key] == list(CURVE[1:])
    assert len((folder / "results.csv").read_text().splitlines()) == 1 + 4


def test_rows_that_were_made_otherwise_are_not_gone_on_with(tmp_path):
    path, options = tmp_path / "new" / "rows.csv", {"agent": "a@12", "factor": 4.0}
    RowFile(path, ["x"], options).add(1)
    assert RowFile(path, ["x"], options).rows == [{"x": "1"}]
    with pytest.raises(OptionError, match=r"rows.csv: was made with factor=4.0, not 2.0; choose"):
        RowFile(path, ["x"], {**options, "factor": 2.0})
    kept = path.with_name("rows.csv.json")
    for spoil in (lambda: kept.write_text("[1]"), kept.unlink):
        spoil()
        with pytest.raises(OptionError, match=r"rows.csv.json: does not say how rows.csv was made"):
            RowFile(path, ["x"], options)
    with pytest.raises(OptionError, match="is not a table of this program"):
        RowFile(path, ["y"], options)
    assert not kept.exists()
