"""What is pickled and copied: programs, kernels, functions of `jit`; what belongs to a process says what to pickle."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el

pytestmark = pytest.mark.short

X = np.arange(64, dtype=np.float32)


@el.jit(device="pocl", measure="none", cache=False)
def doubled(v: Any) -> Any:
    return v * 2.0


def plain(v: Any) -> Any:
    return v + 1.0


added = el.jit(plain, device="pocl", measure="none", cache=False, lengths={"v": "n"})


def test_functions_of_jit_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    other = pickle.loads(pickle.dumps(added))
    np.testing.assert_array_equal(other(X), X + 1)
    assert copy.deepcopy(doubled) is doubled and copy.copy(doubled) is doubled


def test_another_process_calls_a_function_of_jit(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(pickle.dumps([doubled, added]))
    code = "import pickle, sys, numpy as np; f, g = pickle.load(open(sys.argv[1], 'rb')); x = np.ones(4, np.float32); "
    ran = subprocess.run(
        [sys.executable, "-c", code + "print(f(x)[0], g(x)[0])", tmp_path / "f"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert ran.stdout == "2.0 2.0\n", ran.stderr


@pytest.fixture(scope="module")
def kernel() -> el.Kernel:
    return el.optimize(el.array("x", el.f32, 64) * 2.0, "pocl", measure="none", cache=False)


def test_what_belongs_to_a_process_says_what_to_pickle(kernel: el.Kernel) -> None:
    launch = kernel.bind(X)
    assert copy.deepcopy(launch) is launch and copy.copy(launch) is launch
    for held, advice in (
        (launch, "pickle the kernel, and bind"),
        (kernel.device, "pickle a kernel, which opens its own"),
    ):
        with pytest.raises(el.ArgumentError, match=advice):
            pickle.dumps(held)


def test_what_a_kernel_tells_of_itself_is_pickled(kernel: el.Kernel) -> None:
    for told in (kernel.kernels, kernel.chosen, kernel.plan, kernel.program, kernel.profile()):
        assert repr(pickle.loads(pickle.dumps(told))) == repr(told)
