"""Where the time of an update goes: acting, sampling, replay, gradient and optimiser.

    python benchmarks/train_step.py --presets=er40,mixture --out=runs/train_step

Presets are those of experiments/train.py. `update` is the whole, as training runs it: one compiled
function, its state donated. The parts are compiled by themselves and timed in turns with it, so
they do not add up to it exactly: `act`, the steps of all trajectories, stored; `sample`, windows
out of the replay; `loss`, of those windows (both networks replay them); `loss and gradient`, that
and the way back; `optimiser`, Adam and the target's average.
"""

import dataclasses
import functools
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import common
import jax
import jax.numpy as jnp
import optax
from absl import flags

from ecord_jax.cli.common import run
from ecord_jax.errors import OptionError
from ecord_jax.learning.config import TrainConfig
from ecord_jax.learning.loss import batch_loss
from ecord_jax.learning.replay import cut_window, make_buffer
from ecord_jax.learning.update import TrainState, act, init_train_state, optimiser, update

_FLAGS = flags.FlagValues()
_PRESETS = flags.DEFINE_list("presets", ["er40", "mixture"], "Which.", flag_values=_FLAGS)
_REPEATS = flags.DEFINE_integer("repeats", 7, "Turns.", lower_bound=1, flag_values=_FLAGS)
_OUT, _JSON = common.define_output(_FLAGS)

_COLUMNS = ("part", "preset", "milliseconds", "spread", "percent")


def main(argv: Sequence[str]) -> None:
    """Prints a row a preset and part."""
    common.no_arguments(argv)
    presets = _presets()
    unknown = set(_PRESETS.value) - set(presets)
    if unknown:
        raise OptionError(f"flag --presets: {min(unknown)!r} is none of {', '.join(presets)}")
    report = common.Report("train_step", _COLUMNS, _OUT.value, _JSON.value)
    for name in _PRESETS.value:
        for row in _measure(presets[name]):
            report.add({**row, "preset": name})
    common.save_plot(report, "train_step", functools.partial(_draw, report.rows))
    report.finish()


def _presets() -> dict[str, TrainConfig]:
    """Those of experiments/configs/train.py, which is no package."""
    path = Path(__file__).resolve().parents[1] / "experiments" / "configs" / "train.py"
    spec = importlib.util.spec_from_file_location("train_presets", path)
    if spec is None or spec.loader is None:
        raise OptionError(f"{path}: not there")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PRESETS


def _measure(config: TrainConfig) -> list[dict[str, Any]]:
    state = init_train_state(config)
    fill = jax.jit(functools.partial(act, config), donate_argnums=0)
    for _ in range(-(-config.window // config.update_every)):
        state, _ = fill(state)
    found = common.interleaved(_parts(config, state), repeats=_REPEATS.value)
    whole = found["update"].median
    return [
        {
            "part": name,
            "milliseconds": 1e3 * timing.median,
            "spread": round(timing.spread, 3),
            "percent": 100 * timing.median / whole,
        }
        for name, timing in found.items()
    ]


def _parts(config: TrainConfig, state: TrainState) -> dict[str, Callable[[], Any]]:
    windows = jax.jit(functools.partial(_sample, config))(state)
    value = jax.jit(functools.partial(_loss, config))
    gradient = jax.jit(jax.value_and_grad(functools.partial(_loss, config), argnums=1))
    steps = jax.block_until_ready(gradient(state, state.agent.params, windows)[1])
    return {
        "update": _going_on(functools.partial(update, config), state),
        "act": _going_on(functools.partial(act, config), state),
        "sample": common.blocking(jax.jit(functools.partial(_sample, config)), state),
        "loss": common.blocking(value, state, state.agent.params, windows),
        "loss and gradient": common.blocking(gradient, state, state.agent.params, windows),
        "optimiser": common.blocking(jax.jit(functools.partial(_descend, config)), state, steps),
    }


def _going_on(function: Callable[[TrainState], Any], state: TrainState) -> Callable[[], None]:
    """Calls it on the state that the last call left, a copy at first: states are donated."""
    compiled, holder = jax.jit(function, donate_argnums=0), [jax.tree.map(jnp.copy, state)]

    def call() -> None:
        holder[0], _ = jax.block_until_ready(compiled(holder[0]))

    return call


def _sample(config: TrainConfig, state: TrainState) -> Any:
    sequences = make_buffer(config).sample(state.replay, state.key).experience
    return jax.vmap(functools.partial(cut_window, bptt=config.bptt))(sequences)


def _loss(config: TrainConfig, state: TrainState, params: Any, windows: Any) -> jax.Array:
    agent = dataclasses.replace(state.agent, params=params)
    target = dataclasses.replace(state.agent, params=state.target_params)
    return batch_loss(agent, target, state.pool, windows, config=config)[0]


def _descend(config: TrainConfig, state: TrainState, gradient: Any) -> Any:
    steps, opt_state = optimiser(config).update(gradient, state.opt_state)
    params = optax.apply_updates(state.agent.params, steps)
    average = optax.incremental_update(params, state.target_params, config.soft_update)
    return params, average, opt_state


def _draw(rows: Sequence[dict[str, Any]], axes: Any) -> None:
    for name in _PRESETS.value:
        own = [row for row in rows if row["preset"] == name]
        axes.bar(
            [f"{row['part']}\n{name}" for row in own],
            [row["milliseconds"] for row in own],
            label=name,
        )
    axes.set_ylabel("milliseconds")
    axes.tick_params(axis="x", labelrotation=90, labelsize=7)


if __name__ == "__main__":
    run(main, _FLAGS)
