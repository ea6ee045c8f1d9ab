"""What every binary does around its own main: flags, errors in one line, exit statuses.

Exit statuses: what main returns, 2 for bad input, 130 after Ctrl-C, 141 where the reader of the
output went away (as the shell counts SIGPIPE).
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn, TextIO

from absl import flags

from ecord_jax.errors import EcordError, EcordWarning, OptionError

__all__ = ["define_format", "parse_refresh", "parse_temperature", "positionals", "run"]

_BAD_INPUT = 2
_INTERRUPTED = 130
_BROKEN_PIPE = 141


def run(
    main: Callable[[Sequence[str]], int | None],
    flag_values: flags.FlagValues = flags.FLAGS,
    *,
    program: str | None = None,
    argv: Sequence[str] | None = None,
) -> NoReturn:
    """Parses the command line, calls `main` and ends the process.

    A wrong flag, an EcordError or a file that the system refuses ends with one line on stderr and
    status 2. `--help` prints the docstring of main's module and its flags.

    Args:
      main: takes the program's name and the arguments that are no flags, as absl's does; gives the
        exit status, None for 0.
      flag_values: where main's module defined its flags.
      program: the name that messages begin with; that of the file called by default.
      argv: the command line, sys.argv by default.

    Raises:
      SystemExit: always, with the exit status.
    """
    argv = list(sys.argv if argv is None else argv)
    program = program or os.path.basename(argv[0])
    try:
        with _warnings_in_one_line(program):
            status = _parse_and_call(main, flag_values, argv)
        sys.stdout.flush()  # here, where a broken pipe is still caught
    except BrokenPipeError:
        # Python flushes once more at exit, which must find somewhere to write to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = _BROKEN_PIPE
    except KeyboardInterrupt:
        status = _complain(program, "interrupted", _INTERRUPTED)
    except OSError as error:
        cause = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        status = _complain(program, cause, _BAD_INPUT)
    except (EcordError, flags.Error) as error:
        status = _complain(program, str(error), _BAD_INPUT)
    sys.exit(status)


def define_format(flag_values: flags.FlagValues) -> tuple[flags.FlagHolder, flags.FlagHolder]:
    """Defines the flags --format and --zero_based of a program that reads a problem."""
    format_ = flags.DEFINE_string(
        "format", None, "The file's format, where it cannot be told.", flag_values=flag_values
    )
    zero_based = flags.DEFINE_boolean(
        "zero_based", False, "The file counts its vertices from 0.", flag_values=flag_values
    )
    return format_, zero_based


def positionals(argv: Sequence[str], *names: str) -> list[str]:
    """Gives the arguments that are no flags.

    Args:
      argv: what main was called with; the program's name is first.
      names: what the arguments are called in the usage, one each.

    Returns:
      As many arguments as there are names.

    Raises:
      OptionError: where there are more or fewer.
    """
    given = list(argv[1:])
    if len(given) < len(names):
        missing = " and ".join(names[len(given) :])
        raise OptionError(f"missing argument {missing}; see --help")
    if len(given) > len(names):
        raise OptionError(f"unexpected argument {given[len(names)]!r}; see --help")
    return given


def _parse_and_call(
    main: Callable[[Sequence[str]], int | None], flag_values: flags.FlagValues, argv: list[str]
) -> int:
    """Parses the flags and calls main, or prints the help that was asked for."""
    if "help" not in flag_values:
        flags.DEFINE_boolean("help", False, "Show this help.", flag_values=flag_values)
    rest = flag_values(argv)
    if flag_values["help"].value:
        _print_help(main, flag_values)
        return 0
    return main(rest) or 0


def _print_help(main: Callable[[Sequence[str]], int | None], flag_values: flags.FlagValues) -> None:
    """Prints what main's module says of itself and the flags that it defined."""
    module = sys.modules[main.__module__]
    print((module.__doc__ or "").strip())
    own = flag_values.get_flags_for_module(
        sys.argv[0] if main.__module__ == "__main__" else main.__module__
    )
    print("\nFlags:")
    for flag in sorted(own, key=lambda flag: flag.name):
        default = "" if flag.default is None else f" (default: {flag.default_as_str})"
        name = f"--[no]{flag.name}" if flag.boolean else f"--{flag.name}"
        print(f"  {name}: {flag.help}{default}")


def _complain(program: str, cause: str, status: int) -> int:
    """Says on one line of stderr what was wrong, and gives the status back."""
    _print_line(program, cause, sys.stderr)
    return status


def _print_line(program: str, text: str, file: TextIO) -> None:
    with contextlib.suppress(BrokenPipeError):
        print(f"{program}: {' '.join(text.split())}", file=file, flush=True)


@contextlib.contextmanager
def _warnings_in_one_line(program: str) -> Iterator[None]:
    """Shows the package's own warnings as the errors are shown, without a line of source."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_in_one_line(message, category, filename, lineno, file=None, line=None):
            if issubclass(category, EcordWarning):
                _print_line(program, f"warning: {message}", file or sys.stderr)
            else:
                show(message, category, filename, lineno, file, line)

        warnings.showwarning = show_in_one_line
        warnings.simplefilter("always", EcordWarning)
        yield


def parse_temperature(text: str) -> str | float | list[float]:
    """The flag as `solve` takes it."""
    if text == "auto":
        return text
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(
            f"flag --temperature={text}: expected auto, or numbers with commas between them"
        ) from None
    return values[0] if len(values) == 1 else values


def parse_refresh(text: str) -> str | int:
    """The flag --refresh_every as `solve` takes it."""
    if text == "auto":
        return text
    if not text.isdecimal():
        raise OptionError(f"flag --refresh_every={text}: expected auto or an integer")
    return int(text)
