"""tf32: which numbers it has, and that f32s become the nearest of them, of two the one farther from 0."""

from __future__ import annotations

import numpy as np
import pytest

import egglift as el
from egglift.ir.conversions import rounded
from egglift.ir.errors import TypeMismatch
from egglift.ir.types import F32, SCALARS, TF32, scalar_of

LAST = 2.0**-10  # of numbers from 1 on
#: f32s, and the tf32 that each becomes
NEAREST = {
    1.0: 1.0,
    1 + LAST: 1 + LAST,
    1 + LAST / 2: 1 + LAST,  # ties
    1 + 3 * LAST / 2: 1 + 2 * LAST,
    -1 - LAST / 2: -1 - LAST,
    1 + LAST / 2 - 2.0**-23: 1.0,
    2 - 2.0**-23: 2.0,
    0.0: 0.0,
    2.0**-149: 0.0,
    2.0**-137: 2.0**-136,  # a tie of numbers near 0, whose last place is that of the least power
    float(np.finfo(np.float32).max): np.inf,
    np.inf: np.inf,
    -np.inf: -np.inf,
}


@pytest.mark.parametrize(("x", "nearest"), NEAREST.items())
def test_f32s_become_the_nearest_tf32(x: float, nearest: float) -> None:
    (found,) = rounded(np.array([x], np.float32), TF32)
    assert found == nearest and found.dtype == np.float32


def test_zeros_keep_their_sign_and_nans_stay_nans() -> None:
    """Also NaNs whose bits are all among those that are left out."""
    bits = np.array([0x80000000, 0x7F800001, 0xFF801FFF, 0x7FC00000], np.uint32)
    found = rounded(bits.view(np.float32), TF32)
    assert np.signbit(found[0]) and found[0] == 0
    assert np.isnan(found[1:]).all() and not (found.view(np.uint32) & 0x1FFF).any()


def test_what_is_rounded_stays_as_it_is() -> None:
    bits = np.random.default_rng(1).integers(0, 1 << 32, 1 << 16, np.uint32)
    once = rounded(bits.view(np.float32), TF32)
    assert np.array_equal(rounded(once, TF32).view(np.uint32), once.view(np.uint32))


def test_f64s_become_tf32s_in_one_step() -> None:
    """The last f64 below a tie is an f32 that is one: rounded twice, it would go wrong."""
    assert rounded(np.array([np.nextafter(1 + LAST / 2, 0)]), TF32) == [1.0]


def test_tf32_is_no_type_of_programs() -> None:
    assert scalar_of(np.float32) == F32 and TF32 not in SCALARS.values()
    with pytest.raises(TypeMismatch, match="no type"):
        el.array("x", "tf32", (4,))
