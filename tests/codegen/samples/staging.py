"""Samples of trees, memory spaces and programs of several kernels."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.programs import reduction_forms as forms
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import F32, I32, Array, Tuple
from tests.codegen.low import fmap, lit, op, pair, total, vector
from tests.codegen.samples.base import A, both, cube, double, plus, sample, x
from tests.codegen.samples.folds import ARG_MAX

for n in (1, 2, 3, 7, 16, 37):
    rows = vector("rows", 3, n)
    sample(f"tree of {n} by a group", fmap(lambda r: p.Tree(plus, lit(0.5), p.To("local", r)), rows, "workgroup"), 8)
    sample(f"tree of {n} by an item", fmap(lambda r: p.Tree(plus, lit(0.5), r), rows, "global"), 8)
sample("tree at the root", p.Tree(plus, lit(0.0), p.To("local", x)))
sample("tree of tuples", p.Tree(ARG_MAX.body, ARG_MAX.init, p.Zip((x, p.Iota(100, I32)))))
sample(
    "tree of rows",
    fmap(
        lambda m: p.Tree(fmap(both("add"), p.Zip(pair(Array(7, F32), Array(7, F32))), "seq"), p.Fill(7, lit(0.0)), m),
        cube,
        "workgroup",
    ),
    4,
)
ROWS_ADDED = fmap(both("add"), p.Zip(pair(Array(3, F32), Array(3, F32))), "seq")
GRID = Array(5, Array(3, F32))
GRIDS_ADDED = fmap(lambda _: ROWS_ADDED, p.Zip(pair(GRID, GRID)), "seq")
for n in (1, 3, 8):
    sample(
        f"tree of {n} grids",
        fmap(
            lambda m: fmap(
                lambda r: fmap(double, r, "local"),
                p.Tree(GRIDS_ADDED, p.Fill(5, p.Fill(3, lit(0.5))), m),
                "seq",
            ),
            vector("grids", 2, n, 5, 3),
            "workgroup",
        ),
        8,
    )
sample(
    "staged row read twice",
    fmap(
        lambda r: fmap(both("sub"), p.Zip((p.To("local", r), p.Stride(5, p.To("local", r)))), "local"), A, "workgroup"
    ),
)
sample(
    "staged rows, fewer groups",
    fmap(
        lambda r: fmap(both("sub"), p.Zip((p.To("local", r), p.Stride(5, p.To("local", r)))), "local"), A, "workgroup"
    ),
    16,
    2,
)
sample(
    "staged transposed",
    fmap(lambda m: fmap(lambda r: total(r), p.To("local", p.Transpose(m)), "local"), cube, "workgroup"),
    4,
)
sample(
    "staged four at once",
    fmap(lambda r: fmap(double, p.Stride(4, p.To("local", r)), "local"), vector("M", 3, 64), "workgroup"),
    4,
)
sample(
    "a constant array staged",
    fmap(lambda r: fmap(both("mul"), p.Zip((r, p.To("local", p.Take(40, x)))), "local"), A, "workgroup"),
)
sample("private row", fmap(lambda r: total(p.Concat(p.To("private", r), p.To("private", r))), A, "global"))
sample("a concatenation staged", fmap(lambda r: total(p.To("private", p.Concat(r, p.Take(3, r)))), A, "global"))
sample(
    "local fold chunks",
    fmap(
        lambda r: p.Fold(
            op(
                "add",
                p.Get(0, p.Arg(Tuple((F32, Array(8, F32))))),
                p.Tree(plus, lit(0.0), p.To("local", p.Get(1, p.Arg(Tuple((F32, Array(8, F32))))))),
            ),
            lit(0.0),
            p.Split(8, r),
        ),
        A,
        "workgroup",
    ),
    8,
)
sample("two kernels", fmap(double, p.To("global", fmap(lambda e: op("neg", e), x, "global")), "global"))
sample(
    "a result that is read again",
    p.Tup((p.To("global", fmap(double, x, "global")), total(p.To("global", fmap(double, x, "global"))))),
)
sample(
    "nested temporaries",
    total(p.To("global", fmap(total, p.Split(10, p.To("global", fmap(double, x, "global"))), "global"))),
)
sample("a map over groups read without toGlobal", total(fmap(total, p.Split(10, x), "workgroup")))


def _variance() -> Expr:
    mean = op("div", total(x), lit(100.0))
    off = fmap(lambda e: op("sub", p.Get(1, e), p.Get(0, e)), p.Distl(mean, x))
    return op("div", total(fmap(lambda e: op("mul", e, e), off)), lit(100.0))


sample("mean and variance", _variance())
sample(
    "centred",
    fmap(
        lambda e: op("sub", p.Get(1, e), p.Get(0, e)),
        p.Distl(op("div", total(vector("x", 400)), lit(400.0)), vector("x", 400)),
    ),
)

for form, n in ((forms.llp1, 1 << 9), (forms.llp2, 1 << 9), (forms.llp3, 1 << 10)):
    sample(form.__name__, form(n), 128)
sample("fig11_intel", forms.fig11_intel(1 << 15), 64)


def softmax(
    r: Expr, kind: str | None, keep: Callable[[Expr], Expr], reduce: Callable[[Expr, Expr, Expr], Expr]
) -> Expr:
    r = keep(r)
    largest = reduce(op("maximum", *pair(F32, F32)), lit(float("-inf")), r)
    powers = keep(fmap(lambda e: op("exp", op("sub", p.Get(1, e), p.Get(0, e))), p.Distl(largest, r), kind))
    return fmap(lambda e: op("div", p.Get(1, e), p.Get(0, e)), p.Distl(reduce(plus, lit(0.0), powers), powers), kind)


sample("softmax by items", fmap(lambda r: softmax(r, "seq", lambda e: e, p.Fold), A, "global"))
sample(
    "softmax by groups", fmap(lambda r: softmax(r, "local", lambda e: p.To("local", e), p.Tree), A, "workgroup"), 16, 3
)


def dealt_sum(n: int, workers: int, chunk: int, group: int) -> Expr:
    """The sum as a GPU wants it: work-items stride by chunks that they load as vectors, groups halve."""
    xs = vector("x", n)
    m = n // (workers * chunk) * (workers * chunk)
    rows = p.Transpose(p.Split(workers, p.Split(chunk, p.Take(m, xs))))

    def item(r: Expr) -> Expr:
        lanes = fmap(total, p.Transpose(p.Split(chunk, p.Join(r))), "vec")
        return total(p.To("private", lanes))

    parts = fmap(
        lambda g: p.Tree(plus, lit(0.0), p.To("local", fmap(item, g, "local"))), p.Split(group, rows), "workgroup"
    )
    return total(p.Concat(p.To("global", parts), p.Drop(m, xs)))


def chunked_sum(n: int, chunk: int, lanes: int) -> Expr:
    """The sum as a CPU wants it: a work-item folds the columns of its chunk as wide vectors."""
    xs = vector("x", n)
    m = n // chunk * chunk

    def item(r: Expr) -> Expr:
        return p.Tree(plus, lit(0.0), p.To("private", fmap(total, p.Transpose(p.Split(lanes, r)), "vec")))

    parts = fmap(item, p.Split(chunk, p.Take(m, xs)), "global")
    return total(p.Concat(p.To("global", parts), p.Drop(m, xs)))


sample("dealt sum", dealt_sum(1000, 32, 4, 8))
sample("chunked sum", chunked_sum(1000, 256, 64))

M = vector("M", 30, 20)


def products(matrix: Expr, v: Expr) -> Expr:
    """The inner products of a matrix' rows with a closed vector."""
    return fmap(lambda r: total(fmap(both("mul"), p.Zip((r, v)))), matrix)


sample("a product of a product", products(p.Transpose(M), products(M, vector("v", 20))))
