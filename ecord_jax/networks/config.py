"""The choices that make an ECORD network, as one frozen value that can be a static argument."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_type_hints

from ecord_jax.env.types import Scaling
from ecord_jax.errors import AgentError

__all__ = ["EcordConfig", "check_fields"]

Gnn = Literal["on", "zero"]
Rnn = Literal["gru", "zero", "none"]
Projection = Literal["linear", "mlp"]


@dataclass(frozen=True)
class EcordConfig:
    """Architecture of an agent. The defaults are the paper's (SM B).

    Attributes:
        scaling: scaling of observations and rewards, see `ecord_jax.env.maxcut`.
        gnn: `on`, or `zero`: zero vectors in place of vertex embeddings (the paper's ablation).
        rnn: `gru`; `zero`: a zero hidden state (the paper's ablation); `none`: the heads see the
            global observations in place of the hidden state.
        embedding: width of vertex embeddings and of embedded observations (16).
        layers: rounds of message passing (4).
        share_layers: one set of weights for all rounds, as the paper's equation has it.
        hidden: width of the recurrent state (1024).
        message: width of the GRU's input (64).
        value_width: width of the value head's inner layer (512 in the published code).
        advantage_width: width of the advantage head's inner layer (64).
        hidden_projection: `linear`: W_h (the paper); `mlp`: the published code's two layers.
        stop_gradient: whether the flipped vertex's embedding enters the GRU without gradient (as in
            the published code; the paper does not say).
        temperatures: (lowest, highest) softmax temperature that suits the trained agent, in units
            of its Q-values; `solve(temperature="auto")` begins between them.
    """

    scaling: Scaling = "paper"
    gnn: Gnn = "on"
    rnn: Rnn = "gru"
    embedding: int = 16
    layers: int = 4
    share_layers: bool = True
    hidden: int = 1024
    message: int = 64
    value_width: int = 512
    advantage_width: int = 64
    hidden_projection: Projection = "linear"
    stop_gradient: bool = True
    temperatures: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(type(self)).items():
            choices = get_args(hint)
            if hint in (Scaling, Gnn, Rnn, Projection) and getattr(self, name) not in choices:
                wanted = ", ".join(choices)
                raise AgentError(f"{name}={getattr(self, name)!r} is none of {wanted}")
        for name in ("embedding", "hidden", "message", "value_width", "advantage_width"):
            if getattr(self, name) < 1:
                raise AgentError(f"{name}={getattr(self, name)} must be at least 1")
        low, high = self.temperatures
        if not 0 <= low <= high:
            raise AgentError(f"temperatures={self.temperatures} must be 0 <= lowest <= highest")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> EcordConfig:
        """Reads what `dataclasses.asdict` wrote, through JSON or not.

        Raises:
            AgentError: on an unknown field or a value out of range.
        """
        check_fields(cls, values)
        temperatures = values.get("temperatures", (0.0, 0.0))
        return cls(**{**values, "temperatures": tuple(temperatures)})


def check_fields(config: type, values: dict[str, Any]) -> None:
    """Raises AgentError where a card has a field that its configuration lacks."""
    unknown = sorted(set(values) - {field.name for field in fields(config)})
    if unknown:
        raise AgentError(f"unknown network field {unknown[0]!r}")
