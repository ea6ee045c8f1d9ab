"""Where programs keep what numba and JAX compile, so that a machine compiles each version once."""

from __future__ import annotations

import contextlib
import os
import warnings
import zlib
from pathlib import Path

__all__ = ["keep_compiled"]


def keep_compiled() -> None:
    """Has numba and JAX keep what they compile in the user's cache folder; to be called before
    either is imported.

    What the environment says already stands. A folder that cannot be written, or what is broken in
    it, is passed over in silence: it would only save time.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    _set_folder("NUMBA_CACHE_DIR", os.path.join(cache, "ecord_jax", "numba", _stamp()))
    _set_folder("JAX_COMPILATION_CACHE_DIR", os.path.join(cache, "ecord_jax", "jax"))
    # A start compiles many small programs, too, which together take as long as a large one.
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
    warnings.filterwarnings("ignore", message=".*persistent compilation cache")
    # XLA compares the machine's features with those that a program was compiled for, and logs
    # differences of its own making. Its errors are exceptions anyway.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def _set_folder(variable: str, folder: str) -> None:
    """Makes a folder and names it in the environment, if it can be written."""
    if variable in os.environ:
        return
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return
    if os.access(folder, os.W_OK | os.X_OK):
        os.environ[variable] = folder


def _stamp() -> str:
    """A name for the sources as they are.

    What is compiled has functions of several files in it, and numba looks at the loop's alone.
    """
    states = []
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        with contextlib.suppress(OSError):  # an editor's link to nowhere
            states.append((file.name, file.stat().st_size, file.stat().st_mtime_ns))
    return f"{zlib.crc32(repr(states).encode()):08x}"
