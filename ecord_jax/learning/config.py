"""The choices that make a training run, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ecord_jax.errors import OptionError
from ecord_jax.graphs.generators import GraphDistribution
from ecord_jax.networks.config import EcordConfig

__all__ = ["TrainConfig"]

Algorithm = Literal["mdqn", "dqn"]
Loss = Literal["huber", "squared"]
LossSteps = Literal["last", "all"]


@dataclass(frozen=True)
class TrainConfig:
    """A training run. The defaults are the paper's (SM A); what it leaves open is marked.

    Attributes:
        network: architecture.
        graphs: distribution of the training graphs.
        num_updates: gradient steps; the paper's 40 000 environment steps are 5000 of them.
        num_graphs: B_G, trajectories that act side by side (open; the published code has 8).
        update_every: f_upd, environment steps an update.
        batch_size: transitions a gradient step.
        buffer_size: transitions kept.
        episode_factor: episodes last this many times |V| steps.
        most_rounds: an episode lasts from 1 to so many times as long, drawn log-uniformly, each on
            its own (1 in the paper). Otherwise a horizon that is observed would mean nothing.
        continued: chance that an episode goes on where the trajectory's last one ended, on the same
            graph, with the best cut set back to the current one (0 in the paper). Episodes of
            2 |V| steps then also show what a long search meets.
        learning_rate: of Adam, at the start.
        final_learning_rate: at the end of a cosine decay; equal to `learning_rate` for none.
        soft_update: weight of the online parameters in the target's moving average.
        bptt: k_BPTT, steps replayed before the one that is learned from.
        n_step: steps of reward before the bootstrap (1 in the paper).
        discount: gamma.
        epsilon_start, epsilon_end, epsilon_steps: linear decay of the exploration probability over
            environment steps.
        algorithm: `mdqn`, or plain `dqn` (the paper's ablation).
        temperature: tau of M-DQN, and of acting.
        munchausen: alpha.
        munchausen_clip: l0, lower bound of tau ln pi.
        size_baseline: whether tau ln |V| is taken off the soft value, so that the entropy of a
            uniform policy over |V| vertices counts as 0 at any size (open; not in the paper).
        loss: `huber` (as the published code) or `squared` (open).
        loss_steps: `last`: on the step of the transition only (as the published code); `all`: on
            every replayed step (open).
        averaged: whether the agent that is validated and kept has the target network's parameters,
            a moving average of the learned ones (open; the paper does not say).
        validate_every: updates between validations.
        validation_graphs: graphs generated for validation.
        validation_trajectories: trajectories a graph, at the temperatures of `network`.
        validation_factor: validation episodes last this many times |V| steps.
        seed: of everything.
    """

    network: EcordConfig = field(default_factory=EcordConfig)
    graphs: GraphDistribution = field(default_factory=GraphDistribution)
    num_updates: int = 5000
    num_graphs: int = 32
    update_every: int = 8
    batch_size: int = 64
    buffer_size: int = 40_000
    episode_factor: int = 2
    most_rounds: int = 1
    continued: float = 0.0
    learning_rate: float = 1e-3
    final_learning_rate: float = 1e-3
    soft_update: float = 0.01
    bptt: int = 5
    n_step: int = 1
    discount: float = 0.7
    epsilon_start: float = 1.0
    epsilon_end: float = 0.05
    epsilon_steps: int = 5000
    algorithm: Algorithm = "mdqn"
    temperature: float = 0.01
    munchausen: float = 0.9
    munchausen_clip: float = -1.0
    size_baseline: bool = False
    loss: Loss = "huber"
    loss_steps: LossSteps = "last"
    averaged: bool = False
    validate_every: int = 200
    validation_graphs: int = 64
    validation_trajectories: int = 8
    validation_factor: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        for name, choices in (("algorithm", Algorithm), ("loss", Loss), ("loss_steps", LossSteps)):
            if getattr(self, name) not in get_args(choices):
                wanted = ", ".join(get_args(choices))
                raise OptionError(f"{name}={getattr(self, name)!r} is none of {wanted}")
        at_least_one = (
            "num_updates num_graphs update_every batch_size episode_factor most_rounds n_step "
            "validate_every validation_graphs validation_trajectories validation_factor"
        )
        for name in at_least_one.split():
            if getattr(self, name) < 1:
                raise OptionError(f"{name}={getattr(self, name)} must be at least 1")
        if not 0 <= self.continued <= 1:
            raise OptionError(f"continued={self.continued} must be in [0, 1]")
        if self.bptt < 0:
            raise OptionError(f"bptt={self.bptt} must not be negative")
        if self.network.rnn != "gru" and self.bptt:
            raise OptionError(f"bptt={self.bptt}: without an RNN there is nothing to replay; use 0")
        if self.episode_length % self.update_every:
            raise OptionError(
                f"update_every={self.update_every} must divide an episode of "
                f"{self.episode_length} steps"
            )
        if self.steps_kept < self.window:
            raise OptionError(f"buffer_size={self.buffer_size} holds less than one window")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrainConfig:
        """Reads what `dataclasses.asdict` wrote, through JSON or not.

        Raises:
            OptionError: on an unknown field or a value out of range.
        """
        unknown = sorted(set(values) - set(cls.__dataclass_fields__))
        if unknown:
            raise OptionError(f"unknown training field {unknown[0]!r}")
        graphs = dict(values["graphs"])
        graphs["degrees"] = tuple(graphs["degrees"])
        parts = {
            "network": EcordConfig.from_dict(dict(values["network"])),
            "graphs": GraphDistribution(**graphs),
        }
        return cls(**{**values, **parts})

    @property
    def episode_length(self) -> int:
        """Flips of an episode's round, at whose end others may begin: of a shortest episode."""
        return self.episode_factor * self.graphs.num_vertices

    @property
    def window(self) -> int:
        """Consecutive transitions that one sample of the replay holds."""
        return self.bptt + self.n_step

    @property
    def steps_kept(self) -> int:
        """Environment steps that the replay holds, a multiple of `update_every`."""
        steps = self.buffer_size // self.num_graphs
        return steps - steps % self.update_every

    @property
    def pool_slots(self) -> int:
        """Rounds whose graphs must be kept, since the replay refers to them."""
        return -(-self.steps_kept // self.episode_length) + 1
