"""One statement, all iterations at once: its array afterwards, as patterns over what it reads.

C[i][j] = e(i, j)            map (map e) over views of what e reads
C[i][j] += e(i, j, k)        map (map (reduce (+) C[i][j] (map e)))
s = f(s, A[i])               fold f s A
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from egglift.frontend.arithmetic import choice
from egglift.frontend.nest import Affine, CExpr, Index, Loop, Read, Statement, form_of, is_at_least_0
from egglift.frontend.places import refused
from egglift.frontend.readers import Arrays, Reader
from egglift.frontend.reductions import Combining
from egglift.frontend.views import Operand, backwards, dropped, over, part, taken
from egglift.ir import notation
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, element_type, length_of
from egglift.ir.check import type_of
from egglift.ir.functions import where
from egglift.ir.patterns import Expr
from egglift.ir.reduction import operator
from egglift.ir.types import BOOL, I32, Tuple
from egglift.ir.value import Value


@dataclass(frozen=True)
class Region:
    """What a statement writes, by axis: loops, outermost first; first element; loops that go down; every how many.

    Where guards keep elements from being written, it may reach beyond the ends of the array.
    """

    loops: tuple[tuple[Loop, ...], ...]
    starts: tuple[int, ...]
    turned: tuple[tuple[Loop, ...], ...]
    strides: tuple[int, ...]

    @property
    def flat(self) -> list[Loop]:
        """All loops."""
        return [d for axis in self.loops for d in axis]

    @property
    def lengths(self) -> list[int]:
        """Of each axis, from the first element to the last one."""
        return [(_product(axis) - 1) * s + 1 for axis, s in zip(self.loops, self.strides, strict=True)]


def _product(loops: Sequence[Loop]) -> int:
    n = 1
    for d in loops:
        n *= d.extent
    return n


class Stages(Arrays):
    """Statements as values."""

    # ------------------------------------------------------------------------------------ statements

    def assign(self, s: Statement) -> None:
        """`target = value` at all iterations; no two of them write one element."""
        s = off_diagonal(s)
        region = self.region(s)
        value = s.value
        for g in s.guards:
            value = choice(is_at_least_0(g), value, s.target)
        reader = Reader(self, [value], region.flat)
        made = over(region.flat, reader.operands, lambda now: reader.at(now).of(value))
        self._write(s.target, made, region)

    def reduce(self, statements: Sequence[Statement], combined: Sequence[Combining]) -> None:
        """`target = target op element` at all iterations, of several statements with the same loops and guards."""
        statements = [off_diagonal(s) for s in statements]
        first, targets = statements[0], [s.target for s in statements]
        region = self.region(first)
        parallel = region.flat
        along = [d for d in first.loops if d not in parallel and d not in self.fixed]
        outer = [g for g in first.guards if not set(g.loops) & set(along)]
        inner = [g for g in first.guards if g not in outer]
        elements = [masked(c.element, inner, c.neutral) for c in combined]
        tests = [is_at_least_0(g) for g in outer]
        reader = Reader(self, [*elements, *targets, *tests], [*parallel, *along])

        def reduced(now: Sequence[Operand]) -> Value:
            here = reader.at(now)
            before = [here.of(t) for t in targets]
            given = over(along, now, lambda inner: packed([reader.at(inner).of(e) for e in elements]))
            for _ in along[1:]:
                given = given.join()
            begin = packed([b.cast(c.type) for b, c in zip(before, combined, strict=True)])
            found = unpacked(given.reduce(componentwise(combined), begin), len(targets))
            found = [f.cast(t.type) for f, t in zip(found, targets, strict=True)]
            for t in tests:
                found = [where(here.of(t), f, b) for f, b in zip(found, before, strict=True)]
            return packed(found)

        self.write_all(statements, over(region.flat, reader.operands, reduced))

    def fold(self, statements: Sequence[Statement], kept: Sequence[Statement]) -> None:
        """Several statements of the same loops, in order.  kept: those whose targets go on from step to step."""
        region = self.region(kept[0])
        parallel = region.flat
        along = [d for d in statements[0].loops if d not in parallel and d not in self.fixed]
        targets = list(dict.fromkeys(s.target for s in kept))
        own = [s.target for s in statements if s.target not in targets]
        nothing = {t: notation.literal(False if t.type == BOOL else 0, t.type) for t in own}
        values = [s.value for s in statements]
        tests = [[is_at_least_0(g) for g in s.guards] for s in statements]
        reader = Reader(self, [*values, *targets, *(t for ts in tests for t in ts)], [*parallel, *along], set(own))

        def step(now: Sequence[Operand], state: list[Value]) -> list[Value]:
            local = {**nothing, **dict(zip(targets, state, strict=True))}
            for s, ts in zip(statements, tests, strict=True):
                found = reader.at(now, local).of(s.value)
                for t in ts:
                    found = where(reader.at(now, local).of(t), found, local[s.target])
                local[s.target] = found
            return [local[t] for t in targets]

        def folded(now: Sequence[Operand]) -> Value:
            start = [reader.at(now).of(t) for t in targets]
            return packed(_folds(along, now, start, step))

        made = over(region.flat, reader.operands, folded)
        self.write_all([next(s for s in kept if s.target == t) for t in targets], made)

    def write_all(self, statements: Sequence[Statement], made: Value) -> None:
        """The arrays of several targets, of which `made` has an element each."""
        for k, s in enumerate(statements):
            value, region = made, self.region(s)
            if len(statements) > 1:
                value = Value(at_depth(len(region.flat), made.expr, lambda e, k=k: p.Get(k, e)))  # type: ignore[misc]
            self._write(s.target, value, region)

    def _write(self, target: Read, made: Value, region: Region) -> None:
        """The array of a target with new elements in a region."""
        e = made.expr
        for axis, (loops, turned, stride) in enumerate(zip(region.loops, region.turned, region.strides, strict=True)):
            if not loops:
                e = at_depth(axis, e, lambda x: p.Fill(1, x))
            for d in turned:
                e = at_depth(axis + loops.index(d), e, backwards)
            for _ in loops[1:]:
                e = at_depth(axis, e, p.Join)
            if stride > 1:
                e = at_depth(axis, e, lambda x, stride=stride: _spread(x, stride))  # type: ignore[misc]
        box = [(a, a + n) for a, n in zip(region.starts, region.lengths, strict=True)]
        shape = self.shape(target.array)
        if any(s > 1 for s in region.strides):
            old = self.array(target.array).expr
            for k, (start, stop) in enumerate(box):
                old = at_depth(k, old, lambda x, start=start, stop=stop: part(x, start, stop))  # type: ignore[misc]
            e = _between(Value(old), Value(e), region.strides, None).expr
        e, box = _within(e, box, shape)
        whole = box == [(0, n) for n in shape]
        self.arrays[target.array] = Value(e) if whole else _updated(self.array(target.array), Value(e), box, shape)

    # ------------------------------------------------------------------------------------ regions

    def region(self, s: Statement) -> Region:
        """What a statement writes; an error where its subscripts are not such that this is known."""
        loops, starts, turned, strides = [], [], [], []
        for k in self.kept(s.target):
            form = form_of(s.target.at[k])
            if form is None:
                self._scattered(s, "its subscript is not known beforehand, so two iterations may write one element")
            terms = sorted(form.terms, key=lambda t: -abs(t[1]))
            stride = size = abs(terms[-1][1]) if terms else 1
            for d, c in reversed(terms):
                if abs(c) != size:
                    self._scattered(s, "it leaves out elements between those that it writes")
                size *= d.extent
            loops.append(tuple(d for d, _ in terms))
            starts.append(form.range[0])
            turned.append(tuple(d for d, c in terms if c < 0))
            strides.append(stride)
        return Region(tuple(loops), tuple(starts), tuple(turned), tuple(strides))

    def _scattered(self, s: Statement, why: str) -> NoReturn:
        advice = "compute each element of the result from what it reads (gather), in a loop over the result"
        refused(s.target.place, f"{s.target} is scattered: {why}; {advice}", self.file)


def masked(element: CExpr, guards: Sequence[Affine], neutral: CExpr) -> CExpr:
    """`element` where all guards hold, else what changes nothing."""
    for g in guards:
        element = choice(is_at_least_0(g), element, neutral)
    return element


def componentwise(combined: Sequence[Combining]) -> Any:
    """The operator of a reduction, or of several at once: of tuples, component by component."""
    operators = [c.operator for c in combined]
    if len(operators) == 1:
        return operators[0]

    def together(a: Value, b: Value) -> tuple[Value, ...]:
        return tuple(op(a[k], b[k]) for k, op in enumerate(operators))

    neutral = tuple(c.neutral.value for c in combined)
    return operator(together, associative=True, commutative=True, neutral=neutral, check=False)


def off_diagonal(s: Statement) -> Statement:
    """`A[i][i] = e` as `A[i][k] = e` where i is k, with another loop for each subscript that has one again."""
    seen: set[Loop] = set()
    loops, guards, at = list(s.loops), list(s.guards), list(s.target.at)
    for k, e in enumerate(at):
        form = form_of(e)
        for d in form.loops if form is not None else ():
            if d in seen:
                other = Loop(d.name, d.extent, d.begin, d.step, d.at)
                loops.append(other)
                same = Affine(0, ((d, 1), (other, -1)))
                guards += [same, same.scaled(-1)]
                form = Affine(form.constant, tuple((other if x is d else x, c) for x, c in form.terms))  # type: ignore[union-attr]
                at[k] = Index(form, e.type)
            seen.add(d)
    if len(loops) == len(s.loops):
        return s
    return replace(s, loops=tuple(loops), guards=tuple(guards), target=replace(s.target, at=tuple(at)))


def unpacked(value: Value, count: int) -> list[Value]:
    """What `packed` was given."""
    return [value] if count == 1 else [value[k] for k in range(count)]


def packed(values: Sequence[Value]) -> Value:
    """A value, or several as a tuple: the components of one are that one."""
    if len(values) == 1:
        return values[0]
    first = values[0].expr
    if isinstance(first, p.Get) and all(v.expr is p.Get(k, first.x) for k, v in enumerate(values)):
        t = type_of(first.x)
        if isinstance(t, Tuple) and len(t.items) == len(values):
            return Value(first.x)
    return notation.tuple(*values)


def _folds(along: Sequence[Loop], now: Sequence[Operand], state: list[Value], step: Any) -> list[Value]:
    """Nested folds, one for each loop."""
    if not along:
        found: list[Value] = step(now, state)
        return found
    loop, count = along[0], len(state)
    mine = [k for k, o in enumerate(now) if o.axes[:1] == (loop,)]
    xs = [now[k].value for k in mine] or [notation.iota(loop.extent, I32)]

    def body(acc: Value, x: Value) -> Value:
        elements = [x] if len(xs) == 1 else [x[i] for i in range(len(xs))]
        inner = list(now)
        for k, element in zip(mine, elements, strict=False):
            inner[k] = Operand(element, now[k].axes[1:])
        return packed(_folds(along[1:], inner, unpacked(acc, count), step))

    folded = (xs[0] if len(xs) == 1 else xs[0].zip(*xs[1:])).fold(body, packed(state))
    return unpacked(folded, count)


def _spread(x: Expr, stride: int) -> Expr:
    """Each element so many times, the last one once."""
    n = length_of(x)
    assert isinstance(n, int)
    many = p.Join(p.Map(p.Fill(stride, p.Arg(element_type(x))), x))
    return p.Take((n - 1) * stride + 1, many)


def _between(old: Value, new: Value, strides: Sequence[int], test: Value | None) -> Value:
    """`new` at every so many elements, `old` between them."""
    if not strides:
        return new if test is None else where(test, new, old)
    if strides[0] == 1:
        return old.map(lambda a, b: _between(a, b, strides[1:], test), new)
    chosen = notation.literal(np.arange(len(new)) % strides[0] == 0)
    return old.map(lambda a, b, c: _between(a, b, strides[1:], c if test is None else c & test), new, chosen)


def _within(e: Expr, box: Sequence[tuple[int, int]], shape: Sequence[int]) -> tuple[Expr, list[tuple[int, int]]]:
    """The elements of a box that an array of this shape has; what lies beyond its ends is never written."""
    found = []
    for axis, ((start, stop), n) in enumerate(zip(box, shape, strict=True)):
        first, last = max(0, start), min(stop, n)
        if (first, last) != (start, stop):
            e = at_depth(axis, e, lambda x, a=first - start, b=last - start: dropped(a, taken(b, x)))  # type: ignore[misc]
        found.append((first, last))
    return e, found


def _updated(old: Value, new: Value, box: Sequence[tuple[int, int]], shape: Sequence[int]) -> Value:
    """`old` with the elements of `new` in a box."""
    if not box:
        return new
    (start, stop), n = box[0], shape[0]
    rest = list(box[1:])
    if rest != [(0, m) for m in shape[1:]]:
        kept = Value(part(old.expr, start, stop))
        new = kept.map(lambda a, b: _updated(a, b, rest, shape[1:]), new)
    pieces: list[Expr] = [new.expr]
    if start:
        pieces.insert(0, taken(start, old.expr))
    if stop < n:
        pieces.append(dropped(stop, old.expr))
    found = pieces[0]
    for piece in pieces[1:]:
        found = p.Concat(found, piece)
    return Value(found)
