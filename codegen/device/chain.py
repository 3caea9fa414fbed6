"""Commands on a queue that follow each other, whatever kind of queue it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: OpenCL's bit for a queue that may begin a command before the ones that it was given earlier are done
OUT_OF_ORDER = 1


def in_order(queue: Any) -> bool:
    """Does `queue` (a pyopencl CommandQueue) run its commands in the order in which it is given them?"""
    return not queue.properties & OUT_OF_ORDER


class Chain:
    """Commands of one queue, each of which begins when the one before is done.  The device waits, not the host.

    The first waits for `wait_for`, events of any queue of the same context.  From there on a queue that is in order
    sees to it; on one that is not, each command waits for the event of the one before:

        chain.add(cl.enqueue_copy(chain.queue, there, here, wait_for=chain.after))

    queue: a pyopencl CommandQueue; ordered: is it in order?  last: the event of the last command, None before any.
    """

    def __init__(self, queue: Any, wait_for: Sequence[Any] = ()) -> None:
        self.queue, self.ordered = queue, in_order(queue)
        self.last: Any = None
        self._first = list(wait_for)

    @property
    def after(self) -> list[Any] | None:
        """The events that the next command waits for; None where there are none, as pyopencl wants it."""
        if self.last is None:
            return self._first or None
        return None if self.ordered else [self.last]

    def add(self, event: Any) -> Any:
        """`event`, which is that of the last command from now on."""
        self.last = event
        return event

    def is_before(self, other: Chain) -> bool:
        """Is all of it over when the commands of `other`, which are still to be enqueued, begin?"""
        if self.ordered and self.queue == other.queue:
            return True
        return self.last is None or self.last.command_execution_status <= 0  # done, or given up after an error

    def finish(self) -> None:
        """Waits, on the host, until the next command could begin."""
        for event in self._first if self.last is None else [self.last]:
            event.wait()
