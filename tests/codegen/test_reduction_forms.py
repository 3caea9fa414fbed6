"""The low-level sums of the literature compile as they stand and compute the sum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.programs import reduction_forms as forms
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import F32
from tests.harness import compute

N = 1 << 20
SUMS = [forms.llp1, forms.llp2, forms.llp3]
ASUMS = [forms.fig11_nvidia, forms.fig11_amd, forms.fig11_intel]


def sample() -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Numbers whose sum is exact in f32 in every order, and is neither 0 nor the sum of absolute values."""
    rng = np.random.default_rng(7)
    return (rng.integers(-3, 6, N) / 8).astype(np.float32)


@pytest.mark.parametrize("form", SUMS, ids=lambda f: f.__name__)
def test_a_derived_program_of_the_literature_sums(form: Callable[[int], Expr]) -> None:
    term, x = form(N), sample()
    assert type_of(term) == F32 == type_of(forms.plain_sum(N))
    assert compute(term, x=x)[0] == x.sum(dtype=np.float64)


@pytest.mark.parametrize("block", [128, 256, 1024])
def test_the_third_program_sums_whatever_its_block_size(block: int) -> None:
    x = sample()
    assert compute(forms.llp3(N, block), x=x)[0] == x.sum(dtype=np.float64)


@pytest.mark.parametrize("form", ASUMS, ids=lambda f: f.__name__)
def test_a_form_found_by_lift_sums_absolute_values(form: Callable[[int], Expr]) -> None:
    term, x = form(N), sample()
    assert type_of(term) == F32 == type_of(forms.plain_asum(N))
    assert compute(term, x=x)[0] == np.abs(x).sum(dtype=np.float64)
