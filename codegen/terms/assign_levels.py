"""A pass over terms: who executes each map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from egglift.codegen.terms.analysis import is_computing, is_layout_body, written_parts
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.named_states import states_in_loop
from egglift.ir.patterns import Expr, Level
from egglift.ir.traverse import rebuild
from egglift.ir.types import Array


def assign_levels(t: Expr, memo: dict[tuple[Expr, str], Expr] | None = None) -> Expr:
    """`t` with a level for every map in result position that has none.

    map f x               ->  mapGlobal0 f x                 the result of a kernel
    mapGlobal0 (map f) x  ->  mapGlobal0 (mapSeq f) x        inside another map
    transpose x           ->  mapGlobal1 (mapGlobal0 id) (transpose x)        a result that is only a view
    fold f z (map g x)    ->  fold f z (map g x)             what is read is evaluated at each access

    memo: what earlier calls found, for terms that are parts of each other.
    """
    memo = {} if memo is None else memo

    def go(e: Expr, mode: str) -> Expr:
        if (e, mode) not in memo:
            memo[e, mode] = _levelled(e, mode, go)
        return memo[e, mode]

    return go(t, "grid")


def _levelled(e: Expr, mode: str, go: Callable[[Expr, str], Expr]) -> Expr:
    """mode: "grid" result of a kernel, "item" result inside a map, "read"."""
    if mode == "grid" and _is_copy(e):
        return _copied(go(e, "read"))
    if isinstance(e, p.Map) and e.level is None and mode != "read":
        if is_layout_body(e.body) and _will_compute(e.x):
            return replace(e, x=go(e.x, mode))
        level = Level("global", 0) if mode == "grid" else Level("seq")
        return p.Map(go(e.body, "item"), go(e.x, "read"), level)
    if not isinstance(e, p.Iterate) and states_in_loop(e):  # its steps have theirs when they are launched
        return rebuild(e, lambda c: go(c, "read"))
    parts, inner = written_parts(e), "read" if isinstance(e, p.Map) and e.level is None else "item"
    if isinstance(e, p.To):
        below = {"global": "grid" if mode == "grid" else "item", "private": "item", "local": "read"}[e.space]
        if e.space == "global" and mode == "read":
            below = "grid"
    elif isinstance(e, p.Iterate) and mode == "grid":
        below, inner = "read", "grid"
    else:
        below = mode if parts else "read"
    return rebuild(e, lambda c: go(c, below if not parts or c in parts else "read"), lambda b: go(b, inner))


def _will_compute(e: Expr) -> bool:
    """Like `computes`, for terms whose maps may not have their levels yet.  Kept with the node."""
    if "_will_compute" not in e.__dict__:
        if isinstance(e, p.Map) or is_computing(e):
            found = not (isinstance(e, p.Map) and e.level is None and is_layout_body(e.body)) or _will_compute(e.x)
        else:
            found = any(map(_will_compute, written_parts(e)))
        e.__dict__["_will_compute"] = found
    kept: bool = e.__dict__["_will_compute"]
    return kept


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
