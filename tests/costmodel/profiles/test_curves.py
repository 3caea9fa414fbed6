"""Measured curves: values between points, and caches read off their steps."""

from __future__ import annotations

from random import Random

import pytest

from egglift.costmodel.profiles.curves import at, caches_of, falling, levels, widths_that_pay
from egglift.costmodel.profiles.profile import Cache

KIB, MIB = 1 << 10, 1 << 20


def test_a_curve_is_straight_in_logarithms_between_its_points() -> None:
    curve = {"2": 8.0, "8": 2.0, "128": 1.0}
    assert [at(curve, x) for x in (2, 8, 128)] == pytest.approx([8.0, 2.0, 1.0])
    assert at(curve, 4) == pytest.approx(4.0)
    assert (at(curve, 1), at(curve, 1000)) == (8.0, 1.0)


def stepped(*steps: tuple[int, float], most: int = 256 * MIB) -> dict[str, float]:
    """The curve of caches of (bytes, bandwidth) and memory at 10, measured at powers of two and between them."""
    sizes = [s for k in range(12, 31) for s in (1 << k, 3 << (k - 1)) if s <= most]
    return {str(s): next((b for size, b in steps if s <= size), 10.0) for s in sizes}


def test_every_cache_is_a_level_of_the_curve_and_memory_the_last() -> None:
    curve = stepped((96 * KIB, 400.0), (4 * MIB, 100.0), (32 * MIB, 30.0))
    assert levels(curve) == [
        Cache(96 * KIB, 400.0),
        Cache(4 * MIB, 100.0),
        Cache(32 * MIB, 30.0),
        Cache(256 * MIB, 10.0),
    ]
    assert caches_of(curve, 0) == (Cache(96 * KIB, 400.0), Cache(4 * MIB, 100.0), Cache(32 * MIB, 30.0))


def test_a_size_on_the_slope_between_two_levels_is_none() -> None:
    curve = stepped((96 * KIB, 400.0), (4 * MIB, 100.0))
    curve |= {str(128 * KIB): 250.0, str(6 * MIB): 40.0, str(8 * MIB): 20.0}
    assert caches_of(curve, 0) == (Cache(96 * KIB, 400.0), Cache(4 * MIB, 100.0))


def test_measurements_that_were_disturbed_do_not_make_caches() -> None:
    clean, rng = stepped((96 * KIB, 400.0), (4 * MIB, 100.0)), Random(1)
    ends = {str(96 * KIB), str(4 * MIB), str(256 * MIB)}
    dented = {s: b if s in ends or rng.random() < 0.7 else b * rng.uniform(0.3, 0.9) for s, b in clean.items()}
    assert dented != clean
    assert [b for _, b in falling(dented)] == sorted((b for _, b in falling(dented)), reverse=True)
    assert caches_of(dented, 0) == caches_of(clean, 0)


def test_the_drivers_last_cache_counts_unless_more_is_fast_too() -> None:
    curve = stepped((96 * KIB, 400.0), (32 * MIB, 100.0))
    assert caches_of(curve, 33 * MIB) == (Cache(96 * KIB, 400.0), Cache(33 * MIB, 100.0))
    assert caches_of(curve, 4 * MIB)[-1] == Cache(32 * MIB, 100.0), "that is an inner cache"
    assert caches_of(curve, 1024 * MIB)[-1] == Cache(1024 * MIB, 10.0), "larger than all that was measured"


def test_a_curve_without_steps_has_only_the_drivers_cache() -> None:
    flat = stepped()
    assert caches_of(flat, 0) == ()
    assert caches_of(flat, 32 * MIB) == (Cache(32 * MIB, 10.0),)


def test_a_width_pays_where_it_is_faster_than_every_narrower_one() -> None:
    assert widths_that_pay({"1": 10.0, "2": 20.0, "4": 20.5, "8": 15.0, "16": 30.0}) == (1, 2, 16)
    assert widths_that_pay({}) == ()
