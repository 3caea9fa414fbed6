"""Other programs than the usual: tuples, numbers, small types, views, several results, steps that need each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir.signature import inputs_of
from egglift.ir.types import BOOL, Scalar, leaves
from tests import several
from tests.api.distribution.programs import agree
from tests.deep import every

N = 20
TRIPLE = (el.f32, el.i32, el.f32)


def x(t: Any = el.f32, *shape: int) -> el.Value:
    return el.array("x", t, shape or N)


def later(x: el.Value, y: el.Value) -> Any:
    """The second of two where it is not 0: associative, not commutative."""
    return el.where(y == 0, x, y)


LAST = el.operator(later, associative=True, commutative=False, neutral=0)


def bodies() -> el.Value:
    """Positions that attract each other, twice: each device needs all of the state, and computes a part."""

    def moved(s: el.Value) -> el.Value:
        return s.map(lambda a: a + 0.1 * s.map(lambda b: b - a).reduce(el.add, 0.0))

    return el.iterate(2, moved, x())


PROGRAMS: dict[str, Callable[[], Any]] = {
    "triples mapped": lambda: x(TRIPLE).map(lambda t: el.tuple(t[0] + t[2], t[1] * 2)),
    "triples reduced": lambda: el.sum(x(TRIPLE).map(lambda t: t[0] * t[2])),
    "triples captured": lambda: el.array("y", el.f32, N).map(
        lambda v: el.sum(x(TRIPLE).map(lambda t: t[0] - v * t[2]))
    ),
    "a number": lambda: x() * el.scalar("a", el.f32),
    "a scaled sum": lambda: x() * 2.5 + el.array("y", el.f32, N),
    "a scan beside its array": lambda: el.cumsum(x()) + x(),
    "a table": lambda: x().map(lambda v: el.sum(el.literal(np.arange(5, dtype=np.float32)) * v)),
    "bytes": lambda: x(el.u8) + 1,
    "bools": lambda: x(el.bool_).map(el.logical_not),
    "halves": lambda: x(el.f16) * x(el.f16),
    "doubles": lambda: el.cumsum(x(el.f64)),
    "whole numbers": lambda: el.sum(x(el.i64)),
    "the first number": lambda: x(el.i32).reduce(el.add, 7),
    "no neutral start": lambda: x(el.i32).reduce(LAST, 0),
    "a scan in order": lambda: el.scan(LAST, 3, x(el.i32)),
    "columns": lambda: el.sum(x(el.f32, 6, N), axis=0),
    "a transposed result": lambda: (x(el.f32, N, 4) * 2).T,
    "rolled": lambda: x().roll(3) + x(),
    "every second window": lambda: x().slide(4, 2).map(lambda w: w.reduce(el.maximum, 0.0)),
    "windows beside elements": lambda: el.zip(x().pad(1, 1, "wrap").slide(3, 1), x()).map(
        lambda p: el.sum(p[0]) - p[1]
    ),
    "three dimensions": lambda: el.stencil(
        lambda w: w[1, 1, 1] - w[0, 1, 2], (3, 3, 3), 1, 1, 1, "clamp", x(el.f32, 9, 4, 5)
    ),
    "two results": lambda: el.tuple(el.sum(x()), x() + 1),
    "the largest's place": lambda: el.argmax(x()),
    "variance": lambda: el.var(x()),
    "norm": lambda: el.norm(x()),
    "shares of a whole": lambda: el.exp(x()) / el.sum(el.exp(x())),
    "a product, then rows": lambda: (x(el.f32, N, 4) @ x(el.f32, N, 4).T).map(lambda r: r / el.sum(r)),
    "a vector's product": lambda: x(el.f32, N, 4).T @ (x(el.f32, N, 4) @ el.array("v", el.f32, 4)),
    "a gather": lambda: el.gather(el.array("i", el.i32, N), x()),
    "numbers from nowhere": lambda: el.iota(N, el.i32) * 2,
    "bodies": bodies,
    "nothing to do": lambda: x(),
}


def values(program: Any) -> dict[str, Any]:
    rng = np.random.default_rng(1)

    def one(shape: tuple[Any, ...], scalar: Scalar) -> Any:
        if scalar == BOOL or scalar.is_integer:
            return rng.integers(0, 2, shape).astype(scalar.dtype)
        return rng.random(shape).astype(scalar.dtype)

    def value(t: Any) -> Any:
        parts = tuple(one(*leaf) for leaf in leaves(t))
        return parts if len(parts) > 1 else parts[0]

    return {name: value(t) for name, t in inputs_of(program).items()}


def differs(name: str, resident: bool) -> str:
    program = el.as_program(PROGRAMS[name]())
    kernel, given = several.kernel(program), values(program)
    expected = el.interpret(program, **given)
    if resident:
        given = {n: contained(v) for n, v in given.items()}
    found = kernel(**given)
    found = tuple(np.asarray(f) for f in found) if isinstance(found, tuple) else np.asarray(found)
    return "" if agree(found, expected) else f"{kernel.explain()}\n{found}\n{expected}"


def contained(v: Any) -> Any:
    if isinstance(v, tuple) or v.ndim == 0:
        return v
    return {1: el.Vector, 2: el.Matrix}.get(v.ndim, el.distribution.containers.Container)(v)


@pytest.mark.parametrize(("name", "resident"), every(4, PROGRAMS, [False, True]))
def test_other_programs_are_right_too(three: Callable[..., Any], name: str, resident: bool) -> None:
    assert three(differs, name, resident) == ""
