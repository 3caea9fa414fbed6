"""The thirteen kernels of Hagedorn's thesis, compiled and run."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from benchmarks.programs.convolution_forms import FORMS, Sizes, tiled
from egglift.codegen.compile import compile_term
from egglift.codegen.imperative import Launch
from tests.harness import compute

SMALL = Sizes(32, 48, 5, (8, 8), 16, (16, 8), 4)
ROW, COLUMN = (np.random.default_rng(i).random(SMALL.n).astype(np.float32) for i in (1, 2))
WEIGHTS = np.outer(COLUMN, ROW)
X = np.random.default_rng(0).random((SMALL.h, SMALL.w)).astype(np.float32)


@pytest.mark.parametrize("name", FORMS)
def test_every_kernel_of_table_1_computes_the_convolution(name: str) -> None:
    weights = {"weights": WEIGHTS} if name in ("00", "01", "02") else {"row": ROW, "column": COLUMN}
    got = compute(FORMS[name](SMALL), Launch(64 if name == "01" else 16), x=X, **weights)
    expected = ndimage.correlate(X, WEIGHTS, mode="nearest")
    assert np.allclose(got.reshape(X.shape), expected, rtol=1e-5)


def test_tiles_need_no_local_memory() -> None:
    term = tiled(SMALL, local=False)
    got = compute(term, Launch(16), x=X, weights=WEIGHTS)
    assert np.allclose(got, ndimage.correlate(X, WEIGHTS, mode="nearest").ravel(), rtol=1e-5)
    assert all(k.local_bytes == 0 for k in compile_term(term, Launch(16)).kernels)


def test_longer_rows_take_more_local_memory() -> None:
    turned, longer = (compile_term(FORMS[name](SMALL), Launch(16)).kernels[1].local_bytes for name in ("07", "08"))
    assert longer == turned + 4 * SMALL.column[1]


def test_separated_forms_are_two_kernels() -> None:
    assert [len(compile_term(f(SMALL), Launch(16)).kernels) for f in FORMS.values()] == [1] * 3 + [2] * 10
