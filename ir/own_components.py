"""Numbers that a loop carries beside arrays, and that depend on none of these: a loop of their own, before it."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.axes import arrays_of, element_type
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import argument_parts, exchanged, is_closed, subterms, with_argument
from egglift.ir.tuples import as_one, type_as_one
from egglift.ir.types import Array, Scalar, Tuple


def arrays_alone(program: Expr) -> Expr:
    """`program` with what its closed folds carry beside arrays, and compute of it alone, carried by loops of its own.

    fold (<<a, b>, x>. <f a b x, g b x>) <a, b> xs
        ->  <fold (<a, <x, b>>. f a b x) a (zip xs (pad 1 0 b (take (n - 1) bs))), last bs>, bs = scanSeq g b xs
    """
    new = dict[Expr, Expr]()
    for t in subterms(program):
        if isinstance(t, p.Fold) and is_closed(t) and (parts := _apart(t)):
            new[t] = p.Tup(tuple(parts))
            new |= {p.Get(k, t): part for k, part in enumerate(parts)}
    return exchanged(program, new) if new else program


def _apart(t: p.Fold) -> list[Expr]:
    """The components of the value of a fold; [] where it carries no such numbers, or nothing else."""
    kind, whole = type_of(t.init), type_of(t.x)
    assert isinstance(whole, Array)
    if not isinstance(kind, Tuple) or not isinstance(t.body, p.Tup) or not isinstance(whole.length, int):
        return []
    own = sorted(_own(t.body.items, kind))
    rest = [k for k in range(len(kind.items)) if k not in own]
    if not own or not rest or whole.length < 1:
        return []
    scans = _scans(t, own)
    before = [
        p.Pad(1, 0, "constant", p.Take(whole.length - 1, x), _component(t.init, k))
        for x, k in zip(scans, own, strict=True)
    ]
    arrays = arrays_of(t.x)
    left = type_as_one([kind.items[k] for k in rest])
    arg = p.Arg(Tuple((left, Tuple(tuple(element_type(a) for a in (*arrays, *before))))))
    given = [p.Get(i, p.Get(1, arg)) for i in range(len(arrays) + len(own))]
    element = as_one(list[Expr](given[: len(arrays)]))
    state = dict[int, Expr](zip(own, given[len(arrays) :], strict=True))
    state |= {k: p.Get(0, arg) if len(rest) == 1 else p.Get(i, p.Get(0, arg)) for i, k in enumerate(rest)}
    argument = p.Tup((p.Tup(tuple(state[k] for k in range(len(kind.items)))), element))
    body = as_one([with_argument(t.body.items[k], argument) for k in rest])
    loop = p.Fold(body, as_one([_component(t.init, k) for k in rest]), p.Zip((*arrays, *before)))
    last = {k: p.At(whole.length - 1, x) for k, x in zip(own, scans, strict=True)}
    return [
        last[k] if k in last else loop if len(rest) == 1 else p.Get(rest.index(k), loop) for k in range(len(kind.items))
    ]


def _own(after: tuple[Expr, ...], kind: Tuple) -> set[int]:
    """The components that are numbers, and depend on such alone."""
    own = {k for k, t in enumerate(kind.items) if isinstance(t, Scalar)}
    while True:
        kept = {k for k in own if _reads(after[k]) <= own}
        if kept == own:
            return own
        own = kept


def _reads(e: Expr) -> set[int]:
    """Which components of the state a part of a step reads; -1 stands for the state as a whole."""
    of_state = (part for part in argument_parts(e) if part[:1] != (1,))
    return {part[1] if len(part) > 1 else -1 for part in of_state}


def _scans(t: p.Fold, own: list[int]) -> list[Expr]:
    """The numbers after each step."""
    whole, kind = type_of(t.x), type_of(t.init)
    assert isinstance(whole, Array) and isinstance(kind, Tuple) and isinstance(t.body, p.Tup)
    alone = type_as_one([kind.items[k] for k in own])
    arg = p.Arg(Tuple((alone, whole.element)))
    parts = {k: p.Get(0, arg) if len(own) == 1 else p.Get(i, p.Get(0, arg)) for i, k in enumerate(own)}
    state = p.Tup(tuple(parts.get(k, _component(t.init, k)) for k in range(len(kind.items))))  # others are not read
    step = as_one([with_argument(t.body.items[k], p.Tup((state, p.Get(1, arg)))) for k in own])
    scan = p.ScanSeq(p.Tup((step, step)), as_one([_component(t.init, k) for k in own]), t.x)
    return [p.Map(p.Get(i, p.Arg(alone)), scan) if len(own) > 1 else scan for i in range(len(own))]


def _component(x: Expr, k: int) -> Expr:
    return x.items[k] if isinstance(x, p.Tup) else p.Get(k, x)
