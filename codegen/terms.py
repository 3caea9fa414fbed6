"""What a low-level term asks for: loops in result position, values to keep at a body's entry, parallel levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from weakref import WeakKeyDictionary

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Level
from egglift.ir.traverse import bodies, children, rebuild, subterms
from egglift.ir.types import Array

GRID = ("global", "workgroup")
ITEMS = ("local", "warp", "lane")
LAYOUT = (p.Join, p.Split, p.Transpose, p.Stride, p.Take, p.Drop)
#: patterns whose parts may be written one by one where the whole is the result
STRUCTURE = (*LAYOUT, p.Tup, p.Zip, p.Concat)

_computes: WeakKeyDictionary[Expr, bool] = WeakKeyDictionary()
_kinds: WeakKeyDictionary[Expr, frozenset[str]] = WeakKeyDictionary()
_entries: WeakKeyDictionary[Expr, dict[str, tuple[Expr, ...]]] = WeakKeyDictionary()


def is_computing(t: Expr) -> bool:
    """Is `t` a loop or kept in memory: evaluated once where its scope begins if it is read?"""
    return isinstance(t, p.Fold | p.Tree | p.Iterate | p.To) or (isinstance(t, p.Map) and t.level is not None)


def is_layout_body(body: Expr) -> bool:
    """Does a map's body only rearrange its argument?"""
    while True:
        match body:
            case p.Arg():
                return True
            case p.Map(inner, x, None) if is_layout_body(inner):
                body = x
            case p.Join(x) | p.Split(_, x) | p.Transpose(x) | p.Stride(_, x):
                body = x
            case _:
                return False


def computes(t: Expr) -> bool:
    """Is there a loop in result position of `t`?  Otherwise `t` is a view, and writing it is a copy."""
    if t not in _computes:
        if is_computing(t):
            found = True
        elif isinstance(t, STRUCTURE):
            found = any(map(computes, children(t)))
        else:
            found = isinstance(t, p.Map) and is_layout_body(t.body) and computes(t.x)
        _computes[t] = found
    return _computes[t]


def result_parts(t: Expr, space: str) -> tuple[Expr, ...]:
    """The children of `t` that are in result position where `t` is, its value going to memory `space`."""
    if isinstance(t, STRUCTURE):
        return children(t)
    if isinstance(t, p.To) and t.space == space:
        return (t.x,)
    if isinstance(t, p.Map) and t.level is None and is_layout_body(t.body) and computes(t.x):
        return (t.x,)
    return ()


def entry_nodes(body: Expr, space: str) -> tuple[Expr, ...]:
    """What a body evaluates where it begins, in order: what is computed in it but read, not its result."""
    found = _entries.setdefault(body, {})
    if space not in found:
        found[space] = _entry_nodes(body, space)
    return found[space]


def read_nodes(t: Expr) -> tuple[Expr, ...]:
    """What is computed in `t`, a term that is read, in order; `t` itself included."""
    return _entry_nodes(t, None)  # not remembered: what holds `t` would keep it alive for ever


def _entry_nodes(body: Expr, space: str | None) -> tuple[Expr, ...]:
    order: dict[Expr, None] = {}
    seen: set[tuple[Expr, str | None]] = set()
    stack: list[tuple[Expr, str | None, bool]] = [(body, space, False)]  # the space of a result, None if read
    while stack:
        t, into, done = stack.pop()
        if done:
            order[t] = None
            continue
        if (t, into) in seen:
            continue
        seen.add((t, into))
        if into is None and is_computing(t):
            stack.append((t, into, True))
        if into is None and isinstance(t, p.To):
            stack.append((t.x, t.space, False))
            continue
        parts = result_parts(t, into) if into is not None and computes(t) else ()
        stack.extend((c, into if c in parts else None, False) for c in reversed(children(t)))
    return tuple(order)


def level_kinds(t: Expr) -> frozenset[str]:
    """The kinds of levels in `t`, bodies included; "group" if it uses local memory or a tree."""
    for e in subterms(t) if t not in _kinds else ():
        if e not in _kinds:
            own = {e.level.kind} if isinstance(e, p.Map) and e.level else set()
            if isinstance(e, p.Tree) or (isinstance(e, p.To) and e.space == "local"):
                own.add("group")
            _kinds[e] = reduce(
                frozenset.union, (_kinds[c] for c in (*children(e), *bodies(e))), frozenset(own)
            )
    return _kinds[t]


def shares_items(t: Expr) -> bool:
    """Does `t` share out work among the work-items of a group?"""
    return not level_kinds(t).isdisjoint((*ITEMS, "group"))


def shares_grid(t: Expr) -> bool:
    """Does `t` share out work among work-groups?"""
    return not level_kinds(t).isdisjoint(GRID)


# ---------------------------------------------------------------------------------------- normal form


def with_levels(t: Expr) -> Expr:
    """`t` with `reduce` as a fold, and a level for every map in result position that has none.

    map f x -> mapGlobal0 f x where it makes the kernel's result, mapSeq f x inside another map; a result that is
    only a view is copied by mapGlobal.  Maps that are read keep no level: they are evaluated at each access.
    """
    memo: dict[tuple[Expr, str], Expr] = {}

    def go(e: Expr, mode: str) -> Expr:
        if (e, mode) not in memo:
            memo[e, mode] = _levelled(e, mode, go)
        return memo[e, mode]

    return go(t, "grid")


def _levelled(e: Expr, mode: str, go: Callable[[Expr, str], Expr]) -> Expr:
    """mode: "grid" result of a kernel, "item" result inside a map, "read"."""
    if isinstance(e, p.Reduce):
        return go(p.Fold(e.op.body, e.init, e.x), mode)
    if mode == "grid" and _is_copy(e):
        return _copied(go(e, "read"))
    if isinstance(e, p.Map) and e.level is None and mode != "read":
        if is_layout_body(e.body) and _will_compute(e.x):
            return replace(e, x=go(e.x, mode))
        level = Level("global", 0) if mode == "grid" else Level("seq")
        return p.Map(go(e.body, "item"), go(e.x, "read"), level)
    inner = "read" if isinstance(e, p.Map) and e.level is None else "item"
    if isinstance(e, p.To):
        below = {"global": "grid" if mode == "grid" else "item", "private": "item", "local": "read"}[e.space]
        if e.space == "global" and mode == "read":
            below = "grid"
    elif isinstance(e, p.Iterate) and mode == "grid":
        below, inner = "read", "grid"
    else:
        below = mode if isinstance(e, STRUCTURE) else "read"
    return rebuild(e, lambda c: go(c, below), lambda b: go(b, inner))


def _will_compute(e: Expr) -> bool:
    """Like `computes`, for terms whose maps may not have their levels yet."""
    if isinstance(e, p.Map | p.Reduce) or is_computing(e):
        return not (isinstance(e, p.Map) and e.level is None and is_layout_body(e.body)) or _will_compute(e.x)
    return isinstance(e, STRUCTURE) and any(map(_will_compute, children(e)))


def _is_copy(e: Expr) -> bool:
    return isinstance(type_of(e), Array) and not _will_compute(e)


def _copied(e: Expr) -> Expr:
    """The view `e` copied to the result: mapGlobal id, over two dimensions if it has them."""
    element = type_of(e)
    assert isinstance(element, Array)
    row = element.element
    if isinstance(row, Array):
        return p.Map(p.Map(p.Arg(row.element), p.Arg(row), Level("global", 0)), e, Level("global", 1))
    return p.Map(p.Arg(row), e, Level("global", 0))
