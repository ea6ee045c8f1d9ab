"""Tests of the threads: what walks may use up, turns, errors, and that all of it ends."""

import itertools
import math
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from ecord_jax.search import crew as module
from ecord_jax.search.crew import Crew, Limit, Task


class SlowWalk:
    """Flips nothing, at a pace of its own."""

    def __init__(self, pace=0.0, size=10):
        self.pace, self.step, self.calls, self.pasts, self.forgot = pace, 0, [], set(), []
        self.best_labels = np.zeros(size, np.int8)

    def advance(self, num_steps, budget, past=0):
        time.sleep(self.pace * num_steps)
        self.step += num_steps
        self.calls.append((self.step, budget))
        self.pasts.add(past)

    def forget(self):
        self.forgot.append(self.step)


@pytest.fixture
def crew():
    """Makes crews of two threads, and sees to it that all threads have ended."""
    made = []

    def make(left=lambda: math.inf, threads=2):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "num_processors", lambda: threads)
            made.append(Crew(left))
        return made[-1]

    before = set(threading.enumerate())
    yield make
    for one in made:
        one.close()
    assert set(threading.enumerate()) <= before


def countdown(seconds):
    end = time.monotonic() + seconds
    return lambda: end - time.monotonic()


def counting(number, count, value=None, pause=0.0):
    for i in range(count):
        time.sleep(pause)
        yield number, i
    return value


def collect(run):
    """What a run yields, heartbeats left out, and what it gives."""
    news = []
    while True:
        try:
            news.append(next(run))
        except StopIteration as end:
            return [one for one in news if one is not None], end.value


@pytest.mark.parametrize("flips", [1, 300, (1 << 15) + 1, 3 << 15])
def test_limits_by_flips_are_met_in_slices_that_are_always_the_same(crew, flips):
    walk = SlowWalk()
    walk.step = 7
    paces = list(crew().drive(walk, Limit(flips=flips)))
    assert walk.step == 7 + flips
    assert {budget for _, budget in walk.calls} == {7 + flips}
    assert [step for step, _ in walk.calls[:-1]] == [
        7 + (i + 1 << 15) for i in range(len(paces) - 1)
    ]


@pytest.mark.parametrize("flips", [1, 2, 300, 3 << 16])
def test_a_walk_from_good_labels_has_a_past_and_forgets_them_half_way(crew, flips):
    walk = SlowWalk()
    list(crew().drive(walk, Limit(flips=flips, progress=0.75)))
    assert walk.step == flips
    assert walk.pasts == {3 * flips}
    assert walk.forgot == [max(flips // 2, 1)]
    timed = SlowWalk(pace=1e-5)
    list(crew(countdown(60)).drive(timed, Limit(seconds=0.3, pace=1e-5, progress=0.5)))
    assert len(timed.pasts) == len(timed.forgot) == 1
    assert 0.3 * timed.step < timed.forgot[0] < 0.7 * timed.step
    fresh = SlowWalk()
    list(crew().drive(fresh, Limit(flips=flips)))
    assert (fresh.pasts, fresh.forgot) == ({0}, [])


@pytest.mark.parametrize("guess", [1e-6, 1e-5, 1e-3])
def test_limits_by_seconds_are_met_whatever_the_pace_was_thought_to_be(crew, guess):
    walk, began = SlowWalk(pace=1e-5), time.monotonic()
    *_, pace = crew(countdown(60)).drive(walk, Limit(seconds=0.6, pace=guess))
    longest = 1.4 if guess < 1e-5 else 0.2  # a slice at the pace that was guessed
    assert 0.4 < time.monotonic() - began < 0.7 + longest
    assert 0.9e-5 < pace < 2e-5
    assert all(step <= budget for step, budget in walk.calls)


@pytest.mark.parametrize("seconds", [0.04, 0.13, 0.22])
def test_walks_end_where_they_were_told_that_they_would(crew, seconds):
    """One that is left before would not have cooled down."""
    walk = SlowWalk(pace=1e-5)
    list(crew(countdown(60)).drive(walk, Limit(seconds=seconds, pace=1e-5)))
    step, budget = walk.calls[-1]
    assert step == budget
    assert [step for step, budget in walk.calls[:-1] if step > 0.7 * budget] == []


def test_a_walk_that_is_slow_ends_late_rather_than_at_once(crew):
    walk = SlowWalk(pace=3e-5)
    list(crew(countdown(60)).drive(walk, Limit(seconds=0.2, pace=1e-5)))
    (first, _), (last, budget) = walk.calls
    assert last == budget
    assert last > 1.1 * first


def test_walks_end_with_the_time(crew):
    walk, began = SlowWalk(pace=1e-4), time.monotonic()
    list(crew(countdown(0.3)).drive(walk, Limit(seconds=60, pace=1e-4)))
    assert 0.2 < time.monotonic() - began < 0.6
    walk = SlowWalk()
    list(crew(countdown(-1)).drive(walk, Limit(seconds=60, pace=1e-4)))
    assert len(walk.calls) == 1


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_in_turns_all_comes_in_the_same_order(crew, threads):
    pauses = np.random.default_rng(threads).uniform(0, 0.003, 20)
    tasks = [Task("a", counting(i, i % 4, i, pauses[i])) for i in range(20)]
    news, values = collect(crew(threads=threads).run(tasks))
    assert values == list(range(20))
    assert sorted(news) == [(i, j) for i in range(20) for j in range(i % 4)]
    # The first sixteen take turns; others take the places of those that have ended.
    turns = [[(i, 0) for i in range(16) if i % 4], [(i, 1) for i in range(16) if i % 4 > 1]]
    assert news[: len(turns[0])] == turns[0]
    assert [one for one in news[len(turns[0]) :] if one[0] < 16][: len(turns[1])] == turns[1]
    again = [Task("a", counting(i, i % 4, i)) for i in range(20)]
    assert collect(crew(threads=2).run(again))[0] == news


def test_freely_nothing_is_lost(crew):
    tasks = [Task("ab"[i % 2], counting(i, 30, i, 0.001)) for i in range(7)]
    one = crew(countdown(60))
    news, values = collect(one.run(tasks))
    assert values == list(range(7))
    assert sorted(news) == list(itertools.product(range(7), range(30)))
    for number in range(7):
        assert [i for who, i in news if who == number] == list(range(30))
    assert 0.12 <= one.effort["a"] < 2
    assert 0.09 <= one.effort["b"] < 2


def test_effort_is_that_of_who_has_found_something(crew):
    def work():
        for by in ("b", None, "b"):
            time.sleep(0.02)
            yield None if by is None else SimpleNamespace(by=by)
        time.sleep(0.1)

    one = crew(countdown(60))
    collect(one.run([Task("a", work())]))
    assert 0.04 <= one.effort["b"] < 0.1 <= one.effort["a"]


def test_tasks_that_have_not_begun_when_time_is_over_are_left_out(crew):
    tasks = [Task("a", counting(i, 3, i, 0.1)) for i in range(9)]
    news, values = collect(crew(countdown(0.15)).run(tasks))
    assert values == [0, 1]
    assert len(news) == 6


@pytest.mark.parametrize("left", [math.inf, 60.0])
def test_errors_end_all_at_once(crew, left):
    def fail():
        yield 1
        raise ZeroDivisionError

    one = crew(lambda: left)
    forever = SlowWalk(pace=1e-5)
    tasks = [
        Task("a", one.drive(forever, Limit(flips=10**9))),
        Task("a", fail()),
        Task("a", counting(2, 10**9)),
    ]
    began = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        collect(one.run(tasks))
    assert time.monotonic() - began < 2
    assert one.over


@pytest.mark.parametrize("left", [math.inf, 60.0])
def test_closing_a_run_ends_all_at_once(crew, left):
    """Though nobody takes what they have found any more."""
    one = crew(lambda: left)
    walks = [SlowWalk(pace=1e-6) for _ in range(9)]
    run = one.run([Task("a", one.drive(walk, Limit(flips=10**9))) for walk in walks])
    assert next(news for news in run if news is not None) > 0
    began = time.monotonic()
    run.close()
    assert time.monotonic() - began < 1
    steps = [walk.step for walk in walks]
    time.sleep(0.1)
    assert steps == [walk.step for walk in walks]


def test_a_run_beats_while_nothing_is_found(crew):
    for left in (math.inf, 60.0):
        news = list(crew(lambda left=left: left).run([Task("a", counting(0, 1, pause=0.5))]))
        assert news.count(None) >= 3


def test_each(crew):
    assert crew().each(lambda x: x * x, [3, 1, 2]) == [9, 1, 4]


def test_times_of_flips_fit_in_32_bits(crew, monkeypatch):
    monkeypatch.setattr(module, "_MOST_FLIPS", 1000)
    walk = SlowWalk()
    for _ in crew(countdown(60)).drive(walk, Limit(seconds=50.0)):
        pass
    assert walk.step == 1000
    assert {budget for _, budget in walk.calls} == {1000}
