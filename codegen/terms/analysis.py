"""What a low-level term asks for: loops in result position, values to keep at a body's entry, parallel levels."""

from __future__ import annotations

from functools import reduce

from egglift.ir import patterns as p
from egglift.ir.backwards import rearranged
from egglift.ir.patterns import Expr
from egglift.ir.traverse import bodies, children

GRID = ("global", "workgroup")
ITEMS = ("local", "warp", "lane")
#: patterns that carry values from element to element, as they are executed; and those that take a group together
LOOPS = p.Fold | p.Tree | p.ScanSeq | p.ScanDoubling | p.Count | p.Iterate
TOGETHER = p.Tree | p.ScanDoubling | p.Count
#: patterns that are kept in memory, or are loops; and those that may be, as it depends on their levels
COMPUTING = (p.Fold, p.To, p.Tree, p.ScanSeq, p.ScanDoubling, p.Count, p.Iterate, p.ScanLinked)
STEPS = (p.Map, *COMPUTING)


def is_computing(t: Expr) -> bool:
    """Is `t` a loop or kept in memory: evaluated once where its scope begins if it is read?"""
    return isinstance(t, COMPUTING) or (isinstance(t, p.Map) and t.level is not None)


def written_parts(t: Expr) -> tuple[Expr, ...]:
    """The parts of `t` that may be written one by one where it is the result."""
    if isinstance(t, p.Tup | p.Zip | p.Concat):
        return children(t)
    return () if (x := rearranged(t)) is None else (x,)


def is_layout_body(body: Expr) -> bool:
    """Does a map's body only rearrange its argument, or leave out a part of it?"""
    while True:
        match body:
            case p.Arg():
                return True
            case p.Map(inner, x, None) if is_layout_body(inner):
                body = x
            case _ if (below := rearranged(body)) is not None:
                body = below
            case _:
                return False


def computes(t: Expr) -> bool:
    """Is there a loop in result position of `t`?  Otherwise `t` is a view, and writing it is a copy.  Kept with it."""
    known: bool | None = t.__dict__.get("_computes")
    if known is None:
        if is_computing(t):
            found = True
        elif parts := written_parts(t):
            found = any(map(computes, parts))
        else:
            found = isinstance(t, p.Map) and is_layout_body(t.body) and computes(t.x)
        known = t.__dict__["_computes"] = found
    return known


def result_parts(t: Expr, space: str) -> tuple[Expr, ...]:
    """The children of `t` that are in result position where `t` is, its value going to memory `space`."""
    if parts := written_parts(t):
        return parts
    if isinstance(t, p.To) and t.space == space:
        return (t.x,)
    if isinstance(t, p.Map) and t.level is None and is_layout_body(t.body) and computes(t.x):
        return (t.x,)
    return ()


def entry_nodes(body: Expr, space: str) -> tuple[Expr, ...]:
    """What a body evaluates where it begins, in order: computed in it but read, not its result.  Kept with it."""
    kept: dict[str, tuple[Expr, ...]] = body.__dict__.setdefault("_entries", {})
    found = kept.get(space)
    if found is None:
        found = kept[space] = _entry_nodes(body, space)
    return found


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
        if isinstance(t, p.To) and into != t.space:
            stack.append((t.x, t.space, False))
            continue
        parts = result_parts(t, into) if into is not None and computes(t) else ()
        stack.extend((c, into if c in parts else None, False) for c in reversed(children(t)))
    return tuple(order)


def level_kinds(t: Expr) -> frozenset[str]:
    """Kinds of levels in `t`, bodies included; "group" if it uses local memory, or one of TOGETHER.  Kept with it."""
    stack = [t]
    while stack:
        e = stack.pop()
        if "_kinds" in e.__dict__:
            continue
        parts = (*children(e), *bodies(e))
        if todo := [c for c in parts if "_kinds" not in c.__dict__]:
            stack.extend((e, *todo))
            continue
        own = {e.level.kind} if isinstance(e, p.Map) and e.level else set()
        if isinstance(e, p.ScanLinked):
            own.add("workgroup")
        if isinstance(e, TOGETHER) or (isinstance(e, p.To) and e.space == "local"):
            own.add("group")
        e.__dict__["_kinds"] = reduce(frozenset.union, (c.__dict__["_kinds"] for c in parts), frozenset(own))
    found: frozenset[str] = t.__dict__["_kinds"]
    return found


def shares_items(t: Expr) -> bool:
    """Does executing `t` take the work-items of a group together?

    What `t` reads and keeps in memory does not count: it has been evaluated where its scope begins.  Kept with it.
    """
    known: bool | None = t.__dict__.get("_shares")
    if known is None:
        if written_parts(t) or (isinstance(t, p.Map) and t.level is None and computes(t)):
            shares = any(shares_items(c) if computes(c) else _lazily_shares(c) for c in children(t))
        elif isinstance(t, p.To):
            shares = t.space == "local" or shares_items(t.x)
        elif is_computing(t):
            own = isinstance(t, TOGETHER) or (isinstance(t, p.Map) and t.level is not None and t.level.kind in ITEMS)
            shares = own or any(map(_takes_items, bodies(t))) or any(map(_lazily_shares, children(t)))
        else:
            shares = _lazily_shares(t)
        known = t.__dict__["_shares"] = shares
    return known


def _takes_items(t: Expr) -> bool:
    return not level_kinds(t).isdisjoint((*ITEMS, "group"))


def _lazily_shares(t: Expr) -> bool:
    """Does reading `t` do so, in the bodies of maps without a level?"""
    stack, seen = [t], set()
    while stack:
        e = stack.pop()
        if e in seen or is_computing(e):
            continue
        seen.add(e)
        if any(map(_takes_items, bodies(e))):
            return True
        stack.extend(children(e))
    return False


def is_spread(t: Expr) -> bool:
    """Does each work-item of a group write only its part of `t`'s value?"""
    match t:
        case p.Map(body, _, level) if level is not None:
            return level.kind in ITEMS or is_spread(body)
        case p.Fold(body, _, _) | p.Iterate(_, body, _):
            return is_spread(body)
        case p.To("private", x):
            return is_spread(x)
        case p.Map(_, x, None):
            return computes(t) and is_spread(x)
        case _:
            return any(map(is_spread, written_parts(t)))


def shares_grid(t: Expr) -> bool:
    """Does `t` share out work among work-groups?"""
    return not level_kinds(t).isdisjoint(GRID)
