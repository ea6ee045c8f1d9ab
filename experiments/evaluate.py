"""Compares an agent's cuts with the best known ones on sets of graphs.

    python experiments/evaluate.py --agent=er40 --data=FOLDER --out=results/er40.csv
    python experiments/evaluate.py --agent=softmax --temperature=0,0.1,0.3 --sets=a.npz,b.npz

Each graph gets `--trajectories` episodes of `--steps_factor` |V| flips from random labels; its
ratio is the best cut of them over the best known one. A set is an npz file with arrays `n` [G],
`offsets` [G + 1], `edges` [E, 2], `weights` [E] and, where best known cuts are there, `opt` [G]:
the edges of graph g are rows offsets[g] to offsets[g + 1]. Any other file is one graph, as
`ecord-solve` reads it. Graphs without a best known cut above 0 are counted but stay out of the
ratios.
"""

import csv
import dataclasses
import functools
import json
import math
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from absl import flags
from tqdm import tqdm

from ecord_jax.agents import load_agent
from ecord_jax.cli.common import positionals, run
from ecord_jax.cli.output import check_writable, write_whole
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.arrays import GraphArrays, to_batch
from ecord_jax.graphs.io.sets import read_set
from ecord_jax.networks.agent import Agent, encode
from ecord_jax.networks.swift import SwiftConfig
from ecord_jax.search.chunk import search_chunk, start_search
from ecord_jax.search.swift import start_walk, survey
from ecord_jax.search.swift_state import WalkState
from ecord_jax.search.temperature import ladder
from ecord_jax.search.walks import num_processors

# The sets of the paper's first table that lie in the folder of --data.
DEFAULT_SETS = ("validation_ER_40", "validation_ER_60", "validation_BA_40", "validation_BA_60")

# Flags of its own, so that binaries that share a flag's name can be imported together.
_FLAGS = flags.FlagValues()
_AGENT = flags.DEFINE_string(
    "agent", "er40", "A shipped agent's name, or a .safetensors file.", flag_values=_FLAGS
)
_SETS = flags.DEFINE_list(
    "sets", None, "Files of graphs; names within --data if that is given.", flag_values=_FLAGS
)
_DATA = flags.DEFINE_string(
    "data", None, f"Folder of sets; {', '.join(DEFAULT_SETS)} by default.", flag_values=_FLAGS
)
_TRAJECTORIES = flags.DEFINE_integer(
    "trajectories", 50, "Episodes a graph.", lower_bound=1, flag_values=_FLAGS
)
_STEPS_FACTOR = flags.DEFINE_float(
    "steps_factor", 2.0, "Flips over |V|.", lower_bound=0.0, flag_values=_FLAGS
)
_TEMPERATURE = flags.DEFINE_list(
    "temperature",
    ["0"],
    "Of the softmax, 0 is greedy; or auto; several give a row each.",
    flag_values=_FLAGS,
)
_LIMIT = flags.DEFINE_integer(
    "limit", None, "Only the first graphs of a set.", lower_bound=1, flag_values=_FLAGS
)
_SEED = flags.DEFINE_integer("seed", 0, "Of labels and draws.", lower_bound=0, flag_values=_FLAGS)
_OUT = flags.DEFINE_string(
    "out", None, "CSV file; the configuration goes to .json beside it.", flag_values=_FLAGS
)


@dataclasses.dataclass(frozen=True)
class EvaluateConfig:
    """What is evaluated; the flags of the same names."""

    agent: str
    sets: tuple[str, ...]
    trajectories: int = 50
    steps_factor: float = 2.0
    temperatures: tuple[float | str, ...] = (0.0,)
    limit: int | None = None
    seed: int = 0


class Row(NamedTuple):
    """One line of the table.

    Attributes:
        set: name of the set.
        temperature: as asked for.
        graphs: how many there are.
        left_out: those of them without a best known cut above 0.
        ratio: mean over the others of (best cut of all trajectories / best known); NaN if there
            are none, as are the next four.
        low, high: 16th and 84th percentile of the same, the 68 % interval over graphs.
        mean_ratio: mean over graphs and trajectories.
        reached: part of the graphs whose best known cut is reached.
        cut: mean over all graphs of the best cut.
        seconds: compiling included.
    """

    set: str
    temperature: float | str
    graphs: int
    left_out: int
    ratio: float
    low: float
    high: float
    mean_ratio: float
    reached: float
    cut: float
    seconds: float


@functools.partial(jax.jit, static_argnames="num_steps")
def best_labels(
    agent: Agent,
    arrays: GraphArrays,
    labels: jax.Array,
    key: jax.Array,
    temperatures: jax.Array,
    last_step: int,
    *,
    num_steps: int,
) -> jax.Array:
    """One episode of each trajectory.

    Args:
        agent: who flips.
        arrays: one graph.
        labels: int8 [B, N], where to start.
        key: consumed.
        temperatures: float32 [B].
        last_step: length of the episode.
        num_steps: the same or more (static), so that graphs of many sizes share one program.

    Returns:
        int8 [B, N], the best labels of each trajectory.
    """
    search = start_search(agent, labels, temperatures, key)
    embeddings = encode(agent, arrays)
    search, _ = search_chunk(agent, arrays, embeddings, search, last_step, num_steps=num_steps)
    return search.trajectories.best_labels


def evaluate_set(
    config: EvaluateConfig,
    agent: Agent,
    graphs: Sequence[Graph],
    temperature: float | str,
    progress: Callable[[Sequence[int]], Any] = lambda graphs: graphs,
) -> np.ndarray:
    """Exact best cuts of all trajectories; see `evaluate_swift` for that agent.

    Args:
        config: whose trajectories, steps_factor and seed count.
        agent: who flips.
        graphs: G of them.
        temperature: of all trajectories, or "auto".
        progress: wraps the sequence of graphs' indices, as tqdm does.

    Returns:
        float64 [G, B].
    """
    if isinstance(agent.config, SwiftConfig):
        if temperature != "auto":
            raise OptionError("flag --temperature: this agent has learned its own; use auto")
        return evaluate_swift(config, agent, graphs, progress)
    batch = to_batch(graphs)
    temperatures = ladder(temperature, config.trajectories, agent.config)
    rng, key = np.random.default_rng(config.seed), jax.random.key(config.seed)
    steps = [round(config.steps_factor * graph.num_vertices) for graph in graphs]
    padded = batch.vertex_mask.shape[-1]
    cuts = []
    for g in progress(range(len(graphs))):
        arrays = jax.tree.map(lambda x, g=g: x[g], batch)
        labels = rng.integers(0, 2, (config.trajectories, padded), np.int8)
        found = best_labels(
            agent,
            arrays,
            labels,
            jax.random.fold_in(key, g),
            temperatures,
            steps[g],
            num_steps=max(steps),
        )
        sides = np.asarray(found)[:, : graphs[g].num_vertices]
        cuts.append([graphs[g].cut(row) for row in sides])
    return np.asarray(cuts, np.float64)


def evaluate_swift(
    config: EvaluateConfig,
    agent: Agent,
    graphs: Sequence[Graph],
    progress: Callable[[Sequence[int]], Any] = lambda graphs: graphs,
) -> np.ndarray:
    """The same for an agent that walks on the host, one walk a processor at a time."""

    def best(g: int, ground: WalkState, b: int) -> float:
        rng, graph = np.random.default_rng([config.seed, g, b]), graphs[g]
        labels = rng.integers(0, 2, graph.num_vertices, np.int8)
        walk = start_walk(ground, labels, rng)
        steps = round(config.steps_factor * graph.num_vertices)
        walk.advance(steps, max(steps, 1))
        return graph.cut(walk.best_labels)

    cuts = np.zeros((len(graphs), config.trajectories))
    with ThreadPoolExecutor(num_processors()) as pool:
        for g in progress(range(len(graphs))):
            if graphs[g].num_vertices:
                one = functools.partial(best, g, survey(agent, graphs[g]))
                cuts[g] = list(pool.map(one, range(config.trajectories)))
    return cuts


def make_row(
    name: str, temperature: float | str, cuts: np.ndarray, opt: np.ndarray, seconds: float
) -> Row:
    """Sums up a set: cuts float64 [G, B], best known cuts [G] or NaN."""
    known = opt > 0  # false for NaN
    ratios = cuts[known] / opt[known, None]
    best = ratios.max(axis=1)
    low, high = np.percentile(best, (16, 84)) if known.any() else (np.nan, np.nan)
    return Row(
        set=name,
        temperature=temperature,
        graphs=len(opt),
        left_out=int((~known).sum()),
        ratio=_mean(best),
        low=float(low),
        high=float(high),
        mean_ratio=_mean(ratios),
        reached=_mean(cuts[known].max(axis=1) >= opt[known]),
        cut=_mean(cuts.max(axis=1)),
        seconds=round(seconds, 2),
    )


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else float("nan")


def evaluate(config: EvaluateConfig, agent: Agent, *, show_progress: bool = False) -> list[Row]:
    """Evaluates every set at every temperature; prints a line for each as it comes."""
    sets = [(Path(path).stem, read_set(Path(path), config.limit)) for path in config.sets]
    print(_line(Row._fields))
    rows = []
    for name, (graphs, opt) in sets:
        bar = functools.partial(tqdm, desc=name, leave=False, disable=not show_progress)
        for temperature in config.temperatures:
            start = time.monotonic()
            cuts = evaluate_set(config, agent, graphs, temperature, bar)
            rows.append(make_row(name, temperature, cuts, opt, time.monotonic() - start))
            print(_line(rows[-1]), flush=True)
    return rows


def _line(values: Sequence[Any]) -> str:
    texts = [f"{value:.5g}" if isinstance(value, float) else str(value) for value in values]
    return f"{texts[0]:28}" + "".join(f"{text:>12}" for text in texts[1:])


def write_rows(config: EvaluateConfig, agent: Agent, rows: Sequence[Row], path: str) -> None:
    """Writes rows as CSV, and what they are of as JSON beside it."""

    def write_csv(file: str) -> None:
        with open(file, "w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow(Row._fields)
            writer.writerows(rows)

    described = {
        "command": shlex.join(["python", "experiments/evaluate.py", *sys.argv[1:]]),
        "config": dataclasses.asdict(config),
        "network": {type(agent.config).__name__: dataclasses.asdict(agent.config)},
        "backend": jax.default_backend(),
    }
    write_whole(path, write_csv)
    text = json.dumps(described, indent=1) + "\n"
    write_whole(str(Path(path).with_suffix(".json")), lambda file: Path(file).write_text(text))


def _config() -> EvaluateConfig:
    """The configuration that the flags describe."""
    folder = Path(_DATA.value or "")
    names = _SETS.value or (DEFAULT_SETS if _DATA.value else ())
    if not names:
        raise OptionError("flag --sets or --data is needed")
    try:
        temperatures = tuple(t if t == "auto" else float(t) for t in _TEMPERATURE.value)
    except ValueError:
        raise OptionError("flag --temperature: expected numbers or auto") from None
    if not math.isfinite(_STEPS_FACTOR.value):
        raise OptionError(f"flag --steps_factor={_STEPS_FACTOR.value}: expected a finite number")
    return EvaluateConfig(
        agent=_AGENT.value,
        sets=tuple(str(folder / (name if Path(name).suffix else f"{name}.npz")) for name in names),
        trajectories=_TRAJECTORIES.value,
        steps_factor=_STEPS_FACTOR.value,
        temperatures=temperatures,
        limit=_LIMIT.value,
        seed=_SEED.value,
    )


def main(argv: Sequence[str]) -> int:
    """Evaluates what the flags describe."""
    positionals(argv)
    config = _config()
    if _OUT.value is not None:
        if Path(_OUT.value).suffix != ".csv":
            raise OptionError(f"flag --out={_OUT.value}: expected a name that ends with .csv")
        check_writable("out", _OUT.value)
        beside = Path(_OUT.value).with_suffix(".json")
        if beside.exists() and not Path(_OUT.value).exists():
            raise OptionError(f"flag --out={_OUT.value}: {beside} is there, of something else")
    agent = load_agent(config.agent)
    rows = evaluate(config, agent, show_progress=sys.stderr.isatty())
    if _OUT.value is not None:
        write_rows(config, agent, rows, _OUT.value)
    return 0


if __name__ == "__main__":
    run(main, _FLAGS)
