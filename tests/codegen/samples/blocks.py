"""Samples of tiled products, and of tiles at edges."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.types import F64
from tests.codegen.low import fmap, lit, total, vector
from tests.codegen.low_blocks import by_vectors, product, registers, staged
from tests.codegen.low_tiles import Tile
from tests.codegen.samples.base import A, cube, double, sample, x

sample("register blocks", product((12, 32, 8), 6, 16, registers(8, 4)), 1)
sample("register blocks of f64", product((8, 8, 5), 4, 8, registers(8, t=F64), t=F64), 1)
sample("register blocks at edges", product((13, 35, 7), 6, 16, registers(8, 2), pack=8), 1)
sample("local tiles at edges", product((13, 11, 6), 4, 4, staged, "workgroup"), 16)
sample("local tiles at edges, fewer groups", product((13, 11, 6), 4, 4, staged, "workgroup"), 16, 5)
sample("local tiles, fewer rows than a tile", product((3, 11, 6), 4, 4, staged, "workgroup"), 16)
sample(
    "tiles of windows",
    p.Take(
        98,
        p.Join(
            fmap(
                lambda tile: fmap(total, tile, "seq"),
                p.Split(8, p.PadUp(8, p.Take(98, p.Slide(5, 1, p.Pad(2, 2, "mirror", x))))),
                "global",
            )
        ),
    ),
    4,
)
sample(
    "vectors of windows at edges",
    p.Join(
        fmap(
            lambda tile: fmap(total, tile, "vec"),
            p.Split(4, p.Slide(3, 1, p.Pad(1, 1, "constant", x, lit(7.0)))),
            "global",
        )
    ),
    4,
)
sample(
    "tiles of tiles at edges",
    p.Take(
        37,
        p.Join(
            fmap(
                lambda tile: p.Take(
                    10, p.Join(fmap(lambda t: fmap(double, t, "seq"), p.Split(4, p.PadUp(4, tile)), "local"))
                ),
                p.Split(10, p.PadUp(10, vector("z", 37))),
                "workgroup",
            )
        ),
    ),
    4,
)
sample(
    "rows dropped and rows taken",
    p.Drop(1, p.Take(5, fmap(lambda r: by_vectors(double, r, 8, "seq"), A, "global"))),
)
sample(
    "a part of a transposed result",
    p.Transpose(fmap(lambda r: p.Take(3, r), p.Drop(7, p.Transpose(fmap(lambda r: fmap(double, r), A, "global"))))),
)
sample(
    "parts of joined rows",
    p.Join(fmap(lambda r: p.Drop(3, p.Take(35, r)), fmap(lambda r: fmap(double, r), A, "global"))),
)
sample(
    "the middle of a cube",
    fmap(
        lambda m: fmap(lambda r: p.Drop(2, p.Take(6, r)), p.Take(4, m)),
        p.Drop(1, fmap(lambda m: fmap(lambda r: fmap(double, r), m), cube, "global")),
    ),
)
sample(
    "nothing taken of a result",
    p.Concat(p.Take(0, fmap(double, x, "global")), fmap(double, p.Drop(90, x), "global")),
)
for prefetch in (0, 1, 2):
    tile = Tile(16, 16, 4, 4, 4, pad=4, prefetch=prefetch)
    sample(f"tiled product at edges, prefetch {prefetch}", product((37, 50, 16), 16, 16, tile.fold, "workgroup"), 16)
