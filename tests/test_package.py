"""Tests of what is installed: the wheel, the locked versions, imports that stay light."""

import configparser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from ecord_jax.graphs import read_graph

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCE = ROOT / "ecord_jax"


def source_files():
    """All files of the package in the checkout, as the wheel should name them."""
    files = (path for path in SOURCE.rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Builds the wheel from a copy, so that no earlier build's leftovers get into it."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "copy"
    shutil.copytree(SOURCE, copy / "ecord_jax", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "LICENSE", "README.md"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, copy)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder), str(copy)]
    subprocess.run(command, check=True, timeout=300)
    (path,) = folder.glob("*.whl")
    return path


def test_wheel_holds_every_file_of_the_package(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == source_files()
    assert {name for name in names if name.endswith(".safetensors")}, "no weights are shipped"
    assert "ecord_jax/data/example.txt.gz" in names


def test_every_folder_with_modules_is_a_package():
    for path in SOURCE.rglob("*.py"):
        assert (path.parent / "__init__.py").exists(), path


def test_metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        text = archive.read(metadata).decode()
        (points,) = [name for name in archive.namelist() if name.endswith("/entry_points.txt")]
        scripts = archive.read(points).decode()
    assert "Name: ecord-jax\n" in text
    python = re.search("^Requires-Python: (.*)$", text, re.MULTILINE)
    assert set(python.group(1).split(",")) == {">=3.11", "<3.14"}
    for extra in ("cuda", "dimod", "experiments", "test"):
        assert f"Provides-Extra: {extra}\n" in text
    assert "ecord-convert = ecord_jax.cli.convert:entry" in scripts
    assert "ecord-solve = ecord_jax.cli.solve:entry" in scripts
    assert "ecord-verify = ecord_jax.cli.verify:entry" in scripts


def test_requirements_lock_what_setup_cfg_asks_for():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    lines = config["options"]["install_requires"].split("\n")
    for extra in ("test", "experiments"):
        lines += config["options.extras_require"][extra].split("\n")
    wanted = [Requirement(line) for line in lines if line]
    locked = {}
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, version = line.split("==")
            assert re.fullmatch(r"[\w.-]+", name), line
            locked[plain(name)] = Version(version)
    assert len(wanted) > 15
    for requirement in wanted:
        version = locked[plain(requirement.name)]
        assert requirement.specifier.contains(version, prereleases=True), requirement


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_graphs_and_verify_import_without_heavy_libraries():
    code = "import sys, ecord_jax.graphs, ecord_jax.cli.verify; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    loaded = set(result.stdout.split())
    assert "ecord_jax.cli.verify" in loaded, result.stderr
    assert not loaded & {
        "dimod",
        "flax",
        "jax",
        "jraph",
        "matplotlib",
        "networkx",
        "optax",
        "scipy",
    }


def test_solve_imports_without_what_only_training_and_pictures_need():
    code = (
        "import sys, ecord_jax; print('jax' in sys.modules); ecord_jax.solve; print(*sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    before, after = result.stdout.splitlines()
    assert (before, result.stderr) == ("False", "")
    loaded = set(after.split())
    assert "ecord_jax.search.solve" in loaded
    heavy = {"flashbax", "matplotlib", "networkx", "numba", "optax", "orbax", "pandas"}
    assert not loaded & heavy


def test_example_graph():
    graph = read_graph(SOURCE / "data" / "example.txt.gz")
    assert (graph.num_vertices, graph.num_edges, graph.positive_weight) == (800, 4800, 4800)


@pytest.mark.slow
def test_installed_wheel_solves_a_graph(wheel, tmp_path):
    """In an empty environment, from another folder, with a home of its own."""
    venv.create(tmp_path / "empty", with_pip=True)
    programs = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin")
    home = tmp_path / "home"
    home.mkdir()
    (home / "graph.txt").write_text("5 5\n1 2 1\n2 3 1\n3 4 1\n4 5 1\n5 1 1\n")
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    environment["HOME"] = str(home)

    def call(*command):
        result = subprocess.run(
            command, cwd=home, env=environment, capture_output=True, text=True, timeout=900
        )
        assert result.returncode == 0, result.stderr[-2000:]
        return result.stdout

    call(str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel))
    where = call(str(programs / "python"), "-c", "import ecord_jax; print(ecord_jax.__file__)")
    assert where.startswith(str(tmp_path / "empty"))
    options = ("--num_steps=20", "--nopresolve", "--json", "--out=labels.txt")
    for agent in ("er40", "mixture", "swift"):
        out = call(str(programs / "ecord-solve"), "graph.txt", f"--agent={agent}", *options)
        result = json.loads(out.splitlines()[-1])
        assert (result["cut"], result["steps"], result["agent"]) == (4, 20, agent)
    assert call(str(programs / "ecord-verify"), "graph.txt", "labels.txt", "--cut=4") == "cut: 4\n"
