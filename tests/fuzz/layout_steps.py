"""Steps of random programs that only move elements, and those that make arrays of nothing."""

from __future__ import annotations

import numpy as np

import egglift as el
from egglift.ir.types import BOOL, Array, Scalar, Tuple
from egglift.ir.value import Value
from tests.fuzz.growing import Growing
from tests.fuzz.style import Room

#: how often each step is taken
LAYOUT_STEPS = {
    "zip": 2,
    "unzip": 0.5,
    "cross": 0.7,
    "split": 2,
    "stride": 0.7,
    "join": 2,
    "transpose": 2,
    "slide": 1,
    "pad": 1.5,
    "pad_up": 0.7,
    "take": 0.7,
    "drop": 0.7,
    "roll": 0.7,
    "concat": 1,
    "gather": 0.7,
    "reorder": 0.8,
    "index": 1,
    "slice": 0.6,
    "fill": 0.6,
    "iota": 0.7,
    "constant": 0.6,
}


class LayoutSteps(Growing):
    """Layout patterns, and leaves."""

    def zip(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        if x is None:
            return None
        same = [v for v in scope if isinstance(v.type, Array) and v.type.length == len(x)]
        return x.zip(*(self.rng.choice(same) for _ in range(self.rng.randint(1, 2))))

    def unzip(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope, lambda t: isinstance(t, Tuple))
        return None if x is None else x.unzip()[0]

    def cross(self, scope: list[Value], room: Room) -> Value | None:
        x, y = self.array(scope), self.array(scope)
        return None if x is None or y is None else x.cross(y)

    def divisor(self, x: Value) -> int:
        n = len(x)
        return self.rng.choice([d for d in range(1, n + 1) if n % d == 0]) if n else 1

    def split(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        return None if x is None else x.split(self.divisor(x))

    def stride(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        return None if x is None else x.stride(self.divisor(x))

    def join(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope, lambda t: isinstance(t, Array))
        return None if x is None else x.join()

    def transpose(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope, lambda t: isinstance(t, Array))
        return None if x is None else x.T

    def slide(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        if x is None or len(x) == 0:
            return None
        return x.slide(self.rng.randint(1, min(5, len(x))), self.rng.randint(1, 3))

    def pad(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        return None if x is None else x.pad(self.rng.randint(0, 4), self.rng.randint(0, 4), self.mode(x, scope))

    def pad_up(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        if x is None or len(x) == 0:
            return None
        t = x.type.element  # type: ignore[union-attr]
        value = self.coerced(self.scalar(scope), t, scope) if self.rng.random() < 0.5 else None
        return x.pad_up(self.rng.choice((1, 2, 3, 4, 8, 16)), value)

    def take(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        return None if x is None else x.take(self.rng.randint(0 if self.rng.random() < 0.1 else min(1, len(x)), len(x)))

    def drop(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        return None if x is None else x.drop(self.rng.randint(0, max(0, len(x) - 1)))

    def roll(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        return None if x is None else x.roll(self.rng.randint(-3, 3) if self.rng.random() < 0.7 else len(x) // 2)

    def concat(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        y = None if x is None else self.array(scope, lambda t: t == x.type.element)  # type: ignore[union-attr]
        return None if x is None or y is None else x.concat(y)

    def gather(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        indices = self.array(scope, lambda t: isinstance(t, Scalar) and t.is_integer)
        return None if x is None or len(x) == 0 or indices is None else x.gather(indices)

    def reorder(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        if x is None or len(x) == 0:
            return None
        n, a, b = len(x), self.rng.randint(1, 5), self.rng.randint(0, 3)
        if self.rng.random() < 0.3:
            return x.reorder(np.random.default_rng(a).permutation(n))
        return x.reorder(self.rng.choice((lambda i: n - 1 - i, lambda i: (i * a + b) % n)))

    def index(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        if x is None or len(x) == 0:
            return None
        i = self.find(scope, lambda t: isinstance(t, Scalar) and t.is_integer)
        return x[self.rng.randrange(len(x))] if i is None or self.rng.random() < 0.6 else x[i]

    def slice(self, scope: list[Value], room: Room) -> Value | None:
        x = self.array(scope)
        if x is None or len(x) == 0:
            return None
        a, b = sorted((self.rng.randint(0, len(x)), self.rng.randint(0, len(x))))
        return x[a : max(b, a + 1) : self.rng.randint(1, 3)]

    # -------------------------------------------------------------------------------- leaves

    def fill(self, scope: list[Value], room: Room) -> Value | None:
        return el.fill(self.length(most=17), self.rng.choice(scope))

    def iota(self, scope: list[Value], room: Room) -> Value | None:
        integers = [s for s in self.style.scalars if s.is_integer]
        return el.iota(self.length(), self.rng.choice(integers)) if integers else None

    def constant(self, scope: list[Value], room: Room) -> Value | None:
        t = self.any_scalar()
        data = [self.rng.randint(0, 1 if t == BOOL else 4) for _ in range(self.length(most=17))]
        return el.literal(np.asarray(data, t.dtype))
