"""What all readers make of an element is made of it where it is written.

    s[0,1] = sum_2 A[0,2] * B[2,1];           t[0,1] = sum_2 max s[0,2] 0 * C[2,1]
    ->  s[0,1] = max (sum_2 A[0,2] * B[2,1]) 0;   t[0,1] = sum_2 s[0,2] * C[2,1]

So it is computed once, not each time that it is read; what is narrower takes less memory; and what is only read can be
copied, as it lies, to where it is multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from egglift.egraph.stages.stage import Names, Read, Reduction, Stage, substituted
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import children, exchanged, inputs_in, replaced, subterms
from egglift.ir.types import Scalar, Type

#: what only moves elements: what is made of each of them is made before as well
MOVES = (p.Arg, p.Input, p.Map, p.Split, p.Join, p.Transpose, p.Stride, p.Slide, p.Take, p.Drop, p.Roll, p.At)


def made_on_writing(stages: Sequence[Stage], result: Expr) -> list[Stage]:
    """The stages, of which some write what the others make of their elements."""
    found = {s.name: s for s in stages}
    for name in list(found):
        s = found[name]
        wanted = s.is_apart or s.given or not isinstance(type_of(s.body), Scalar) or name in _inputs(result)
        made = None if wanted else _made(s, [other for other in found.values() if other is not s])
        if made is not None:
            found = _written(found, s, made)
    return list(found.values())


def _value(s: Stage) -> p.Input:
    """What stands for an element in what is made of it."""
    return p.Input("%value", type_of(s.body))


def _made(s: Stage, others: Sequence[Stage]) -> Expr | None:
    """What all of the others make of an element, of `_value`: no wider than it is; None where it is nothing, or several
    things, or is also read as it is."""
    kinds = set[Expr | None]()
    for other in others:
        for body in other.bodies:
            kinds |= set(_kinds(other.names, body, s))
    if len(kinds) != 1:
        return None
    (made,) = kinds
    t = None if made is None else type_of(made)
    narrow = isinstance(t, Scalar) and t.size <= _value(s).type.size  # type: ignore[union-attr]
    return made if narrow and made != _value(s) else None


def _kinds(names: Names, body: Expr, s: Stage) -> Iterator[Expr | None]:
    """What a body makes of the elements of a stage wherever it reads them; None where it reads them in another way."""
    if s.name in _inputs(body):
        yield None
    for x, what in names.of(body):
        match what:
            case Read(view) if s.name in _inputs(view):
                if not all(map(_moves, subterms(view))) or what.type != type_of(s.body):
                    yield None
                for e in _largest(body, x):
                    yield substituted(e, {x: _value(s)})
            case Reduction(init=init, element=element):
                yield from _kinds(names, init, s)
                yield from _kinds(names, element, s)


def _moves(t: Expr) -> bool:
    """Are elements only moved?  At borders, too, unless others are there."""
    return isinstance(t, MOVES) or (isinstance(t, p.Pad) and t.value is None)


def _largest(body: Expr, x: p.Input) -> Iterator[Expr]:
    """The largest parts of a body that are made of what is read and of numbers alone, but for casts to wider types."""
    if _is_of(body, x):
        while isinstance(body, p.Cast) and _is_wider(body.type, type_of(body.x)):
            body = body.x
        yield body
    else:
        for part in children(body):
            if x in set(inputs_in(part)):
                yield from _largest(part, x)


def _is_wider(t: Scalar, other: Type) -> bool:
    assert isinstance(other, Scalar)
    return t.size > other.size or (other.is_narrow and t.digits > other.digits)


def _is_of(e: Expr, x: p.Input) -> bool:
    """Is it made of `x` and of numbers alone?"""
    return all(t == x or isinstance(t, p.Apply | p.Cast | p.Literal) for t in subterms(e)) and x in set(inputs_in(e))


def _written(stages: Mapping[str, Stage], s: Stage, made: Expr) -> dict[str, Stage]:
    """All stages, where one writes what is made of its elements, and the others read that."""
    own = replace(s, body=substituted(made, {_value(s): s.body}))
    new: dict[Expr, Expr] = {p.Input(s.name, s.type): p.Input(own.name, own.type)}

    def read(names: Names, body: Expr) -> Expr:
        parts: dict[Expr, Expr] = {}
        for x, what in names.of(body):
            match what:
                case Read(view) if s.name in _inputs(view):
                    again = names.read(replace(what, view=exchanged(view, new)))
                    parts[substituted(made, {_value(s): x})] = again
                case Reduction(init=init, element=element):
                    parts[x] = names.reduced(replace(what, init=read(names, init), element=read(names, element)))
        return replaced(body, parts.get)

    return {
        name: own if name == s.name else other.with_bodies(lambda body, names=other.names: read(names, body))  # type: ignore[misc]
        for name, other in stages.items()
    }


def _inputs(e: Expr) -> set[str]:
    return {x.name for x in inputs_in(e)}
