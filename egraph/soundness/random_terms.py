"""Types with unknowns, and random programs of a type: what instances of laws are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import TypeAlias

from egglift.egraph.soundness.random_inputs import limits
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr, Operator
from egglift.ir.sizes import Size, Sym
from egglift.ir.types import BOOL, F16, F32, F64, I16, I32, I64, U8, U32, Array, Scalar, Tuple, Type

# ---------------------------------------------------------------------------------------- lengths


@dataclass(eq=False)
class Length:
    """An unknown length.  `value` once solved; `parts` if it is made of others; `tile` if it is a symbol.

    least: what it must be; where that is 0, it is mostly no less than `usual`.
    """

    name: str = ""
    value: int | None = None
    parts: tuple[str, Count, Count] | None = None
    same: Length | None = None
    tile: Sym | None = None
    least: int = 0
    usual: int = 1


Count: TypeAlias = int | Length


def found(n: Count) -> Count:
    """The representative of a length."""
    while isinstance(n, Length) and n.same is not None:
        n = n.same
    return n


def at_least(least: int, n: Count) -> None:
    """Let a length, or else the first part of it that is free, be no less than `least`."""
    n = found(n)
    while isinstance(n, Length) and n.parts is not None:
        n = next((m for m in map(found, n.parts[1:]) if isinstance(m, Length) and m.tile is None), 0)
    if isinstance(n, Length) and n.tile is None:
        n.least = max(n.least, least)


def nonempty(n: Count) -> None:
    """Let a length be 1 or more."""
    n = found(n)
    if isinstance(n, Length):
        n.least = max(n.least, 1)


class Clash(Exception):
    """Two types cannot be made equal: the pattern has no instance of this shape."""


@dataclass
class Lengths:
    """Equations between lengths, solved by drawing numbers for what is free."""

    equations: list[tuple[Count, Count]] = field(default_factory=list)

    def new(self, op: str, a: Count, b: Count) -> Count:
        """The length `a op b`."""
        return Length(parts=(op, a, b))

    def equal(self, a: Count, b: Count) -> None:
        a, b = found(a), found(b)
        if a is b or (isinstance(a, int) and a == b):
            return
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Length) and one.parts is None and one.tile is None and not _mentions(other, one):
                one.same = other if isinstance(other, Length) else None
                if isinstance(other, int):
                    one.parts = ("+", other, 0)
                elif one.least > other.least:
                    other.least = one.least
                return
        self.equations.append((a, b))

    def solve(self, values: dict[Length, int]) -> bool:
        """Do the drawn values satisfy every equation, with no negative length?"""
        try:
            return all(self.number(a, values) == self.number(b, values) for a, b in self.equations)
        except Clash:
            return False

    def number(self, n: Count, values: dict[Length, int]) -> int:
        n = found(n)
        if isinstance(n, int):
            return n
        if n.parts is None:
            return values[n]
        op, a, b = n.parts
        x, y = self.number(a, values), self.number(b, values)
        if (op == "-" and x < y) or (op == "/" and (y == 0 or x % y)):
            raise Clash
        result = {"+": x + y, "-": x - y, "*": x * y, "/": x // y if y else 0}[op]
        if result < n.least:
            raise Clash
        return result


def _mentions(n: Count, one: Length) -> bool:
    n = found(n)
    if isinstance(n, int):
        return False
    return n is one or (n.parts is not None and any(_mentions(part, one) for part in n.parts[1:]))


# ---------------------------------------------------------------------------------------- types


@dataclass(eq=False)
class Unknown:
    """A type that is not known yet.  flat: it will be a scalar or pairs of scalars."""

    same: Kind | None = None
    flat: bool = False


@dataclass(eq=False)
class ArrayOf:
    """The type of an array, whose parts may not be known yet."""

    length: Count
    element: Kind


@dataclass(eq=False)
class PairOf:
    """The type of a pair, whose parts may not be known yet."""

    a: Kind
    b: Kind


Kind: TypeAlias = Unknown | ArrayOf | PairOf | Scalar


def shown(t: Kind) -> Kind:
    """The representative of a type."""
    while isinstance(t, Unknown) and t.same is not None:
        t = t.same
    return t


def unify(a: Kind, b: Kind, lengths: Lengths) -> None:
    """Make two types equal; Clash if they cannot be."""
    a, b = shown(a), shown(b)
    if a is b:
        return
    match a, b:
        case Unknown(), _:
            flatten(b, a.flat)
            a.same = b
        case _, Unknown():
            unify(b, a, lengths)
        case ArrayOf(n, s), ArrayOf(m, t):
            lengths.equal(n, m)
            unify(s, t, lengths)
        case PairOf(s, t), PairOf(u, v):
            unify(s, u, lengths)
            unify(t, v, lengths)
        case Scalar(), Scalar() if a == b:
            pass
        case _:
            raise Clash(f"{a} and {b}")


def flatten(t: Kind, flat: bool = True) -> None:
    """Require a type of scalars only."""
    t = shown(t)
    if flat:
        match t:
            case Unknown():
                t.flat = True
            case PairOf(a, b):
                flatten(a)
                flatten(b)
            case ArrayOf():
                raise Clash("an array is not flat")


# ---------------------------------------------------------------------------------------- random programs

#: the types of the numbers in an instance, the simplest first; wrap-around shows in the narrow and unsigned ones
NUMBERS = (I32, I32, F64, F32, U8, I16, U32, I64, F16)


def literal(value: float, t: Scalar) -> p.Literal:
    """A small number of a type; without its sign where the type has none."""
    small = float(value) if t.is_float else int(value)
    return p.Literal(small if t.is_signed else abs(small), t)


def _neutral(t: Scalar) -> list[tuple[str, p.Literal]]:
    """Associative and commutative operators on scalars with their neutral elements."""
    if t == BOOL:
        return [("logical_or", p.Literal(False, t)), ("logical_and", p.Literal(True, t))]
    least, most = (-inf, inf) if t.is_float else limits(t)
    usual = [("add", literal(0, t)), ("mul", literal(1, t))]
    usual += [("maximum", p.Literal(least, t)), ("minimum", p.Literal(most, t))]
    return usual if t.is_float else [*usual, ("bitwise_or", literal(0, t)), ("bitwise_xor", literal(0, t))]


def addition(t: Scalar) -> Operator:
    """Addition of numbers, for laws that are about this operator."""
    x = p.Arg(Tuple((t, t)))
    return Operator("add", p.Apply("add", (p.Get(0, x), p.Get(1, x))), True, True, literal(0, t))


def operator(t: Type, commutative: bool, rng: Random) -> Operator | None:
    """A random associative operator over `t` with a neutral element; not commutative unless it has to be."""
    x = p.Arg(Tuple((t, t)))
    a, b = p.Get(0, x), p.Get(1, x)
    match t:
        case Scalar():
            name, neutral = rng.choice(_neutral(t))
            return Operator(name, p.Apply(name, (a, b)), True, True, neutral)
        case Tuple((Scalar() as s, other)) if s == other and s != BOOL:
            zero, one = literal(0, s), literal(1, s)
        case _:
            return None

    def mul(u: Expr, v: Expr) -> Expr:
        return p.Apply("mul", (u, v))

    if commutative:
        body = p.Tup((p.Apply("add", (p.Get(0, a), p.Get(0, b))), mul(p.Get(1, a), p.Get(1, b))))
        return Operator("add-mul", body, True, True, p.Tup((zero, one)))
    # composition of v -> first * v + second
    moved = p.Apply("add", (mul(p.Get(0, a), p.Get(1, b)), p.Get(1, a)))
    body = p.Tup((mul(p.Get(0, a), p.Get(0, b)), moved))
    return Operator("compose", body, True, False, p.Tup((one, zero)))


@dataclass
class Terms:
    """Random programs of a type, over numbers of one type."""

    rng: Random
    number: Scalar = I32
    tag: str = ""  # what the names of inputs end in
    inputs: int = 0

    def type(self, flat: bool, scalar: bool = False) -> Type:
        """A random type."""
        n = self.number
        kinds: list[Type] = [n] * 5
        if not scalar:
            kinds += [Tuple((n, n))] * 2 + [BOOL, Tuple((BOOL, Tuple((n, I32))))]
        if not scalar and not flat:
            kinds += [Array(2, n), Tuple((Array(3, n), n)), Array(2, Array(3, Tuple((n, BOOL)))), Array(0, n)]
        return self.rng.choice(kinds)

    def term(self, t: Type, scope: Type | None, depth: int = 2, work: bool = False) -> Expr:
        """A program of type `t` over `Arg(scope)`, closed without a scope.  work: it computes something."""
        parts = [] if scope is None else list(projections(p.Arg(scope), scope, t))
        if scope is not None and not parts:
            parts = list(inside(p.Arg(scope), scope, t))[:1]
        if parts and not work and (depth <= 0 or self.rng.random() < 0.5):
            return self.rng.choice(parts)
        match t:
            case Scalar():
                return self._scalar(t, scope, depth, work)
            case Tuple((a, b)):
                return p.Tup((self.term(a, scope, depth - 1, work), self.term(b, scope, depth - 1)))
            case Array(n, element):
                return self._array(n, element, scope, depth, work)
        raise AssertionError(t)

    def _scalar(self, t: Scalar, scope: Type | None, depth: int, work: bool) -> Expr:
        if t == BOOL:
            return p.Apply("lt", (self.term(self.number, scope, depth - 1), self.term(self.number, scope, depth - 1)))
        if work or (depth > 0 and self.rng.random() >= 0.3):
            name = self.rng.choice(("add", "mul", "sub", "maximum"))
            return p.Apply(name, (self.term(t, scope, depth - 1), self.term(t, scope, depth - 1)))
        return literal(self.rng.randint(-3, 5), t) if self.rng.random() < 0.6 else self.input(t)

    def _array(self, n: Size, element: Type, scope: Type | None, depth: int, work: bool) -> Expr:
        if work or (depth > 0 and self.rng.random() >= 0.7):
            inner = self.type(flat=True)
            return p.Map(self.term(element, inner, depth - 1, work), self.term(Array(n, inner), scope, depth - 1))
        if scope is not None and self.rng.random() >= 0.4:  # a law must not take it out of its scope
            captured = self.term(self.number, scope, 0)
            body = self.term(element, Tuple((self.number, self.number)), depth - 1)
            return p.Map(body, p.Distl(captured, self.input(Array(n, self.number))))
        return self.input(Array(n, element))

    def input(self, t: Type) -> Expr:
        """A new input of the program."""
        self.inputs += 1
        return p.Input(f"i{self.inputs}{self.tag}", t)


def projections(x: Expr, t: Type, wanted: Type) -> Iterator[Expr]:
    """The parts of `x` that have the wanted type."""
    if t == wanted:
        yield x
    if isinstance(t, Tuple):
        for i, item in enumerate(t.items):
            yield from projections(p.Get(i, x), item, wanted)


def inside(x: Expr, t: Type, wanted: Type) -> Iterator[Expr]:
    """The parts of `x` that have the wanted type, those of the first elements of its arrays too."""
    if t == wanted:
        yield x
    match t:
        case Tuple(items):
            for i, item in enumerate(items):
                yield from inside(p.Get(i, x), item, wanted)
        case Array(n, element) if n != 0:
            yield from inside(p.At(0, x), element, wanted)


def index_array(n: int, length: int, rng: Random) -> Expr:
    """Indices into an array of `length`."""
    from numpy import array

    picks: Sequence[int] = [rng.randrange(max(length, 1)) for _ in range(n)]
    return p.Constant(Array(n, I64), array(picks, dtype="int64").tobytes())
