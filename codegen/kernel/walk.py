"""Walks over statements and values: what is inside what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from egglift.codegen.kernel.imperative import (
    Call,
    Guarded,
    If,
    IndexValue,
    Load,
    LookBack,
    Loop,
    ScalarValue,
    Statement,
)
from egglift.codegen.kernel.index import Index


def blocks(s: Statement) -> tuple[tuple[Statement, ...], ...]:
    """The blocks inside a statement: a loop's body, both branches of an `if`, what combines two values."""
    match s:
        case Loop():
            return (s.body,)
        case If():
            return s.body, s.otherwise
        case LookBack():
            return (s.combine,)
    return ()


def with_blocks(s: Statement, change: Callable[[tuple[Statement, ...]], Iterable[Statement]]) -> Statement:
    """`s` with every block inside it changed: `for i { b }` -> `for i { change(b) }`."""
    match s:
        case Loop():
            return replace(s, body=tuple(change(s.body)))
        case If():
            return replace(s, body=tuple(change(s.body)), otherwise=tuple(change(s.otherwise)))
        case LookBack():
            return replace(s, combine=tuple(change(s.combine)))
    return s


def walk(body: Iterable[Statement]) -> Iterator[Statement]:
    """Every statement of a block and of the blocks inside it, each before what is inside it."""
    for s in body:
        yield s
        for block in blocks(s):
            yield from walk(block)


def operands(v: ScalarValue) -> tuple[ScalarValue, ...]:
    """The values that `v` is computed from, those in its indices aside."""
    match v:
        case Call():
            return v.args
        case Guarded():
            return v.inside, v.outside
    return ()


def parts(v: ScalarValue) -> tuple[ScalarValue, ...]:
    """The values that `v` is computed from, and the loaded numbers in its indices."""
    match v:
        case Load(_, at) | IndexValue(at, _):
            return tuple(index_values(at)) if at.data else ()
        case Guarded():
            return v.inside, v.outside, *index_values(v.at)
    return operands(v)


def subvalues(
    values: Iterable[ScalarValue], inside: Callable[[ScalarValue], tuple[ScalarValue, ...]] = parts
) -> Iterator[ScalarValue]:
    """`values` and all that is `inside` them, each object once."""
    stack, seen = list(values), set[int]()
    while stack:
        v = stack.pop()
        if id(v) not in seen:
            seen.add(id(v))
            yield v
            stack.extend(inside(v))


def index_values(at: Index) -> list[ScalarValue]:
    """The loaded numbers in an index."""
    return [data.value for data in at.data]  # type: ignore[misc]
