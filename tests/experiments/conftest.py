"""Fixtures that call the programs of experiments/ in this process."""

import importlib.util
import pathlib
import sys

import pytest

from ecord_jax.cli.common import run

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(scope="session")
def load_program():
    """Gives a program as a module, by its name."""
    names = []

    def load(name):
        full_name = f"{name}_program"
        if full_name not in sys.modules:
            spec = importlib.util.spec_from_file_location(full_name, FOLDER / f"{name}.py")
            sys.modules[full_name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[full_name])
            names.append(full_name)
        return sys.modules[full_name]

    yield load
    for name in names:
        del sys.modules[name]


@pytest.fixture
def call_program(monkeypatch, capfd):
    """Calls a program; gives its status and what it printed on stdout and stderr."""

    def call(program, *arguments):
        argv = [pathlib.Path(program.__file__).name, *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", argv)
        program._FLAGS.unparse_flags()
        for name in program._FLAGS:
            program._FLAGS[name].unparse()
        with pytest.raises(SystemExit) as end:
            run(program.main, program._FLAGS)
        return end.value.code, *capfd.readouterr()

    return call
