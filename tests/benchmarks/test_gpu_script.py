"""Tests of benchmarks/gpu.sh where there is no GPU."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def call(*arguments):
    environment = {**os.environ, "PYTHON": sys.executable, "JAX_PLATFORMS": "cpu"}
    command = ["bash", "benchmarks/gpu.sh", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)


def test_without_a_gpu_it_says_so_in_one_line(tmp_path):
    done = call(str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "no GPU" in done.stderr


def test_an_unknown_option_is_one_line():
    done = call("--fast")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
