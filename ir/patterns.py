"""The patterns: what a program is made of, high level (what to compute) and low level (how).

Every function body is *closed*: its one free variable is `Arg(type)`, its own argument.  What a lambda
captured has been passed in by `Distl` or `Zip`; whole-program inputs and other closed expressions may appear
anywhere.  Equal functions are therefore equal values, and nothing here ever renames or shifts a variable.

Equations use [x0, x1, ...] for arrays, <a, b> for tuples and juxtaposition for application.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from egglift.ir.node import Node
from egglift.ir.sizes import Size
from egglift.ir.types import Scalar, Type

# ---------------------------------------------------------------------------------------- leaves


@dataclass(frozen=True, eq=False, repr=False)
class Arg(Node):
    """The argument of the enclosing body."""

    type: Type


@dataclass(frozen=True, eq=False, repr=False)
class Input(Node):
    """An input of the whole program."""

    name: str
    type: Type


@dataclass(frozen=True, eq=False, repr=False)
class Literal(Node):
    """A number written in the program.  `value` is a Python bool, int or float that `type` can hold."""

    value: bool | int | float
    type: Scalar


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Node):
    """A literal array: `data` holds its elements in C order, native byte order, as bytes."""

    type: Type
    data: bytes


@dataclass(frozen=True, eq=False, repr=False)
class Iota(Node):
    """`iota n = [0, 1, ..., n-1]` as integers of `type`."""

    length: Size
    type: Scalar


@dataclass(frozen=True, eq=False, repr=False)
class Fill(Node):
    """`fill n x = [x, x, ..., x]`, n times."""

    length: Size
    x: Expr


# ---------------------------------------------------------------------------------------- scalars and tuples


@dataclass(frozen=True, eq=False, repr=False)
class Apply(Node):
    """A scalar function by its name in `ir/scalars.py` (NumPy's: add, multiply as mul, where, exp, ...)."""

    op: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Cast(Node):
    """`x` converted to another scalar type, as NumPy's astype does."""

    type: Scalar
    x: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Tup(Node):
    """`<a, b, ...>`, two or more."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Get(Node):
    """`get i <x0, x1, ...> = xi`."""

    index: int
    x: Expr


# ---------------------------------------------------------------------------------------- computing patterns


@dataclass(frozen=True)
class Level:
    """Who executes the iterations of a map.  `kind` is one of LEVELS; `dim` is 0, 1 or 2."""

    kind: str
    dim: int = 0

    def __str__(self) -> str:
        return f"{self.kind}{self.dim}" if self.kind in ("global", "workgroup", "local") else self.kind


#: mapGlobal, mapWorkgroup, mapLocal (with a dimension), mapWarp, mapLane, mapSeq, mapSeqUnroll, mapVec
LEVELS = ("global", "workgroup", "local", "warp", "lane", "seq", "unroll", "vec")


@dataclass(frozen=True, eq=False, repr=False)
class Map(Node):
    """`map f [x0, x1, ...] = [f x0, f x1, ...]`.  level None: not yet decided; else a low-level map."""

    body: Expr
    x: Expr
    level: Level | None = None


@dataclass(frozen=True)
class Operator:
    """A binary operator with what is known about it.

    `body` is closed over `Arg(Tuple((T, T)))`.  `neutral` is a closed expression e with `e + x = x = x + e`,
    or None where there is none.
    """

    name: str
    body: Expr
    associative: bool
    commutative: bool
    neutral: Expr | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Reduce(Node):
    """`reduce (+) z [x0, ..., xn] = z + x0 + ... + xn`, in any association: (+) must be associative."""

    op: Operator
    init: Expr
    x: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Fold(Node):
    """`fold f z [x0, x1, ...] = ... f <f <z, x0>, x1> ...`: strictly left to right (reduceSeq).

    `body` is over `Arg(Tuple((A, T)))`, the accumulator and an element; the accumulator may be an array.

    prefetch: when what the body keeps in local memory of an element (toLocal) is loaded; the value is the same.
    0: when its step begins.  1: into registers, before the step of the element before it computes.  2: so too,
    and kept in one of two buffers in turn.
    """

    body: Expr
    init: Expr
    x: Expr
    unroll: bool = False
    prefetch: Size = 0


@dataclass(frozen=True, eq=False, repr=False)
class Tree(Node):
    """`tree (+) z x = reduce (+) z x`, by halving: combine x[i] with x[i + ceil(n/2)] until one is left.

    `body` is the operator's, over `Arg(Tuple((T, T)))`; it must be associative and commutative.  Executed by
    a work-group in local memory or by one work-item in private memory.  `z` is combined in once, at the end.
    """

    body: Expr
    init: Expr
    x: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Iterate(Node):
    """`iterate n f x = f (f ... (f x))`, n times; `f: T -> T`."""

    count: Size
    body: Expr
    x: Expr


# ------------------------------------------------------------------------------------ layout patterns (views)


@dataclass(frozen=True, eq=False, repr=False)
class Zip(Node):
    """`zip [a0, ...] [b0, ...] ... = [<a0, b0, ...>, ...]`; all of one length."""

    arrays: tuple[Expr, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Distl(Node):
    """`distl a [b0, b1, ...] = [<a, b0>, <a, b1>, ...]`: how a body is given what its lambda captured."""

    a: Expr
    b: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Cross(Node):
    """`cross [a0, ...] [b0, ...] = [[<a0, b0>, <a0, b1>, ...], [<a1, b0>, ...], ...]` (allpairs)."""

    a: Expr
    b: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Split(Node):
    """`split n [x0, ...] = [[x0, ..., x(n-1)], [xn, ...], ...]`; n divides the length.  (splitVec too.)"""

    n: Size
    x: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Join(Node):
    """`join [[x0, ...], [y0, ...], ...] = [x0, ..., y0, ...]`: the inverse of split.  (joinVec too.)"""

    x: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Transpose(Node):
    """`transpose x = y` with `y[i][j] = x[j][i]`."""

    x: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Stride(Node):
    """`reorderStride s x = y` with `y[i] = x[i div n + s * (i mod n)]`, n = length / s (seed 000, eq. 19)."""

    s: Size
    x: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Slide(Node):
    """`slide n s x = [[x0 .. x(n-1)], [xs .. x(s+n-1)], ...]`: floor((length - n) / s) + 1 windows."""

    size: Size
    step: Size
    x: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Pad(Node):
    """`pad l r mode x`: l elements before and r after.  mode: clamp, mirror, wrap, or constant (`value`).

    mirror repeats the edge (`x1 x0 | x0 x1`), as seed 003 does and NumPy's "symmetric".
    """

    left: Size
    right: Size
    mode: str
    x: Expr
    value: Expr | None = None


@dataclass(frozen=True, eq=False, repr=False)
class PadUp(Node):
    """`padUp k v x`: `v` appended until k divides the length; with v None, the last element repeated."""

    multiple: Size
    x: Expr
    value: Expr | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Take(Node):
    """`take n x = [x0, ..., x(n-1)]`."""

    n: Size
    x: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Drop(Node):
    """`drop n x = [xn, x(n+1), ...]`."""

    n: Size
    x: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Concat(Node):
    """`concat [a0, ...] [b0, ...] = [a0, ..., b0, ...]`."""

    a: Expr
    b: Expr


@dataclass(frozen=True, eq=False, repr=False)
class Gather(Node):
    """`gather [i0, i1, ...] x = [x[i0], x[i1], ...]`; indices are integers, clamped into 0..length-1."""

    indices: Expr
    x: Expr


@dataclass(frozen=True, eq=False, repr=False)
class At(Node):
    """`at i x = xi`, i a number (negative counts from the end is resolved by the notation)."""

    index: Size
    x: Expr


# ---------------------------------------------------------------------------------------- memory


@dataclass(frozen=True, eq=False, repr=False)
class To(Node):
    """`toGlobal x = toLocal x = toPrivate x = x`: where `x` is kept.  space: global, local or private.

    The value is computed once, where the enclosing body binds its argument (a closed one: in a kernel of
    its own, if global).  pad: elements left free after each row (the innermost dimension) of an array of arrays
    in local memory, such that work-items that read a column use different banks (seed 003: increase).
    """

    space: str
    x: Expr
    pad: Size = 0


Expr: TypeAlias = (
    Arg
    | Input
    | Literal
    | Constant
    | Iota
    | Fill
    | Apply
    | Cast
    | Tup
    | Get
    | Map
    | Reduce
    | Fold
    | Tree
    | Iterate
    | Zip
    | Distl
    | Cross
    | Split
    | Join
    | Transpose
    | Stride
    | Slide
    | Pad
    | PadUp
    | Take
    | Drop
    | Concat
    | Gather
    | At
    | To
)
