"""Small low-level programs over every level, pattern and position: run on PoCL, under Oclgrind, and printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.programs import reduction_forms as forms
from egglift.codegen.imperative import Launch
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import BOOL, F32, F64, I8, I32, I64, U8, U64, Array, Scalar, Tuple, Type
from tests.codegen.low import add_of, fmap, lit, op, pair, total, vector

Inputs = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """A program, how it is launched, and its inputs (small integers where not given)."""

    term: Expr
    launch: Launch = Launch(group_size=16)
    given: Inputs = field(default_factory=dict)

    def inputs(self) -> Inputs:
        from egglift.ir.signature import inputs_of

        rng = np.random.default_rng(7)
        return {name: self.given.get(name, _values(t, (), rng)) for name, t in inputs_of(self.term).items()}


def _values(t: Type, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    match t:
        case Tuple(items):
            return tuple(_values(i, shape, rng) for i in items)
        case Array(n, element):
            assert isinstance(n, int)
            return _values(element, (*shape, n), rng)
        case _:
            low = 0 if t == BOOL or not t.is_signed else -8
            return np.asarray(rng.integers(low, 2 if t == BOOL else 9, shape)).astype(t.dtype)


SAMPLES: dict[str, Sample] = {}


def sample(name: str, term: Expr | Callable[[], Expr], group_size: int = 16, max_groups: int = 1 << 20, **given: Any) -> None:
    SAMPLES[name] = Sample(term() if callable(term) else term, Launch(group_size, max_groups), given)


x, y, z = vector("x", 100), vector("y", 100), vector("z", 100)
A, B = vector("A", 6, 40), vector("B", 40, 5)
cube = vector("cube", 3, 5, 7)
arg = p.Arg(F32)
plus = add_of()


def double(e: Expr) -> Expr:
    return op("mul", lit(2.0), e)


def row(n: int, t: Type = F32) -> Expr:
    """The argument of a body over arrays of n."""
    return p.Arg(Array(n, t))


def both(f: str) -> Callable[[Expr], Expr]:
    """The function `f` of a pair's components."""
    return lambda e: op(f, p.Get(0, e), p.Get(1, e))


# ---------------------------------------------------------------------------------------- levels

sample("axpy", fmap(lambda e: op("add", double(p.Get(0, e)), p.Get(1, e)), p.Zip((x, y)), "global"))
sample("global with a grid stride", fmap(double, x, "global"), 16, 2)
sample("three global dimensions", fmap(lambda m: fmap(lambda r: fmap(double, r, "global"), m, "global", 1), cube, "global", 2), 8)
sample("three global dimensions, few groups", fmap(lambda m: fmap(lambda r: fmap(double, r, "global"), m, "global", 1), cube, "global", 2), 8, 3)
sample("groups and items", p.Join(fmap(lambda r: fmap(double, r, "local"), p.Split(25, x), "workgroup")))
sample("groups and items, fewer groups", p.Join(fmap(lambda r: fmap(double, r, "local"), p.Split(25, x), "workgroup")), 16, 3)
sample("two local dimensions", fmap(lambda m: fmap(lambda r: fmap(double, r, "local"), m, "local", 1), cube, "workgroup"), 32)
sample("two dimensions of groups", fmap(lambda m: fmap(lambda r: fmap(double, r, "local"), m, "workgroup"), cube, "workgroup", 1))
sample("sequential", fmap(lambda r: fmap(double, r, "seq"), A, "seq"))
sample("unrolled", fmap(lambda r: fmap(double, r, "unroll"), A, "global"))
sample("no level at all", fmap(lambda r: fmap(double, r), A))
sample("a sequential map around groups", fmap(lambda r: fmap(double, r, "workgroup"), A, "seq"))
sample("two results from one kernel", p.Tup((fmap(double, x, "global"), total(vector("w", 9)))))
sample("an input as it is", x)
sample("a matrix as it is", A)
sample("a scalar", double(p.Input("s", F32)))
sample("a literal", lit(2.5))
sample("warps and lanes", fmap(lambda r: fmap(lambda q: fmap(double, q, "lane"), p.Split(50, r), "warp"), p.Split(100, vector("x", 300)), "workgroup"), 64)
sample("lanes that exchange", p.Join(fmap(lambda r: fmap(lambda q: fmap(both("add"), p.Zip((fmap(double, q, "lane"), p.Stride(5, fmap(double, q, "lane")))), "lane"), p.Split(20, r), "warp"), p.Split(60, vector("x", 240)), "workgroup")), 64)

# ---------------------------------------------------------------------------------------- layout, read and written

sample("transpose", p.Transpose(A))
sample("transpose of a computed matrix", p.Transpose(fmap(lambda r: fmap(double, r), A, "global")))
sample("split and join around a map", p.Join(fmap(lambda r: fmap(double, r), p.Split(20, x), "global")))
sample("split of a computed array", p.Split(10, fmap(double, x, "global")))
sample("stride read", fmap(double, p.Stride(4, x), "global"))
sample("stride written", p.Stride(4, fmap(double, x, "global")))
sample("deal and its inverse", p.Join(fmap(lambda r: r, p.Transpose(fmap(lambda r: fmap(double, r), p.Transpose(p.Split(20, x)), "global")))))
sample("slide", fmap(total, p.Slide(3, 1, x), "global"))
sample("slide by two", fmap(total, p.Slide(4, 3, x), "global"))
for mode in ("clamp", "mirror", "wrap"):
    sample(f"pad {mode}", fmap(total, p.Slide(5, 1, p.Pad(2, 2, mode, x)), "global"))
    sample(f"pad {mode} beyond the length", p.Pad(7, 9, mode, vector("x", 3)))
sample("pad with a constant", fmap(total, p.Slide(5, 1, p.Pad(2, 2, "constant", x, lit(1.5))), "global"))
sample("pad rows with a constant", p.Pad(1, 2, "constant", A, p.Fill(40, lit(1.5))))
sample("pad up", fmap(lambda r: fmap(double, r), p.Split(16, p.PadUp(16, x)), "global"))
sample("pad up and take", p.Take(100, p.Join(fmap(lambda r: fmap(double, r), p.Split(16, p.PadUp(16, x)), "global"))))
sample("pad up and take by groups", p.Take(100, p.Join(fmap(lambda r: fmap(double, r, "local"), p.Split(16, p.PadUp(16, x, lit(0.0))), "workgroup"))))
sample("drop of a computed array", p.Drop(30, fmap(double, x, "global")))
sample("concat read", fmap(double, p.Concat(x, y), "global"))
sample("concat written", p.Concat(fmap(double, x, "global"), fmap(lambda e: op("neg", e), y, "global")))
sample("peeled map", p.Concat(p.Join(fmap(lambda r: fmap(double, r, "vec"), p.Split(8, p.Take(96, x)), "global")), fmap(double, p.Drop(96, x))))
sample("gather", fmap(double, p.Gather(vector("i", 60, t=I32), x), "global"), i=np.arange(60).astype("i4") * 7 % 131 - 10)
sample("gather by 64-bit numbers", p.Gather(vector("i", 4, t=U64), x), i=np.array([3, 99, 1 << 40, (1 << 64) - 1], "u8"))
sample("gather by an index function", p.Gather(fmap(lambda i: op("sub", lit(99, I32), i), p.Iota(100, I32)), x))
sample("gather of rows", fmap(total, p.Gather(vector("i", 9, t=I8), A), "global"), i=np.array([5, 0, -3, 2, 127, 1, 1, 0, 4], "i1"))
sample("at", op("add", p.At(3, x), p.At(2, p.At(1, A))))
sample("iota", fmap(lambda i: op("mul", i, i), p.Iota(40, I32), "global"))
sample("iota of bytes wraps around", p.Iota(300, U8))
sample("cross", fmap(lambda r: fmap(both("mul"), r, "global"), p.Cross(x, y), "global", 1), 64)
sample("fill", p.Fill(7, total(x)))
sample("constants", fmap(both("mul"), p.Zip((p.Fill(4, p.At(0, x)), p.Constant(Array(4, F32), np.array([1.5, -2.0, 0.25, 3.0], "f4").tobytes()))), "global"))
sample("a constant matrix", fmap(lambda r: fmap(both("add"), p.Zip((r, p.Take(3, x)))), p.Constant(Array(2, Array(3, F32)), np.arange(6, dtype="f4").tobytes()), "global"))
sample("layout map written", fmap(lambda r: p.Join(p.Transpose(p.Split(10, r))), fmap(lambda r: fmap(double, r), A, "global")))
sample("zip written", p.Zip((fmap(double, x, "global"), fmap(lambda e: op("neg", e), y, "global"))))
sample("three dimensions transposed", fmap(lambda m: p.Transpose(m), p.Transpose(cube)))

# ---------------------------------------------------------------------------------------- folds

sample("sum", total(x))
sample("sum with a level-less map", total(fmap(lambda e: op("abs", e), x)))
sample("sum over a concatenation", total(p.Concat(p.Concat(x, y), fmap(double, z))))
sample("dot of tuples", p.Fold(op("add", p.Get(0, p.Arg(Tuple((F32, Tuple((F32, F32)))))), both("mul")(p.Get(1, p.Arg(Tuple((F32, Tuple((F32, F32)))))))), lit(0.0), p.Zip((x, y))))
sample("fold unrolled", p.Fold(plus, lit(1.0), vector("w", 5), unroll=True))
sample("fold of folds", total(fmap(total, A)))
sample("fold with its accumulator inside", p.Fold(p.Fold(plus, p.Get(0, p.Arg(Tuple((F32, Array(40, F32))))), p.Get(1, p.Arg(Tuple((F32, Array(40, F32)))))), lit(0.5), A))
sample("gemv", fmap(lambda r: total(fmap(both("mul"), p.Zip((r, p.Take(40, x))))), A, "global"))
sample("matrix product", fmap(lambda r: fmap(lambda q: total(fmap(both("mul"), p.Zip((p.Get(0, q), p.Get(1, q))))), p.Distl(r, p.Transpose(B)), "global"), A, "global", 1))


def array_accumulator(level: str) -> Expr:
    """Column sums of A."""
    acc, element = pair(Array(40, F32), Array(40, F32))
    return p.Fold(fmap(both("add"), p.Zip((acc, element)), level), p.Fill(40, lit(0.0)), A)


sample("array accumulator", array_accumulator("seq"))
sample("array accumulator, unrolled", array_accumulator("unroll"))
sample("array accumulator, vectors", p.Fold(fmap(both("add"), p.Zip(pair(Array(8, F32), Array(8, F32))), "vec"), p.Fill(8, lit(0.0)), vector("V", 9, 8)))
sample("array accumulator in local memory", fmap(lambda m: p.Fold(fmap(both("add"), p.Zip(pair(Array(7, F32), Array(7, F32))), "local"), p.Fill(7, lit(0.0)), m), cube, "workgroup"), 4)


def moved_accumulator(level: str, m: Expr) -> Expr:
    """acc := acc reversed + element: not element by element."""
    acc, element = pair(Array(7, F32), Array(7, F32))
    back = p.Gather(fmap(lambda i: op("sub", lit(6, I32), i), p.Iota(7, I32)), acc)
    return p.Fold(fmap(both("add"), p.Zip((back, element)), level), p.Fill(7, lit(1.0)), m)


sample("an accumulator that moves", moved_accumulator("seq", vector("m", 5, 7)))
sample("an accumulator that moves, in local memory", fmap(lambda m: moved_accumulator("local", m), cube, "workgroup"), 4)
sample("whole accumulator read", p.Fold(fmap(lambda e: op("add", total(p.Get(0, e)), p.Get(1, e)), p.Distl(*pair(Array(4, F32), Array(4, F32))), "seq"), p.Fill(4, lit(0.0)), vector("m", 5, 4)))


def swapped() -> Expr:
    """<a, b> := <b, a + e>: a simultaneous assignment."""
    state = p.Arg(Tuple((Tuple((F32, F32)), F32)))
    a, b, e = p.Get(0, p.Get(0, state)), p.Get(1, p.Get(0, state)), p.Get(1, state)
    return p.Fold(p.Tup((b, op("add", a, e))), p.Tup((lit(0.0), lit(1.0))), x)


sample("simultaneous accumulators", swapped())


def arg_max(n: int) -> Expr:
    """The largest element and where it is."""
    item = Tuple((F32, I32))
    a, b = pair(item, item)
    better = op("ge", p.Get(0, a), p.Get(0, b))
    body = p.Tup((op("where", better, p.Get(0, a), p.Get(0, b)), op("where", better, p.Get(1, a), p.Get(1, b))))
    start = p.Tup((lit(float("-inf")), lit(0, I32)))
    return p.Fold(body, start, p.Zip((p.Input("x", Array(n, F32)), p.Iota(n, I32))))


sample("argmax", arg_max(100))
sample("iterate a scalar", p.Iterate(5, op("add", double(arg), lit(1.0)), p.Input("s", F32)))
sample("iterate rows", fmap(lambda r: p.Iterate(3, fmap(double, row(40)), r), A, "global"))
sample("iterate the grid", p.Iterate(4, fmap(total, p.Slide(3, 1, p.Pad(1, 1, "clamp", row(100)))), x))
sample("iterate the grid, once", p.Iterate(1, fmap(double, row(100)), x))
sample("iterate the grid, never", p.Iterate(0, fmap(double, row(100)), x))
sample("iterate, then map", fmap(double, p.To("global", p.Iterate(3, fmap(double, row(100)), fmap(double, x)))))
sample("iterate in a group", fmap(lambda r: p.Iterate(3, fmap(total, p.Slide(3, 1, p.Pad(1, 1, "wrap", row(40))), "local"), r), A, "workgroup"))

# ---------------------------------------------------------------------------------------- trees and staging

for n in (1, 2, 3, 7, 16, 37):
    rows = vector("rows", 3, n)
    sample(f"tree of {n} by a group", fmap(lambda r: p.Tree(plus, lit(0.5), p.To("local", r)), rows, "workgroup"), 8)
    sample(f"tree of {n} by an item", fmap(lambda r: p.Tree(plus, lit(0.5), r), rows, "global"), 8)
sample("tree at the root", p.Tree(plus, lit(0.0), p.To("local", x)))
sample("tree of tuples", p.Tree(arg_max(4).body, arg_max(4).init, p.Zip((x, p.Iota(100, I32)))))  # type: ignore[union-attr]
sample("tree of rows", fmap(lambda m: p.Tree(fmap(both("add"), p.Zip(pair(Array(7, F32), Array(7, F32))), "seq"), p.Fill(7, lit(0.0)), m), cube, "workgroup"), 4)
sample("staged row read twice", fmap(lambda r: fmap(both("sub"), p.Zip((p.To("local", r), p.Stride(5, p.To("local", r)))), "local"), A, "workgroup"))
sample("staged rows, fewer groups", fmap(lambda r: fmap(both("sub"), p.Zip((p.To("local", r), p.Stride(5, p.To("local", r)))), "local"), A, "workgroup"), 16, 2)
sample("staged transposed", fmap(lambda m: fmap(lambda r: total(r), p.To("local", p.Transpose(m)), "local"), cube, "workgroup"), 4)
sample("staged four at once", fmap(lambda r: fmap(double, p.Stride(4, p.To("local", r)), "local"), vector("M", 3, 64), "workgroup"), 4)
sample("a constant array staged", fmap(lambda r: fmap(both("mul"), p.Zip((r, p.To("local", p.Take(40, x)))), "local"), A, "workgroup"))
sample("private row", fmap(lambda r: total(p.Concat(p.To("private", r), p.To("private", r))), A, "global"))
sample("a concatenation staged", fmap(lambda r: total(p.To("private", p.Concat(r, p.Take(3, r)))), A, "global"))
sample("local fold chunks", fmap(lambda r: p.Fold(op("add", p.Get(0, p.Arg(Tuple((F32, Array(8, F32))))), p.Tree(plus, lit(0.0), p.To("local", p.Get(1, p.Arg(Tuple((F32, Array(8, F32)))))))), lit(0.0), p.Split(8, r)), A, "workgroup"), 8)
sample("two kernels", fmap(double, p.To("global", fmap(lambda e: op("neg", e), x, "global")), "global"))
sample("a result that is read again", p.Tup((p.To("global", fmap(double, x, "global")), total(p.To("global", fmap(double, x, "global"))))))
sample("nested temporaries", total(p.To("global", fmap(total, p.Split(10, p.To("global", fmap(double, x, "global"))), "global"))))
sample("a map over groups read without toGlobal", total(fmap(total, p.Split(10, x), "workgroup")))


def _variance() -> Expr:
    mean = op("div", total(x), lit(100.0))
    off = fmap(lambda e: op("sub", p.Get(1, e), p.Get(0, e)), p.Distl(mean, x))
    return op("div", total(fmap(lambda e: op("mul", e, e), off)), lit(100.0))


SAMPLES["mean and variance"] = Sample(_variance())
sample("centred", fmap(lambda e: op("sub", p.Get(1, e), p.Get(0, e)), p.Distl(op("div", total(vector("x", 400)), lit(400.0)), vector("x", 400))))

for form, n in ((forms.llp1, 1 << 9), (forms.llp2, 1 << 9), (forms.llp3, 1 << 10)):
    sample(form.__name__, form(n), 128)
sample("fig11_intel", forms.fig11_intel(1 << 15), 64)


def softmax(r: Expr, kind: str | None, keep: Callable[[Expr], Expr], reduce: Callable[[Expr, Expr, Expr], Expr]) -> Expr:
    r = keep(r)
    largest = reduce(op("maximum", *pair(F32, F32)), lit(float("-inf")), r)
    powers = keep(fmap(lambda e: op("exp", op("sub", p.Get(1, e), p.Get(0, e))), p.Distl(largest, r), kind))
    return fmap(lambda e: op("div", p.Get(1, e), p.Get(0, e)), p.Distl(reduce(plus, lit(0.0), powers), powers), kind)


sample("softmax by items", fmap(lambda r: softmax(r, "seq", lambda e: e, p.Fold), A, "global"))
sample("softmax by groups", fmap(lambda r: softmax(r, "local", lambda e: p.To("local", e), p.Tree), A, "workgroup"), 16, 3)


def dealt_sum(n: int, workers: int, chunk: int, group: int) -> Expr:
    """The sum as a GPU wants it: work-items stride by chunks that they load as vectors, groups halve."""
    xs = vector("x", n)
    m = n // (workers * chunk) * (workers * chunk)
    rows = p.Transpose(p.Split(workers, p.Split(chunk, p.Take(m, xs))))

    def item(r: Expr) -> Expr:
        lanes = fmap(total, p.Transpose(p.Split(chunk, p.Join(r))), "vec")
        return total(p.To("private", lanes))

    parts = fmap(lambda g: p.Tree(plus, lit(0.0), p.To("local", fmap(item, g, "local"))), p.Split(group, rows), "workgroup")
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

# ---------------------------------------------------------------------------------------- vectors


def by_vectors(f: Callable[[Expr], Expr], width: int, xs: Expr) -> Expr:
    return p.Join(fmap(lambda r: fmap(f, r, "vec"), p.Split(width, xs), "global"))


def numbers(t: Scalar, n: int = 128) -> Expr:
    return vector("v", n, t=t)


for t, width in ((F32, 4), (F32, 16), (F64, 8), (I8, 16), (U8, 64), (I64, 2), (F32, 128)):
    sample(f"vectors of {width} {t}", by_vectors(lambda e, t=t: op("add", op("mul", e, e), lit(3, t)), width, numbers(t)))
sample("vectors of bool", by_vectors(lambda e: op("logical_not", e), 16, numbers(BOOL)))
sample("masks", by_vectors(lambda e: op("logical_and", op("lt", p.Get(0, e), p.Get(1, e)), p.Get(2, e)), 8, p.Zip((numbers(F64), vector("u", 128, t=F64), vector("b", 128, t=BOOL)))))
sample("masks of several widths", by_vectors(lambda e: op("where", op("logical_or", op("lt", p.Get(0, e), lit(0, I8)), op("gt", p.Get(1, e), lit(1.0, F64))), p.Get(1, e), p.Cast(F64, p.Get(0, e))), 4, p.Zip((numbers(I8), vector("u", 128, t=F64)))))
sample("vectors not aligned", by_vectors(double, 4, p.Take(96, p.Drop(3, x))))
sample("vectors with a stride", by_vectors(double, 4, p.Stride(4, x)))
sample("vectors of windows", by_vectors(total, 4, p.Take(96, p.Slide(3, 1, x))))
sample("vectors padded", by_vectors(total, 4, p.Slide(3, 1, p.Pad(1, 1, "constant", x, lit(9.0)))))
sample("vectors clamped", by_vectors(total, 4, p.Slide(3, 1, p.Pad(1, 1, "clamp", x))))
sample("vectors padded up and taken", p.Take(100, by_vectors(double, 8, p.PadUp(8, x))))
sample("vectors gathered", by_vectors(double, 4, p.Gather(vector("i", 64, t=I32), x)), i=np.arange(64).astype("i4") * 37 % 120 - 9)
sample("vectors written transposed", p.Transpose(fmap(lambda r: fmap(double, r, "vec"), vector("M", 8, 16), "global")))
sample("vectors with a broadcast", p.Join(fmap(lambda r: fmap(both("mul"), p.Distl(total(r), r), "vec"), p.Split(4, x), "global")))
sample("lanes that iterate arrays", fmap(lambda r: fmap(lambda c: total(p.Iterate(2, fmap(double, p.Arg(Array(3, F32)), "seq"), c)), p.Transpose(r), "vec"), vector("M", 2, 3, 8), "global"))
sample("lanes with trees", fmap(lambda r: fmap(lambda c: p.Tree(plus, lit(0.0), c), p.Transpose(r), "vec"), vector("M", 2, 5, 8), "global"))
sample("lanes with conditions that need statements", by_vectors(total, 4, p.Slide(3, 1, p.Pad(1, 1, "constant", fmap(total, vector("M", 32, 5)), lit(9.0)))))
sample("iota in lanes", by_vectors(lambda i: op("mul", i, lit(3, I32)), 8, p.Iota(64, I32)))
sample("bool accumulators in lanes", fmap(lambda r: fmap(lambda c: p.Fold(op("logical_or", *pair(BOOL, BOOL)), lit(False, BOOL), c), p.Transpose(r), "vec"), vector("M", 3, 5, 8, t=BOOL), "global"))
sample("argmax of lanes", fmap(lambda r: fmap(lambda c: p.Fold(arg_max(5).body, arg_max(5).init, p.Zip((c, p.Iota(5, I32)))), p.Transpose(r), "vec"), vector("M", 3, 5, 4), "global"))  # type: ignore[union-attr]

# ---------------------------------------------------------------------------------------- lengths nought and one

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
sample("peeled to nothing", p.Concat(p.Join(fmap(lambda r: fmap(double, r, "vec"), p.Split(4, p.Take(100, x)), "global")), fmap(double, p.Drop(100, x))))
sample("a tuple of arrays", fmap(lambda r: p.Tup((total(r), fmap(double, r))), A, "global"))
sample("arrays of tuples", fmap(lambda e: p.Tup((p.Get(1, e), fmap(lambda q: op("add", q, lit(1, I32)), p.Get(0, e)))), p.Input("t", Array(9, Tuple((Array(4, I32), F32)))), "global"))
