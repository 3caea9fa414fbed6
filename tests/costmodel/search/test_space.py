"""All assignments of sizes as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.size_choices import fitted, may_be_zero, wanted
from egglift.costmodel.search.space import assignments
from egglift.ir.sizes import Size, Sym, evaluate, symbols

PROFILE = presets()["nvidia_h200"]


@dataclass(frozen=True)
class Tile:
    kind: str
    length: Size


def rows(tiles: dict[str, Tile], most: int = 1 << 20) -> set[tuple[int, ...]]:
    found = assignments(list(tiles), tiles, {}, PROFILE, {}, most)
    return set(zip(*(found[name].tolist() for name in tiles), strict=True))


def one_by_one(tiles: dict[str, Tile]) -> set[tuple[int, ...]]:
    """What every combination of wishes comes to."""
    return {tuple(env.values()) for env in _each([*tiles.items()], {}, {})}


def _each(tiles: list[tuple[str, Tile]], env: dict[str, int], chunks: dict[Size, int]) -> Iterator[dict[str, int]]:
    if not tiles:
        yield env
        return
    (name, t), *others = tiles
    n = evaluate(t.length, env)
    for w in wanted(t.kind, max(1, n), "", PROFILE, bool(symbols(t.length))):
        x = fitted(t.kind, w if may_be_zero(t.kind) else max(1, min(w, n)), n, chunks.get(t.length, 1))
        yield from _each(others, env | {name: x}, chunks | ({t.length: x} if t.kind == "c" else {}))


@given(st.integers(1, 3000), st.integers(1, 300))
def test_all_assignments_are_there(n: int, k: int) -> None:
    block = Sym("n0")
    tiles = {"f0": Tile("f", 1), "k0": Tile("k", k), "n0": Tile("n", n), "c0": Tile("c", block), "q0": Tile("q", block)}
    assert rows(tiles) == one_by_one(tiles)


def test_no_assignment_is_there_twice() -> None:
    tiles = {"n0": Tile("n", 96), "c0": Tile("c", Sym("n0")), "q0": Tile("q", Sym("n0"))}
    found = assignments(list(tiles), tiles, {}, PROFILE, {}, 1 << 20)
    assert len(found["n0"]) == len(rows(tiles))


def test_of_too_many_some_are_drawn() -> None:
    tiles = {f"n{i}": Tile("n", 4096) for i in range(6)}
    found = assignments(list(tiles), tiles, {}, PROFILE, {}, 500)
    assert len(found["n5"]) == 500
    assert len(rows(tiles, 500)) > 300
    assert rows(tiles, 500) == rows(tiles, 500)


def test_sizes_that_are_given_are_kept() -> None:
    tiles = {"n0": Tile("n", Sym("m0"))}
    found = assignments(["n0"], tiles, {}, PROFILE, {"m0": np.array([8, 64])}, 100)
    assert {(m, n) for m, n in zip(found["m0"].tolist(), found["n0"].tolist(), strict=True)} == {
        (8, 8),
        (64, 64),
        (64, 32),
    }
