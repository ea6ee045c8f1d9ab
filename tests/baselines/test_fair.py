"""Tests of the clock: compiling is not in a run's seconds, whoever compiles and when."""

import time

import jax
import jax.numpy as jnp
import pytest

from ecord_jax.baselines import fair
from ecord_jax.baselines.fair import run_fairly
from ecord_jax.baselines.registry import Solver
from ecord_jax.baselines.run import Run
from ecord_jax.graphs import models

KEY = jax.random.key(0)
GRAPH = models.erdos_renyi(10, 0.5, seed=0, weights="signed")


def make_solver(calls, *, compile_each_time):
    """One that notes its limits, compiles, sleeps 0.2 s and gives labels."""

    def program(x):
        for _ in range(30):
            x = jnp.sin(x @ x)
        return x

    once = jax.jit(program)

    def run(graph, **options):
        calls.append(options)
        made = Run(graph, "test", **options)
        # A lambda of its own is compiled at each call.
        function = jax.jit(lambda x: program(x)) if compile_each_time else once
        function(jnp.ones((40, 40))).block_until_ready()
        time.sleep(0.2)
        made.offer(made.rng.integers(0, 2, graph.num_vertices))
        return made.result("num_steps")

    return Solver("test", run)


@pytest.mark.parametrize("compile_each_time", [False, True])
def test_compiling_is_apart(compile_each_time):
    calls = []
    solver = make_solver(calls, compile_each_time=compile_each_time)
    start = time.monotonic()
    timed = run_fairly(solver, GRAPH, key=KEY, trajectories=3, time_limit=None, num_steps=9)
    total = time.monotonic() - start
    assert [call["num_steps"] for call in calls] == [1, 9]
    assert timed.seconds + timed.compile_seconds == pytest.approx(total, abs=0.05)
    assert timed.seconds == pytest.approx(0.2, abs=0.1)
    assert timed.curve[-1].seconds == pytest.approx(timed.seconds, abs=0.1)


def test_time_that_compiling_takes_is_given_back():
    calls = []
    solver = make_solver(calls, compile_each_time=True)
    run_fairly(solver, GRAPH, key=KEY, trajectories=3, time_limit=5.0, num_steps=None)
    assert [call["num_steps"] for call in calls] == [1, 1, None]
    assert calls[0]["time_limit"] is None
    assert 5.0 < calls[2]["time_limit"] < 15.0
    calls.clear()
    solver = make_solver(calls, compile_each_time=False)
    run_fairly(solver, GRAPH, key=KEY, trajectories=3, time_limit=5.0, num_steps=None)
    assert calls[2]["time_limit"] == pytest.approx(5.0, abs=0.05)


def test_overlapping_spans_count_once():
    clock = fair._CompileClock()
    for start, end in ((10.0, 12.0), (11.0, 11.5), (11.8, 13.0), (20.0, 20.5)):
        clock._hear("/jax/core/compile/x", start, end)
    clock._hear("/jax/other", 30.0, 40.0)
    assert clock.seconds == pytest.approx(3.5)


def test_solvers_that_do_not_compile_run_once():
    calls = []
    solver = Solver("test", make_solver(calls, compile_each_time=False).run, compiles=False)
    run_fairly(solver, GRAPH, key=KEY, trajectories=1, time_limit=1.0, num_steps=2)
    assert [(call["num_steps"], call["time_limit"]) for call in calls] == [(2, 1.0)]
