"""Deep recursion: work on programs that nest more deeply than Python's own stack allows."""

from __future__ import annotations

import contextvars
import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from egglift.ir.errors import ProgramError

T = TypeVar("T")

FRAMES, STACK = 200_000, 512 << 20  # frames of Python, bytes of the thread

_lock = threading.Lock()
_before: list[int] = []  # the limit of frames as it was, once for each thread that is deep now


def deep(run: Callable[[], T]) -> T:
    """`run()` on a stack of its own, with what it returns or raises; ProgramError where even that is too short."""
    results: list[T] = []
    errors: list[BaseException] = []

    def inside() -> None:
        try:
            with _frames():
                results.append(run())
        except BaseException as error:
            errors.append(error)

    with _lock:
        size = threading.stack_size(STACK)
        try:
            thread = threading.Thread(target=contextvars.copy_context().run, args=(inside,), daemon=True)
            thread.start()
        finally:
            threading.stack_size(size)
    try:
        thread.join()
    except BaseException as error:  # an interrupt: nobody waits for the result any more
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(type(error)))
        raise
    if errors and isinstance(errors[0], RecursionError):
        raise ProgramError("the program nests too deeply to be worked on; write it as arrays, or in parts") from None
    if errors:
        raise errors[0]
    return results[0]


def deeply(run: Callable[[], T]) -> T:
    """`run()`, and once more on a stack of its own where Python's is too short."""
    try:
        return run()
    except RecursionError:
        return deep(run)


@contextmanager
def _frames() -> Iterator[None]:
    """The limit holds for all threads: the last one that is deep sets it back."""
    with _lock:
        _before.append(_before[0] if _before else sys.getrecursionlimit())
        sys.setrecursionlimit(max(_before[0], FRAMES))
    try:
        yield
    finally:
        with _lock:
            before = _before.pop()
            if not _before:
                sys.setrecursionlimit(before)
