"""Downloads the 71 GSet graphs and checks that they are those of the literature.

    python experiments/fetch_gset.py --out=gset
    python experiments/fetch_gset.py --out=gset --graphs=G22,G55,G70

Each graph becomes NAME.txt, as the site has it, once the fingerprint of its edges is right. What is
there and right is not fetched again; a download that was cut short goes on where it stopped, in the
same call or the next. A file that is there and wrong is renamed to NAME.txt.wrong. The status is 0
where all graphs that were asked for are there in the end, else 2.
"""

import contextlib
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from absl import flags

from ecord_jax.cli.common import positionals, run
from ecord_jax.errors import EcordError, GraphFileError, OptionError
from ecord_jax.graphs import read_graph
from ecord_jax.graphs.fingerprint import fingerprint, gset_graphs

_FLAGS = flags.FlagValues()
_OUT = flags.DEFINE_string("out", None, "Folder; made where it is missing.", flag_values=_FLAGS)
_GRAPHS = flags.DEFINE_list("graphs", None, "Names; all 71 by default.", flag_values=_FLAGS)
_URL = flags.DEFINE_string(
    "url",
    "https://web.stanford.edu/~yyye/yyye/Gset/",
    "Where the graphs are, each by its name; that of a mirror where the site is down.",
    flag_values=_FLAGS,
)
_TIMEOUT = flags.DEFINE_float(
    "timeout", 30.0, "Seconds without an answer.", lower_bound=0.001, flag_values=_FLAGS
)
_RETRIES = flags.DEFINE_integer(
    "retries", 3, "Tries after a failed one.", lower_bound=0, flag_values=_FLAGS
)

FIRST_PAUSE = 1.0  # seconds before a retry; each next pause is twice as long
_CHUNK = 2**16
_LARGEST = 2**24  # bytes; the largest graph has less than 2**20
_BUSY = (408, 425, 429, 500, 502, 503, 504)  # answers after which another try may help


class UnreachableError(EcordError):
    """The server does not answer: the other graphs will not come either."""


class _CutShortError(Exception):
    """A try that ended early; what has come is kept."""


def fetch(url: str, path: Path, *, timeout: float, retries: int) -> None:
    """Downloads one file in as many tries as are needed; each goes on where the last one stopped.

    Args:
        url: of the file.
        path: where to put it. What is there already is taken for its beginning.
        timeout: seconds that the server may be silent.
        retries: how often to try again after a time-out, a broken connection or a busy server.

    Raises:
        UnreachableError: if no try gets through.
        EcordError: if the server refuses the file.
    """
    for attempt in range(retries + 1):
        if attempt:
            time.sleep(FIRST_PAUSE * 2 ** (attempt - 1))
        try:
            _fetch_once(url, path, timeout)
            return
        except _CutShortError as error:
            cause = str(error)
    tries = "1 try" if retries == 0 else f"{retries + 1} tries"
    raise UnreachableError(
        f"cannot download {url}: {cause} ({tries}); check the connection, or name a mirror by "
        "--url; what has come is kept"
    )


def _fetch_once(url: str, path: Path, timeout: float) -> None:
    """One try; raises _CutShortError where the file is not whole after it."""
    have = path.stat().st_size if path.exists() else 0
    headers = {"User-Agent": "ecord_jax", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with _network_errors():
        try:
            response = urllib.request.urlopen(
                urllib.request.Request(url, headers=headers), timeout=timeout
            )
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 416 and have:  # nothing comes after what we have, or it is not its
                path.unlink()
                raise _CutShortError("the server has no more of it") from None
            if error.code in _BUSY:
                raise _CutShortError(f"HTTP status {error.code}") from None
            raise EcordError(f"{url}: HTTP status {error.code} {error.reason}") from None
    with response:
        goes_on = response.status == 206 and _start(response) == have
        if response.status == 206 and not goes_on:
            path.unlink()
            raise _CutShortError("the server sent another part of it")
        _save(response, path, have if goes_on else 0)


def _start(response: http.client.HTTPResponse) -> int | None:
    """First byte of a partial answer: `Content-Range: bytes FIRST-LAST/ALL`."""
    unit, _, numbers = response.headers.get("Content-Range", "").partition(" ")
    first = numbers.partition("-")[0]
    return int(first) if unit == "bytes" and first.isdecimal() else None


def _save(response: http.client.HTTPResponse, path: Path, start: int) -> None:
    """Writes an answer to the file from byte `start` on, as far as it comes."""
    length = response.headers.get("Content-Length", "")
    expected = start + int(length) if length.isdecimal() else None
    size = start
    with open(path, "ab" if start else "wb") as file:
        while True:
            with _network_errors():
                chunk = response.read1(_CHUNK)
            if not chunk:
                break
            file.write(chunk)
            size += len(chunk)
            if size > _LARGEST:
                break
    if size > _LARGEST:
        path.unlink()
        raise EcordError(f"{response.url}: more than {_LARGEST} bytes, so no GSet graph")
    if expected is not None and size < expected:
        raise _CutShortError(f"cut off after {size} of {expected} bytes")


@contextlib.contextmanager
def _network_errors() -> Iterator[None]:
    """Makes one kind of error of all that a connection can raise, but not of a full disk's."""
    try:
        yield
    except urllib.error.URLError as error:
        raise _CutShortError(_cause(error.reason)) from None
    except (OSError, http.client.HTTPException) as error:
        raise _CutShortError(_cause(error)) from None


def _cause(reason: object) -> str:
    """Says in a few words what a connection failed of."""
    if isinstance(reason, TimeoutError):
        return "timed out"
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__


def fault(path: Path, name: str) -> str | None:
    """Says what is wrong with the file of a GSet graph; None for a right one."""
    try:
        graph = read_graph(path)
    except GraphFileError as error:
        return f"no graph ({error})"
    wanted = gset_graphs()[name]
    if fingerprint(graph) == wanted.fingerprint:
        return None
    return (
        f"another graph: {graph.num_vertices} vertices, {graph.num_edges} edges of total weight "
        f"{graph.weights.sum()}, SHA-256 {fingerprint(graph)[:12]}...; expected "
        f"{wanted.num_vertices}, {wanted.num_edges}, {wanted.total_weight}, "
        f"{wanted.fingerprint[:12]}..."
    )


def fetch_graph(name: str, folder: Path, url: str, *, timeout: float, retries: int) -> str:
    """Makes sure that a graph is in the folder.

    Returns:
        What was done, in a few words.

    Raises:
        UnreachableError: if the server does not answer.
        EcordError: if what it sends is not the graph; then nothing is left of it.
    """
    target = folder / f"{name}.txt"
    note = "fetched"
    if target.exists():
        cause = fault(target, name)
        if cause is None:
            return "already there"
        target.replace(f"{target}.wrong")
        note = f"fetched anew; the old file, now {target.name}.wrong, is {cause}"
    partial = folder / f"{name}.txt.part"
    resumed = partial.exists()
    place = urllib.parse.urljoin(url.rstrip("/") + "/", name)
    fetch(place, partial, timeout=timeout, retries=retries)
    cause = fault(partial, name)
    if cause and resumed:  # the beginning may have been of another file
        partial.unlink()
        fetch(place, partial, timeout=timeout, retries=retries)
        cause = fault(partial, name)
    if cause:
        partial.unlink()
        raise EcordError(f"{place} is {cause}")
    partial.replace(target)
    return note


def main(argv: Sequence[str]) -> int:
    """Fetches the graphs that the flags ask for."""
    positionals(argv)
    if not _OUT.value:
        raise OptionError("flag --out is needed: the folder to write to")
    if urllib.parse.urlsplit(_URL.value).scheme not in ("http", "https"):
        raise OptionError(f"flag --url={_URL.value}: expected http://... or https://...")
    names = list(gset_graphs()) if _GRAPHS.value is None else _GRAPHS.value
    for name in names:
        if name not in gset_graphs():
            raise OptionError(f"flag --graphs: {name!r} is none of the 71 GSet graphs")
    folder = Path(_OUT.value)
    folder.mkdir(parents=True, exist_ok=True)
    failed: dict[str, EcordError] = {}
    for name in names:
        try:
            done = fetch_graph(
                name, folder, _URL.value, timeout=_TIMEOUT.value, retries=_RETRIES.value
            )
        except UnreachableError:
            raise
        except EcordError as error:
            failed[name] = error
            done = f"failed: {error}"
        print(f"{name}: {done}", flush=True)
    if failed:
        first = next(iter(failed.values()))
        listed = ", ".join(failed)
        raise EcordError(f"{len(failed)} of {len(names)} graphs failed ({listed}); first: {first}")
    return 0


if __name__ == "__main__":
    run(main, _FLAGS)
