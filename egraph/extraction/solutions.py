"""What extraction finds: programs and views with their prices and structures, and which of them to keep.

The structure of a program is written as its signature: a letter for every loop with the tile symbols of its
length, `F(…)` folds, `T` trees, `c` copies, `[l…]` what is staged (l local, p private, g a kernel before),
`<…>` what is computed first and read below, `<<…>>` the same by all work-items of a group, each its own part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from math import fsum
from typing import NamedTuple, TypeAlias

from egglift.egraph.extraction.access_costs import ViewPrice, ordered, price, prices, size
from egglift.egraph.graph.graph import ENode, build
from egglift.ir.patterns import Expr, Level

#: kernels that run before, each counted once however often it is read: (class, structure, price)
Once: TypeAlias = frozenset[tuple[int, str, float]]
NONE: Once = frozenset()

KEPT, SPREAD = ("<", ">"), ("<<", ">>")  # around the signature of what is computed first
MAIN = 10  # times the price of what follows: then that is no structure of its own
HOPELESS = 64  # times the price of the best: never among the few best of the whole program


def total(once: Once) -> float:
    """The price of all of `once`, whatever the order of the set."""
    return fsum(price for _, _, price in once) if once else 0.0


@dataclass(frozen=True, eq=False)
class Term:
    """A term to be: most of what extraction looks at is never built."""

    node: ENode
    parts: tuple[Term | Expr, ...]

    @cached_property
    def expr(self) -> Expr:
        """The pattern."""
        return build(self.node, [part.expr if isinstance(part, Term) else part for part in self.parts])


class Found(NamedTuple):
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
        """The price of all of it."""
        return self.cost * self.spread + total(self.once)


class Seen(NamedTuple):
    """A view of a class: `setup` is paid where the enclosing body starts, `value` at each access."""

    setup: float
    once: Once
    value: ViewPrice
    sign: str
    how: Term

    @property
    def total(self) -> float:
        """What is paid before the first access."""
        return self.setup + total(self.once)


# ---------------------------------------------------------------------------------------- choosing


def best(found: Iterable[Found], k: int) -> list[Found]:
    """The cheapest of every structure, then the k cheapest that are not hopeless."""
    by: dict[str, tuple[float, str, Found]] = {}
    for f in found:
        price, known = f.total, by.get(f.sign)
        if known is None or price < known[0]:
            by[f.sign] = price, f.sign, f
    rows = sorted(by.values(), key=_price)[:k]
    return [f for price, _, f in rows if price <= HOPELESS * rows[0][0]]


def best_views(seen: Iterable[Seen], k: int) -> list[Seen]:
    """The best view of every way to stage what is read, then the k that look cheapest for one pass over the value."""
    rows = list(seen)
    if len(rows) < 2:
        return rows
    by: dict[tuple[str, tuple[float, ...]], tuple[float, int, str, Seen]] = {}
    for s in rows:
        rank = s.total + min(size(s.value), 1 << 12) * price(s.value), -ordered(s.value)
        key = s.sign, tuple(prices(s.value)) if s.sign else ()  # the same sign is given to the staging of any part
        known = by.get(key)
        if known is None or rank < known[:2]:
            by[key] = (*rank, s.sign, s)
    return [row[-1] for row in sorted(by.values(), key=lambda row: row[:3])[:k]]


def _price(row: tuple[float, str, Found]) -> tuple[float, str]:
    return row[:2]


def different(found: Iterable[Found], k: int, groups: bool = True, alike: int = 1) -> list[Found]:
    """The k best of `found`, cheapest first, no more than `alike` of each skeleton while there are others.

    The best two of every way to stage are among them: what caches keep is not priced before sizes are.
    Without `groups` of work-items that share anything, it does not matter which parallel loops are spread over them.
    """
    by: dict[str, Found] = {}
    for f in found:
        by.setdefault(f.sign if groups else ungrouped(f.sign), f)
    count: dict[str, int] = {}
    first, later = list[Found](), list[Found]()
    for f in by.values():
        sign = "".join(kernels(f.sign)) if total(f.once) > MAIN * f.cost * f.spread else f.sign
        key = skeleton(sign, groups)
        count[key] = count.get(key, 0) + 1
        (first if count[key] <= alike else later).append(f)
    ways: dict[tuple[int, bool, bool], list[Found]] = {}
    for f in first:
        ways.setdefault(staging(f.sign), []).append(f)
    leaders = [f for rank in zip_longest(*(way[:2] for way in ways.values())) for f in rank if f is not None]
    chosen = dict.fromkeys([*leaders, *first, *later])
    return sorted(list(chosen)[:k], key=lambda f: (f.total, f.sign))


# ---------------------------------------------------------------------------------------- signatures


def merge(*signs: str) -> str:
    """What all the parts stage, each once."""
    return "".join(dict.fromkeys(s for s in signs if s))


def letter(level: Level) -> str:
    """One letter for a level: W, G, L with their dimension; w(arp), l(ane), s, u, v."""
    names = {"workgroup": "W", "global": "G", "local": "L", "warp": "w", "lane": "l", "seq": "s", "unroll": "u"}
    return names.get(level.kind, "v") + (str(level.dim) if level.dim else "")


def marked(sign: str, marks: tuple[str, str]) -> str:
    """The signature of what is computed first: `marked("F(c)", KEPT) == "<F(c)>"`."""
    return f"{marks[0]}{sign}{marks[1]}"


def groups(sign: str) -> list[str]:
    """The parts of a view's signature: `groups("[pc]<F(c)>") == ["[pc]", "<F(c)>"]`."""
    parts, depth, start = list[str](), 0, 0
    for i, c in enumerate(sign):
        depth += (c in "[<(") - (c in "])>")
        if depth == 0 and c in "]>":
            parts.append(sign[start : i + 1])
            start = i + 1
    return [*parts, sign[start:]] if start < len(sign) else parts


def main_part(sign: str, marks: tuple[str, str]) -> str | None:
    """What is computed first, where that is one thing: `main_part("[pc]<F(c)>", KEPT) == "F(c)"`; else None.

    Kernels that run before stay in the signature: `main_part("[g{G(c)}]<F(c)>", KEPT) == "[g{G(c)}]F(c)"`.
    """
    parts = groups(sign)
    firsts = [part for part in parts if part.startswith("<")]
    if len(firsts) != 1 or firsts[0].startswith(SPREAD[0]) != (marks == SPREAD):
        return None
    width = len(marks[0])
    return "".join(part for part in parts if part.startswith("[g")) + firsts[0][width:-width]


def kernels(sign: str) -> list[str]:
    """The kernels that run before: `kernels("G[g{W(c)}](c)") == ["[g{W(c)}]"]`; theirs are part of them."""
    found, at = list[str](), 0
    while (start := sign.find("[g", at)) >= 0:
        depth = 0
        for bracket in _BRACKETS.finditer(sign, start):
            depth += 1 if bracket[0] == "[" else -1
            if depth == 0:
                break
        at = bracket.end()
        found.append(sign[start:at])
    return found


def skeleton(sign: str, groups: bool = True) -> str:
    """The parallel loops and what is staged for them: how a work-item adds up is no other skeleton.

    Without groups of work-items, the lengths of loops alone: what is parallel is a matter of grain.
    """
    if groups:
        return "".join(_SKELETON.findall(sign))
    return "".join(length + staged for length, staged in _LENGTHS.findall(sign))


def staging(sign: str) -> tuple[int, bool, bool]:
    """Kernels before, and whether local and private memory are used: `staging("L[lc](c)") == (0, True, False)`."""
    return len(kernels(sign)), "[l" in sign, "[p" in sign


def ungrouped(sign: str) -> str:
    """`sign` with one letter for all parallel loops: `ungrouped("W1m0(Ln0(c))") == ungrouped("G1m0(Gn0(c))")`."""
    return _ALONE.sub(r"\1", _PARALLEL.sub(r"G\1", sign))


_BRACKETS = re.compile(r"[\[\]]")
_PARALLEL = re.compile(r"[WGL]\d?((?:[a-z]\d+)*)")
_SKELETON = re.compile(r"[WGL]\d?(?:[a-z]\d+)*|\[[lg]")
_LENGTHS = re.compile(r"[WGLs]\d?((?:[a-z]\d+)+)|(\[[lg])")
_ALONE = re.compile(r"(^|\()1+(?=[a-zA-Z])")


# ---------------------------------------------------------------------------------------- the table


def same(a: list[Found] | list[Seen], b: list[Found] | list[Seen]) -> bool:
    """Are two answers of the table alike, in structures and prices?"""
    return a is b or [_key(x) for x in a] == [_key(x) for x in b]


def _key(x: Found | Seen) -> tuple[float, float, float, str]:
    if isinstance(x, Found):
        return x.cost, total(x.once), x.spread, x.sign
    return x.setup, total(x.once), 0.0, x.sign
