"""Views: what a value looks like without where it is kept.  Layout patterns only change views and never copy.

A view of an array is a length and a function from an index to the view of an element; of a tuple, a tuple of views;
of a scalar, the value.  An *acceptor* is a view whose scalars are places in memory (`Load` read as an l-value): a
layout pattern in result position is the inverse view of the acceptor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from egglift.codegen.kernel.imperative import Buffer, ScalarValue
from egglift.codegen.kernel.index import ZERO, Index, choose
from egglift.ir.errors import CodegenError
from egglift.ir.types import Array, Scalar, Tuple, Type

#: bytes that one instruction moves, and of local memory that banks hold side by side
CHUNK, LINE = 16, 128
#: in place of how far rows are rotated: an array lies as the units of warp groups read it (`exchanged`)
EXCHANGED = 8
#: bytes that such an array must begin at a multiple of
PATTERN = 1024


@dataclass(frozen=True, eq=False)
class Arr:
    """`length` elements.  parts: the arrays that it is the concatenation of, if it is one."""

    length: int
    at: Callable[[Index], View]
    parts: tuple[Arr, ...] = ()

    def __init__(self, length: int, at: Callable[[Index], View], parts: tuple[Arr, ...] = ()) -> None:
        own = self.__dict__  # as dataclasses do, in half the time: every element of a matrix is asked for by a row
        own["length"], own["at"], own["parts"] = length, at, parts


@dataclass(frozen=True, eq=False)
class Where:
    """Only in acceptors: a place that exists where `0 <= test < n`; elsewhere nothing is written."""

    test: Index
    n: int
    inside: Callable[[], View]


View: TypeAlias = "Arr | Where | tuple[View, ...] | ScalarValue"


def where(test: Index, n: int, inside: Callable[[], View]) -> View:
    """A place that exists where `0 <= test < n`; just the place, where the guards in force say that it does."""
    low, high = test.range
    return inside() if low >= 0 and high < n else Where(test, n, inside)


def element(v: View, i: Index) -> View:
    """Element `i` of an array's view or acceptor."""
    if isinstance(v, Where):
        return where(v.test, v.n, lambda: element(v.inside(), i))
    assert isinstance(v, Arr), v
    return v.at(i)


def component(v: View, k: int) -> View:
    """Component `k` of a tuple's view or acceptor."""
    if isinstance(v, Where):
        return where(v.test, v.n, lambda: component(v.inside(), k))
    assert isinstance(v, tuple), v
    return v[k]


def memory(
    type: Type,
    buffers: Iterator[Buffer],
    load: Callable[[Buffer, Index], ScalarValue],
    at: Index = ZERO,
    pad: int = 0,
    swizzle: int = 0,
) -> View:
    """The view of a value of `type` kept in `buffers` (structure of arrays, ir.types.leaves) from element `at` on.

    pad: elements left free after each row, the innermost dimension.  swizzle: how far rows are rotated, or EXCHANGED.
    """
    match type:
        case Scalar():
            return load(next(buffers), at)
        case Tuple(items):
            return tuple(memory(t, buffers, load, at, pad, swizzle) for t in items)
        case Array(n, t):
            own = [next(buffers) for _ in range(count_leaves(t))]
            n = number(n)
            if swizzle == EXCHANGED and isinstance(t, Array) and isinstance(t.element, Scalar):
                inner, size = number(t.length), t.element.size
                return Arr(
                    n,
                    lambda i: Arr(inner, lambda j: load(own[0], at * (n * inner) + exchanged(i, j, (n, inner), size))),
                )
            if swizzle and isinstance(t, Scalar):
                return Arr(n, lambda i: load(own[0], at * n + rotated(i, at, n, t.size, swizzle)))
            far = n + pad if is_flat(t) else n
            return Arr(n, lambda i: memory(t, iter(own), load, at * far + i, pad, swizzle))


def rotated(i: Index, row: Index, n: int, size: int, step: int) -> Index:
    """Where element `i` of a row lies: its chunk of 16 bytes is moved on by `step` for each row before.

    Chunks stay within 128 bytes, or within the row where that is shorter; of rows that share 128 bytes, all are moved
    alike.  So chunks of eight rows, one above the other, lie in different banks, with step 1; and two of four rows with
    step 2.  For rows of 64 bytes, f16, step 1:

    row 0: 0 1 2 3   row 2: 3 0 1 2   row 4: 2 3 0 1
    row 1: 0 1 2 3   row 3: 3 0 1 2   row 5: 2 3 0 1

    CodegenError where rows are no such chunks.
    """
    chunk = CHUNK // size
    chunks = n // chunk
    near = min(LINE // CHUNK, chunks)
    if n % chunk or not near or chunks % near or near & (near - 1):
        raise CodegenError(f"rows of {n * size} bytes cannot be rotated; choose 16, 32, 64, or a multiple of 128")
    shared = LINE // CHUNK // near
    at, inside = i // chunk, i % chunk
    return (at // near) * (near * chunk) + ((at + row // shared * step) % near) * chunk + inside


def exchanged(row: Index, column: Index, shape: tuple[int, int], size: int) -> Index:
    """Where an element lies in an array for warp groups: column by column of 128 bytes a row, whose chunks of 16 bytes
    are exchanged, chunk c of row r for c XOR r % 8.  For rows of 128 bytes:

    row 0: 0 1 2 3 4 5 6 7   row 1: 1 0 3 2 5 4 7 6   row 2: 2 3 0 1 6 7 4 5   row 3: 3 2 1 0 7 6 5 4   ...

    CodegenError where the array has no such rows.
    """
    rows, columns = shape
    chunk, line = CHUNK // size, LINE // size
    if rows % 8 or columns % line:
        raise CodegenError(f"{rows} rows of {columns * size} bytes cannot be exchanged; choose multiples of 8 and 128")
    at = _exclusive_or(column // chunk % 8, row % 8)
    return column // line * (rows * line) + row * line + at * chunk + column % chunk


def _exclusive_or(a: Index, b: Index) -> Index:
    """Of numbers below 8, bit by bit."""
    return (a // 4 + b // 4) % 2 * 4 + (a // 2 + b // 2) % 2 * 2 + (a + b) % 2


def count_leaves(type: Type) -> int:
    """How many buffers hold a value of `type`."""
    match type:
        case Scalar():
            return 1
        case Tuple(items):
            return sum(map(count_leaves, items))
        case Array(_, t):
            return count_leaves(t)


def number(n: object) -> int:
    """A length as the number that it is by now."""
    assert isinstance(n, int), f"length {n} is still a symbol; instantiate the program first"
    return n


def length(type: Type) -> int:
    """The length of an array type."""
    assert isinstance(type, Array), type
    return number(type.length)


def volume(type: Type) -> int:
    """How many scalars a value of `type` has."""
    match type:
        case Scalar():
            return 1
        case Tuple(items):
            return sum(map(volume, items))
        case Array(n, t):
            return number(n) * volume(t)


def is_flat(type: Type) -> bool:
    """Is a value of `type` a scalar or a tuple of scalars (kept in registers, no array)?"""
    match type:
        case Scalar():
            return True
        case Tuple(items):
            return all(map(is_flat, items))
        case Array():
            return False


# ---------------------------------------------------------------------------------------- layout


def split(v: View, n: int, total: int) -> Arr:
    """Chunks of `n` of an array of `total`."""
    return Arr(total // n, lambda i: Arr(n, lambda j: element(v, i * n + j)))


def join(v: View, outer: int, inner: int) -> Arr:
    """The elements of `outer` arrays of `inner`, one after the other."""
    if outer == 1:
        return Arr(inner, lambda i: element(element(v, ZERO), i))
    if inner == 1:
        return Arr(outer, lambda i: element(element(v, i), ZERO))
    n = max(1, inner)  # of no elements none is read
    return Arr(outer * inner, lambda i: element(element(v, i // n), i % n))


def transpose(v: View, outer: int, inner: int) -> Arr:
    """Rows and columns of `outer` rows of `inner` exchanged."""
    return Arr(inner, lambda i: Arr(outer, lambda j: element(element(v, j), i)))


def stride(v: View, s: int, total: int) -> Arr:
    """`y[i] = x[i div n + s * (i mod n)]`, n = total / s; its inverse is the stride by n."""
    n = max(1, total // s)
    return Arr(total, lambda i: element(v, i // n + (i % n) * s))


def part(v: View, start: int, n: int) -> Arr:
    """`n` elements from `start` on."""
    return Arr(n, lambda i: element(v, i + start))


def widened(v: View, start: int, n: int, total: int) -> Arr:
    """An acceptor of `total` elements, of which `v` takes the `n` from `start` on: the inverse of `part`."""
    return Arr(total, lambda i: where(i - start, n, lambda: element(v, i - start)))


def mirrored(i: Index, n: int) -> Index:
    """An index before or behind 0..n-1, reflected into it with the edge repeated (NumPy's "symmetric")."""
    low, high = i.range
    if low < -n or high >= 2 * n:
        i = i % (2 * n)
    return choose(i, n, i, choose(-1 - i, n, -1 - i, 2 * n - 1 - i, n), n)


def reflected(i: Index, n: int) -> Index:
    """An index before or behind 0..n-1, reflected into it without the edge (NumPy's "reflect")."""
    low, high = i.range
    if low <= -n or high >= 2 * n - 1:
        i = i % max(2 * n - 2, 1)
    return choose(i, n, i, choose(0 - i, n, 0 - i, 2 * n - 2 - i, n), n)


def wrapped(i: Index, n: int) -> Index:
    """An index before or behind 0..n-1, taken modulo n."""
    low, high = i.range
    if low < -n or high >= 2 * n:
        return i % n
    return choose(i, n, i, choose(i + n, n, i + n, i - n, n), n)
