"""Steps of random programs that apply a body, or several: maps, reductions, folds."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import egglift as el
from egglift.ir import patterns as p
from egglift.ir.check import SUMMED
from egglift.ir.sizes import evaluate as number
from egglift.ir.types import BOOL, Array, Scalar, Type, leaves
from egglift.ir.value import Value, typed
from tests.fuzz.growing import Growing
from tests.fuzz.operators import random_operator
from tests.fuzz.style import Room, elements

#: how often each step is taken; what nests and computes comes more often than the many layout patterns
COMPUTING_STEPS = {
    "map": 9,
    "reduce": 5,
    "row_sums": 3,
    "product": 2,
    "stencil": 3,
    "fold": 2.5,
    "scan": 2,
    "count": 0.7,
    "iterate": 1,
    "place": 0.7,
}


class ComputingSteps(Growing):
    """Computing patterns."""

    def map(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        if x is None:
            return None
        same = [v for v in scope if isinstance(v.type, Array) and v.type.length == len(x)]
        if self.rng.random() < 0.25:
            f = self.body(scope, room.inside(len(x)))
            return x.map(lambda a, b: f(a, b), self.rng.choice(same))
        f = self.body(scope, room.inside(len(x)))
        return x.map(lambda a: f(a))

    def reduce(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        if x is None:
            return None
        found = self._operator(x, scope)
        return None if found is None else x.reduce(*found)

    def _operator(self, x: Value, scope: list[Value]) -> tuple[Any, Value | None] | None:
        """An operator for an array's elements, and what it begins with; None where there is none."""
        t = x.type.element  # type: ignore[union-attr]
        op, neutral = random_operator(t, len(x), self.style.functions, self.rng)
        if op is None:
            return None
        return op, None if neutral and self.rng.random() < 0.6 else self.coerced(self.rng.choice(scope), t, scope)

    def scan(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope, lambda t: all(not shape for shape, _ in leaves(t)))
        if x is None:
            return None
        if (found := self._operator(x, scope)) is None:
            return None
        exclusive, reverse = self.rng.random() < 0.2, self.rng.random() < 0.2
        return x.scan(*found, exclusive=exclusive, reverse=reverse)

    def count(self, scope: list[Value], room: Room) -> Value | None:
        """How often each number is there, or the sum of what is beside it."""
        x = self.array(scope, lambda t: isinstance(t, Scalar) and t.is_integer)
        if x is None:
            return None
        length = self.rng.choice((1, 2, 5, 17))
        beside = self.find(scope, lambda t: isinstance(t, Array) and t.length == len(x) and t.element in SUMMED)
        if beside is None or self.rng.random() < 0.5:
            return el.bincount(x, length)
        return typed(p.Sums(length, beside.type.element, el.zip(x, beside).expr))  # type: ignore[union-attr]

    def row_sums(self, scope: list[Value], room: Room) -> Value | None:
        """A reduction of each row of a matrix, of products with a captured vector where there is one."""
        x = self.array(scope, lambda t: isinstance(t, Array) and isinstance(t.element, Scalar))
        if x is None or room.depth < 2:
            return None
        row: Any = x.type.element  # type: ignore[union-attr]
        op, _ = random_operator(row.element, number(row.length), self.style.functions, self.rng, own=False)
        if op is None:
            return None
        vector = self.find(scope, lambda t: t == row)
        functions = self.style.functions
        if vector is None or "mul" not in functions.of(row.element):
            return x.map(lambda r: r.reduce(op, op.of(row.element).neutral))
        return x.map(lambda r: r.map(lambda a, b: a * b, vector).reduce(op, op.of(row.element).neutral))

    def product(self, scope: list[Value], room: Room) -> Value | None:
        """All pairs of rows, each reduced: a matrix product where the functions say so."""
        x = self.array(scope, lambda t: isinstance(t, Array) and isinstance(t.element, Scalar))
        if x is None or room.depth < 3:
            return None
        row: Any = x.type.element  # type: ignore[union-attr]
        y = self.find(scope, lambda t: isinstance(t, Array) and t.element == row)
        z = self.find(scope, lambda t: isinstance(t, Array) and t.length == row.length and _is_row(t.element, row))
        other = z.T if z is not None and self.rng.random() < 0.6 else y if y is not None else x
        inner = room.inside(len(x) * len(other))
        op, _ = random_operator(row.element, number(row.length), self.style.functions, self.rng, own=False)
        if op is None or len(x) * len(other) * number(row.length) > 20 * room.elements:
            return None
        f: Callable[..., Any] = self.body([], replace(inner, depth=0), row.element)
        if "mul" in self.style.functions.of(row.element) and self.rng.random() < 0.6:
            f = operator.mul
        neutral = op.of(row.element).neutral
        return x.map(lambda r: other.map(lambda c: r.map(lambda a, b: f(a, b), c).reduce(op, neutral)))

    def stencil(self, scope: list[Value], room: Room) -> Value | None:
        """A function of the neighbourhood of each element, in one or two dimensions."""
        x = self.array(scope)
        if x is None or len(x) == 0 or room.depth < 2:
            return None
        n = self.rng.choice((2, 3, 3, 5))
        mode = self.mode(x, scope)
        t = x.type.element  # type: ignore[union-attr]
        if isinstance(t, Array) and self.rng.random() < 0.7 and t.length != 0 and room.depth > 2 and mode != "wrap":
            rows = x.map(lambda r: r.pad(n // 2, n // 2, self.mode(r, [])).slide(n, 1)).pad(n // 2, n // 2, "clamp")
            f = self.body([], room.inside(len(x) * number(t.length)))
            return rows.slide(n, 1).map(lambda w: el.transpose(w).map(lambda tile: f(tile.join())))
        f = self.body(scope, room.inside(len(x)))
        return x.pad(n // 2, n - 1 - n // 2, mode).slide(n, 1).map(lambda w: f(w))

    def fold(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        if x is None or len(x) > room.serial:
            return None
        init = self.rng.choice(scope)
        if elements(init.type) * max(len(x), 1) > 4 * room.elements:
            return None
        f = self.body(scope, room.inside(len(x), serial=True), init.type)
        return x.fold(lambda acc, v: f(acc, v), init)

    def iterate(self, scope: list[Value], room: Room) -> Value | None:
        x, n = self.rng.choice(scope), self.rng.randint(0, 3)
        if n > room.serial:
            return None
        f = self.body(scope, room.inside(1), x.type)
        return x.iterate(n, lambda v: f(v))

    def place(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope, lambda t: isinstance(t, Scalar) and t != BOOL)
        return None if x is None or len(x) == 0 else self.rng.choice((el.argmin, el.argmax))(x)


def _is_row(t: Type, row: Array) -> bool:
    return isinstance(t, Array) and t.element == row.element
