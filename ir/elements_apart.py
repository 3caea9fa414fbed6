"""The value of a closed body element by element: as scalar expressions over what it reads, with short loops unrolled.

An index is a number, or an axis along which all elements are computed alike (`Along`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import is_closed
from egglift.ir.types import Array, Tuple, Type

#: elements of a loop that is unrolled, and evaluations of patterns, at most
SHORT, MOST = 16, 20_000


class NotApart(Exception):
    """An element depends on others along an axis, or on more than is unrolled."""


@dataclass(frozen=True)
class Along:
    """All indices along an axis, which has this number."""

    axis: int


Index: TypeAlias = "int | Along"
View: TypeAlias = "Expr | Elements | tuple[View, ...]"
#: what stands for a closed scalar, or an element of a closed array
Closed: TypeAlias = Callable[[Expr, "tuple[Index, ...]"], Expr]


@dataclass(eq=False)
class Elements:
    """An array by its elements, each of which is asked for once."""

    length: int
    of: Callable[[Index], View]
    _known: dict[Index, View] = field(default_factory=dict)

    def at(self, i: Index) -> View:
        """Its element at an index."""
        if i not in self._known:
            self._known[i] = self.of(i)
        return self._known[i]


def view_of(t: Type, scalar: Callable[[tuple[Index, ...]], Expr], path: tuple[Index, ...] = ()) -> View:
    """An array of numbers, of which `scalar` gives what stands at an index."""
    match t:
        case Array(n, inner) if isinstance(n, int):
            return Elements(n, lambda i: view_of(inner, scalar, (*path, i)))
        case Array() | Tuple():
            raise NotApart
    return scalar(path)


@dataclass
class Apart:
    """Evaluates bodies.  closed: gives what stands for an element of a closed part."""

    closed: Closed
    left: int = MOST

    def value(self, body: Expr, arg: View) -> View:
        """The value of a body of an argument."""
        memo: dict[Expr, View] = {}

        def go(e: Expr) -> View:
            if e not in memo:
                self.left -= 1
                if not self.left:
                    raise NotApart
                memo[e] = self._closed(e) if is_closed(e) else arg if isinstance(e, p.Arg) else self._view(e, go)
            return memo[e]

        return go(body)

    def _closed(self, e: Expr) -> View:
        t = type_of(e)
        if isinstance(t, Tuple):
            return tuple(self._closed(p.Get(k, e)) for k in range(len(t.items)))
        if isinstance(t, Array) and isinstance(t.element, Tuple):
            arrays = [self._closed(p.Map(p.Get(k, p.Arg(t.element)), e)) for k in range(len(t.element.items))]
            return _zipped(arrays)
        return view_of(t, lambda path: self.closed(e, path))

    def _view(self, e: Expr, go: Callable[[Expr], View]) -> View:
        match e:
            case p.Apply(op, args):
                return p.Apply(op, tuple(_scalar(go(a)) for a in args))
            case p.Cast(t, x):
                return p.Cast(t, _scalar(go(x)))
            case p.Tup(items):
                return tuple(map(go, items))
            case p.Get(k, x):
                whole = go(x)
                assert isinstance(whole, tuple)
                return whole[k]
            case p.Map(body, x, None):
                xs = _array(go(x))
                return Elements(xs.length, lambda i: self.value(body, xs.at(i)))
            case p.Reduce() | p.Fold() | p.Scan() | p.Iterate():
                return self._loop(e, go)
        return _layout(e, go)

    def _loop(self, e: Expr, go: Callable[[Expr], View]) -> View:
        """A short loop, unrolled."""
        if isinstance(e, p.Iterate):
            state = go(e.x)
            for _ in range(_few(e.count)):
                state = self.value(e.body, state)
            return state
        assert isinstance(e, p.Reduce | p.Fold | p.Scan)
        body = e.body if isinstance(e, p.Fold) else e.op.body
        xs, found = _array(go(e.x)), [go(e.init)]
        for i in range(_few(xs.length)):
            found.append(self.value(body, (found[-1], xs.at(i))))
        return Elements(xs.length, lambda i: found[1 + _number(i)]) if isinstance(e, p.Scan) else found[-1]


def _layout(e: Expr, go: Callable[[Expr], View]) -> View:
    """A pattern that moves elements."""
    match e:
        case p.Zip(arrays):
            return _zipped(list(map(go, arrays)))
        case p.Distl(a, b):
            left, xs = go(a), _array(go(b))
            return Elements(xs.length, lambda i: (left, xs.at(i)))
        case p.Cross(a, b):
            us, vs = _array(go(a)), _array(go(b))
            return Elements(us.length, lambda i: Elements(vs.length, lambda j: (us.at(i), vs.at(j))))
        case p.Fill(n, x):
            filled = go(x)
            return Elements(_known(n), lambda i: filled)
        case p.Transpose(x):
            rows, t = _array(go(x)), type_of(e)
            assert isinstance(t, Array)
            return Elements(_known(t.length), lambda j: Elements(rows.length, lambda i: _array(rows.at(i)).at(j)))
        case p.At(k, x) if isinstance(k, int):
            return _array(go(x)).at(k)
        case p.Take(n, x):
            xs = _array(go(x))
            return Elements(_known(n), xs.at)
        case p.Drop(n, x):
            xs, m = _array(go(x)), _known(n)
            return Elements(xs.length - m, lambda i: xs.at(i if m == 0 else _number(i) + m))
        case p.Concat(a, b):
            us, vs = _array(go(a)), _array(go(b))
            m = us.length
            return Elements(m + vs.length, lambda i: us.at(i) if _number(i) < m else vs.at(_number(i) - m))
        case p.Split(n, x):
            xs, m = _array(go(x)), _known(n)
            return Elements(xs.length // m, lambda i: Elements(m, lambda j: xs.at(_number(i) * m + _number(j))))
        case p.Join(x):
            rows, t = _array(go(x)), type_of(x)
            assert isinstance(t, Array) and isinstance(t.element, Array)
            m = _known(t.element.length)
            return Elements(rows.length * m, lambda i: _array(rows.at(_number(i) // m)).at(_number(i) % m))
    raise NotApart


def _zipped(arrays: list[View]) -> Elements:
    own = list(map(_array, arrays))
    return Elements(own[0].length, lambda i: tuple(a.at(i) for a in own))


def _array(v: View) -> Elements:
    assert isinstance(v, Elements)
    return v


def _scalar(v: View) -> Expr:
    assert not isinstance(v, Elements | tuple)
    return v


def _number(i: Index) -> int:
    if isinstance(i, Along):
        raise NotApart
    return i


def _known(n: object) -> int:
    if not isinstance(n, int):
        raise NotApart
    return n


def _few(n: object) -> int:
    if not isinstance(n, int) or n > SHORT:
        raise NotApart
    return n
