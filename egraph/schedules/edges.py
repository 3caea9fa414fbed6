"""Where blocks reach beyond the end of what they are of: what is not there changes nothing."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import Tuple


def if_there(there: Expr, new: Expr, old: Expr) -> Expr:
    """`new` if there is such an element (`there`, a bool), else `old`, what was there before; items of tuples alike."""
    t = type_of(old)
    if isinstance(t, Tuple):
        items = [new.items[i] if isinstance(new, p.Tup) else p.Get(i, new) for i in range(len(t.items))]
        return p.Tup(tuple(if_there(there, x, p.Get(i, old)) for i, x in enumerate(items)))
    return p.Apply("where", (there, new, old))
