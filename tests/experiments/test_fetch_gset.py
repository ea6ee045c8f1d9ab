"""Tests of experiments/fetch_gset.py against a server of its own; no network is needed."""

import http.server
import re
import socket
import threading

import pytest

from ecord_jax.graphs import models
from ecord_jax.graphs.fingerprint import GsetGraph, fingerprint, gset_graphs
from ecord_jax.graphs.io.rudy import rudy_text

GRAPHS = {f"G{i}": models.erdos_renyi(60, 0.2, seed=i, weights="signed") for i in (1, 2, 3)}
TEXTS = {name: rudy_text(graph).encode() for name, graph in GRAPHS.items()}
TABLE = {
    name: GsetGraph(name, 60, graph.num_edges, int(graph.weights.sum()), fingerprint(graph))
    for name, graph in GRAPHS.items()
}


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as the server's `modes` say, one a request; `ok` when they are used up."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        name = self.path.rsplit("/", 1)[-1]
        wanted = self.headers.get("Range")
        self.server.requests.append((name, wanted))
        mode = self.server.modes.pop(0) if self.server.modes else "ok"
        body = self.server.texts.get(name)
        if mode == "slow":
            self.server.stop.wait(20)
            self.close_connection = True
        elif body is None:
            self.answer(404, b"not here")
        elif mode == "busy":
            self.answer(503, b"later")
        elif mode == "wrong":
            self.answer(200, self.server.texts["G2" if name != "G2" else "G1"])
        elif mode == "page":
            self.answer(200, b"<html>please log in</html>")
        elif mode == "truncated":
            self.answer(200, body[:100], length=len(body))
        elif mode == "no length, truncated":
            self.answer(200, body[:100], length=None)
        elif mode == "no range" or wanted is None:
            self.answer(200, body)
        else:
            self.answer_range(body, int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]), mode)

    def answer_range(self, body, first, mode):
        if first >= len(body):
            self.answer(416, b"")
            return
        first = 0 if mode == "other part" else first
        self.answer(206, body[first:], range=f"bytes {first}-{len(body) - 1}/{len(body)}")

    def answer(self, status, body, *, length=0, range=None):
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length or len(body)))
        if range:
            self.send_header("Content-Range", range)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.texts, server.modes, server.requests = dict(TEXTS), [], []
    server.stop = threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}/Gset"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.stop.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def program(load_program, monkeypatch):
    program = load_program("fetch_gset")
    monkeypatch.setattr(program, "gset_graphs", lambda: TABLE)
    monkeypatch.setattr(program, "FIRST_PAUSE", 0.001)
    return program


@pytest.fixture
def call(program, call_program, server, tmp_path):
    def call(*arguments, graphs="G1"):
        flags = [f"--out={tmp_path / 'gset'}", f"--url={server.url}", f"--graphs={graphs}"]
        return call_program(program, *flags, "--timeout=5", *arguments)

    return call


def left(tmp_path):
    return sorted(path.name for path in (tmp_path / "gset").iterdir())


def test_all_graphs_then_nothing_again(program, call_program, server, tmp_path):
    flags = [f"--out={tmp_path / 'new' / 'gset'}", f"--url={server.url}/"]
    status, out, err = call_program(program, *flags)
    assert (status, err) == (0, "")
    assert out.splitlines() == ["G1: fetched", "G2: fetched", "G3: fetched"]
    for name, text in TEXTS.items():
        assert (tmp_path / "new" / "gset" / f"{name}.txt").read_bytes() == text
    assert server.requests == [("G1", None), ("G2", None), ("G3", None)]
    status, out, _ = call_program(program, *flags)
    assert (status, out.splitlines()[0]) == (0, "G1: already there")
    assert len(server.requests) == 3


@pytest.mark.parametrize("mode", ["busy", "truncated", "slow"])
def test_a_failed_try_is_followed_by_another(call, server, tmp_path, mode):
    server.modes = [mode]
    assert call("--timeout=0.3" if mode == "slow" else "--timeout=5")[0] == 0
    assert left(tmp_path) == ["G1.txt"]
    assert (tmp_path / "gset" / "G1.txt").read_bytes() == TEXTS["G1"]
    assert server.requests == [("G1", None), ("G1", "bytes=100-" if mode == "truncated" else None)]


def test_a_later_call_goes_on_from_what_has_come(call, server, tmp_path):
    server.modes = ["truncated"]
    status, out, err = call("--retries=0")
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert f"cut off after 100 of {len(TEXTS['G1'])} bytes (1 try)" in err
    assert left(tmp_path) == ["G1.txt.part"]
    assert call("--retries=0")[:2] == (0, "G1: fetched\n")
    assert server.requests[-1] == ("G1", "bytes=100-")
    assert (tmp_path / "gset" / "G1.txt").read_bytes() == TEXTS["G1"]


@pytest.mark.parametrize("mode", ["no range", "other part"])
def test_a_server_that_cannot_go_on_sends_all_of_it(call, server, tmp_path, mode):
    (tmp_path / "gset").mkdir()
    (tmp_path / "gset" / "G1.txt.part").write_bytes(TEXTS["G1"][:50])
    server.modes = [mode]
    assert call()[0] == 0
    assert server.requests[0] == ("G1", "bytes=50-")
    assert (tmp_path / "gset" / "G1.txt").read_bytes() == TEXTS["G1"]
    assert left(tmp_path) == ["G1.txt"]


@pytest.mark.parametrize("part", [b"x" * 50, TEXTS["G1"], TEXTS["G1"] + b"more"])
def test_a_beginning_of_something_else_is_dropped(call, tmp_path, part):
    (tmp_path / "gset").mkdir()
    (tmp_path / "gset" / "G1.txt.part").write_bytes(part)
    assert call()[:2] == (0, "G1: fetched\n")
    assert (tmp_path / "gset" / "G1.txt").read_bytes() == TEXTS["G1"]
    assert left(tmp_path) == ["G1.txt"]


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("wrong", "is another graph: 60 vertices"),
        ("page", "is no graph"),
        ("no length, truncated", "is no graph"),
    ],
)
def test_what_is_not_the_graph_is_named_and_not_kept(call, server, tmp_path, mode, words):
    server.modes = ["ok", mode]
    status, out, err = call(graphs="G1,G2,G3")
    assert status == 2
    (line,) = err.splitlines()
    assert line.startswith("fetch_gset.py: 1 of 3 graphs failed (G2); first: ")
    assert words in line
    assert [text.split(":")[:2] for text in out.splitlines()][1] == ["G2", " failed"]
    assert left(tmp_path) == ["G1.txt", "G3.txt"]


def test_a_missing_graph_does_not_stop_the_others(call, server, tmp_path):
    del server.texts["G1"]
    status, _, err = call(graphs="G1,G2")
    assert status == 2
    assert "(G1)" in err
    assert "/Gset/G1: HTTP status 404" in err
    assert len(server.requests) == 2
    assert left(tmp_path) == ["G2.txt"]


def test_a_wrong_file_is_put_aside(call, tmp_path):
    (tmp_path / "gset").mkdir()
    (tmp_path / "gset" / "G1.txt").write_bytes(TEXTS["G2"])
    status, out, _ = call()
    assert status == 0
    assert "G1.txt.wrong, is another graph" in out
    assert left(tmp_path) == ["G1.txt", "G1.txt.wrong"]
    assert (tmp_path / "gset" / "G1.txt.wrong").read_bytes() == TEXTS["G2"]


def test_a_silent_server_times_out(call, server, tmp_path):
    server.modes = ["slow"] * 2
    status, _, err = call("--timeout=0.2", "--retries=1", graphs="G1,G2")
    assert status == 2
    (line,) = err.splitlines()
    assert "timed out (2 tries)" in line
    assert [name for name, _ in server.requests] == ["G1", "G1"]
    assert left(tmp_path) == []


def test_offline(program, call_program, tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    flags = [f"--out={tmp_path / 'gset'}", f"--url=http://127.0.0.1:{port}", "--retries=0"]
    status, out, err = call_program(program, *flags)
    assert (status, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("fetch_gset.py: cannot download http://127.0.0.1:")
    assert "refused" in line
    assert "check the connection, or name a mirror by --url" in line


def test_an_answer_without_end_is_cut(program, call, monkeypatch, tmp_path):
    monkeypatch.setattr(program, "_LARGEST", 300)
    status, _, err = call()
    assert status == 2
    assert "more than 300 bytes" in err
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--url=ftp://x/"], "--url=ftp://x/: expected http"),
        (["--graphs=G68"], "'G68' is none of the 71 GSet graphs"),
        (["--out="], "flag --out is needed"),
        (["--timeout=0"], "--timeout=0"),
        (["more"], "unexpected argument 'more'"),
    ],
)
def test_bad_flags(call, arguments, words):
    status, _, err = call(*arguments)
    assert status == 2
    assert len(err.splitlines()) == 1
    assert words in err


def test_a_real_graph(program, call_program, server, shared, tmp_path, monkeypatch):
    monkeypatch.setattr(program, "gset_graphs", gset_graphs)
    server.texts["G14"] = (shared / "data" / "gset" / "G14.txt.gz").read_bytes()
    flags = [f"--out={tmp_path}", f"--url={server.url}", "--graphs=G14"]
    assert call_program(program, *flags)[:2] == (0, "G14: fetched\n")
