"""Small changes of programs, made from their expression trees: each gives a neighbour that needs hardly more.

A change takes a case and gives another, or None where the program has nothing to change so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import prod

import numpy as np

import egglift as el
from benchmarks.programs.catalogue import Entry, Size
from egglift.ir import patterns as p
from egglift.ir import trace
from egglift.ir.check import type_of
from egglift.ir.errors import EggliftError
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.sizes import evaluate
from egglift.ir.traverse import exchanged, rebuild, subterms
from egglift.ir.types import BOOL, F32, F64, Array, Scalar, Tuple, Type, leaves
from egglift.ir.value import Value

#: scalar functions that give the same whichever operand comes first
COMMUTATIVE = {"add", "mul", "maximum", "minimum", "logical_and", "logical_or"}
COMMUTATIVE |= {"bitwise_and", "bitwise_or", "bitwise_xor", "equal", "not_equal"}
#: the names of further inputs
MORE, THIRD = "more", "third"


@dataclass(frozen=True)
class Case:
    """A program, and how much arithmetic it takes (None: what it moves is what takes the time)."""

    program: Expr
    operations: int | None

    def changed(self, program: Expr, more: int = 0, times: int = 1) -> Case:
        """Another program, of so many times the operations and some more."""
        return Case(program, None if self.operations is None else times * self.operations + more)


Change = Callable[[Case], Case | None]


# ---------------------------------------------------------------------------------------- what comes out


def squared(case: Case) -> Case:
    """y -> y * y, every element used twice."""
    program = case.program
    return case.changed(_elementwise(_square, Value(program)).expr, elements(type_of(program)))


def doubled(case: Case) -> Case:
    """y -> <y, y * y>, two results of one computation."""
    y = Value(case.program)
    return case.changed(el.tuple(y, _elementwise(_square, y)).expr, elements(type_of(case.program)))


def third(case: Case) -> Case:
    """y -> y + third, a further input of the result's type."""
    t = type_of(case.program)
    return case.changed(_elementwise(_sum, Value(case.program), Value(p.Input(THIRD, t))).expr, elements(t))


# ---------------------------------------------------------------------------------------- what goes in


def transposed(case: Case) -> Case | None:
    """x -> transpose x', of the largest input with two dimensions or more."""
    x = largest(case.program, 2)
    match x:
        case p.Input(name, Array(n, Array(m, t))):
            other = p.Transpose(p.Input(name, Array(m, Array(n, t))))
            return case.changed(exchanged(case.program, {x: other}))
    return None


def computed(case: Case) -> Case | None:
    """x -> x + more, of the largest input, with a further input of its type."""
    x = largest(case.program, 1)
    if x is None:
        return None
    other = _elementwise(_sum, Value(x), Value(p.Input(MORE, x.type))).expr
    return case.changed(exchanged(case.program, {x: other}), elements(x.type))


def batched(count: int, case: Case) -> Case | None:
    """f x y -> map f (zip x' y'), with a dimension more of every array that goes in and of what comes out."""
    inputs = [p.Input(name, t) for name, t in inputs_of(case.program).items() if isinstance(t, Array)]
    if not inputs:
        return None
    rows = [p.Input(x.name, Array(count, x.type)) for x in inputs]
    if len(rows) == 1:
        made = trace.map_body(lambda v: opened(case.program, {inputs[0]: v}), rows[0])
    else:
        given = p.Zip(tuple(rows))
        made = trace.map_body(lambda v: opened(case.program, {x: p.Get(i, v) for i, x in enumerate(inputs)}), given)
    return case.changed(made, times=count)


# ---------------------------------------------------------------------------------------- how it is written


def swapped(case: Case) -> Case | None:
    """x * y -> y * x, of all functions that commute; operators of reductions stay."""

    def new(e: Expr) -> Expr:
        return p.Apply(e.op, e.args[::-1]) if isinstance(e, p.Apply) and e.op in COMMUTATIVE else e

    return _different(case, _everywhere(case.program, new))


def zipped(case: Case) -> Case | None:
    """zip x y -> map <arg[1], arg[0]> (zip y x), everywhere."""

    def new(e: Expr) -> Expr:
        if not (isinstance(e, p.Zip) and len(e.arrays) == 2):
            return e
        return trace.map_body(lambda v: p.Tup((p.Get(1, v), p.Get(0, v))), p.Zip(e.arrays[::-1]))

    return _different(case, _everywhere(case.program, new))


def wide(case: Case) -> Case | None:
    """f32 -> f64, everywhere: what goes in, what comes out, and what is computed between."""
    return _different(case, widened(case.program))


def resized(e: Entry, size: Size, more: int) -> Case | None:
    """The same program with all its lengths a little longer; None where it has none for these."""
    lengths = tuple(n + more for n in size)
    try:
        return Case(el.as_program(e.program(*lengths)), e.operations(*lengths) if e.operations else None)
    except (EggliftError, ValueError):
        return None


CHANGES: Mapping[str, Change] = {
    "squared": squared,
    "two results": doubled,
    "third operand": third,
    "transposed": transposed,
    "computed": computed,
    "batch of 1": partial(batched, 1),
    "batch of 4": partial(batched, 4),
    "swapped": swapped,
    "zipped": zipped,
    "f64": wide,
}


# ---------------------------------------------------------------------------------------- parts


def elements(t: Type) -> int:
    """Scalars in a value of type `t`."""
    return sum(prod(evaluate(n) for n in shape) for shape, _ in leaves(t))


def largest(program: Expr, dims: int) -> p.Input | None:
    """The last of the largest inputs of so many dimensions."""
    found = [p.Input(name, t) for name, t in inputs_of(program).items() if _rank(t) >= dims]
    return max(reversed(found), key=lambda x: elements(x.type), default=None)


def opened(e: Expr, new: Mapping[Expr, Expr]) -> Expr:
    """`e` with inputs replaced by what depends on the parameter of a lambda: bodies that read them capture it.

    map (map f) x, f reading the input b  ->  map (\\r. map (f with b := v) r) x  in the scope of v
    """

    memo: dict[tuple[Expr, Expr | None], Expr] = {}

    def go(t: Expr, arg: Expr | None) -> Expr:
        if t in new:
            return new[t]
        if isinstance(t, p.Arg) and arg is not None:
            return arg
        if (t, arg) not in memo:
            memo[t, arg] = made(t, arg)
        return memo[t, arg]

    def made(t: Expr, arg: Expr | None) -> Expr:
        def child(c: Expr) -> Expr:
            return go(c, arg)

        match t:
            case p.Map(f, x) if reads(f):
                return trace.map_body(partial(go, f), child(x))
            case p.Fold(f, z, x) if reads(f):
                return trace.fold_body(lambda a, v: go(f, p.Tup((a, v))), child(z), child(x), ("acc", "v"))
            case p.Iterate(n, f, x) if reads(f):
                return trace.iterate_body(evaluate(n), partial(go, f), child(x))
        return rebuild(t, child)

    def reads(body: Expr) -> bool:
        return any(t in new for t in subterms(body))

    return go(e, None)


def _everywhere(e: Expr, new: Callable[[Expr], Expr]) -> Expr:
    """`e` with `new` applied to all its parts, the inner ones first, in bodies too, but for operators' bodies."""
    memo: dict[Expr, Expr] = {}

    def go(t: Expr) -> Expr:
        if t not in memo:
            memo[t] = new(rebuild(t, go, None if isinstance(t, p.Reduce) else go))
        return memo[t]

    return go(e)


def widened(e: Expr) -> Expr:
    """`e` with f64 for every f32, in bodies and operators too; constants keep their numbers, in twice the bytes."""
    memo: dict[Expr, Expr] = {}

    def go(t: Expr) -> Expr:
        if t not in memo:
            memo[t] = new(rebuild(t, go, go))
        return memo[t]

    def new(t: Expr) -> Expr:
        match t:
            case p.Constant(type, data) if leaves(type)[0][1] == F32:
                return p.Constant(_wide(type), np.frombuffer(data, F32.dtype).astype(F64.dtype).tobytes())
            case p.Arg() | p.Input() | p.Literal() | p.Cast():
                return replace(t, type=_wide(t.type))
            case p.Reduce(op) if op.neutral is not None:
                return replace(t, op=replace(op, neutral=go(op.neutral)))
        return t

    return go(e)


def _wide(t: Type) -> Type:
    match t:
        case Array(n, element):
            return Array(n, _wide(element))
        case Tuple(items):
            return Tuple(tuple(map(_wide, items)))
        case Scalar():
            return F64 if t == F32 else t


def _different(case: Case, program: Expr) -> Case | None:
    """The case of another program, unless it is the same one."""
    return None if el.dumps(program) == el.dumps(case.program) else case.changed(program)


def _rank(t: Type) -> int:
    return 1 + _rank(t.element) if isinstance(t, Array) else 0


def _elementwise(f: Callable[..., Value], *xs: Value) -> Value:
    """`f` on the corresponding scalars of values of one type."""
    match xs[0].type:
        case Tuple(items):
            return el.tuple(*(_elementwise(f, *(x[i] for x in xs)) for i in range(len(items))))
        case Array():
            if len(xs) == 1:
                return xs[0].map(lambda v: _elementwise(f, v))
            return xs[0].map(lambda v, w: _elementwise(f, v, w), xs[1])
    return f(*xs)


def _square(v: Value) -> Value:
    return v & v if v.type == BOOL else v * v


def _sum(v: Value, w: Value) -> Value:
    return v | w if v.type == BOOL else v + w
