"""A pass over statements: loops that would become too much code are not unrolled; compilers take minutes for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from egglift.codegen.kernel.imperative import Call, If, Let, Loop, ScalarValue, Statement, Store
from egglift.codegen.kernel.walk import operands, subvalues

MOST = 4096  # statements that one loop may become, of a multiply-add each
#: float functions that compilers write out at every call, and how many statements each is worth
WRITTEN_OUT = dict.fromkeys(("sin", "cos", "tan", "tanh", "erf", "pow", "atan2", "mod", "floordiv"), 32) | {"div": 4}


def limit_unrolling(body: Iterable[Statement]) -> tuple[Statement, ...]:
    """`body` where no loop becomes more than MOST statements, whatever was asked for.

    #pragma unroll                              for (int i = 0; i < 64; ++i) {
    for (int i = 0; i < 64; ++i) {        ->      #pragma unroll
      #pragma unroll                              for (int j = 0; j < 128; ++j) { s; }
      for (int j = 0; j < 128; ++j) { s; }      }
    }
    """
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
                size = _size(value) * (lane.count if lane else 1)
            case _:
                size = 1
        result.append(s)
        total += size
    return tuple(result), total


def _size(v: ScalarValue) -> int:
    """Statements that `v` is worth: two operations are one; what calls share is computed once."""
    calls = [c for c in subvalues((v,), operands) if isinstance(c, Call)]
    return max(1, len(calls) // 2) + sum(WRITTEN_OUT.get(c.op, 0) for c in calls if c.type.is_float)
