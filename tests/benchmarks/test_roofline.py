"""Tests of benchmarks/roofline.py: its formulas against counts by hand."""

import pytest


@pytest.mark.slow
def test_bare_product(results):
    arguments = ("--triad=1000", "--matrix=64", "--repeats=1")
    found = results("roofline", "--vertices=30", "--policies=gru", *arguments)
    (row,) = found["rows"]
    assert row["megaflop"] == pytest.approx(2 * 20 * 1024 * 3072 / 1e6)
    assert row["megabyte"] == pytest.approx(4 * (1024 * 3072 + 3 * 20 * 1024) / 1e6)
    rate = row["megaflop"] / row["milliseconds"] / found["gigaflops_per_second"]
    assert row["percent_of_peak"] == pytest.approx(100 * rate)
    parts = (row["percent_of_peak"], row["percent_of_bandwidth"])
    assert 100 * row["bound_milliseconds"] / row["milliseconds"] == pytest.approx(max(parts))
