"""Files that a program writes at its end, refused at its beginning where that would fail."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from ecord_jax.errors import OptionError

__all__ = ["check_writable", "write_whole"]


def check_writable(flag: str, path: str, *, inputs: tuple[str, ...] = ()) -> None:
    """Refuses a path that could not be written; leaves no trace.

    Args:
        flag: that gave the path, for the message.
        path: a file that may exist or not.
        inputs: files that it must not replace.

    Raises:
        OptionError: if its folder is missing or may not be written to, or it is one of `inputs`.
    """
    if path in ("", "-") or os.path.isdir(path):
        raise OptionError(f"flag --{flag}={path}: expected the name of a file")
    target = Path(os.path.realpath(path))
    if any(os.path.realpath(other) == str(target) for other in inputs):
        raise OptionError(f"flag --{flag}={path}: would replace the input")
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise OptionError(f"flag --{flag}={path}: Permission denied")
    if _is_special(path):
        return
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise OptionError(f"flag --{flag}={path}: {cause}") from None


def write_whole(path: str, write: Callable[[str], object]) -> None:
    """Writes a file under another name first, so that it appears whole or not at all.

    Args:
        path: one that exists is replaced; what is no regular file (/dev/stdout, a pipe) is written
            to as it is.
        write: writes the file that it is given, whose name ends as that of `path`.
    """
    if _is_special(path):
        write(path)
        return
    target = Path(os.path.realpath(path))  # a link is kept, and what it points to replaced
    unfinished = target.with_name(f".{os.getpid()}.{target.name}")
    try:
        write(str(unfinished))
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _is_special(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path)
