"""Tests of rounds of walks and merging on the host, and of what `solve` says of them."""

import math
import threading
import time
from concurrent.futures import Future

import jax
import numpy as np
import pytest

import ecord_jax as ej
from ecord_jax.agents import load_agent
from ecord_jax.errors import EcordWarning
from ecord_jax.graphs import Graph, compiled, models
from ecord_jax.graphs.exact import largest_cut
from ecord_jax.graphs.planted import planted_torus
from ecord_jax.search import campaign as module
from ecord_jax.search import crew
from ecord_jax.search.ahead import compile_walks
from ecord_jax.search.campaign import Campaign, Plan
from ecord_jax.search.crossing import Champion, Crossing, Means
from ecord_jax.search.elites import Elite
from ecord_jax.search.swift import swift_mover
from ecord_jax.search.walks import TABU

SWIFT = swift_mover(load_agent("swift"))
LONG = models.torus((6, 400), seed=3)
BEST = 1674  # by elimination, see below
KEY = jax.random.key(0)


def make(graph, steps, movers=(SWIFT, TABU), trajectories=8, seed=0, **changes):
    rng, size = np.random.default_rng(seed), graph.num_vertices
    starts = rng.integers(0, 2, (trajectories, size), np.int8)
    plan = Plan(trajectories, steps, lambda: math.inf, [seed], **changes)
    return Campaign(graph, list(movers), starts, np.zeros(size, np.int8), plan)


def best_of(campaign):
    found = [one for one in campaign.run() if one is not None]
    return max(one.cut for one in found), found


def test_merging_solves_what_walks_of_as_many_flips_do_not():
    assert largest_cut(LONG) == BEST
    with_it, without = (
        [best_of(make(LONG, 200_000, [TABU], seed=seed, merge=merge))[0] for seed in range(3)]
        for merge in (True, False)
    )
    assert with_it == [BEST] * 3
    assert max(without) < BEST


def test_a_planted_cut_is_found():
    planted = planted_torus(30, 30, seed=1)
    assert best_of(make(planted.graph, 20_000))[0] == planted.cut


def test_flips_are_as_many_as_there_are():
    for trajectories, steps in ((1, 50), (3, 999), (20, 2_000)):
        one = make(models.torus((6, 7), seed=1), steps, trajectories=trajectories)
        _, found = best_of(one)
        assert one.steps == steps
        assert [item.step for item in found] == sorted(item.step for item in found)
        # Rounding, and walks of one flip at least, may add some.
        assert trajectories * steps <= one._done <= 1.1 * trajectories * steps + 64


def test_what_is_found_has_the_cut_that_it_says():
    graph = models.torus((7, 8), seed=2, weights="gaussian")
    for one in best_of(make(graph, 3_000))[1]:
        if one.cut > -math.inf:
            assert graph.cut(one.labels) == pytest.approx(one.cut)


@pytest.fixture
def rounds(monkeypatch):
    """The number and cost of the walks of each round."""
    seen, real = [], Campaign._walks

    def walks(self, count, horizon):
        tasks = real(self, count, horizon)
        seen.append((count, horizon, [task.by for task in tasks]))
        return tasks

    monkeypatch.setattr(Campaign, "_walks", walks)
    return seen


def test_rounds_grow(rounds):
    best_of(make(LONG, 3_000_000, [TABU], trajectories=8, merge=False))
    horizons = [horizon for _, horizon, _ in rounds if horizon > 1000]
    assert len(horizons) >= 3
    assert all(after == 2 * before for before, after in zip(horizons, horizons[1:-1], strict=False))
    assert horizons[0] == 100 * LONG.num_vertices


def test_rounds_grow_beside_merging(rounds):
    best_of(make(models.torus((6, 100), seed=3), 420_000, [TABU], trajectories=20))
    assert [(count, horizon) for count, horizon, _ in rounds[:2]] == [(20, 60_000), (10, 120_000)]


@pytest.mark.parametrize(
    ("left", "horizon", "count"),
    [
        (4_000_000, 120_000, 10),  # a longer one may follow
        (1_500_000, 240_000, 5),
        (900_000, 120_000, 7),
        (200_000, 120_000, 4),  # no fewer
    ],
)
def test_last_rounds_have_fewer_walks_rather_than_shorter_ones(left, horizon, count):
    one = make(models.torus((6, 100), seed=3), 420_000, [TABU], trajectories=20, merge=False)
    one._first, one._walked = 60_000, 20 * 420_000 - left
    takes_all = left < 4_000_000
    assert one._next_round(horizon) == (count, left / count if takes_all else horizon)


def test_a_single_trajectory_has_rounds_of_one():
    one = make(models.torus((6, 100), seed=3), 420_000, [TABU], trajectories=1)
    one._first = 60_000
    assert one._next_round(60_000)[0] == 1
    one._walked = 400_000
    assert one._next_round(60_000)[0] == 1


def test_without_restart_the_first_round_takes_all(rounds):
    best_of(make(LONG, 300_000, [TABU], merge=False, restart=False))
    assert [(count, horizon) for count, horizon, _ in rounds] == [(8, 300_000)]


def test_the_better_mover_gets_more_walks(rounds):
    class Lazy:
        """Stays where it is."""

        def __init__(self, labels):
            self.step = self.best_step = 0
            self.labels = self.best_labels = labels
            self.best_cut, self.cuts, self.actions = 0.0, np.zeros(1), np.zeros(0, int)

        def advance(self, num_steps, budget, past=0):
            self.step += num_steps
            self.actions, self.cuts = np.zeros(num_steps, int), np.zeros(num_steps + 1)

    lazy = TABU._replace(name="ecord", look=lambda graph: lambda _, labels, rng: Lazy(labels))
    for movers, better in (([lazy, TABU], "tabu"), ([TABU, lazy], "tabu")):
        rounds.clear()
        best_of(make(LONG, 2_000_000, movers, trajectories=16, merge=False))
        shares = [by.count(better) / len(by) for _, _, by in rounds if len(by) >= 4]
        assert shares[0] == 0.5
        assert shares[-1] > 0.6
        assert any("ecord" in by for _, _, by in rounds[1:])


@pytest.mark.parametrize(
    ("ours", "theirs", "least", "most"),
    [
        ([10, 12, 14], [11, 12, 13], 0.49, 0.51),  # level
        ([12], [10, 11, 13], 0.5, 0.65),  # ahead, of which four cuts say little
        ([20, 21, 22, 23], [10, 11, 12, 13], 0.68, 0.7),  # clearly ahead
        ([10, 11, 12, 13], [20, 21, 22, 23], 0.3, 0.32),
        ([5, 5], [5, 5], 0.5, 0.5),
        ([5, 5], [], 0.5, 0.5),
        ([1.5e308] * 4, [1.2e308, 1.3e308, 1.25e308], 0.65, 0.7),
        ([3e-308, 4e-308, 3.5e-308], [1e-308] * 3, 0.65, 0.7),
    ],
)
def test_the_share_goes_by_how_sure_the_lead_is(ours, theirs, least, most):
    campaign = make(LONG, 1000, [TABU._replace(name="ecord"), TABU])
    cuts = [(cut, "ecord") for cut in ours] + [(cut, "tabu") for cut in theirs]
    elites = [Elite(np.zeros(0, np.int8), cut, by, 1.0) for cut, by in cuts]
    kept = campaign._weigh_movers(elites)
    assert least <= campaign._share <= most
    assert kept == (theirs if most < 0.49 else ours)  # those of the better one


def test_merging_waits_for_no_compiler(monkeypatch):
    compiling = Future()
    monkeypatch.setattr(module, "compile_rules_ahead", lambda dtype: compiling)
    until = time.monotonic() + 3.0
    starts = np.zeros((8, LONG.num_vertices), np.int8)
    plan = Plan(8, 2**30, lambda: until - time.monotonic(), [0])
    campaign = Campaign(LONG, [TABU], starts, starts[0], plan)
    until = time.monotonic() + 3.0
    try:
        for _ in campaign.run():
            if time.monotonic() > until - 1.5 and not compiling.done():
                assert campaign.effort["merge"] == 0
                compiling.set_result(None)
    finally:
        if not compiling.done():
            compiling.set_result(None)  # a thread waits for it
    assert campaign.effort["merge"] > 0


@pytest.mark.parametrize("kind", ["int64", "float64"])
def test_loops_for_merged_graphs_are_compiled_ahead(kind):
    """No kind of loop is compiled any more when a dense graph of such weights is walked over."""
    dtype = np.dtype(kind)
    compile_walks(dtype, [SWIFT, TABU])
    pairs = np.stack(np.triu_indices(80, 1), axis=1)
    weights = np.random.default_rng(0).normal(size=len(pairs))
    graph = Graph.from_edges(pairs, (4 * weights).astype(dtype), 80)
    before = set(compiled._ready)
    for mover in (SWIFT, TABU):
        mover.look(graph)(0, np.zeros(80, np.int8), np.random.default_rng(0)).advance(1, 1)
    assert set(compiled._ready) == before


def value_of(generator):
    while True:
        try:
            next(generator)
        except StopIteration as end:
            return end.value


def champions_of(graph, rows, reheat=None):
    """Elites of such labels, what their groups become, and flips over merged graphs."""
    team = crew.Crew(lambda: math.inf)
    crossing = Crossing(graph, team, timed=False)
    elites = [Elite(row, float(graph.cut(row)), "tabu", 1.0) for row in rows]
    ground = crew.Ground(TABU, TABU.look(graph), 1.0)
    crossing.join(elites)
    means = Means([(ground, 1.0)], 1e6, reheat, 7.0)
    tasks = crossing.tasks(means, np.random.default_rng(0))
    assert crossing.tasks(means, np.random.default_rng(0)) == []
    champions = value_of(team.run(tasks))
    team.close()
    crossing.take(champions)
    return elites, champions, crossing


def test_no_champion_is_worse_than_its_elites():
    graph = models.torus((10, 12), seed=5)
    rows = np.random.default_rng(0).integers(0, 2, (17, 120), np.int8)
    elites, champions, crossing = champions_of(graph, rows)
    assert len(champions) == 4
    for champion, group in zip(champions, np.split(np.arange(16), 4), strict=True):
        one = champion.elite
        assert one.cut == graph.cut(one.labels)
        assert one.cut >= max(elites[i].cut for i in group)
        assert (one.by, champion.level) == ("merge", 0)
    assert crossing.flips == sum(champion.flips for champion in champions) > 0


def test_loops_for_dense_graphs_are_waited_for_in_no_timed_search():
    graph, seen = models.erdos_renyi(300, 0.05, seed=2), []

    def look(graph, dense=True):
        seen.append(dense)
        return TABU.look(graph, dense)

    team = crew.Crew(lambda: 1e9)
    ground = crew.Ground(TABU._replace(look=look), TABU.look(graph), 1e-6)
    for timed, may, expected in ((True, False, False), (True, True, True), (False, False, True)):
        crossing = Crossing(graph, team, timed=timed)
        crossing.may_be_dense |= may
        rows = np.random.default_rng(0).integers(0, 2, (4, 300), np.int8)
        crossing.join([Elite(row, float(graph.cut(row)), "tabu", 1.0) for row in rows])
        means = Means([(ground, 1.0)], 1.0 if timed else 1e5, None, 7.0)
        (task,) = crossing.tasks(means, np.random.default_rng(0))
        seen.clear()
        value_of(task.work)
        assert set(seen) == {expected}
    team.close()


def test_champions_meet_those_of_their_level():
    graph = models.erdos_renyi(400, 0.01, seed=2)
    rows = np.random.default_rng(1).integers(0, 2, (16, 400), np.int8)
    *_, crossing = champions_of(graph, rows)
    ground = crew.Ground(TABU, TABU.look(graph), 1.0)
    (task,) = crossing.tasks(Means([(ground, 1.0)], 1e4, None, 1.0), np.random.default_rng(0))
    assert value_of(task.work).level == 1


def crowned(graph, rows):
    """A crossing whose champions of several levels are these, what they give, and the merged."""
    team = crew.Crew(lambda: math.inf)
    crossing, merged = Crossing(graph, team, timed=False), []
    make_one = crossing._make_one
    crossing._make_one = lambda elites, *rest: merged.append(elites) or make_one(elites, *rest)
    for number, row in enumerate(rows):
        elite = Elite(row, float(graph.cut(row)), "merge", 1.0)
        crossing.take([Champion(elite, 7 * number, 0)])  # a level each
    means = Means([(crew.Ground(TABU, TABU.look(graph), 1.0), 1.0)], 1e6, None, 7.0)
    (task,) = crossing.tasks(means, np.random.default_rng(0))
    assert crossing.tasks(means, np.random.default_rng(0)) == []  # until there are others
    (champion,) = value_of(team.run([task]))
    team.close()
    return crossing, champion, merged[0]


def test_the_best_of_all_levels_are_merged():
    planted = planted_torus(20, 20, seed=4)
    graph, best = planted.graph, planted.labels
    rows = np.tile(best, (14, 1))
    # Each is good but in one place, a bar of some length; they are not near each other.
    for number, row in enumerate(rows):
        row.reshape(20, 20)[number, : 5 + number % 7] ^= 1
    crossing, champion, merged = crowned(graph, rows)
    assert champion.elite.cut == planted.cut > max(graph.cut(row) for row in rows)
    assert champion.elite.cut == graph.cut(champion.elite.labels)
    cuts = sorted((graph.cut(row) for row in rows), reverse=True)
    assert [elite.cut for elite in merged] == cuts[:12]
    assert cuts[11] > cuts[12]
    crossing.take([champion])
    assert any(one is champion.elite for one in crossing._hall)
    assert set(crossing._levels) == {7 * number + 1 for number in range(14)}  # it is of none


def test_few_are_merged_where_they_have_little_in_common():
    graph = models.erdos_renyi(200, 0.05, seed=2)
    rows = np.random.default_rng(0).integers(0, 2, (8, 200), np.int8)
    _, champion, merged = crowned(graph, rows)
    assert len(merged) == 2
    assert champion.elite.cut >= max(graph.cut(row) for row in rows)


def test_from_a_champion_walks_go_on_as_long_as_they_find_better_ones():
    graph, seen = models.torus((10, 12), seed=5), []

    def reheat(elite, rng):
        seen.append(elite)
        yield None
        labels = elite.labels.copy()
        labels[: 3 * (len(seen) < 3)] ^= 1
        return Elite(labels, float(graph.cut(labels)), "tabu", 7.0)

    rows = np.random.default_rng(0).integers(0, 2, (4, 120), np.int8)
    elites, (champion,), _ = champions_of(graph, rows, reheat)
    cuts = [elite.cut for elite in seen]
    assert cuts == sorted(cuts)
    assert champion.elite.cut >= cuts[-1] >= max(elite.cut for elite in elites)
    assert cuts[-2:] == [champion.elite.cut] * 2  # twice in vain
    assert champion.elite.cost >= 7.0 * len(seen)


def test_what_a_walk_meets_before_it_forgets_is_not_lost():
    class Falling:
        """Cuts the edge with its first flip, and never again."""

        def __init__(self, labels):
            self.step, self.labels, self.best_labels, self.best_cut = 0, labels, labels, 0.0

        def advance(self, num_steps, budget, past=0):
            assert num_steps == 2  # a half
            self.actions, self.cuts = np.array([1, 1]), np.zeros(3)
            if self.step == 0:
                self.best_labels, self.best_cut = np.array([0, 1], np.int8), 1.0
                self.cuts[1] = 1.0
            self.step += 2

        def forget(self):
            self.best_labels, self.best_cut = self.labels, 0.0

    edge, start = Graph.from_edges([(0, 1)]), np.zeros(2, np.int8)
    lazy = TABU._replace(look=lambda graph: lambda _, labels, rng: Falling(labels))
    ground = crew.Ground(lazy, lazy.look(edge), 1.0)
    campaign = make(edge, 10, [TABU])
    walk = campaign._walk(0, ground, 4.0, start, np.random.default_rng(0), 0.5)
    first, second = next(walk), next(walk)
    assert (first.cut, first.labels.tolist(), second.cut) == (1.0, [0, 1], -math.inf)
    elite = value_of(walk)
    assert (elite.cut, elite.labels.tolist()) == (1.0, [0, 1])


def test_walks_that_go_on_stay_better_than_those_that_begin_anew():
    graph = models.barabasi_albert(2000, 4, seed=3, weights="signed")
    campaign = make(graph, 10**6, [SWIFT])
    walks = [value_of(task.work) for task in campaign._walks(8, 200_000)]
    best = max(walks, key=lambda elite: elite.cut)
    rngs = np.random.default_rng(0).spawn(8)
    children = [value_of(campaign._reheat(200_000, best, rng)) for rng in rngs]
    assert np.mean([child.cut for child in children]) > np.mean([walk.cut for walk in walks]) + 3
    assert all((child.labels != best.labels).any() for child in children)
    assert all(child.cut == graph.cut(child.labels) for child in children)


def solve(graph=LONG, **options):
    usual = {"num_steps": 20_000, "trajectories": 8, "key": KEY, "presolve": False}
    return ej.solve(graph, **{**usual, **options})


@pytest.mark.parametrize("weights", ["signed", "gaussian"])
def test_steps_alone_decide_whatever_the_threads_and_their_pace(monkeypatch, weights):
    graph = models.torus((9, 11), seed=1, weights=weights)
    graph = Graph(graph.edges, graph.weights, graph.names)
    results = []
    for threads in (1, 2, 7):
        monkeypatch.setattr(crew, "num_processors", lambda threads=threads: threads)
        results.append(solve(graph))
    first = results[0]
    for other in results[1:]:
        assert (other.labels == first.labels).all()
        assert [point[1:] for point in other.curve] == [point[1:] for point in first.curve]
        assert (other.found_by, other.improvements) == (first.found_by, first.improvements)
    assert (first.steps, first.stopped_by) == (20_000, "num_steps")


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, ["ecord", "tabu", "merge"]),
        ({"move": "tabu"}, ["tabu", "merge"]),
        ({"move": "ecord"}, ["ecord", "merge"]),
        ({"ablate": ["merge"]}, ["ecord", "tabu"]),
        ({"ablate": ["merge", "restart"], "move": "tabu"}, ["tabu"]),
    ],
)
def test_what_took_part(options, names):
    result = solve(**options)
    assert list(result.effort) == names
    assert all(spent > 0 for spent in result.effort.values())
    assert set(result.improvements) <= {*names, "greedy"}
    assert result.found_by in names
    assert sum(result.improvements.values()) == len(result.curve) - 2
    assert result.cut == LONG.cut(result.labels)


def test_presolve_can_be_ablated():
    graph = Graph.from_edges([(0, 1), (1, 2), (0, 2)])
    assert solve(graph, presolve=True, ablate=["presolve"]).reduction is None
    assert solve(graph, presolve=True).reduction is not None


def test_start_labels_of_rank_two():
    """Each far above what is random; another key, other labels."""
    rows = [solve(init="rank2", num_steps=1, key=jax.random.key(seed)) for seed in range(2)]
    cuts = [row.curve[0].cut for row in rows]
    assert min(cuts) > 0.9 * BEST
    assert rows[0].labels.tolist() != rows[1].labels.tolist()
    empty = solve(Graph.from_edges([], num_vertices=0), init="rank2")
    assert (empty.cut, empty.stopped_by) == (0, "optimal")


def test_components_are_kept_apart():
    parts = [models.torus((3, 5), seed=seed) for seed in range(10)]
    edges = np.concatenate([part.edges + 15 * i for i, part in enumerate(parts)])
    weights = np.concatenate([part.weights for part in parts])
    graph = Graph.from_edges(edges, weights, num_vertices=150)
    assert solve(graph).cut == sum(largest_cut(part) for part in parts)


@pytest.mark.parametrize("move", ["mixed", "tabu"])
@pytest.mark.parametrize("limits", [{"num_steps": 10**8}, {"num_steps": None, "time_limit": 60}])
def test_interrupted(move, limits):
    """All ends at once, its threads, too, and what was found is kept."""
    reports = []

    def interrupt(progress):
        reports.append(progress)
        if progress.step > 1000:
            raise KeyboardInterrupt

    before = {thread for thread in threading.enumerate() if "prepare" not in thread.name}
    result = solve(move=move, callback=interrupt, **limits)
    after = {thread for thread in threading.enumerate() if "prepare" not in thread.name}
    assert after <= before
    assert result.stopped_by == "interrupted"
    assert result.cut == LONG.cut(result.labels) == reports[-1].cut
    assert result.seconds["total"] - reports[-1].seconds < 1


def test_errors_of_threads_are_raised(monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    compiled = Future()
    compiled.set_result(None)
    monkeypatch.setattr(module, "compile_rules_ahead", lambda dtype: compiled)
    monkeypatch.setattr("ecord_jax.search.crossing.merge_agreeing", fail)
    for limits in ({}, {"num_steps": None, "time_limit": 20}):
        with pytest.raises(ZeroDivisionError):
            solve(**limits)


@pytest.mark.parametrize(("unit", "exponent"), [(2**61, 62), (1, 1), (1e-300, -996), (1e300, 997)])
def test_weights_of_any_size(monkeypatch, unit, exponent):
    """Where sums of weights could leave their type nothing is merged; lengths go by small cuts."""
    seen, real = [], module.Horizons
    monkeypatch.setattr(module, "Horizons", lambda *given: seen.append(given[1]) or real(*given))
    base = models.erdos_renyi(300, 6 / 300, seed=3, weights="signed")
    graph = Graph(base.edges, base.weights * unit, base.names)
    result = ej.solve(graph, num_steps=30_000, trajectories=4, key=KEY)
    assert result.cut == graph.cut(result.labels)
    assert result.cut / unit > 265
    assert abs(seen[0] - exponent) <= 2  # presolve adds weights


@pytest.mark.parametrize(("threads", "walks"), [(2, 1), (2, 4), (16, 4)])
def test_no_more_time_than_walks_can_use(monkeypatch, threads, walks):
    monkeypatch.setattr("ecord_jax.search.crew.num_processors", lambda: threads)
    graph = models.erdos_renyi(60, 0.1, seed=0)
    plan = Plan(walks, 2**30, lambda: 5.0, [0])
    starts = np.zeros((walks, 60), np.int8)
    campaign = Campaign(graph, [TABU], starts, starts[0], plan)
    assert campaign._budget == 5.0 * min(threads, walks)
    campaign._crew.close()


def test_a_bound_that_fails_loses_nothing(monkeypatch):
    def fail(*_, **__):
        raise MemoryError("no room")

    monkeypatch.setattr("ecord_jax.search.solve.upper_bound", fail)
    graph = models.erdos_renyi(60, 0.1, seed=0)
    with pytest.warns(EcordWarning, match="there is no bound: no room"):
        result = ej.solve(graph, num_steps=2000, bound=True, key=KEY)
    assert (result.bound, result.stopped_by) == (None, "num_steps")
    assert result.cut == graph.cut(result.labels)


def test_an_optimum_ends_the_search():
    graph = Graph.from_edges([(i, (i + 1) % 40) for i in range(40)])
    result = solve(graph, init="equal", num_steps=10**7)
    assert (result.cut, result.stopped_by) == (40, "optimal")
    assert result.seconds["search"] < 5


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_tiny_graphs(size):
    pairs = [(i, j) for i in range(size) for j in range(i)]
    for weights in (np.ones(len(pairs), np.int64), np.linspace(-1, 2, len(pairs))):
        graph = Graph.from_edges(np.reshape(pairs, (-1, 2)).astype(int), weights, num_vertices=size)
        best = max(graph.cut([n >> i & 1 for i in range(size)]) for n in range(1 << size))
        assert solve(graph, num_steps=200).cut == best
