"""Walking programs: sub-expressions in the scope of the same `Arg`, bodies, and rebuilding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from operator import is_
from types import UnionType
from typing import Any

from egglift.ir.forms import BODIES, IN_SCOPE, SLOTS
from egglift.ir.patterns import Arg, Expr, Get, Input, Operator, Tup
from egglift.ir.sizes import Size, SizeOp, Sym, evaluate, symbols
from egglift.ir.types import Array, Scalar, Tuple, Type

_IN_SCOPE = {cls: tuple(slot for slot in slots if slot[1] in IN_SCOPE) for cls, slots in SLOTS.items()}
_SIZES = {cls: tuple(name for name, kind in slots if kind == "size") for cls, slots in SLOTS.items()}
_BODIES = {cls: tuple(name for name, kind in slots if kind in BODIES) for cls, slots in SLOTS.items()}


def children(e: Expr) -> tuple[Expr, ...]:
    """Sub-expressions in the scope of the same Arg, left to right; bodies excluded.  Kept with the node."""
    memo = e.__dict__
    found: tuple[Expr, ...] | None = memo.get("_children")
    if found is None:
        parts: list[Expr] = []
        for name, kind in _IN_SCOPE[type(e)]:
            value = memo[name]
            if kind == "exprs":
                parts.extend(value)
            elif value is not None:
                parts.append(value)
        found = memo["_children"] = tuple(parts)
    return found


def bodies(e: Expr) -> tuple[Expr, ...]:
    """The closed bodies of `e` (of Map, Fold, Tree, Iterate, ..., and of the operator of Reduce and Scan).

    Kept with the node.
    """
    memo = e.__dict__
    found: tuple[Expr, ...] | None = memo.get("_bodies")
    if found is None:
        found = memo["_bodies"] = tuple([_body(memo[name]) for name in _BODIES[type(e)]])
    return found


def _body(x: Expr | Operator) -> Expr:
    return x.body if isinstance(x, Operator) else x


def is_expr(value: object) -> bool:
    """Is `value` a pattern (not a type, a size, a level, an operator)?"""
    return type(value) in SLOTS


def rebuild(e: Expr, child: Callable[[Expr], Expr], body: Callable[[Expr], Expr] | None = None) -> Expr:
    """`e` with `child` applied to its children and `body` to its bodies (None: kept); `e` if unchanged."""
    new: dict[str, Any] = {}
    for name, kind in SLOTS[type(e)]:
        old = value = e.__dict__[name]
        if kind == "body":
            value = body(old) if body else old
        elif kind == "operator":
            value = _rebuilt_operator(old, body) if body else old
        elif kind == "exprs":
            value = tuple(map(child, old))
            if all(map(is_, old, value)):
                value = old
        elif kind == "expr" or (kind == "optional" and old is not None):
            value = child(old)
        if value is not old:
            new[name] = value
    return changed(e, new) if new else e


def changed(e: Expr, new: Mapping[str, Any]) -> Expr:
    """`e` with other values for some of its fields, as by `dataclasses.replace`, which takes three times as long."""
    memo = e.__dict__
    made: Expr = type(e)(*[new[name] if name in new else memo[name] for name in e.__dataclass_fields__])
    return made


def _rebuilt_operator(op: Operator, body: Callable[[Expr], Expr]) -> Operator:
    new = body(op.body)
    return op if new is op.body else replace(op, body=new)


def replaced(e: Expr, new: Callable[[Expr], Expr | None]) -> Expr:
    """`e` with what `new` knows better in the scope of its `Arg`; bodies have arguments of their own, and are kept.

    add(Arg, map(f, x))  ->  add(y, map(f, x))    by `lambda t: y if isinstance(t, Arg) else None`
    """
    memo: dict[Expr, Expr] = {}

    def go(t: Expr) -> Expr:
        if t not in memo:
            better = new(t)
            memo[t] = rebuild(t, go) if better is None else better
        return memo[t]

    return go(e)


def applied(step: Expr, accumulator: Expr, element: Expr) -> Expr:
    """`step <accumulator, element>`, with what projections of tuples are."""
    return with_argument(step, Tup((accumulator, element)))


def with_argument(body: Expr, argument: Expr) -> Expr:
    """`body` of an argument; components of tuples are their items."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            new = argument if isinstance(e, Arg) else rebuild(e, go)
            memo[e] = new.x.items[new.index] if isinstance(new, Get) and isinstance(new.x, Tup) else new
        return memo[e]

    return go(body)


def exchanged(e: Expr, new: Mapping[Expr, Expr]) -> Expr:
    """`e` with the closed sub-expressions in `new` replaced, in bodies too."""
    memo: dict[Expr, Expr] = dict(new)

    def go(t: Expr) -> Expr:
        if t not in memo:
            memo[t] = rebuild(t, go, go)
        return memo[t]

    return go(e)


def subterms(e: Expr) -> Iterator[Expr]:
    """Every different sub-expression, bodies included, children before parents."""
    seen: set[Expr] = set()
    waiting: list[Expr] = []  # for their parts: the last one's are all done where the stack has None
    stack: list[Expr | None] = [e]
    while stack:
        t = stack.pop()
        if t is None:
            yield waiting.pop()
        elif t not in seen:
            seen.add(t)
            if parts := _parts(t):
                waiting.append(t)
                stack.append(None)
                stack.extend(parts)
            else:
                yield t


def in_scope(e: Expr, apart: Iterable[Expr] = ()) -> Iterator[Expr]:
    """The sub-expressions in the scope of the `Arg` of `e`, each once: none in bodies, nor in what is `apart`."""
    stack, seen = [e], set(apart)
    while stack:
        t = stack.pop()
        if t not in seen:
            seen.add(t)
            yield t
            stack.extend(children(t))


def argument_parts(e: Expr) -> frozenset[tuple[int, ...]]:
    """Which parts of the `Arg` of its scope `e` reads: (1,) is its component 1, () the whole of it.

    add (get 0 (get 1 Arg)) (get 0 Arg)  ->  (1, 0), (0,)
    """
    found, stack, seen = set[tuple[int, ...]](), [e], set[Expr]()
    while stack:
        t = stack.pop()
        if t in seen or is_closed(t):
            continue
        seen.add(t)
        part = _argument_part(t)
        if part is None:
            stack.extend(children(t))
        else:
            found.add(part)
    return frozenset(found)


def _argument_part(e: Expr) -> tuple[int, ...] | None:
    """Which part of `Arg` it is; None if it is none."""
    path: tuple[int, ...] = ()
    while isinstance(e, Get):
        path, e = (e.index, *path), e.x
    return path if isinstance(e, Arg) else None


def inputs_in(e: Expr) -> tuple[Input, ...]:
    """The inputs in `e`, bodies included, in the order of `subterms`.  Kept with the node."""
    memo = e.__dict__
    found: tuple[Input, ...] | None = memo.get("_inputs")
    if found is None:
        found = memo["_inputs"] = tuple(t for t in subterms(e) if isinstance(t, Input))
    return found


def _parts(e: Expr) -> tuple[Expr, ...]:
    """Bodies and children, the last one first.  Kept with the node."""
    memo = e.__dict__
    found: tuple[Expr, ...] | None = memo.get("_parts")
    if found is None:
        found = memo["_parts"] = (*reversed(children(e)), *reversed(bodies(e)))
    return found


def is_closed(e: Expr) -> bool:
    """Does `e` not depend on the argument of the enclosing body?  Kept with the node."""
    known: bool | None = e.__dict__.get("_closed")
    return _closed(e) if known is None else known


def _closed(e: Expr) -> bool:
    stack = [e]
    while stack:
        t = stack[-1]
        if "_closed" in t.__dict__:
            stack.pop()
            continue
        todo = [c for c in children(t) if "_closed" not in c.__dict__]
        if todo:
            stack.extend(todo)
        else:
            t.__dict__["_closed"] = not isinstance(t, Arg) and all(c.__dict__["_closed"] for c in children(t))
            stack.pop()
    closed: bool = e.__dict__["_closed"]
    return closed


def instantiate(e: Expr, env: dict[str, int]) -> Expr:
    """`e` with every tile symbol replaced by its number, in lengths and types; ShapeError if one has none."""
    return resized(e, Sym | SizeOp, lambda s: evaluate(s, env))


def resized(e: Expr, kind: type | UnionType, size: Callable[[Any], Size]) -> Expr:
    """`e` with every length of that kind replaced, in types and operators too; and numbers in literals."""
    memo: dict[Expr, Expr] = {}

    def type_(t: Type) -> Type:
        match t:
            case Scalar():
                return t
            case Array(n, el):
                length, element = size(n) if isinstance(n, kind) else n, type_(el)
                return t if length is n and element is el else Array(length, element)
            case Tuple(items):
                parts = tuple(map(type_, items))
                return t if all(map(is_, items, parts)) else Tuple(parts)

    def new(old: Any, slot: str) -> Any:
        match slot:
            case "expr" | "body" | "optional":
                return old and memo[old]
            case "exprs":
                parts = tuple([memo[x] for x in old])
                return old if all(map(is_, old, parts)) else parts
            case "operator":
                body, neutral = memo[old.body], old.neutral and resized(old.neutral, kind, size)
                return old if body is old.body and neutral is old.neutral else replace(old, body=body, neutral=neutral)
            case "type":
                return type_(old)
        return size(old) if isinstance(old, kind) else old

    for t in subterms(e):  # parts come before wholes: no recursion, programs may be deep
        own = t.__dict__
        changes = {name: v for name, slot in SLOTS[type(t)] if (v := new(own[name], slot)) is not own[name]}
        memo[t] = changed(t, changes) if changes else t
    return memo[e]


def tile_symbols(e: Expr) -> frozenset[str]:
    """The tile symbols in the lengths of `e`, bodies included."""
    sizes = [getattr(t, name) for t in subterms(e) for name in _SIZES[type(t)]]
    return frozenset().union(*map(symbols, sizes))
