"""Elementwise maps as one: what is computed at one place of arrays is one body, its shared values computed once.

The laws say so too, one map after the other and in every order; of thirty maps over each other's results there are too
many orders to look at.
"""

from __future__ import annotations

from collections.abc import Callable

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.trace import map_body, placeholder, substitute
from egglift.ir.traverse import children, is_closed, rebuild, replaced
from egglift.ir.tuples import parts_of, zipped
from egglift.ir.types import Array

MOST = 64  # places of arrays that one map reads: of more, what is between is better kept than computed at each again
POINTWISE = (p.Get, p.Tup, p.Apply, p.Cast, p.At, p.Zip, p.Distl)


def fused(program: Expr) -> Expr:
    """`program`, whose lengths are numbers, with every tower of elementwise maps as one map.

    map h (zip (map f x) (drop n (map g y)))  ->  map (\\<a, b>. h <f a, g b>) (zip x (drop n y))

    A tower on more than 64 places (sums of windows of sums of windows) stays several maps.
    """
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = (_is_elementwise(e) and _one_map(e, go)) or rebuild(e, go, body)
        return memo[e]

    def body(e: Expr) -> Expr:
        named: dict[Expr, Expr] = {}
        opened = replaced(e, lambda t: named.setdefault(t, placeholder(t.type)) if isinstance(t, p.Arg) else None)
        return substitute(go(opened), {name: arg for arg, name in named.items()})

    return go(program)


def _is_elementwise(e: Expr) -> bool:
    return isinstance(e, p.Map) and e.level is None and not isinstance(e.body, p.Arg) and _is_pointwise(e.body)


def _is_pointwise(body: Expr) -> bool:
    """Does a body compute its value without loops, or element by element from arrays as long?"""
    stack, seen = [body], set[Expr]()
    while stack:
        e = stack.pop()
        if e not in seen and not is_closed(e):
            seen.add(e)
            if not isinstance(e, (p.Arg, *POINTWISE)) and not _is_elementwise(e):
                return False
            stack.extend(children(e))
    return True


def _one_map(top: Expr, go: Callable[[Expr], Expr]) -> Expr | None:
    """The elementwise map `top` and those that it is computed from as one map over what these stand on, if not many."""
    tower = _Tower()
    t = type_of(top)
    assert isinstance(t, Array)
    value = tower.element(top, 0)
    if len(tower.ground) > MOST:
        return None
    ground = {placed: go(_part(array, start, t.length)) for (array, start), placed in tower.ground.items()}
    if not ground:
        return p.Fill(t.length, go(value))
    arrays = tuple(dict.fromkeys(ground.values()))

    def body(v: Expr) -> Expr:
        parts = dict(zip(arrays, parts_of(v, len(arrays)), strict=True))
        return go(substitute(value, {placed: parts[a] for placed, a in ground.items()}))

    return map_body(body, zipped(arrays))


def _part(x: Expr, start: int, n: object) -> Expr:
    """Elements start .. start + n - 1 of an array."""
    t = type_of(x)
    assert isinstance(t, Array) and isinstance(t.length, int) and isinstance(n, int)
    x = p.Drop(start, x) if start else x
    return x if t.length == start + n else p.Take(n, x)


class _Tower:
    """Elementwise maps, one upon the other.

    ground: the arrays that they stand on, each from an element on, and what stands for an element of it.
    """

    def __init__(self) -> None:
        self.ground: dict[tuple[Expr, int], p.Input] = {}
        self._known: dict[tuple[Expr, int], Expr] = {}

    def element(self, x: Expr, start: int) -> Expr:
        """An element of `x`, `start` places further on than that of the result."""
        if (x, start) not in self._known:
            self._known[x, start] = self._element(x, start)
        return self._known[x, start]

    def _element(self, x: Expr, start: int) -> Expr:
        match x:
            case p.Map(body, over) if _is_elementwise(x):
                return _applied(body, self.element(over, start))
            case p.Zip(arrays):
                return p.Tup(tuple(self.element(a, start) for a in arrays))
            case p.Distl(a, b):
                return p.Tup((a, self.element(b, start)))
            case p.Take(_, a):
                return self.element(a, start)
            case p.Drop(n, a) if isinstance(n, int):
                return self.element(a, start + n)
        t = type_of(x)
        assert isinstance(t, Array)
        return self.ground.setdefault((x, start), placeholder(t.element))


def _applied(body: Expr, value: Expr) -> Expr:
    """`body` of `value`; components of tuples that are written out are their items."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            new = value if isinstance(e, p.Arg) else rebuild(e, go)
            memo[e] = new.x.items[new.index] if isinstance(new, p.Get) and isinstance(new.x, p.Tup) else new
        return memo[e]

    return go(body)
