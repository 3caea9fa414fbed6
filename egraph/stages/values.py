"""What a pattern is in index notation: a scalar body, an array that is read or computed, or a tuple of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from egglift.egraph.stages.as_pattern import ordered
from egglift.egraph.stages.loops import Tensor, nest
from egglift.egraph.stages.stage import Dim, Read
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size
from egglift.ir.types import Array, Tuple, Type


@dataclass(frozen=True)
class View:
    """An array, or a tuple with arrays, that is read: its outer axes are at `dims` already."""

    expr: Expr
    dims: tuple[Dim, ...]

    def laid(self, f: Callable[[Expr], Expr]) -> View:
        """The view with a layout of what it has no dimension for yet."""
        return View(at_depth(len(self.dims), self.expr, f), self.dims)

    def part(self, i: int) -> View:
        """Component `i` of a tuple."""
        return self.laid(lambda e: p.Get(i, e))

    @property
    def type(self) -> Type:
        """The type of what it has no dimension for yet."""
        return type_at(self.expr, len(self.dims))

    @property
    def length(self) -> Size:
        """How many elements it has: its type is that of an array."""
        assert isinstance(self.type, Array)
        return self.type.length


@dataclass(frozen=True)
class Computed:
    """The array of `element` for every index of `dim`."""

    dim: Dim
    element: Value


@dataclass(frozen=True)
class Tuples:
    """A tuple of values."""

    items: tuple[Value, ...]


#: a scalar body, or one of the above
Value = Expr | View | Computed | Tuples


def type_at(expr: Expr, depth: int) -> Type:
    """The type of what lies so many axes down."""
    t = type_of(expr)
    for _ in range(depth):
        assert isinstance(t, Array)
        t = t.element
    return t


def laid_together(views: Sequence[View], f: Callable[..., Expr]) -> View:
    """`f` of several arrays that are read, at all dimensions of theirs."""
    dims = tuple(dict.fromkeys(d for v in views for d in v.dims))
    tensors = [Tensor(*ordered(Read(v.expr, v.dims), dims)) for v in views]
    return View(nest([(d, None) for d in dims], tensors, lambda ts: f(*(t.x for t in ts))), dims)


def unpacked(x: Expr) -> Value:
    """A body as a tuple of its components, if its type is one."""
    if isinstance(x, p.Tup):
        return Tuples(tuple(unpacked(i) for i in x.items))
    t = type_of(x)
    if isinstance(t, Tuple):
        return Tuples(tuple(unpacked(p.Get(i, x)) for i in range(len(t.items))))
    return x
