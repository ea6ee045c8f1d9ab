"""Bytes and text of a user's file, plain or compressed; what goes wrong is a GraphFileError."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import dataclasses
import functools
import gc
import gzip
import json
import lzma
import os
import reprlib
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ecord_jax.errors import GraphFileError

__all__ = ["STANDARD", "Source", "plain_name", "read_source", "read_text", "write_text"]

STANDARD = "-"  # the path that means standard input, or standard output

_SHOWN = {True: "<standard input>", False: "<standard output>"}  # by whether it is read


class _Compression(NamedTuple):
    """A way to compress: gzip, bzip2 or xz.

    Attributes:
      name: what messages call it.
      suffix: that files are given when written.
      magic: the first bytes, by which files are told when read.
    """

    name: str
    suffix: str
    magic: bytes
    compress: Callable[[bytes], bytes]
    decompress: Callable[[bytes], bytes]


def _streams(
    start: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor],
) -> Callable[[bytes], bytes]:
    """Decompresses streams until the end; the libraries' functions pass over what is no stream."""

    def decompress(data: bytes) -> bytes:
        parts = []
        while data:
            stream = start()
            parts.append(stream.decompress(data))
            if not stream.eof:
                raise EOFError("the file ends too early")
            data = stream.unused_data.lstrip(b"\0")  # xz may be padded
        return b"".join(parts)

    return decompress


_COMPRESSIONS = (
    _Compression(
        "gzip",
        ".gz",
        b"\x1f\x8b",
        lambda data: gzip.compress(data, mtime=0),  # the same bytes every time
        gzip.decompress,
    ),
    _Compression("bzip2", ".bz2", b"BZh", bz2.compress, _streams(bz2.BZ2Decompressor)),
    _Compression("xz", ".xz", b"\xfd7zXZ\0", lzma.compress, _streams(lzma.LZMADecompressor)),
)
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # that of UTF-32 begins with one of them


@dataclasses.dataclass(frozen=True, eq=False)
class Source:
    """A file that was read, whole and decompressed.

    Attributes:
      path: what messages call the file.
      data: its bytes.
    """

    path: str
    data: bytes

    @functools.cached_property
    def text(self) -> str:
        """The text, line ends as "\\n" and without a byte order mark.

        Bytes that are not UTF-8 become surrogates, so that a reader can name the line they are on.

        Raises:
          GraphFileError: for UTF-16, which would be nothing but surrogates and zeros.
        """
        if self.data.startswith(_WIDE_MARKS):
            raise GraphFileError(self.path, "the text is UTF-16", expected="UTF-8")
        text = self.data.decode("utf-8-sig", "surrogateescape")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

    @functools.cached_property
    def json(self) -> Any:
        """What the text is as JSON.

        Raises:
          GraphFileError: where it is not JSON, nested too deep, has a key twice in one object, or
            NaN or Infinity, which JSON does not have.
        """
        try:
            with _no_collection():
                document = json.loads(self.text, parse_constant=_refuse_constant)
                if self.text.count(":") != _count_keys(document):
                    # A colon in a string, or a key that is there twice: slower, and sure.
                    json.loads(self.text, object_pairs_hook=_refuse_repeats)
                return document
        except json.JSONDecodeError as error:
            raise self.error(f"broken JSON: {error.msg}", line=error.lineno) from None
        except (RecursionError, ValueError) as error:
            cause = "nested too deep" if isinstance(error, RecursionError) else _cause(error)
            raise self.error(f"broken JSON: {cause}") from None

    def error(
        self, cause: str, *, line: int | None = None, expected: str | None = None
    ) -> GraphFileError:
        """Makes the error that blames this file.

        Args:
          cause: what is wrong.
          line: 1-based number of the line to blame and to quote, if there is one.
          expected: what should have been there.
        """
        lines = [] if line is None else self.text.split("\n", line)
        got = "".join(lines[line - 1 : line]).strip(" \t") if line is not None else None
        return GraphFileError(self.path, cause, line=line, got=got, expected=expected)


def read_source(path: str | os.PathLike[str]) -> Source:
    """Reads a file whole.

    Args:
      path: the file, or "-" for standard input. gzip, bzip2 and xz are told by their first bytes,
        whatever the file is called.

    Raises:
      GraphFileError: where the file is missing, may not be read, or is damaged.
    """
    shown = _shown(path, reading=True)
    try:
        if shown is path:
            with open(path, "rb") as file:
                data = file.read()
        else:
            data = sys.stdin.buffer.read()
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL byte in it
        raise GraphFileError(shown, _cause(error)) from None
    for kind in _COMPRESSIONS:
        if data.startswith(kind.magic):
            try:
                data = kind.decompress(data)
            except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error) as error:
                raise GraphFileError(shown, f"broken {kind.name} file: {_cause(error)}") from None
            break
    return Source(os.fspath(shown), data)


def read_text(path: str | os.PathLike[str]) -> str:
    """Reads a text file whole; see `read_source` and `Source.text`."""
    return read_source(path).text


def write_text(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Writes a file whole, compressed where its name ends with .gz, .bz2 or .xz.

    Args:
      path: the file, or "-" for standard output; one that exists is replaced.
      content: what to write.

    Raises:
      GraphFileError: where it cannot be written.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
    for kind in _COMPRESSIONS:
        if os.fspath(path).lower().endswith(kind.suffix):
            data = kind.compress(data)
    shown = _shown(path, reading=False)
    try:
        if shown is path:
            with open(path, "wb") as file:
                file.write(data)
        else:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
    except BrokenPipeError:  # the reader went away, which a program says by its exit status
        raise
    except (OSError, ValueError) as error:
        raise GraphFileError(shown, _cause(error)) from None


def plain_name(path: str | os.PathLike[str]) -> str:
    """The file's name, in small letters and without the suffix of a compression."""
    name = os.path.basename(os.fspath(path)).lower()
    for kind in _COMPRESSIONS:
        name = name.removesuffix(kind.suffix)
    return name


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Keeps Python from looking for garbage, which there is none of in millions of new objects."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _count_keys(document: Any) -> int:
    """How many keys an object has, and those in it or in lists in it; no more than there are."""
    parts = list(document.values()) if isinstance(document, dict) else []
    count = len(parts)
    for part in parts:
        if isinstance(part, dict):
            count += len(part)
        elif isinstance(part, list) and set(map(type, part)) == {dict}:
            count += sum(map(len, part))
    return count


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise ValueError(f"the key {reprlib.repr(twice)} is there twice in one object")
    return made


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _shown(path: str | os.PathLike[str], *, reading: bool) -> str | os.PathLike[str]:
    """What messages call a file: the path itself, unless it is "-"."""
    return _SHOWN[reading] if os.fspath(path) == STANDARD else path


def _cause(error: Exception) -> str:
    """Says in one line what an error of the system is about; the path is not repeated."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__
