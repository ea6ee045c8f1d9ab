"""Tests of ecord-solve, called as a user does."""

import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import jax
import numpy as np
import pytest

from ecord_jax.agents import save_agent
from ecord_jax.cli import caches, output, solve
from ecord_jax.errors import GraphFileError
from ecord_jax.graphs import (
    Graph,
    Problem,
    read_graph,
    read_labels,
    read_problem,
    write_problem,
)
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.agent import init_agent
from ecord_jax.networks.config import EcordConfig
from ecord_jax.search import prepare

GRAPH = "6 7\n1 2 3\n2 3 2\n3 1 -1\n3 4 4\n4 5 1\n5 6 2\n6 4 2\n"
BEST = 13
CONFIG = EcordConfig(rnn="none", embedding=4, layers=1, value_width=4, advantage_width=4)
KEYS = "kind sense objective cut vertices edges steps trajectories seed agent found_by effort "
KEYS += "seconds stopped_by optimal bound presolve"
# What the program sets in its environment.
CACHES = ("NUMBA_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR", "TF_CPP_MIN_LOG_LEVEL")
CACHES += (
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES",
)


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """Path of a small untrained agent."""
    path = tmp_path_factory.mktemp("agent") / "small.safetensors"
    arrays = to_arrays(Graph.from_edges([(0, 1)]))
    save_agent(init_agent(CONFIG, arrays, jax.random.key(0)), path, {})
    return str(path)


@pytest.fixture
def graph(tmp_path):
    (tmp_path / "graph").write_text(GRAPH)
    return str(tmp_path / "graph")


@pytest.fixture
def call(monkeypatch, capfd, agent, tmp_path):
    """Calls the program in this process; gives its status and what it printed.

    `call.left` holds the statuses with which it left a compiler behind.
    """

    def leave(code):
        call.left.append(code)
        sys.exit(code)

    def call(*arguments, steps=("--num_steps=50",)):
        monkeypatch.chdir(tmp_path)
        for name in CACHES:
            monkeypatch.setenv(name, "")  # so that it is put back afterwards
            monkeypatch.delenv(name)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.with_name("cache")))
        monkeypatch.setattr(solve, "_START", time.monotonic())
        monkeypatch.setattr(os, "_exit", leave)
        argv = ["/somewhere/ecord-solve", f"--agent={agent}", "--trajectories=4", *steps]
        monkeypatch.setattr(sys, "argv", [*argv, *arguments])
        solve._FLAGS.unparse_flags()
        for name in solve._FLAGS:
            solve._FLAGS[name].unparse()
        with pytest.raises(SystemExit) as end:
            solve.entry()
        return end.value.code, *capfd.readouterr()

    call.left = []
    return call


def test_json(call, graph, agent):
    for thread in threading.enumerate():
        if thread.name == prepare._THREAD:  # of tests before this one, in the same process
            thread.join(timeout=60)
    status, out, err = call(graph, "--json", "--seed=7", "--nopresolve")
    assert (status, err) == (0, "")
    assert out.count("\n") == 1
    found = json.loads(out)
    assert list(found) == KEYS.split()
    assert found["cut"] == BEST
    assert isinstance(found["cut"], int)
    assert (found["vertices"], found["edges"]) == (6, 7)
    assert (found["steps"], found["trajectories"], found["seed"]) == (50, 4, 7)
    assert (found["agent"], found["stopped_by"]) == (agent, "num_steps")
    assert call.left == []
    seconds = found["seconds"]
    assert list(seconds) == ["read", "presolve", "compile", "search", "total"]
    assert all(value >= 0 for value in seconds.values())
    assert seconds["total"] >= sum(seconds.values()) / 2 - 0.01
    assert found["presolve"] is None


def test_summary(call, graph, agent):
    status, out, err = call(graph, "--nopresolve")
    assert (status, err) == (0, "")
    assert out.startswith(f"cut: {BEST}\ngraph: 6 vertices, 7 edges\n")
    assert f"search: {agent}, 4 trajectories of 50 steps\n" in out
    assert re.search(
        r"seconds: read .*, presolve .*, compile .*, search .*, total .*; stopped by num_steps", out
    )
    assert "presolve:" not in out


def test_presolve(call, graph, tmp_path):
    status, out, _ = call(graph, "--json", "--out=labels")
    found = json.loads(out)
    assert (status, found["cut"], found["stopped_by"], found["steps"]) == (0, BEST, "optimal", 0)
    assert found["presolve"] == {
        "vertices": 0,
        "edges": 0,
        "seconds": found["seconds"]["presolve"],
    }
    problem = read_graph(graph)
    assert problem.cut(read_labels(tmp_path / "labels", problem)) == BEST
    _, out, _ = call(graph)
    assert "presolve: 6 vertices and 7 edges reduced to 0 and 0\n" in out


def test_presolve_of_a_part(call, tmp_path):
    """K5 stays; the path that hangs on it goes."""
    edges = [(i, j) for i in range(1, 6) for j in range(i + 1, 6)] + [(5, 6), (6, 7)]
    lines = "".join(f"{i} {j} 1\n" for i, j in edges)
    (tmp_path / "more").write_text(f"7 {len(edges)}\n{lines}")
    status, out, _ = call("more", "--json")
    found = json.loads(out)
    assert (status, found["cut"], found["vertices"], found["edges"]) == (0, 8, 7, 12)
    assert (found["presolve"]["vertices"], found["presolve"]["edges"]) == (5, 10)


def test_qubo(call, tmp_path):
    (tmp_path / "problem.qubo").write_text("p qubo 0 3 3 2\n0 0 -2\n1 1 3\n2 2 -4\n0 1 -4\n0 2 5\n")
    status, out, err = call("problem.qubo", "--json", "--out=values")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert (found["kind"], found["sense"], found["objective"]) == ("qubo", "min", -4)
    assert found["optimal"] is True
    assert (tmp_path / "values").read_text() == "0 0\n1 0\n2 1\n"
    _, out, _ = call("problem.qubo")
    assert out.startswith("objective: -4\nproblem: qubo, 3 variables, minimised\ncut: ")


def test_files_against_the_exact_solver(call, tmp_path):
    """200 random QUBO and Ising problems of up to 16 variables, from files of several formats."""
    dimod = pytest.importorskip("dimod")
    proven = 0
    for seed in range(200):
        rng, size = np.random.default_rng(seed), seed % 16 + 1
        fields = {i: int(rng.integers(-9, 10)) for i in range(size)}
        pairs = [(i, j) for i in range(size) for j in range(i) if rng.random() < 0.6]
        couplings = {pair: int(rng.integers(-9, 10)) for pair in pairs}
        spins = seed % 2 == 1
        bqm = dimod.BinaryQuadraticModel(fields, couplings, 0, "SPIN" if spins else "BINARY")
        name = ("p.ising", "p.coo") if spins else ("p.qubo", "p.coo")
        write_problem(tmp_path / name[seed // 2 % 2], Problem.from_bqm(bqm))
        _, out, err = call(name[seed // 2 % 2], "--agent=swift", "--json", "--out=values")
        assert err == ""
        found = json.loads(out)
        lowest = dimod.ExactSolver().sample(bqm).first.energy
        assert found["objective"] == lowest, seed
        values = [line.split() for line in (tmp_path / "values").read_text().splitlines()]
        sample = {int(variable): int(value) for variable, value in values}
        assert bqm.energy({**dict.fromkeys(bqm.variables, 1), **sample}) == lowest, seed
        proven += found["optimal"]
    assert 20 < proven < 180  # the others are searched


def test_ising_from_standard_input(call, tmp_path, monkeypatch):
    lines = "# vartype=SPIN\n0 0 0.5\n0 1 1\n1 2 1\n0 2 1\n"
    (tmp_path / "in").write_text(lines)
    with open(tmp_path / "in") as file:
        monkeypatch.setattr(sys, "stdin", file)
        status, out, err = call("-", "--format=coo", "--json", "--out=spins")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert (found["kind"], found["objective"]) == ("ising", -1.5)
    spins = dict(line.split() for line in (tmp_path / "spins").read_text().splitlines())
    assert spins["0"] == "-1"
    assert set(spins.values()) == {"1", "-1"}


def test_bound(call, tmp_path):
    """An odd cycle with chords: the search cannot know that it is best, the bound does."""
    edges = [(i, j) for i in range(1, 6) for j in range(i + 1, 6)]
    lines = "".join(f"{i} {j} 1\n" for i, j in edges)
    (tmp_path / "k5").write_text(f"5 10\n{lines}")
    status, out, _ = call("k5", "--json", "--bound", "--nopresolve")
    found = json.loads(out)
    assert (status, found["cut"]) == (0, 6)
    # The bound, which is computed beside it, may stop the search.
    assert found["stopped_by"] in ("num_steps", "optimal")
    assert found["bound"]["certified"] is True
    assert 6.25 <= found["bound"]["cut"] < 6.26
    assert found["bound"]["objective"] == 6
    assert (found["optimal"], found["bound"]["gap"]) == (True, 0.0)
    _, out, _ = call("k5", "--bound", "--nopresolve")
    assert "(certified), gap 0.000 %\noptimal: there is no larger cut\n" in out
    _, out, _ = call("k5", "--json", "--nopresolve")
    assert json.loads(out)["bound"] is None
    assert json.loads(out)["optimal"] is False


def test_folders_of_compiled_programs_are_made(call, graph, tmp_path):
    assert call(graph)[0] == 0
    folder = tmp_path.with_name("cache") / "ecord_jax"
    (numba,) = (folder / "numba").iterdir()
    assert os.environ["NUMBA_CACHE_DIR"] == str(numba)
    assert os.environ["JAX_COMPILATION_CACHE_DIR"] == str(folder / "jax")
    assert (folder / "jax").is_dir()


def test_other_sources_have_another_folder(tmp_path, monkeypatch):
    """What numba keeps goes by the file of a loop, and not by those of what it calls."""
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "sums.py").write_text("a = 1\n")
    monkeypatch.setattr(caches, "__file__", str(tmp_path / "cli" / "caches.py"))
    for name in CACHES:
        monkeypatch.setenv(name, "")  # so that it is put back afterwards
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folders = []
    for text in ("", "", "a = 1\n"):
        with open(tmp_path / "search" / "sums.py", "a") as file:
            file.write(text)
        caches.keep_compiled()
        folders.append(os.environ.pop("NUMBA_CACHE_DIR"))
    assert folders[0] == folders[1] != folders[2]


def test_labels_have_the_cut(call, graph, tmp_path):
    status, out, _ = call(graph, "--json", "--out=labels", "--temperature=0,0.5")
    assert status == 0
    problem = read_graph(graph)
    labels = read_labels(tmp_path / "labels", problem)
    assert problem.cut(labels) == json.loads(out)["cut"] == BEST
    assert sorted(os.listdir(tmp_path)) == ["graph", "labels"]


def test_same_seed_same_labels(call, graph, tmp_path):
    for name in ("one", "two.gz"):
        assert call(graph, f"--out={name}", "--seed=3", "--temperature=0.5")[0] == 0
    two = gzip.decompress((tmp_path / "two.gz").read_bytes())
    assert (tmp_path / "one").read_bytes() == two


def test_plot(call, graph, tmp_path):
    assert call(graph, "--plot=curve.png")[0] == 0
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_time_limit_counts_from_the_start(call, graph, monkeypatch):
    began = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda clock=time.monotonic: clock())
    status, out, _ = call(graph, "--json", "--nopresolve", "--time_limit=1.5", steps=())
    found = json.loads(out)
    assert (status, found["stopped_by"]) == (0, "time_limit")
    assert 1 < found["seconds"]["total"] < 2.5
    assert time.monotonic() - began < 4


def test_reading_may_take_all_the_time(call, graph, monkeypatch):
    slow = lambda *args, **more: (time.sleep(0.3), read_problem(*args, **more))[1]  # noqa: E731
    monkeypatch.setattr("ecord_jax.graphs.read_problem", slow)
    status, out, _ = call(graph, "--json", "--time_limit=0.2", steps=())
    found = json.loads(out)
    assert (status, found["stopped_by"], found["steps"]) == (0, "time_limit", 0)
    assert found["seconds"]["read"] >= 0.3


def test_no_vertices(call, tmp_path):
    (tmp_path / "none").write_text("0 0\n")
    status, out, _ = call("none", "--json", "--out=labels", "--plot=p.png")
    found = json.loads(out)
    assert (status, found["cut"], found["stopped_by"]) == (0, 0, "optimal")
    assert (tmp_path / "labels").read_text() == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "missing argument FILE"),
        (["graph", "more"], "unexpected argument 'more'"),
        (["nowhere"], "nowhere: No such file"),
        (["bad"], "bad:2: "),
        (["graph", "--speed=3"], "Unknown command line flag 'speed'"),
        (["graph", "--num_steps=0"], "flag --num_steps=0"),
        (["graph", "--num_steps=x"], "flag --num_steps=x"),
        (["graph", "--num_steps=9999999999"], "num_steps=9999999999"),
        (["graph", "--time_limit=0"], "flag --time_limit=0"),
        (["graph", "--time_limit=-3"], "flag --time_limit=-3"),
        (["graph", "--time_limit=nan"], "flag --time_limit=nan"),
        (["graph", "--trajectories=0"], "flag --trajectories=0"),
        (["graph", "--temperature=warm"], "flag --temperature=warm"),
        (["graph", "--temperature=-1"], "temperature=-1"),
        (["graph", "--temperature=1,2,3,4,5"], "5 temperatures need"),
        (["graph", "--agent=nobody"], "there is no agent 'nobody'"),
        (["graph", "--agent=no.safetensors"], "no.safetensors: No such file"),
        (["graph", "--seed=-1"], "flag --seed=-1"),
        (["graph", "--out=no/labels"], "flag --out=no/labels: No such file"),
        (["graph", "--out=."], "flag --out=.: expected the name of a file"),
        (["graph", "--out="], "flag --out=: expected the name of a file"),
        (["graph", "--out=-"], "flag --out=-: expected the name of a file"),
        (["graph", "--out=graph"], "flag --out=graph: would replace the input"),
        (["graph", "--plot=no/p.png"], "flag --plot=no/p.png: No such file"),
        (["graph", "--plot=./same", "--out=same"], "flag --plot=./same: is the file of --out"),
    ],
)
def test_bad_input_ends_with_one_line(call, graph, tmp_path, arguments, words):
    (tmp_path / "bad").write_text("2 1\n1 5\n")
    before = sorted(os.listdir(tmp_path))
    status, out, err = call(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("ecord-solve: ")
    assert err.count("\n") == 1
    assert words in err
    assert sorted(os.listdir(tmp_path)) == before


def test_outputs_are_refused_before_reading(call, monkeypatch):
    monkeypatch.setattr("ecord_jax.graphs.read_problem", lambda *_: pytest.fail("read"))
    assert call("graph", "--out=no/labels")[0] == 2


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ('1, "1"', "the names 1 and '1' are written alike"),
        ('"a ", "b"', "the name 'a ' cannot be written on a line of its own"),
        (r'"\ud800", "b"', r"the name '\ud800' cannot be written on a line of its own"),
    ],
)
def test_names_are_refused_before_the_search(call, tmp_path, monkeypatch, names, words):
    monkeypatch.setattr("ecord_jax.cli.solve._solve", lambda *_: pytest.fail("searched"))
    one, two = names.split(", ")
    text = f'{{"nodes": [{{"id": {one}}}, {{"id": {two}}}], "links": '
    (tmp_path / "g.json").write_text(text + f'[{{"source": {one}, "target": {two}}}]}}')
    status, _, err = call("g.json", "--out=labels")
    assert status == 2
    assert words in err
    assert err.count("\n") == 1


def test_a_plot_that_fails_loses_nothing(call, graph, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device", "p.png")

    monkeypatch.setattr("ecord_jax.cli.plot.plot_curve", fail)
    status, out, err = call(graph, "--json", "--out=labels", "--plot=p.png")
    assert status == 2
    assert err == "ecord-solve: p.png: No space left on device\n"
    assert json.loads(out)["cut"] == BEST
    assert (tmp_path / "labels").read_text().count("\n") == 6
    assert not (tmp_path / "p.png").exists()


def test_labels_that_cannot_be_written_leave_the_result(call, graph, tmp_path, monkeypatch):
    (tmp_path / "labels").write_text("old\n")

    def fail(path, *_):
        pathlib.Path(path).write_text("1 ")
        raise GraphFileError(path, "No space left on device")

    monkeypatch.setattr("ecord_jax.graphs.write_values", fail)
    status, out, err = call(graph, "--json", "--out=labels")
    assert status == 2
    assert err.count("\n") == 1
    assert json.loads(out)["cut"] == BEST
    assert (tmp_path / "labels").read_text() == "old\n"
    assert sorted(os.listdir(tmp_path)) == ["graph", "labels"]


def test_labels_may_go_to_what_is_no_file(call, graph, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", "pipe"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert call(graph, "--out=pipe")[0] == 0
    assert reader.communicate(timeout=20)[0].count("\n") == 6


def test_a_link_is_kept(call, graph, tmp_path):
    (tmp_path / "link").symlink_to("target")
    assert call(graph, "--out=link")[0] == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text().count("\n") == 6


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_bar_is_for_terminals(call, graph, monkeypatch, terminal):
    monkeypatch.setattr(solve.sys.stderr, "isatty", lambda: terminal)
    status, out, err = call(graph, "--json", "--nopresolve")
    assert status == 0
    assert out.count("\n") == 1
    assert ("100%|" in err and f"step 50, cut {BEST}" in err) is terminal
    assert (err == "") is not terminal


def test_help(call):
    status, out, _ = call("--help")
    assert status == 0
    for flag in (
        "time_limit",
        "num_steps",
        "trajectories",
        "temperature",
        "agent",
        "seed",
        "out",
        "plot",
    ):
        assert f"--{flag}: " in out
    assert "--[no]json" in out
    assert "--[no]presolve" in out


def test_ctrl_c_keeps_the_best(call, graph, monkeypatch, tmp_path):
    """Once is enough, also where Python would drop the exception."""
    real, calls = prepare.search_chunk, []

    def chunk(*args, **options):
        calls.append(signal.raise_signal(signal.SIGINT))  # while it is being traced
        return real(*args, **options)

    monkeypatch.setattr(prepare, "search_chunk", chunk)
    status, out, err = call(
        graph, "--json", "--nopresolve", "--out=labels", steps=("--num_steps=1000000",)
    )
    assert (status, err, len(calls)) == (0, "", 1)
    found = json.loads(out)
    assert found["stopped_by"] == "interrupted"
    assert found["steps"] < 1000000
    problem = read_graph(graph)
    assert problem.cut(read_labels(tmp_path / "labels", problem)) == found["cut"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_second_ctrl_c_is_at_once():
    with solve._noted_interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
        assert len(interrupts) == 1
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with solve._noted_interrupts() as interrupts:
            signal.raise_signal(signal.SIGINT)
        assert interrupts == []
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_process_that_still_compiles_ends_at_once(call, graph, monkeypatch):
    monkeypatch.setattr(solve, "_is_compiling", lambda: True)
    assert call(graph)[0] == 0
    assert call("nowhere")[0] == 2
    assert call.left == [0, 2]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_ctrl_c_while_jax_is_imported(graph, agent, tmp_path):
    command = [sys.executable, "-m", "ecord_jax.cli.solve", graph, f"--agent={agent}", "--json"]
    command += ["--time_limit=60", f"--out={tmp_path / 'labels'}", "--temperature=0.3"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    maps = pathlib.Path(f"/proc/{process.pid}/maps")
    deadline = time.monotonic() + 40
    while "jaxlib" not in maps.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=40)
    assert (process.returncode, err) == (0, "")
    found = json.loads(out.splitlines()[-1])
    assert (found["stopped_by"], found["steps"]) == ("interrupted", 0)
    problem = read_graph(graph)
    assert problem.cut(read_labels(tmp_path / "labels", problem)) == found["cut"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "file").chmod(0o400)
    with pytest.raises(output.OptionError, match="Permission denied"):
        output.check_writable("out", str(tmp_path / "file"))


def test_who_takes_part(call, graph):
    """Who flips, and what is left out."""
    found = {}
    for name, flags in {
        "mixed": (),
        "tabu": ("--move=tabu", "--init=rank2"),
        "ecord": ("--move=ecord", "--ablate=merge,restart"),
        "bare": ("--move=tabu", "--ablate=merge,starts,presolve"),
    }.items():
        steps = ("--num_steps=50", "--agent=swift", "--nopresolve")
        status, out, err = call(graph, "--json", *flags, steps=steps)
        assert (status, err) == (0, "")
        found[name] = json.loads(out)
    assert list(found["mixed"]["effort"]) == ["ecord", "tabu", "merge"]
    assert list(found["tabu"]["effort"]) == ["tabu", "merge"]
    assert list(found["ecord"]["effort"]) == ["ecord"]
    assert list(found["bare"]["effort"]) == ["tabu"]
    for result in found.values():
        assert result["cut"] == BEST
        assert result["found_by"] in {"start", "greedy", *result["effort"]}
        assert all(list(one) == ["seconds", "improvements"] for one in result["effort"].values())
    _, out, _ = call(graph, "--move=tabu", "--nopresolve")
    assert re.search(r"\nfound by \w+; tabu \d+ % of the time and \d+ improvements, merge ", out)


@pytest.mark.parametrize("flag", ["--move=anneal", "--ablate=greedy", "--init=half"])
def test_flags_of_the_search_are_checked(call, graph, flag):
    status, out, err = call(graph, flag)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert flag.split("=")[1] in err
