"""Tests of benchmarks/check.py: its exit status is its verdict."""

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "status"), [(0, 0), (1000, 1)])
def test_status(benchmark, scale, status):
    done = benchmark("check", f"--scale={scale}", "--trajectories=1", "--repeats=1")
    assert (done.returncode, done.stderr) == (status, "")
    verdicts = done.stdout.splitlines()[2:]
    assert len(verdicts) == 3
    assert all(line.endswith("too slow" if status else "ok") for line in verdicts)
