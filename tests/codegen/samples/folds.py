"""Samples of folds and iterations."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import F32, I32, Array, Tuple
from tests.codegen.low import fmap, lit, op, pair, total, vector
from tests.codegen.samples.base import A, B, arg, both, cube, double, plus, row, sample, x, y, z

sample("sum", total(x))
sample("sum with a level-less map", total(fmap(lambda e: op("abs", e), x)))
sample("sum over a concatenation", total(p.Concat(p.Concat(x, y), fmap(double, z))))
sample(
    "dot of tuples",
    p.Fold(
        op(
            "add",
            p.Get(0, p.Arg(Tuple((F32, Tuple((F32, F32)))))),
            both("mul")(p.Get(1, p.Arg(Tuple((F32, Tuple((F32, F32))))))),
        ),
        lit(0.0),
        p.Zip((x, y)),
    ),
)
sample("fold unrolled", p.Fold(plus, lit(1.0), vector("w", 5), unroll=True))
sample("fold of folds", total(fmap(total, A)))
sample(
    "fold with its accumulator inside",
    p.Fold(
        p.Fold(plus, p.Get(0, p.Arg(Tuple((F32, Array(40, F32))))), p.Get(1, p.Arg(Tuple((F32, Array(40, F32)))))),
        lit(0.5),
        A,
    ),
)
sample("gemv", fmap(lambda r: total(fmap(both("mul"), p.Zip((r, p.Take(40, x))))), A, "global"))
sample(
    "matrix product",
    fmap(
        lambda r: fmap(
            lambda q: total(fmap(both("mul"), p.Zip((p.Get(0, q), p.Get(1, q))))), p.Distl(r, p.Transpose(B)), "global"
        ),
        A,
        "global",
        1,
    ),
)


def array_accumulator(level: str) -> Expr:
    """Column sums of A."""
    acc, element = pair(Array(40, F32), Array(40, F32))
    return p.Fold(fmap(both("add"), p.Zip((acc, element)), level), p.Fill(40, lit(0.0)), A)


sample("array accumulator", array_accumulator("seq"))
sample("array accumulator, unrolled", array_accumulator("unroll"))
sample(
    "array accumulator, vectors",
    p.Fold(fmap(both("add"), p.Zip(pair(Array(8, F32), Array(8, F32))), "vec"), p.Fill(8, lit(0.0)), vector("V", 9, 8)),
)
sample(
    "array accumulator in local memory",
    fmap(
        lambda m: p.Fold(fmap(both("add"), p.Zip(pair(Array(7, F32), Array(7, F32))), "local"), p.Fill(7, lit(0.0)), m),
        cube,
        "workgroup",
    ),
    4,
)


def moved_accumulator(level: str, m: Expr) -> Expr:
    """acc := acc reversed + element: not element by element."""
    acc, element = pair(Array(7, F32), Array(7, F32))
    back = p.Gather(fmap(lambda i: op("sub", lit(6, I32), i), p.Iota(7, I32)), acc)
    return p.Fold(fmap(both("add"), p.Zip((back, element)), level), p.Fill(7, lit(1.0)), m)


sample("an accumulator that moves", moved_accumulator("seq", vector("m", 5, 7)))
sample(
    "an accumulator that moves, in local memory", fmap(lambda m: moved_accumulator("local", m), cube, "workgroup"), 4
)
sample(
    "whole accumulator read",
    p.Fold(
        fmap(lambda e: op("add", total(p.Get(0, e)), p.Get(1, e)), p.Distl(*pair(Array(4, F32), Array(4, F32))), "seq"),
        p.Fill(4, lit(0.0)),
        vector("m", 5, 4),
    ),
)


def swapped() -> Expr:
    """<a, b> := <b, a + e>: a simultaneous assignment."""
    state = p.Arg(Tuple((Tuple((F32, F32)), F32)))
    a, b, e = p.Get(0, p.Get(0, state)), p.Get(1, p.Get(0, state)), p.Get(1, state)
    return p.Fold(p.Tup((b, op("add", a, e))), p.Tup((lit(0.0), lit(1.0))), x)


sample("simultaneous accumulators", swapped())


def arg_max(n: int) -> p.Fold:
    """The largest element and where it is."""
    item = Tuple((F32, I32))
    a, b = pair(item, item)
    better = op("ge", p.Get(0, a), p.Get(0, b))
    body = p.Tup((op("where", better, p.Get(0, a), p.Get(0, b)), op("where", better, p.Get(1, a), p.Get(1, b))))
    start = p.Tup((lit(float("-inf")), lit(0, I32)))
    return p.Fold(body, start, p.Zip((p.Input("x", Array(n, F32)), p.Iota(n, I32))))


ARG_MAX = arg_max(100)
sample("argmax", ARG_MAX)
sample("iterate a scalar", p.Iterate(5, op("add", double(arg), lit(1.0)), p.Input("s", F32)))
sample("iterate rows", fmap(lambda r: p.Iterate(3, fmap(double, row(40)), r), A, "global"))
sample("iterate the grid", p.Iterate(4, fmap(total, p.Slide(3, 1, p.Pad(1, 1, "clamp", row(100)))), x))
sample("iterate the grid, once", p.Iterate(1, fmap(double, row(100)), x))
sample("iterate the grid, never", p.Iterate(0, fmap(double, row(100)), x))
sample("iterate, then map", fmap(double, p.To("global", p.Iterate(3, fmap(double, row(100)), fmap(double, x)))))
sample(
    "iterate in a group",
    fmap(lambda r: p.Iterate(3, fmap(total, p.Slide(3, 1, p.Pad(1, 1, "wrap", row(40))), "local"), r), A, "workgroup"),
)


def mixed(acc: Expr) -> Expr:
    """<how many, how much each> := <how many + 1, how much each + the element>."""
    state, element = p.Get(0, acc), p.Get(1, acc)
    sums = fmap(both("add"), p.Zip((p.Get(1, state), element)), "unroll")
    return p.Tup((op("add", p.Get(0, state), lit(1, I32)), sums))


STATE = Tuple((I32, Array(40, F32)))
sample(
    "an accumulator of a number and an array",
    p.Fold(mixed(p.Arg(Tuple((STATE, Array(40, F32))))), p.Tup((lit(0, I32), p.Fill(40, lit(0.0)))), A),
)
