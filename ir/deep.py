"""Deep recursion: work on programs that nest more deeply than Python's own stack allows."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

FRAMES, STACK = 200_000, 512 << 20  # frames of Python, bytes of the thread


def deep(run: Callable[[], T]) -> T:
    """`run()` on a stack of its own, with what it returns or raises."""
    results: list[T] = []
    errors: list[BaseException] = []

    def inside() -> None:
        before = sys.getrecursionlimit()
        try:
            sys.setrecursionlimit(max(before, FRAMES))
            results.append(run())
        except BaseException as error:
            errors.append(error)
        finally:
            sys.setrecursionlimit(before)

    size = threading.stack_size(STACK)
    try:
        thread = threading.Thread(target=inside)
        thread.start()
    finally:
        threading.stack_size(size)
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
