"""Terms of tiled kernels: matrix products, a tile for each work-group, and all pairs, with a tile in local memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import Tuple
from tests.codegen.low import elem, fmap, lit, op, vector

F, S = 0, 1


def get(x: Expr, *path: int) -> Expr:
    """A component of a component of `x`."""
    for i in path:
        x = p.Get(i, x)
    return x


def zip2(x: Expr, y: Expr) -> Expr:
    """Two matrices as one of pairs."""
    return fmap(lambda rows: p.Zip((get(rows, F), get(rows, S))), p.Zip((x, y)))


def join2(x: Expr) -> Expr:
    """A matrix of tiles as a matrix."""
    return p.Join(fmap(lambda r: fmap(p.Join, p.Transpose(r)), x))


def zeros(*shape: int) -> Expr:
    """An array of zeros."""
    x: Expr = lit(0.0)
    for n in reversed(shape):
        x = p.Fill(n, x)
    return x


def deal(q: int, v: int, x: Expr) -> Expr:
    """Elements for each of `q` work-items: chunks of `v` in turn."""
    return fmap(p.Join, p.Transpose(p.Split(q, p.Split(v, x))))


def undeal(v: int, x: Expr) -> Expr:
    """The inverse of `deal`."""
    return p.Join(p.Join(p.Transpose(fmap(lambda r: p.Split(v, r), x))))


@dataclass(frozen=True)
class Tile:
    """A work-group computes m x n elements of a product in steps of k; a work-item r x c, dealt in chunks of v.

    warp: if not 0, the work-items of a row are in two dimensions, `warp` in dimension 0.  square: the accumulator is
    the tile (m, n), else it has the shape of its distribution (rows of items, columns of items, r, c).
    """

    m: int
    n: int
    k: int
    r: int
    c: int
    v: int = 4
    warp: int = 0
    pad: int = 0
    prefetch: int = 0
    buffers: int = 0
    square: bool = True

    @property
    def items(self) -> tuple[int, int]:
        """Rows and columns of work-items."""
        return self.m // self.r, self.n // self.c

    @property
    def group_size(self) -> int:
        return self.items[0] * self.items[1]

    def deal2(self, x: Expr) -> Expr:
        """(m, n) -> (rows of items, columns of items, r, c)"""
        rows, columns = self.items
        bands = fmap(p.Transpose, deal(rows, self.v, x))
        return fmap(lambda b: fmap(p.Transpose, deal(columns, self.v, b)), bands)

    def undeal2(self, x: Expr) -> Expr:
        """The inverse of `deal2`."""
        bands = fmap(lambda b: undeal(self.v, fmap(p.Transpose, b)), x)
        return undeal(self.v, fmap(p.Transpose, bands))

    def each_item(self, f: Callable[[Expr], Expr], x: Expr) -> Expr:
        """`f` for each work-item's part of x."""
        if not self.warp:
            return fmap(lambda row: fmap(f, row, "local", 0), x, "local", 1)

        def row(r: Expr) -> Expr:
            return p.Join(fmap(lambda w: fmap(f, w, "local", 0), p.Split(self.warp, r), "local", 2))

        return fmap(row, x, "local", 1)

    def chunks(self, x: Expr) -> Expr:
        """(t, K) -> (K / k, t, k)"""
        return p.Transpose(fmap(lambda r: p.Split(self.k, r), x))

    def step(self, acc: Expr, a: Expr, b: Expr) -> Expr:
        """One step: acc + a b^T, a and b chunks of k columns."""
        at = p.Transpose(fmap(lambda r: deal(self.items[0], self.v, r), p.To("local", p.Transpose(a), self.pad)))
        bt = p.Transpose(fmap(lambda r: deal(self.items[1], self.v, r), p.To("local", p.Transpose(b), self.pad)))
        parts = zip2(self.deal2(acc) if self.square else acc, p.Cross(at, bt))
        new = self.each_item(accumulated, parts)
        return self.undeal2(new) if self.square else new

    def fold(self, a: Expr, b: Expr, init: Expr | None = None) -> Expr:
        """The tile of a b^T, a (m, K) and b (n, K) being bands of the operands: `init` added, if given."""
        zero = zeros(self.m, self.n) if self.square else zeros(*self.items, self.r, self.c)
        xs = p.Zip((self.chunks(a), self.chunks(b)))
        ahead = {"prefetch": self.prefetch, "buffers": self.buffers}
        return folded(lambda acc, e: self.step(acc, get(e, F), get(e, S)), init or zero, xs, **ahead)

    def fold_of_folds(self, many: int, a: Expr, b: Expr) -> Expr:
        """The same, in a fold over chunks of `many` steps."""

        def steps(acc: Expr, xs: Expr) -> Expr:
            return folded(lambda c, e: self.step(c, get(e, F), get(e, S)), acc, xs, prefetch=self.prefetch)

        return folded(steps, zeros(self.m, self.n), p.Split(many, p.Zip((self.chunks(a), self.chunks(b)))))


def folded(
    f: Callable[[Expr, Expr], Expr], init: Expr, xs: Expr, unroll: bool = False, prefetch: int = 0, buffers: int = 0
) -> Expr:
    """A fold of a Python function of the accumulator and an element."""
    arg = p.Arg(Tuple((type_of(init), elem(xs))))
    return p.Fold(f(get(arg, F), get(arg, S)), init, xs, unroll, prefetch, buffers=buffers)


def accumulated(part: Expr) -> Expr:
    """Of a work-item's part (c, (a, b)): c + a^T b, a and b in local memory, k rows of them."""

    def outer(acc: Expr, e: Expr) -> Expr:
        pairs = p.Cross(p.To("private", get(e, F)), p.To("private", get(e, S)))
        return fmap(lambda r: fmap(multiplied, r, "unroll"), zip2(acc, pairs), "unroll")

    return folded(outer, get(part, F), p.Zip((get(part, S, F), get(part, S, S))), unroll=True)


def multiplied(e: Expr) -> Expr:
    """c + a * b of (c, (a, b))."""
    return op("add", get(e, F), op("mul", get(e, S, F), get(e, S, S)))


def bands(t: Tile, a: Expr, b: Expr) -> Expr:
    """Pairs of bands of the operands, one pair for each tile of the product."""
    return p.Cross(p.Split(t.m, a), p.Split(t.n, p.Transpose(b)))


def grid(f: Callable[[Expr], Expr], tiles: Expr) -> Expr:
    """A work-group for each tile."""
    return join2(fmap(lambda row: fmap(f, row, "workgroup", 0), tiles, "workgroup", 1))


def product(m: int, n: int, k: int, t: Tile) -> Expr:
    """A B"""
    a, b = vector("A", m, k), vector("B", k, n)

    def tile(e: Expr) -> Expr:
        value = t.fold(get(e, F), get(e, S))
        return value if t.square else t.undeal2(value)

    return grid(tile, bands(t, a, b))


def padded_product(m: int, n: int, k: int, t: Tile) -> Expr:
    """A B, where the tile does not divide the rows and columns."""
    a, b = p.PadUp(t.m, vector("A", m, k)), p.PadUp(t.n, p.Transpose(vector("B", k, n)))
    tiles = p.Cross(p.Split(t.m, a), p.Split(t.n, b))
    whole = grid(lambda e: t.fold(get(e, F), get(e, S)), tiles)
    return p.Take(m, fmap(lambda r: p.Take(n, r), whole))


def with_epilogue(m: int, n: int, k: int, t: Tile, cell: Callable[[Expr, Expr], Expr]) -> Expr:
    """`cell` of each element of A B and of C."""
    a, b, c = vector("A", m, k), vector("B", k, n), vector("C", m, n)
    tiles = fmap(lambda r: fmap(p.Transpose, p.Split(t.n, p.Transpose(r))), p.Split(t.m, c))

    def tile(e: Expr) -> Expr:
        ab = t.fold(get(e, F, F), get(e, F, S))
        mine = zip2(t.deal2(ab) if t.square else ab, t.deal2(get(e, S)))

        def item(x: Expr) -> Expr:
            return fmap(
                lambda r: fmap(lambda e: cell(get(e, F), get(e, S)), r, "unroll"),
                zip2(get(x, F), get(x, S)),
                "unroll",
            )

        return t.undeal2(t.each_item(item, mine))

    return grid(tile, zip2(bands(t, a, b), tiles))


def with_tail(m: int, n: int, k: int, t: Tile) -> Expr:
    """A B, where t.k does not divide k: a second fold takes the rest, as one chunk."""
    a, b = vector("A", m, k), vector("B", k, n)
    whole = k // t.k * t.k
    rest = replace(t, k=k - whole, prefetch=0)

    def columns(x: Expr, first: bool) -> Expr:
        return fmap(lambda r: p.Take(whole, r) if first else p.Drop(whole, r), x)

    def tile(e: Expr) -> Expr:
        a, b = get(e, F), get(e, S)
        main = t.fold(columns(a, True), columns(b, True))
        return rest.fold(columns(a, False), columns(b, False), main)

    return grid(tile, bands(t, a, b))


# ---------------------------------------------------------------------------------------- all pairs


def force(acc: Expr, i: Expr, j: Expr) -> Expr:
    """The acceleration (ax, ay, az) of body i (x, y, z, mass), with that by body j added."""
    d = [op("sub", get(j, k), get(i, k)) for k in range(3)]
    squares = op("add", op("add", op("mul", d[0], d[0]), op("mul", d[1], d[1])), op("mul", d[2], d[2]))
    inverse = op("rsqrt", op("add", squares, lit(0.01)))
    s = op("mul", get(j, 3), op("mul", inverse, op("mul", inverse, inverse)))
    return p.Tup(tuple(op("add", get(acc, k), op("mul", s, d[k])) for k in range(3)))


def nbody(n: int, tile: int, each: int = 1, prefetch: int = 0) -> Expr:
    """Accelerations of n bodies: a work-group has `tile` of them, a work-item `each`; tiles of others pass by."""
    names = [vector(name, n) for name in "xyzm"]
    all_bodies = p.Zip(tuple(names))
    zero = p.Fill(tile, p.Tup((lit(0.0),) * 3))

    def one(acc: Expr, i: Expr, js: Expr) -> Expr:
        """A work-item's accumulators with all of js added."""

        def step(acc: Expr, e: Expr) -> Expr:
            return fmap(
                lambda t: force(get(t, F), get(t, S, F), get(t, S, S)),
                p.Zip((acc, fmap(lambda x: p.Tup((get(x, S), get(x, F))), p.Distl(get(e, S), get(e, F))))),
                "unroll",
            )

        return folded(step, acc, p.Distl(p.To("private", i), js))

    def group(e: Expr) -> Expr:
        mine, tiles = get(e, F), get(e, S)

        def step(acc: Expr, x: Expr) -> Expr:
            js = p.To("local", get(x, S))
            parts = p.Distl(js, p.Zip((p.Split(each, acc), p.Split(each, get(x, F)))))
            return p.Join(fmap(lambda t: one(get(t, S, F), get(t, S, S), get(t, F)), parts, "local", 0))

        return folded(step, zero, p.Distl(mine, tiles), prefetch=prefetch)

    parts = p.Distl(p.Split(tile, all_bodies), p.Split(tile, all_bodies))
    return p.Join(fmap(lambda e: group(p.Tup((get(e, S), get(e, F)))), parts, "workgroup", 0))
