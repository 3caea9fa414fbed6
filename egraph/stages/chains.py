"""Sums of products with sums of products in them, in the order of additions that takes the fewest steps.

    sum_2 (sum_1 A[0,1] * B[1,2]) * x[2]   ->   sum_1 A[0,1] * (sum_2 B[1,2] * x[2])
    sum_0,2 (sum_1 A[0,1] * B[1,2])        ->   sum_1 (sum_0 A[0,1]) * (sum_2 B[1,2])

`A @ B @ x` is read from left to right, and takes as many steps as a product of matrices; so does the total of a
product.  As `einsum` of all factors, they are combined two by two, those first that make the least.

source: products distribute over sums; the order of combining is NumPy's einsum_path
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.matrix_products import factors_of
from egglift.egraph.stages.stage import Dim, Names, Reduction, number, substituted
from egglift.egraph.stages.sums import is_sum
from egglift.ir import patterns as p
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms

#: times as many steps as the best order takes, from which on what is written is not kept
WORTH = 2
MOST = 8  # factors of which all orders are looked at


def in_fewest_steps(names: Names, body: Expr) -> Expr:
    """`body` with sums of such products in the order that takes the fewest steps, where it takes far fewer."""
    new = {x: _ordered(names, r) for x, r in names.of(body) if isinstance(r, Reduction)}
    return substituted(body, {x: found for x, found in new.items() if found is not None})


@dataclass
class _Product:
    """The factors of a sum of products, of those within it too.

    dims: what all are added over; steps: how many additions there are as it is written.
    """

    names: Names
    factors: list[Expr] = field(default_factory=list)
    dims: list[Dim] = field(default_factory=list)
    steps: int = 0

    def add(self, r: Reduction) -> None:
        """The factors of a sum."""
        self.dims += r.dims
        self.steps += _volume((*self.names.free(r.element), *r.dims))
        for factor in factors_of(r.element):
            inner = self.names.reductions.get(factor.name) if isinstance(factor, p.Input) else None
            if inner is not None and is_sum(inner):
                self.add(inner)
            else:
                self.factors.append(factor)


def _ordered(names: Names, r: Reduction) -> Expr | None:
    """A sum of products in the order that takes the fewest steps; None where it is not far better."""
    if not is_sum(r) or any(_is_window(x.view) for x in reads_of(names, r.element)):
        return None
    whole = _Product(names)
    whole.add(r)
    if len(set(whole.dims)) < len(whole.dims) or not 1 < len(whole.factors) <= MOST:
        return None
    wanted = names.free(r.element) - set(r.dims)
    work = _Combining(names, r, [(e, names.free(e)) for e in whole.factors], wanted)
    if any(isinstance(d.extent, Length) for d in work.all):
        return None
    found = work.combined()
    return found if WORTH * work.steps <= whole.steps else None


@dataclass
class _Combining:
    """Factors, with what each depends on, combined two by two.  sum: how they are added; wanted: what is not added."""

    names: Names
    sum: Reduction
    factors: list[tuple[Expr, frozenset[Dim]]]
    wanted: frozenset[Dim]
    steps: int = 0

    @property
    def all(self) -> frozenset[Dim]:
        """What any factor depends on, and what is wanted."""
        return frozenset().union(self.wanted, *(dims for _, dims in self.factors))

    def combined(self) -> Expr:
        """All as one."""
        for i in range(len(self.factors)):
            self._combine((i,))
        for step in self._path():
            self._combine(step)
        return reduce(_times, (e for e, _ in self.factors))

    def _combine(self, places: Sequence[int]) -> None:
        """The factors at these places as one, in the place of the first; alone: added over what only it depends on."""
        chosen = [self.factors[i] for i in places]
        left = [f for i, f in enumerate(self.factors) if i not in places]
        if len(places) > 1 or chosen[0][1] - self.wanted.union(*(dims for _, dims in left)):
            self.factors = left
            self.factors.insert(len(left) if len(places) > 1 else places[0], self._one(chosen))

    def _path(self) -> list[tuple[int, ...]]:
        letters = {d: i for i, d in enumerate(sorted(self.all, key=lambda d: d.number))}
        arguments: list[Any] = []
        for _, dims in self.factors:
            order = sorted(dims, key=lambda d: letters[d])
            shape = tuple(number(d) for d in order)
            arguments += [np.broadcast_to(np.float32(0), shape), [letters[d] for d in order]]
        found = np.einsum_path(*arguments, [letters[d] for d in letters if d in self.wanted], optimize="optimal")
        return [tuple(step) for step in found[0][1:]]

    def _one(self, chosen: Sequence[tuple[Expr, frozenset[Dim]]]) -> tuple[Expr, frozenset[Dim]]:
        """Factors multiplied, and added over what nothing else depends on."""
        own = frozenset[Dim]().union(*(dims for _, dims in chosen))
        needed = self.wanted.union(*(dims for _, dims in self.factors))
        over = tuple(sorted(own - needed, key=lambda d: d.number))
        product = reduce(_times, (e for e, _ in chosen))
        self.steps += _volume(own)
        if over:
            product = self.names.reduced(replace(self.sum, dims=over, element=product))
        return product, own & needed


def _times(a: Expr, b: Expr) -> Expr:
    return p.Apply("mul", (a, b))


def _is_window(view: Expr) -> bool:
    """Does it depend on two dimensions together, which are then fewer than their lengths say?"""
    return any(isinstance(t, p.Slide | p.Gather) for t in subterms(view))


def _volume(dims: Sequence[Dim] | frozenset[Dim]) -> int:
    return prod(number(d) for d in set(dims))
