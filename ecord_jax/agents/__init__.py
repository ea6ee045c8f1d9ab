"""Agents on disk: parameters in NAME.safetensors, what they are in the card NAME.json beside it.

The card is a JSON object. Its field `network` says which kind of network it is, `ecord` (also where
there is no such field) or `swift`, and `config` holds the fields of `EcordConfig` or `SwiftConfig`;
the rest is for people (training command, seed, versions, validation). Shipped agents lie in this
folder and are found by name. `softmax` is the policy without learning, which needs no file.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.resources
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flax.traverse_util
import jax
import jax.numpy as jnp
import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from ecord_jax.errors import AgentError
from ecord_jax.graphs.arrays import from_dense
from ecord_jax.networks.agent import Agent, init_agent
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.softmax import SoftmaxConfig
from ecord_jax.networks.swift import SwiftConfig, param_shapes

__all__ = ["full_name", "load_agent", "save_agent", "shipped_agents"]

_SUFFIX = ".safetensors"
_Config = EcordConfig | SwiftConfig
_KINDS: dict[str, type[EcordConfig] | type[SwiftConfig]] = {
    "ecord": EcordConfig,
    "swift": SwiftConfig,
}
_SOFTMAX = "softmax"
# In units of the local field: around the best ones, 0.15 to 0.25, on generated random graphs of
# 1000 vertices and mean degree 5 and 20.
_SOFTMAX_TEMPERATURES = (0.1, 0.3)


def shipped_agents() -> list[str]:
    """Names that `load_agent` knows, sorted."""
    files = importlib.resources.files(__name__).iterdir()
    names = [file.name.removesuffix(_SUFFIX) for file in files if file.name.endswith(_SUFFIX)]
    return sorted([*names, _SOFTMAX])


def load_agent(name_or_path: str | os.PathLike[str]) -> Agent:
    """Loads a shipped agent, or one of a file.

    Args:
        name_or_path: a name of `shipped_agents`, or the path of a .safetensors file whose card
            lies beside it.

    Returns:
        The agent; the values of its parameters are float32.

    Raises:
        AgentError: if there is no such agent, or its files cannot be read or do not fit together.
    """
    text = os.fspath(name_or_path)
    if text.endswith(_SUFFIX):
        return _load(Path(text))
    if text == _SOFTMAX:
        return Agent(params={}, config=SoftmaxConfig(temperatures=_SOFTMAX_TEMPERATURES))
    known = shipped_agents()
    if text not in known:
        wanted = f"one of {', '.join(known)}, or the path of a {_SUFFIX} file"
        raise AgentError(f"there is no agent {text!r}; expected {wanted}")
    with importlib.resources.as_file(importlib.resources.files(__name__)) as folder:
        return _load(folder / f"{text}{_SUFFIX}")


def full_name(name_or_path: str) -> str:
    """What tells an agent from others: its name, or its path and a checksum of what is there.

    Raises:
        AgentError: as `load_agent`, for a path.
    """
    if not name_or_path.endswith(_SUFFIX):
        return name_or_path
    agent = load_agent(name_or_path)
    params, digest = _flatten(agent.params), hashlib.sha256(repr(agent.config).encode())
    for name in sorted(params):
        digest.update(np.asarray(params[name]).tobytes())
    return f"{name_or_path}@{digest.hexdigest()[:8]}"


def save_agent(agent: Agent, path: str | os.PathLike[str], card: dict[str, Any]) -> None:
    """Writes an agent's parameters and its card; each file appears whole or not at all.

    Args:
        agent: with an `EcordConfig` or a `SwiftConfig`.
        path: ends with .safetensors; the card goes to the same name with .json.
        card: what JSON can hold; `network` and `config` are added.

    Raises:
        AgentError: if the agent has no parameters or the path another ending.
        OSError: if the files cannot be written.
    """
    path = Path(path)
    if path.suffix != _SUFFIX:
        raise AgentError(f"{path}: expected a name that ends with {_SUFFIX}")
    kind = next((name for name, own in _KINDS.items() if type(agent.config) is own), None)
    if kind is None:
        raise AgentError(f"an agent with {type(agent.config).__name__} has no parameters to save")
    params = {name: np.asarray(value) for name, value in _flatten(agent.params).items()}
    described = {**card, "network": kind, "config": dataclasses.asdict(agent.config)}
    text = json.dumps(described, indent=1) + "\n"
    _replace(path.with_suffix(".json"), lambda file: file.write_text(text))
    _replace(path, lambda file: safetensors.numpy.save_file(params, file))


def _load(path: Path) -> Agent:
    params = _read_params(path)
    config = _read_config(path.with_suffix(".json"))
    _check_params(path, params, _expected_params(config))
    if isinstance(config, SwiftConfig):  # it walks on the host
        return Agent(params=params, config=config)
    tree = flax.traverse_util.unflatten_dict(
        {name: jnp.asarray(value) for name, value in params.items()}, sep="/"
    )
    return Agent(params=tree, config=config)


def _read_config(card: Path) -> _Config:
    """The network configuration that a card holds."""
    try:
        described = json.loads(card.read_text(encoding="utf-8"))
        return _KINDS[described.get("network", "ecord")].from_dict(dict(described["config"]))
    except OSError as error:
        raise AgentError(f"{card}: {error.strerror}; it must lie beside the parameters") from None
    except AgentError as error:
        raise AgentError(f"{card}: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError):
        raise AgentError(f"{card}: not an agent's card with a field 'config'") from None


def _read_params(path: Path) -> dict[str, np.ndarray]:
    """Flat parameters by name."""
    try:
        return safetensors.numpy.load_file(path)
    except OSError as error:
        raise AgentError(f"{path}: {error.strerror or 'No such file or directory'}") from None
    except (SafetensorError, KeyError, ValueError):  # KeyError: a type that numpy lacks
        raise AgentError(f"{path}: not a whole {_SUFFIX} file of numbers") from None


def _expected_params(config: _Config) -> dict[str, jax.ShapeDtypeStruct]:
    """Names and shapes of the parameters of a configuration; nothing is computed."""
    if isinstance(config, SwiftConfig):
        shapes = param_shapes(config)
        return {name: jax.ShapeDtypeStruct(shape, np.float32) for name, shape in shapes.items()}

    def init() -> Any:
        arrays = from_dense(jnp.zeros((16, 16)), max_edges=16, row_block=8)
        return init_agent(config, arrays, jax.random.key(0)).params

    return _flatten(jax.eval_shape(init))


def _check_params(
    path: Path, params: dict[str, np.ndarray], expected: dict[str, jax.ShapeDtypeStruct]
) -> None:
    """Raises where parameters are not those of the configuration, all finite float32."""
    strange = sorted(expected.keys() ^ params.keys())
    if strange:
        kind = "missing" if strange[0] in expected else "not one of the card's configuration"
        raise AgentError(f"{path}: parameter {strange[0]!r} is {kind}")
    for name, value in params.items():
        shape = expected[name].shape
        if value.shape != shape:
            raise AgentError(f"{path}: {name!r} has shape {value.shape}; the card says {shape}")
        if value.dtype != np.float32 or not np.isfinite(value).all():
            raise AgentError(f"{path}: {name!r} has values that are not finite float32 numbers")


def _flatten(params: Any) -> dict[str, Any]:
    return flax.traverse_util.flatten_dict(params, sep="/")


def _replace(path: Path, write: Callable[[Path], Any]) -> None:
    """Writes a file under another name first, so that a cut-off run leaves the old one whole."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
