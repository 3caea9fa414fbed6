"""Abbreviations for low-level terms written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.interpret import evaluate
from egglift.ir.patterns import Expr, Level
from egglift.ir.types import F32, Array, Scalar, Tuple, Type, array_of

NdArray = np.ndarray[Any, Any]
F_PAIR = Tuple((F32, F32))


def pair(a: Type, b: Type) -> tuple[Expr, Expr]:
    """The components of an argument that is a pair."""
    arg = p.Arg(Tuple((a, b)))
    return p.Get(0, arg), p.Get(1, arg)


def op(name: str, *args: Expr) -> Expr:
    return p.Apply(name, args)


def add_of(t: Scalar = F32) -> Expr:
    """The body of + on `t`."""
    return op("add", *pair(t, t))


def lit(x: bool | int | float, t: Scalar = F32) -> Expr:
    return p.Literal(x, t)


def vector(name: str, *shape: int, t: Scalar = F32) -> Expr:
    """An input of nested arrays."""
    return p.Input(name, array_of(t, shape))


def elem(x: Expr) -> Type:
    """The type of an array's elements."""
    t = type_of(x)
    assert isinstance(t, Array)
    return t.element


def fmap(f: Any, x: Expr, kind: str | None = None, d: int = 0) -> Expr:
    """A map of a Python function of the argument, or of a body."""
    body = f(p.Arg(elem(x))) if callable(f) else f
    return p.Map(body, x, Level(kind, d) if kind else None)


def total(x: Expr, t: Scalar = F32) -> Expr:
    """The sum of an array, from left to right."""
    return p.Fold(add_of(t), lit(0, t), x)


def flat(value: Any) -> list[np.ndarray[Any, Any]]:
    """The interpreter's result as flat arrays in leaf order."""
    if isinstance(value, tuple):
        return [a for item in value for a in flat(item)]
    return [np.asarray(value).reshape(-1)]


def meaning(term: Expr, **inputs: Any) -> list[np.ndarray[Any, Any]]:
    """What the interpreter says that `term` is."""
    return flat(evaluate(term, inputs))
