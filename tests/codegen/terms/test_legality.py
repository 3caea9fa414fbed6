"""What has no OpenCL is rejected before anything is emitted, with the expression and what to do."""

from __future__ import annotations

import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.ir import patterns as p
from egglift.ir.errors import CodegenError
from egglift.ir.patterns import Expr
from egglift.ir.types import F32, Array
from tests.codegen.low import add_of, fmap, lit, op, pair, total, vector

A = vector("A", 6, 40)
ROWS, ROW = pair(Array(40, F32), Array(40, F32)), pair(Array(7, F32), F32)
cube = vector("cube", 3, 5, 7)
PLUS = add_of()


def negated(e: Expr) -> Expr:
    return op("neg", e)


def added(e: Expr) -> Expr:
    return op("add", p.Get(0, e), p.Get(1, e))


def nested(outer: str, inner: str, d: int = 0) -> Expr:
    return fmap(lambda r: fmap(negated, r, inner, d), A, outer, d)


def items_inside(f: object, x: Expr) -> Expr:
    """`f` of the planes of a cube, its rows spread over the second dimension of a group."""
    return fmap(lambda m: fmap(f, m, "local", 1), x, "workgroup")


REJECTED: dict[str, tuple[Expr, str]] = {
    "local in local": (nested("local", "local"), "mapLocal0 inside mapLocal0; use another dimension"),
    "local in global": (nested("global", "local"), "mapLocal0 stands below mapGlobal"),
    "groups in items": (nested("local", "workgroup"), "mapWorkgroup0 stands below mapLocal"),
    "global in groups": (nested("workgroup", "global"), "mapGlobal0 stands below mapWorkgroup"),
    "lanes without warps": (nested("workgroup", "lane"), "mapLane stands below mapWorkgroup"),
    "items in a vector": (fmap(lambda r: fmap(negated, r, "local"), vector("V", 8, 4), "vec"), "inside mapVec"),
    "a vector of six": (fmap(negated, vector("v", 6), "vec"), "mapVec over 6 elements"),
    "a vector of 256": (fmap(negated, vector("v", 256), "vec"), "mapVec over 256 elements"),
    "groups in a fold": (
        p.Fold(fmap(added, p.Zip(ROWS), "workgroup"), p.Fill(40, lit(0.0)), A),
        "work-groups cannot wait for each other",
    ),
    "staging below items": (
        fmap(lambda r: fmap(lambda q: total(p.To("local", q)), p.Split(4, r), "local"), A, "workgroup"),
        "toLocal is filled by a whole work-group, but stands below mapLocal",
    ),
    "staging below global": (fmap(lambda r: total(p.To("local", r)), A, "global"), "stands below mapGlobal"),
    "a spread result read by one item": (
        items_inside(lambda r: total(fmap(negated, r, "local")), cube),
        "spread over the private memories",
    ),
    "a private array that others read": (
        fmap(lambda r: total(p.To("private", fmap(negated, r, "local"))), A, "workgroup"),
        "spread over the private memories",
    ),
    "a spread accumulator": (
        items_inside(
            lambda r: p.Fold(fmap(added, p.Zip((ROW[0], p.Fill(7, ROW[1]))), "local"), p.Fill(7, lit(0.0)), r), cube
        ),
        "spread over the private memories",
    ),
    "global memory inside a map": (
        fmap(lambda r: total(p.To("global", fmap(negated, r, "seq"))), A, "global"),
        "toGlobal of a value that depends on a map's argument",
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_illegal_nesting_names_the_expression_and_the_remedy(name: str) -> None:
    term, message = REJECTED[name]
    with pytest.raises(CodegenError) as error:
        compile_term(term, Launch(group_size=8))
    assert message in str(error.value)


def test_too_much_local_memory_names_the_bytes() -> None:
    term = fmap(lambda r: fmap(negated, p.To("local", r), "local"), vector("M", 4, 1000), "workgroup")
    with pytest.raises(CodegenError, match=r"4000 bytes of local memory, the device has 2048; choose a smaller tile"):
        compile_term(term, limits=DeviceLimits(local_bytes=2048))
    assert compile_term(term, limits=DeviceLimits(local_bytes=4000)).kernels[0].local_bytes == 4000


def test_too_much_private_memory_names_the_bytes() -> None:
    term = fmap(lambda r: total(p.To("private", r)), vector("M", 4, 1000), "global")
    with pytest.raises(CodegenError, match=r"4000 bytes of private memory, the limit is 1024"):
        compile_term(term, limits=DeviceLimits(private_bytes=1024))


def test_work_groups_beyond_the_devices_are_refused() -> None:
    with pytest.raises(CodegenError, match="work-groups of 2048: the device allows 1 to 1024"):
        compile_term(fmap(negated, vector("v", 9), "global"), Launch(group_size=2048))


def test_warps_need_work_groups_of_32() -> None:
    term = fmap(lambda r: fmap(lambda q: fmap(negated, q, "lane"), p.Split(8, r), "warp"), A, "workgroup")
    with pytest.raises(CodegenError, match="need work-groups of 32 or more, not 16"):
        compile_term(term, Launch(group_size=16))


def test_a_large_constant_is_refused() -> None:
    big = p.Constant(Array(1 << 14, F32), bytes(1 << 16))
    with pytest.raises(CodegenError, match="a constant of 65536 bytes; pass it as an input"):
        compile_term(fmap(negated, big, "global"))


def test_local_memory_of_disjoint_lifetimes_is_used_again() -> None:
    def staged(name: str) -> Expr:
        row = lambda r: fmap(negated, p.Stride(5, p.To("local", r)), "local")  # noqa: E731
        return fmap(row, vector(name, 6, 40), "workgroup")

    one, two = compile_term(staged("A")), compile_term(p.Tup((staged("A"), staged("B"))))
    assert two.kernels[0].local_bytes == one.kernels[0].local_bytes == 160
