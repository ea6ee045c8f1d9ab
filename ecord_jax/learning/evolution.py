"""Training `swift` on the one thing that counts, the best cut when its budget is spent.

The cross-entropy method (Rubinstein, Methodol. Comput. Appl. Probab. 1, 1999; the search that
`SwiftConfig`'s first vector came from): parameters are drawn around a mean, all of them walk over
the same graphs from the same labels with the same draws, and the mean and the spread move to those
that did best. Shape letters: P candidates, I instances, D parameters.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ecord_jax.agents import load_agent
from ecord_jax.errors import OptionError
from ecord_jax.learning.instances import KINDS, Instance, draw_instance
from ecord_jax.networks.agent import Agent
from ecord_jax.networks.swift import LONG, SwiftConfig, param_shapes
from ecord_jax.networks.traits import TRAITS
from ecord_jax.search.swift import enter, start_walk, view
from ecord_jax.search.swift_state import WalkState
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

# Rows in the order of TRAITS, found by the same method: in runs of 25 and 30 generations of graphs
# of all kinds, then 14 of planar and 13 of complete graphs alone. The row for ties is a guess; that
# for triangles is what a scan of temperature and penalty gave on planar graphs, and 20 generations
# on planar and geometric graphs found no better one. That for crowding is most of what this method
# found from a tabu search with a shrinking tenure on complete graphs: from 0 it does not get there.
FIRST: dict[str, tuple[tuple[float, ...], ...]] = {
    "temperature": (
        (-2.6076, -0.6763, 0.1275, -0.0139, 0.1914, 0.0),
        (0.0536, -0.0054, -0.0435, 0.0099, -0.1203, 0.0),
        (0.5, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.3401, 0.0159, 0.0287, 0.0178, -0.0022, 0.0),
        (-0.2, 0.0, 0.0, 0.0, 0.0, 0.0),
        (-1.7918, 0.1368, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ),
    "penalty": (
        (-0.7751, 0.0533, -0.1097),
        (0.0163, 0.0033, 0.051),
        (0.0, 0.0, 0.0),
        (0.0376, -0.002, 0.0049),
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
    ),
    "long": ((0.0, 0.0, 0.0),) * len(TRAITS),
    "curve": (
        (1.8778, 1.4232, 0.9223, 2.1671, 0.3065, 0.5421, -0.3154),
        (-0.5215, -0.3639, -0.3769, -0.6677, -0.1722, -0.1737, 0.1255),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (-0.0807, -0.0021, 0.0072, -0.0195, -0.0122, 0.0166, 0.0526),
        (-0.35, -0.26, -0.18, -0.39, -0.05, -0.08, 0.06),
        (1.0905, 1.1815, 0.5103, 0.8468, -0.1371, 0.2928, -0.0864),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ),
    "memory": ((0.0,), (0.0,), (0.0,), (0.0,), (0.0,), (0.3224,), (0.0,)),
    "powers": (
        (0.7609, 0.2491),
        (0.0, 0.0),
        (0.0, 0.0),
        (-0.1179, -0.0605),
        (0.0, 0.0),
        (0.0, 0.0),
        (0.0, 0.0),
    ),
    "bias": (
        (0.2737, 0.1106),
        (0.0, 0.0),
        (0.0, 0.0),
        (-0.0106, 0.0021),
        (0.0, 0.0),
        (0.0, 0.0),
        (0.0, 0.0),
    ),
    "bend": (
        (0.6191, 0.1233, -0.1633),
        (0.0309, -0.0391, -0.11),
        (0.0, 0.0, 0.0),
        (-0.0134, 0.0124, 0.0049),
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
    ),
}
_SHARED = tuple(FIRST)  # what has rows
_PARAMS = tuple(param_shapes(SwiftConfig(encoder="gnn")))
_ALL = np.s_[:]


def _columns(**names: Any) -> dict[str, Any]:
    """Places in the rows of all traits."""
    return {name: np.s_[:, columns] for name, columns in names.items()}


def _row(trait: str) -> dict[str, Any]:
    return {name: np.s_[TRAITS.index(trait)] for name in _SHARED}


# What the policy sees, and the parameters by which it does: with these at 0 it is blind to it.
# Ties tell something of the degrees as well, and the field of whether vertices are crowded.
INPUTS: dict[str, list[dict[str, Any]]] = {
    "progress": [
        _columns(temperature=[1, 2, 5], penalty=0, long=1, memory=0, bias=1, bend=1, readout=2)
    ],
    "degree": [
        *(_row(trait) for trait in ("degree", "crowding", "field")),
        {"powers": _ALL, "bias": _ALL, "readout": _ALL},
    ],
    "time": [{"curve": _ALL, "memory": _ALL}],
    "stagnation": [_columns(temperature=3, penalty=1)],
    "horizon": [_columns(temperature=[4, 5], penalty=2, long=[0, 1, 2])],
    **{trait: [_row(trait)] for trait in TRAITS[2:]},
}
_MOST_SCORE = 2.0  # spreads from the mean that one instance can count


@dataclasses.dataclass(frozen=True)
class EvolutionConfig:
    """Attributes:
    network: of the agent.
    start: the agent whose parameters are the first mean, by name or path; "" for FIRST.
    params: those of `param_shapes` that are trained; the others keep what they begin at, and so
        does `long` where no budget is one of a long walk.
    traits: those of TRAITS whose rows are trained.
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
    params: tuple[str, ...] = _PARAMS
    traits: tuple[str, ...] = TRAITS
    without: tuple[str, ...] = ()
    kinds: tuple[str, ...] = KINDS
    generations: int = 40
    population: int = 24
    elite: int = 6
    instances: int = 24
    vertices: tuple[int, int] = (300, 2000)
    factors: tuple[float, float] = (4.0, 120.0)
    spread: float = 0.15
    least_spread: float = 0.03
    rate: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.elite <= self.population:
            raise OptionError(f"elite={self.elite} must be from 1 to population={self.population}")
        choices = {"params": _PARAMS, "traits": TRAITS, "without": tuple(INPUTS), "kinds": KINDS}
        for name, known in choices.items():
            strange = [value for value in getattr(self, name) if value not in known]
            if strange:
                raise OptionError(f"{name}: {strange[0]!r} is none of {', '.join(known)}")
        for name in ("params", "traits", "kinds"):
            if not getattr(self, name):
                raise OptionError(f"{name}: there must be one at least")
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
        OptionError: if that is of another kind, its curve has not as many knots as the network's,
            or nothing is left to train.
    """
    first: Any = FIRST
    if config.start:
        agent = load_agent(config.start)
        if not isinstance(agent.config, SwiftConfig):
            raise OptionError(f"start={config.start}: is no agent of the kind of swift")
        first = agent.params
    knots = np.shape(first["curve"])[1]
    if config.network.knots != knots:
        raise OptionError(f"knots={config.network.knots}: the first curve has {knots}")
    mean = {name: np.zeros(shape) for name, shape in param_shapes(config.network).items()}
    mean |= {name: np.asarray(value, float) for name, value in first.items() if name in mean}
    scales = _scales(config)
    if not scales.any():
        names = {name: ",".join(getattr(config, name)) for name in ("params", "traits", "without")}
        chosen = ", ".join(f"{name}={value}" for name, value in names.items())
        raise OptionError(f"{chosen}, factors={config.factors}: nothing is left to train")
    return EvolutionState(_flat(mean) * _flat(_seen(config)), config.spread * scales)


def _scales(config: EvolutionConfig) -> np.ndarray:
    """[D], the spreads of parameters to each other: 0 where they are held."""
    scales = _seen(config)
    if "readout" in scales:  # many terms make up one scalar of a vertex
        scales["readout"] /= math.sqrt(len(scales["readout"]))
    held = [number for number, trait in enumerate(TRAITS) if trait not in config.traits]
    for name in _SHARED:
        scales[name][held] = 0.0
    learned = set(config.params) - ({"long"} if config.factors[1] <= 6 * LONG else set())
    for name in scales.keys() - learned:
        scales[name][:] = 0.0
    return _flat(scales)


def _seen(config: EvolutionConfig) -> dict[str, np.ndarray]:
    """1 for each parameter, and 0 where it stands for what is left out."""
    seen = {name: np.ones(shape) for name, shape in param_shapes(config.network).items()}
    for places in itertools.chain.from_iterable(INPUTS[name] for name in config.without):
        for name in seen.keys() & places.keys():
            seen[name][places[name]] = 0.0
    return seen


def _flat(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """[D], in the order of `param_shapes`."""
    return np.concatenate([value.ravel() for value in arrays.values()])


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
        for i in range(config.instances * state.done, config.instances * (state.done + 1))
    ]
    noise = rng.normal(size=(config.population // 2, len(state.mean)))
    noise = np.concatenate([noise, -noise, np.zeros((config.population % 2, len(state.mean)))])
    candidates = state.mean + noise * state.spread
    scores = _scores(final_cuts(candidates, config.network, instances)[:, :, 0])
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
    candidates: np.ndarray, network: SwiftConfig, instances: Sequence[Instance], walks: int = 1
) -> np.ndarray:
    """Best cuts when the budgets are spent; the same draws for all candidates.

    Args:
        candidates: [P, D].
        network: of them all.
        instances: I of them; a processor has one at a time.
        walks: W, of each candidate over each graph.

    Returns:
        float64 [P, I, W].
    """
    agents = [Agent(unpack(one, network), network) for one in candidates]
    with ThreadPoolExecutor(num_processors()) as pool:
        cuts = pool.map(functools.partial(_final_cuts, agents, walks), instances)
        return np.stack(list(cuts), axis=1)


def _final_cuts(agents: Sequence[Agent], walks: int, instance: Instance) -> np.ndarray:
    """[P, W] on one graph, made ready once: for a dense one that takes longer than a walk."""
    graph, budget = instance.graph, instance.budget
    if graph.num_vertices == 0:  # presolved to nothing
        return np.zeros((len(agents), walks))
    scene = view(agents[0].config, graph)

    def play(ground: WalkState, number: int) -> float:
        rng = np.random.default_rng(instance.seed + number)
        labels = rng.integers(0, 2, graph.num_vertices, np.int8)
        walk = start_walk(ground, labels, rng)
        walk.advance(budget, budget)
        return float(graph.cut(walk.best_labels))

    grounds = (enter(agent, scene) for agent in agents)
    return np.array([[play(ground, number) for number in range(walks)] for ground in grounds])


def _scores(cuts: np.ndarray) -> np.ndarray:
    """How far candidates are above the mean of all, in spreads, on average over instances."""
    spread = cuts.std(axis=0)
    relative = (cuts - cuts.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.clip(relative, -_MOST_SCORE, _MOST_SCORE).mean(axis=1)
