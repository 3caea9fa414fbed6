"""`a @ b` as patterns: inner products of rows and columns, as NumPy's matmul has it."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir import promotion, trace
from egglift.ir.check import type_of
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.operators import named
from egglift.ir.patterns import Expr
from egglift.ir.text import brief
from egglift.ir.types import Scalar, dims


def matmul(a: Expr, b: Expr) -> Expr:
    """`A @ B` -> `map (\\row. map (\\column. sum (row * column)) (transpose B)) A`.

    A vector is a row on the left and a column on the right.  Stacks of matrices are multiplied matrix by matrix.
    ShapeError where the rows of `a` are not as long as the columns of `b`.
    """
    left, right = dims(type_of(a)), dims(type_of(b))
    for e, lengths in ((a, left), (b, right)):
        if not lengths:
            raise TypeMismatch(f"@ of {brief(e)}, which is {type_of(e)}: it takes arrays; use * for scalars")
    inner = right[-2] if len(right) > 1 else right[0]
    if left[-1] != inner:
        both = f"{type_of(a)} ({brief(a, 40)}) and {type_of(b)} ({brief(b, 40)})"
        raise ShapeError(f"@ of {both}: rows of {left[-1]} and columns of {inner}; transpose one of them (.T)?")
    if len(left) > 2 and len(left) == len(right):
        if left[:-2] != right[:-2]:
            raise ShapeError(
                f"@ of {type_of(a)} ({brief(a, 40)}) and {type_of(b)} ({brief(b, 40)}): the stacks of matrices "
                "must be of one shape, or one of the two a single matrix"
            )
        return trace.map_body(lambda pair: matmul(p.Get(0, pair), p.Get(1, pair)), p.Zip((a, b)))
    if len(left) > max(len(right), 1):  # rows, or a stack, each times the whole of b
        return trace.map_body(lambda part: matmul(part, b), a)
    if len(right) > 2:
        return trace.map_body(lambda part: matmul(a, part), b)
    if len(left) == 2:
        return trace.map_body(lambda row: matmul(row, b), a)
    if len(right) == 2:
        return trace.map_body(lambda column: inner_product(a, column), p.Transpose(b))
    return inner_product(a, b)


def inner_product(x: Expr, y: Expr) -> Expr:
    """`sum (x * y)` of two vectors: `reduce (+) 0 (map (*) (zip x y))`; of f16 and bf16 in f32, rounded once."""
    pairs = p.Zip((x, y))
    products = trace.map_body(lambda v: promotion.apply("mul", p.Get(0, v), p.Get(1, v)), pairs)
    t = trace.element_of(products)
    if isinstance(t, Scalar) and t.is_narrow:
        wide = trace.map_body(lambda v: promotion.apply("mul", *(_wide(p.Get(i, v), t) for i in (0, 1))), pairs)
        return promotion.cast(_sum(wide), t)
    return _sum(products)


def _wide(x: Expr, t: Scalar) -> Expr:
    return promotion.cast(x, t.computed)


def _sum(products: Expr) -> Expr:
    op = named("add", trace.element_of(products))
    assert op.neutral is not None  # sums have one for every type that named takes
    return p.Reduce(op, op.neutral, products)
