"""Tests of experiments/temperature_scan.py: the table, resuming, bad input."""

import functools

import pytest


@pytest.fixture(scope="module")
def scan(load_program):
    return load_program("temperature_scan")


@pytest.fixture
def call(scan, call_program):
    return functools.partial(call_program, scan)


def test_ratios_are_over_each_graphs_best(scan):
    points = [
        scan.Point(10, 0, "0", 8.0),
        scan.Point(10, 0, "auto", 10.0),
        scan.Point(10, 1, "0", 4.0),
        scan.Point(10, 1, "auto", 3.0),
    ]
    assert scan.ratios(points) == {
        (10, "0"): pytest.approx(0.9),
        (10, "auto"): pytest.approx(0.875),
    }


@pytest.mark.slow
def test_a_small_scan(call, tmp_path):
    arguments = [f"--out={tmp_path}", "--vertices=40", "--graphs=2", "--temperatures=0,0.01"]
    status, output, _ = call(*arguments)
    assert status == 0
    lines = (tmp_path / "scan.csv").read_text().splitlines()
    assert len(lines) == 1 + 2 * 3
    assert (tmp_path / "scan.png").stat().st_size > 1000
    again = call(*arguments)
    assert again[1] == output
    assert (tmp_path / "scan.csv").read_text().splitlines() == lines


@pytest.mark.parametrize(
    "bad", ["--agent=swift", "--temperatures=a", "--temperatures=-1", "--vertices=", "--agent=none"]
)
def test_bad_flags(call, tmp_path, bad):
    status, _, error = call(f"--out={tmp_path}", bad)
    assert status == 2
    assert len(error.strip().splitlines()) == 1


def test_other_options_need_another_folder(call, tmp_path):
    arguments = [f"--out={tmp_path}", "--vertices=20", "--graphs=1", "--temperatures=0"]
    assert call(*arguments)[0] == 0
    for other in ("--agent=er40", "--seed=1", "--factor=2", "--trajectories=3"):
        status, _, error = call(*arguments, other)
        assert status == 2
        assert "scan.csv: was made with " in error
