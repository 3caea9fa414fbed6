"""Walking programs: sub-expressions in the scope of the same `Arg`, bodies, and rebuilding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, get_args

from egglift.ir.patterns import Arg, Expr, Operator
from egglift.ir.sizes import Size, SizeOp, Sym, evaluate, symbols
from egglift.ir.types import Array, Scalar, Tuple, Type

BODY = ("body", "op")  # the fields that open a new scope (`op` of Reduce holds a body; of Apply a name)


def children(e: Expr) -> tuple[Expr, ...]:
    """Sub-expressions in the scope of the same Arg, left to right; bodies excluded."""
    found: list[Expr] = []
    for f in fields(e):
        if f.name in BODY:
            continue
        value = getattr(e, f.name)
        if isinstance(value, tuple):
            found.extend(v for v in value if is_expr(v))
        elif is_expr(value):
            found.append(value)
    return tuple(found)


def bodies(e: Expr) -> tuple[Expr, ...]:
    """The closed bodies of `e` (of Map, Fold, Tree, Iterate, and of Reduce's operator)."""
    body = getattr(e, "body", None)
    op = getattr(e, "op", None)
    return tuple(b for b in (body, op.body if isinstance(op, Operator) else None) if b is not None)


def is_expr(value: object) -> bool:
    """Is `value` a pattern (not a type, a size, a level, an operator)?"""
    return type(value) in EXPRS


def rebuild(e: Expr, child: Callable[[Expr], Expr], body: Callable[[Expr], Expr] | None = None) -> Expr:
    """`e` with `child` applied to its children and `body` to its bodies (None: kept); `e` if unchanged."""
    new: dict[str, Any] = {}
    for f in fields(e):
        old = value = getattr(e, f.name)
        if f.name == "body":
            value = body(old) if body else old
        elif isinstance(old, Operator):
            value = replace(old, body=body(old.body)) if body and body(old.body) is not old.body else old
        elif isinstance(old, tuple):
            value = tuple(child(v) if is_expr(v) else v for v in old)
            if all(a is b for a, b in zip(old, value, strict=True)):
                value = old
        elif is_expr(old):
            value = child(old)
        if value is not old:
            new[f.name] = value
    return replace(e, **new) if new else e


def subterms(e: Expr) -> Iterator[Expr]:
    """Every different sub-expression, bodies included, children before parents."""
    seen: set[int] = set()
    keep: list[Expr] = []
    stack: list[tuple[Expr, bool]] = [(e, False)]
    while stack:
        t, done = stack.pop()
        if done:
            yield t
        elif id(t) not in seen:
            seen.add(id(t))
            keep.append(t)
            stack.append((t, True))
            stack.extend((c, False) for c in reversed(bodies(t) + children(t)))


def is_closed(e: Expr) -> bool:
    """Does `e` not depend on the argument of the enclosing body?"""
    memo: dict[int, bool] = {}
    stack = [(e, False)]
    while stack:
        t, done = stack.pop()
        if id(t) in memo:
            continue
        if isinstance(t, Arg):
            memo[id(t)] = False
        elif done:
            memo[id(t)] = all(memo[id(c)] for c in children(t))
        else:
            stack.append((t, True))
            stack.extend((c, False) for c in children(t))
    return memo[id(e)]


def instantiate(e: Expr, env: dict[str, int]) -> Expr:
    """`e` with every tile symbol replaced by its number, in lengths and types; ShapeError if one has none."""
    memo: dict[Expr, Expr] = {}

    def size(s: Size) -> Size:
        return evaluate(s, env)

    def type_(t: Type) -> Type:
        match t:
            case Scalar():
                return t
            case Array(n, el):
                return Array(size(n), type_(el))
            case Tuple(items):
                return Tuple(tuple(map(type_, items)))

    for t in subterms(e):  # parts come before wholes: no recursion, programs may be deep
        new = rebuild(t, memo.__getitem__, memo.__getitem__)
        changes: dict[str, Any] = {}
        for f in fields(new):
            v = getattr(new, f.name)
            if isinstance(v, Sym | SizeOp):
                changes[f.name] = size(v)
            elif isinstance(v, Array | Tuple):
                changes[f.name] = type_(v)
            elif isinstance(v, Operator) and v.neutral is not None:
                changes[f.name] = replace(v, neutral=instantiate(v.neutral, env))
        memo[t] = replace(new, **changes) if changes else new
    return memo[e]


def tile_symbols(e: Expr) -> frozenset[str]:
    """The tile symbols in the lengths of `e`, bodies included."""
    sizes = (getattr(t, f.name) for t in subterms(e) for f in fields(t))
    return frozenset().union(*(symbols(s) for s in sizes if isinstance(s, Sym | SizeOp)))


EXPRS = frozenset(get_args(Expr))
