"""Samples of scans: in sequence, by doubling, and by a group whose work-items have a run of elements each."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.backwards import backwards
from egglift.ir.check import type_of
from egglift.ir.operators import named
from egglift.ir.patterns import Expr
from egglift.ir.types import BOOL, F32, I32, Array, Tuple
from tests.codegen.low import elem, fmap, lit, op, pair, vector
from tests.codegen.samples.base import A, both, cube, double, plus, sample, x, y

SUM = named("add", F32)
START = lit(0.5)


def seq(e: Expr, init: Expr = START) -> Expr:
    return p.ScanSeq(p.Tup((plus, plus)), init, e)


def doubled(e: Expr, init: Expr = START) -> Expr:
    return p.ScanDoubling(plus, init, e)


sample("scan", p.Scan(SUM, START, x))
sample("scan of nothing", p.Scan(SUM, START, p.Take(0, x)))
sample("scan of a concatenation", p.Scan(SUM, START, p.Concat(x, fmap(double, y))))
sample("scan that is read", fmap(double, p.Scan(SUM, START, x), "global"))
sample("scan that is written elsewhere", p.Take(70, p.Drop(3, p.Roll(5, seq(x)))))
sample("scan that is written backwards", p.Take(70, backwards(seq(x))))
sample("scans that are written backwards", fmap(backwards, fmap(seq, A, "global")))
sample("scans of rows", fmap(seq, A, "global"))
sample("scans of columns", p.Transpose(fmap(seq, p.Transpose(A), "global")))
sample(
    "scans of columns in lanes",
    p.Transpose(p.Join(fmap(lambda c: fmap(seq, c, "vec"), p.Split(8, p.Transpose(A)), "global"))),
)
sample(
    "scans of rows, all of which are read", fmap(lambda r: fmap(both("sub"), p.Zip((seq(r), r)), "seq"), A, "global")
)
COUNT, FLAG = pair(I32, BOOL)
COUNTED = op("add", COUNT, p.Cast(I32, FLAG))
FLAGS = vector("flags", 50, t=BOOL)
sample("scan of another type than its elements", p.ScanSeq(p.Tup((COUNTED, COUNTED)), lit(3, I32), FLAGS))
sample("scan without an element's own", p.ScanSeq(p.Tup((COUNTED, COUNT)), lit(3, I32), FLAGS))
sample(
    "scan that keeps pairs of what it carries", p.ScanSeq(p.Tup((COUNTED, p.Tup((FLAG, COUNTED)))), lit(3, I32), FLAGS)
)


def of_segments() -> p.Operator:
    """Sums of segments: pairs of a flag and a number."""
    a, b = pair(Tuple((BOOL, F32)), Tuple((BOOL, F32)))
    added = op("add", p.Get(1, a), p.Get(1, b))
    body = p.Tup((op("logical_or", p.Get(0, a), p.Get(0, b)), op("where", p.Get(0, b), p.Get(1, b), added)))
    return p.Operator("segments", body, True, False)


SEGMENTS = p.Zip((vector("flags", 100, t=BOOL), x))
NOTHING = p.Tup((lit(False, BOOL), lit(0.0)))
sample("scan of segments", p.Scan(of_segments(), NOTHING, SEGMENTS))
sample(
    "scan of segments by doubling",
    fmap(lambda r: p.ScanDoubling(of_segments().body, NOTHING, r), p.Split(25, SEGMENTS), "workgroup"),
)
for n in (1, 2, 3, 16, 17, 100):
    sample(f"scan of {n} by doubling", fmap(doubled, vector("x", 2, n), "workgroup"))
sample("scan of nothing by doubling", doubled(p.Take(0, x)))
sample("scan by doubling of one work-item", fmap(doubled, A, "global"))
sample("scan by doubling that is read", fmap(lambda r: fmap(double, doubled(r), "local"), A, "workgroup"))


def by_group(run: int, e: Expr, init: Expr) -> Expr:
    """A tile by a group: totals of runs in local memory, a scan of these, and each run from what precedes it."""
    n = type_of(e)
    assert isinstance(n, Array) and isinstance(n.length, int)
    runs = p.To("local", p.Split(run, p.PadUp(run, e)), 1)
    totals = fmap(lambda r: p.Fold(plus, p.At(0, r), p.Drop(1, r)), runs, "local")
    count = -(-n.length // run)
    starts = p.Pad(1, 0, "constant", p.Take(count - 1, doubled(p.To("local", totals), init)), init)
    scanned = p.Map(
        seq(pair(F32, elem(runs))[1], pair(F32, elem(runs))[0]),
        p.Zip((starts, runs)),
        p.Level("local", 0),
    )
    return p.Take(n.length, p.Join(p.To("local", scanned, 1)))


def rows_by_groups(run: int) -> Expr:
    """All rows of A, each by a group."""
    return fmap(lambda r: by_group(run, r, START), A, "workgroup")


for run in (1, 3, 4, 40):
    sample(f"scans of rows by groups, runs of {run}", rows_by_groups(run), 8)
sample(
    "scan in chunks",
    p.Take(100, p.Join(fmap(lambda r: by_group(2, r, START), p.Split(16, p.PadUp(16, x)), "workgroup"))),
    4,
)
sample("scans of cubes by groups", fmap(lambda m: fmap(seq, m, "local"), cube, "workgroup"), 4)
