"""Tests of ecord-verify, called as a user does, and of what all binaries share."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from absl import flags

from ecord_jax.cli import common, verify
from ecord_jax.errors import EcordError, OptionError

GRAPH = "3 3\n1 2 5\n2 3 7\n1 3 -3\n"
LABELS = "1 0\n2 1\n3 0\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "graph").write_text(GRAPH)
    (tmp_path / "labels").write_text(LABELS)
    return [str(tmp_path / "graph"), str(tmp_path / "labels")]


@pytest.fixture
def call(monkeypatch, capfd):
    """Calls the program in this process; gives its status and what it printed."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["/somewhere/ecord-verify", *arguments])
        verify._FLAGS.unparse_flags()
        for name in verify._FLAGS:
            verify._FLAGS[name].unparse()
        with pytest.raises(SystemExit) as end:
            verify.entry()
        return end.value.code, *capfd.readouterr()

    return call


def test_prints_the_cut(call, files):
    assert call(*files) == (0, "cut: 12\n", "")


@pytest.mark.parametrize("claimed", ["12", "12.0", "1.2e1"])
def test_agrees(call, files, claimed):
    assert call(*files, f"--cut={claimed}") == (0, "cut: 12\n", "")


QUBO = "p qubo 0 3 3 2\n0 0 -2\n1 1 3\n2 2 -4\n0 1 5\n0 2 1\n"


def test_objective_of_a_qubo(call, files, tmp_path):
    (tmp_path / "problem.qubo").write_text(QUBO)
    (tmp_path / "values").write_text("0 1\n1 0\n2 1\n")
    places = [str(tmp_path / "problem.qubo"), str(tmp_path / "values")]
    assert call(*places) == (0, "objective: -5\n", "")
    assert call(*places, "--objective=-5")[0] == 0
    status, _, err = call(*places, "--objective=-6")
    assert (status, err) == (1, "ecord-verify: the objective is -5, not -6 as claimed\n")
    status, _, err = call(*places, "--cut=3")
    assert status == 2
    assert "is no graph; use --objective" in err
    (tmp_path / "values").write_text("0 1\n1 -1\n2 1\n")
    status, _, err = call(*places)
    assert status == 2
    assert "values:2: bad value (got '1 -1'); expected name, blank, 0 or 1" in err


def test_format_and_first_vertex(call, files, tmp_path):
    (tmp_path / "zero").write_text("3 2\n0 1 5\n1 2 7\n")
    (tmp_path / "sides").write_text("0 0\n1 1\n2 0\n")
    places = [str(tmp_path / "zero"), str(tmp_path / "sides")]
    status, _, err = call(*places)
    assert status == 2
    assert "zero:2: no vertex 0" in err
    assert call(*places, "--zero_based") == (0, "cut: 12\n", "")
    assert call(*places, "--zero_based", "--format=rudy") == (0, "cut: 12\n", "")
    assert call(*places, "--format=nonsense")[0] == 2


def test_differs(call, files):
    status, out, err = call(*files, "--cut=11")
    assert (status, out) == (1, "cut: 12\n")
    assert err == "ecord-verify: the cut is 12, not 11 as claimed\n"


@pytest.mark.parametrize(
    ("flag", "status", "claim"), [([], 0, (None, None)), (["--cut=13"], 1, (13, False))]
)
def test_json(call, files, flag, status, claim):
    got, out, _ = call("--json", *files, *flag)
    assert got == status
    claimed, agrees = claim
    assert json.loads(out) == {
        "cut": 12,
        "vertices": 3,
        "edges": 3,
        "claimed": claimed,
        "agrees": agrees,
    }


def test_is_exact(call, tmp_path):
    labels = tmp_path / "labels"
    labels.write_text("1 0\n2 1\n3 0\n")
    graph = tmp_path / "graph"
    graph.write_text(f"3 2\n1 2 {2**63 - 1}\n2 3 {2**63 - 2}\n")
    assert call(str(graph), str(labels), f"--cut={2**64 - 3}")[0] == 0
    assert call(str(graph), str(labels), f"--cut={2**64 - 4}")[0] == 1
    graph.write_text("3 2\n1 2 1e12\n2 3 0.003\n")
    assert call(str(graph), str(labels))[1] == "cut: 1000000000000.003\n"


def test_does_not_trust_the_graph_class(call, files, monkeypatch):
    monkeypatch.setattr("ecord_jax.graphs.Graph.cut", lambda *_: 99)
    assert call(*files)[1] == "cut: 12\n"


def test_warnings_are_one_line(call, files, tmp_path):
    (tmp_path / "graph").write_text(GRAPH.replace("3 3\n", "3 4\n", 1) + "3 3 1\n")
    status, out, err = call(*files)
    assert (status, out) == (0, "cut: 12\n")
    assert err == "ecord-verify: warning: 1 self loop was dropped: a loop is never cut\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "missing argument FILE and VALUES"),
        (["GRAPH"], "missing argument VALUES"),
        (["GRAPH", "LABELS", "more"], "unexpected argument 'more'"),
        (["GRAPH", "LABELS", "--depth=3"], "Unknown command line flag 'depth'"),
        (["GRAPH", "LABELS", "--cut"], "Missing value for flag --cut"),
        (["GRAPH", "LABELS", "--cut=x"], "flag --cut=x"),
        (["GRAPH", "LABELS", "--cut=nan"], "flag --cut=nan"),
        (["GRAPH", "LABELS", "--json=3"], "flag --json=3"),
        (["nowhere", "LABELS"], "nowhere: No such file or directory"),
        (["LABELS", "LABELS"], "labels:2: no vertex 2"),
        (["GRAPH", "GRAPH"], "graph:1: bad side"),
    ],
)
def test_bad_input_ends_with_one_line(call, files, arguments, words):
    named = dict(zip(["GRAPH", "LABELS"], files, strict=True))
    status, out, err = call(*[named.get(argument, argument) for argument in arguments])
    assert (status, out) == (2, "")
    assert err.startswith("ecord-verify: ")
    assert err.count("\n") == 1
    assert any(word in err for word in words.split("|"))


def test_help(call):
    status, out, err = call("--help")
    assert (status, err) == (0, "")
    assert "Usage: ecord-verify FILE VALUES" in out
    assert "--cut: The cut that it should be." in out
    assert "--[no]json" in out


def run_main(main, argv=("prog",), flag_values=None):
    with pytest.raises(SystemExit) as end:
        common.run(main, flag_values or flags.FlagValues(), argv=argv)
    return end.value.code


def raising(error):
    def main(argv):
        raise error

    return main


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (EcordError("two\nlines"), 2, "two lines"),
        (OptionError("bad"), 2, "bad"),
        (FileNotFoundError(2, "No such file", "x.png"), 2, "x.png: No such file"),
        (OSError(28, "No space left"), 2, "[Errno 28] No space left"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_run_turns_errors_into_one_line(capfd, error, status, line):
    assert run_main(raising(error)) == status
    assert capfd.readouterr().err == f"prog: {line}\n"


def test_run_does_not_hide_bugs():
    with pytest.raises(TypeError):
        common.run(raising(TypeError("a bug")), flags.FlagValues(), argv=["prog"])


def test_run_passes_status_and_arguments():
    seen = []
    values = flags.FlagValues()
    number = flags.DEFINE_integer("number", 1, "A number.", flag_values=values)

    def main(argv):
        seen.append((list(argv), number.value))
        return 7

    assert run_main(main, ["prog", "a", "--number=3", "b"], values) == 7
    assert seen == [(["prog", "a", "b"], 3)]
    assert run_main(lambda argv: None) == 0


def start(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "ecord_jax.cli.verify", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_closed_output_is_no_error(files):
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = start(*files, stdout=write_end)
    os.close(write_end)
    assert process.communicate()[1] == ""
    assert process.returncode == 141


def test_ctrl_c_is_one_line(files, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    process = start(str(tmp_path / "pipe"), files[1], stdout=subprocess.DEVNULL)
    writer = open_when_read(tmp_path / "pipe")
    wait_until_it_waits(process)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[1] == "ecord-verify: interrupted\n"
    assert process.returncode == 130
    os.close(writer)


def wait_until_it_waits(process):
    """A signal just before it waits for what nobody writes would be noticed only after that."""
    stat, asleep = pathlib.Path(f"/proc/{process.pid}/stat"), 0
    if not stat.exists():  # no Linux
        time.sleep(2)
        return
    deadline = time.monotonic() + 20
    while asleep < 30 and time.monotonic() < deadline:
        state = stat.read_text().rpartition(")")[2].split()[0]
        asleep = asleep + 1 if state == "S" else 0
        time.sleep(0.01)


def open_when_read(path):
    """Opens a pipe for writing as soon as somebody reads it; until then the system refuses."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            time.sleep(0.01)
    raise TimeoutError
