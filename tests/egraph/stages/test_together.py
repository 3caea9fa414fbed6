"""Stages that read the same array over the same indices are one, which reads it once."""

from __future__ import annotations

from collections.abc import Callable

import egglift as el
from tests.egraph.staged import texts
from tests.egraph.stages.programs import Value, add_up, arr, dot

A = arr("A", 9, 20)


def squares(x: el.Value) -> el.Value:
    return x.map(lambda v: v * v)


def test_sums_that_are_used_apart_are_one_stage() -> None:
    sums, energy = A.map(add_up), A.map(lambda r: add_up(squares(r)))
    smooth = el.map(lambda s, e: add_up(s) / add_up(e), squares(sums).slide(3, 1), energy.slide(3, 1))
    first, second = texts(smooth)
    assert first == "stage0_1[0 < 9] = (tuple (add for 1 < 20 of A[0,1]) (add for 1 < 20 of (mul A[0,1] A[0,1])))"
    assert second.startswith("stage2[0 < 7]")


def test_three_stages_become_one() -> None:
    sums = (A.map(add_up), A.map(lambda r: add_up(squares(r))), A.map(lambda r: el.reduce(el.maximum, 0.0, r)))
    smooth = el.map(lambda a, b, c: add_up(a) + add_up(b) * add_up(c), *(x.slide(3, 1) for x in sums))
    assert len(texts(smooth)) == 2


def test_what_needs_the_other_is_a_stage_of_its_own() -> None:
    deviations = A.map(lambda r: add_up(r.map(lambda v: el.abs(v - add_up(r)))))
    assert len(texts(deviations.slide(3, 1).map(add_up))) == 3


def test_products_that_share_one_factor_stay_apart() -> None:
    """Each element of A is read for every column anyway."""
    first, second = A @ arr("B", 20, 6), A @ arr("C", 20, 6)
    roots = el.map(lambda x, y: add_up(x) / add_up(y), *(v.map(lambda r: r.map(el.sqrt)) for v in (first, second)))
    assert len(texts(roots)) >= 3


def test_rows_and_columns_are_read_apart() -> None:
    square = arr("A", 20, 20)
    rows, columns = square.map(add_up).slide(3, 1), square.T.map(add_up).slide(3, 1)
    assert len(texts(el.map(lambda a, b: add_up(a) / add_up(b), rows, columns))) == 3


def test_sums_of_the_same_pairs_share_a_loop() -> None:
    """Nothing is read at both indices, but the phase, whose sine and cosine are added, is computed once."""
    k, r, c = arr("k", 9, 3), arr("r", 20, 3), arr("c", 20)

    def sums(of: Callable[[Value], Value]) -> Value:
        return k.map(lambda a: add_up(r.map(lambda b: of(dot(a, b)))))

    def read_by_all(first: Value, second: Value) -> list[str]:
        return texts(r.map(lambda b: add_up(el.map(lambda a, u, v: el.exp(dot(a, b)) * u * v, k, first, second))))

    weighted = k.map(lambda a: add_up(el.map(lambda b, w: el.sin(dot(a, b)) * w, r, c)))
    both, _ = read_by_all(sums(el.cos), sums(el.sin))
    assert both.startswith("stage0_1[0 < 9] = (tuple (add for 1 < 20 of (cos ")
    assert len(read_by_all(sums(el.cos), weighted)) == 3


def test_the_least_and_its_place_are_one_reduction() -> None:
    """Places are computed, not read."""
    pairs = el.abs(el.array("p", el.f32, 40)[:, None] - el.array("q", el.f32, 30))
    least = el.tuple(el.array("r", el.f32, 30)[pairs.argmin(axis=1)], pairs.min(axis=1).sum())
    assert sum(" for 1 < 30 of" in t for t in texts(least)) == 1


def test_counts_and_sums_by_the_same_numbers_are_one_stage() -> None:
    k, x = arr("k", 5000, t=el.i32), arr("x", 5000)
    counts, weights = el.bincount(k, 12), el.bincount(k, 12, weights=x)
    sums = el.where(k[:, None] == el.arange(12, dtype=el.i32), x[:, None], 0).sum(axis=0)
    first, *others = texts(el.tuple(sums / counts.cast(el.f32), weights))
    assert first == "along0_along1_along2[0 < 12] = (sums for 0 < 5000 of (tuple k[0] (tuple x[0] 1 (cast f64 x[0]))))"
    assert all("for" not in each for each in others)


def test_counts_of_other_numbers_stay_apart() -> None:
    k, m = arr("k", 5000, t=el.i32), arr("m", 5000, t=el.i32)
    narrow = k.cast(el.i8)  # other numbers than those of k
    for other in (el.bincount(m, 12), el.bincount(k, 13), el.bincount(k + 1, 12), el.bincount(narrow, 12)):
        found = texts(el.tuple(el.bincount(k, 12), other))
        assert sum("(count for" in each for each in found) == 2


def test_sums_that_need_the_counts_stay_apart() -> None:
    k = arr("k", 5000, t=el.i32)
    shares = 1 / el.bincount(k, 12).cast(el.f32)
    assert sum("for 0 < 5000" in each for each in texts(el.bincount(k, 12, weights=shares[k]))) == 2


def test_more_sums_than_a_group_has_a_place_for_stay_apart() -> None:
    k, x = arr("k", 5000, t=el.i32), arr("x", 5000)
    found = texts(el.tuple(el.bincount(k, 5000), el.bincount(k, 5000, weights=x)))
    assert sum("for 0 < 5000" in each for each in found) == 2
