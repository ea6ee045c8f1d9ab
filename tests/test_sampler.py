"""Tests of the dimod sampler: its interface, its energies, and answers against the exact solver."""

import functools
import itertools
import pathlib
import subprocess
import sys
import unittest

import dimod
import dimod.testing
import jax
import numpy as np
import pytest

import ecord_jax as ej
from ecord_jax import sampler as sampler_module
from ecord_jax.errors import AgentError, EcordError, OptionError
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import init_agent
from ecord_jax.networks.config import EcordConfig
from ecord_jax.search import prepare
from ecord_jax.search.result import Progress, SolveResult

ROOT = pathlib.Path(__file__).resolve().parents[1]
AGENT = init_agent(
    EcordConfig(
        scaling="scale_free",
        rnn="none",
        temperatures=(0.02, 0.5),
        embedding=4,
        layers=1,
        value_width=4,
        advantage_width=4,
    ),
    to_arrays(ej.Graph.from_edges([(0, 1)])),
    jax.random.key(1),
)
SAMPLER = ej.EcordSampler()


@pytest.fixture
def one_program(monkeypatch):
    """Short chunks, and one size for all graphs of up to 17 vertices: they share one program."""
    monkeypatch.setattr(prepare, "chunk_length", lambda *_: 16)
    sized = functools.partial(to_arrays, min_edges=320, min_row_block=32)
    monkeypatch.setattr(prepare, "to_arrays", sized)


def random_bqm(seed, most=16):
    """Integers, halves or floats; with or without fields; dense, since sparse ones are reduced."""
    rng = np.random.default_rng(seed)
    size, density = seed % most + 1, (1.0, 1.0, 0.7, 0.3)[seed % 4]

    def draw():
        kind = seed // 2 % 3
        return float((rng.integers(-5, 6), rng.integers(-9, 10) / 2, rng.normal())[kind])

    fields = {f"v{i}": draw() if seed % 5 else 0 for i in range(size)}
    pairs = itertools.combinations(fields, 2)
    quadratic = {pair: draw() for pair in pairs if rng.random() < density}
    return dimod.BinaryQuadraticModel(fields, quadratic, draw(), ("SPIN", "BINARY")[seed % 2])


def check(sampleset, bqm, reads=1):
    dimod.testing.assert_sampleset_energies(sampleset, bqm, precision=9)
    assert sampleset.vartype is bqm.vartype
    assert set(sampleset.variables) == set(bqm.variables)
    assert sampleset.record.sample.shape == (reads, bqm.num_variables)


@dimod.testing.load_sampler_bqm_tests(ej.EcordSampler)
class TestModelsOfDimod(unittest.TestCase):
    """dimod's own models of 0 to 3 variables, of each of its types."""


def test_interface_of_dimod():
    dimod.testing.assert_sampler_api(SAMPLER)
    assert list(SAMPLER.parameters) == [
        "num_reads",
        "time_limit",
        "num_steps",
        "seed",
        "agent",
        "trajectories",
    ]
    assert "mixture" in SAMPLER.properties["agents"]
    named = {name for values in SAMPLER.parameters.values() for name in values}
    assert named <= set(SAMPLER.properties)
    bqm = random_bqm(5)
    with pytest.warns(dimod.exceptions.SamplerUnknownArgWarning, match="beta_range"):
        check(SAMPLER.sample(bqm, beta_range=(0, 1)), bqm)


def test_against_the_exact_solver(one_program):
    """200 random problems of up to 16 variables: as low as dimod's exact solver."""
    proven = 0
    for seed in range(200):
        bqm = random_bqm(seed)
        sampleset = SAMPLER.sample(bqm, agent="softmax", num_steps=128, seed=seed)
        check(sampleset, bqm)
        lowest = dimod.ExactSolver().sample(bqm).first.energy
        assert sampleset.first.energy == pytest.approx(lowest, abs=1e-9), seed
        assert bqm == random_bqm(seed)  # left alone
        proven += bool(sampleset.record.is_optimal[0])
    assert 60 < proven < 140  # the others are searched


@pytest.mark.slow
def test_against_the_exact_solver_as_shipped():
    """The same with what a user gets by default, but for the time."""
    for seed in range(0, 200, 7):
        bqm = random_bqm(seed)
        sampleset = SAMPLER.sample(bqm, num_steps=100)
        check(sampleset, bqm)
        lowest = dimod.ExactSolver().sample(bqm).first.energy
        assert sampleset.first.energy == pytest.approx(lowest, abs=1e-9), seed


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_degenerate_models(vartype):
    empty = dimod.BinaryQuadraticModel({}, {}, 2.5, vartype)
    sampleset = SAMPLER.sample(empty, num_reads=2)
    check(sampleset, empty, reads=2)
    assert sampleset.record.energy.tolist() == [2.5, 2.5]
    low = -1 if vartype == "SPIN" else 0
    for bqm, lowest in (
        (dimod.BinaryQuadraticModel({"a": 0}, {}, 0, vartype), 0),
        (dimod.BinaryQuadraticModel({"a": 2}, {}, -1, vartype), -1 + 2 * low),
        (dimod.BinaryQuadraticModel({"a": -2}, {}, 0, vartype), -2),
        (dimod.BinaryQuadraticModel({"a": -2, ("b",): -3, 7: 0}, {}, 0, vartype), -5),
        (dimod.BinaryQuadraticModel({}, {("a", 0): -1}, 0, vartype), -1),
        (dimod.BinaryQuadraticModel({}, {("a", "b"): 0}, 1, vartype), 1),
    ):
        sampleset = SAMPLER.sample(bqm)
        check(sampleset, bqm)
        assert sampleset.first.energy == lowest
        assert sampleset.record.is_optimal.all()


def test_ising_and_qubo():
    sampleset = SAMPLER.sample_ising([0.5, 0, 0], {(0, 1): 1, (1, 2): 1, (0, 2): 1}, num_reads=3)
    assert sampleset.record.energy.tolist() == [-1.5] * 3
    sampleset = SAMPLER.sample_qubo({("x", "x"): -1, ("y", "y"): -2, ("x", "y"): 4})
    assert sampleset.first.sample == {"x": 0, "y": 1}
    assert sampleset.first.energy == -2


def test_integers_beyond_floats():
    bqm = dimod.BinaryQuadraticModel({"a": 2**60 + 1}, {("a", "b"): 3}, 0, "SPIN", dtype=object)
    assert SAMPLER.sample(bqm).first.sample == {"a": -1, "b": 1}


def test_reads(one_program):
    bqm = random_bqm(15)
    options = {"agent": AGENT, "num_steps": 1, "trajectories": 1}
    five = SAMPLER.sample(bqm, num_reads=5, seed=3, **options)
    check(five, bqm, reads=5)
    assert len({tuple(row) for row in five.record.sample.tolist()}) > 1  # of their own keys
    assert five.record.num_occurrences.tolist() == [1] * 5
    assert five.info["agent"] == "custom"
    assert five.info["seconds"] > 0
    two = SAMPLER.sample(bqm, num_reads=2, seed=3, **options)
    np.testing.assert_array_equal(two.record.sample, five.record.sample[:2])
    other = SAMPLER.sample(bqm, num_reads=5, seed=4, **options)
    assert not np.array_equal(other.record.sample, five.record.sample)


class FakeSolve:
    """A search on a clock of its own: compiling takes 3 s once, a chunk 1 s."""

    def __init__(self, monkeypatch):
        self.now, self.limits, self.chunks, self.interrupt = 0.0, [], [], None
        monkeypatch.setattr(sampler_module.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(sampler_module, "solve", self)

    def __call__(self, graph, *, time_limit, callback, **_):
        self.limits.append(time_limit)
        end, steps = self.now + time_limit, 0
        self.now += 0 if self.chunks else min(3, time_limit)
        self.chunks.append(0)
        stopped_by = "time_limit"
        try:
            callback(Progress(0, 0, 0))
            while self.now + 1 <= end:
                self.now, steps = self.now + 1, steps + 1
                self.chunks[-1] = steps
                if len(self.chunks) == self.interrupt:
                    raise KeyboardInterrupt
                callback(Progress(0, steps, 0))
        except KeyboardInterrupt:
            stopped_by = "interrupted"
        labels = np.zeros(graph.num_vertices, np.int8)
        return SolveResult(0, labels, (), steps, 1, {}, stopped_by, "custom")


def test_reads_share_the_time(monkeypatch):
    solve = FakeSolve(monkeypatch)
    bqm = random_bqm(9)
    check(SAMPLER.sample(bqm, agent=AGENT, num_reads=4, time_limit=15), bqm, reads=4)
    # 15 / 4 s for the first, of which 3 are for compiling; 11 / 3 for the next; and so on.
    assert solve.chunks == [1, 4, 4, 3]
    assert solve.limits == [15, 11, 7, 3]
    assert solve.now == 15
    solve.chunks.clear()  # too little for all: the first compiles, the last is greedy
    check(SAMPLER.sample(bqm, agent=AGENT, num_reads=3, time_limit=4), bqm, reads=3)
    assert solve.chunks == [1, 0, 0]
    assert solve.limits[-2:] == [1e-3, 1e-3]
    SAMPLER.sample(bqm, agent=AGENT)
    assert solve.limits[-1] == 30


def test_interrupt_keeps_the_reads_so_far(monkeypatch):
    solve = FakeSolve(monkeypatch)
    solve.interrupt = 2
    bqm = random_bqm(9)
    sampleset = SAMPLER.sample(bqm, agent=AGENT, num_reads=4, time_limit=15)
    check(sampleset, bqm, reads=2)
    assert solve.chunks == [1, 1]
    assert not sampleset.record.is_optimal.any()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"num_reads": 0}, OptionError, "num_reads=0 must be an integer from 1 to"),
        ({"num_reads": 1.5}, OptionError, "num_reads=1.5 must be"),
        ({"seed": None}, OptionError, "seed=None must be an integer from 0 to"),
        ({"seed": -1}, OptionError, "seed=-1 must be"),
        ({"time_limit": 0}, OptionError, "time_limit=0 must be"),
        ({"time_limit": "3"}, OptionError, "time_limit='3' must be"),
        ({"num_steps": 0}, OptionError, "num_steps=0 must be"),
        ({"trajectories": 0}, OptionError, "trajectories=0 must be"),
        ({"agent": "nobody"}, AgentError, "no agent 'nobody'"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        SAMPLER.sample(random_bqm(3), **options)


def test_bad_model():
    with pytest.raises(EcordError, match="BinaryQuadraticModel"):
        SAMPLER.sample({("a", "b"): 1})


def test_without_dimod():
    """What does not need dimod works, and what does names the extra on one line."""
    code = (
        "import sys\n"
        "sys.modules['dimod'] = None\n"
        "from ecord_jax import *\n"
        "print(Problem.from_qubo({('a', 'a'): -1}).objective([1]))\n"
        "try:\n"
        "    EcordSampler()\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    expected = ["-1", "EcordSampler needs dimod: pip install 'ecord-jax[dimod]'"]
    assert result.stdout.splitlines() == expected
