"""Tests of experiments/equal_flips.py, on graphs that are too small to say anything."""

import csv
import functools

import pytest

from ecord_jax.baselines.equal_flips import best_cuts, draw_held_out
from ecord_jax.search.tenure import SHRINKING

SMALL = ("--vertices=60,90", "--factors=2", "--trajectories=3", "--kinds=sparse,complete")


@pytest.fixture(scope="module")
def program(load_program):
    return load_program("equal_flips")


@pytest.fixture
def call(program, call_program):
    return functools.partial(call_program, program)


def test_rows_are_what_was_played_and_stay(call, tmp_path):
    out = tmp_path / "rows.csv"
    status, printed, _ = call(*SMALL, f"--out={out}")
    assert status == 0
    assert [line.split()[0] for line in printed.splitlines()] == ["kind", "sparse", "complete"]
    text = out.read_text()
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 2 * 2 * 3
    row = next(row for row in rows if row["solver"] == "tabu:shrinking")
    cuts = best_cuts(SHRINKING, draw_held_out(row["kind"], (60, 60), 2.0, 0, 0), 3)
    assert float(row["mean"]) == pytest.approx(cuts.mean())
    assert float(row["best"]) == cuts.max()
    assert call(*SMALL, f"--out={out}")[1] == printed
    assert out.read_text() == text
    status, more, _ = call(*SMALL, "--graphs=2", f"--out={out}")
    assert (status, out.read_text().startswith(text)) == (0, True)
    assert len(out.read_text().splitlines()) == 1 + 2 * 2 * 2 * 3
    assert more != printed


def test_the_table_is_the_lead_over_the_better_tabu(program, call, tmp_path):
    """Of what is in the file already: nothing is played."""
    file = program.RowFile(tmp_path / "made.csv", program.COLUMNS)
    for solver, mean in (("swift", 52.0), ("tabu:fixed", 51.0), ("tabu:shrinking", 50.0)):
        file.add("sparse", 60, 0, 2.0, solver, 3, 0, 120, 100.0, mean, mean + 1, 0.1)
    flags = ("--vertices=60", "--factors=2", "--trajectories=3", "--kinds=sparse")
    printed = call(*flags, f"--out={tmp_path / 'made.csv'}")[1]
    assert printed.splitlines()[1].split() == ["sparse", "1000.0"]
    for solver, mean in (("swift", 54.0), ("tabu:fixed", 50.0), ("tabu:shrinking", 51.0)):
        file.add("sparse", 60, 1, 2.0, solver, 3, 0, 120, 100.0, mean, mean + 1, 0.1)
    printed = call(*flags, "--graphs=2", f"--out={tmp_path / 'made.csv'}")[1]
    assert printed.splitlines()[1].split() == ["sparse", "2000.0", "(1000.0)"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--out is needed"),
        (["--out={out}", "--kinds=line"], "no 'line'"),
        (["--out={out}", "--vertices=few"], "--vertices: expected numbers"),
        (["--out={out}", "--agent=softmax"], "no agent of the kind of swift"),
        (["--out={out}", "--agent=nobody"], "no agent 'nobody'"),
    ],
)
def test_what_makes_no_sense(call, tmp_path, arguments, words):
    status, _, err = call(*(text.format(out=tmp_path / "rows.csv") for text in arguments))
    assert status == 2
    assert words in err
    assert err.count("\n") == 1
