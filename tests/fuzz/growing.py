"""How a random program grows: steps that are applied to random values in scope, and values of a wanted kind."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import egglift as el
from egglift.ir.errors import ProgramError
from egglift.ir.sizes import evaluate as number
from egglift.ir.types import F32, Array, Scalar, Tuple, Type
from egglift.ir.value import Value
from tests.fuzz.style import Room, Style, elements

SHORT = (1, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17)
LONG = (24, 31, 32, 33, 47, 64, 65, 96, 97, 100, 127, 128, 130, 200, 251, 256, 300)


class Growing:
    """Grows one program.  Subclasses have the steps, each a method that gives a value, or None if nothing fits.

    steps: how often each is taken, by name; shallow: where no body may nest any more.
    """

    steps: ClassVar[Mapping[str, float]]
    shallow: ClassVar[Mapping[str, float]]

    def __init__(self, rng: random.Random, style: Style, room: Room) -> None:
        self.rng, self.style, self.room = rng, style, room
        common = F32 if rng.random() < 0.4 else rng.choice(style.scalars)
        self.scalars = [common if common in style.scalars else F32, rng.choice(style.scalars)]
        self.inputs: list[Value] = []

    def length(self, most: int = 300) -> int:
        roll = self.rng.random()
        few = [n for n in (LONG if roll > 0.6 else SHORT) if n <= most]
        return 0 if roll < 0.015 else self.rng.choice(few or SHORT[: most + 1])

    def grow(self, pool: Sequence[Value], own: Sequence[Value], steps: int, room: Room) -> Value:
        """The last result of some patterns applied to what is in scope; `own` is what should be used."""
        scope, last = [*pool], self.rng.choice(list(own))
        names, weights = zip(*(self.steps if room.depth > 0 else self.shallow).items())
        for _ in range(steps):
            for _ in range(8):  # a pattern that nothing in scope fits is drawn again
                step = getattr(self, self.rng.choices(names, weights)[0])
                made = self.attempt(step, [*scope, last], room)
                if made is not None:
                    scope.append(made)
                    last = made
                    break
        return last

    def attempt(self, step: Callable[..., Value | None], scope: list[Value], room: Room) -> Value | None:
        """What the step gives, if it fits."""
        try:
            made = step(scope, room)
        except ProgramError:
            return None
        return made if made is not None and elements(made.type) <= room.elements else None

    def body(self, scope: Sequence[Value], room: Room, result: Type | None = None) -> Callable[..., Any]:
        """A function of one or more values, which may use what is in scope."""
        steps = self.rng.randint(1, 4 if room.depth > 1 else 3)
        seed = self.rng.getrandbits(32)

        def f(*args: Value) -> Value:
            self.rng, kept = random.Random(seed), self.rng  # the notation may call f more than once
            try:
                own = [part for a in args for part in self.parts(a)]
                outer = [v for v in (*scope, *self.inputs) if self.rng.random() < 0.4]
                last = self.grow([*outer, *own, *own], own, steps, room)
                return last if result is None else self.coerced(last, result, [*outer, *own])
            finally:
                self.rng = kept

        return f

    def parts(self, v: Value) -> list[Value]:
        """A value and, of a tuple, its components."""
        return [v, *(part for i in range(len(v)) for part in self.parts(v[i]))] if isinstance(v.type, Tuple) else [v]

    # -------------------------------------------------------------------------------- values of a wanted kind

    def find(self, scope: Sequence[Value], wanted: Callable[[Type], bool]) -> Value | None:
        found = [v for v in scope if wanted(v.type)]
        return self.rng.choice([*found[-8:], *[found[-1]] * 4]) if found else None

    def array(self, scope: Sequence[Value], wanted: Callable[[Type], bool] = lambda t: True) -> Value | None:
        return self.find(scope, lambda t: isinstance(t, Array) and wanted(t.element))

    def scalar(self, scope: Sequence[Value]) -> Value:
        v = self.find(scope, lambda t: isinstance(t, Scalar))
        return v if v is not None and self.rng.random() < 0.85 else self.literal(self.any_scalar())

    def literal(self, t: Scalar) -> Value:
        return self.style.functions.literal(t, self.rng)

    def any_scalar(self) -> Scalar:
        return self.rng.choice((*self.scalars, *self.scalars, self.rng.choice(self.style.scalars)))

    def coerced(self, v: Value, t: Type, scope: Sequence[Value]) -> Value:
        """A value of type `t`, from `v` where that can be."""
        match v.type, t:
            case a, b if a == b:
                return v
            case Scalar(), Scalar():
                return self.style.functions.cast(v, t)
            case Array(n, _), Array(m, element) if n == m:
                return v.map(lambda item: self.coerced(item, element, []))
        exact = self.find(scope, lambda s: s == t)
        if exact is not None and self.rng.random() < 0.7:
            return exact
        match t:
            case Array(n, element):
                return el.fill(number(n), self.coerced(v, element, scope))
            case Tuple(items):
                return el.tuple(*(self.coerced(v, item, scope) for item in items))
        assert isinstance(t, Scalar)
        other = self.find(scope, lambda s: isinstance(s, Scalar))
        return self.style.functions.cast(other, t) if other is not None else self.literal(t)

    def mode(self, x: Value, scope: Sequence[Value]) -> Any:
        """How an array goes on beyond its ends."""
        name = self.rng.choice(("clamp", "mirror", "wrap", "constant", "function"))
        if len(x) == 0 or name == "constant":
            t = x.type.element  # type: ignore[union-attr]
            v = self.rng.choice([v for v in scope if v.type == t] or [None])
            return "constant", self.coerced(self.scalar(scope), t, []) if v is None else v
        step = self.rng.randint(1, 3)
        return (lambda i, n: i * step % n) if name == "function" else name
