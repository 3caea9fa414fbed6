"""Iterations that count their steps in their state, as folds over the numbers of steps."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import exchanged, is_closed, subterms, with_argument
from egglift.ir.tuples import as_one, type_as_one
from egglift.ir.types import Array, Scalar, Tuple


def counted(program: Expr) -> Expr:
    """`program` with its closed iterations over arrays that count their steps as folds.

    iterate n (<s, i>. <f s i, i + c>) <s0, i0>  ->  <fold (<s, k>. f s (i0 + c k)) s0 (iota n), i0 + c n>
    """
    new = dict[Expr, Expr]()
    for t in subterms(program):
        if isinstance(t, p.Iterate) and is_closed(t) and (made := _folded(t)) is not None:
            new[t] = made
            new |= {p.Get(k, t): item for k, item in enumerate(made.items)}
    return exchanged(program, new) if new else program


def _folded(t: p.Iterate) -> p.Tup | None:
    kind = type_of(t)
    if not isinstance(kind, Tuple) or not isinstance(t.body, p.Tup) or not isinstance(t.count, int):
        return None
    steps = {k: c for k in range(len(kind.items)) if (c := _step(t.body.items[k], p.Get(k, p.Arg(kind)))) is not None}
    rest = [k for k in range(len(kind.items)) if k not in steps]
    if not steps or not any(isinstance(kind.items[k], Array) for k in rest):
        return None
    number = next(iter(steps.values())).type
    starts = [p.Get(k, t.x) if not isinstance(t.x, p.Tup) else t.x.items[k] for k in range(len(kind.items))]
    own = type_as_one([kind.items[k] for k in rest])
    arg = p.Arg(Tuple((own, number)))
    state, parts = p.Get(0, arg), dict[int, Expr]()
    for k in range(len(kind.items)):
        if k in steps:
            parts[k] = _after(starts[k], steps[k], p.Get(1, arg))
        else:
            parts[k] = state if len(rest) == 1 else p.Get(rest.index(k), state)
    body = with_argument(t.body, p.Tup(tuple(parts[k] for k in range(len(kind.items)))))
    assert isinstance(body, p.Tup)
    init, after = ([xs[k] for k in rest] for xs in (starts, body.items))
    whole = p.Fold(as_one(after), as_one(init), p.Iota(t.count, number))
    last = p.Literal(t.count, number)
    return p.Tup(
        tuple(
            _after(starts[k], steps[k], last)
            if k in steps
            else (whole if len(rest) == 1 else p.Get(rest.index(k), whole))
            for k in range(len(kind.items))
        )
    )


def _step(new: Expr, old: Expr) -> p.Literal | None:
    """By how much a whole number grows with each step; None where it does not."""
    match new:
        case p.Apply("add", (a, p.Literal() as c)) if a is old and isinstance(c.type, Scalar) and c.type.is_integer:
            return c
    return None


def _after(start: Expr, step: p.Literal, number: Expr) -> Expr:
    """A counter after so many steps, a number of another counter's type at most."""
    t = step.type
    steps = number if type_of(number) == t else p.Cast(t, number)
    far = steps if step.value == 1 else p.Apply("mul", (steps, step))
    return far if isinstance(start, p.Literal) and start.value == 0 else p.Apply("add", (start, far))
