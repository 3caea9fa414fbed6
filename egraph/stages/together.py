"""Stages that read the same array over the same indices as one stage, which reads it once.

s[0] = sum_1 A[0,1];  e[0] = sum_1 A[0,1]^2
->  both[0] = <sum_1 A[0,1], sum_1 A[0,1]^2>;  s = map (get 0) both;  e = map (get 1) both

Counts and sums by the same numbers are sums of tuples, of which a count adds 1:

c = count for 0 < n of k[0];  s = sums for 0 < n of <k[0], x[0]>
->  both = sums for 0 < n of <k[0], <1, x[0]>>;  c = map (get 0) both;  s = map (get 1) both
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.moved_axes import plain_read
from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth
from egglift.ir.check import type_of
from egglift.ir.operators import highest, lowest
from egglift.ir.patterns import Expr
from egglift.ir.traverse import replaced, subterms
from egglift.ir.types import Scalar, Tuple, Type, leaves

#: bytes of local memory that every device has at least
LOCAL = 32 << 10


def together(stages: Sequence[Stage], result: Expr) -> tuple[list[Stage], Expr]:
    """Stages in an order in which they can run, and the result, with fewer stages that read the same."""
    found = list(stages)
    while pair := next((pair for pair in combinations(found, 2) if _can_join(found, *pair)), None):
        found, result = _joined(found, result, *pair)
    return found, result


def _can_join(stages: Sequence[Stage], first: Stage, second: Stage) -> bool:
    """May one loop compute both, and does it then read one array once that is read for each index, or read nothing
    that only one of them does?"""
    if first.counts is not None and second.counts is not None:
        return _count_alike(first, second) and not {first.name, second.name} & (
            _needs(stages, first) | _needs(stages, second)
        )
    if not all(_is_plain(s) for s in (first, second)) or _shape(first) != _shape(second):
        return False
    whole = _reads(first, _space(first)) & _reads(second, _space(second))
    alike = _reads(first, ()) == _reads(second, ()) != frozenset()
    return (bool(whole) or alike) and first.name not in _needs(stages, second)


def _count_alike(first: Stage, second: Stage) -> bool:
    """Do two stages count or sum by the same numbers, and has a group a place for the sums of both?"""
    assert first.counts is not None and second.counts is not None
    if tuple(map(number, first.dims)) != tuple(map(number, second.dims)):
        return False
    same = dict(zip(second.dims, first.dims, strict=True))
    if first.counts.length != second.counts.length or _place(first) != second.names.at(_place(second), same):
        return False
    types = [type_of(x) for x in (*_items(first), *_items(second))]
    each = sum(scalar.size for t in types for _, scalar in leaves(t))
    return isinstance(first.counts.length, int) and first.counts.length * each <= LOCAL


def _place(s: Stage) -> Expr:
    """The number of an element that is counted, or added to a sum: in the narrowest type that it has."""
    place = s.body.items[0] if isinstance(s.body, p.Tup) else s.body
    while isinstance(place, p.Cast) and _is_wider(place.type, type_of(place.x)):
        place = place.x
    return place


def _is_wider(wide: Type, t: Type) -> bool:
    """Does an integer type have all numbers of another?"""
    integers = isinstance(wide, Scalar) and isinstance(t, Scalar) and wide.is_integer and t.is_integer
    return integers and lowest(wide) <= lowest(t) and highest(t) <= highest(wide)  # type: ignore[arg-type]


def _is_plain(s: Stage) -> bool:
    """Does a stage reduce over one space, to one number or to numbers of stages that were joined?"""
    scalars = all(isinstance(type_of(x), Scalar) for x in _items(s))
    return scalars and not s.is_apart and len(s.phases) == 1 and len({r.dims for r in s.reductions}) == 1


def _shape(s: Stage) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(map(number, s.dims)), tuple(map(number, s.reductions[0].dims))


def _space(s: Stage) -> tuple[Dim, ...]:
    return s.dims if s.counts is not None else (*s.dims, *s.reductions[0].dims)


def _reads(s: Stage, dims: Sequence[Dim]) -> frozenset[tuple[Expr, tuple[int, ...]]]:
    """What is read at all of these dimensions; the dimensions of each by their places in the space of the stage.

    Without arrays of no input, such as places, which are not in memory.
    """
    space = _space(s)
    reads = [plain_read(r) for r in reads_of(s.names, s.body) if set(r.dims) >= set(dims)]
    reads = [r for r in reads if any(isinstance(t, p.Input) for t in subterms(r.view))]
    return frozenset((r.view, tuple(space.index(d) for d in r.dims)) for r in reads)


def _needs(stages: Sequence[Stage], stage: Stage) -> frozenset[str]:
    """The names of the stages that must have run before this one."""
    known = {s.name: s for s in stages}
    found: set[str] = set()
    todo = [stage]
    while todo:
        new = _inputs(todo.pop()) & known.keys() - found
        found |= new
        todo += [known[name] for name in new]
    return frozenset(found)


def _inputs(stage: Stage) -> frozenset[str]:
    found: set[str] = set()
    todo = list(stage.bodies)
    while todo:
        body = todo.pop()
        found |= {t.name for t in subterms(body) if isinstance(t, p.Input)}  # one number is read at no dimension
        for _, what in stage.names.of(body):
            todo += [what.view] if isinstance(what, Read) else [what.init, what.element]
    return frozenset(found)


def _joined(stages: Sequence[Stage], result: Expr, first: Stage, second: Stage) -> tuple[list[Stage], Expr]:
    same = dict(zip(_space(second), _space(first), strict=True))
    own, others = _items(first), _items(replace(second, body=second.names.at(second.body, same)))
    items = tuple(dict.fromkeys((*own, *others)))  # what both compute is computed once
    name = f"{first.name}_{second.name.removeprefix('%stage').removeprefix('%')}"
    both = replace(first, name=name) if len(items) == 1 else _with_items(replace(first, name=name), items)
    new = _places(first, both, items, own) | _places(second, both, items, others)
    needed = _needs(stages, first) | _needs(stages, second)
    left = [s for s in stages if s not in (first, second)]
    before, after = ([s for s in left if (s.name in needed) == b] for b in (True, False))
    reading = [s.with_bodies(lambda body, s=s: _reading(s.names, body, new)) for s in after]  # type: ignore[misc]
    return [*before, both, *reading], replaced(result, new.get)


def _reading(names: Names, body: Expr, arrays: dict[Expr, Expr]) -> Expr:
    """A body that reads other arrays for some."""
    new = dict(arrays)
    for x, what in names.of(body):
        match what:
            case Read(view, dims):
                new[x] = names.read(Read(replaced(view, arrays.get), dims))
            case Reduction(_, init, _, element):
                begun, reduced = (_reading(names, e, arrays) for e in (init, element))
                new[x] = names.reduced(replace(what, init=begun, element=reduced))
    return replaced(body, new.get)


def _items(s: Stage) -> tuple[Expr, ...]:
    """What a stage yields of an element, or adds to sums for it, in parts."""
    if s.counts is None:
        return s.body.items if isinstance(s.body, p.Tup) else (s.body,)
    if not isinstance(s.body, p.Tup):
        assert isinstance(s.counts.type, Scalar)
        return (p.Literal(1, s.counts.type),)
    _, added = s.body.items
    return added.items if isinstance(added, p.Tup) else (added,)


def _with_items(s: Stage, items: tuple[Expr, ...]) -> Stage:
    """A stage that yields these parts, or adds them up by numbers."""
    if s.counts is None:
        return replace(s, body=p.Tup(items))
    t = Tuple(tuple(map(type_of, items)))
    return replace(s, body=p.Tup((_place(s), p.Tup(items))), counts=replace(s.counts, type=t))


def _places(s: Stage, both: Stage, items: tuple[Expr, ...], own: tuple[Expr, ...]) -> dict[Expr, Expr]:
    """Where in the array of `both`, of tuples of `items`, what was read of `s` is, which computes `own`."""
    old, new, depth = p.Input(s.name, s.type), p.Input(both.name, both.type), len(s.dims)

    def component(x: Expr, i: int) -> Expr:
        return at_depth(depth, x, lambda e: p.Get(i, e))

    def part(i: int) -> Expr:
        return new if len(items) == 1 else component(new, items.index(own[i]))

    if len(own) == 1:
        return {old: part(0)}
    whole = at_depth(depth, new, lambda e: p.Tup(tuple(p.Get(items.index(x), e) for x in own)))
    return {component(old, i): part(i) for i in range(len(own))} | {old: whole}
