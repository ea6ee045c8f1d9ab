"""Feeds damaged files to every reader: a Graph, a Problem or our own error must come of it.

    python -m tests.fuzz_readers --examples=10000
    python -m tests.fuzz_readers --examples=1000 --formats=rudy,metis

Good files are changed at some places, by a few bytes or by what is known to be trouble, and read
with the format named and with the format told by the content. Any other exception, a message of
several lines, a read that takes long or much memory ends it, with the smallest such file.
"""

import bz2
import gzip
import lzma
import resource
import tempfile
import time
import warnings
from collections.abc import Sequence

from absl import flags
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecord_jax.cli.common import run
from ecord_jax.errors import EcordError, EcordWarning, OptionError
from ecord_jax.graphs import Graph, Problem, read_problem
from ecord_jax.graphs.io.formats import FORMATS, encode, read_any
from tests.graphs.test_format_faults import EXAMPLES, GOOD_BINARY

_FLAGS = flags.FlagValues()
_EXAMPLES = flags.DEFINE_integer(
    "examples", 10_000, "Files for each reader.", lower_bound=1, flag_values=_FLAGS
)
_FORMATS = flags.DEFINE_list("formats", list(FORMATS), "Which readers.", flag_values=_FLAGS)

MAX_SECONDS = 5.0
MAX_BYTES = 400 << 20
_TROUBLE = [
    b"1e999", b"-", b"+", b".", b"e", b"nan", b"inf", b"0x1", b"1_0", b"--1", b"0", b"-1", b"1.5",
    b"1000000000000", b"2147483647", b"2147483648", b"9223372036854775807", b"9223372036854775808",
    b"-9223372036854775808", b"99999999999999999999999", b"9" * 5000, b"1" + b"0" * 400,
    b"\0", b"\r", b"\n", b"\n\n", b" ", b"\t", b",", b";", b"#", b"%", b"c ", b"e ",
    b"p edge 9 9\n", b"p qubo 0 9 9 9\n",
    b"\xff", b"\xef\xbb\xbf", "\u00a0\u0661".encode(), b'"', b"[", b"]", b"{",
    b"}", b"[" * 3000, b"null", b"true", b"NaN", b"\\ud800", b"100000000", b"1 2 3\n", b"1 2\n",
]  # fmt: skip


def good_files(name: str) -> list[bytes]:
    """Files that a reader reads, or nearly: what its format writes, and its faulty examples."""
    graph = Graph.from_edges([(0, 1), (1, 2), (0, 3)], [1, 1, 1], names=range(1, 5))
    weighted = Graph.from_edges([(0, 1), (1, 2), (0, 2)], [2, -3, 0.5], names=range(3))
    named = Graph.from_edges([(0, 1), (1, 2)], [5, 7], names=("a", "b", "c"))
    spins = Problem.from_ising({0: 0.5, 1: -1, 2: 0}, {(0, 1): 1, (1, 2): 1}, 3)
    qubo = Problem.from_qubo({("a", "a"): -2, ("a", "b"): 4})
    files = [c if isinstance(c, bytes) else c.encode() for c in EXAMPLES[name].values()]
    files += [GOOD_BINARY[name]] if name in GOOD_BINARY else []
    for item in (graph, weighted, named, spins, qubo) if FORMATS[name].write else ():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EcordWarning)
            content = encode("file", item, name, lossy=True)
        files.append(content if isinstance(content, bytes) else content.encode())
    if name == "matrix-market":
        files.append(b"%%MatrixMarket matrix array real symmetric\n2 2\n0\n5\n1.5\n")
    if name == "metis":
        files += [b"% c\n3 2 11 1\n7 2 5\n7 1 5 3 6\n7 2 6\n", b"3 2\n2\n1 3\n2\n"]
    return files


@st.composite
def damaged(draw: st.DrawFn, name: str) -> bytes:
    """A file of a format with a few changes, now and then compressed."""
    data = draw(st.sampled_from(good_files(name)))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        length = draw(st.sampled_from([0, 0, 1, 1, 2, 3, 8, 40]))
        piece = draw(
            st.one_of(
                st.binary(max_size=3),
                st.sampled_from(_TROUBLE),
                st.just(data[start : start + length] * 2),
            )
        )
        data = data[:start] + piece + data[start + length :]
    squeeze = draw(st.sampled_from([None] * 20 + [gzip.compress, bz2.compress, lzma.compress]))
    return data if squeeze is None else squeeze(data)


def check(name: str, data: bytes, folder: str) -> None:
    """Reads a file in both ways; raises what is not one of our own errors of one line.

    Args:
      name: the format.
      data: what is in the file.
      folder: where the file may be written.
    """
    path = f"{folder}/file{(*FORMATS[name].suffixes, '')[0]}"
    with open(path, "wb") as file:
        file.write(data)
    for format, zero_based in ((None, False), (name, FORMATS[name].counted and len(data) % 2 == 0)):
        before, start, message = _peak(), time.monotonic(), "one line"
        try:
            item = read_any(path, format, zero_based=zero_based)
            assert isinstance(item, Graph | Problem)
            if FORMATS[name].write:
                encode(path, item, name)
            read_problem(path, format, zero_based=zero_based)
        except EcordError as error:
            message = str(error)
        assert len(message.splitlines()) == 1, message
        assert time.monotonic() - start < MAX_SECONDS, "it took long"
        assert _peak() - before < MAX_BYTES, "it took much memory"


def fuzz(name: str, examples: int, folder: str) -> None:
    """Checks so many damaged files of a format."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(damaged(name))
    def check_one(data: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", EcordWarning)
            check(name, data, folder)

    check_one()


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise OptionError(f"unexpected argument {argv[1]!r}; see --help")
    unknown = set(_FORMATS.value) - set(FORMATS)
    if unknown:
        raise OptionError(f"flag --formats: no format {min(unknown)!r}")
    for name in _FORMATS.value:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            fuzz(name, _EXAMPLES.value, folder)
        seconds = time.monotonic() - start
        print(f"{name}: {_EXAMPLES.value} files in {seconds:.0f} s", flush=True)


def _peak() -> int:
    """The most memory that the process has had at any time, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    run(main, _FLAGS)
