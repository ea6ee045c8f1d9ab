"""Errors and warnings that a user of the package can cause, and their one-line messages."""

from __future__ import annotations

import os

__all__ = [
    "AgentError",
    "EcordError",
    "EcordWarning",
    "GraphFileError",
    "MissingExtraError",
    "OptionError",
]

_MAX_QUOTED = 60  # characters of an offending text that a message repeats


class EcordError(ValueError):
    """Base of every error that a user's input can cause; its message is one line."""


class AgentError(EcordError):
    """An agent that does not exist, cannot be read or does not fit its config."""


class MissingExtraError(EcordError, ImportError):
    """A library that is not installed, because it belongs to an optional extra.

    Args:
      what: what needs it.
      library: the library.
      extra: the extra of this package that installs it.
    """

    def __init__(self, what: str, library: str, extra: str) -> None:
        super().__init__(f"{what} needs {library}: pip install 'ecord-jax[{extra}]'")
        self._args = (what, library, extra)

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        return type(self), self._args


class OptionError(EcordError):
    """A flag or an argument with a value that makes no sense."""


class GraphFileError(EcordError):
    """A file that cannot be read as what it should be.

    The message is ``FILE:LINE: cause (got 'text'); expected ...``, or ``FILE: cause`` where no
    single line is to blame.

    Attributes:
      path: the file, as the user named it.
      line: 1-based number of the offending line, or None.
      message: the whole message.

    Args:
      path: the file, as the user named it.
      cause: what is wrong, without a full stop.
      line: 1-based number of the offending line, if there is one.
      got: the offending text, if there is one; a long one is cut short.
      expected: what should have been there, if that is not plain from the cause.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        cause: str,
        *,
        line: int | None = None,
        got: str | None = None,
        expected: str | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self.line = line
        place = self.path if line is None else f"{self.path}:{line}"
        quoted = "" if got is None else f" (got {_quote(got)})"
        wanted = "" if expected is None else f"; expected {expected}"
        self.message = f"{place}: {cause}{quoted}{wanted}"
        super().__init__(self.path, cause)  # what pickle calls the constructor with

    def __str__(self) -> str:
        return self.message


class EcordWarning(UserWarning):
    """Input that was accepted, but not as it stood."""


def _quote(text: str) -> str:
    """Gives `text` in quotes on one line, cut short where it is long."""
    return repr(text if len(text) <= _MAX_QUOTED else text[: _MAX_QUOTED - 3] + "...")
