"""Training `swift` on the one thing that counts, the best cut when its budget is spent.

The cross-entropy method (Rubinstein, Methodol. Comput. Appl. Probab. 1, 1999; the search that
`SwiftConfig`'s first vector came from): parameters are drawn around a mean, all of them walk over
the same graphs from the same labels with the same draws, and the mean and the spread move to those
that did best. Shape letters: P candidates, I instances, D parameters.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ecord_jax.agents import load_agent
from ecord_jax.errors import OptionError
from ecord_jax.learning.instances import KINDS, Instance, draw_instance
from ecord_jax.networks.agent import Agent
from ecord_jax.networks.swift import SwiftConfig, param_shapes
from ecord_jax.search.swift import start_walk, survey
from ecord_jax.search.walks import num_processors

__all__ = [
    "INPUTS",
    "EvolutionConfig",
    "EvolutionState",
    "final_cuts",
    "first_state",
    "generation",
    "unpack",
]

# A vector in the order of `param_shapes`, found by the same method in 25 generations of graphs of
# all kinds, which began at one that was found on Erdos-Renyi graphs. What it lacks begins at 0.
FIRST = {
    "temperature": (-2.4367, -0.6403, 0.1466, 0.0317, 0.1855, -0.0269),
    "penalty": (-0.7816, 0.0438, -0.1551, 0.0081),
    "curve": (2.0458, 1.5118, 0.8927, 2.4025, 0.3648, 0.6629, -0.2949),
    "powers": (0.3841, 0.1334),
    "bias": (0.2423, 0.1095),
    "bend": (0.5528, 0.0611, -0.1021),
}
# What the policy sees, and the parameters by which it does: with these at 0 it is blind to it.
INPUTS: dict[str, dict[str, slice | list[int]]] = {
    "progress": {"temperature": [1, 2], "penalty": [0], "bias": [1], "bend": [1]},
    "degree": {
        "temperature": [5],
        "penalty": [3],
        "powers": slice(None),
        "bias": slice(None),
        "readout": slice(None),
    },
    "time": {"curve": slice(None)},
    "stagnation": {"temperature": [3], "penalty": [1]},
    "horizon": {"temperature": [4], "penalty": [2]},
}
_MOST_SCORE = 2.0  # spreads from the mean that one instance can count


@dataclasses.dataclass(frozen=True)
class EvolutionConfig:
    """Attributes:
    network: of the agent.
    start: the agent whose parameters are the first mean, by name or path; "" for FIRST.
    without: those of INPUTS that are left out.
    kinds: of graphs, those of `ecord_jax.learning.instances`, in turn; one that is named twice
        counts twice.
    generations: how often the mean moves.
    population: P.
    elite: candidates that the mean moves to.
    instances: I, drawn anew for each generation.
    vertices: least and most of a graph.
    factors: least and most of a budget over |V|.
    spread: of the first generation, in each parameter (of several that are added up, together).
    least_spread: the same that no parameter's falls below.
    rate: how far mean and spread move towards the elite.
    seed: of all draws.
    """

    network: SwiftConfig = SwiftConfig()
    start: str = ""
    without: tuple[str, ...] = ()
    kinds: tuple[str, ...] = KINDS
    generations: int = 40
    population: int = 24
    elite: int = 6
    instances: int = 24
    vertices: tuple[int, int] = (300, 2000)
    factors: tuple[float, float] = (4.0, 150.0)
    spread: float = 0.15
    least_spread: float = 0.03
    rate: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.elite <= self.population:
            raise OptionError(f"elite={self.elite} must be from 1 to population={self.population}")
        for name, known in (("without", tuple(INPUTS)), ("kinds", KINDS)):
            strange = [value for value in getattr(self, name) if value not in known]
            if strange:
                raise OptionError(f"{name}: {strange[0]!r} is none of {', '.join(known)}")
        if not self.kinds:
            raise OptionError("kinds: there must be one at least")
        for name in ("generations", "instances"):
            if getattr(self, name) < 1:
                raise OptionError(f"{name}={getattr(self, name)} must be at least 1")
        for name, least in (("vertices", 50), ("factors", 1)):
            low, high = getattr(self, name)
            if not least <= low <= high:
                raise OptionError(f"{name}={(low, high)} must be two ascending numbers >= {least}")
        if not 0 < self.least_spread <= self.spread:
            raise OptionError(f"spread={self.spread} must be at least least_spread, above 0")


@dataclasses.dataclass(frozen=True)
class EvolutionState:
    """Attributes:
    mean: float64 [D].
    spread: float64 [D].
    done: generations behind it.
    """

    mean: np.ndarray
    spread: np.ndarray
    done: int = 0


def first_state(config: EvolutionConfig) -> EvolutionState:
    """The state before the first generation.

    Raises:
        AgentError: if there is no such agent as `config.start`.
        OptionError: if its curve has not as many knots as the network's.
    """
    first = load_agent(config.start).params if config.start else FIRST
    if config.network.knots != len(first["curve"]):
        knots = len(first["curve"])
        raise OptionError(f"knots={config.network.knots}: the first curve has {knots}")
    mean = {name: np.zeros(shape) for name, shape in param_shapes(config.network).items()}
    mean |= {name: np.asarray(value, float) for name, value in first.items() if name in mean}
    scales = _scales(config)
    vector = np.concatenate([value.ravel() for value in mean.values()])
    return EvolutionState(np.where(scales > 0, vector, 0.0), config.spread * scales)


def _scales(config: EvolutionConfig) -> np.ndarray:
    """[D], the spreads of parameters to each other: 0 where they are held."""
    scales = {name: np.ones(shape) for name, shape in param_shapes(config.network).items()}
    if "readout" in scales:  # many terms make up one scalar of a vertex
        scales["readout"] /= math.sqrt(len(scales["readout"]))
    for left_out in config.without:
        for name, places in INPUTS[left_out].items():
            if name in scales:
                scales[name][places] = 0.0
    return np.concatenate([value.ravel() for value in scales.values()])


def unpack(vector: np.ndarray, network: SwiftConfig) -> dict[str, np.ndarray]:
    """Parameters by name, float32, of a vector [D]."""
    shapes = param_shapes(network)
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()])
    parts = np.split(np.asarray(vector, np.float32), ends[:-1])
    return {
        name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)
    }


def generation(
    config: EvolutionConfig, state: EvolutionState
) -> tuple[EvolutionState, dict[str, float]]:
    """Moves the mean once; the same state gives the same one.

    Returns:
        The next state, and the elite's mean score and the mean spread.
    """
    rng = np.random.default_rng([config.seed, state.done])
    instances = [
        draw_instance(config.kinds[i % len(config.kinds)], config.vertices, config.factors, rng)
        for i in range(config.instances)
    ]
    noise = rng.normal(size=(config.population // 2, len(state.mean)))
    noise = np.concatenate([noise, -noise, np.zeros((config.population % 2, len(state.mean)))])
    candidates = state.mean + noise * state.spread
    scores = _scores(final_cuts(candidates, config.network, instances))
    elite = candidates[np.argsort(-scores)[: config.elite]]
    mean = state.mean + config.rate * (elite.mean(axis=0) - state.mean)
    deviation = np.sqrt(((elite - state.mean) ** 2).mean(axis=0))
    spread = state.spread + config.rate * (deviation - state.spread)
    after = EvolutionState(
        mean, np.maximum(spread, config.least_spread * _scales(config)), state.done + 1
    )
    top = float(np.sort(scores)[-config.elite :].mean())
    return after, {"elite_score": top, "spread": float(after.spread.mean())}


def final_cuts(
    candidates: np.ndarray, network: SwiftConfig, instances: Sequence[Instance]
) -> np.ndarray:
    """Best cuts float64 [P, I] when the budgets are spent; the same draws for all candidates."""
    params = [unpack(one, network) for one in candidates for _ in instances]
    walk = functools.partial(_final_cut, network)
    with ThreadPoolExecutor(num_processors()) as pool:
        cuts = list(pool.map(walk, params, [*instances] * len(candidates)))
    return np.reshape(cuts, (len(candidates), len(instances)))


def _final_cut(network: SwiftConfig, params: dict[str, Any], instance: Instance) -> float:
    rng = np.random.default_rng(instance.seed)
    size = instance.graph.num_vertices
    if size == 0:  # presolved to nothing
        return 0.0
    labels = rng.integers(0, 2, size, np.int8)
    walk = start_walk(survey(Agent(params, network), instance.graph), labels, rng)
    walk.advance(instance.budget, instance.budget)
    return float(instance.graph.cut(walk.best_labels))


def _scores(cuts: np.ndarray) -> np.ndarray:
    """How far candidates are above the mean of all, in spreads, on average over instances."""
    spread = cuts.std(axis=0)
    relative = (cuts - cuts.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.clip(relative, -_MOST_SCORE, _MOST_SCORE).mean(axis=1)
