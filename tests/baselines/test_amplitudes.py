"""Tests of SimCIM and chaotic amplitude control: first steps by hand, small optima, limits."""

import dataclasses
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ecord_jax.baselines import found
from ecord_jax.baselines.amplitudes import couplings
from ecord_jax.baselines.found import features, found_parameters, nearest_set
from ecord_jax.baselines.leleu import Leleu, LeleuParameters, leleu
from ecord_jax.baselines.simcim import SimCim, SimCimParameters, pump_at, simcim
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph, models
from ecord_jax.graphs.exact import largest_cut
from ecord_jax.search.fields import fields

KEY = jax.random.key(0)
SOLVERS = (simcim, leleu)
# A path 0 - 1 - 2 with weights 3 and -4: the eigenvalues of its matrix are 5, 0 and -5.
PATH = Graph.from_edges([(0, 1), (1, 2)], [3, -4])
COUPLINGS = -np.array([[0, 3, 0], [3, 0, -4], [0, -4, 0]]) / 5


def random_graph(seed, n=14):
    return models.erdos_renyi(n, 0.5, seed=seed, weights="signed")


def test_couplings():
    x = np.random.default_rng(0).normal(size=(32, 4)).astype(np.float32)
    product = np.asarray(fields(couplings(PATH), jnp.asarray(x)))
    np.testing.assert_allclose(product[:3], COUPLINGS @ x[:3], rtol=1e-5, atol=1e-6)
    assert not product[3:].any()


def test_couplings_of_other_graphs_have_largest_eigenvalue_1():
    graph = random_graph(1, 30)
    dense = np.asarray(fields(couplings(graph), jnp.eye(32)))
    assert np.linalg.eigvalsh(dense)[-1] == pytest.approx(1, rel=1e-2)


def test_pump_is_a_hyperbolic_tangent_between_its_ends():
    parameters = SimCimParameters(pump_start=-2.0, pump_end=1.0, steepness=1.5)
    found_ = [float(pump_at(parameters, t)) for t in (0, 0.25, 0.5, 1)]
    part = (1 + np.tanh(-0.75) / np.tanh(1.5)) / 2
    np.testing.assert_allclose(found_, [-2, -2 + 3 * part, -0.5, 1], rtol=1e-6)


def test_first_steps_of_simcim():
    parameters = SimCimParameters(-1.0, 0.5, 1.0, rate=0.4, noise=0.0, momentum=0.75)
    annealing, x = SimCim(parameters), np.array([[0.5], [-0.2], [0.99]], np.float32)
    start = annealing.start(32, 1, KEY)
    state = start._replace(x=start.x.at[:3].set(x), change=start.change.at[:3].set(0.1))
    state = annealing.advance(couplings(PATH), state, 1, 10)
    change = 0.75 * 0.1 + 0.25 * 0.4 * (-1.0 * x + COUPLINGS @ x)
    np.testing.assert_allclose(state.change[:3], change, rtol=1e-5)
    np.testing.assert_allclose(state.x[:3], np.clip(x + change, -1, 1), rtol=1e-5)


def test_noise_of_simcim():
    annealing = SimCim(SimCimParameters(noise=0.2, momentum=0.5))
    state = annealing.advance(couplings(PATH), annealing.start(32, 500, KEY), 1, 10)
    assert float(state.x.std()) == pytest.approx(0.1, rel=0.03)


def test_first_steps_of_leleu():
    parameters = LeleuParameters(0.1, 0.8, 0.6, 0.3, 1.2, 0.5, 4.0, growth=0.02, patience=50.0)
    annealing, blocks = Leleu(parameters), couplings(PATH)
    start = annealing.start(32, 1, KEY)
    x, e = np.array([[0.5], [-0.2], [0.9]]), np.array([[1.0], [2.0], [0.5]])
    best, rate = -10.0, 0.3
    state = start._replace(
        x=start.x.at[:3].set(x.astype(np.float32)),
        error=start.error.at[:3].set(e.astype(np.float32)),
        best=jnp.float32([best]),
        rate=jnp.float32([rate]),
    )
    state = annealing.advance(blocks, state, 1, 10)
    spins = np.sign(x)
    energy = -float(np.squeeze(spins.T @ COUPLINGS @ spins)) / 2
    swing = np.tanh(4.0 * (energy - best) / 32)
    target, pump = 1.2 + 0.5 * swing, 0.6 - 0.3 * swing
    after = x + 0.1 * ((pump - 1) * x - x**3 + 0.8 * e * (COUPLINGS @ x))
    np.testing.assert_allclose(state.x[:3], after, rtol=1e-4)
    np.testing.assert_allclose(state.error[:3], e - 0.1 * rate * (x**2 - target) * e, rtol=1e-5)
    assert float(state.rate[0]) == pytest.approx(rate + 0.1 * 0.02)


def test_leleu_starts_its_rate_anew_and_keeps_the_best_signs():
    annealing, blocks = Leleu(LeleuParameters(patience=1.0)), couplings(PATH)
    state = annealing.start(32, 1, KEY)
    state = state._replace(
        best=jnp.float32([-100.0]), waited=jnp.float32([1.5]), rate=jnp.float32([0.7])
    )
    kept = state.best_signs
    state = annealing.advance(blocks, state, 1, 10)
    assert float(state.rate[0]) == float(state.waited[0]) == 0
    assert (state.best_signs == kept).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_small_optima(solver):
    for seed in range(5):
        graph = random_graph(seed)
        result = solver(graph, key=KEY, num_steps=200)
        assert result.cut == largest_cut(graph) == graph.cut(result.labels)
        assert result.steps in (0, 200)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_same_key_gives_the_same_labels(solver):
    graph = random_graph(3, 100)
    first, again = (solver(graph, key=KEY, trajectories=2, num_steps=40) for _ in range(2))
    np.testing.assert_array_equal(first.labels, again.labels)
    assert (first.steps, first.stopped_by, first.agent) == (40, "num_steps", solver.__name__)


@pytest.mark.parametrize("solver", SOLVERS)
def test_time_limit(solver):
    graph = models.erdos_renyi(300, 0.1, seed=0)
    solver(graph, key=KEY, num_steps=2)
    start = time.monotonic()
    result = solver(graph, key=KEY, time_limit=0.8, run_length=50)
    assert 0.7 < time.monotonic() - start < 2
    assert result.stopped_by == "time_limit"
    assert result.steps > 50  # several runs


@pytest.mark.parametrize("solver", SOLVERS)
def test_graphs_without_a_search(solver):
    empty = Graph.from_edges([], num_vertices=3)
    assert solver(empty, key=KEY, num_steps=3).stopped_by == "optimal"
    negative = Graph.from_edges([(0, 1)], [-2])
    assert solver(negative, key=KEY, num_steps=3).cut == 0


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"parameters": "ER41"}, "parameters='ER41'"),
        ({"parameters": 3}, "parameters=3"),
        ({"run_length": 0}, "run_length=0"),
        ({"num_steps": 0}, "num_steps=0"),
    ],
)
def test_bad_options(solver, options, words):
    with pytest.raises(OptionError, match=words):
        solver(PATH, key=KEY, **options)


def test_features_tell_kinds_apart():
    graphs = {
        "ER": models.erdos_renyi(200, 0.15, seed=0, weights="signed"),
        "BA": models.barabasi_albert(200, 4, seed=0, weights="signed"),
        "unit": models.erdos_renyi(200, 0.15, seed=0),
    }
    sets = {name: features(graph) for name, graph in graphs.items()}
    assert nearest_set(models.erdos_renyi(210, 0.15, seed=5, weights="signed"), sets) == "ER"
    assert nearest_set(models.barabasi_albert(150, 4, seed=5, weights="signed"), sets) == "BA"
    assert nearest_set(models.erdos_renyi(150, 0.15, seed=5), sets) == "unit"
    assert features(Graph.from_edges([], num_vertices=2)) == [0.0] * 4


@pytest.mark.parametrize(
    ("solver", "kind"), [("simcim", SimCimParameters), ("leleu", LeleuParameters)]
)
def test_found_parameters(solver, kind):
    """What was found is there for each of the paper's sets, with the search that found it."""
    sets = found._read()[solver]
    for name in (f"{model}{n}" for model in ("ER", "BA") for n in (40, 60, 100, 200, 500)):
        parameters = found_parameters(solver, kind, PATH, name)
        assert dataclasses.asdict(parameters) == sets[name]["parameters"]
        assert f"--sets={name}" in sets[name]["command"]
    graph = models.barabasi_albert(90, 4, seed=0, weights="signed")
    nearest = found_parameters(solver, kind, graph, None)
    assert dataclasses.asdict(nearest) == sets["BA100"]["parameters"]
    own = kind(0.1)
    assert found_parameters(solver, kind, graph, own) is own


def test_leleu_does_not_stay_where_euler_steps_turn_signs():
    """From any amplitudes it is soon as if it had started there."""
    annealing, blocks = Leleu(LeleuParameters(time_step=0.2)), couplings(random_graph(0, 30))
    state = annealing.start(32, 20, KEY)
    far = annealing.advance(blocks, state._replace(x=100 * jnp.sign(state.x)), 200, 200)
    assert float(jnp.abs(far.x).mean()) < 1.5
