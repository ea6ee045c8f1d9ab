"""Tests of benchmarks/{train_step,compile_time,peers}.py at tiny sizes."""

import pytest

PARTS = ["update", "act", "sample", "loss", "loss and gradient", "optimiser"]


@pytest.mark.slow
def test_parts_of_an_update(results, tmp_path):
    rows = results("train_step", "--presets=smoke", "--repeats=3", f"--out={tmp_path}")["rows"]
    assert [row["part"] for row in rows] == PARTS
    assert rows[0]["percent"] == 100
    assert all(row["milliseconds"] > 0 for row in rows)
    assert {path.name for path in tmp_path.iterdir()} == {"train_step.json", "train_step.png"}


@pytest.mark.slow
def test_start_up(results):
    rows = results("compile_time", "--repeats=1", "--agents=swift", "--vertices=100")["rows"]
    seconds = {row["what"]: row["seconds"] for row in rows}
    assert list(seconds) == ["bare interpreter", "import ecord_jax", "swift, cold", "swift, warm"]
    assert seconds["swift, warm"] > seconds["import ecord_jax"]


@pytest.mark.slow
def test_peers(results):
    found = results("peers", "--vertices=30", "--seconds=2", "--seeds=1", "--solvers=swift,tabu")
    assert len(found["rows"]) == 2 * 3
    for row in found["rows"]:
        assert row["cut_at_quarter"] <= row["cut_at_half"] <= row["cut"] == row["cuts"][0]


@pytest.mark.parametrize(
    ("name", "flag"),
    [
        ("train_step", "--presets=er41"),
        ("memory", "--policies=slow"),
        ("roofline", "--policies=slow"),
        ("compile_time", "--agents=nobody"),
        ("peers", "--kinds=ring"),
        ("check", "more"),
    ],
)
def test_bad_input_is_one_line(benchmark, name, flag):
    done = benchmark(name, flag)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
