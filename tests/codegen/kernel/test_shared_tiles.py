"""Tiles of local memory that take the place of those that they are computed from."""

from __future__ import annotations

from egglift.codegen.kernel.imperative import Buffer, Call, If, Load, Loop, Statement, Store
from egglift.codegen.kernel.index import ZERO, Index, Var, index
from egglift.codegen.kernel.shared_tiles import share_tiles
from egglift.ir.types import F32

L, I = index(Var("l0", 8, "local", 0)), Var("i", 4, "loop")
SOURCE, OUT = (Buffer(name, "global", F32, 40) for name in ("x", "out"))
A, B = (Buffer(name, "local", F32, 40) for name in "ab")


def step(*statements: Statement, var: Var = I) -> Statement:
    """What the work-items do by themselves: a loop."""
    return If((), (Loop(var, var.count, statements),))


def doubled(target: Buffer, to: Index, source: Buffer, at: Index) -> Statement:
    value = Load(source, at)
    return Store(target, to, Call("add", (value, value), F32))


PLACE = L * 5 + index(I)
FILLED = step(Store(A, PLACE, Load(SOURCE, PLACE)))
WRITTEN = step(Store(OUT, PLACE, Load(B, PLACE)))


def gone(*body: Statement) -> tuple[Buffer, ...]:
    return share_tiles(body, (8, 1, 1))[1]


def test_a_tile_takes_the_place_of_the_one_it_is_computed_from() -> None:
    body, without = share_tiles([FILLED, step(doubled(B, PLACE, A, PLACE)), WRITTEN], (8, 1, 1))
    assert without == (B,)
    assert body == [FILLED, step(doubled(A, PLACE, A, PLACE)), step(Store(OUT, PLACE, Load(A, PLACE)))]


def test_tiles_that_are_read_later_stay() -> None:
    again = step(Store(OUT, PLACE, Load(A, PLACE)))
    assert not gone(FILLED, step(doubled(B, PLACE, A, PLACE)), again, WRITTEN)


def test_tiles_that_are_read_elsewhere_stay() -> None:
    assert not gone(FILLED, step(doubled(B, PLACE, A, PLACE + 1)), WRITTEN)
    assert not gone(FILLED, step(doubled(B, PLACE, A, ZERO)), WRITTEN)


def test_tiles_that_several_come_to_at_one_place_stay() -> None:
    crossed = L * 3 + index(I)  # places of neighbours meet: 3 * 1 + 0 is 3 * 0 + 3
    assert not gone(FILLED, step(doubled(B, crossed, A, crossed)), WRITTEN)
    alone = index(I)  # all items come there
    assert not gone(FILLED, step(doubled(B, alone, A, alone)), WRITTEN)


def test_tiles_of_other_sizes_stay() -> None:
    longer = Buffer("c", "local", F32, 48)
    assert not gone(FILLED, step(doubled(longer, PLACE, A, PLACE)), step(Store(OUT, PLACE, Load(longer, PLACE))))
