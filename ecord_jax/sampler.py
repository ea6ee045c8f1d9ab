"""The solver as a sampler of dimod, the interchange of D-Wave's tools; needs the extra `dimod`.

    sampler = ecord_jax.EcordSampler()
    sampleset = sampler.sample(bqm, time_limit=10, seed=0)
    sampleset.first.energy

See https://docs.dwavequantum.com/en/latest/ocean/api_ref_dimod/sampler_composites.html. Shape
letters: R reads, N variables.
"""

from __future__ import annotations

import math
import numbers
import os
import time
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ecord_jax.agents import load_agent, shipped_agents
from ecord_jax.errors import MissingExtraError, OptionError
from ecord_jax.graphs import Problem
from ecord_jax.networks.agent import Agent
from ecord_jax.search.result import Progress, SolveResult, Watch
from ecord_jax.search.solve import solve

if TYPE_CHECKING:
    import dimod

    _Base: Any = dimod.Sampler
else:
    try:
        import dimod
    except ImportError:  # an instance cannot be made, but `from ecord_jax import *` still works
        dimod, _Base = None, object
    else:
        _Base = dimod.Sampler

__all__ = ["EcordSampler"]

_DEFAULT_SECONDS = 30.0
_LEAST_SECONDS = 1e-3  # what a read gets when the time is over: it still gives its greedy answer
_MOST_READS = 2**20
_MOST_SEED = 2**32 - 1


class EcordSampler(_Base):
    """Minimises dimod's binary quadratic models by `ecord_jax.solve`.

    `sample_ising` and `sample_qubo` come from dimod and take the same options as `sample`.

    Attributes:
      parameters: the options of `sample`, and which properties say more of them.
      properties: "agents", the names of those that are shipped.

    Raises:
      MissingExtraError: without dimod.
    """

    def __init__(self) -> None:
        if dimod is None:
            raise MissingExtraError("EcordSampler", "dimod", "dimod")

    @property
    def parameters(self) -> dict[str, list[str]]:
        names = ("num_reads", "time_limit", "num_steps", "seed", "agent", "trajectories")
        return {name: ["agents"] if name == "agent" else [] for name in names}

    @property
    def properties(self) -> dict[str, Any]:
        return {"agents": shipped_agents()}

    def sample(
        self,
        bqm: dimod.BinaryQuadraticModel,
        *,
        num_reads: int = 1,
        time_limit: float | None = None,
        num_steps: int | None = None,
        seed: int = 0,
        agent: str | os.PathLike[str] | Agent = "swift",
        trajectories: int = 20,
        **unknown: Any,
    ) -> dimod.SampleSet:
        """Looks for samples of low energy.

        Each read is a search of its own, from start values of its own, and gives the best sample
        that any of its trajectories met: reads are good samples, not samples of a distribution,
        and may be equal. Read r depends on the seed and r alone, so that more reads keep those that
        fewer would give. They run one after another and share one compiled program. Small and
        sparse models are mostly solved by exact reductions, in no time.

        Args:
          bqm: of SPIN or BINARY variables, of any dtype and size, none at all too.
          num_reads: R.
          time_limit: seconds for all reads, compiling included; each gets an even share of what the
            ones before it have left, but at least a chunk of steps. A read for which nothing is
            left gives its greedy answer. 30 if neither limit is given.
          num_steps: flips of each trajectory of a read. With it alone the samples are the same
            on the same machine.
          seed: 0..2^32-1.
          agent: a shipped agent's name, the path of a .safetensors file, or an agent.
          trajectories: of each read.
          **unknown: reported by dimod's SamplerUnknownArgWarning, and ignored.

        Returns:
          R samples, fewer after Ctrl-C, with the energies that dimod computes of them and a vector
          `is_optimal`: whether the search proved that there is no better one (up to rounding where
          biases are no integers). Its `info` has "seconds", the whole time, and "agent".

        Raises:
          OptionError: for an option that makes no sense.
          AgentError: for an agent that cannot be loaded.
          EcordError: for a model of another type, or with biases that are no finite numbers.

        Example:
          >>> bqm = dimod.BinaryQuadraticModel({}, {("a", "b"): 1, ("b", "c"): 1}, 0.5, "SPIN")
          >>> EcordSampler().sample(bqm).first.energy
          -1.5
        """
        self.remove_unknown_kwargs(**unknown)
        watch = Watch(_check(num_reads, seed, time_limit, num_steps))
        problem = Problem.from_bqm(bqm)
        policy = agent if isinstance(agent, Agent) else load_agent(agent)
        key, results = jax.random.key(seed), []
        for read in range(num_reads):
            share = _Share(watch.left / (num_reads - read))
            result = solve(
                problem.graph,
                agent=policy,
                time_limit=_limit(watch),
                num_steps=num_steps,
                trajectories=trajectories,
                key=jax.random.fold_in(key, read),
                callback=share,
            )
            results.append(result)
            if result.stopped_by == "interrupted" and not share.is_over:
                break
        name = "custom" if isinstance(agent, Agent) else os.fspath(agent)
        info = {"seconds": watch.elapsed, "agent": name}
        return _sample_set(bqm, problem, results, info)


class _Share:
    """A callback that ends a read, once it has done steps, when its share of the time is over."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self.is_over = False

    def __call__(self, progress: Progress) -> None:
        self.is_over = progress.step > 0 and time.monotonic() >= self._end
        if self.is_over:
            raise KeyboardInterrupt  # which `solve` takes for the wish to have what it has so far


def _limit(watch: Watch) -> float | None:
    return None if math.isinf(watch.left) else max(watch.left, _LEAST_SECONDS)


def _check(num_reads: int, seed: int, time_limit: float | None, num_steps: int | None) -> float:
    """Checks what `solve` is not given as it is; gives the seconds for all reads."""
    for name, value, low, high in (
        ("num_reads", num_reads, 1, _MOST_READS),
        ("seed", seed, 0, _MOST_SEED),
    ):
        is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        if not is_integer or not low <= value <= high:
            raise OptionError(f"{name}={value!r} must be an integer from {low} to {high}")
    if time_limit is None:
        return math.inf if num_steps is not None else _DEFAULT_SECONDS
    if not isinstance(time_limit, numbers.Real) or not 0 < time_limit < math.inf:
        raise OptionError(f"time_limit={time_limit!r} must be a finite number of seconds above 0")
    return float(time_limit)


def _sample_set(
    bqm: dimod.BinaryQuadraticModel,
    problem: Problem,
    results: list[SolveResult],
    info: dict[str, Any],
) -> dimod.SampleSet:
    samples = np.stack([problem.values(result.labels) for result in results])
    return dimod.SampleSet.from_samples_bqm(
        (samples, list(bqm.variables)),
        bqm,
        info=info,
        is_optimal=np.array([result.stopped_by == "optimal" for result in results]),
    )
