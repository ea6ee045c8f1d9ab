"""Tests of benchmarks/throughput.py: what its rows hold."""

import pytest

SMALL = ("--vertices=20,40", "--trajectories=2", "--repeats=1", "--agent=mixture")


def test_rows(results, tmp_path):
    rows = results("throughput", *SMALL, "--policies=gru", f"--out={tmp_path}")["rows"]
    assert [(row["vertices"], row["policy"]) for row in rows] == [(20, "gru"), (40, "gru")]
    for row in rows:
        assert row["trajectories"] == 2
        assert row["edges"] > row["vertices"]
        assert row["steps_per_second"] * row["milliseconds_per_step"] == pytest.approx(1000)
        assert row["device"].startswith("cpu")
    assert {path.name for path in tmp_path.iterdir()} == {"throughput.json", "throughput.png"}


@pytest.mark.slow
def test_every_policy(results):
    found = results("throughput", *SMALL)
    policies = {row["policy"] for row in found["rows"]}
    assert policies >= {"plain", "fast", "eco-dqn", "gru", "swift", "swift-device"}
    assert len(found["rows"]) == 2 * len(policies)
    assert found["throughput_of_fast_over_eco-dqn_at_20"]["ours"] > 0
    assert found["encoder_milliseconds"] > 0


@pytest.mark.parametrize("flag", ["--policies=fastest", "--vertices=0", "--agent=nobody", "more"])
def test_bad_input_is_one_line(benchmark, flag):
    done = benchmark("throughput", flag)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
