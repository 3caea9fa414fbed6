"""The low-level patterns of scans: how partial results are computed (patterns.py has all patterns)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from egglift.ir.node import Node

if TYPE_CHECKING:
    from egglift.ir.patterns import Body, Expr


@dataclass(frozen=True, eq=False, repr=False)
class ScanSeq(Node, type="((s, t) -> (s, r)) -> s -> [t]n -> [r]n"):
    """`scanSeq f z [x0, x1, ...] = [y0, y1, ...]` with `<z1, y0> = f <z, x0>`, `<z2, y1> = f <z1, x1>`, ...: in order.

    `body` is over an accumulator and an element; it gives the next accumulator and what is kept (mapAccumL).
    """

    body: Body
    init: Expr
    x: Expr


@dataclass(frozen=True, eq=False, repr=False)
class ScanDoubling(Node, type="((t, t) -> t) -> t -> [t]n -> [t]n"):
    """`scanDoubling (+) z x = scan (+) z x`, by doubling: y[i] = y[i-d] + y[i] for d = 1, 2, 4, ..., all i at once.

    `body` is the operator's, over `Arg(Tuple((T, T)))`; it must be associative.  Executed by a work-group in local
    memory, or by one work-item in private memory.  `z` is combined in at the end.
    """

    body: Body
    init: Expr
    x: Expr


@dataclass(frozen=True, eq=False, repr=False)
class ScanLinked(Node, type="((s, s) -> s) -> ((s, t) -> (s, r)) -> s -> [t]n -> [r]n"):
    """`scanLinked (+) f z [x0, x1, ...] = [y0, y1, ...]` with `<t0, y0> = f <z, x0>`, `<t1, y1> = f <z + t0, x1>`, ...

    `op` is the operator's body, which must be associative; the total `t` of an element must not depend on what precedes
    it.  Executed by a work-group for each element: it makes its total known, and adds up those of the groups before it
    that are known already.  Groups take their elements in the order in which they start, and so wait for none that has
    not started.
    """

    op: Body
    body: Body
    init: Expr
    x: Expr
