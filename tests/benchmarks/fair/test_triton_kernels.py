"""Kernels in Triton, by its interpreter, where torch and Triton are installed: TRITON_INTERPRET=1 pytest ..."""

from __future__ import annotations

import os
from typing import Any

import pytest

from benchmarks.demo import difference
from benchmarks.fair import triton_peers
from benchmarks.fair.job import jobs
from benchmarks.fair.torch_peers import on_host


class First:
    """An autotuned kernel with one of its configurations: tuning needs a GPU."""

    def __init__(self, tuned: Any) -> None:
        self.kernel, self.chosen = tuned.fn, tuned.configs[-1].kwargs

    def __getitem__(self, grid: Any) -> Any:
        return lambda *given, **named: self.kernel[grid(self.chosen)](*given, **named, **self.chosen)


@pytest.fixture
def untuned(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "triton"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("the interpreter is not asked for")
    from benchmarks.fair import triton_kernels

    for name in ("_product", "_attention"):
        monkeypatch.setattr(triton_kernels, name, First(getattr(triton_kernels, name)))


@pytest.mark.parametrize("key", triton_peers.KERNELS)
def test_a_triton_kernel_means_what_numpy_says(key: str, untuned: None) -> None:
    job = next(j for j in jobs("small") if j.key == key)
    got = on_host(triton_peers.call(job, "cpu")())
    assert difference(job.program(), job.numpy(**job.inputs), got) is None
