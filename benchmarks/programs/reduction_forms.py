"""Low-level forms of a sum from the literature, written in egglift's patterns.

LLP1 to LLP3 are the three derived programs of Hagedorn, Steuwer and Gorlatch, "A Transformation-Based
Approach to Developing High-Performance GPU Programs" (section 4.3 and appendix C): `reduce (+) 0`.  The other
three are the expressions that Lift found for `asum = reduce (+) 0 . map abs` on three devices (ICFP 2015,
figure 11).

There, reduce gives an array of one and a `join` follows every `map (reduce ...)`; here reduce gives the
element, so those joins vanish.  A reduce that a work-item executes is a `Fold` (reduceSeq).
"""

from __future__ import annotations

from egglift.ir.patterns import (
    Apply,
    Arg,
    Expr,
    Fill,
    Fold,
    Get,
    Input,
    Join,
    Level,
    Literal,
    Map,
    Operator,
    Reduce,
    Split,
    Stride,
    To,
    Zip,
)
from egglift.ir.types import F32, Array, Tuple

PAIR = Arg(Tuple((F32, F32)))
ZERO = Literal(0.0, F32)
ADD = Operator("add", Apply("add", (Get(0, PAIR), Get(1, PAIR))), True, True, ZERO)
ADD_ABS = Apply("add", (Get(0, PAIR), Apply("abs", (Get(1, PAIR),))))  # \(a, b). a + abs b

WORKGROUP, LOCAL, WARP, LANE = Level("workgroup"), Level("local"), Level("warp"), Level("lane")
SEQ, VEC = Level("seq"), Level("vec")


def plain_sum(n: int) -> Expr:
    """`reduce (+) 0`: what LLP1 to LLP3 compute."""
    return Reduce(ADD, ZERO, _input(n))


def plain_asum(n: int) -> Expr:
    """`reduce (+) 0 . map abs`: what the forms of figure 11 compute."""
    return Reduce(ADD, ZERO, Map(Apply("abs", (Arg(F32),)), _input(n)))


def llp1(n: int) -> Expr:
    """The first, of section 4.3: halving pairs of neighbours in local memory.

    reduce (+) . mapWorkgroup (
      toGlobal . reduce (+) . (mapLocal (reduce (+)) . split 2)^7 . toLocal) . split 128
    """
    x: Expr = To("local", Arg(Array(128, F32)))
    for _ in range(7):
        x = Map(sum_of(2), Split(2, x), LOCAL)
    group = To("global", Fold(ADD.body, ZERO, x))
    return _total(Map(group, Split(128, _input(n)), WORKGROUP))


def llp2(n: int) -> Expr:
    """The second of appendix C: first additions while copying to local memory, then halving by strides.

    reduce (+) . join . mapWorkgroup (
      join . toGlobal (mapLocal (mapSeq id)) . split 1 .
      (\\xs. mapLocal (reduce (+)) . split 2 . reorderStride ((size xs)/2) xs)^7 .
      toLocal (mapLocal (reduce (+))) . split 2 . reorderStride 128) . split (2 * 128)
    """
    x: Expr = To("local", _halved(128, Arg(Array(256, F32)), LOCAL))
    for halvings in range(7):
        x = _halved(64 >> halvings, x, LOCAL)
    return _total(Join(Map(_copied_out(x), Split(256, _input(n)), WORKGROUP)))


def llp3(n: int, block_size: int = 512) -> Expr:
    """The third of appendix C: several elements for each work-item, and the last halvings within a warp.

    reduce (+) . join . mapWorkgroup (
      join . toGlobal (mapLocal (mapSeq id)) . split 1 .
      join . mapWarp (... mapLane (reduce (+)) . split 2 . reorderStride 32) . split 64 .
      mapLocal (reduce (+)) . split 2 . reorderStride 64 .
      toLocal (mapLocal (reduce (+))) . split (blockSize/128) . reorderStride 128) . split blockSize

    `block_size`: a multiple of 128 that divides n.
    """
    each = block_size // 128
    staged = To("local", Map(sum_of(each), Split(each, Stride(128, Arg(Array(block_size, F32)))), LOCAL))
    warp: Expr = Arg(Array(64, F32))
    for halvings in range(6):
        warp = _halved(32 >> halvings, warp, LANE)
    x = Join(Map(warp, Split(64, _halved(64, staged, LOCAL)), WARP))
    return _total(Join(Map(_copied_out(x), Split(block_size, _input(n)), WORKGROUP)))


def fig11_nvidia(n: int) -> Expr:
    """Work-items fold strided elements.

    reduceSeq . join . join . mapWorkgroup (
      toGlobal (mapLocal (reduceSeq (\\(a, b). a + abs b) 0)) . reorderStride 2048) . split 128 . split 2048

    reorderStride applies to a work-group's elements as one array; n is a multiple of 128 * 2048.
    """
    chunk = Arg(Array(128, Array(2048, F32)))
    strided = Split(2048, Stride(2048, Join(chunk)))
    group = To("global", Map(Fold(ADD_ABS, ZERO, Arg(Array(2048, F32))), strided, LOCAL))
    return _total(Join(Map(group, Split(128, Split(2048, _input(n))), WORKGROUP)))


def fig11_amd(n: int) -> Expr:
    """Work-items fold pairs.

    reduceSeq . join . joinVec . join . mapWorkgroup (
      mapLocal (reduceSeq (mapVec 2 (\\(a, b). a + abs b)) 0 . reorderStride 2048)) .
    split 128 . splitVec 2 . split 4096

    n is a multiple of 128 * 4096.
    """
    item = _vector_sum(2, Stride(2048, Arg(Array(2048, Array(2, F32)))))
    group = Map(item, Arg(Array(128, Array(2048, Array(2, F32)))), LOCAL)
    vectors = Map(Split(2, Arg(Array(4096, F32))), Split(4096, _input(n)))
    return _total(Join(Join(Map(group, Split(128, vectors), WORKGROUP))))


def fig11_intel(n: int) -> Expr:
    """One work-item folds vectors of four over a long chunk.

    reduceSeq . join . mapWorkgroup (
      join . joinVec . mapLocal (reduceSeq (mapVec 4 (\\(a, b). a + abs b)) 0) . splitVec 4 . split 32768) .
    split 32768

    n is a multiple of 32768.
    """
    item = _vector_sum(4, Arg(Array(8192, Array(4, F32))))
    vectors = Map(Split(4, Arg(Array(32768, F32))), Split(32768, Arg(Array(32768, F32))))
    return _total(Join(Map(Join(Map(item, vectors, LOCAL)), Split(32768, _input(n)), WORKGROUP)))


# ---------------------------------------------------------------------------------------- parts


def sum_of(n: int) -> Expr:
    """The body `reduceSeq (+) 0` over an array of n."""
    return Fold(ADD.body, ZERO, Arg(Array(n, F32)))


def _input(n: int) -> Input:
    return Input("x", Array(n, F32))


def _total(partial: Expr) -> Expr:
    """The last reduction, in a kernel of its own."""
    return Fold(ADD.body, ZERO, To("global", partial))


def _halved(half: int, x: Expr, level: Level) -> Expr:
    """map (reduce (+)) . split 2 . reorderStride half: x[i] + x[i + half]."""
    return Map(sum_of(2), Split(2, Stride(half, x)), level)


def _copied_out(x: Expr) -> Expr:
    """join . toGlobal (mapLocal (mapSeq id)) . split 1, of an array of one."""
    copy = Map(Map(Arg(F32), Arg(Array(1, F32)), SEQ), Split(1, x), LOCAL)
    return Join(To("global", copy))


def _vector_sum(lanes: int, x: Expr) -> Expr:
    """reduceSeq (mapVec lanes (\\(a, b). a + abs b)) 0 over an array of vectors."""
    vector = Array(lanes, F32)
    state = Arg(Tuple((vector, vector)))
    return Fold(Map(ADD_ABS, Zip((Get(0, state), Get(1, state))), VEC), Fill(lanes, ZERO), x)
