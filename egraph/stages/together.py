"""Stages that read the same array over the same indices as one stage, which reads it once.

s[0] = sum_1 A[0,1];  e[0] = sum_1 A[0,1]^2
->  both[0] = <sum_1 A[0,1], sum_1 A[0,1]^2>;  s = map (get 0) both;  e = map (get 1) both
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
from egglift.ir.patterns import Expr
from egglift.ir.traverse import replaced, subterms
from egglift.ir.types import Scalar


def together(stages: Sequence[Stage], result: Expr) -> tuple[list[Stage], Expr]:
    """Stages in an order in which they can run, and the result, with fewer stages that read the same."""
    found = list(stages)
    while pair := next((pair for pair in combinations(found, 2) if _can_join(found, *pair)), None):
        found, result = _joined(found, result, *pair)
    return found, result


def _can_join(stages: Sequence[Stage], first: Stage, second: Stage) -> bool:
    """May one loop compute both, and does it then read one array once that is read for each index, or read nothing
    that only one of them does?"""
    if not all(_is_plain(s) for s in (first, second)) or _shape(first) != _shape(second):
        return False
    whole = _reads(first, _space(first)) & _reads(second, _space(second))
    alike = _reads(first, ()) == _reads(second, ()) != frozenset()
    return (bool(whole) or alike) and first.name not in _needs(stages, second)


def _is_plain(s: Stage) -> bool:
    """Does a stage reduce over one space, to one number or to numbers of stages that were joined?"""
    scalars = all(isinstance(type_of(x), Scalar) for x in _items(s.body))
    return scalars and not s.is_apart and len(s.phases) == 1 and len({r.dims for r in s.reductions}) == 1


def _shape(s: Stage) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(map(number, s.dims)), tuple(map(number, s.reductions[0].dims))


def _space(s: Stage) -> tuple[Dim, ...]:
    return (*s.dims, *s.reductions[0].dims)


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
    own, others = _items(first.body), _items(second.names.at(second.body, same))
    items = tuple(dict.fromkeys((*own, *others)))  # what both compute is computed once
    name = f"{first.name}_{second.name.removeprefix('%stage')}"
    both = replace(first, name=name, body=p.Tup(items)) if len(items) > 1 else replace(first, name=name)
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


def _items(body: Expr) -> tuple[Expr, ...]:
    return body.items if isinstance(body, p.Tup) else (body,)


def _places(s: Stage, both: Stage, items: tuple[Expr, ...], own: tuple[Expr, ...]) -> dict[Expr, Expr]:
    """Where in the array of `both`, of tuples of `items`, what was read of `s` is, which computes `own`."""
    old, new, depth = p.Input(s.name, s.type), p.Input(both.name, both.type), len(s.dims)

    def component(x: Expr, i: int) -> Expr:
        return at_depth(depth, x, lambda e: p.Get(i, e))

    def part(i: int) -> Expr:
        return new if len(items) == 1 else component(new, items.index(own[i]))

    if not isinstance(s.body, p.Tup):
        return {old: part(0)}
    whole = at_depth(depth, new, lambda e: p.Tup(tuple(p.Get(items.index(x), e) for x in own)))
    return {component(old, i): part(i) for i in range(len(own))} | {old: whole}
