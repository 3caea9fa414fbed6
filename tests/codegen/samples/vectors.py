"""Samples of vector maps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import BOOL, F32, F64, I8, I32, I64, U8, Array, Scalar
from tests.codegen.low import fmap, lit, op, pair, total, vector
from tests.codegen.samples.base import both, double, plus, sample, x
from tests.codegen.samples.folds import ARG_MAX


def by_vectors(f: Callable[[Expr], Expr], width: int, xs: Expr) -> Expr:
    return p.Join(fmap(lambda r: fmap(f, r, "vec"), p.Split(width, xs), "global"))


def numbers(t: Scalar, n: int = 128) -> Expr:
    return vector("v", n, t=t)


for t, width in ((F32, 4), (F32, 16), (F64, 8), (I8, 16), (U8, 64), (I64, 2), (F32, 128)):
    sample(
        f"vectors of {width} {t}", by_vectors(lambda e, t=t: op("add", op("mul", e, e), lit(3, t)), width, numbers(t))
    )
sample("vectors of bool", by_vectors(lambda e: op("logical_not", e), 16, numbers(BOOL)))
sample(
    "masks",
    by_vectors(
        lambda e: op("logical_and", op("lt", p.Get(0, e), p.Get(1, e)), p.Get(2, e)),
        8,
        p.Zip((numbers(F64), vector("u", 128, t=F64), vector("b", 128, t=BOOL))),
    ),
)
sample(
    "masks of several widths",
    by_vectors(
        lambda e: op(
            "where",
            op("logical_or", op("lt", p.Get(0, e), lit(0, I8)), op("gt", p.Get(1, e), lit(1.0, F64))),
            p.Get(1, e),
            p.Cast(F64, p.Get(0, e)),
        ),
        4,
        p.Zip((numbers(I8), vector("u", 128, t=F64))),
    ),
)
sample("vectors not aligned", by_vectors(double, 4, p.Take(96, p.Drop(3, x))))
sample("vectors with a stride", by_vectors(double, 4, p.Stride(4, x)))
sample("vectors of windows", by_vectors(total, 4, p.Take(96, p.Slide(3, 1, x))))
sample("vectors padded", by_vectors(total, 4, p.Slide(3, 1, p.Pad(1, 1, "constant", x, lit(9.0)))))
sample("vectors clamped", by_vectors(total, 4, p.Slide(3, 1, p.Pad(1, 1, "clamp", x))))
sample("vectors padded up and taken", p.Take(100, by_vectors(double, 8, p.PadUp(8, x))))
sample(
    "vectors gathered",
    by_vectors(double, 4, p.Gather(vector("i", 64, t=I32), x)),
    i=np.arange(64).astype("i4") * 37 % 120 - 9,
)
sample("vectors written transposed", p.Transpose(fmap(lambda r: fmap(double, r, "vec"), vector("M", 8, 16), "global")))
sample(
    "vectors with a broadcast",
    p.Join(fmap(lambda r: fmap(both("mul"), p.Distl(total(r), r), "vec"), p.Split(4, x), "global")),
)
sample(
    "lanes that iterate arrays",
    fmap(
        lambda r: fmap(
            lambda c: total(p.Iterate(2, fmap(double, p.Arg(Array(3, F32)), "seq"), c)), p.Transpose(r), "vec"
        ),
        vector("M", 2, 3, 8),
        "global",
    ),
)
sample(
    "lanes with trees",
    fmap(lambda r: fmap(lambda c: p.Tree(plus, lit(0.0), c), p.Transpose(r), "vec"), vector("M", 2, 5, 8), "global"),
)
sample(
    "lanes with conditions that need statements",
    by_vectors(total, 4, p.Slide(3, 1, p.Pad(1, 1, "constant", fmap(total, vector("M", 32, 5)), lit(9.0)))),
)
sample("iota in lanes", by_vectors(lambda i: op("mul", i, lit(3, I32)), 8, p.Iota(64, I32)))
sample(
    "bool accumulators in lanes",
    fmap(
        lambda r: fmap(
            lambda c: p.Fold(op("logical_or", *pair(BOOL, BOOL)), lit(False, BOOL), c), p.Transpose(r), "vec"
        ),
        vector("M", 3, 5, 8, t=BOOL),
        "global",
    ),
)
sample(
    "argmax of lanes",
    fmap(
        lambda r: fmap(lambda c: p.Fold(ARG_MAX.body, ARG_MAX.init, p.Zip((c, p.Iota(5, I32)))), p.Transpose(r), "vec"),
        vector("M", 3, 5, 4),
        "global",
    ),
)
