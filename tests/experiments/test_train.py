"""The training binary: what a wrong command line gets."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["--config=experiments/configs/train.py:nope", "--out={out}"], "no preset 'nope'"),
        (["--config=experiments/configs/train.py:smoke"], "flag --out is needed"),
        (["mixture", "--out={out}"], "unexpected argument 'mixture'"),
        (
            ["--config=experiments/configs/train.py:smoke", "--out={out}", "--config.bptt=-1"],
            "bptt=-1 must not be negative",
        ),
    ],
)
def test_a_wrong_command_line_ends_with_one_line(arguments, cause, tmp_path):
    arguments = [argument.format(out=tmp_path / "run") for argument in arguments]
    done = subprocess.run(
        [sys.executable, "experiments/train.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert cause in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("program", ["train", "train_swift"])
def test_help(program):
    done = subprocess.run(
        [sys.executable, f"experiments/{program}.py", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Trains ")
    assert "--out: Folder of the run." in done.stdout
