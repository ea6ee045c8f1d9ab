"""How tests of benchmarks run them: as commands, with few cores' worth of work."""

import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def benchmark():
    """Runs benchmarks/NAME.py; gives the finished process."""

    def call(name, *arguments):
        return subprocess.run(
            [sys.executable, f"benchmarks/{name}.py", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"},
        )

    return call


@pytest.fixture(scope="session")
def results(benchmark):
    """The JSON object that a benchmark prints as its last line."""

    def call(name, *arguments):
        done = benchmark(name, *arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return call
