"""What a loop over an array computes of an element alone, at each step: computed for all elements before the loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from egglift.ir import patterns as p
from egglift.ir.axes import arrays_of, element_type
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import children, is_closed, replaced, subterms
from egglift.ir.types import Array, Tuple, Type, leaves

#: patterns that are worth it; bytes of an array that is made for them, at most
COMPUTING = (p.Reduce, p.Fold, p.Scan, p.ScanSeq, p.Iterate, p.Count)
MOST = 1 << 30


def hoisted(t: p.Fold | p.ScanSeq) -> p.Fold | p.ScanSeq:
    """`t` with the arrays that its steps reduce of an element alone, and of no state, as arrays of all elements.

    fold (<h, x>. tanh (x W + h U)) z xs  ->  fold (<h, v>. tanh (v + h U)) z (map (x. x W) xs)
    """
    found = [u for u in _of_element(t.body) if _is_worth_it(u, t.x)]
    if not found:
        return t
    whole = type_of(t.x)
    assert isinstance(whole, Array)
    element = p.Get(1, p.Arg(Tuple((type_of(t.init), whole.element))))
    is_read = any(x is element for x in _without(t.body, found))
    arrays = [*(arrays_of(t.x) if is_read else ()), *(p.Map(_of(u, element, whole.element), t.x) for u in found)]
    kinds = [element_type(a) for a in arrays]
    new = p.Get(1, p.Arg(Tuple((type_of(t.init), kinds[0] if len(kinds) == 1 else Tuple(tuple(kinds))))))
    parts: list[Expr] = [p.Get(k, new) for k in range(len(kinds))] if len(kinds) > 1 else [new]
    first = len(parts) - len(found)
    known: dict[Expr, Expr] = {p.Get(0, element.x): p.Get(0, new.x), **dict(zip(found, parts[first:], strict=True))}
    if is_read:
        known[element] = p.Tup(tuple(parts[:first])) if first > 1 else parts[0]
    body = replaced(t.body, known.get)
    return replace(t, body=body, x=p.Zip(tuple(arrays)) if len(kinds) > 1 else arrays[0])


def _of(u: Expr, element: Expr, t: Type) -> Expr:
    """A part of a step as a function of the element."""
    return replaced(u, lambda x: p.Arg(t) if x is element else None)


def _is_worth_it(u: Expr, x: Expr) -> bool:
    whole = type_of(x)
    assert isinstance(whole, Array)
    if not isinstance(type_of(u), Array) or not isinstance(whole.length, int):
        return False
    sizes = [_volume(shape) * scalar.size for shape, scalar in leaves(type_of(u))]
    return any(isinstance(s, COMPUTING) for s in subterms(u)) and whole.length * sum(sizes) <= MOST


def _volume(shape: tuple[object, ...]) -> int:
    size = 1
    for n in shape:
        size *= n if isinstance(n, int) else MOST
    return size


def _of_element(body: Expr) -> list[Expr]:
    """The largest parts of a step that depend on the element, and on nothing else of what it is given."""
    found, stack, seen = list[Expr](), [body], set[Expr]()
    while stack:
        t = stack.pop()
        if t in seen or is_closed(t):
            continue
        seen.add(t)
        if _reads(t) == {1}:
            found.append(t)
        else:
            stack.extend(reversed(children(t)))
    return found


def _reads(t: Expr) -> set[int]:
    """Which components of its argument a part of a step reads; 2 stands for both at once."""
    found, stack, seen = set[int](), [t], set[Expr]()
    while stack:
        e = stack.pop()
        if e in seen or is_closed(e):
            continue
        seen.add(e)
        if isinstance(e, p.Get) and isinstance(e.x, p.Arg):
            found.add(e.index)
        elif isinstance(e, p.Arg):
            found.add(2)
        else:
            stack.extend(children(e))
    return found


def _without(body: Expr, found: list[Expr]) -> Iterator[Expr]:
    """The parts of a step that are in none of those."""
    stack, seen = [body], set[Expr](found)
    while stack:
        t = stack.pop()
        if t not in seen:
            seen.add(t)
            yield t
            stack.extend(children(t))
