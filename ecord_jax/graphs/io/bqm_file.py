"""dimod's BinaryQuadraticModel as a binary file (.bqm): what its `to_file` gives, version 1 or 2.

    DIMODBQM, two bytes of the version, uint32 the length of the header
    a JSON header: shape, dtype, itype, ntype, vartype, variables
    the offset; for each variable where its neighbours begin, and its linear bias; for each
    variable its neighbours, each with the quadratic bias (so each pair is there twice)
    version 2, if the variables are not 0..N-1: VARS, uint32 a length, JSON of the labels

All numbers are little-endian and biases are floats, so integers past 2^53 are not exact. The energy
is minimised.

See dimod.BinaryQuadraticModel.to_file, https://github.com/dwavesystems/dimod; dimod itself is not
needed.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ecord_jax.graphs.io.entries import KINDS, find_bad_pair, make_problem
from ecord_jax.graphs.io.files import Source
from ecord_jax.graphs.io.format import ERROR, Format
from ecord_jax.graphs.io.json_values import from_json, json_texts
from ecord_jax.graphs.problem import Problem

__all__ = ["BQM_FILE", "MAGIC", "bqm_file_bytes", "read_bqm_file"]

MAGIC = b"DIMODBQM"
_SECTION = b"VARS"
_ALIGNMENT = 64
_HEADER_START = len(MAGIC) + 2 + 4
_FLOATS = ("float32", "float64")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")


class _Header(NamedTuple):
    """What the header says.

    Attributes:
      end: where the data begin.
      size: N, the number of variables.
      num_pairs: E.
      vartype: SPIN or BINARY.
      bias: dtype of biases.
      linear: dtype of what is there for a variable.
      quadratic: dtype of what is there for a neighbour.
      labels: a list of them in version 1; else whether they follow.
    """

    end: int
    size: int
    num_pairs: int
    vartype: str
    bias: np.dtype
    linear: np.dtype
    quadratic: np.dtype
    labels: Any


def read_bqm_file(source: Source, first: int = 1) -> Problem:
    """Reads a QUBO or an Ising problem from a dimod file.

    Args:
      source: the file.
      first: says nothing here, since variables have names.

    Returns:
      The problem, its variables in their order.

    Raises:
      GraphFileError: where the file is damaged or of a later version.
    """
    header = _read_header(source)
    data, at = source.data, header.end
    quadratic_at = at + header.bias.itemsize + header.size * header.linear.itemsize
    end = quadratic_at + 2 * header.num_pairs * header.quadratic.itemsize
    if end > len(data):
        raise source.error("the file ends early")
    offset = np.frombuffer(data, header.bias, 1, at)[0]
    linear = np.frombuffer(data, header.linear, header.size, at + header.bias.itemsize)
    halves = np.frombuffer(data, header.quadratic, 2 * header.num_pairs, quadratic_at)
    ends, biases = _pairs(source, linear["start"].astype(np.int64), halves)
    if not np.isfinite(offset):
        raise source.error("the offset is not a finite number")
    return make_problem(
        source,
        KINDS[header.vartype],
        _labels(source, header, end),
        ends,
        biases.astype(np.float64),
        offset=float(offset),
        linear=linear["bias"].astype(np.float64),
    )


def bqm_file_bytes(problem: Problem) -> bytes:
    """The problem as dimod writes it; integers past 2^53 are rounded."""
    is_numbered = tuple(problem.names) == tuple(range(problem.num_variables))
    start = "int32" if 2 * len(problem.pairs) < 2**31 else "int64"
    header = {
        "dtype": "float64",
        "itype": "int32",
        "ntype": start,
        "shape": [problem.num_variables, len(problem.pairs)],
        "type": "BinaryQuadraticModel",
        "variables": not is_numbered,
        "vartype": problem.vartype,
    }
    text = _padded(json.dumps(header).encode() + b"\n", _HEADER_START)
    pairs = np.concatenate([problem.pairs, problem.pairs[:, ::-1]])
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    halves = np.zeros(len(pairs), [("neighbour", "<i4"), ("bias", "<f8")])
    halves["neighbour"] = pairs[order, 1]
    halves["bias"] = np.tile(problem.quadratic, 2)[order]
    linear = np.zeros(
        problem.num_variables,
        [("start", np.dtype(start).newbyteorder("<")), ("bias", "<f8")],
    )
    linear["start"] = np.searchsorted(pairs[order, 0], np.arange(problem.num_variables))
    linear["bias"] = problem.linear
    parts = [MAGIC, bytes([2, 0]), struct.pack("<I", len(text)), text]
    parts += [struct.pack("<d", float(problem.offset)), linear.tobytes(), halves.tobytes()]
    if not is_numbered:
        labels = f"[{', '.join(json_texts(problem.names))}]".encode()
        labels = _padded(labels, len(_SECTION) + 4)
        parts += [_SECTION, struct.pack("<I", len(labels)), labels]
    return b"".join(parts)


def _padded(data: bytes, before: int) -> bytes:
    """Adds blanks so that it ends at a multiple of 64 bytes, if `before` bytes are before it."""
    return data + b" " * (-(len(data) + before) % _ALIGNMENT)


def _read_header(source: Source) -> _Header:
    """Reads the header; checks everything before it is used as a size or a type."""
    data = source.data
    if not data.startswith(MAGIC) or len(data) < _HEADER_START:
        raise source.error("no BinaryQuadraticModel", expected="a file that dimod's to_file wrote")
    version = data[len(MAGIC)]
    if version not in (1, 2):
        raise source.error(f"version {version} of the format", expected="1 or 2")
    (length,) = struct.unpack_from("<I", data, len(MAGIC) + 2)
    end = _HEADER_START + length
    fields = _json(source, data[_HEADER_START:end])
    fields = fields if isinstance(fields, dict) else {}
    shape = fields.get("shape")
    good = (
        isinstance(shape, list)
        and len(shape) == 2
        and all(type(n) is int and 0 <= n < 2**62 for n in shape)
        and fields.get("dtype") in _FLOATS
        and fields.get("itype") in _INTEGERS
        and fields.get("ntype") in _INTEGERS
        and fields.get("vartype") in tuple(KINDS)
    )
    if not good:
        raise source.error("bad header", expected="shape, dtype, itype, ntype and vartype")
    bias, index, start = (
        np.dtype(fields[key]).newbyteorder("<") for key in ("dtype", "itype", "ntype")
    )
    linear = np.dtype([("start", start), ("bias", bias)])
    quadratic = np.dtype([("neighbour", index), ("bias", bias)])
    labels = fields.get("variables")
    size, num_pairs = fields["shape"]
    return _Header(end, size, num_pairs, fields["vartype"], bias, linear, quadratic, labels)


def _pairs(source: Source, starts: np.ndarray, halves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Makes pairs of what is there twice; int64 [E, 2] and biases [E].

    Args:
      source: the file, for messages.
      starts: int64 [N], where each variable's neighbours begin.
      halves: [2 E] neighbours and biases.
    """
    limits = np.append(starts, len(halves))
    if (limits[:1] != 0).any() or (np.diff(limits) < 0).any():
        raise source.error("the file is damaged: neighbours do not begin where others end")
    owners = np.repeat(np.arange(len(starts)), np.diff(limits))
    neighbours = halves["neighbour"].astype(np.int64)
    if neighbours.size and not (neighbours.min() >= 0 and neighbours.max() < len(starts)):
        raise source.error("the file is damaged: a neighbour is no variable")
    upper = owners < neighbours
    ends = np.stack([owners, neighbours], axis=1)
    forwards, backwards = ends[upper], ends[~upper][:, ::-1]
    first, second = np.lexsort(forwards.T[::-1]), np.lexsort(backwards.T[::-1])
    biases = halves["bias"][upper][first]
    mirrored = halves["bias"][~upper][second]
    if (
        not np.array_equal(forwards[first], backwards[second])
        or find_bad_pair(forwards) is not None
    ):
        raise source.error("the file is damaged: not every pair is there twice")
    if not np.array_equal(biases, mirrored):
        raise source.error("the file is damaged: a pair has two biases, or one that is no number")
    return forwards[first], biases


def _labels(source: Source, header: _Header, end: int) -> Sequence[Hashable]:
    """Reads the labels; 0..N-1 where there are none."""
    labels = header.labels
    if labels is True:
        data = source.data
        if data[end : end + len(_SECTION)] != _SECTION or len(data) < end + len(_SECTION) + 4:
            raise source.error("the file ends early", expected="the labels of the variables")
        (length,) = struct.unpack_from("<I", data, end + len(_SECTION))
        start = end + len(_SECTION) + 4
        labels = _json(source, data[start : start + length])
    elif labels is False:
        return range(header.size)
    if not isinstance(labels, list) or len(labels) != header.size:
        raise source.error(f"no labels of {header.size} variables")
    try:
        return from_json(labels)
    except ValueError as error:
        raise source.error(f"labels: {error}") from None


def _json(source: Source, data: bytes) -> Any:
    return Source(source.path, data).json


BQM_FILE = Format(
    name="bqm",
    title="dimod's BinaryQuadraticModel as a file",
    kinds=("qubo", "ising"),
    suffixes=(".bqm",),
    signature="the first bytes are `DIMODBQM`",
    read=read_bqm_file,
    write=bqm_file_bytes,
    names="all",
    carries=frozenset({"weights", "isolated", "order", "offset"}),
    lists_vertices=True,
    faults={
        "repeats": ERROR,
        "reverse": f"{ERROR}, unless both variables have it alike",
        "loops": ERROR,
        "count": ERROR,
        "range": ERROR,
    },
)
