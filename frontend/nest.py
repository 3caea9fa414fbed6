"""A loop nest between C and patterns: statements, each within loops, with expressions that have C's types.

Iterators are counted from 0: what C calls `i` in `for (i = 2; i < n; i += 3)` is `2 + 3 * d` here.  Subscripts, bounds
and guards are affine forms in these counts where C's are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from egglift.ir.types import BOOL, I32, I64, Scalar


@dataclass(frozen=True, eq=False)
class Loop:
    """`extent` iterations at most.  C's iterator is `begin + step * count`; at: its place in the text.

    origin: where it begins, if that depends on other loops: C's iterator is `origin + step * count`.
    """

    name: str
    extent: int
    begin: int
    step: int
    at: Any
    origin: Affine | None = None

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Affine:
    """`constant + sum of coefficient * loop`; no coefficient is 0."""

    constant: int
    terms: tuple[tuple[Loop, int], ...] = ()

    def __add__(self, other: Affine) -> Affine:
        terms = dict(self.terms)
        for loop, c in other.terms:
            terms[loop] = terms.get(loop, 0) + c
        return Affine(self.constant + other.constant, tuple((d, c) for d, c in terms.items() if c))

    def scaled(self, factor: int) -> Affine:
        """`factor` times this."""
        return Affine(self.constant * factor, tuple((d, c * factor) for d, c in self.terms) if factor else ())

    def __sub__(self, other: Affine) -> Affine:
        return self + other.scaled(-1)

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops that it depends on."""
        return tuple(d for d, _ in self.terms)

    @property
    def range(self) -> tuple[int, int]:
        """Its least and its largest value, whatever the guards."""
        ends = [sorted((0, c * (d.extent - 1))) for d, c in self.terms]
        return self.constant + sum(e[0] for e in ends), self.constant + sum(e[1] for e in ends)

    def at(self, loop: Loop, value: int) -> Affine:
        """It where a loop's count has this value."""
        return Affine(
            self.constant + sum(c * value for d, c in self.terms if d is loop),
            tuple((d, c) for d, c in self.terms if d is not loop),
        )

    @property
    def single(self) -> Loop | None:
        """The loop whose count it is."""
        return self.terms[0][0] if self.constant == 0 and len(self.terms) == 1 and self.terms[0][1] == 1 else None


# ---------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True)
class Number:
    """A number of the text."""

    value: bool | int | float
    type: Scalar


@dataclass(frozen=True)
class Index:
    """An affine form as an integer."""

    form: Affine
    type: Scalar


@dataclass(frozen=True)
class Read:
    """`array[at...]`; a scalar variable has no subscripts but the loops that it is declared in."""

    array: str
    at: tuple[CExpr, ...]
    type: Scalar
    place: Any = field(compare=False, repr=False)

    @property
    def forms(self) -> tuple[Affine | None, ...]:
        """Its subscripts as affine forms; None for those that are none."""
        return tuple(form_of(e) for e in self.at)

    def __str__(self) -> str:
        return self.array.partition("%")[0] + "".join(f"[{shown(e)}]" for e in self.at if "%" not in shown(e))


@dataclass(frozen=True)
class Apply:
    """A scalar function of egglift, or C's own `cdiv`, `cmod`, of arguments of its types."""

    op: str
    args: tuple[CExpr, ...]
    type: Scalar


@dataclass(frozen=True)
class Cast:
    """A number converted to another type, as C and egglift do where the type has it."""

    x: CExpr
    type: Scalar


CExpr: TypeAlias = Number | Index | Read | Apply | Cast


@dataclass(frozen=True, eq=False)
class Statement:
    """`target = value` for all iterations of `loops` at which every guard is 0 or more.

    order: its place among what each loop around it does, from the outermost on.
    """

    loops: tuple[Loop, ...]
    guards: tuple[Affine, ...]
    target: Read
    value: CExpr
    order: tuple[float, ...]

    @property
    def reads(self) -> tuple[Read, ...]:
        """What it reads, each once; subscripts read too."""
        return tuple(dict.fromkeys(reads_in(self.value, *self.target.at)))


def form_of(e: CExpr) -> Affine | None:
    """An integer expression as an affine form, if it is one."""
    match e:
        case Number(value, t) if t.is_integer:
            return Affine(int(value))
        case Index(form, _):
            return form
        case _:
            return None


def parts(e: CExpr) -> tuple[CExpr, ...]:
    """The expressions that an expression consists of."""
    match e:
        case Read(_, at):
            return at
        case Apply(_, args):
            return args
        case Cast(x, _):
            return (x,)
        case _:
            return ()


def nodes(*expressions: CExpr) -> Iterator[CExpr]:
    """All expressions in these, each node once."""
    seen: set[int] = set()
    stack = [*reversed(expressions)]
    while stack:
        e = stack.pop()
        if id(e) not in seen:
            seen.add(id(e))
            yield e
            stack.extend(reversed(parts(e)))


def reads_in(*expressions: CExpr) -> Iterator[Read]:
    """All reads in these."""
    return (e for e in nodes(*expressions) if isinstance(e, Read))


def loops_in(*expressions: CExpr) -> set[Loop]:
    """The loops whose counts these depend on."""
    return {d for e in nodes(*expressions) if isinstance(e, Index) for d in e.form.loops}


def rewritten(e: CExpr, f: Callable[[CExpr], CExpr | None], memo: dict[int, CExpr] | None = None) -> CExpr:
    """`e` with what `f` gives another expression for; `f` sees the outer ones first."""
    memo = {} if memo is None else memo
    if id(e) not in memo:
        memo[id(e)] = f(e) or _rebuilt(e, lambda x: rewritten(x, f, memo))
    return memo[id(e)]


def _rebuilt(e: CExpr, g: Callable[[CExpr], CExpr]) -> CExpr:
    match e:
        case Read(array, at, t, place):
            return Read(array, tuple(map(g, at)), t, place)
        case Apply(op, args, t):
            return Apply(op, tuple(map(g, args)), t)
        case Cast(x, t):
            return Cast(g(x), t)
        case _:
            return e


def with_forms(e: CExpr, f: Callable[[Affine], Affine]) -> CExpr:
    """`e` with all affine forms changed."""
    return rewritten(e, lambda x: Index(f(x.form), x.type) if isinstance(x, Index) else None)


def is_at_least_0(form: Affine) -> CExpr:
    """A guard as a condition."""
    t = I32 if all(-(1 << 31) <= end < 1 << 31 for end in form.range) else I64
    return Apply("ge", (Index(form, t), Number(0, t)), BOOL)


def shown(e: CExpr) -> str:
    """An expression in C's own words, roughly."""
    match e:
        case Number(value, _):
            return str(value)
        case Index(form, _):
            return shown_form(form)
        case Cast(x, _):
            return shown(x)
        case Read():
            return str(e)
        case Apply(op, args, _):
            return f"{op}({', '.join(map(shown, args))})"


def shown_form(form: Affine) -> str:
    """`i + 2*k - 1`, in C's iterators."""
    text, names = "", list[Loop]()
    while inner := [d for d in form.loops if d.origin is not None and d not in names]:
        loop = inner[-1]
        c = dict(form.terms)[loop]
        if c % loop.step == 0 and loop.origin is not None:
            form -= loop.origin.scaled(c // loop.step) - Affine(loop.begin * (c // loop.step))
        names.append(loop)
    constant = form.constant
    for loop, c in form.terms:
        if c % loop.step == 0:
            c, name = c // loop.step, loop.name
            constant -= c * loop.begin
        else:
            name = f"({loop.name} - {loop.begin}) / {loop.step}"
        term = name if abs(c) == 1 else f"{abs(c)}*{name}"
        sign = ("-" if c < 0 else "") if not text else (" - " if c < 0 else " + ")
        text += sign + term
    if not text:
        return str(constant)
    return text + (f" {'-' if constant < 0 else '+'} {abs(constant)}" if constant else "")
