"""Barriers: between the steps of a work-group that exchange data through local memory, and nowhere else.

A kernel's body is, above its steps (an `If` without conditions, see `Builder.step`), executed by all work-items of
a group alike, so a barrier may stand between any two statements there.  One is needed before a statement that
reads what another work-item may have written since the last barrier, or writes what one may have read or written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from egglift.codegen.imperative import Barrier, Buffer, If, Loop, Statement
from egglift.codegen.inplace import accesses


@dataclass(frozen=True)
class Pending:
    """Local buffers read and written since the last barrier."""

    read: frozenset[Buffer] = frozenset()
    written: frozenset[Buffer] = frozenset()


def with_barriers(statements: Iterable[Statement], items: int) -> tuple[Statement, ...]:
    """`statements` with the barriers that a group of `items` work-items needs; steps are dissolved."""
    done = _process(tuple(statements), Pending())[0] if items > 1 else tuple(statements)
    return _dissolved(done)


def _process(statements: tuple[Statement, ...], pending: Pending) -> tuple[tuple[Statement, ...], Pending]:
    result: list[Statement] = []
    for s in statements:
        nested = isinstance(s, Loop) or (isinstance(s, If) and bool(s.conditions))
        if isinstance(s, Barrier):
            pending = Pending()
        elif _conflicts(s, nested, pending):
            result.append(Barrier("local"))  # before a loop, rather than in every iteration
            pending = Pending()
        if nested:
            assert isinstance(s, Loop | If)
            s, pending = _nested(s, pending)
        else:
            read, written = _local(s)
            pending = Pending(pending.read | read, pending.written | written)
        result.append(s)
    return tuple(result), pending


def _conflicts(s: Statement, nested: bool, pending: Pending) -> bool:
    """Does `s` need a barrier before something in it, because of what is pending?"""
    if nested:
        assert isinstance(s, Loop | If)
        return pending != Pending() and _process(s.body, pending)[0] != _process(s.body, Pending())[0]
    read, written = _local(s)
    return bool((read | written) & pending.written or written & pending.read)


def _nested(s: Loop | If, pending: Pending) -> tuple[Statement, Pending]:
    body, after = _process(s.body, pending)
    if isinstance(s, Loop) and s.trips > 1 and _process(body, after)[0] != body:
        body, after = (*body, Barrier("local")), Pending()  # the next iteration touches what this one left
    if isinstance(s, If):  # another path leads past it
        after = Pending(after.read | pending.read, after.written | pending.written)
    return replace(s, body=body), after


def _local(s: Statement) -> tuple[frozenset[Buffer], frozenset[Buffer]]:
    """The local buffers that a statement reads and writes."""
    seen = [a for a in accesses((s,)) if a.buffer.space == "local"]
    return frozenset(a.buffer for a in seen if not a.write), frozenset(a.buffer for a in seen if a.write)


def _dissolved(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    result: list[Statement] = []
    for s in statements:
        if isinstance(s, If) and not s.conditions:
            result.extend(_dissolved(s.body))
        elif isinstance(s, Loop | If):
            result.append(replace(s, body=_dissolved(s.body)))
        else:
            result.append(s)
    return tuple(result)
