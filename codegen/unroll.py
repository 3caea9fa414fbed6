"""Loops that would become too much code are not unrolled, whatever was asked for: compilers take minutes for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from egglift.codegen.imperative import If, Loop, Statement

MOST = 4096  # statements that one loop may become


def limited(body: Iterable[Statement]) -> tuple[Statement, ...]:
    """`unroll for i < 64 { unroll for j < 128 { s } }` -> `for i < 64 { unroll for j < 128 { s } }`."""
    return tuple(_limited(s) for s in body)


def _limited(s: Statement) -> Statement:
    match s:
        case Loop():
            inner = replace(s, body=limited(s.body))
            return replace(inner, unroll=False) if s.unroll and _size((inner,)) > MOST else inner
        case If():
            return replace(s, body=limited(s.body), otherwise=limited(s.otherwise))
    return s


def _size(body: Iterable[Statement]) -> int:
    """Statements of a block once its loops are unrolled."""
    total = 0
    for s in body:
        match s:
            case Loop():
                total += (s.trips if s.unroll else 1) * _size(s.body)
            case If():
                total += _size(s.body) + _size(s.otherwise)
            case _:
                total += 1
    return total
