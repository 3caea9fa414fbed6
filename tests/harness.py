"""Builds and runs plans with pyopencl, outputs and temporaries poisoned first."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Buffer, DeviceLimits, Launch, Plan
from egglift.ir.patterns import Expr

os.environ.setdefault("POCL_AFFINITY", "1")
NdArray = np.ndarray[Any, Any]


@cache
def queue() -> Any:
    """A queue on the first device."""
    import pyopencl as cl

    return cl.CommandQueue(cl.create_some_context(interactive=False))


def run(plan: Plan, inputs: dict[str, Any], options: str = "") -> list[NdArray]:
    """The plan's outputs, flat; each input is an array, or arrays for its leaves.  options: the compiler's."""
    import pyopencl as cl

    q = queue()
    memory: dict[Buffer, Any] = {}

    def device(array: NdArray) -> Any:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(q.context, flags, hostbuf=np.ascontiguousarray(array))

    for name, buffers in plan.inputs.items():
        given = inputs[name] if isinstance(inputs[name], tuple) else (inputs[name],)
        for b, array in zip(buffers, given, strict=True):
            assert np.asarray(array).dtype == b.scalar.dtype and np.size(array) == b.size, (b, array)
            memory[b] = device(np.asarray(array).reshape(-1)) if b.size else None
    for b in (*plan.temporaries, *plan.outputs):
        memory[b] = device(np.zeros(b.size, b.scalar.dtype) if b.zeroed else poison(b)) if b.size else None
    program = cl.Program(q.context, plan.source).build(options) if plan.kernels else None
    kernels = [cl.Kernel(program, k.name) for k in plan.kernels]
    for k, buffers in plan.steps:
        kernel = plan.kernels[k]
        kernels[k].set_args(*[memory[b] for b in buffers])
        cl.enqueue_nd_range_kernel(q, kernels[k], kernel.global_size, kernel.local_size)
    results = []
    for b in plan.outputs:
        out = np.empty(b.size, b.scalar.dtype)
        if b.size:
            cl.enqueue_copy(q, out, memory[b])
        results.append(out)
    q.finish()
    return results


def poison(b: Buffer) -> NdArray:
    """NaN, or 0xAA bytes."""
    if b.scalar.is_float:
        return np.full(b.size, np.nan, b.scalar.dtype)
    return np.frombuffer(b"\xaa" * (b.size * b.scalar.size), b.scalar.dtype if b.scalar.name != "bool" else "u1")


def compute(term: Expr, launch: Launch = Launch(), limits: DeviceLimits = DeviceLimits(), **inputs: Any) -> NdArray:
    """The only output of a program, flat."""
    (result,) = run(compile_term(term, launch, limits), inputs)
    return result
