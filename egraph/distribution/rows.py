"""Rows of an array that is a view: which rows of what, so that only these are moved to a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from egglift.egraph.distribution.steps import length_of
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr


@dataclass(frozen=True)
class Run:
    """`count` rows of an array from row `start` on, one after the other; of a `repeated` value, that many of it."""

    source: Expr
    start: int
    count: int
    repeated: bool = False


def runs(source: Expr, first: int, last: int) -> tuple[Run, ...]:
    """Rows `first` to `last` (exclusive) of a view: rows of inputs, and of views that are looked at as a whole."""
    return tuple(_merged(_runs(source, first, last)))


def _runs(x: Expr, first: int, last: int) -> Iterator[Run]:
    if last <= first:
        return
    match x:
        case p.Take(_, y):
            yield from _runs(y, first, last)
        case p.Drop(int(n), y):
            yield from _runs(y, first + n, last + n)
        case p.Concat(a, b):
            cut = length_of(a)
            yield from _runs(a, min(first, cut), min(last, cut))
            yield from _runs(b, max(first, cut) - cut, max(last, cut) - cut)
        case p.Pad(int(left), _, mode, y, value) if mode in BORDERS:
            n = length_of(y)
            for i in range(first - left, min(last - left, 0)):
                yield from _border(y, i, n, mode, value)
            yield from _runs(y, max(first - left, 0), min(last - left, n))
            for i in range(max(first - left, n), last - left):
                yield from _border(y, i, n, mode, value)
        case _:
            yield Run(x, first, last - first)


def _border(y: Expr, i: int, n: int, mode: str, value: Expr | None) -> Iterator[Run]:
    """Row `i` of a padded array, which is none of the `n` rows of `y`."""
    if value is not None:
        yield Run(value, 0, 1, repeated=True)
    else:
        at = BORDERS[mode](i, n)
        yield from _runs(y, at, at + 1)


def _mirrored(i: int, n: int) -> int:
    """x1 x0 | x0 x1 ... x(n-1) | x(n-1) ..."""
    i %= 2 * n
    return min(i, 2 * n - 1 - i)


def _reflected(i: int, n: int) -> int:
    """x2 x1 | x0 x1 ... x(n-1) | x(n-2) ..."""
    i %= max(1, 2 * n - 2)
    return min(i, 2 * n - 2 - i)


#: which row stands in the place of row i, of n
BORDERS: dict[str, Callable[[int, int], int]] = {
    "clamp": lambda i, n: max(0, min(n - 1, i)),
    "mirror": _mirrored,
    "reflect": _reflected,
    "wrap": lambda i, n: i % n,
    "constant": lambda i, n: i,
}


def _merged(found: Iterator[Run]) -> Iterator[Run]:
    """Neighbours that go on where the one before ends are one."""
    last: Run | None = None
    for run in found:
        if last is not None and _goes_on(last, run):
            last = Run(last.source, last.start, last.count + run.count, last.repeated)
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last


def _goes_on(last: Run, run: Run) -> bool:
    same = (run.source, run.repeated) == (last.source, last.repeated)
    return same and (run.repeated or run.start == last.start + last.count)
