"""Bytes and text of a user's file, plain or gzip; what goes wrong is a GraphFileError."""

from __future__ import annotations

import gzip
import os
import zlib

from ecord_jax.errors import GraphFileError

__all__ = ["read_text", "write_text"]

_GZIP_MAGIC = b"\x1f\x8b"


def read_text(path: str | os.PathLike[str]) -> str:
    """Reads a text file whole.

    Args:
      path: the file; gzip is told by its first bytes, whatever the file is called.

    Returns:
      The text with line ends as "\\n" and without a byte order mark. Bytes that are not UTF-8
      become surrogates, so that a reader can name the line they are on.

    Raises:
      GraphFileError: where the file is missing, may not be read, or is a broken gzip file.
    """
    try:
        with open(path, "rb") as file:
            content = file.read()
        if content.startswith(_GZIP_MAGIC):
            content = gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise GraphFileError(path, f"broken gzip file: {_cause(error)}") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL byte in it
        raise GraphFileError(path, _cause(error)) from None
    text = content.decode("utf-8-sig", "surrogateescape")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a text file whole, as gzip where its name ends with .gz.

    Args:
      path: the file; one that exists is replaced.
      text: what to write.

    Raises:
      GraphFileError: where it cannot be written.
    """
    content = text.encode("utf-8", "surrogateescape")
    if os.fspath(path).endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    try:
        with open(path, "wb") as file:
            file.write(content)
    except (OSError, ValueError) as error:
        raise GraphFileError(path, _cause(error)) from None


def _cause(error: Exception) -> str:
    """Says in one line what an error of the system is about; the path is not repeated."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__
