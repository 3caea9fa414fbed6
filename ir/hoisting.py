"""What a loop over an array computes of an element alone, at each step: computed for all elements before the loop."""

from __future__ import annotations

from dataclasses import replace

from egglift.ir import patterns as p
from egglift.ir.axes import arrays_of, element_type
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import argument_parts, children, in_scope, is_closed, replaced, subterms
from egglift.ir.tuples import as_one, parts_of, type_as_one, zipped
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
    is_read = any(x is element for x in in_scope(t.body, found))
    arrays = [*(arrays_of(t.x) if is_read else ()), *(p.Map(_of(u, element, whole.element), t.x) for u in found)]
    kinds = [element_type(a) for a in arrays]
    new = p.Get(1, p.Arg(Tuple((type_of(t.init), type_as_one(kinds)))))
    parts = parts_of(new, len(kinds))
    first = len(parts) - len(found)
    known: dict[Expr, Expr] = {p.Get(0, element.x): p.Get(0, new.x), **dict(zip(found, parts[first:], strict=True))}
    if is_read:
        known[element] = as_one(parts[:first])
    body = replaced(t.body, known.get)
    return replace(t, body=body, x=zipped(arrays))


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
        if all(part[:1] == (1,) for part in argument_parts(t)):
            found.append(t)
        else:
            stack.extend(reversed(children(t)))
    return found
