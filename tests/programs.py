"""Random well-typed programs over all patterns, and random inputs for them.

Used by property tests of every package: `@given(programs())`, or a part: `programs(scalars=(F32,),
patterns=("map", "reduce", "zip"))`.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

from egglift.ir import patterns as p
from egglift.ir.check import SUMMED, type_of
from egglift.ir.errors import ProgramError
from egglift.ir.forms import IN_SCOPE, SLOTS
from egglift.ir.operators import OPERATORS, named
from egglift.ir.patterns import LEVELS, Expr, Level, Operator
from egglift.ir.scalars import FUNCTIONS
from egglift.ir.schemes import SCHEMES, Function, Variable, told
from egglift.ir.signature import inputs_of
from egglift.ir.sizes import evaluate as number
from egglift.ir.syntax import FORMS
from egglift.ir.traverse import is_closed
from egglift.ir.types import BOOL, I32, SCALARS, U32, Array, Scalar, Tuple, Type, leaves

ALL = tuple(SCALARS.values())
LENGTHS = (1, 2, 3, 4, 6)
#: no value in a random program has more elements
LARGEST = 600

#: patterns that their type is enough to make, by their names in the text form
LAYOUT = {
    form.head: form.cls
    for form in FORMS.values()
    if form.cls in SCHEMES
    and {kind for _, kind in SLOTS[form.cls]} <= {*IN_SCOPE, "size"} - {"exprs"}
    and any(isinstance(t, Array) for t in (*SCHEMES[form.cls].takes, SCHEMES[form.cls].gives))
}

Draw = Callable[[st.SearchStrategy[Any]], Any]


def elements(t: Type) -> int:
    """Scalars in a value of type `t`."""
    return sum(int(np.prod([number(n) for n in shape])) for shape, _ in leaves(t))


@st.composite
def programs(
    draw: Draw,
    scalars: Sequence[Scalar] = ALL,
    functions: Sequence[str] = tuple(FUNCTIONS),
    patterns: Sequence[str] | None = None,
    depth: int = 3,
    levels: bool = False,
) -> Expr:
    """A closed program of bodies nested at most `depth` deep.

    Scalar functions are applied where their results are defined (no division by zero, no shift by more than
    the width, no cast of a float to an integer).  levels: maps and reductions of low level, memory spaces.
    Choices come from a seed, for Hypothesis alone would draw the smallest ones most of the time; it shrinks
    the number of steps.
    """
    rng = random.Random(draw(st.integers(0, 1 << 32)))
    maker = _Maker(rng, tuple(scalars), tuple(functions), levels, patterns)
    pool = maker.inputs()
    return maker.grow(pool, pool, draw(st.integers(3, 9)), depth)


def values_for(e: Expr, seed: int = 0) -> dict[str, Any]:
    """Random values for the inputs of `e`: small numbers, exact in every scalar type."""
    rng = np.random.default_rng(seed)
    return {name: _value(t, (), rng) for name, t in inputs_of(e).items()}


def _value(t: Type, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    match t:
        case Tuple(items):
            return tuple(_value(item, shape, rng) for item in items)
        case Array(n, element):
            return _value(element, (*shape, number(n)), rng)
    assert isinstance(t, Scalar)
    if t == BOOL:
        return np.asarray(rng.integers(0, 2, shape), bool)
    return np.asarray(rng.integers(-7 if t.is_signed else 0, 8, shape), t.dtype)


@st.composite
def types(draw: Draw, scalars: Sequence[Scalar] = ALL, depth: int = 2) -> Type:
    """A scalar, a tuple or an array."""
    kind = draw(st.sampled_from(("scalar", "array", "array", "tuple"))) if depth else "scalar"
    if kind == "scalar":
        return draw(st.sampled_from(scalars))
    inner = types(scalars, depth - 1)
    if kind == "array":
        return Array(draw(st.sampled_from(LENGTHS)), draw(inner))
    return Tuple(tuple(draw(st.lists(inner, min_size=2, max_size=3))))


class _Maker:
    """Grows programs from the leaves: each step applies a random pattern to random values in scope."""

    def __init__(
        self,
        rng: random.Random,
        scalars: tuple[Scalar, ...],
        functions: tuple[str, ...],
        levels: bool,
        patterns: Sequence[str] | None,
    ) -> None:
        self.rng, self.scalars, self.functions, self.levels = rng, scalars, functions, levels
        own = [name.removeprefix("step_") for name in dir(self) if name.startswith("step_")]
        steps = [*own, *LAYOUT]
        # what nests and what computes comes more often than the many layout patterns
        often = [s for s in steps if s in ("map", "fold", "reduce", "apply")]
        self.steps = [s for s in steps + often * 2 + ["map"] * 3 if patterns is None or s in patterns]
        self.closed: list[Expr] = []

    def one(self, options: Sequence[Any]) -> Any:
        return self.rng.choice(list(options))

    def inputs(self) -> list[Expr]:
        a, b = (self.one(self.scalars) for _ in range(2))
        n, m = (self.one(LENGTHS) for _ in range(2))
        found: list[Expr] = [
            p.Input("x", Array(n, a)),
            p.Input("y", Array(n, b)),
            p.Input("A", Array(m, Array(n, a))),
            p.Input("s", b),
            p.Input("pairs", Array(m, Tuple((a, b)))),
        ]
        self.closed = found
        return found

    def grow(self, pool: list[Expr], fresh: list[Expr], steps: int, depth: int) -> Expr:
        """`steps` patterns applied to what is in `pool`; the last result."""
        pool, last = list(pool), self.one(fresh)
        for _ in range(steps):
            for _ in range(6):  # a pattern that nothing in scope fits is drawn again
                made = self.step(self.one(self.steps), pool, depth)
                if made is not None and elements(type_of(made)) <= LARGEST:
                    pool.append(made)
                    last = made
                    break
        return last

    def step(self, name: str, pool: list[Expr], depth: int) -> Expr | None:
        """A pattern by its name in the text form, if something in scope fits."""
        return self.layout(LAYOUT[name], pool) if name in LAYOUT else getattr(self, f"step_{name}")(pool, depth)

    def layout(self, cls: type[Any], pool: list[Expr]) -> Expr | None:
        """Any pattern of which its type says all: parts that fit, and lengths that the checker takes."""
        for _ in range(6):
            parts = self.parts(cls, pool)
            if parts is None:
                return None
            lengths = [_length(x) for x in parts.values() if isinstance(type_of(x), Array)]
            near = [0, 1, 2, 3, *lengths, *(d for n in lengths for d in range(1, n + 1) if n % d == 0)]
            sizes = {name: self.one(near) for name, kind in SLOTS[cls] if kind == "size"}
            made: Expr = cls(**parts, **sizes)
            with contextlib.suppress(ProgramError):
                type_of(made)
                return made
        return None

    def parts(self, cls: type[Any], pool: list[Expr]) -> dict[str, Expr] | None:
        """What a layout pattern may be applied to, by the names of its slots."""
        types: dict[str, Type] = {}
        found: dict[str, Expr] = {}
        slots = [(name, kind) for name, kind in SLOTS[cls] if kind in IN_SCOPE]
        for (name, kind), wanted in zip(slots, SCHEMES[cls].takes, strict=True):
            if kind == "optional" and self.rng.random() < 0.5:
                continue
            part = self.find(pool, partial(_fits, wanted, types))
            if part is None:
                return None
            found[name] = part
            types |= told(wanted, type_of(part))
        return found

    # -------------------------------------------------------------------------------- values of a wanted type

    def find(self, pool: list[Expr], wanted: Callable[[Type], bool]) -> Expr | None:
        found = [e for e in pool if wanted(type_of(e))]
        return self.one([found[-1]] * 3 + found[-6:]) if found else None

    def array(self, pool: list[Expr], wanted: Callable[[Type], bool] = lambda t: True) -> Expr | None:
        return self.find(pool, lambda t: isinstance(t, Array) and wanted(t.element))

    def make(self, pool: list[Expr], t: Type) -> Expr:
        """A value of type `t`, from the pool where it has one."""
        exact = [e for e in pool if type_of(e) == t]
        if exact and (self.rng.random() < 0.5):
            return self.one(exact)
        match t:
            case Array(n, element):
                return p.Fill(n, self.make(pool, element))
            case Tuple(items):
                return p.Tup(tuple(self.make(pool, item) for item in items))
        other = self.find(pool, lambda s: isinstance(s, Scalar) and (t.is_float or not s.is_float))
        if other is not None and (self.rng.random() < 0.5):
            return p.Cast(t, other)
        return self.number(t)

    def number(self, t: Scalar) -> Expr:
        if t == BOOL:
            return p.Literal((self.rng.random() < 0.5), t)
        value = self.rng.randint(-5 if t.is_signed else 0, 5)
        return p.Literal(float(value) if t.is_float else value, t)

    def body(self, t: Type, result: Type | None, depth: int) -> Expr:
        """A closed body over `Arg(t)`."""
        arg = p.Arg(t)
        pool: list[Expr] = [*self.closed[:3], arg]
        if isinstance(t, Tuple):
            pool += [p.Get(i, arg) for i in range(len(t.items))]
            for i, item in enumerate(t.items):
                if isinstance(item, Tuple):
                    pool += [p.Get(j, p.Get(i, arg)) for j in range(len(item.items))]
        own = [e for e in pool if not is_closed(e)]
        last = self.grow(pool, own, self.rng.randint(1, 4), depth - 1)
        return last if result is None else self.make([*own, last], result)

    # -------------------------------------------------------------------------------- scalars and tuples

    def step_apply(self, pool: list[Expr], depth: int) -> Expr | None:
        x = self.find(pool, lambda t: isinstance(t, Scalar))
        t = type_of(x) if x is not None else self.one(self.scalars)
        assert isinstance(t, Scalar)
        takes = {"arithmetic": t != BOOL, "float": t.is_float, "logical": t == BOOL, "bits": not t.is_float}
        fitting = [f for f in map(FUNCTIONS.__getitem__, self.functions) if takes.get(f.kind, True)]
        if not fitting:
            return None
        f = self.one(fitting)
        if f.name in ("left_shift", "right_shift") and t == BOOL:
            return None
        first = x if x is not None else self.make(pool, t)
        if f.kind == "where":
            return p.Apply(f.name, (self.make(pool, BOOL), first, self.make(pool, t)))
        if f.name in ("floordiv", "mod", "left_shift", "right_shift"):
            return p.Apply(f.name, (first, self.positive(t)))
        return p.Apply(f.name, (first, *(self.make(pool, t) for _ in range(f.arity - 1))))

    def positive(self, t: Scalar) -> Expr:
        value = self.rng.randint(1, 7)
        return p.Literal(float(value) if t.is_float else value, t)

    def step_cast(self, pool: list[Expr], depth: int) -> Expr | None:
        x = self.find(pool, lambda t: isinstance(t, Scalar))
        if x is None:
            return None
        t = type_of(x)
        assert isinstance(t, Scalar)
        return p.Cast(self.one([s for s in self.scalars if s.is_float or not t.is_float]), x)

    def step_tuple(self, pool: list[Expr], depth: int) -> Expr | None:
        return p.Tup(tuple(self.one(pool) for _ in range(self.rng.randint(2, 3))))

    def step_get(self, pool: list[Expr], depth: int) -> Expr | None:
        x = self.find(pool, lambda t: isinstance(t, Tuple))
        if x is None:
            return None
        t = type_of(x)
        assert isinstance(t, Tuple)
        return p.Get(self.rng.randint(0, len(t.items) - 1), x)

    # -------------------------------------------------------------------------------- computing patterns

    def level(self) -> Level | None:
        if not self.levels:
            return None
        kind = self.one(LEVELS)
        return Level(kind, self.rng.randint(0, 2) if kind in LEVELS[:3] else 0)

    def step_map(self, pool: list[Expr], depth: int) -> Expr | None:
        x = self.array(pool)
        if x is None or depth == 0:
            return None
        return p.Map(self.body(_element(x), None, depth), x, self.level())

    def operator(self, t: Type) -> Operator | None:
        """A named operator; on tuples, one of them for each component."""
        if isinstance(t, Scalar):
            names = [name for name, law in OPERATORS.items() if law.takes(t) and name in self.functions]
            return named(self.one(names), t) if names else None
        if not isinstance(t, Tuple):
            return None
        parts = [self.operator(item) for item in t.items]
        if None in parts or not all(isinstance(item, Scalar) for item in t.items):
            return None
        pair = p.Arg(Tuple((t, t)))
        items = tuple(
            p.Apply(part.name, (p.Get(i, p.Get(0, pair)), p.Get(i, p.Get(1, pair))))
            for i, part in enumerate(parts)
            if part is not None
        )
        neutral = [part.neutral for part in parts if part is not None and part.neutral is not None]
        return Operator("each component", p.Tup(items), True, True, p.Tup(tuple(neutral)))

    def reduction(self, pool: list[Expr]) -> tuple[Operator, Expr, Expr] | None:
        x = self.array(pool, lambda t: self.operator_exists(t))
        if x is None or (op := self.operator(_element(x))) is None or op.neutral is None:
            return None
        init = op.neutral if (self.rng.random() < 0.5) else self.make(pool, _element(x))
        return op, init, x

    def operator_exists(self, t: Type) -> bool:
        flat = t.items if isinstance(t, Tuple) else (t,)
        return all(isinstance(item, Scalar) for item in flat)

    def step_reduce(self, pool: list[Expr], depth: int) -> Expr | None:
        found = self.reduction(pool)
        return None if found is None else p.Reduce(*found)

    def step_tree(self, pool: list[Expr], depth: int) -> Expr | None:
        found = self.reduction(pool)
        return None if found is None else p.Tree(found[0].body, found[1], found[2])

    def step_scan(self, pool: list[Expr], depth: int) -> Expr | None:
        found = self.reduction(pool)
        return None if found is None else p.Scan(*found)

    def step_scanDoubling(self, pool: list[Expr], depth: int) -> Expr | None:
        found = self.reduction(pool)
        return None if found is None else p.ScanDoubling(found[0].body, found[1], found[2])

    def step_count(self, pool: list[Expr], depth: int) -> Expr | None:
        x = self.array(pool, lambda t: isinstance(t, Scalar) and t.is_integer)
        return None if x is None else p.Count(self.one(LENGTHS), self.one((I32, U32)), x)

    def step_sums(self, pool: list[Expr], depth: int) -> Expr | None:
        x = self.array(pool, lambda t: isinstance(t, Scalar) and t.is_integer)
        if x is None:
            return None
        types = [self.one(SUMMED) for _ in range(self.one((1, 1, 2)))]
        added = [p.Map(p.Cast(t, p.Arg(_element(x))), x) for t in types]
        several = len(types) > 1
        t = Tuple(tuple(types)) if several else types[0]
        return p.Sums(self.one(LENGTHS), t, p.Zip((x, p.Zip(tuple(added)) if several else added[0])))

    def step_scanSeq(self, pool: list[Expr], depth: int) -> Expr | None:
        x, init = self.array(pool), self.find(pool, self.operator_exists)
        if x is None or init is None or depth == 0:
            return None
        state, kept = type_of(init), self.one([type_of(init), self.one(self.scalars)])
        return p.ScanSeq(self.body(Tuple((state, _element(x))), Tuple((state, kept)), depth), init, x)

    def step_fold(self, pool: list[Expr], depth: int) -> Expr | None:
        x = self.array(pool)
        if x is None or depth == 0:
            return None
        init = self.one(pool)
        state = type_of(init)
        body = self.body(Tuple((state, _element(x))), state, depth)
        if not self.levels:
            return p.Fold(body, init, x)
        return p.Fold(body, init, x, self.rng.random() < 0.5, self.rng.randint(0, 2))

    def step_iterate(self, pool: list[Expr], depth: int) -> Expr | None:
        if depth == 0:
            return None
        x = self.one(pool)
        return p.Iterate(self.rng.randint(0, 3), self.body(type_of(x), type_of(x), depth), x)

    # -------------------------------------------------------------------------------- layout patterns

    def step_zip(self, pool: list[Expr], depth: int) -> Expr | None:
        x = self.array(pool)
        if x is None:
            return None
        n = _length(x)
        others = [e for e in pool if isinstance(t := type_of(e), Array) and t.length == n]
        return p.Zip((x, *(self.one(others) for _ in range(self.rng.randint(1, 2)))))

    def step_pad(self, pool: list[Expr], depth: int) -> Expr | None:
        x = self.array(pool)
        if x is None:
            return None
        mode = "constant" if _length(x) == 0 else self.one(("clamp", "mirror", "wrap", "constant"))
        value = self.make(pool, _element(x)) if mode == "constant" else None
        return p.Pad(self.rng.randint(0, 5), self.rng.randint(0, 5), mode, x, value)

    # -------------------------------------------------------------------------------- leaves and memory

    def step_iota(self, pool: list[Expr], depth: int) -> Expr | None:
        integers = [s for s in self.scalars if s.is_integer]
        return p.Iota(self.one(LENGTHS), self.one(integers)) if integers else None

    def step_constant(self, pool: list[Expr], depth: int) -> Expr | None:
        t, n = self.one(self.scalars), self.one(LENGTHS)
        data = np.asarray([self.rng.randint(0, 1 if t == BOOL else 9) for _ in range(n)], t.dtype)
        return p.Constant(Array(n, t), data.tobytes())

    def step_to(self, pool: list[Expr], depth: int) -> Expr | None:
        if not self.levels:
            return None
        space, x = self.one(("global", "local", "private")), self.one(pool)
        rows = isinstance(t := type_of(x), Array) and isinstance(t.element, Array)
        return p.To(space, x, self.rng.randint(0, 2) if rows and space == "local" else 0)


def _fits(wanted: Type | Function, types: dict[str, Type], t: Type) -> bool:
    """Can a part be a `t`, where variables stand for some `types`?"""
    match wanted, t:
        case Array(_, element), Array(_, found):
            return _fits(element, types, found)
        case Variable(name), _:
            return types.get(name, t) == t
    return False


def _element(x: Expr) -> Type:
    t = type_of(x)
    assert isinstance(t, Array)
    return t.element


def _length(x: Expr) -> int:
    t = type_of(x)
    assert isinstance(t, Array)
    return number(t.length)
