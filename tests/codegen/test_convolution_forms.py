"""The thirteen kernels of Hagedorn's thesis, compiled and run."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import ndimage

from benchmarks.programs.convolution_forms import FORMS, Sizes, tiled
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
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


#: operations of the thesis' hand-written kernels to find an element for a weight (listings 24 to 36), kernel by kernel
BY_HAND = {"00": (12,), "01": (6,), "02": (6,), "03": (4, 5), "04": (1, 1)} | {f"{i:02}": (3, 3) for i in range(5, 13)}


def operations(source: str) -> int:
    """Operations of the index of what a weight is multiplied with; of two versions of the code, those inside."""
    found = re.search(r"\w+ \+?= .*?\b(?:x|s0|tmp0)\[(.*?)\] \* \w+\[", source)
    assert found, source
    return len(re.findall(r" [-+/%<?] |\*|clamp_index", found[1]))


@pytest.mark.parametrize("name", FORMS)
def test_indices_are_as_short_as_those_written_by_hand(name: str) -> None:
    limits = DeviceLimits(group_size=8192, warp=32, branch_barriers=True)
    plan = compile_term(FORMS[name](Sizes()), Launch(16), limits)
    assert all(operations(k.source) <= n for k, n in zip(plan.kernels, BY_HAND[name], strict=True))
