"""Maps whose bodies compute arrays again and again, as several maps: what bodies share becomes closed arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from egglift.codegen.kernel.views import length
from egglift.codegen.terms.sharing import Use, has_many, may_have_many, shared
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.trace import element_of, free, map_body, placeholder, substitute
from egglift.ir.traverse import children, exchanged, is_closed, rebuild, replaced, subterms


def fissioned(program: Expr, keep: Callable[[Use], bool]) -> Expr:
    """`program` with every map without a level, in whose body many arrays are shared that `keep` asks for, in stages.

    map (\\r. v + drop 1 v), v = map f r  ->  map (\\v. v + drop 1 v) (map (map f) x)
    """
    memo: dict[Expr, Expr] = {}
    for t in subterms(program):
        new = rebuild(t, memo.__getitem__, memo.__getitem__)
        memo[t] = _staged(new, keep) if isinstance(new, p.Map) and new.level is None else new
    return memo[program]


def _staged(e: p.Map, keep: Callable[[Use], bool]) -> Expr:
    """The map `e` as one map for each shared producer in its body, and one for the rest."""
    if not may_have_many(e.body):
        return e
    arg = placeholder(element_of(e.x))
    body, outside = _without_closed(e.body)
    body = replaced(body, lambda t: arg if isinstance(t, p.Arg) else None)
    count = length(type_of(e.x))
    found = shared(body, lambda u: keep(replace(u, size=u.size * count)))
    if not found or not has_many(body, found):
        return e
    arrays: dict[Expr, Expr] = {arg: e.x}  # what stands for an element, and the array
    known: dict[Expr, Expr] = {}  # producers, and what stands for them
    for t in found:
        known[t], whole = placeholder(type_of(t)), _mapped(replaced(t, known.get), arrays)
        arrays[known[t]] = whole
    return exchanged(_mapped(replaced(body, known.get), arrays), outside)


def _without_closed(body: Expr) -> tuple[Expr, dict[Expr, Expr]]:
    """A body with inputs for its closed parts, which are no concern of its argument's; and what these inputs are."""
    named: dict[Expr, Expr] = {}
    memo: dict[Expr, Expr] = {}

    def go(t: Expr) -> Expr:
        if t not in memo:
            if is_closed(t) and children(t):
                memo[t] = p.Input(f"closed {len(named)}", type_of(t))
                named[memo[t]] = t
            else:
                memo[t] = rebuild(t, go, go)
        return memo[t]

    return go(body), named


def _mapped(value: Expr, arrays: Mapping[Expr, Expr]) -> Expr:
    """The map of `value` over those of the arrays that it reads an element of, by the name that stands for it."""
    names = [name for name in arrays if name in free(value)]
    if len(names) == 1:
        return map_body(lambda v: substitute(value, {names[0]: v}), arrays[names[0]])
    whole = p.Zip(tuple(arrays[name] for name in names))
    return map_body(lambda v: substitute(value, {n: p.Get(i, v) for i, n in enumerate(names)}), whole)
