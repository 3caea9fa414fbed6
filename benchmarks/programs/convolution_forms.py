"""The convolution of Hagedorn's thesis in low-level patterns: the thirteen kernels of its table 1, listings 2 to 18.

There, every window is an array of one row at least and a `join` flattens it; here too.  Weights are flat arrays.  What
the thesis leaves out, that the tiles of the result are put together again, is written out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from egglift.ir.check import type_of
from egglift.ir.patterns import (
    Apply,
    Arg,
    Expr,
    Fold,
    Get,
    Input,
    Join,
    Level,
    Literal,
    Map,
    Operator,
    Pad,
    Reduce,
    Slide,
    Split,
    To,
    Transpose,
    Zip,
)
from egglift.ir.types import F32, Array, Tuple, Type

PAIR = Arg(Tuple((F32, F32)))
ZERO = Literal(0.0, F32)
ADD = Apply("add", (Get(0, PAIR), Get(1, PAIR)))
MUL = Apply("mul", (Get(0, PAIR), Get(1, PAIR)))
SUM = Operator("add", ADD, True, True, ZERO)

GLOBAL = Level("global", 1), Level("global", 0)
WORKGROUP = Level("workgroup", 1), Level("workgroup", 0)
LOCAL = Level("local", 1), Level("local", 0)
UNROLL = Level("unroll")
NONE = None, None  # not yet decided


@dataclass(frozen=True)
class Sizes:
    """What the kernels are made for: a grid of h by w, windows of n by n, tiles of rows by columns results.

    row: how many results of the row convolution are a tile; column: rows and columns of one of the column convolution;
    chunk: rows that are copied at a time where the copying is unrolled.
    """

    h: int = 4096
    w: int = 4096
    n: int = 17
    tile: tuple[int, int] = (16, 16)
    row: int = 128
    column: tuple[int, int] = (64, 16)
    chunk: int = 8


# ---------------------------------------------------------------------------------------- patterns


def fmap(f: Callable[[Expr], Expr], x: Expr, level: Level | None = None) -> Map:
    """`map f x`, f a Python function of the element."""
    t = type_of(x)
    assert isinstance(t, Array)
    return Map(f(Arg(t.element)), x, level)


def map2d(f: Callable[[Expr], Expr], x: Expr, levels: tuple[Level | None, Level | None]) -> Expr:
    """`map (map f) x` at two levels."""
    return fmap(lambda row: fmap(f, row, levels[1]), x, levels[0])


def slide2d(size: tuple[int, int], step: tuple[int, int], x: Expr) -> Expr:
    """Windows of `size`, `step` apart."""
    rows = Slide(size[0], step[0], fmap(lambda row: Slide(size[1], step[1], row), x))
    return fmap(Transpose, rows)


def pad2d(down: int, across: int, x: Expr) -> Expr:
    """`down` rows above and below, `across` columns on both sides; the elements at the edge repeated."""
    wide = fmap(lambda row: Pad(across, across, "clamp", row), x) if across else x
    return Pad(down, down, "clamp", wide) if down else wide


def whole(tiles: Expr) -> Expr:
    """Tiles put together."""
    return Join(fmap(lambda row: fmap(Join, Transpose(row)), tiles))


def weighted(weights: Expr, window: Expr) -> Expr:
    """The sum of the products of a window's elements and the weights."""
    return Fold(ADD, ZERO, Map(MUL, Zip((Join(window), weights))))


def summed(weights: Expr, window: Expr) -> Expr:
    """The same, the order of the sum left open."""
    return Reduce(SUM, ZERO, Map(MUL, Zip((Join(window), weights))))


# ---------------------------------------------------------------------------------------- programs


def grid(s: Sizes) -> Expr:
    """What is convolved."""
    return Input("x", Array(s.h, Array(s.w, F32)))


def kernel(name: str, count: int) -> Expr:
    """Weights, as an input."""
    t: Type = Array(count, F32)
    return Input(name, t)


def high_level(s: Sizes) -> Expr:
    """Listing 1: `map2 (\\w. reduce (+) 0 (map (*) (zip (join w) weights))) (slide2d n 1 (pad2d r r clamp x))`."""
    windows = slide2d((s.n, s.n), (1, 1), pad2d(s.n // 2, s.n // 2, grid(s)))
    return map2d(partial(summed, kernel("weights", s.n**2)), windows, NONE)


def high_level_separated(s: Sizes) -> Expr:
    """Definition 3.5: `convColumn . convRow`."""
    across = slide2d((1, s.n), (1, 1), pad2d(0, s.n // 2, grid(s)))
    along = map2d(partial(summed, kernel("row", s.n)), across, NONE)
    down = slide2d((s.n, 1), (1, 1), pad2d(s.n // 2, 0, along))
    return map2d(partial(summed, kernel("column", s.n)), down, NONE)


def naive(s: Sizes) -> Expr:
    """Listing 2: a work-item for every element."""
    windows = slide2d((s.n, s.n), (1, 1), pad2d(s.n // 2, s.n // 2, grid(s)))
    return map2d(partial(weighted, kernel("weights", s.n**2)), windows, GLOBAL)


def tiled(s: Sizes, local: bool) -> Expr:
    """Listings 5 and 6: a work-group for every tile, which it may copy to local memory."""
    padded = pad2d(s.n // 2, s.n // 2, grid(s))
    return _tiled((s.n, s.n), s.tile, kernel("weights", s.n**2), copied if local else None, padded)


def separated(s: Sizes) -> Expr:
    """Listing 8: along the rows, then along the columns, a work-item for every element."""
    across = slide2d((1, s.n), (1, 1), pad2d(0, s.n // 2, grid(s)))
    along = To("global", map2d(partial(weighted, kernel("row", s.n)), across, GLOBAL))
    down = slide2d((s.n, 1), (1, 1), pad2d(s.n // 2, 0, along))
    return map2d(partial(weighted, kernel("column", s.n)), down, GLOBAL)


def separated_tiled(
    s: Sizes, width: int | None = None, turned: bool = False, more: int = 0, unrolled: bool = False
) -> Expr:
    """Listings 9 to 18: both passes in tiles.

    width: columns of a tile of the second pass.  In it tiles may be turned, and their rows be `more` elements longer,
    in local memory; the copying may be unrolled, for which it goes by chunks.
    """
    along = To("global", _tiled((1, s.n), (1, s.row), kernel("row", s.n), copied, pad2d(0, s.n // 2, grid(s))))
    shape = s.column[0], s.column[1] if width is None else width
    copy: Callable[[Expr], Expr] = partial(copied, chunk=s.chunk if unrolled else 0)
    if turned:
        copy = partial(turned_copy, more=more, chunk=s.chunk if unrolled else 0)
    return _tiled((s.n, 1), shape, kernel("column", s.n), copy, pad2d(s.n // 2, 0, along))


def copied(tile: Expr, chunk: int = 0) -> Expr:
    """A tile in local memory: a work-item for each element, or chunk by chunk of rows in an unrolled loop."""
    if not chunk:
        return To("local", map2d(_same, tile, LOCAL))
    rows = fmap(lambda part: map2d(_same, part, LOCAL), Split(chunk, tile), UNROLL)
    return Join(To("local", rows))


def turned_copy(tile: Expr, more: int, chunk: int) -> Expr:
    """A tile turned in local memory, its rows `more` elements longer (listings 12, 13 and 16)."""
    if not chunk:
        return Transpose(To("local", map2d(_same, Transpose(tile), LOCAL), more))
    parts = fmap(lambda row: Split(chunk, row), Transpose(tile))
    lines = fmap(lambda row: fmap(lambda part: fmap(_same, part, LOCAL[0]), row, UNROLL), parts, LOCAL[1])
    return Transpose(To("local", fmap(Join, lines), more))


def _same(x: Expr) -> Expr:
    return x


def _tiled(
    size: tuple[int, int], tile: tuple[int, int], weights: Expr, copy: Callable[[Expr], Expr] | None, x: Expr
) -> Expr:
    """Windows of `size` in overlapped tiles with `tile` results each."""
    overlapped = slide2d((tile[0] + size[0] - 1, tile[1] + size[1] - 1), tile, x)

    def one(part: Expr) -> Expr:
        return map2d(partial(weighted, weights), slide2d(size, (1, 1), copy(part) if copy else part), LOCAL)

    return whole(map2d(one, overlapped, WORKGROUP))


#: the kernels of table 1.  02 differs from 01 in the number of work-items of a group alone
FORMS: dict[str, Callable[[Sizes], Expr]] = {
    "00": naive,
    "01": partial(tiled, local=True),
    "02": partial(tiled, local=True),
    "03": separated,
    "04": partial(separated_tiled, width=1),
    "05": separated_tiled,
    "06": partial(separated_tiled, unrolled=True),
    "07": partial(separated_tiled, turned=True),
    "08": partial(separated_tiled, turned=True, more=1),
    "09": partial(separated_tiled, turned=True, more=2),
    "10": partial(separated_tiled, turned=True, unrolled=True),
    "11": partial(separated_tiled, turned=True, unrolled=True, more=1),
    "12": partial(separated_tiled, turned=True, unrolled=True, more=2),
}
