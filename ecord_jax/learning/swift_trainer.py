"""The host loop of `swift`'s training: generations, validation, checkpoints, the agent and card.

Shape letters: I graphs of the validation, W walks from each.
"""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from ecord_jax.agents import save_agent
from ecord_jax.errors import AgentError, OptionError
from ecord_jax.learning.evolution import (
    EvolutionConfig,
    EvolutionState,
    final_cuts,
    first_state,
    generation,
    unpack,
)
from ecord_jax.learning.instances import Instance, draw_instance
from ecord_jax.learning.log import MetricsLog, describe_run
from ecord_jax.networks.agent import Agent

__all__ = ["train_swift"]

_CHECKPOINT = "checkpoint.npz"
_VALIDATION = 2**31  # its draws are none of a generation's
_GRAPHS = 36  # of a validation, at least one of each kind
_WALKS = 4  # from each of its graphs


@dataclasses.dataclass
class _Run:
    """What the loop changes."""

    state: EvolutionState
    best: np.ndarray
    best_score: float = 0.0  # that of the first vector, against itself
    best_at: int = 0
    seconds: float = 0.0


def train_swift(
    config: EvolutionConfig,
    folder: Path,
    *,
    resume: bool = False,
    validate_every: int = 5,
    show_progress: bool = False,
    command: str = "",
) -> Agent:
    """Trains `swift` and leaves everything about it in a folder.

    Written there: `config.json` (configuration, versions, commit), `metrics.jsonl`,
    `checkpoint.npz`, and `agent.safetensors` with its card `agent.json`: the mean that validated
    best. A validation is the mean over other graphs of the kinds trained on of what is won over the
    first vector, in standard deviations of the cuts of both.

    Args:
        config: the run.
        folder: made if needed; must not hold another run unless `resume`.
        resume: go on from the checkpoint, to the same vector as without interruption. A run made
            longer keeps the validation of its first end.
        validate_every: generations between validations.
        show_progress: a progress bar on standard error.
        command: the command line, for the card.

    Raises:
        OptionError: if the folder holds a run and `resume` is not set.
        AgentError: if the checkpoint belongs to another configuration or is none.
    """
    checkpoint = folder / _CHECKPOINT
    if checkpoint.exists() and not resume:
        raise OptionError(f"{folder}: holds a training run already; use --resume or another folder")
    first = first_state(config)
    folder.mkdir(parents=True, exist_ok=True)
    run = _load(checkpoint, config) if checkpoint.exists() else _Run(first, first.mean)
    if config.start.endswith(".safetensors"):  # what it begins at is trained by another command
        card = json.loads(Path(config.start).with_suffix(".json").read_text())
        command = " && ".join(filter(None, [card.get("command"), command]))
    describe_run(folder / "config.json", dataclasses.asdict(config), command)
    log = MetricsLog(folder / "metrics.jsonl", keep_until=run.state.done)
    instances = _validation(config)
    reference = _cuts(first.mean, config, instances)
    bar = tqdm(total=config.generations, initial=run.state.done, disable=not show_progress)
    clock = time.monotonic() - run.seconds
    while run.state.done < config.generations:
        run.state, metrics = generation(config, run.state)
        if run.state.done % validate_every == 0 or run.state.done == config.generations:
            metrics["validation"] = _gain(_cuts(run.state.mean, config, instances), reference)
            if metrics["validation"] > run.best_score:
                run.best, run.best_score = run.state.mean, metrics["validation"]
                run.best_at = run.state.done
        run.seconds = time.monotonic() - clock
        log.write(run.state.done, run.seconds, metrics)
        _save(checkpoint, config, run)
        bar.update()
        bar.set_postfix_str(f"validation {run.best_score:.2e} at {run.best_at}")
    bar.close()
    agent = Agent(unpack(run.best, config.network), config.network)
    save_agent(agent, folder / "agent.safetensors", _card(config, run, folder, instances))
    return agent


def _validation(config: EvolutionConfig) -> list[Instance]:
    rng = np.random.default_rng([config.seed, _VALIDATION])
    kinds = list(dict.fromkeys(config.kinds))  # each once, however often it is trained on
    kinds *= max(_GRAPHS // len(kinds), 1)
    return [draw_instance(kind, config.vertices, config.factors, rng) for kind in kinds]


def _cuts(vector: np.ndarray, config: EvolutionConfig, instances: list[Instance]) -> np.ndarray:
    """Best cuts float64 [I, W] of W walks from each graph."""
    return final_cuts(vector[None], config.network, instances, _WALKS)[0]


def _gain(cuts: np.ndarray, reference: np.ndarray) -> float:
    """The mean over graphs: no kind counts more because its cuts differ more."""
    spread = np.concatenate([cuts, reference], axis=1).std(axis=1)
    gain = cuts.mean(axis=1) - reference.mean(axis=1)
    return float((gain / np.where(spread > 0, spread, 1.0)).mean())


def _card(
    config: EvolutionConfig, run: _Run, folder: Path, instances: list[Instance]
) -> dict[str, Any]:
    return {
        **json.loads((folder / "config.json").read_text()),
        "seed": config.seed,
        "generations": run.best_at,
        "training_seconds": round(run.seconds, 1),
        "validation": {
            "graphs": len(instances),
            "walks": _WALKS,
            "reference": "the first vector, same labels and draws; in standard deviations",
            "gain": run.best_score,
        },
    }


def _save(path: Path, config: EvolutionConfig, run: _Run) -> None:
    """Writes the checkpoint under another name first, so that a cut-off run leaves a whole one."""
    unfinished = path.with_name("unfinished.npz")
    described = dataclasses.asdict(dataclasses.replace(config, generations=1))
    np.savez(
        unfinished,
        config=json.dumps(described),
        mean=run.state.mean,
        spread=run.state.spread,
        done=run.state.done,
        best=run.best,
        best_score=run.best_score,
        best_at=run.best_at,
        seconds=run.seconds,
    )
    unfinished.replace(path)


def _load(path: Path, config: EvolutionConfig) -> _Run:
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
        described = json.loads(str(found["config"]))
        state = EvolutionState(found["mean"], found["spread"], int(found["done"]))
        values = float(found["best_score"]), int(found["best_at"]), float(found["seconds"])
        run = _Run(state, found["best"], *values)
    except Exception:  # of damaged files numpy and zipfile raise nearly anything
        raise AgentError(f"{path}: not a checkpoint of this program") from None
    # A run may be made longer, but not otherwise different.
    wanted = json.dumps(dataclasses.asdict(dataclasses.replace(config, generations=1)))
    if described != json.loads(wanted):
        raise AgentError(f"{path}: belongs to another configuration")
    return run
