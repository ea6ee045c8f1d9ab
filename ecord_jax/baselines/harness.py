"""Running solvers on graphs with equal budgets, into a table that outlives a kill."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import math
import os
import platform
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
import scipy
from jax.experimental.compilation_cache import compilation_cache
from tqdm import tqdm

import ecord_jax
from ecord_jax.agents import load_agent
from ecord_jax.baselines.cases import Case
from ecord_jax.baselines.fair import TimedRun, run_fairly
from ecord_jax.baselines.registry import Solver
from ecord_jax.baselines.table import Key, Row, Table
from ecord_jax.errors import OptionError
from ecord_jax.graphs.io import write_labels
from ecord_jax.graphs.presolve import compile_rules
from ecord_jax.search.ahead import compile_walks
from ecord_jax.search.result import SolveResult
from ecord_jax.search.swift import swift_mover
from ecord_jax.search.walks import TABU

__all__ = ["Budget", "compare", "run_key", "shared_programs"]

_ENOUGH = "best_known"  # why a run has ended


class Budget(NamedTuple):
    """Attributes:
    trajectories: B.
    steps: of each trajectory, or None.
    factor: steps over |V|, or None.
    seconds: or None.
    """

    trajectories: int
    steps: int | None
    factor: float | None
    seconds: float | None

    def steps_for(self, case: Case) -> int | None:
        """Steps of each trajectory on a graph."""
        if self.factor is None:
            return self.steps
        return max(1, round(self.factor * case.graph.num_vertices))


def compare(
    cases: Sequence[Case],
    solvers: Sequence[Solver],
    seeds: Sequence[int],
    budget: Budget,
    table: Table,
    labels: Path | None = None,
    *,
    until_best_known: bool = False,
) -> None:
    """Runs what the table lacks, a graph after the other with all its solvers.

    Args:
        cases, solvers, seeds: all of each are run with all of the others.
        budget: of each run.
        table: what has been run, and where to add to it.
        labels: folder for the labels of each run; None for nowhere.
        until_best_known: whether a run ends as soon as it meets the best known cut of its graph.
            Until then it is the same run, and has the same key; without this one that has ended so
            is done again, as a whole.

    Raises:
        KeyboardInterrupt: where it has ended a run; that one is not in the table.
        OptionError: where a solver has other options now than in the table, since it was tuned on
            other graphs of the set.
    """
    done = {row.key for row in table.rows if until_best_known or row.stopped_by != _ENOUGH}
    todo = [
        (case, solver, seed, key)
        for case, solver, seed in itertools.product(cases, solvers, seeds)
        if (key := run_key(case, solver, seed, budget)) not in done
    ]
    tuned = functools.cache(functools.partial(_tune, cases, budget.trajectories))
    for case, solver, seed, key in tqdm(todo, leave=False, disable=None):
        ready, options = tuned(case.set, solver, seed)
        _check_tuning(table, case.set, key, options)
        enough = case.reference.value if until_best_known and case.reference else math.inf
        timed = run_fairly(
            ready,
            case.graph,
            key=_random_key(seed, case.name),
            trajectories=budget.trajectories,
            time_limit=budget.seconds,
            num_steps=key.step_limit,
            enough=enough,
        )
        stopped_by = _stopped_by(timed.result, enough)
        if labels is not None:
            labels.mkdir(exist_ok=True)
            budget_name = f"{budget.seconds:g}s" if budget.seconds else f"{key.step_limit}"
            parts = (case.name, solver.name, budget_name, str(seed))
            name = "_".join(parts).replace("/", "-").replace(":", "-")
            write_labels(labels / f"{name}.txt", case.graph, timed.result.labels)
        table.add(_row(case, key, options, timed, stopped_by), timed.curve)


def _random_key(seed: int, name: str) -> jax.Array:
    """The same for a graph or set, whatever else is compared."""
    return jax.random.fold_in(jax.random.key(seed), zlib.crc32(name.encode()))


def _tune(
    cases: Sequence[Case], trajectories: int, set_: str, solver: Solver, seed: int
) -> tuple[Solver, str]:
    """What runs on a set, and the options that were found for it."""
    graphs = [case.graph for case in cases if case.set == set_]
    key = _random_key(seed, f"tune {set_}")
    ready, found = solver.tuned(graphs, key=key, trajectories=trajectories)
    return ready, " ".join(f"{name}={value}" for name, value in found.items())


def _check_tuning(table: Table, set_: str, key: Key, options: str) -> None:
    wanted = (set_, key.solver, key.seed, key.trajectories)
    for row in table.rows:
        same = (row.set, row.solver, row.seed, row.trajectories) == wanted
        if same and row.options != options:
            raise OptionError(
                f"{key.solver} on {set_}: tuned to {options} on these graphs, to {row.options} in "
                "the table; choose another --out"
            )


def run_key(case: Case, solver: Solver, seed: int, budget: Budget) -> Key:
    """What tells a run apart."""
    limits = budget.trajectories, budget.steps_for(case), budget.seconds
    return Key(case.name, case.fingerprint, solver.name, seed, *limits)


def _stopped_by(result: SolveResult, enough: float) -> str:
    if result.stopped_by != "interrupted":
        return result.stopped_by
    if result.cut < enough:
        raise KeyboardInterrupt  # which the solver took for itself
    return _ENOUGH


def _row(case: Case, key: Key, options: str, timed: TimedRun, stopped_by: str) -> Row:
    """The row of a run, whose cut is counted again here."""
    cut, reference = case.graph.cut(timed.result.labels), case.reference
    labels = np.asarray(timed.result.labels, np.int8)
    return Row(
        **key._asdict(),
        set=case.set,
        vertices=case.graph.num_vertices,
        edges=case.graph.num_edges,
        options=options,
        cut=cut,
        reference=None if reference is None else reference.value,
        ratio=cut / reference.value if reference is not None and reference.value > 0 else None,
        paper_reference=None if reference is None else reference.paper_value,
        seconds=round(timed.seconds, 6),
        compile_seconds=round(timed.compile_seconds, 6),
        best_seconds=round(next(p.seconds for p in timed.curve if p.cut >= cut), 6),
        steps=timed.result.steps,
        stopped_by=stopped_by,
        labels_sha256=hashlib.sha256(labels.tobytes()).hexdigest(),
        versions=_versions(),
        machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        device=jax.devices()[0].device_kind,
    )


def _versions() -> str:
    modules = {"ecord-jax": ecord_jax, "jax": jax, "numpy": np, "scipy": scipy}
    versions = {"python": platform.python_version()}
    versions |= {name: module.__version__ for name, module in modules.items()}
    return "; ".join(f"{name} {version}" for name, version in versions.items())


@contextlib.contextmanager
def shared_programs() -> Iterator[None]:
    """Lets what is compiled be found again, by solvers that would compile it at each call, too.

    What `solve` compiles beside its search is compiled before.
    """
    for dtype in (np.dtype(np.int64), np.dtype(np.float64)):
        compile_rules(dtype)
        compile_walks(dtype, [TABU, swift_mover(load_agent("swift"))])
    names = (
        "jax_compilation_cache_dir",
        "jax_persistent_cache_min_compile_time_secs",
        "jax_persistent_cache_min_entry_size_bytes",
    )
    before = {name: getattr(jax.config, name) for name in names}
    with tempfile.TemporaryDirectory() as folder:
        try:
            for name, value in zip(names, (folder, 0.0, -1), strict=True):
                jax.config.update(name, value)
            compilation_cache.reset_cache()
            yield
        finally:
            for name, value in before.items():
                jax.config.update(name, value)
            compilation_cache.reset_cache()
