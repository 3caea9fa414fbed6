"""Tiles inside and tiles at the edges: the map of a grid over padded tiles is emitted in two versions, loops in parts.

Padding and what is taken of padded results leave tests (clamped indices, guarded values and places) in a tile's
code, which most tiles do not need.  `if (the tile lies inside) { its code without those tests } else { with them }`.
One condition serves all dimensions.  It depends on the tile alone, so that a work-group goes one way together and
may have barriers in both versions, where the device allows that; elsewhere such tiles have one version, with the tests.
What both versions do alike in the end, after a tile has been staged, say, follows once.
The loop of a single work-item does its first and last steps apart from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod

from egglift.codegen.emission.builder import Builder
from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.accesses import accesses
from egglift.codegen.kernel.common_suffix import common_end
from egglift.codegen.kernel.conditions import Condition, share
from egglift.codegen.kernel.imperative import ScalarValue, Statement
from egglift.codegen.kernel.index import Choice, Clamp, Data, Index, Var, assuming, index
from egglift.codegen.kernel.walk import subvalues, walk
from egglift.ir.lengths import Length

Span = tuple[int, int]
FEW = 4  # steps of a loop, and groups, that are not worth telling apart


def tile(em: Builder, at: Condition, outer: bool, emit: Callable[[], None]) -> None:
    """Emit the body of a grid's map for element `at`; outer: there are more such maps in it, which see to this."""
    tiles = (*em.distribution.tiles, at) if at[0].terms else em.distribution.tiles
    if outer:
        with em.running(tiles=tiles):
            return emit()
    before = em.private_bytes
    with em.block() as general:
        emit()
    most, inside, interior = em.private_bytes, _Inside(tiles, [_group(em, i) for i, _ in tiles]), general
    if tiles and _has_loops(general):
        while inside.narrowed(interior):  # without some tests, others are plain to see
            em.private_bytes = before
            with em.block() as interior, assuming(*inside.facts):
                emit()
            most = max(most, em.private_bytes)
    em.private_bytes = most
    shared = common_end(general, interior)
    apart, both = len(interior) - shared, general[: len(general) - shared]
    if not inside.conditions or (not em.limits.branch_barriers and _exchanges(em, both)):
        return em.put(*general)
    em.put(im.If(inside.conditions, tuple(interior[:apart]), share(inside.conditions), tuple(both)))
    em.put(*interior[apart:])


def loop(em: Builder, start: int, n: int, body: Callable[[Index], None]) -> None:
    """`body(i)` for `n` steps from `start` on, in order: in a loop, or in three where only the ends have tests."""
    before = em.private_bytes
    with em.block() as whole:
        em.loop(n, lambda i: body(i + start))
    match whole:
        case [im.Loop(var, _, steps, False)] if n > FEW:
            inside = _Inside(((index(var), n),), [None])
            inside.narrowed(steps)
            ((low, high),) = inside.spans
        case _:
            low, high = 0, n - 1
    if high - low + 1 == n:
        return em.put(*whole)
    em.private_bytes = before
    em.loop(low, lambda i: body(i + start))
    loop(em, start + low, high - low + 1, body)
    em.loop(n - 1 - high, lambda i: body(i + (start + high + 1)))


def _exchanges(em: Builder, statements: Iterable[Statement]) -> bool:
    """Will there be barriers in `statements`?  Where local memory is only written, the barrier comes after them."""
    found = [a for a in accesses(statements) if a.buffer.space == "local"]
    return em.shape.group_items > 1 and any(not a.write for a in found)


def _has_loops(statements: Iterable[Statement]) -> bool:
    """Is there more in `statements` than single scalars?  For those a second version does not pay."""
    return any(isinstance(s, im.Loop) or (isinstance(s, im.Let | im.Store) and s.lane) for s in walk(statements))


#: a work-group's id, how many groups there are, and how many work-items each has along the dimension
Group = tuple[Index, int, int]


def _group(em: Builder, i: Index) -> Group | None:
    """The groups, if tiles are counted by `i`, work-items have one each, and neighbours along it run in lock-step."""
    for d in range(3):
        count, items = em.shape.groups[d], em.shape.local[d]
        lock_step = items > 1 and prod(em.shape.local[:d]) < em.limits.warp
        if i == em.global_id(d) and lock_step and count >= FEW:
            return em.group_id(d), count, items
    return None


class _Inside:
    """Finds the tiles for which the code's tests hold whatever else they depend on: those tests that most tiles pass.

    spans: for each dimension, the first and the last of these tiles.  Where work-items have a tile each, a group goes
    one way together: neighbours that go different ways would wait for each other.
    """

    def __init__(self, tiles: tuple[Condition, ...], groups: Sequence[Group | None]) -> None:
        self.tiles, self.groups = tiles, groups
        self.spans = [(0, n - 1) for _, n in tiles]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What tells these tiles from the others; none if all tiles are inside."""
        return tuple(c for d in range(len(self.tiles)) for c in self._conditions(d))

    def _conditions(self, d: int) -> Iterator[Condition]:
        (i, n), (low, high), group = self.tiles[d], self.spans[d], self.groups[d]
        if group is None:
            return _within(i, n, (low, high))
        at, count, items = group
        return _within(at, count, (low // items, high // items))

    @property
    def facts(self) -> Iterator[tuple[Index, int, int]]:
        return ((i, *span) for (i, _), span in zip(self.tiles, self.spans, strict=True))

    def narrowed(self, statements: Iterable[Statement]) -> bool:
        """Look at the code of these tiles; do its tests leave fewer of them?"""
        before = list(self.spans)
        with assuming(*self.facts):
            self.statements(statements)
        self.spans = [_whole(*spans) for spans in zip(self.spans, before, self.groups, strict=True)]
        return self.spans != before

    def test(self, e: Index, bottom: int | None, n: int) -> None:
        """The code asks whether `e < n` (bottom None), or `bottom <= e < n`."""
        for d, (i, count) in enumerate(self.tiles):
            low, high = _passing(e, bottom, n, i, self.spans[d])
            known = isinstance(count, Length) or not (isinstance(low, Length) or isinstance(high, Length))
            if known and 2 * (high - low + 1) >= count:
                self.spans[d] = low, high

    # ------------------------------------------------------------------------------------ where tests are

    def statements(self, statements: Iterable[Statement]) -> None:
        for s in statements:
            match s:
                case im.Let():
                    self.values((s.value,))
                case im.Store():
                    self.indices(s.at)
                    self.values((s.value,))
                case im.Loop():
                    self.statements(s.body)
                case im.If():
                    for e, n in s.conditions:
                        self.test(e, None, n)
                        self.indices(e)
                    with assuming(*((e, e.range[0], n - 1) for e, n in s.conditions if e.range[0] < n)):
                        self.statements(s.body)
                    self.statements(s.otherwise)

    def values(self, values: Iterable[ScalarValue]) -> None:
        for v in subvalues(values):
            match v:
                case im.Load(_, at) | im.IndexValue(at, _):
                    self.indices(at)
                case im.Guarded(at, n):
                    self.test(at, 0, n)
                    self.indices(at)

    def indices(self, at: Index) -> None:
        for a, _ in at.terms:
            match a:
                case Var() | Data():
                    pass
                case Clamp(x, high):
                    self.test(x, 0, high + 1)
                    self.indices(x)
                case Choice(test, n, inside, outside):
                    self.test(test, 0, n)
                    for x in (test, inside, outside):
                        self.indices(x)
                case _:
                    self.indices(a.x)


def _whole(span: Span, before: Span, group: Group | None) -> Span:
    """The part of `span` that groups have to themselves; `before` if that is less than most of them."""
    if group is None or span == before:
        return span
    _, count, items = group
    low, high = -(-span[0] // items), (span[1] + 1) // items - 1
    return (low * items, (high + 1) * items - 1) if 4 * (high - low + 1) >= 3 * count else before


def _within(i: Index, n: int, span: Span) -> Iterator[Condition]:
    """`span[0] <= i <= span[1]` for an i of 0 .. n-1."""
    low, high = span
    if low > 0:
        yield i * -1, 1 - low
    if high < n - 1:
        yield i, high + 1


def _passing(e: Index, bottom: int | None, n: int, i: Index, span: Span) -> Span:
    """The part of `span` for which `bottom <= e < n` whatever `e` depends on besides `i`, if it is linear in `i`."""
    a, c = i.terms[0]
    k = dict(e.terms).get(a, 0)
    if not k or k % c:
        return span
    m = k // c  # e == m*i + rest
    first, last = (e - i * m).range
    least, most = None if bottom is None else bottom - first, n - 1 - last  # least <= m*i <= most
    if m < 0:
        least, most, m = -most, None if least is None else -least, -m
    low, high = span
    return low if least is None else max(low, -(-least // m)), high if most is None else min(high, most // m)
