"""Loops over arrays that run in plain Python or compiled by numba, from one source.

Such a loop is a function of one NamedTuple of arrays and integers, whose arrays it changes. It and
the functions that it calls by their names index, compare and count, make no arrays but views of
those, and know nothing of numba; none calls itself. Below some size it runs as it is, on lists, and
is done before a compiler would have been imported. What has been compiled for a large one, or
within `always_compiled`, is used for smaller ones, too.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

__all__ = ["always_compiled", "prefetch", "run_loop"]

# Where plain Python takes about as long as importing numba and what it keeps on disk.
MOST_PLAIN = 50_000
_MOST_LISTED = 200  # up to here lists are no slower than arrays that are compiled for
_REORDERED = {"reassoc", "contract", "nsz"}

_State = TypeVar("_State", bound=tuple[Any, ...])
_ready: set[tuple[Any, ...]] = set()
_thread = threading.local()


@contextlib.contextmanager
def always_compiled() -> Iterator[None]:
    """Has all loops of this thread compiled, whatever their sizes are."""
    _thread.compiles = True
    try:
        yield
    finally:
        _thread.compiles = False


def run_loop(
    loop: Callable[[Any], None], state: _State, size: int, *, reorder: bool = False
) -> _State:
    """Runs a loop in the way that is faster for its size.

    Args:
      loop: a function as said above.
      state: its argument, a NamedTuple of arrays, which may be changed, and integers.
      size: about how many elements it goes over.
      reorder: whether a compiler may take sums in any order, as vectors want it.

    Returns:
      The state as the loop leaves it.
    """
    kind = (loop, *(field.dtype if isinstance(field, np.ndarray) else None for field in state))
    known = kind in _ready and size > _MOST_LISTED
    if size > MOST_PLAIN or known or getattr(_thread, "compiles", False):
        function = _compile(loop, reorder)
        try:
            function(state)
        except OSError:  # the disk is full: what was compiled is in memory all the same
            function(state)
        _ready.add(kind)
        return state
    lists = [field.tolist() if isinstance(field, np.ndarray) else field for field in state]
    loop(type(state)(*lists))
    pairs = zip(lists, state, strict=True)
    fields = [np.array(new, old.dtype) if isinstance(new, list) else new for new, old in pairs]
    return type(state)(*fields)


def prefetch(numbers, index) -> None:
    """Has a compiled loop's processor fetch what it will read soon; does nothing in plain Python.

    Args:
      numbers: an array, contiguous.
      index: place in it, counted through all of its axes; any integer will do.
    """


@functools.cache
def _compile(loop: Callable[[Any], None], reorder: bool) -> Callable[[Any], None]:
    """Gives the loop as numba compiles it, at its first call with arrays of some types.

    The result is kept on disk only where NUMBA_CACHE_DIR says where, since numba would put it among
    the sources. There it goes by the loop's file alone: whoever sets it and changes another file
    empties that folder. Other threads go on while the loop runs.

    The loop has arrays that its caller holds and makes none of its own, so that it need not count
    references to them. Counting them is atomic, and took longer than a flip of `swift` does.
    """
    import numba

    fastmath = _REORDERED if reorder else False
    _make_prefetch()
    _make_callable(loop, reorder)
    folder = getattr(numba.config, "CACHE_DIR", "")
    cache = bool(folder) and os.access(folder, os.W_OK)
    njit: Any = numba.njit  # its types know nothing of the last option
    return njit(nogil=True, cache=cache, fastmath=fastmath, _nrt=False)(loop)


def _make_callable(caller: Callable[..., Any], reorder: bool) -> None:
    """Lets compiled code call what one calls; functions stay what they are for Python."""
    for name in caller.__code__.co_names:
        function = caller.__globals__.get(name)
        if inspect.isfunction(function) and function is not prefetch:
            _register(function, reorder)


@functools.cache
def _register(function: Callable[..., Any], reorder: bool) -> None:
    from numba.extending import register_jitable

    fastmath = _REORDERED if reorder else False
    # C calls none of them: a tenth less to compile.
    register_jitable(no_cfunc_wrapper=True, fastmath=fastmath, forceinline=True)(function)
    _make_callable(function, reorder)


@functools.cache
def _make_prefetch() -> None:
    """Lets compiled code call `prefetch`, which is one instruction there."""
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic, overload

    @intrinsic
    def instruction(context: Any, numbers: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, values[0])
            place = builder.bitcast(builder.gep(array.data, [values[1]]), cgutils.voidptr_t)
            kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, *[ir.IntType(32)] * 3])
            name = "llvm.prefetch.p0i8"
            function = cgutils.get_or_insert_function(builder.module, kind, name)
            # To be read, into the nearest cache, data.
            builder.call(function, [place, *(ir.Constant(ir.IntType(32), x) for x in (0, 3, 1))])
            return context.get_dummy_value()

        return types.void(numbers, types.intp), generate

    call: Any = instruction
    # Annotations would be taken for a part of the signature.
    overload(prefetch)(lambda numbers, index: lambda numbers, index: call(numbers, index))
