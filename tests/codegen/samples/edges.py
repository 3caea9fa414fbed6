"""Samples of empty arrays and arrays of one."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.types import F32, I32, Array, Tuple
from tests.codegen.low import fmap, lit, op, total, vector
from tests.codegen.samples.base import A, double, plus, sample, x

empty = vector("e", 0)
sample("an empty map", fmap(double, empty, "global"))
sample("an empty sum", total(empty))
sample("an empty tree", p.Tree(plus, lit(2.0), empty))
sample("an empty concatenation", fmap(double, p.Concat(empty, p.Concat(x, empty)), "global"))
sample("empty rows", fmap(total, vector("E", 3, 0), "global"))
sample("no rows", fmap(total, vector("E", 0, 3), "global"))
sample("joined empty rows", p.Concat(x, p.Join(vector("E", 3, 0))))
sample("one element", fmap(double, vector("o", 1), "global"))
sample("one row by groups", fmap(lambda r: fmap(double, r, "local"), vector("O", 1, 1), "workgroup"))
sample(
    "peeled to nothing",
    p.Concat(
        p.Join(fmap(lambda r: fmap(double, r, "vec"), p.Split(4, p.Take(100, x)), "global")),
        fmap(double, p.Drop(100, x)),
    ),
)
sample("a tuple of arrays", fmap(lambda r: p.Tup((total(r), fmap(double, r))), A, "global"))
sample(
    "arrays of tuples",
    fmap(
        lambda e: p.Tup((p.Get(1, e), fmap(lambda q: op("add", q, lit(1, I32)), p.Get(0, e)))),
        p.Input("t", Array(9, Tuple((Array(4, I32), F32)))),
        "global",
    ),
)
