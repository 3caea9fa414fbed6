"""Loops that would become too much code are not unrolled, whatever was asked for: compilers take minutes for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.imperative import If, Let, Loop, Statement, Store, Value

MOST = 4096  # statements that one loop may become
#: float functions that compilers write out at every call, and how many statements each is worth
WRITTEN_OUT = dict.fromkeys(("sin", "cos", "tan", "tanh", "erf", "pow", "atan2", "mod", "floordiv"), 32)


def limited(body: Iterable[Statement]) -> tuple[Statement, ...]:
    """`unroll for i < 64 { unroll for j < 128 { s } }` -> `for i < 64 { unroll for j < 128 { s } }`."""
    return _limited(body)[0]


def _limited(body: Iterable[Statement]) -> tuple[tuple[Statement, ...], int]:
    """The statements, and how many they are once their loops are unrolled."""
    result: list[Statement] = []
    total = 0
    for s in body:
        match s:
            case Loop():
                inner, size = _limited(s.body)
                unroll = s.unroll and s.trips * size <= MOST
                s, size = replace(s, body=inner, unroll=unroll), (s.trips if unroll else 1) * size
            case If():
                (inner, size), (otherwise, more) = _limited(s.body), _limited(s.otherwise)
                s, size = replace(s, body=inner, otherwise=otherwise), size + more
            case Let(value=value, lane=lane) | Store(value=value, lane=lane):
                size = 1 + _written_out(value) * (lane.count if lane else 1)
            case _:
                size = 1
        result.append(s)
        total += size
    return tuple(result), total


def _written_out(v: Value) -> int:
    """Statements that the functions called in `v` are worth; what calls share is computed once."""
    total, stack, seen = 0, [v], set[int]()
    while stack:
        v = stack.pop()
        match v:
            case im.Call(op, args, t) if id(v) not in seen:
                seen.add(id(v))
                total += WRITTEN_OUT.get(op, 0) if t.is_float else 0
                stack.extend(args)
            case im.Guarded(_, _, inside, outside) if id(v) not in seen:
                seen.add(id(v))
                stack.extend((inside, outside))
    return total
