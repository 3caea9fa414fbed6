"""Which integers of a program's inputs say places in arrays, and of how many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size
from egglift.ir.traverse import bodies, children
from egglift.ir.types import Array, Scalar, Tuple, Type

#: a scalar of an input: its name, and which of the type's leaves
Leaf: TypeAlias = tuple[str, int]
#: where a value may come from: of a scalar the leaves, of a tuple its items, of an array its elements; None: unknown
Origin: TypeAlias = "frozenset[Leaf] | tuple[Origin, ...] | None"

#: patterns of one array `x` whose elements are its elements
SAME = (p.Split, p.Join, p.Transpose, p.Stride, p.Slide, p.Pad, p.PadUp, p.Take, p.Drop, p.At, p.Roll, p.To)
#: functions of integers that are about as large as their arguments
ABOUT = ("add", "sub", "minimum", "maximum", "mod")


def places(program: Expr) -> dict[Leaf, Size]:
    """Of each leaf of the inputs whose integers are indices of `gather`, or are counted: of how many places.

    `gather (input i [i32]m) (input x [f32]n)` -> {("i", 0): n}; of several arrays, of the first.  Sums of an index and
    others, bounds and remainders of it are such, too; products are not.
    """
    found: dict[Leaf, Size] = {}
    _Walk(found).origin(program, None)
    return found


class _Walk:
    """Follows leaves to where they are used."""

    def __init__(self, found: dict[Leaf, Size]) -> None:
        self.found = found
        self.known: dict[tuple[Expr, Origin], Origin] = {}

    def origin(self, e: Expr, arg: Origin) -> Origin:
        """Where the value of `e` comes from, as its body's argument comes from `arg`."""
        if (e, arg) not in self.known:
            self.known[e, arg] = self._origin(e, arg)
        return self.known[e, arg]

    def _origin(self, e: Expr, arg: Origin) -> Origin:
        of = [self.origin(x, arg) for x in children(e)]
        match e:
            case p.Arg():
                return arg
            case p.Input(name, t):
                return _named(t, iter(range(1 << 30)), name)
            case p.Tup() | p.Zip() | p.Distl() | p.Cross():
                return tuple(of)
            case p.Get(index, _):
                return of[0][index] if isinstance(of[0], tuple) else None
            case p.Cast() | p.Fill():
                return of[0]
            case p.Apply("where", _):
                return _either(of[1], of[2])
            case p.Apply(op, _) if op in ABOUT:
                return _either(*of)
            case p.Map(body, _) | p.Iterate(_, body, _):
                return self.origin(body, of[0])
            case p.Concat():
                return _either(*of)
            case p.Gather(_, x):
                self._used(of[0], x)
                return of[1]
            case p.Sums(length, _, _):
                self._within(of[0][0] if isinstance(of[0], tuple) else None, length)
                return None
            case p.Count(length, _, _):
                self._within(of[0], length)
                return None
            case _ if isinstance(e, SAME):
                return of[0]
            case _:
                return self._computed(e, of)

    def _computed(self, e: Expr, of: list[Origin]) -> Origin:
        """The value of a reduction, a scan or a number is no input's; what its bodies read may be."""
        reduces = isinstance(e, p.Reduce | p.Fold | p.Tree | p.Scan | p.ScanSeq | p.ScanDoubling | p.ScanLinked)
        for body in bodies(e):
            self.origin(body, (None, of[-1]) if reduces else None)
        return None

    def _used(self, indices: Origin, x: Expr) -> None:
        t = type_of(x)
        assert isinstance(t, Array), t
        self._within(indices, t.length)

    def _within(self, indices: Origin, length: Size) -> None:
        for leaf in indices if isinstance(indices, frozenset) else ():
            self.found.setdefault(leaf, length)


def _named(t: Type, numbers: Iterator[int], name: str) -> Origin:
    match t:
        case Scalar():
            leaf = (name, next(numbers))
            return frozenset([leaf]) if not t.is_float else None
        case Tuple(items):
            return tuple([_named(item, numbers, name) for item in items])
        case Array(_, element):
            return _named(element, numbers, name)


def _either(*origins: Origin) -> Origin:
    """Where a value comes from that is one of several, or is made of them."""
    known = [o for o in origins if o is not None]
    scalars = [o for o in known if isinstance(o, frozenset)]
    tuples = [o for o in known if isinstance(o, tuple)]
    if scalars and len(scalars) == len(known):
        return frozenset[Leaf]().union(*scalars)
    if tuples and len(tuples) == len(origins):
        return tuple([_either(*items) for items in zip(*tuples, strict=True)])
    return None
