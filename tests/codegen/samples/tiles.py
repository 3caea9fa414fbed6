"""Samples of work-groups that keep an accumulator in the registers of their work-items."""

from __future__ import annotations

from collections.abc import Callable

from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from tests.codegen.low import fmap, lit, op, vector
from tests.codegen.low_tiles import (
    F,
    S,
    Tile,
    bands,
    folded,
    get,
    grid,
    nbody,
    padded_product,
    product,
    with_epilogue,
    with_tail,
    zeros,
)
from tests.codegen.samples.base import both, sample

TILE = Tile(16, 16, 4, 4, 4)


def scaled(ab: Expr, c: Expr) -> Expr:
    """1.5 a b - 0.5 c"""
    return op("add", op("mul", lit(1.5), ab), op("mul", lit(-0.5), c))


def rectified(ab: Expr, c: Expr) -> Expr:
    """max(a b + c, 0)"""
    return op("maximum", op("add", ab, c), lit(0.0))


sample("tiled product", product(32, 48, 12, TILE))
sample("tiled product, padded rows", product(32, 16, 12, Tile(16, 16, 4, 4, 4, pad=4)))
sample("tiled product, prefetched", product(32, 32, 12, Tile(16, 16, 4, 4, 4, pad=4, prefetch=1)))
sample("tiled product, two buffers", product(32, 32, 12, Tile(16, 16, 4, 4, 4, pad=4, prefetch=2)))
for n in (1, 2):
    for ahead in (1, 2):
        tile = Tile(16, 16, 4, 4, 4, prefetch=ahead)
        sample(f"tiled product, {n} steps, prefetch {ahead}", product(16, 16, 4 * n, tile))
sample("tiled product, three dimensions", product(32, 32, 8, Tile(16, 32, 4, 4, 8, warp=2, prefetch=1)))
sample("tiled product, distributed", product(32, 32, 8, Tile(16, 16, 4, 4, 8, square=False, prefetch=2)))
sample("tiled product, two of a chunk", product(24, 32, 8, Tile(24, 16, 4, 2, 4, v=2)))
sample("tiled product, single elements", product(16, 16, 8, Tile(8, 8, 8, 1, 1, v=1)))
sample("tiled product, one work-item", product(8, 8, 8, Tile(4, 4, 4, 4, 4)))
sample("tiled product, uneven copies", product(32, 24, 8, Tile(32, 24, 4, 4, 4, pad=4, prefetch=1)))
sample("tiled product and sum", with_epilogue(32, 32, 8, TILE, scaled))
sample("tiled product, rectified", with_epilogue(32, 32, 8, Tile(16, 16, 4, 4, 4, square=False, prefetch=1), rectified))
sample("tiled product, rest of the rows", with_tail(16, 32, 11, TILE))
sample("tiled product, rest of prefetched rows", with_tail(16, 32, 10, Tile(16, 16, 4, 4, 4, prefetch=2)))

sample("tiled product at edges", padded_product(21, 35, 8, TILE))
sample("tiled product at edges, prefetched", padded_product(33, 17, 8, Tile(16, 16, 4, 4, 4, pad=4, prefetch=2)))

A, B = vector("A", 16, 32), vector("B", 32, 16)
sample("tiled product, fold of folds", grid(lambda e: TILE.fold_of_folds(4, get(e, F), get(e, S)), bands(TILE, A, B)))

sample("all pairs", nbody(32, 8))
sample("all pairs, four each", nbody(32, 16, 4, prefetch=1))
sample("all pairs, two buffers", nbody(32, 16, 2, prefetch=2))


def group_fold(step: object, n: int = 16) -> Expr:
    """For each row of tiles: a fold in a work-group, its accumulator an array of n."""
    return fmap(lambda rows: folded(step, zeros(n), rows), vector("T", 3, 5, n), "workgroup")  # type: ignore[arg-type]


def turned(x: Expr) -> Expr:
    """The elements of x in another order."""
    return p.Join(p.Transpose(p.Split(4, x)))


sample("an accumulator of a group", group_fold(lambda acc, x: fmap(both("add"), p.Zip((acc, x)), "local")))
sample(
    "an accumulator that moves in a group",
    group_fold(lambda acc, x: fmap(both("add"), p.Zip((turned(acc), x)), "local")),
)
sample(
    "an accumulator that moves in registers",
    fmap(
        lambda rows: turned(
            fmap(
                lambda e: op("neg", e),
                turned(folded(lambda acc, x: fmap(both("add"), p.Zip((acc, x)), "local"), zeros(16), rows)),
                "local",
            )
        ),
        vector("T", 3, 5, 16),
        "workgroup",
    ),
)
sample(
    "an accumulator of more elements than work-items",
    group_fold(lambda acc, x: fmap(both("add"), p.Zip((acc, x)), "local"), 40),
)


def added(acc: Expr, x: Expr) -> Expr:
    return fmap(both("add"), p.Zip((acc, x)), "local")


def largest(acc: Expr, x: Expr) -> Expr:
    return fmap(both("maximum"), p.Zip((acc, x)), "local")


def negated(x: Expr) -> Expr:
    return fmap(lambda e: op("neg", e), x, "local")


def groups(f: Callable[[Expr], Expr], x: Expr) -> Expr:
    """A work-group for each part of `x`."""
    return fmap(f, x, "workgroup")


ROWS, CUBE = vector("T", 3, 5, 16), vector("T", 3, 2, 5, 16)
PAIR = p.Tup((zeros(16), zeros(16)))


def sums(rows: Expr) -> Expr:
    """The sums of the columns."""
    return folded(added, zeros(16), rows)


def sums_and_largest(acc: Expr, x: Expr) -> Expr:
    return p.Tup((added(get(acc, F), x), largest(get(acc, S), turned(x))))


def sums_of_sums(acc: Expr, x: Expr) -> Expr:
    return p.Tup((added(get(acc, F), x), added(get(acc, S), turned(get(acc, F)))))


def sums_and_largest_from_there(rows: Expr) -> Expr:
    first = sums(rows)
    return p.Concat(first, folded(largest, first, rows))


def largest_of_each(rows: Expr) -> Expr:
    each = p.Distl(sums(rows), rows)
    return fmap(lambda e: folded(largest, get(e, F), p.Split(16, get(e, S))), each, "seq")


sample("two accumulators of a group", groups(lambda rows: folded(sums_and_largest, PAIR, rows), ROWS))
sample("two accumulators, one read by the other", groups(lambda rows: folded(sums_of_sums, PAIR, rows), ROWS))
sample("several folds of a group", groups(lambda c: fmap(sums, c, "seq"), CUBE))
sample("several folds of a group, read", groups(lambda c: negated(p.Join(fmap(sums, c, "seq"))), CUBE))
sample("a fold that starts from another, which is read too", groups(sums_and_largest_from_there, ROWS))
sample("a fold that starts from another again and again", groups(largest_of_each, ROWS))
sample(
    "an accumulator that starts from the one around it",
    groups(lambda c: folded(lambda acc, rows: folded(added, negated(acc), rows), zeros(16), c), CUBE),
)
