"""How a team of work-items shares out the elements of an array that it copies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from egglift.codegen.emission import lanes
from egglift.codegen.emission.builder import Builder, Target
from egglift.codegen.emission.vector_widths import TOGETHER, width_of
from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.index import Choice, Clamp, Index, Quotient, Remainder, Var, index
from egglift.codegen.kernel.views import View, Where, element, length
from egglift.ir.types import Array, Scalar, Type

FAR = 1 << 40  # apart, where it is not known how far
FEW = 8  # trips up to which a loop over shared copies is unrolled


@dataclass(frozen=True)
class Shares:
    """How a team shares out the elements of an array: one after the other, counted in `order` of the dimensions.

    width: how many neighbours a member takes at once, as a vector.  The order follows global memory, not the level
    of the computation: neighbours in global memory go to neighbouring members where possible.
    """

    dims: tuple[int, ...]
    order: tuple[int, ...]
    width: int
    me: Index
    team: int

    @property
    def trips(self) -> int:
        """How often a member takes its next elements."""
        return -(-prod(self.dims) // (self.width * self.team))

    def path(self, e: Index) -> list[Index]:
        """The indices, one for each dimension, of the element that is number `e` in the order."""
        found: dict[int, Index] = {}
        for d in reversed(self.order[1:]):
            e, found[d] = e // self.dims[d], e % self.dims[d]
        found[self.order[0]] = e
        return [found[d] for d in range(len(self.dims))]

    def each(self, em: Builder, one: Callable[[Index, Index], None], registers: bool = False) -> None:
        """`one(e, trip)` for the elements of this member of the team; `trip` counts how often it took some.

        registers: `trip` chooses registers, so the loop must be unrolled.
        """

        def several(q: Index) -> None:
            trip = (q - self.me) // self.team
            if self.width == 1:
                one(q, trip)
            else:
                lanes.vector(em, self.width, lambda lane: one(q * self.width + lane, trip))

        count = prod(self.dims) // self.width
        unroll = registers or (self.trips <= FEW and count % self.team == 0)
        em.strided(self.me, self.team, count, several, inside=True, unroll=unroll)


def shared_out(
    em: Builder, source: View, target: Target, dims: list[int], inner: Type, aligned: bool = False
) -> Shares:
    """How the free executors share out copying elements of type `inner` from `source` to `target`.

    aligned: vectors only where they are in both, aligned.
    """
    order = _order(em, source, target, dims)
    me, team = em.team(target.space)
    scalar = Shares(tuple(dims), tuple(order), 1, me, team)

    def pair(e: Index) -> tuple[View, View]:
        path = scalar.path(e)
        return at(source, path), at(target.view, path)

    if not isinstance(inner, Scalar) or (prod(dims) * inner.size < TOGETHER * team and not aligned):
        return scalar  # there is no vector for each
    width = width_of(em, inner, [dims[d] for d in order], TOGETHER, pair, both=aligned, aligned=aligned)
    return replace(scalar, width=width)


def dimensions(type: Type) -> tuple[list[int], Type]:
    """The lengths of nested arrays, and the type of their elements."""
    dims = []
    while isinstance(type, Array):
        dims.append(length(type))
        type = type.element
    return dims, type


def at(v: View, path: list[Index]) -> View:
    """The element of nested arrays at `path`, an index for each dimension."""
    for i in path:
        v = element(v, i)
    return v


def _order(em: Builder, source: View, target: Target, dims: list[int]) -> list[int]:
    """The dimensions, that with the smallest distance in global memory last."""
    probes = [Var(f"?{d}", n, "loop") for d, n in enumerate(dims)]
    with em.probe():
        path = [index(v) for v in probes]
        ends = [at(source, path)] if target.space != "global" else [at(target.view, path)]
    loads = [load for load in loads_in(ends) if load.buffer.space == "global"]
    if not loads:
        return list(range(len(dims)))
    # what is the same along a dimension (a mean that is subtracted) may be read in any order
    far = max(([_distance(load.at, v) for v in probes] for load in loads), key=lambda far: sum(d != 0 for d in far))
    return sorted(range(len(dims)), key=lambda d: -far[d])


def _distance(at: Index, v: Var) -> int:
    """How far apart in memory two elements are that are neighbours along `v`, away from edges and ends of rows."""
    return abs(_step(at, v))


def _step(at: Index, v: Var) -> int:
    step = 0
    for a, k in at.terms:
        match a:
            case Var():
                step += k if a == v else 0
            case Clamp(x) | Choice(_, _, x) | Remainder(x):
                step += k * _step(x, v)
            case Quotient(x, d):
                step += k * (_step(x, v) // d)
            case _ if v in a.variables():
                return FAR
    return step


def loads_in(views: list[View]) -> list[im.Load]:
    """The loads in values, a few of them."""
    found: list[im.Load] = []
    stack, steps = list(views), 0
    while stack and steps < 100:
        steps += 1
        match stack.pop():
            case im.Load() as load:
                found.append(load)
            case tuple() as parts:
                stack.extend(parts)
            case im.Call(_, args, _):
                stack.extend(args)
            case im.Guarded(_, _, inside, _):
                stack.append(inside)
            case Where() as place:
                stack.append(place.inside())
    return found
