"""Looks for a large cut of a graph, or good values of a QUBO or Ising problem.

Usage: ecord-solve FILE [--time_limit=SECONDS] [--num_steps=STEPS] [--out=VALUES] [--json] ...

FILE is of any format in docs/formats.md, as GSet's rudy text, compressed or not; - is standard
input. Without a limit it runs 30 seconds; the time limit is for everything but --bound, reading and
compiling included. Ctrl-C ends the search and keeps the best so far. Exit status: 0 where there is
an answer, 2 for a bad file or flag.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

from absl import flags

from ecord_jax.cli import common
from ecord_jax.cli.caches import keep_compiled
from ecord_jax.cli.output import check_writable, write_whole
from ecord_jax.cli.report import to_fields, to_lines
from ecord_jax.errors import OptionError

if TYPE_CHECKING:
    from ecord_jax.graphs import Graph, Problem
    from ecord_jax.search.result import Progress, SolveResult
    from ecord_jax.search.solve import Move

__all__ = ["entry", "main"]

_START = time.monotonic()  # before JAX is imported, which is part of the time that a user waits
_PROGRAM = "ecord-solve"
_DEFAULT_SECONDS = 30.0
_LEAST_SECONDS = 1e-3  # where reading took all the time: enough for labels that are a cut
_FLAGS = flags.FlagValues()
_TIME_LIMIT = flags.DEFINE_float(
    "time_limit",
    None,
    "Seconds for everything but --bound; 30 if no limit is given.",
    flag_values=_FLAGS,
)
_NUM_STEPS = flags.DEFINE_integer(
    "num_steps", None, "Flips of each trajectory.", lower_bound=1, flag_values=_FLAGS
)
_TRAJECTORIES = flags.DEFINE_integer(
    "trajectories", 20, "Searches side by side.", lower_bound=1, flag_values=_FLAGS
)
_TEMPERATURE = flags.DEFINE_string(
    "temperature",
    "auto",
    "Of the softmax that picks vertices: auto, a number, or numbers with commas between them that "
    "are dealt out to the trajectories; 0 is greedy.",
    flag_values=_FLAGS,
)
_REFRESH = flags.DEFINE_string(
    "refresh_every",
    "auto",
    "Steps between two looks at all vertices, see `ecord_jax.solve`; 1 is the paper's step.",
    flag_values=_FLAGS,
)
_AGENT = flags.DEFINE_string(
    "agent", "swift", "A shipped agent's name, or a .safetensors file.", flag_values=_FLAGS
)
_SEED = flags.DEFINE_integer(
    "seed", 0, "Of the random draws.", lower_bound=0, upper_bound=2**32 - 1, flag_values=_FLAGS
)
_OUT = flags.DEFINE_string(
    "out", None, "File for the sides or values, one `name value` a line.", flag_values=_FLAGS
)
_PLOT = flags.DEFINE_string(
    "plot", None, "File for a picture (PNG) of the best cut against time.", flag_values=_FLAGS
)
_BOUND = flags.DEFINE_boolean(
    "bound",
    False,
    "Compute an upper bound of the cut: beside the search of up to 2000 vertices, which ends where "
    "it reaches the bound, or after it, in time of its own: a minute for 10000 vertices; "
    "--time_limit ends the better part of it, too.",
    flag_values=_FLAGS,
)
_PRESOLVE = flags.DEFINE_boolean(
    "presolve", True, "Make the graph smaller by exact rules first.", flag_values=_FLAGS
)
_MOVE = flags.DEFINE_enum(
    "move",
    "mixed",
    ["mixed", "ecord", "tabu"],
    "Who flips vertices: the agent (ecord), tabu search, or both, more often the one that does "
    "better.",
    flag_values=_FLAGS,
)
_INIT = flags.DEFINE_enum(
    "init",
    "random",
    ["random", "equal", "rank2"],
    "Where trajectories start: at random, with all vertices on one side, or with rounded descents "
    "of the rank-2 relaxation.",
    flag_values=_FLAGS,
)
_ABLATE = flags.DEFINE_list(
    "ablate",
    [],
    "Ingredients to leave out: presolve, starts, merge, reheat, restart; see `ecord_jax.solve`.",
    flag_values=_FLAGS,
)
_FORMAT, _ZERO_BASED = common.define_format(_FLAGS)
_JSON = flags.DEFINE_boolean(
    "json", False, "Print one JSON object, as the last line.", flag_values=_FLAGS
)


def main(argv: Sequence[str]) -> int:
    # Imported here, so that Ctrl-C finds `common.run` in place.
    from ecord_jax.graphs import read_problem, write_values
    from ecord_jax.graphs.io.labels import check_names

    (path,) = common.positionals(argv, "FILE")
    limit = _parse_time_limit(_TIME_LIMIT.value)
    refresh = common.parse_refresh(_REFRESH.value)
    temperature = common.parse_temperature(_TEMPERATURE.value)
    _check_outputs(path)
    keep_compiled()
    before = time.monotonic()
    problem = read_problem(path, _FORMAT.value, zero_based=_ZERO_BASED.value)
    read_seconds = time.monotonic() - before
    if _OUT.value:
        check_names(problem.names)  # not after the search
    result = _solve(problem.graph, temperature, refresh, limit)
    values = problem.values(result.labels)
    with _handling_interrupts(signal.SIG_IGN):  # a second, impatient Ctrl-C must lose nothing
        seconds = {**result.seconds, "read": read_seconds, "total": time.monotonic() - _START}
        result = dataclasses.replace(result, seconds=seconds)
        try:
            if _OUT.value:
                write_whole(_OUT.value, lambda file: write_values(file, problem, values))
        finally:
            _print_result(problem, problem.objective(values), result)
    if _PLOT.value:
        from ecord_jax.cli.plot import plot_curve

        title = f"{os.path.basename(path)}: {result.cut}"
        write_whole(_PLOT.value, lambda file: plot_curve(result, file, title))
    return 0


def entry() -> NoReturn:
    """What the installed program calls."""
    try:
        common.run(main, _FLAGS, program=_PROGRAM)
    except SystemExit as end:
        if _is_compiling():
            # Python would wait for the compiler, which cannot be stopped.
            with contextlib.suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(int(end.code or 0))
        raise


def _solve(graph: Graph, temperature: Any, refresh_every: Any, limit: float | None) -> SolveResult:
    """Imports JAX and searches for what is left of the time."""
    with _progress_bar(limit, _NUM_STEPS.value) as show, _noted_interrupts() as interrupts:
        import jax

        from ecord_jax.search.solve import solve

        def on_progress(progress: Progress) -> None:
            if interrupts:
                raise KeyboardInterrupt
            show(progress)

        left = None if limit is None else max(limit - (time.monotonic() - _START), _LEAST_SECONDS)
        return solve(
            graph,
            agent=_AGENT.value,
            time_limit=left,
            num_steps=_NUM_STEPS.value,
            trajectories=_TRAJECTORIES.value,
            temperature=temperature,
            key=jax.random.key(_SEED.value),
            refresh_every=refresh_every,
            init=_INIT.value,
            move=cast("Move", _MOVE.value),
            presolve=_PRESOLVE.value,
            ablate=_ABLATE.value,
            bound=_BOUND.value,
            callback=on_progress,
        )


def _print_result(problem: Problem, objective: int | float, result: SolveResult) -> None:
    if _JSON.value:
        print(json.dumps(to_fields(problem, objective, result, seed=_SEED.value)))
    else:
        print(*to_lines(problem, objective, result), sep="\n")
    sys.stdout.flush()


def _parse_time_limit(limit: float | None) -> float | None:
    """Seconds since the program's start; None where only steps are counted."""
    if limit is None:
        return None if _NUM_STEPS.value is not None else _DEFAULT_SECONDS
    if not 0 < limit < math.inf:
        raise OptionError(f"flag --time_limit={limit}: expected a finite number above 0")
    return limit


def _check_outputs(graph_path: str) -> None:
    """Refuses files that could not be written, before any work is done for them."""
    if _OUT.value is not None:
        check_writable("out", _OUT.value, inputs=(graph_path,))
    if _PLOT.value is not None:
        check_writable("plot", _PLOT.value, inputs=(graph_path,))
        if _OUT.value is not None and os.path.realpath(_OUT.value) == os.path.realpath(_PLOT.value):
            raise OptionError(f"flag --plot={_PLOT.value}: is the file of --out, too")


@contextlib.contextmanager
def _progress_bar(
    limit: float | None, num_steps: int | None
) -> Iterator[Callable[[Progress], None]]:
    """Gives a function that moves a bar, or does nothing where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield lambda progress: None
        return
    from tqdm import tqdm

    form = "{percentage:3.0f}%|{bar}| {elapsed}{postfix}"
    with tqdm(total=1.0, bar_format=form) as bar:

        def show(progress: Progress) -> None:
            by_step = progress.step / num_steps if num_steps else 0.0
            by_time = (time.monotonic() - _START) / limit if limit else 0.0
            stage = f"step {progress.step}" if progress.step else "compiling"
            bar.set_postfix_str(f"{stage}, cut {progress.cut}", refresh=False)
            bar.update(min(max(by_step, by_time), 1.0) - bar.n)

        yield show


@contextlib.contextmanager
def _noted_interrupts() -> Iterator[list[int]]:
    """Gives a list to which Ctrl-C adds; a second one raises KeyboardInterrupt.

    An exception raised at any place would be lost where Python is called back by a library, as at
    each garbage collection under JAX, and end the process where a library is being imported.
    """
    interrupts: list[int] = []

    def note(signum: int, frame: Any) -> None:
        interrupts.append(signum)
        if len(interrupts) > 1:
            raise KeyboardInterrupt

    with _handling_interrupts(note):
        yield interrupts


@contextlib.contextmanager
def _handling_interrupts(handler: Any) -> Iterator[None]:
    """Has Ctrl-C handled in another way; no way where it does nothing by the caller's will."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_compiling() -> bool:
    module = sys.modules.get("ecord_jax.search.prepare")
    return module is not None and module.is_preparing()


if __name__ == "__main__":
    entry()
