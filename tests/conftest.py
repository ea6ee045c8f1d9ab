"""Fixtures that tests of several rooms use."""

import pathlib
import signal

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", autouse=True)
def interrupts():
    """Ctrl-C does what it does in a terminal, though a shell's background job ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def shared() -> pathlib.Path:
    """The folder of papers, cases and graphs beside the checkout, which the project has no copy of.

    A test that needs it is skipped where it is not there.
    """
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder ../shared, which is not there")
    return folder
