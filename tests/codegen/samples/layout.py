"""Samples of layout patterns, where they are read and where they are written."""

from __future__ import annotations

import numpy as np

from egglift.ir import patterns as p
from egglift.ir.types import F32, I8, I32, U8, U64, Array
from tests.codegen.low import fmap, lit, op, total, vector
from tests.codegen.samples.base import A, both, cube, double, sample, x, y

sample("transpose", p.Transpose(A))
sample("transpose of a computed matrix", p.Transpose(fmap(lambda r: fmap(double, r), A, "global")))
sample("split and join around a map", p.Join(fmap(lambda r: fmap(double, r), p.Split(20, x), "global")))
sample("split of a computed array", p.Split(10, fmap(double, x, "global")))
sample("stride read", fmap(double, p.Stride(4, x), "global"))
sample("stride written", p.Stride(4, fmap(double, x, "global")))
sample(
    "deal and its inverse",
    p.Join(fmap(lambda r: r, p.Transpose(fmap(lambda r: fmap(double, r), p.Transpose(p.Split(20, x)), "global")))),
)
sample("slide", fmap(total, p.Slide(3, 1, x), "global"))
sample("slide by two", fmap(total, p.Slide(4, 3, x), "global"))
for mode in ("clamp", "mirror", "wrap"):
    sample(f"pad {mode}", fmap(total, p.Slide(5, 1, p.Pad(2, 2, mode, x)), "global"))
    sample(f"pad {mode} beyond the length", p.Pad(7, 9, mode, vector("x", 3)))
sample("pad with a constant", fmap(total, p.Slide(5, 1, p.Pad(2, 2, "constant", x, lit(1.5))), "global"))
sample("pad rows with a constant", p.Pad(1, 2, "constant", A, p.Fill(40, lit(1.5))))
sample("pad up", fmap(lambda r: fmap(double, r), p.Split(16, p.PadUp(16, x)), "global"))
sample("pad up and take", p.Take(100, p.Join(fmap(lambda r: fmap(double, r), p.Split(16, p.PadUp(16, x)), "global"))))
sample(
    "pad up and take by groups",
    p.Take(100, p.Join(fmap(lambda r: fmap(double, r, "local"), p.Split(16, p.PadUp(16, x, lit(0.0))), "workgroup"))),
)
sample("drop of a computed array", p.Drop(30, fmap(double, x, "global")))
sample("roll read", fmap(double, p.Roll(3, x), "global"))
sample("roll backwards", fmap(both("sub"), p.Zip((p.Roll(99, x), x)), "global"))
sample("roll written", p.Roll(30, fmap(double, x, "global")))
sample("roll by the whole length", p.Roll(100, fmap(double, p.Roll(0, x), "global")))
sample("roll of rows and columns", p.Roll(2, fmap(lambda r: p.Roll(5, fmap(double, r)), A, "global")))
sample("roll of nothing", p.Roll(0, p.Take(0, x)))
sample("concat read", fmap(double, p.Concat(x, y), "global"))
sample("concat written", p.Concat(fmap(double, x, "global"), fmap(lambda e: op("neg", e), y, "global")))
sample(
    "peeled map",
    p.Concat(
        p.Join(fmap(lambda r: fmap(double, r, "vec"), p.Split(8, p.Take(96, x)), "global")), fmap(double, p.Drop(96, x))
    ),
)
sample(
    "gather", fmap(double, p.Gather(vector("i", 60, t=I32), x), "global"), i=np.arange(60).astype("i4") * 7 % 131 - 10
)
sample(
    "gather by 64-bit numbers", p.Gather(vector("i", 4, t=U64), x), i=np.array([3, 99, 1 << 40, (1 << 64) - 1], "u8")
)
sample("gather by an index function", p.Gather(fmap(lambda i: op("sub", lit(99, I32), i), p.Iota(100, I32)), x))
sample(
    "gather of rows",
    fmap(total, p.Gather(vector("i", 9, t=I8), A), "global"),
    i=np.array([5, 0, -3, 2, 127, 1, 1, 0, 4], "i1"),
)
sample("at", op("add", p.At(3, x), p.At(2, p.At(1, A))))
sample("iota", fmap(lambda i: op("mul", i, i), p.Iota(40, I32), "global"))
sample("iota of bytes wraps around", p.Iota(300, U8))
sample("cross", fmap(lambda r: fmap(both("mul"), r, "global"), p.Cross(x, y), "global", 1), 64)
sample("fill", p.Fill(7, total(x)))
sample(
    "constants",
    fmap(
        both("mul"),
        p.Zip((p.Fill(4, p.At(0, x)), p.Constant(Array(4, F32), np.array([1.5, -2.0, 0.25, 3.0], "f4").tobytes()))),
        "global",
    ),
)
sample(
    "a constant matrix",
    fmap(
        lambda r: fmap(both("add"), p.Zip((r, p.Take(3, x)))),
        p.Constant(Array(2, Array(3, F32)), np.arange(6, dtype="f4").tobytes()),
        "global",
    ),
)
sample(
    "layout map written",
    fmap(lambda r: p.Join(p.Transpose(p.Split(10, r))), fmap(lambda r: fmap(double, r), A, "global")),
)
sample("zip written", p.Zip((fmap(double, x, "global"), fmap(lambda e: op("neg", e), y, "global"))))
sample("three dimensions transposed", fmap(lambda m: p.Transpose(m), p.Transpose(cube)))
