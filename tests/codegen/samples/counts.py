"""Samples of counts: by a group, with others beside it, and by a work-item that is alone."""

from __future__ import annotations

import numpy as np

from egglift.ir import patterns as p
from egglift.ir.types import F32, F64, I32, I64, U8, U32, U64, Tuple
from tests.codegen.low import fmap, lit, op, total, vector
from tests.codegen.samples.base import sample

i, rows = vector("i", 100, t=I32), vector("rows", 6, 40, t=I32)

both = p.Zip((vector("x", 100), vector("j", 100, t=I64)))

sample("count", p.Count(7, I32, i))
sample("count of nothing", p.Count(7, I32, p.Take(0, i)))
sample("count in no place", p.Count(0, I32, i))
sample("count of bytes", p.Count(300, U32, vector("b", 50, t=U8)))
sample(
    "count of wide numbers", p.Count(5, I32, vector("w", 9, t=U64)), w=np.array([4, 5, 1 << 63, 0, 4, 3, 2, 1, 9], "u8")
)
sample(
    "count of negative wide numbers", p.Count(5, I32, vector("w", 4, t=I64)), w=np.array([-1, 4, -(1 << 63), 4], "i8")
)
sample("counts of rows by groups", fmap(lambda r: p.Count(9, I32, r), rows, "workgroup"))
sample("counts of rows by work-items", fmap(lambda r: p.Count(9, I32, r), rows, "global"))
sample("counts that are read", fmap(lambda r: total(p.Count(9, I32, r), I32), rows, "workgroup"))
sample("sums", p.Sums(7, F32, p.Zip((i, vector("x", 100)))))
sample("sums of wide numbers", p.Sums(7, F64, p.Zip((i, vector("x", 100, t=F64)))))
sample("sums of integers", p.Sums(7, I64, p.Zip((i, vector("j", 100, t=I64)))))
sample(
    "counts and sums",
    p.Sums(7, Tuple((I32, Tuple((F32, I64)))), p.Zip((i, p.Zip((p.Fill(100, lit(1, I32)), both))))),
)
sample(
    "counts and sums of rows by work-items",
    fmap(
        lambda r: p.Sums(9, Tuple((U32, F64)), fmap(lambda v: p.Tup((v, p.Tup((lit(1, U32), p.Cast(F64, v))))), r)),
        rows,
        "global",
    ),
)
sample(
    "sums of rows by groups",
    fmap(lambda r: p.Sums(9, F32, fmap(lambda v: p.Tup((v, p.Cast(F32, v))), r)), rows, "workgroup"),
)
sample(
    "sums of rows by work-items",
    fmap(lambda r: p.Sums(9, F64, fmap(lambda v: p.Tup((v, p.Cast(F64, v))), r)), rows, "global"),
)
sample(
    "counts of what is computed",
    fmap(lambda r: p.Count(9, U32, fmap(lambda v: op("add", v, lit(3, I32)), r)), rows, "workgroup"),
)
