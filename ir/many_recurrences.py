"""A loop over arrays whose elements never meet, as many loops beside each other, each over a few numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

from egglift.ir import patterns as p
from egglift.ir import trace
from egglift.ir.axes import at_depth, cut, length_of, merged, permuted
from egglift.ir.check import type_of
from egglift.ir.elements_apart import Along, Apart, Elements, Index, NotApart, View, view_of
from egglift.ir.named_states import components
from egglift.ir.patterns import Expr
from egglift.ir.traverse import is_closed
from egglift.ir.tuples import as_one, parts_of, zipped
from egglift.ir.types import I32, Array, Scalar, Tuple, Type, dims

#: the longest axis whose elements one loop has all of, and numbers that it carries at most
NEAR, CARRIED = 8, 32
Path = tuple[Index, ...]
Loop = p.Fold | p.ScanSeq | p.Iterate


def beside_each_other(t: Loop) -> dict[Expr, Expr]:
    """What stands for a loop whose state is arrays, and for its components, as many loops; {} where elements meet.

    fold (<a, x>. map (<a, x>. 0.9 a + 0.1 x) (zip a x)) z xs
        ->  map (<z, xs>. fold (<a, x>. 0.9 a + 0.1 x) z xs) (zip z (transpose xs))

    Axes of up to 8 elements are numbers that one loop has; elements along all others must not meet.
    """
    init = t.x if isinstance(t, p.Iterate) else t.init
    kinds = components(type_of(init))
    if not is_closed(t) or not all(map(_is_numbers, kinds)):
        return {}
    far = {tuple(n for n in _lengths(k) if n > NEAR) for k in kinds}
    few = sum(prod(n for n in _lengths(k) if n <= NEAR) for k in kinds)
    if len(far) != 1 or not (batch := far.pop()) or few > CARRIED:
        return {}
    try:
        return _Many(t, init, kinds, batch).made()
    except NotApart:
        return {}


def _is_numbers(t: Type) -> bool:
    inner = t
    while isinstance(inner, Array):
        inner = inner.element
    return isinstance(t, Array) and isinstance(inner, Scalar) and all(isinstance(n, int) for n in dims(t))


@dataclass
class _Many:
    """The loops under construction: what one of them reads, by placeholders."""

    loop: Loop
    init: Expr
    kinds: tuple[Type, ...]
    batch: tuple[int, ...]
    states: dict[tuple[int, Path], p.Input] = field(default_factory=dict)
    elements: dict[tuple[Expr, Path], p.Input] = field(default_factory=dict)
    others: dict[tuple[Expr, Path], p.Input] = field(default_factory=dict)

    def made(self) -> dict[Expr, Expr]:
        """What stands for the loop, and for its components."""
        for k, kind in enumerate(self.kinds):
            for path in _places(kind):
                self.states[k, path] = trace.placeholder(_scalar_of(kind), "state")
        after, kept = self._step()
        body = self._lane(after, kept)
        return self._results(body, kept)

    # ------------------------------------------------------------------------------------ one step of one loop

    def _step(self) -> tuple[list[Expr], list[Expr]]:
        """The next numbers of one loop, and what a scan keeps of them."""
        apart = Apart(self._other)
        state = _together([view_of(t, self._state_at(k)) for k, t in enumerate(self.kinds)])
        if isinstance(self.loop, p.Iterate):
            return self._numbers(apart.value(self.loop.body, state), self.kinds), []
        whole = type_of(self.loop.x)
        assert isinstance(whole, Array)
        value = apart.value(self.loop.body, (state, self._element(self.loop.x, whole.element)))
        if isinstance(self.loop, p.Fold):
            return self._numbers(value, self.kinds), []
        assert isinstance(value, tuple)
        return self._numbers(value[0], self.kinds), self._numbers(value[1], self.kept)

    @property
    def kept(self) -> tuple[Type, ...]:
        """The types of the components of what a scan keeps."""
        whole = type_of(self.loop)
        assert isinstance(whole, Array)
        kinds = components(whole.element)
        if not all(_is_numbers(k) and tuple(n for n in _lengths(k) if n > NEAR) == self.batch for k in kinds):
            raise NotApart
        return kinds

    def _numbers(self, value: View, kinds: Sequence[Type]) -> list[Expr]:
        """All numbers that one loop has of arrays."""
        parts = value if isinstance(value, tuple) else (value,)
        found = list[Expr]()
        for part, kind in zip(parts, kinds, strict=True):
            for path in _places(kind):
                v = part
                for i in path:
                    assert isinstance(v, Elements)
                    v = v.at(i)
                assert not isinstance(v, Elements | tuple)
                found.append(v)
        return found

    def _state_at(self, k: int) -> Callable[[Path], Expr]:
        def at(path: Path) -> Expr:
            if (k, path) not in self.states:
                raise NotApart  # of another loop
            return self.states[k, path]

        return at

    def _element(self, x: Expr, t: Type) -> View:
        """An element of an array that the loop goes over; a tuple of arrays is one for each."""
        if isinstance(t, Tuple):
            own = x.arrays if isinstance(x, p.Zip) else [p.Map(p.Get(k, p.Arg(t)), x) for k in range(len(t.items))]
            return tuple(self._element(a, item) for a, item in zip(own, t.items, strict=True))
        return view_of(t, lambda path: self._known(self.elements, x, path, t))

    def _other(self, e: Expr, path: Path) -> Expr:
        """A number of a closed array: the same for all loops, or one of each."""
        if any(isinstance(i, Along) for i in path):
            return self._known(self.others, e, path, type_of(e))
        for i in path:
            assert isinstance(i, int)
            e = p.At(i, e)
        return e

    def _known(self, known: dict[tuple[Expr, Path], p.Input], x: Expr, path: Path, t: Type) -> Expr:
        axes = [i.axis for i in path if isinstance(i, Along)]
        if len(set(axes)) < len(axes):
            raise NotApart  # a diagonal
        if (x, path) not in known:
            known[x, path] = trace.placeholder(_scalar_of(t), "read")
        return known[x, path]

    # ------------------------------------------------------------------------------------ all loops

    def _lane(self, after: list[Expr], kept: list[Expr]) -> Expr:
        """All loops: a map over what each begins with and reads."""
        starts = parts_of(self.init, len(self.kinds))
        arrays = [self._beside(starts[k], path, 0) for k, path in self.states]
        own = {name: self._beside(x, path, 0) for (x, path), name in self.others.items()}
        moving = {name: path for (_, path), name in self.elements.items()}
        rows = {name: self._beside(x, path, 1) for (x, path), name in self.elements.items()}
        each = [name for name, path in moving.items() if any(isinstance(i, Along) for i in path)]
        arrays += [*own.values(), *(p.Transpose(rows[name]) for name in each)]

        def lane(v: Expr) -> Expr:
            parts = parts_of(v, len(arrays))
            first = len(self.states)
            known = dict[Expr, Expr](zip(own, parts[first:]))
            lines = {**rows, **dict(zip(each, parts[first + len(own) :]))}
            return self._loop(parts[:first], list(lines.items()), known, after, kept)

        return trace.map_body(lane, zipped(arrays))

    def _loop(
        self,
        start: list[Expr],
        lines: list[tuple[p.Input, Expr]],
        known: dict[Expr, Expr],
        after: list[Expr],
        kept: list[Expr],
    ) -> Expr:
        """One loop.  lines: what it goes over, by placeholder."""
        x = zipped([line for _, line in lines]) if lines else p.Iota(self._count, I32)

        def step(acc: Expr, element: Expr) -> Expr:
            now, items = parts_of(acc, len(start)), parts_of(element, len(lines))
            new: dict[Expr, Expr] = {**known, **dict(zip(self.states.values(), now, strict=True))}
            new |= dict(zip((name for name, _ in lines), items))
            values = as_one([trace.substitute(e, new) for e in after])
            return p.Tup((values, self._built([trace.substitute(e, new) for e in kept], self.kept))) if kept else values

        made = trace.fold_body(step, as_one(start), x, ("state", "element"))
        if kept:
            return p.ScanSeq(made.body, made.init, made.x)
        return self._built(parts_of(made, len(start)), self.kinds)

    @property
    def _count(self) -> int:
        n = self.loop.count if isinstance(self.loop, p.Iterate) else _lengths(type_of(self.loop.x))[0]
        if not isinstance(n, int):
            raise NotApart
        return n

    def _built(self, numbers: list[Expr], kinds: Sequence[Type]) -> Expr:
        """The components of a value of one loop: numbers, and short arrays of them."""
        rest = iter(numbers)
        return as_one([_nested([n for n in _lengths(k) if n <= NEAR], rest) for k in kinds])

    # ------------------------------------------------------------------------------------ arrays of all loops

    def _beside(self, x: Expr, path: Path, before: int) -> Expr:
        """The elements of an array at a path as one vector over all loops; below `before` axes that stay.

        One that is the same for all loops is repeated, unless there are such axes.
        """
        depth, axes = before, list[int]()
        for i in path:
            if isinstance(i, int):
                x = at_depth(depth, x, lambda e, i=i: p.At(i, e))  # type: ignore[misc]
            else:
                n = self.batch[i.axis]
                x = at_depth(depth, x, lambda e, n=n: e if length_of(e) == n else p.Take(n, e))  # type: ignore[misc]
                axes.append(i.axis)
                depth += 1
        if before and not axes:
            return x
        for a in range(len(self.batch)):
            if a not in axes:
                x = at_depth(before, x, lambda e, a=a: p.Fill(self.batch[a], e))  # type: ignore[misc]
                axes.insert(0, a)
        stay = [-1 - k for k in range(before)]
        x = permuted(x, [*stay, *axes], [*stay, *range(len(self.batch))])
        return merged(x, before, len(self.batch))

    def _results(self, found: Expr, kept: list[Expr]) -> dict[Expr, Expr]:
        """What stands for the loop, and for its components."""
        kinds = self.kept if kept else self.kinds
        depth = 2 if kept else 1  # the axes of all loops, and of their steps
        arrays = list[Expr]()
        for k, kind in enumerate(kinds):
            x = at_depth(depth, found, lambda e, k=k: p.Get(k, e)) if len(kinds) > 1 else found  # type: ignore[misc]
            x = p.Transpose(x) if kept else x
            blocks = [prod(self.batch[i + 1 :]) for i in range(len(self.batch) - 1)]
            x = cut(x, depth - 1, blocks)
            arrays.append(self._in_order(x, kind, depth - 1))
        if len(arrays) == 1:
            return {self.loop: arrays[0]}
        element = Tuple(tuple(kinds))
        if kept:
            parts: dict[Expr, Expr] = {p.Map(p.Get(k, p.Arg(element)), self.loop): x for k, x in enumerate(arrays)}
            return {self.loop: p.Zip(tuple(arrays)), **parts}
        return {self.loop: p.Tup(tuple(arrays)), **{p.Get(k, self.loop): x for k, x in enumerate(arrays)}}

    def _in_order(self, x: Expr, kind: Type, before: int) -> Expr:
        """An array with the axes of all loops before the short ones, with all where they were."""
        wanted = [*range(len(_lengths(kind)))]
        far = [d for d, n in enumerate(_lengths(kind)) if n > NEAR]
        near = [d for d in wanted if d not in far]
        stay = [-1 - k for k in range(before)]
        return permuted(x, [*stay, *far, *near], [*stay, *wanted])


def _places(t: Type) -> list[Path]:
    """The paths to the numbers that one loop has of an array."""
    axis = iter(range(len(_lengths(t))))
    return list(product(*(range(n) if n <= NEAR else [Along(next(axis))] for n in _lengths(t))))


def _lengths(t: Type) -> tuple[int, ...]:
    """The lengths of nested arrays, if all are numbers; else NotApart."""
    found = tuple(n for n in dims(t) if isinstance(n, int))
    if len(found) < len(dims(t)):
        raise NotApart
    return found


def _scalar_of(t: Type) -> Scalar:
    while isinstance(t, Array):
        t = t.element
    assert isinstance(t, Scalar)
    return t


def _together(parts: list[View]) -> View:
    return tuple(parts) if len(parts) > 1 else parts[0]


def _nested(lengths: list[int], numbers: Iterator[Expr]) -> Expr:
    """An array of numbers, put together of arrays of one."""
    if not lengths:
        return next(numbers)
    whole: Expr = p.Fill(1, _nested(lengths[1:], numbers))
    for _ in range(lengths[0] - 1):
        whole = p.Concat(whole, p.Fill(1, _nested(lengths[1:], numbers)))
    return whole
