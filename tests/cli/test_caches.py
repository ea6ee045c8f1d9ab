"""Compiled programs are kept on disk; what is wrong there does no harm and is not spoken of."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

GRAPH = "6 7\n1 2 3\n2 3 2\n3 1 -1\n3 4 4\n4 5 1\n5 6 2\n6 4 2\n"


@pytest.fixture
def run(tmp_path):
    """Runs ecord-solve in a process of its own, whose caches are in `tmp_path`; gives the curve's
    numbers that do not depend on the clock."""
    (tmp_path / "graph").write_text(GRAPH)
    root = pathlib.Path(__file__).resolve().parents[2]
    hidden = ("NUMBA_", "JAX_", "TF_CPP_")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(hidden)}
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": str(root)}

    def run():
        command = [sys.executable, "-m", "ecord_jax.cli.solve", "graph", "--json", "--nopresolve"]
        command += ["--agent=softmax", "--num_steps=5", "--trajectories=2"]
        result = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        assert (result.returncode, result.stderr) == (0, "")
        found = json.loads(result.stdout)
        return found["cut"], found["steps"]

    return run


def test_programs_are_kept_and_broken_ones_passed_over_in_silence(run, tmp_path):
    folder = tmp_path / "cache" / "ecord_jax" / "jax"
    first = run()
    kept = {path: path.read_bytes() for path in folder.rglob("*-cache")}
    assert any("search_chunk" in path.name for path in kept)
    assert run() == first
    assert {path: path.read_bytes() for path in folder.rglob("*-cache")} == kept
    for path, content in kept.items():
        path.write_bytes(content[: len(content) // 2] if "chunk" in path.name else b"nonsense")
    assert run() == first


def test_a_cache_that_cannot_be_made_does_no_harm(run, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert run() == (13, 5)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_cache_that_cannot_be_written_does_no_harm(run, tmp_path):
    folder = tmp_path / "cache" / "ecord_jax" / "jax"
    folder.mkdir(parents=True)
    folder.chmod(0o500)
    assert run() == (13, 5)
    assert not list(folder.iterdir())
