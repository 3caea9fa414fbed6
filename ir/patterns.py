"""The patterns: what a program is made of, high level (what to compute) and low level (how).

Every function body is *closed*: its one free variable is `Arg(type)`, its own argument.  What a lambda
captured has been passed in by `Distl` or `Zip`; whole-program inputs and other closed expressions may appear
anywhere.  Equal functions are therefore equal values, and nothing here ever renames or shifts a variable.

Equations use [x0, x1, ...] for arrays, <a, b> for tuples and juxtaposition for application.

A class says all that is known of its pattern but what it computes.  The annotations of its fields are its slots
(forms.py): `Expr` in the scope of the same Arg, `Body` in a scope of its own, `Size` a length.  `type` is its type
(schemes.py): of the slots that are programs, in order, and of the result; lengths are the names of fields, or
variables.  `needs` are conditions on lengths and types, each with the message where it does not hold.  Text form,
checker, encoding, typing rules of the e-graph and random instances follow from these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from egglift.ir.levels import LEVELS as LEVELS
from egglift.ir.levels import Level as Level
from egglift.ir.node import Node, pattern
from egglift.ir.sizes import Size
from egglift.ir.types import Scalar, Type

#: the annotation of a slot that holds a body
Body: TypeAlias = "Expr"


@pattern
class Arg(Node, type="type"):
    """The argument of the enclosing body."""

    type: Type


@pattern
class Input(Node, type="type"):
    """An input of the whole program."""

    name: str
    type: Type


@pattern
class Literal(Node, type="type"):
    """A number written in the program.  `value` is a Python bool, int or float that `type` can hold."""

    value: bool | int | float
    type: Scalar


@pattern
class Constant(Node, type="type"):
    """A literal array: `data` holds its elements in C order, native byte order, as bytes."""

    type: Type
    data: bytes


@pattern
class Iota(
    Node,
    type="[type]length",
    needs={
        "0 <= length": "{length} elements; it must be 0 or more",
        "type is integer": "iota counts in integers, not in {type}; cast it afterwards",
    },
):
    """`iota n = [0, 1, ..., n-1]` as integers of `type`."""

    length: Size
    type: Scalar


@pattern
class Fill(Node, type="t -> [t]length", needs={"0 <= length": "{length} elements; it must be 0 or more"}):
    """`fill n x = [x, x, ..., x]`, n times."""

    length: Size
    x: Expr


# ---------------------------------------------------------------------------------------- scalars and tuples


@pattern
class Apply(Node):
    """A scalar function by its name in `ir/scalars.py` (NumPy's: add, multiply as mul, where, exp, ...)."""

    op: str
    args: tuple[Expr, ...]


@pattern
class Cast(Node, type="s -> type", needs={"s is scalar": "the value to cast is {s}, not a scalar"}):
    """`x` converted to another scalar type (ir/conversions.py)."""

    type: Scalar
    x: Expr


@pattern
class Tup(Node, type="s -> t -> (s, t)"):
    """`<a, b, ...>`, two or more."""

    items: tuple[Expr, ...]


@pattern
class Get(Node):
    """`get i <x0, x1, ...> = xi`."""

    index: int
    x: Expr


# ---------------------------------------------------------------------------------------- computing patterns


@pattern
class Map(Node, type="(s -> t) -> [s]n -> [t]n"):
    """`map f [x0, x1, ...] = [f x0, f x1, ...]`.  level None: not yet decided; else a low-level map."""

    body: Body
    x: Expr
    level: Level | None = None


@dataclass(frozen=True)
class Operator:
    """A binary operator with what is known about it.

    `body` is closed over `Arg(Tuple((T, T)))`.  `neutral` is a closed expression e with `e + x = x = x + e`,
    or None where there is none.
    """

    name: str
    body: Body
    associative: bool
    commutative: bool
    neutral: Expr | None = None


@pattern
class Reduce(Node, type="((t, t) -> t) -> t -> [t]n -> t"):
    """`reduce (+) z [x0, ..., xn] = z + x0 + ... + xn`, in any association: (+) must be associative."""

    op: Operator
    init: Expr
    x: Expr


@pattern
class Fold(Node, type="((s, t) -> s) -> s -> [t]n -> [u]n -> s"):
    """`fold f z [x0, x1, ...] = ... f <f <z, x0>, x1> ...`: strictly left to right (reduceSeq).

    `body` is over `Arg(Tuple((A, T)))`, the accumulator and an element; the accumulator may be an array.

    prefetch: when what the body keeps in local memory of an element (toLocal) is loaded; the value is the same.
    0: when its step begins.  1: into registers, before the step of the element before it computes.  2: so too,
    and kept in one of two buffers in turn.  buffers, instead: asynchronous copies fill so many in turn, steps ahead.
    matrix: do the lanes of a warp take its steps together, on matrix units?  The body then adds products to an array
    that is spread over them, and the sums may be of any order.  ends: bools, of which the first that is true, if any,
    says that no step from there on changes the accumulator: a loop may end there.
    """

    body: Body
    init: Expr
    x: Expr
    unroll: bool = False
    prefetch: Size = 0
    matrix: bool = False
    buffers: Size = 0
    ends: Expr | None = None


@pattern
class Tree(Node, type="((t, t) -> t) -> t -> [t]n -> t"):
    """`tree (+) z x = reduce (+) z x`, by halving: combine x[i] with x[i + ceil(n/2)] until one is left.

    `body`: of an associative, commutative operator.  By a group in local, or an item in private memory; `z` comes last.
    """

    body: Body
    init: Expr
    x: Expr


@pattern
class Scan(Node, type="((t, t) -> t) -> t -> [t]n -> [t]n"):
    """`scan (+) z [x0, x1, ...] = [z + x0, z + x0 + x1, ...]`, (+) associative, of scalars or tuples of scalars."""

    op: Operator
    init: Expr
    x: Expr


@pattern
class ScanSeq(Node, type="((s, t) -> (s, r)) -> s -> [t]n -> [r]n"):
    """`scanSeq f z [x0, x1, ...] = [y0, y1, ...]` with `<z1, y0> = f <z, x0>`, `<z2, y1> = f <z1, x1>`, ...: in order.

    `body` is over an accumulator and an element; it gives the next accumulator and what is kept (mapAccumL).
    """

    body: Body
    init: Expr
    x: Expr


@pattern
class ScanDoubling(Node, type="((t, t) -> t) -> t -> [t]n -> [t]n"):
    """`scanDoubling (+) z x = scan (+) z x`, by doubling: y[i] = y[i-d] + y[i] for d = 1, 2, 4, ..., all i at once.

    `body` is an associative operator's.  Executed by a group in local, or one item in private memory; `z` comes last.
    """

    body: Body
    init: Expr
    x: Expr


@pattern
class ScanLinked(Node, type="((s, s) -> s) -> ((s, t) -> (s, r)) -> s -> [t]n -> [r]n"):
    """`scanLinked (+) f z [x0, x1, ...] = [y0, y1, ...]` with `<t0, y0> = f <z, x0>`, `<t1, y1> = f <z + t0, x1>`, ...

    `op` is associative; no total depends on what precedes it.  A group for each element, in the order of their starts.
    """

    op: Body
    body: Body
    init: Expr
    x: Expr
    rows: Size = 1  # scans: the first elements of all, then their second ones, ...


@pattern
class Count(
    Node,
    type="[s]n -> [type]length",
    needs={"0 <= length": "{length} counts; it must be 0 or more", "s is integer": "integers are counted, not {s}"},
):
    """`count n [i0, i1, ...]`: how many of the integers are 0, how many are 1, ..., n-1; as i32 or u32 (`type`)."""

    length: Size
    type: Type
    x: Expr


@pattern
class Sums(Count, type="[(s, type)]n -> [type]length", needs=Count._scheme[1]):
    """`sums n [<i0, x0>, ...]`: the sums of what is beside 0, ..., beside n-1, in `type`, a scalar or a tuple."""


@pattern
class Iterate(Node, type="(t -> t) -> t -> t", needs={"0 <= count": "{count} iterations; it must be 0 or more"}):
    """`iterate n f x = f (f ... (f x))`, n times; `f: T -> T`."""

    count: Size
    body: Body
    x: Expr


# ------------------------------------------------------------------------------------ layout patterns (views)


@pattern
class Zip(Node, type="[s]n -> [t]n -> [(s, t)]n"):
    """`zip [a0, ...] [b0, ...] ... = [<a0, b0, ...>, ...]`; all of one length."""

    arrays: tuple[Expr, ...]


@pattern
class Distl(Node, type="s -> [t]n -> [(s, t)]n"):
    """`distl a [b0, b1, ...] = [<a, b0>, <a, b1>, ...]`: how a body is given what its lambda captured."""

    a: Expr
    b: Expr


@pattern
class Cross(Node, type="[s]n -> [t]m -> [[(s, t)]m]n"):
    """`cross [a0, ...] [b0, ...] = [[<a0, b0>, <a0, b1>, ...], [<a1, b0>, ...], ...]` (allpairs)."""

    a: Expr
    b: Expr


@pattern
class Split(
    Node,
    type="[t]l -> [[t]n](l/n)",
    needs={
        "1 <= n": "{n} is not a chunk length; it must be 1 or more",
        "n divides l": "{n} does not divide {l}; use pad_up({n}, ...) or take a part",
    },
):
    """`split n [x0, ...] = [[x0, ..., x(n-1)], [xn, ...], ...]`; n divides the length.  (splitVec too.)"""

    n: Size
    x: Expr


@pattern
class Join(Node, type="[[t]m]n -> [t](n*m)"):
    """`join [[x0, ...], [y0, ...], ...] = [x0, ..., y0, ...]`: the inverse of split.  (joinVec too.)"""

    x: Expr


@pattern
class Transpose(Node, type="[[t]m]n -> [[t]n]m"):
    """`transpose x = y` with `y[i][j] = x[j][i]`."""

    x: Expr


@pattern
class Stride(
    Node,
    type="[t]n -> [t]n",
    needs={
        "1 <= s": "{s} is not a stride; it must be 1 or more",
        "s divides n": "{s} does not divide {n}; use pad_up({s}, ...) or take a part",
    },
):
    """`reorderStride s x = y` with `y[i] = x[i div n + s * (i mod n)]`, n = length / s (seed 000, eq. 19)."""

    s: Size
    x: Expr


@pattern
class Slide(
    Node,
    type="[t]l -> [[t]size](((l-size)/step)+1)",
    needs={
        "1 <= size": "a window of {size} elements; it must be 1 or more",
        "1 <= step": "a step of {step} elements; it must be 1 or more",
        "size <= l": "windows of {size} over an array of {l}; pad it first",
    },
):
    """`slide n s x = [[x0 .. x(n-1)], [xs .. x(s+n-1)], ...]`: floor((length - n) / s) + 1 windows."""

    size: Size
    step: Size
    x: Expr


@pattern
class Pad(
    Node,
    type="[t]n -> t -> [t]((n+left)+right)",
    needs={
        "0 <= left": "{left} elements of padding; it must be 0 or more",
        "0 <= right": "{right} elements of padding; it must be 0 or more",
    },
):
    """`pad l r mode x`: l elements before and r after.  mode: clamp, mirror, reflect, wrap, or constant (`value`).

    mirror repeats the edge (`x1 x0 | x0 x1`), as seed 003 and NumPy's "symmetric"; reflect does not (`x2 x1 | x0 x1`).
    """

    left: Size
    right: Size
    mode: str
    x: Expr
    value: Expr | None = None


@pattern
class PadUp(
    Node,
    type="[t]n -> t -> [t](((n+(multiple-1))/multiple)*multiple)",
    needs={"1 <= multiple": "{multiple} as the multiple; it must be 1 or more"},
):
    """`padUp k v x`: `v` appended until k divides the length; with v None, the last element repeated."""

    multiple: Size
    x: Expr
    value: Expr | None = None


@pattern
class Take(Node, type="[t]l -> [t]n", needs={"0 <= n <= l": "{n} elements are taken of {l}"}):
    """`take n x = [x0, ..., x(n-1)]`."""

    n: Size
    x: Expr


@pattern
class Drop(Node, type="[t]l -> [t](l-n)", needs={"0 <= n <= l": "{n} elements are dropped of {l}"}):
    """`drop n x = [xn, x(n+1), ...]`."""

    n: Size
    x: Expr


@pattern
class Concat(Node, type="[t]n -> [t]m -> [t](n+m)"):
    """`concat [a0, ...] [b0, ...] = [a0, ..., b0, ...]`."""

    a: Expr
    b: Expr


@pattern
class Gather(
    Node, type="[s]m -> [t]n -> [t]m", needs={"s is integer": "indices are {s}; gather takes integers: cast them"}
):
    """`gather [i0, i1, ...] x = [x[i0], x[i1], ...]`; indices are integers, clamped into 0..length-1."""

    indices: Expr
    x: Expr


@pattern
class At(Node, type="[t]n -> t", needs={"0 <= index < n": "index {index} is outside 0..{(n-1)}"}):
    """`at i x = xi`, i a number (negative counts from the end is resolved by the notation)."""

    index: Size
    x: Expr


@pattern
class Roll(Node, type="[t]l -> [t]l", needs={"0 <= n <= l": "{n} elements are rolled to the front of {l}"}):
    """`roll n [x0, ..., x(l-1)] = [x(l-n), ..., x(l-1), x0, ..., x(l-n-1)]`: NumPy's roll, for 0 <= n <= l."""

    n: Size
    x: Expr


#: layout patterns of one array that put each of its elements into one place, or leave it out: whatever computes the
#: array can be told where its elements go
REARRANGING = (Split, Join, Transpose, Stride, Take, Drop, Roll)

# ---------------------------------------------------------------------------------------- memory


SPACES = ("global", "local", "private")


@pattern
class To(Node, type="t -> t", needs={"0 <= pad": "{pad} elements of padding; it must be 0 or more"}):
    """`toGlobal x = toLocal x = toPrivate x = x`: where `x` is kept.  space: global, local or private.

    The value is computed once, where the enclosing body binds its argument (a closed one: in a kernel of its own, if
    global).  In local memory, such that columns are in different banks: pad, elements left free after each row of an
    array of arrays (seed 003: increase); or swizzle, chunks of 16 bytes by which rows are rotated (8: for warp groups).
    """

    space: str
    x: Expr
    pad: Size = 0
    swizzle: Size = 0


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
    | Scan
    | ScanSeq
    | ScanDoubling
    | ScanLinked
    | Count
    | Sums
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
    | Roll
    | Concat
    | Gather
    | At
    | To
)
