"""A loop over arrays whose rows never meet, as a loop for each row; or, where they do, as one beside none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from egglift.ir import patterns as p
from egglift.ir import trace
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import argument_parts, changed, rebuild, with_argument
from egglift.ir.tuples import as_one, parts_of, zipped
from egglift.ir.types import Array, Tuple, Type


class RowsMeet(Exception):
    """A row of the next state depends on others, or on what no row is of."""


def row_loops(t: p.Fold) -> list[p.Map]:
    """Maps over rows whose bodies are loops: over the rows of a state that never meet; and the loop as the only row.

    fold (<h, x>. map (\\r. f r) (zip h x)) z xs  ->  map (<r, x>. fold (<r, x>. f <r, x>) r x) (zip z (transpose xs))
    fold f z xs                                  ->  map (z. fold f z xs) (fill 1 z)
    """
    alone = trace.map_body(lambda z: p.Fold(t.body, z, t.x), p.Fill(1, t.init))
    try:
        found = [_Rows(t).made(), alone]
    except RowsMeet:
        found = [alone]
    return [m for m in found if isinstance(m, p.Map)]


@dataclass
class _Rows:
    """The loops of rows under construction: what a row reads, by placeholders."""

    loop: p.Fold
    moving: dict[Expr, p.Input] = field(default_factory=dict)  # rows of what depends on the element
    still: dict[Expr, p.Input] = field(default_factory=dict)  # rows of closed arrays
    element: p.Input = field(init=False)
    states: list[p.Input] = field(init=False)
    count: int = field(init=False)

    def made(self) -> Expr:
        """The loops of all rows."""
        t = type_of(self.loop.init)
        kinds = t.items if isinstance(t, Tuple) else (t,)
        counts = {k.length if isinstance(k, Array) and isinstance(k.element, Array) else None for k in kinds}
        (count,) = counts if len(counts) == 1 else (None,)
        whole = type_of(self.loop.x)
        if not isinstance(count, int) or count < 2 or not isinstance(whole, Array):
            raise RowsMeet
        self.count, self.element = count, trace.placeholder(whole.element, "element")
        self.states = [trace.placeholder(k.element, "row") for k in kinds if isinstance(k, Array)]
        body = self.loop.body
        parts = body.items if isinstance(body, p.Tup) else (body,)
        if len(parts) != len(kinds):
            raise RowsMeet
        return self._map([self._row(part) for part in parts])

    # ------------------------------------------------------------------------------------ a row of a step

    def _row(self, e: Expr) -> Expr:
        """The row of an array in the scope of the loop's body."""
        reads = _reads(e)
        if 0 not in reads:
            return self._read(e, bool(reads))
        match e:
            case p.Get(k, p.Get(0, p.Arg())):
                return self.states[k]
            case p.Get(0, p.Arg()):
                return self.states[0]
            case p.Map(body, x, None):
                return with_argument(body, self._row(x))
            case p.Zip(arrays):
                return p.Tup(tuple(map(self._row, arrays)))
            case p.Distl(a, b):
                return p.Tup((self._same(a), self._row(b)))
            case p.Fill(_, x):
                return self._same(x)
            case p.Transpose(x):
                return self._column(x)
        raise RowsMeet

    def _column(self, e: Expr) -> Expr:
        """The column of an array that belongs to a row of the state: of what moves whole rows, these of the columns."""
        if 0 not in _reads(e):
            return self._row(p.Transpose(e))
        match e:
            case p.Transpose(x):
                return self._row(x)
            case p.Concat(a, b):
                return p.Concat(self._column(a), self._column(b))
            case p.Take(_, x) | p.Drop(_, x) | p.Roll(_, x) | p.Pad(_, _, _, x, None):
                return changed(e, {"x": self._column(x)})
            case p.Fill(n, x):
                return p.Fill(n, self._row(x))
        raise RowsMeet

    def _same(self, e: Expr) -> Expr:
        """What all rows read alike."""
        if 0 in _reads(e):
            raise RowsMeet
        return _with_element(e, self.element)

    def _read(self, e: Expr, moves: bool) -> Expr:
        """The row of what does not depend on the state."""
        t, known = type_of(e), self.moving if moves else self.still
        if not isinstance(t, Array) or t.length != self.count:
            raise RowsMeet
        if e not in known:
            known[e] = trace.placeholder(t.element, "read")
        return known[e]

    # ------------------------------------------------------------------------------------ all rows

    def _map(self, after: list[Expr]) -> Expr:
        whole = type_of(self.loop.x)
        assert isinstance(whole, Array)
        many = len(self.states) > 1
        starts = [p.Get(k, self.loop.init) if many else self.loop.init for k in range(len(self.states))]
        lines = [p.Transpose(_each(e, self.loop.x, whole.element)) for e in self.moving]
        arrays = [*starts, *self.still, *lines]
        shared = any(self.element in trace.free(e) for e in after)

        def row(v: Expr) -> Expr:
            parts = parts_of(v, len(arrays))
            first, last = len(starts), len(starts) + len(self.still)
            known = dict[Expr, Expr](zip(self.still.values(), parts[first:last], strict=True))
            over = [*([self.loop.x] if shared else []), *parts[last:]]
            names = [*([self.element] if shared else []), *self.moving.values()]
            x = zipped(over) if over else self.loop.x
            return trace.fold_body(self._step(names, known, after), as_one(parts[:first]), x, ("state", "element"))

        return trace.map_body(row, zipped(arrays))

    def _step(self, names: list[p.Input], known: dict[Expr, Expr], after: list[Expr]) -> Callable[[Expr, Expr], Expr]:
        def step(acc: Expr, element: Expr) -> Expr:
            now, items = parts_of(acc, len(self.states)), parts_of(element, len(names))
            new = {**known, **dict[Expr, Expr](zip(self.states, now, strict=True))}
            new |= dict[Expr, Expr](zip(names, items))
            return as_one([trace.substitute(e, new) for e in after])

        return step


def _reads(e: Expr) -> set[int]:
    """Which components of the argument of a loop's body it reads: 0 the state, 1 the element."""
    return {k for part in argument_parts(e) for k in part[:1] or (0, 1)}


def _with_element(e: Expr, element: Expr) -> Expr:
    memo: dict[Expr, Expr] = {}

    def go(t: Expr) -> Expr:
        if t not in memo:
            is_element = isinstance(t, p.Get) and t.index == 1 and isinstance(t.x, p.Arg)
            memo[t] = element if is_element else rebuild(t, go)
        return memo[t]

    return go(e)


def _each(e: Expr, x: Expr, t: Type) -> Expr:
    """What depends on an element, for all elements."""
    body = _with_element(e, p.Arg(t))
    return x if isinstance(body, p.Arg) else p.Map(body, x)
