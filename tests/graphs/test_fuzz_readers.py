"""Tests that damaged files end in our own errors; `python -m tests.fuzz_readers` does more."""

import unittest.mock

import pytest

from ecord_jax.graphs import Graph
from ecord_jax.graphs.io.formats import FORMATS
from tests import fuzz_readers


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files(name, tmp_path):
    fuzz_readers.fuzz(name, 40, str(tmp_path))


def test_what_the_fuzz_finds(tmp_path, monkeypatch):
    """Another error, one of several lines and a read that takes long are all found."""
    for failure in (IndexError("list"), fuzz_readers.EcordError("two\nlines")):
        reader = unittest.mock.Mock(side_effect=failure)
        monkeypatch.setattr(fuzz_readers, "read_any", reader)
        with pytest.raises((IndexError, AssertionError)):
            fuzz_readers.check("rudy", b"1 0\n", str(tmp_path))
    monkeypatch.setattr(fuzz_readers, "read_any", lambda *_, **__: Graph.from_edges([]))
    monkeypatch.setattr(fuzz_readers, "MAX_SECONDS", 0.0)
    with pytest.raises(AssertionError, match="long"):
        fuzz_readers.check("rudy", b"1 0\n", str(tmp_path))
