"""What was found for stages, by what they are whatever they are called: equal ones are searched once in a process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

from egglift.ir.deadline import left

T = TypeVar("T")
MOST = 2048  # results that are kept, those that were asked for last


class Known:
    """Results by keys that say all that they depend on."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._lock = most, Lock()
        self._found: OrderedDict[Hashable, Any] = OrderedDict()

    def once(self, key: Hashable, find: Callable[[], T]) -> T:
        """What is known by this key, or what `find` finds.  What the time cut short is kept for no other search."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                known: T = self._found[key]
                return known
        new = find()
        if left() > 0:
            with self._lock:
                self._found[key] = new
                while len(self._found) > self._most:
                    self._found.popitem(last=False)
        return new

    def clear(self) -> None:
        """Forgets all."""
        self._found.clear()


#: of this process
KNOWN = Known()
