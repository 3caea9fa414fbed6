"""Random well-typed programs, written as users write them: lambdas that capture, nested up to four deep.

A program grows from its inputs; each step applies a pattern to random values in scope.  The names of the steps are
those of the patterns.  What a program may use depends on what can be compared (see `Style`).
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import egglift as el
from egglift.ir.check import type_of
from egglift.ir.errors import ProgramError
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.sizes import evaluate as number
from egglift.ir.traverse import subterms
from egglift.ir.types import BOOL, F16, F32, F64, SCALARS, Array, Scalar, Tuple, Type, leaves
from egglift.ir.value import Value
from tests.fuzz.functions import EXACT, SMOOTH, Functions
from tests.fuzz.operators import random_operator

SHORT = (1, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17)
LONG = (24, 31, 32, 33, 47, 64, 65, 96, 97, 100, 127, 128, 130, 200, 251, 256, 300)
DEPTH = 4


@dataclass(frozen=True)
class Style:
    """What may occur in a program, such that results can be compared.

    exact: floats are small dyadic numbers and functions keep them so: every order of the operations gives the same.
    smooth: rounded functions of floats, none of which jumps.  extreme: inputs are also NaN, infinities, -0.0 and
    the least and greatest integers; functions are the exact ones that do not tell 0.0 from -0.0.
    """

    name: str
    functions: Functions
    scalars: tuple[Scalar, ...]


WHOLE = tuple(s for s in SCALARS.values() if s != F16)
STYLES = {
    "exact": Style("exact", EXACT, WHOLE),
    "smooth": Style("smooth", SMOOTH, (F32, F64)),
    "extreme": Style("extreme", EXACT, WHOLE),
}


@dataclass(frozen=True)
class Room:
    """How much may still grow: elements of a value, steps that run one after the other, levels of bodies."""

    elements: int = 3000
    serial: int = 600
    depth: int = DEPTH

    def inside(self, n: int, serial: bool = False) -> Room:
        """What is left for a body that is applied n times."""
        n = max(n, 1)
        return Room(max(self.elements // n, 1), self.serial // n if serial else self.serial, self.depth - 1)


def style_of(rng: random.Random, half: bool = False) -> Style:
    """A random style, mostly "exact"; with f16 among the types where the device has it."""
    style = STYLES[rng.choices(("exact", "smooth", "extreme"), (14, 3, 3))[0]]
    return replace(style, scalars=(*style.scalars, F16)) if half and style.name != "smooth" else style


def random_program(rng: random.Random, style: Style, room: Room = Room()) -> Expr:
    """A closed program of that style."""
    while True:
        found = as_program(Maker(rng, style, room).whole())
        dull = elements(type_of(found)) == 0 or sum(1 for _ in subterms(found)) < rng.choice((1, 9, 12, 16))
        if not dull or rng.random() < 0.05:
            return found


def elements(t: Type) -> int:
    """Scalars in a value of type `t`."""
    return sum(math.prod(number(n) for n in shape) for shape, _ in leaves(t))


class Maker:
    """Grows one program."""

    def __init__(self, rng: random.Random, style: Style, room: Room) -> None:
        self.rng, self.style, self.room = rng, style, room
        common = F32 if rng.random() < 0.4 else rng.choice(style.scalars)
        self.scalars = [common if common in style.scalars else F32, rng.choice(style.scalars)]
        self.inputs: list[Value] = []

    def whole(self) -> Value:
        """The program."""
        self.inputs = self.make_inputs()
        made = self.grow(self.inputs, self.inputs, self.rng.randint(3, 8), self.room)
        return el.tuple(made, self.rng.choice(self.inputs)) if self.rng.random() < 0.03 else made

    def make_inputs(self) -> list[Value]:
        rng, (a, b) = self.rng, self.scalars
        n = self.length(most=min(300, self.room.elements))
        m, k = (self.length(most=max(1, min(40, self.room.elements // max(n, 1)))) for _ in range(2))
        found = [
            el.array("x", a, n),
            el.array("y", rng.choice((a, b)), n),
            el.array("A", a, (m, n)),
            el.array("B", a, (n, k)),
            el.scalar("s", b),
            el.array("pairs", (a, b), m),
        ]
        return rng.sample(found, rng.randint(2, 4))

    def length(self, most: int = 300) -> int:
        roll = self.rng.random()
        few = [n for n in (LONG if roll > 0.6 else SHORT) if n <= most]
        return 0 if roll < 0.015 else self.rng.choice(few or SHORT[: most + 1])

    # -------------------------------------------------------------------------------- growing

    def grow(self, pool: Sequence[Value], own: Sequence[Value], steps: int, room: Room) -> Value:
        """The last result of some patterns applied to what is in scope; `own` is what should be used."""
        scope, last = [*pool], self.rng.choice(list(own))
        names, weights = zip(*(STEPS if room.depth > 0 else SHALLOW).items())
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

    # -------------------------------------------------------------------------------- scalars and tuples

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

    # -------------------------------------------------------------------------------- computing patterns

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
        t = x.type.element  # type: ignore[union-attr]
        op, neutral = random_operator(t, len(x), self.style.functions, self.rng)
        if op is None:
            return None
        seed = None if neutral and self.rng.random() < 0.6 else self.coerced(self.rng.choice(scope), t, scope)
        return x.reduce(op, seed)

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
            return rows.slide(n, 1).map(lambda w: w.transpose().map(lambda tile: f(tile.join())))
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

    # -------------------------------------------------------------------------------- layout patterns

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

    def mode(self, x: Value, scope: Sequence[Value]) -> Any:
        """How an array goes on beyond its ends."""
        name = self.rng.choice(("clamp", "mirror", "wrap", "constant", "function"))
        if len(x) == 0 or name == "constant":
            t = x.type.element  # type: ignore[union-attr]
            v = self.rng.choice([v for v in scope if v.type == t] or [None])
            return "constant", self.coerced(self.scalar(scope), t, []) if v is None else v
        step = self.rng.randint(1, 3)
        return (lambda i, n: i * step % n) if name == "function" else name

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


def _is_row(t: Type, row: Array) -> bool:
    return isinstance(t, Array) and t.element == row.element


#: how often each step is taken; what nests and computes comes more often than the many layout patterns
STEPS = {
    "map": 9,
    "reduce": 5,
    "row_sums": 3,
    "product": 2,
    "stencil": 3,
    "fold": 2.5,
    "iterate": 1,
    "place": 0.7,
    "apply": 5,
    "cast": 1,
    "tuple": 1,
    "get": 1,
    "elementwise": 2,
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
#: where no body may nest any more
SHALLOW = {"apply": 6, "cast": 1, "tuple": 0.5, "get": 1, "index": 1}
