"""Symmetric stages: exchanging two dimensions gives the same body, but for the order of what commutes.

    [ sum_2 A[0,2] * A[1,2] ]     exchanged:  sum_2 A[1,2] * A[0,2]     the same
    [ sum_2 (A[0,2] - A[1,2])^2 ]             sum_2 (A[1,2] - A[0,2])^2     the same, as (a - b)^2 = (b - a)^2
    [ sum_2 A[0,2] * B[1,2] ]                 sum_2 A[1,2] * B[0,2]     another

Bodies are compared in a normal form, in which what an operator commutes is a multiset.  The same form means the same
number, bit by bit.  With `reassociate`, and for integers, a chain of one operator is one multiset as well:
(n[0] - s) + n[1] = (n[1] - s) + n[0].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from egglift.egraph.stages.moved_axes import plain_read
from egglift.egraph.stages.stage import Dim, Names, Reduction, Stage
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import Scalar

#: from a part of a body to its form
_Go: TypeAlias = Callable[[Expr], int]
COMMUTATIVE = frozenset(
    ("minimum", "maximum", "eq", "ne") + ("logical_and", "logical_or", "bitwise_and", "bitwise_or", "bitwise_xor")
)
#: operators of chains: what they are of, and the exponent of their second argument
CHAINS = {"add": ("sum", 1), "sub": ("sum", -1), "mul": ("product", 1), "div": ("product", -1)}


def symmetric_dims(stage: Stage, reassociate: bool) -> tuple[Dim, Dim] | None:
    """Two dimensions of a stage, the last ones first, that may be exchanged; None if there are none.

    reassociate: may the order of additions change?
    """
    free = stage.names.free(stage.body)
    forms = _Forms(stage.names, reassociate)
    for j, i in combinations(reversed(stage.dims), 2):
        alike = i.extent == j.extent and {i, j} <= free
        if alike and forms.of(stage.body, {}) == forms.of(stage.body, {i: j, j: i}):
            return i, j
    return None


@dataclass
class _Forms:
    """Normal forms of bodies, as numbers: two are equal if the bodies are."""

    names: Names
    reassociate: bool
    numbers: dict[Hashable, int] = field(default_factory=dict)

    def of(self, body: Expr, new: Mapping[Dim, Dim]) -> int:
        """The form of a body at other dimensions."""
        memo: dict[Expr, int] = {}

        def go(e: Expr) -> int:
            if e not in memo:
                memo[e] = self._number(self._form(e, new, go))
            return memo[e]

        return go(body)

    def _number(self, form: Hashable) -> int:
        return self.numbers.setdefault(form, len(self.numbers))

    def _form(self, e: Expr, new: Mapping[Dim, Dim], go: _Go) -> Hashable:
        match e:
            case p.Input(name) if name in self.names.reads:
                read = self.names.reads[name]
                return plain_read(read.at(new))
            case p.Input(name) if name in self.names.reductions:
                return self._reduction(self.names.reductions[name], new)
            case p.Apply(op) if op in CHAINS:
                return self._chain(e, go)
            case p.Apply("abs", (x,)) if not _is_unsigned(x):
                return "abs", self._unsigned(x, go)
            case p.Apply(op, args) if op in COMMUTATIVE:
                return op, _multiset(map(go, args))
            case p.Apply("fma", (a, b, c)):
                return "fma", _multiset((go(a), go(b))), go(c)
            case p.Apply(op, args):
                return op, tuple(map(go, args))
            case p.Cast(t, x):
                return "cast", t, go(x)
            case p.Get(i, x):
                return "get", i, go(x)
            case p.Tup(items):
                return "tuple", tuple(map(go, items))
            case _:  # what reads nothing is the same everywhere; anything else is like nothing
                return ("closed", e) if self.names.is_closed(e) else ("unknown", len(self.numbers))

    def _reduction(self, r: Reduction, new: Mapping[Dim, Dim]) -> Hashable:
        return "reduction", r.step, self.of(r.init, new), r.dims, self.of(r.element, new), r.op

    def _chain(self, e: p.Apply, go: _Go) -> Hashable:
        """A sum as the multiset of its signed terms, a product as that of its factors, squares without their signs."""
        kind, _ = CHAINS[e.op]
        parts = Counter((x, sign) for x, sign in self._parts(e, kind, 1))
        if kind == "sum":
            return kind, _multiset((go(x), sign) for x, sign in parts.elements())
        found: Counter[tuple[Hashable, int]] = Counter()
        for (x, exponent), n in parts.items():
            found[self._unsigned(x, go) if n % 2 == 0 else go(x), exponent] += n
        return kind, frozenset(found.items())

    def _parts(self, e: Expr, kind: str, sign: int) -> Iterator[tuple[Expr, int]]:
        """What a chain is made of, each with its sign or exponent: only its own arguments if its order must stay."""
        assert isinstance(e, p.Apply)
        signs = (sign, sign * CHAINS[e.op][1])
        for x, s in zip(e.args, signs, strict=True):
            inner = isinstance(x, p.Apply) and CHAINS.get(x.op, ("", 0))[0] == kind
            if inner and self._may_regroup(x):
                yield from self._parts(x, kind, s)
            else:
                yield x, s

    def _may_regroup(self, e: Expr) -> bool:
        t = type_of(e)
        return self.reassociate or (isinstance(t, Scalar) and t.is_integer)

    def _unsigned(self, e: Expr, go: _Go) -> Hashable:
        """The form of a number of either sign: that of a - b is that of b - a."""
        if not (isinstance(e, p.Apply) and e.op in ("add", "sub")):
            return go(e)
        terms = [(go(x), sign) for x, sign in self._parts(e, "sum", 1)]
        return "either", frozenset((_multiset(terms), _multiset((x, -sign) for x, sign in terms)))


def _is_unsigned(e: Expr) -> bool:
    t = type_of(e)
    return isinstance(t, Scalar) and t.is_integer and not t.is_signed


def _multiset(items: Iterable[Hashable]) -> Hashable:
    return frozenset(Counter(items).items())
