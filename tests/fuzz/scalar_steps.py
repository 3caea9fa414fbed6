"""Steps of random programs that compute with scalars and tuples."""

from __future__ import annotations

import egglift as el
from egglift.ir.types import BOOL, Scalar, Tuple
from egglift.ir.value import Value
from tests.fuzz.growing import Growing
from tests.fuzz.style import Room

#: how often each step is taken
SCALAR_STEPS = {
    "apply": 5,
    "cast": 1,
    "tuple": 1,
    "get": 1,
    "elementwise": 2,
}


class ScalarSteps(Growing):
    """Functions of scalars, and tuples."""

    def apply(self, scope: list[Value], room: Room) -> Value | None:
        functions, rng = self.style.functions, self.rng
        x = self.scalar(scope)
        t = x.type
        assert isinstance(t, Scalar)
        if not (names := functions.of(t)):
            return None
        name, *_ = found = rng.choice(names), x
        rest = [self.coerced(self.scalar(scope), t, scope) for _ in range(functions.arity(name) - 1)]
        if rng.random() < 0.3:
            rest = [functions.literal(t, rng) for _ in rest]
        if name == "where":
            condition = self.coerced(self.scalar(scope), BOOL, scope)
            return el.where(condition, x, rest[0])
        return functions.applied(found[0], [x, *rest], rng)

    def cast(self, scope: list[Value], room: Room) -> Value | None:
        return self.style.functions.cast(self.scalar(scope), self.any_scalar())

    def tuple(self, scope: list[Value], room: Room) -> Value | None:
        return el.tuple(*(self.rng.choice(scope) for _ in range(self.rng.randint(2, 3))))

    def get(self, scope: list[Value], room: Room) -> Value | None:
        x = self.find(scope, lambda t: isinstance(t, Tuple))
        return None if x is None else x[self.rng.randrange(len(x))]

    def elementwise(self, scope: list[Value], room: Room) -> Value | None:
        """Python's operators on whole arrays."""
        x = self.array(scope, lambda t: isinstance(t, Scalar))
        if x is None:
            return None
        t = x.type.element  # type: ignore[union-attr]
        if not (names := [n for n in self.style.functions.of(t) if n != "where"]):
            return None
        name = self.rng.choice(names)
        y = self.find(scope, lambda s: s == x.type or s == t)
        other = self.literal(t) if y is None else y
        return self.style.functions.applied(name, [x, *[other] * (self.style.functions.arity(name) - 1)], self.rng)
