"""Programs of complex numbers as programs of pairs of floats: what laws, schedules and kernels know.

A complex number is a pair `<re, im>` within the program.  In memory the pairs of an array lie one behind the other, as
NumPy's do, so that an input or a result of complex numbers is an array of arrays of two floats:

    map (\\z. mul z z) (input x [c64]n)
    ->  map (\\<re, im>. [re*re - im*im, re*im + im*re]) (map (\\z. <at 0 z, at 1 z>) (input x [[f32]2]n))

A sum is two sums, which share one loop.  complex_functions.py says what scalar functions are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.complex_functions import OF_PAIRS, Pair, where
from egglift.ir.lifting import component
from egglift.ir.operators import named
from egglift.ir.patterns import Expr, Operator
from egglift.ir.traverse import rebuild, subterms
from egglift.ir.types import Array, Scalar, Tuple, Type
from egglift.ir.value import Value


def paired(program: Expr) -> Expr:
    """`program` with pairs of floats for its complex numbers; itself where it has none.  Kept with the node."""
    memo = program.__dict__
    if "_paired" not in memo:
        memo["_paired"] = _closed(_paired(program), type_of(program)) if _is_complex(program) else None
    found: Expr | None = memo["_paired"]
    return program if found is None else found


def outside(t: Type) -> Type:
    """The type in memory: `[c64]n` -> `[[f32]2]n`."""
    return _with_numbers(t, lambda s: Array(2, s.part))


def _with_numbers(t: Type, new: Callable[[Scalar], Type]) -> Type:
    match t:
        case Scalar():
            return new(t) if t.is_complex else t
        case Array(n, element):
            return Array(n, _with_numbers(element, new))
        case Tuple(items):
            return Tuple(tuple(_with_numbers(item, new) for item in items))


def _inside(t: Type) -> Type:
    """The type within a program: `[c64]n` -> `[(f32, f32)]n`."""
    return _with_numbers(t, lambda s: Tuple((s.part, s.part)))


def _is_complex(program: Expr) -> bool:
    """Has it complex numbers?  They come of inputs, or are made of their parts."""
    return any(
        outside(t.type) != t.type if isinstance(t, p.Input) else isinstance(t, p.Apply) and t.op == "complex"
        for t in subterms(program)
    )


def _paired(e: Expr) -> Expr:
    """Within: parts come before wholes, as programs may be deep."""
    memo: dict[Expr, Expr] = {}
    for t in subterms(e):
        memo[t] = _node(t, memo.__getitem__)
    return memo[e]


def _node(e: Expr, new: Callable[[Expr], Expr]) -> Expr:
    """A pattern with its parts as `new` knows them."""
    match e:
        case p.Arg(t):
            return p.Arg(_inside(t))
        case p.Input(name, t):
            return _opened(p.Input(name, outside(t)), t)
        case p.Get(i, x):
            return component(new(x), i)
        case p.Apply(op, args) if op == "complex" or any(_number(a) for a in args):
            return _applied(op, args, new)
        case p.Reduce(op, init, x) if _is_sum(op):
            parts = (p.Reduce(named("add", _part(op)), component(new(init), i), _parts(new(x), i)) for i in (0, 1))
            return p.Tup(tuple(parts))
        case p.Scan(op, init, x) if _is_sum(op):
            sums = (p.Scan(named("add", _part(op)), component(new(init), i), _parts(new(x), i)) for i in (0, 1))
            return p.Zip(tuple(sums))
        case p.Reduce(op) | p.Scan(op) if op.neutral is not None:
            return rebuild(replace(e, op=replace(op, neutral=_paired(op.neutral))), new, new)
    return rebuild(e, new, new)


def _number(e: Expr) -> Scalar | None:
    """The type of a complex number; None of anything else."""
    t = type_of(e)
    return t if isinstance(t, Scalar) and t.is_complex else None


def _applied(op: str, args: tuple[Expr, ...], new: Callable[[Expr], Expr]) -> Expr:
    """A scalar function of pairs."""
    if op == "where":
        found: Pair | Value = where(Value(new(args[0])), _pair(new(args[1])), _pair(new(args[2])))
    elif op == "complex":
        found = Pair(*(Value(new(a)) for a in args))
    else:
        found = OF_PAIRS[op](*(_pair(new(a)) for a in args))
    return found.expr


def _pair(e: Expr) -> Pair:
    return Pair(Value(component(e, 0)), Value(component(e, 1)))


def _is_sum(op: Operator) -> bool:
    t = type_of(op.body)
    return isinstance(t, Scalar) and t.is_complex and op == named("add", t)


def _part(op: Operator) -> Scalar:
    t = type_of(op.body)
    assert isinstance(t, Scalar)
    return t.part


def _parts(x: Expr, i: int) -> Expr:
    """The real (0) or the imaginary parts (1) of an array."""
    return _mapped(lambda z: component(z, i), x)


def _mapped(f: Callable[[Expr], Expr], x: Expr) -> Expr:
    """`map f x`; of what is mapped already, both in one."""
    if isinstance(x, p.Map):
        return p.Map(f(x.body), x.x)
    t = type_of(x)
    assert isinstance(t, Array)
    return p.Map(f(p.Arg(t.element)), x)


def _opened(x: Expr, t: Type) -> Expr:
    """What lies in memory, as it is within: `[re, im]` -> `<re, im>`; `t` is its type in the program as written."""
    if outside(t) == t:
        return x
    match t:
        case Array(_, element):
            return _mapped(lambda z: _opened(z, element), x)
        case Tuple(items):
            return p.Tup(tuple(_opened(component(x, i), item) for i, item in enumerate(items)))
    return p.Tup((p.At(0, x), p.At(1, x)))


def _closed(x: Expr, t: Type) -> Expr:
    """The inverse: `<re, im>` -> `[re, im]`."""
    if outside(t) == t:
        return x
    match t:
        case Array(_, element):
            return _mapped(lambda z: _closed(z, element), x)
        case Tuple(items):
            return p.Tup(tuple(_closed(component(x, i), item) for i, item in enumerate(items)))
    return p.Concat(p.Fill(1, component(x, 0)), p.Fill(1, component(x, 1)))
