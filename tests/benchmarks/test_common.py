"""Tests of what the benchmarks share."""

import importlib.util
import pathlib
import sys

import pytest

PATH = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "common.py"


@pytest.fixture(scope="module")
def common():
    spec = importlib.util.spec_from_file_location("benchmarks_common", PATH)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_growth_exponent(common):
    sizes = [10, 100, 1000]
    assert common.growth_exponent(sizes, [3 * n**1.5 for n in sizes]) == pytest.approx(1.5)
    assert common.growth_exponent([10, 10], [1.0, 2.0]) is None


def test_turns_are_interleaved_and_the_first_is_not_timed(common):
    calls = []
    runs = {name: lambda name=name: calls.append(name) for name in "ab"}
    timings = common.interleaved(runs, repeats=3)
    assert "".join(calls) == "ab" * 4
    assert set(timings) == {"a", "b"}


def test_timing(common):
    timing = common.Timing.of([1.0, 2.0, 3.0, 4.0, 50.0])
    assert (timing.low, timing.median, timing.high) == (2, 3, 4)
    assert timing.spread == pytest.approx(1 / 3)


def test_a_random_graph_has_the_mean_degree(common):
    graph = common.random_graph(2000, 5.0)
    assert 2 * graph.num_edges / 2000 == pytest.approx(5, abs=0.4)
    assert common.random_graph(3, 5.0).num_edges == 3
