"""Samples of every level."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.types import F32
from tests.codegen.low import fmap, lit, op, total, vector
from tests.codegen.samples.base import A, both, cube, double, sample, x, y

sample("axpy", fmap(lambda e: op("add", double(p.Get(0, e)), p.Get(1, e)), p.Zip((x, y)), "global"))
sample("global with a grid stride", fmap(double, x, "global"), 16, 2)
sample(
    "three global dimensions",
    fmap(lambda m: fmap(lambda r: fmap(double, r, "global"), m, "global", 1), cube, "global", 2),
    8,
)
sample(
    "three global dimensions, few groups",
    fmap(lambda m: fmap(lambda r: fmap(double, r, "global"), m, "global", 1), cube, "global", 2),
    8,
    3,
)
sample("groups and items", p.Join(fmap(lambda r: fmap(double, r, "local"), p.Split(25, x), "workgroup")))
sample(
    "groups and items, fewer groups",
    p.Join(fmap(lambda r: fmap(double, r, "local"), p.Split(25, x), "workgroup")),
    16,
    3,
)
sample(
    "two local dimensions",
    fmap(lambda m: fmap(lambda r: fmap(double, r, "local"), m, "local", 1), cube, "workgroup"),
    32,
)
sample(
    "two dimensions of groups",
    fmap(lambda m: fmap(lambda r: fmap(double, r, "local"), m, "workgroup"), cube, "workgroup", 1),
)
sample("sequential", fmap(lambda r: fmap(double, r, "seq"), A, "seq"))
sample("unrolled", fmap(lambda r: fmap(double, r, "unroll"), A, "global"))
sample("no level at all", fmap(lambda r: fmap(double, r), A))
sample("a sequential map around groups", fmap(lambda r: fmap(double, r, "workgroup"), A, "seq"))
sample("two results from one kernel", p.Tup((fmap(double, x, "global"), total(vector("w", 9)))))
sample("an input as it is", x)
sample("a matrix as it is", A)
sample("a scalar", double(p.Input("s", F32)))
sample("a literal", lit(2.5))
sample(
    "warps and lanes",
    fmap(
        lambda r: fmap(lambda q: fmap(double, q, "lane"), p.Split(50, r), "warp"),
        p.Split(100, vector("x", 300)),
        "workgroup",
    ),
    64,
)
sample(
    "lanes that exchange",
    p.Join(
        fmap(
            lambda r: fmap(
                lambda q: fmap(
                    both("add"), p.Zip((fmap(double, q, "lane"), p.Stride(5, fmap(double, q, "lane")))), "lane"
                ),
                p.Split(20, r),
                "warp",
            ),
            p.Split(60, vector("x", 240)),
            "workgroup",
        )
    ),
    64,
)
