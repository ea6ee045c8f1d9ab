"""Tests of what the package offers at its top, and of what importing it costs."""

import pathlib
import subprocess
import sys

import pytest

import ecord_jax as ej

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run_python(code):
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_names():
    assert ej.__all__ == [
        "EcordSampler",
        "Graph",
        "Problem",
        "SolveResult",
        "functional",
        "load_agent",
        "read_graph",
        "solve",
    ]
    assert ej.__all__ == sorted(ej.__all__)
    assert set(ej.__all__) <= set(dir(ej))
    for name in ej.__all__:
        assert getattr(ej, name) is not None
    assert ej.__version__ == "unknown" or ej.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="no attribute 'sovle'"):
        ej.sovle  # noqa: B018


def test_functional():
    names = ej.functional.__all__
    assert names == sorted(names)
    wanted = "init_agent encode q_values remember reset step observe rollout flipped_labels"
    assert set(wanted.split()) <= set(names)
    for name in names:
        value = getattr(ej.functional, name)
        assert value.__doc__, f"{name} says nothing of itself"
        assert value.__module__.startswith("ecord_jax.")


def test_importing_loads_nothing_large():
    loaded = run_python("import sys, ecord_jax; print(*sys.modules)").split()
    assert "ecord_jax" in loaded
    assert not {"jax", "numpy", "scipy", "matplotlib"} & set(loaded)


def test_importing_touches_no_device_and_no_flag():
    out = run_python(
        "import jax, numpy\n"
        "before = dict(jax.config.values)\n"
        "state = numpy.random.get_state()[1].tobytes()\n"
        "from ecord_jax import *\n"
        "from ecord_jax import functional\n"
        "from jax._src import xla_bridge\n"
        "print(xla_bridge.backends_are_initialized())\n"
        "after = dict(jax.config.values)\n"
        "print(before == after, state == numpy.random.get_state()[1].tobytes())\n"
    )
    assert out.split() == ["False", "True", "True"]
