"""The host loop of a training run: log, validate, save. Everything else is in `update`."""

from __future__ import annotations

import dataclasses
import functools
import json
import time
from pathlib import Path
from typing import Any

import jax
from tqdm import tqdm

from ecord_jax.agents import save_agent
from ecord_jax.errors import AgentError, OptionError
from ecord_jax.learning.checkpoint import Checkpoints
from ecord_jax.learning.config import TrainConfig
from ecord_jax.learning.log import MetricsLog, describe_run, plot_learning_curve
from ecord_jax.learning.update import TrainState, act, init_train_state, update
from ecord_jax.learning.validation import Score, Validation, make_validation, score
from ecord_jax.networks.agent import Agent

__all__ = ["train"]

_LOG_EVERY = 20  # updates between lines of metrics


@dataclasses.dataclass
class _Run:
    """What the loop changes."""

    state: TrainState
    best_params: Any
    best: Score = Score(float("-inf"), float("-inf"))
    best_update: int = 0
    updates: int = 0
    seconds: float = 0.0

    def progress(self) -> dict[str, Any]:
        names = ("best", "best_update", "updates", "seconds")
        return {name: getattr(self, name) for name in names}


def _described(config: TrainConfig) -> Any:
    """What a checkpoint is of, as JSON has it. A run may be made longer, but not otherwise."""
    return json.loads(json.dumps(dataclasses.asdict(dataclasses.replace(config, num_updates=1))))


def train(
    config: TrainConfig,
    folder: Path,
    *,
    resume: bool = False,
    checkpoint_every: int = 500,
    show_progress: bool = False,
    command: str = "",
) -> Agent:
    """Trains an agent and leaves everything about it in a folder.

    Written there: `config.json` (resolved configuration, versions, commit), `metrics.jsonl`,
    `learning_curve.png`, `checkpoints/`, and `agent.safetensors` with its card `agent.json`: the
    agent that validated best.

    Args:
        config: the run.
        folder: made if needed; must not hold another run unless `resume`.
        resume: go on from the newest checkpoint, to the same parameters as without interruption.
        checkpoint_every: updates between checkpoints; the last update is always followed by one.
        show_progress: a progress bar on standard error.
        command: the command line, for the card.

    Returns:
        The best agent on validation.

    Raises:
        OptionError: if the folder holds a run and `resume` is not set.
        AgentError: if the checkpoint belongs to another configuration.
    """
    if not resume and (folder / "checkpoints").exists():
        raise OptionError(f"{folder}: holds a training run already; use --resume or another folder")
    folder.mkdir(parents=True, exist_ok=True)
    checkpoints = Checkpoints(folder / "checkpoints")
    run = _start(config, checkpoints if resume else None)
    describe_run(folder / "config.json", dataclasses.asdict(config), command)
    log = MetricsLog(folder / "metrics.jsonl", keep_until=run.updates)
    # Reference cuts take long: a run that is over does without.
    validation = functools.cache(functools.partial(make_validation, config))
    one_update = jax.jit(functools.partial(update, config), donate_argnums=0)
    bar = tqdm(total=config.num_updates, initial=run.updates, disable=not show_progress)
    clock = time.monotonic() - run.seconds
    while run.updates < config.num_updates:
        run.state, metrics = one_update(run.state)
        run.updates += 1
        bar.update()
        run.seconds = time.monotonic() - clock
        if run.updates % _LOG_EVERY == 0:
            log.write(run.updates, run.seconds, jax.device_get(metrics))
        last = run.updates == config.num_updates
        if run.updates % config.validate_every == 0 or last:
            _validate(config, run, validation(), log)
            bar.set_postfix_str(f"validation {run.best.best:.4f} at {run.best_update}")
            _save_best(config, run, folder, command)
        if run.updates % checkpoint_every == 0 or last:
            tree = {"state": run.state, "best_params": run.best_params}
            progress = {"config": _described(config), **run.progress()}
            checkpoints.save(run.updates, tree, progress)
    bar.close()
    checkpoints.close()
    plot_learning_curve(folder / "metrics.jsonl", folder / "learning_curve.png")
    return dataclasses.replace(run.state.agent, params=run.best_params)


def _start(config: TrainConfig, checkpoints: Checkpoints | None) -> _Run:
    """A fresh run with a replay that holds one window, or the newest checkpoint."""
    state = init_train_state(config)
    run = _Run(state, best_params=jax.tree.map(lambda x: x.copy(), state.agent.params))
    found = checkpoints and checkpoints.restore(
        {"state": run.state, "best_params": run.best_params}
    )
    if checkpoints and found:
        tree, progress = found
        if progress.pop("config", None) != _described(config):
            raise AgentError(f"{checkpoints.folder}: belongs to another configuration")
        run = _Run(tree["state"], tree["best_params"], **progress)
        run.best = Score(*run.best)
        return run
    fill = jax.jit(functools.partial(act, config), donate_argnums=0)
    for _ in range(-(-config.window // config.update_every)):
        run.state, _ = fill(run.state)
    return run


def _validate(config: TrainConfig, run: _Run, validation: Validation, log: MetricsLog) -> None:
    """Scores the agent and keeps it if it is the best so far."""
    params = run.state.target_params if config.averaged else run.state.agent.params
    found = score(config, dataclasses.replace(run.state.agent, params=params), validation)
    values = {"validation_best": found.best, "validation_mean": found.mean}
    log.write(run.updates, run.seconds, values)
    if found > run.best:
        run.best, run.best_update = found, run.updates
        # The state is donated to the next update: keep a copy.
        run.best_params = jax.tree.map(lambda x: x.copy(), params)


def _save_best(config: TrainConfig, run: _Run, folder: Path, command: str) -> None:
    card = {
        **json.loads((folder / "config.json").read_text()),
        "command": command,
        "seed": config.seed,
        "updates": run.best_update,
        "training_seconds": round(run.seconds, 1),
        "validation": {
            "graphs": config.validation_graphs,
            "trajectories": config.validation_trajectories,
            "reference": "softmax over peeks, best of five temperatures, four times the steps",
            **run.best._asdict(),
        },
    }
    save_agent(
        dataclasses.replace(run.state.agent, params=run.best_params),
        folder / "agent.safetensors",
        card,
    )
