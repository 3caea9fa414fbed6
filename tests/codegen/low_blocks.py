"""Tiled products written by hand: blocks of registers for a work-item, tiles in local memory for a work-group."""

from __future__ import annotations

from collections.abc import Callable

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import F32, Array, Scalar, Tuple
from tests.codegen.low import elem, fmap, lit, op, total, vector

Body = Callable[[Expr], Expr]
Tile = Callable[[Expr, Expr], Expr]


def both(t: Expr) -> tuple[Expr, Expr]:
    """The components of a pair."""
    return p.Get(0, t), p.Get(1, t)


def size(x: Expr) -> int:
    """The length of an array."""
    t = type_of(x)
    assert isinstance(t, Array) and isinstance(t.length, int)
    return t.length


def by_vectors(f: Body, x: Expr, width: int, kind: str = "unroll") -> Expr:
    """`map f x` by vectors: concat (join (map (mapVec f) (split v (take m x)))) (map f (drop m x))."""
    m = size(x) // width * width
    vectors = p.Join(fmap(lambda chunk: fmap(f, chunk, "vec"), p.Split(width, p.Take(m, x)), kind))
    return p.Concat(vectors, fmap(f, p.Drop(m, x), kind))


def registers(width: int, steps: int = 1, t: Scalar = F32) -> Tile:
    """The product of some rows and some columns in the registers of one work-item.

    fold (\\(c, (a, b)). map (map h) (zip2 c (a x b))) 0 (zip (transpose rows) (transpose columns)); steps: of the
    fold that are unrolled, with fold h z x = fold h (fold (\\(c, y). fold h c y) z (split k (take m x))) (drop m x).
    """

    def tile(rows: Expr, columns: Expr) -> Expr:
        zero = p.Fill(size(rows), p.Fill(size(columns), lit(0.0, t)))
        xs = p.Zip((p.Transpose(rows), p.Transpose(columns)))
        step = _outer_product(p.Arg(Tuple((type_of(zero), elem(xs)))), width)
        if steps == 1:
            return p.Fold(step, zero, xs)
        m = size(xs) // steps * steps
        chunks = p.Split(steps, p.Take(m, xs))
        chunk = p.Arg(Tuple((type_of(zero), elem(chunks))))
        return p.Fold(step, p.Fold(p.Fold(step, *both(chunk), unroll=True), zero, chunks), p.Drop(m, xs))

    return tile


def _outer_product(arg: Expr, width: int) -> Expr:
    def multiply_add(e: Expr) -> Expr:
        a, b = both(p.Get(1, e))
        return op("add", p.Get(0, e), op("mul", a, b))

    sums, (a, b) = p.Get(0, arg), both(p.Get(1, arg))
    return fmap(lambda row: by_vectors(multiply_add, p.Zip(both(row)), width), p.Zip((sums, p.Cross(a, b))), "unroll")


def staged(rows: Expr, columns: Expr) -> Expr:
    """The product of rows and columns in local memory, an element for each work-item."""
    pairs = p.Cross(p.To("local", rows), p.To("local", columns))

    def dot(e: Expr) -> Expr:
        return total(fmap(lambda ab: op("mul", *both(ab)), p.Zip(both(e))))

    return fmap(lambda row: fmap(dot, row, "local", 0), pairs, "local", 1)


def packed(tiles: Expr, width: int) -> Expr:
    """The tiles transposed, by a kernel of its own; what is read looks as before."""
    copied = fmap(lambda t: fmap(lambda k: by_vectors(lambda e: e, k, width), p.Transpose(t), "seq"), tiles, "global")
    return fmap(p.Transpose, p.To("global", copied))


def product(
    shape: tuple[int, int, int], m: int, n: int, tile: Tile, level: str = "global", pack: int = 0, t: Scalar = F32
) -> Expr:
    """A [M][K] times B [K][N] by tiles of m x n.

    take M (map (take N) (join2 (map (map tile) (split m (padUp m A) x split n (padUp n (transpose B))))));
    pack: the width of vectors that copy the tiles of B to memory of their own first; 0 for reading B as it is.
    """
    M, N, K = shape
    rows = p.Split(m, p.PadUp(m, vector("A", M, K, t=t)))
    columns: Expr = p.Split(n, p.PadUp(n, p.Transpose(vector("B", K, N, t=t))))
    if pack:
        columns = packed(columns, pack)
    tiles = fmap(lambda row: fmap(lambda ab: tile(*both(ab)), row, level, 0), p.Cross(rows, columns), level, 1)
    joined = p.Join(fmap(lambda row: fmap(p.Join, p.Transpose(row)), tiles))
    return p.Take(M, fmap(lambda row: p.Take(N, row), joined))
