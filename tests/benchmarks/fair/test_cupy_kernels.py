"""Kernels that are written for CuPy, on PoCL: the same text between the same arguments, where there is no CuPy."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy  # type: ignore[import-untyped]
from scipy import ndimage

from benchmarks.demo import difference
from benchmarks.fair.cupy_peers import KERNELS
from benchmarks.fair.job import Job, jobs
from egglift.codegen.device.device import open_device, opencl

#: what CUDA has and OpenCL calls otherwise
NAMES = ("sqrt", "fabs", "exp", "log", "fmin", "fmax")
CUDA = "".join(f"#define {name}f {name}\n" for name in NAMES)
C_TYPES = {"float32": "float", "uint32": "uint", "int32": "int"}
CORRELATED = [key for key in KERNELS if key.startswith("convolution")]


def arguments(text: str) -> list[tuple[str, str, bool]]:
    """Type and name of each, and whether it is `raw`."""
    parts = [part.split() for part in text.split(",")]
    return [(C_TYPES[words[-2]], words[-1], words[0] == "raw") for words in parts]


def run(source: str, given: list[Any], results: list[Any], items: int) -> None:
    """Runs `run` over so many work-items; numbers are given by value."""
    cl, device = opencl(), open_device("pocl")
    kernel = cl.Kernel(device.compile(CUDA + source.replace("__device__ ", "")), "run")
    buffers = [device.upload(value) if np.ndim(value) else value for value in given]
    out = [device.upload(value) for value in results]
    kernel(device.queue, (items,), None, *buffers, *out)
    for value, buffer in zip(results, out, strict=True):
        cl.enqueue_copy(device.queue, value, buffer)


class Elementwise:
    """cupy.ElementwiseKernel, of arrays of one shape."""

    def __init__(self, takes: str, gives: str, body: str, name: str, preamble: str = "") -> None:
        self.takes, self.gives, self.body, self.preamble = arguments(takes), arguments(gives), body, preamble

    def __call__(self, *values: Any) -> Any:
        given = list(values[: len(self.takes)])
        shape = next(np.shape(value) for value in given if np.ndim(value))
        results = [np.empty(shape, np.float32) for _ in self.gives]
        heads, lines = [], []
        for (kind, name, raw), value in zip(self.takes, given, strict=True):
            if not np.ndim(value):
                heads.append(f"{kind} {name}")
            elif raw:
                heads.append(f"global const {kind} *{name}")
            else:
                heads.append(f"global const {kind} *_{name}")
                lines.append(f"{kind} {name} = _{name}[i];")
        heads += [f"global {kind} *_{name}" for kind, name, _ in self.gives]
        lines = [f"{kind} {name};" for kind, name, _ in self.gives] + lines
        stores = [f"_{name}[i] = {name};" for _, name, _ in self.gives]
        body = "\n".join(["int i = get_global_id(0);", *lines, self.body + ";", *stores])
        numbers = [np.int32(v) if isinstance(v, int) else v for v in given]
        run(f"{self.preamble}\nkernel void run({', '.join(heads)}) {{\n{body}\n}}", numbers, results, results[0].size)
        return tuple(results) if len(results) > 1 else results[0]


class Reduction:
    """cupy.ReductionKernel, along the first or the last axis of a matrix, or of all elements."""

    def __init__(self, takes: str, gives: str, term: str, fold: str, last: str, zero: str, name: str) -> None:
        self.takes, self.gives = arguments(takes), arguments(gives)
        self.term, self.fold, self.last, self.zero = term, fold, last, zero

    def __call__(self, *values: Any, axis: int | None) -> Any:
        first = values[0]
        rows, columns = (1, first.size) if axis is None else first.shape
        kept, count = (columns, rows) if axis == 0 else (rows, columns)
        place = f"k * {columns} + j" if axis == 0 else f"j * {columns} + k"
        ((kind, name, _),) = self.gives
        heads = [f"global const {t} *_{n}" for t, n, _ in self.takes] + [f"global {kind} *_out"]
        loads = " ".join(f"{t} {n} = _{n}[{place}];" for t, n, _ in self.takes)
        body = f"""
          int j = get_global_id(0); {kind} a = {self.zero}; {kind} {name};
          for (int k = 0; k < {count}; ++k) {{ {loads} {kind} b = {self.term}; a = {self.fold}; }}
          {self.last}; _out[j] = {name};"""
        result = np.empty(kept, np.dtype({"float": "f4", "uint": "u4"}[kind]))
        run(f"kernel void run({', '.join(heads)}) {{ {body} }}", list(values), [result], kept)
        return result[0] if axis is None else result


CUPY = SimpleNamespace(ElementwiseKernel=Elementwise, ReductionKernel=Reduction, empty_like=np.empty_like)


def job(key: str) -> Job:
    return next(j for j in jobs("small") if j.key == key)


@pytest.mark.parametrize("key", [key for key in KERNELS if key not in CORRELATED])
def test_a_kernel_for_cupy_means_what_numpy_says(key: str) -> None:
    found = job(key)
    got = KERNELS[key](CUPY)(**found.inputs)
    assert difference(found.program(), found.numpy(**found.inputs), got) is None


@pytest.mark.parametrize("key", CORRELATED)
def test_cupys_correlation_is_the_convolution(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ndimage.correlate
    monkeypatch.setitem(sys.modules, "cupyx", ModuleType("cupyx"))
    monkeypatch.setitem(sys.modules, "cupyx.scipy", scipy)
    found = job(key)
    got = KERNELS[key](np)(**found.inputs)
    assert difference(found.program(), found.numpy(**found.inputs), got) is None
