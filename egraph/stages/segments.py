"""Arrays that were put together of others, computed one next to the other: at each index an element of every part.

    [ where (0 < 512) (f A[0]) (g A[0-512]) for 0 < 1024 ]
    ->  s[0] = [f A[0], g A[0]] for 0 < 512;  join (transpose s)

By masks, every element of the result would take all parts.  This way what several parts read, or compute, is read or
computed once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd

import numpy as np

from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, number, substituted
from egglift.egraph.stages.unrolled import chosen
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, merged, permuted
from egglift.ir.check import type_of
from egglift.ir.interpret import evaluate
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.ir.types import BOOL, Scalar

#: parts that are computed next to each other at most
MANY = 16


@dataclass(frozen=True)
class Segments:
    """A body whose value is an array: of the elements of all parts.  dim: what they were along; dims: what is left;
    inner: the index within a part, where parts are longer than one element."""

    dim: Dim
    dims: tuple[Dim, ...]
    body: Expr
    inner: Dim | None

    def whole(self, array: Expr, dims: Sequence[Dim]) -> Expr:
        """The array over `dims`, from that of the parts."""
        parts = Dim(-1, 0)
        order = [
            e for d in dims for e in (((parts, self.inner) if self.inner else (parts,)) if d == self.dim else (d,))
        ]
        found = permuted(array, (*self.dims, parts), order)
        return merged(found, dims.index(self.dim), 2) if self.inner else found


def segments(names: Names, dims: tuple[Dim, ...], body: Expr) -> Segments | None:
    """The parts of an array over `dims`, if it is of equally long ones along one of these."""
    if not isinstance(type_of(body), Scalar):
        return None
    masks = dict(_masks(names, body))
    for dim in dims:
        views = {x: read.view for x, read in masks.items() if read.dims == (dim,)}
        if not views or isinstance(dim.extent, Length):  # where parts of unknown lengths end, no number says
            continue
        own = {x: np.asarray(evaluate(view, {})) for x, view in views.items()}
        length = _length(number(dim), list(own.values()))
        count = number(dim) // length
        if 1 < count <= MANY:
            inner = names.dim(length) if length > 1 else None
            parts = [_Part(names, dim, inner, i * length, own).of(body) for i in range(count)]
            left = tuple(inner if d == dim else d for d in dims)
            return Segments(dim, tuple(d for d in left if d is not None), _array(parts), inner)
    return None


def _array(elements: Sequence[Expr]) -> Expr:
    *others, found = (p.Fill(1, x) for x in elements)
    array: Expr = found
    for x in reversed(others):
        array = p.Concat(x, array)
    return array


def _masks(names: Names, body: Expr) -> Iterator[tuple[Expr, Read]]:
    """What decides between two values in a body, of constants along one dimension."""
    conditions = {t.args[0] for t in subterms(body) if isinstance(t, p.Apply) and t.op == "where"}
    for x, what in names.of(body):
        match what:
            case Read(view, (_,)) if x in conditions and not any(isinstance(t, p.Input) for t in subterms(view)):
                yield x, what
            case Reduction(_, _, _, element):
                yield from _masks(names, element)


def _length(extent: int, masks: Sequence[np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]) -> int:
    """The longest parts of an axis, all of one length, within which no mask changes."""
    changes = (np.flatnonzero(m[1:] != m[:-1]) + 1 for m in masks)
    return gcd(extent, *(int(np.gcd.reduce(c)) for c in changes))


@dataclass(frozen=True)
class _Part:
    """The part of an axis that begins at `start`: at an index of `inner` within it."""

    names: Names
    dim: Dim
    inner: Dim | None
    start: int
    masks: dict[Expr, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]

    def of(self, body: Expr) -> Expr:
        """`body` there."""
        new: dict[Expr, Expr] = {}
        for x, what in self.names.of(body):
            match what:
                case Read() if x in self.masks:
                    new[x] = p.Literal(bool(self.masks[x][self.start]), BOOL)
                case Read():
                    new[x] = self.names.read(self._read(what))
                case Reduction(_, init, _, element):
                    new[x] = self.names.reduced(replace(what, init=self.of(init), element=self.of(element)))
        return chosen(substituted(body, new))

    def _read(self, read: Read) -> Read:
        while self.dim in read.dims:
            k = read.dims.index(self.dim)
            view = at_depth(k, read.view, self._cut)
            own = () if self.inner is None else (self.inner,)
            read = Read(view, (*read.dims[:k], *own, *read.dims[k + 1 :]))
        return read

    def _cut(self, x: Expr) -> Expr:
        if self.inner is None:
            return p.At(self.start, x)
        return p.Take(self.inner.extent, p.Drop(self.start, x) if self.start else x)
