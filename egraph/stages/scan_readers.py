"""What reads a scan at its own place is computed where the scan's values are, and only what is read is written.

s[0] = (add up to 0 of x[0]);  [ s[0] * y[0] ]   ->   [ (add up to 0 of x[0]) * y[0] ]
s[0] = (maximum up to 0 of x[0]);  max for 0 of s[0] - x[0]   ->   max over 0 of ((maximum up to 0 of x[0]) - x[0])
s[0] = (composed up to 0 of <a[0], b[0]>);  [ (roll 1 (map (get 1) s))[0] ]
->  s[0] = get 1 (composed up to 0 of <a[0], b[0]>);  [ (roll 1 s)[0] ]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from egglift.egraph.stages.as_pattern import views_of
from egglift.egraph.stages.moved_axes import plain_read
from egglift.egraph.stages.scan_layout import with_arrays, with_views
from egglift.egraph.stages.side_by_side import reduced_across
from egglift.egraph.stages.stage import Combined, Dim, Names, Read, Reduction, Stage, substituted
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, element_type, permuted
from egglift.ir.check import type_of
from egglift.ir.operators import recognise
from egglift.ir.patterns import Expr
from egglift.ir.traverse import applied, children, exchanged, is_closed, replaced, subterms, with_argument
from egglift.ir.tuples import as_one
from egglift.ir.types import Array, Tuple, Type, leaves


def with_followers(
    stages: Sequence[Stage], result: Expr, reassociate: bool, states: bool = True
) -> tuple[list[Stage], Expr]:
    """Stages in which what reads a scan at its own place, and nothing else does, is computed in the scan; and what
    yields the result then.

    reassociate: may what is reduced of a scan be added in another order?  states: is what is reduced of several scans
    at each place computed with them, too (side_by_side.py)?
    """
    work = _Following(list(stages), result, reassociate, states)
    for name in [s.name for s in stages if s.scan is not None]:
        scan = next(s for s in work.stages if s.name == name)
        readers = [s for s in work.stages if _reads(s.bodies, scan)]
        wanted = {t.name for t in subterms(work.result) if isinstance(t, p.Input)}
        if len(readers) == 1 and scan.name not in wanted and not readers[0].is_apart:
            work.fuse(scan, readers[0])
    return work.stages, work.result


@dataclass
class _Following:
    stages: list[Stage]
    result: Expr
    reassociate: bool
    states: bool

    def fuse(self, stage: Stage, reader: Stage) -> None:
        """A reader computed in its scan, all of it or what is reduced."""
        if not reader.reductions:
            followed = _followed(stage, reader.body)
            if followed is not None and {*followed.order} == {*reader.dims}:
                whole = _keeping(replace(stage, name=reader.name), followed.after)
                self._replace(stage, reader, whole, followed.order)
        elif (side := self._across(stage, reader)) is not None:
            self._replace(stage, reader, *side)
        elif (found := self._combined(stage, reader)) is not None:
            whole, outer, body = found
            if body == whole.names.read(Read(p.Input(whole.name, whole.type), outer)) and {*outer} == {*reader.dims}:
                self._replace(stage, reader, whole, outer)
            else:
                rest = replace(reader, body=body)
                self.stages = [{stage.name: whole, reader.name: rest}.get(s.name, s) for s in self.stages]

    def _replace(self, stage: Stage, reader: Stage, whole: Stage, order: Sequence[Dim]) -> None:
        """One stage in the place of the two; order: its dimensions in the reader's words."""
        array = permuted(p.Input(whole.name, whole.type), order, reader.dims)
        new: dict[Expr, Expr] = {p.Input(reader.name, reader.type): array}
        left = [whole if s is reader else s for s in self.stages if s is not stage]
        self.stages = [s if s is whole else with_arrays(s, new) for s in left]
        self.result = exchanged(self.result, new)

    def _across(self, stage: Stage, reader: Stage) -> tuple[Stage, tuple[Dim, ...]] | None:
        """Several scans side by side with what their reader makes of all of them at each place, and its dimensions in
        the reader's words."""
        read = self._reduced(stage, reader) if self.states else None
        if read is None:
            return None
        x, r, followed = read
        whole = reduced_across(stage, reader, x, r, followed.after, followed.order)
        return None if whole is None else (whole, tuple(d for d in followed.order if d not in r.dims))

    def _reduced(self, stage: Stage, reader: Stage) -> tuple[p.Input, Reduction, _Followed] | None:
        """The reduction of a reader that reads a scan, if it is the only one and may be in any order."""
        parts = dict(reader.names.of(reader.body))
        reading = [x for x in parts if _reads([x], stage, stage.names)]
        r = parts[reading[0]] if len(reading) == 1 else None
        if not isinstance(r, Reduction) or len(reader.phases) > 1 or not self._may_combine(r):
            return None
        if p.Input(stage.name, stage.type) in subterms(reader.body):  # one of its elements as a number
            return None
        followed = _followed(stage, r.element)
        return None if followed is None else (reading[0], r, followed)

    def _combined(self, stage: Stage, reader: Stage) -> tuple[Stage, tuple[Dim, ...], Expr] | None:
        """A scan with the reduction of what reads it, the dimensions that are left in the reader's words, and the
        reader's body over these."""
        names, read = stage.names, self._reduced(stage, reader)
        if read is None:
            return None
        x, r, followed = read
        if followed.order[-1] not in r.dims or not {*r.dims} <= {*followed.order}:
            return None
        *outer, last = followed.order
        rest = tuple(d for d in r.dims if d != last)
        if rest and len(reader.reductions) > 1:
            return None
        assert r.op is not None
        whole = _keeping(replace(stage, name=f"{stage.name}.combined"), followed.after)
        assert whole.scan is not None
        whole = replace(whole, scan=replace(whole.scan, combined=Combined(r.op)))
        element = names.read(Read(p.Input(whole.name, whole.type), tuple(outer)))
        begun = element if r.init == r.op.neutral else applied(r.op.body, r.init, element)
        new = names.reduced(replace(r, dims=rest, element=element)) if rest else begun
        return whole, tuple(outer), substituted(reader.body, {x: new})

    def _may_combine(self, r: Reduction) -> bool:
        """May a reduction be done in parts, in any order?"""
        if r.op is None or r.op.neutral is None or not r.op.commutative or r.step != r.op.body:
            return False
        exact = recognise(r.op.body) in ("maximum", "minimum")
        return self.reassociate or exact or not any(scalar.is_float for _, scalar in leaves(r.type))


def _reads(bodies: Sequence[Expr], other: Stage, names: Names | None = None) -> bool:
    """Do bodies read the array of a stage?"""
    array, known = p.Input(other.name, other.type), names or other.names
    return any(array in subterms(view) for body in bodies for view in views_of(known, body))


@dataclass(frozen=True)
class _Followed:
    """What is kept of a scan, in its words; and its dimensions in those of the reader."""

    after: Expr
    order: tuple[Dim, ...]


def _followed(stage: Stage, body: Expr) -> _Followed | None:
    """What a reader's body makes of a scan; None if it reads other places of it, or reduces."""
    names, scan = stage.names, stage.scan
    assert scan is not None
    array, new = p.Input(stage.name, stage.type), dict[Expr, Expr]()
    orders: set[tuple[Dim, ...]] = set()
    if array in subterms(body):  # one of its elements as a number
        return None
    for x, what in names.of(body):
        if not isinstance(what, Read):
            return None
        if array in subterms(what.view):
            own = own_place(what, array)
            if own is None:
                return None
            dims, path = own
            orders.add(dims)
            new[x] = component(scan.result, path)
    if len(orders) != 1 or len({*(order := orders.pop())}) != len(stage.dims) or not names.free(body) <= {*order}:
        return None
    renamed = dict(zip(order, stage.dims, strict=True))
    return _Followed(names.with_reads(substituted(body, new), lambda r: r.at(renamed)), order)


def _keeping(stage: Stage, after: Expr) -> Stage:
    """A stage that keeps something else of its scan."""
    assert stage.scan is not None
    return replace(stage, scan=replace(stage.scan, after=None if after == stage.scan.result else after))


def own_place(read: Read, array: p.Input) -> tuple[tuple[Dim, ...], tuple[int, ...]] | None:
    """At which dimensions the array itself is read, and which component of its element; None if it is laid out."""
    read = plain_read(Read(parts_inside(read.view), read.dims))
    view, dims, path = read.view, read.dims, list[int]()
    while view != array:
        match view:
            case p.Map(body, x, None) if (own := _components(body)) is not None:
                view, path = x, [*path, *own]
            case _:
                return None
    return dims, tuple(reversed(path))


def _components(body: Expr) -> tuple[int, ...] | None:
    """The components that a body takes of the elements of its argument, the last one first."""
    match body:
        case p.Arg():
            return ()
        case p.Get(i, x) if (inner := _components(x)) is not None:
            return (i, *inner)
        case p.Map(inside, p.Arg(), None):
            return _components(inside)
    return None


def component(x: Expr, path: Sequence[int]) -> Expr:
    """The component of a tuple that lies at the end of a path."""
    for i in path:
        x = x.items[i] if isinstance(x, p.Tup) else p.Get(i, x)
    return x


# ---------------------------------------------------------------------------------------- tuples


def only_what_is_read(stages: Sequence[Stage], result: Expr) -> tuple[list[Stage], Expr]:
    """Stages whose scans of tuples are written without the components that nothing reads."""
    found, unread = list(stages), set[str]()
    for at, scan in enumerate(stages):
        if scan.scan is None or scan.scan.combined is not None or scan.scan.across is not None:
            continue
        stage = found[at]
        array, (*_, t) = p.Input(stage.name, stage.type), _types(stage.type)
        if not isinstance(t, Tuple):
            continue
        parts = [at_depth(len(stage.dims), array, lambda e, i=i: p.Get(i, e)) for i in range(len(t.items))]  # type: ignore[misc]
        others = [with_views(s, parts_inside) for s in found if s is not stage]
        views = [parts_inside(result), *(v for s in others for b in s.bodies for v in views_of(s.names, b))]
        read = [i for i, part in enumerate(parts) if any(part in subterms(view) for view in views)]
        without = {part: p.Input("%part", stage.type) for part in parts}
        if not any(array in subterms(view) for view in views):
            unread.add(stage.name)
            continue
        if len(read) == len(parts) or any(array in subterms(exchanged(view, without)) for view in views):
            continue
        less = _with_components(stage, read)
        new = dict(zip((parts[i] for i in read), components_of(less, len(read)), strict=True))
        left = [with_arrays(s, new) for s in others]
        found = [*left[:at], less, *left[at:]]
        result = exchanged(parts_inside(result), new)
    return [s for s in found if s.name not in unread], result


def _types(t: Type) -> list[Type]:
    """The types of an array, of its elements, of theirs, ..."""
    return [t, *(_types(t.element) if isinstance(t, Array) else ())]


def _with_components(stage: Stage, kept: Sequence[int]) -> Stage:
    assert stage.scan is not None
    after = stage.scan.result if stage.scan.after is None else stage.scan.after
    items = tuple(after.items[i] if isinstance(after, p.Tup) else p.Get(i, after) for i in kept)
    return _keeping(stage, as_one(items))


def components_of(stage: Stage, count: int) -> list[Expr]:
    """The arrays of a stage's components; of one, that of the stage."""
    array = p.Input(stage.name, stage.type)
    if count == 1:
        return [array]
    return [at_depth(len(stage.dims), array, lambda e, i=i: p.Get(i, e)) for i in range(count)]  # type: ignore[misc]


def parts_inside(view: Expr) -> Expr:
    """A view whose components are taken of what is laid out, not of the layout.

    map (get 0) (roll 1 s) -> roll 1 (map (get 0) s)
    """
    return replaced(view, _inside)


def _inside(e: Expr) -> Expr | None:
    match e:
        case p.Map(body, x, None) if _components(body):
            match x:
                case p.Roll() | p.Take() | p.Drop() | p.Stride() | p.Gather():
                    return replace(x, x=parts_inside(p.Map(body, x.x)))
                case p.Pad(value=None) | p.PadUp(value=None):
                    return replace(x, x=parts_inside(p.Map(body, x.x)))
                case p.Split() | p.Slide() if isinstance(body, p.Map):
                    return replace(x, x=parts_inside(p.Map(body.body, x.x)))
                case p.Transpose(y) if isinstance(body, p.Map):
                    columns = p.Map(p.Map(body.body, p.Arg(element_type(y))), y)
                    return p.Transpose(parts_inside(columns))
                case p.Map(f, y, None):
                    return _before(parts_inside(with_argument(body, f)), y)
    return None


def _before(body: Expr, x: Expr) -> Expr:
    """`map body x`, where a body that takes components of all of its argument is one that lays out these of `x`.

    map (\row. transpose (map (map (get 0)) row)) x -> map transpose (map (map (map (get 0))) x)
    """
    own = _taking_components(body)
    if own is None or not is_closed(replaced(body, lambda t: p.Input("%part", type_of(own)) if t == own else None)):
        return p.Map(body, x)
    rest = replaced(body, lambda t: p.Arg(type_of(own)) if t == own else None)
    of_part = parts_inside(p.Map(own, x))
    return of_part if isinstance(rest, p.Arg) else p.Map(rest, of_part)


def _taking_components(e: Expr) -> Expr | None:
    """What takes components of the argument of the body that `e` is a part of."""
    if isinstance(e, p.Map) and isinstance(e.x, p.Arg) and _components(e.body):
        return e
    return next((found for t in children(e) if (found := _taking_components(t)) is not None), None)
