"""Tests of benchmarks/memory.py: what a trajectory keeps, and the search apart."""

import pytest

KEPT = 1 + 4 + 4  # label, peek, time of the last flip


@pytest.mark.slow
def test_state_and_search(results):
    arguments = ("--table_vertices=320", "--policies=plain", "--agent=mixture", "--seconds=2")
    found = results("memory", *arguments, "--vertices=100", "--edges=200")
    (row,) = found["rows"]
    assert row["state_bytes"] == pytest.approx(KEPT, abs=0.2)  # and a few numbers a trajectory
    assert row["step_bytes"] > row["state_bytes"]
    search = found["search"]
    assert search["verified"]
    assert search["vertices"] == 100
    assert search["peak_megabytes"] >= search["megabytes_before"] > 50


def test_a_hidden_state_is_no_part_of_a_vertex(results):
    arguments = ("--table_vertices=320", "--policies=plain", "--agent=er40")
    found = results("memory", *arguments, "--vertices=0")
    assert found["rows"][0]["state_bytes"] == pytest.approx(KEPT, abs=0.2)
