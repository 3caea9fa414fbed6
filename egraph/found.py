"""What extraction finds: programs and views with their prices and structures, and which of them to keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from egglift.egraph.frozen import ENode, build
from egglift.egraph.values import Value, price, size
from egglift.ir.patterns import Expr, Level

#: kernels that run before, each counted once however often it is read: (class, structure, price)
Once: TypeAlias = frozenset[tuple[int, str, float]]
NONE: Once = frozenset()


def total(once: Once) -> float:
    """The price of all of `once`."""
    return sum(price for _, _, price in once)


@dataclass(frozen=True, eq=False)
class Term:
    """A term to be: most of what extraction looks at is never built."""

    node: ENode
    parts: tuple[Term | Expr, ...]

    @cached_property
    def expr(self) -> Expr:
        """The pattern."""
        return build(self.node, [part.expr if isinstance(part, Term) else part for part in self.parts])


@dataclass(frozen=True)
class Found:
    """A program for a class: its price, `spread` over so many executors; `once`: kernels that it waits for."""

    cost: float
    once: Once
    sign: str  # its structure: loops, staging and tile symbols
    how: Term
    spread: float = 1.0

    @property
    def term(self) -> Expr:
        """The low-level program, with tile symbols."""
        return self.how.expr

    @property
    def total(self) -> float:
        return self.cost * self.spread + total(self.once)


@dataclass(frozen=True)
class Seen:
    """A view of a class: `setup` is paid where the enclosing body starts, `value` at each access."""

    setup: float
    once: Once
    value: Value
    sign: str
    how: Term


# ---------------------------------------------------------------------------------------- choosing


def best(found: Iterable[Found], k: int) -> list[Found]:
    """The cheapest of every structure, then the k cheapest."""
    by: dict[str, Found] = {}
    for f in found:
        if f.sign not in by or f.total < by[f.sign].total:
            by[f.sign] = f
    return sorted(by.values(), key=lambda f: (f.total, f.sign))[:k]


def best_views(seen: Iterable[Seen], k: int) -> list[Seen]:
    """The cheapest of every way to stage, then the k that look cheapest for one pass over the value."""

    def rank(s: Seen) -> tuple[float, str]:
        return s.setup + total(s.once) + min(size(s.value), 1 << 12) * price(s.value), s.sign

    by: dict[tuple[str, Value], Seen] = {}
    for s in seen:
        key = (s.sign, s.value)
        if key not in by or s.setup + total(s.once) < by[key].setup + total(by[key].once):
            by[key] = s
    return sorted(by.values(), key=rank)[:k]


def merge(*signs: str) -> str:
    """What all the parts stage, each once."""
    return "".join(dict.fromkeys(s for s in signs if s))


def letter(level: Level) -> str:
    """One letter for a level: W, G, L with their dimension; w(arp), l(ane), s, u, v."""
    names = {"workgroup": "W", "global": "G", "local": "L", "warp": "w", "lane": "l", "seq": "s", "unroll": "u"}
    return names.get(level.kind, "v") + (str(level.dim) if level.dim else "")


def same(a: list[Found | Seen], b: list[Found | Seen]) -> bool:
    """Are two answers of the table alike, in structures and prices?"""
    return [(_key(x), x.sign) for x in a] == [(_key(x), x.sign) for x in b]


def _key(x: Found | Seen) -> tuple[float, ...]:
    return (x.cost, total(x.once), x.spread) if isinstance(x, Found) else (x.setup, total(x.once))
