"""Programs as they stand, what they would compute again and again stored: their kernels are as many as their steps."""

from __future__ import annotations

from egglift.codegen.terms.fission import fissioned
from egglift.codegen.terms.sharing import FEW, SMALL, Use, has_many, may_have_many, shared
from egglift.ir import patterns as p
from egglift.ir.named_states import states_in_loop
from egglift.ir.patterns import Expr
from egglift.ir.traverse import bodies, children, rebuild, subterms


def stored(term: Expr) -> Expr:
    """`term` with each shared producer in a kernel of its own, where it has many; any other term as it is.

    zip v (drop 1 v), v = map f x  ->  zip (toGlobal v) (drop 1 (toGlobal v))
    """
    if not may_have_many(term):
        return term
    whole = fissioned(term, _is_dear)
    dear = frozenset(shared(whole, _is_dear))
    if not has_many(whole, dear):
        return whole
    memo: dict[Expr, Expr] = {}
    for t in subterms(whole):
        new = rebuild(t, memo.__getitem__, memo.__getitem__)
        memo[t] = p.To("global", new) if t in dear else new
    return memo[whole]


def stored_unless_executed(term: Expr) -> Expr:
    """The same of a program as it stands; where maps have executors, whoever chose them said what is stored."""
    return term if _has_executors(term) else stored(term)


def _has_executors(term: Expr) -> bool:
    """Has a map an executor, other than the steps of an iteration, which have them from the start?"""
    stack, seen = [term], set[Expr]()
    while stack:
        t = stack.pop()
        if t in seen:
            continue
        seen.add(t)
        if isinstance(t, p.Map) and t.level is not None:
            return True
        has_steps = isinstance(t, p.Iterate) or states_in_loop(t)
        stack += children(t) if has_steps else (*children(t), *bodies(t))
    return False


def _is_dear(u: Use) -> bool:
    """Is an array that is computed at each access worth a kernel of its own?"""
    if not isinstance(u.term, p.Map) or u.term.level is not None:
        return False
    return u.times > FEW or (u.times > 1 and u.ops > 0 and u.size > SMALL)
