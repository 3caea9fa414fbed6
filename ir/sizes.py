"""Lengths: numbers, or, until the search has chosen them, expressions over tile symbols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from egglift.ir.errors import ShapeError
from egglift.ir.kept import hashed_once


@hashed_once
@dataclass(frozen=True)
class Sym:
    """A tile length that the search will choose, e.g. `p0`."""

    name: str

    def __str__(self) -> str:
        return self.name


@hashed_once
@dataclass(frozen=True)
class SizeOp:
    """`a op b` on lengths; op is one of + - * / (division truncates: `a/b*b` is what `b` divides)."""

    op: str
    a: Size
    b: Size

    def __str__(self) -> str:
        return f"({self.a}{self.op}{self.b})"


Size: TypeAlias = int | Sym | SizeOp


def evaluate(size: Size, env: Mapping[str, int] = {}) -> int:
    """The number that `size` is under `env`; ShapeError where a symbol has no value or a divisor is zero."""
    match size:
        case int():
            return size
        case Sym(name):
            if name not in env:
                raise ShapeError(f"tile length {name} has no value yet; choose one of {sorted(env)}")
            return env[name]
        case SizeOp(op, a, b):
            x, y = evaluate(a, env), evaluate(b, env)
            if op == "/" and y == 0:
                raise ShapeError(f"{size}: division by a zero length")
            return computed(op, x, y)


def computed(op: str, x: int, y: int) -> int:
    """`x op y` on numbers; 0 for a division by zero."""
    match op:
        case "+":
            return x + y
        case "-":
            return x - y
        case "*":
            return x * y
        case _:
            return x // y if y else 0


def symbols(size: Size) -> frozenset[str]:
    """The tile symbols in `size`."""
    match size:
        case int():
            return frozenset()
        case Sym(name):
            return frozenset({name})
        case SizeOp(_, a, b):
            return symbols(a) | symbols(b)
