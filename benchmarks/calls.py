"""What a call of a kernel costs the host, beside a launch by pyopencl alone: saxpy of few elements on the device.

    python benchmarks/calls.py [DEVICE [ELEMENTS]]

The device is a part of a name; 4096 elements are usual.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script: benchmarks is not installed

import egglift as el
from egglift.codegen.device.device import opencl

CALLS, ROUNDS = 2000, 9


def microseconds(call: Callable[[], Any], queue: Any) -> tuple[float, float]:
    """Microseconds of a call, the median and the best of several rounds; the queue is waited for at the end of each."""
    rounds = []
    for _ in range(ROUNDS + 1):  # the first one may still allocate
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        queue.finish()
        rounds.append(1e6 * (time.perf_counter() - start) / CALLS)
    rounds = sorted(rounds[1:])
    return rounds[len(rounds) // 2], rounds[0]


def main(device: str | None = None, elements: str = "4096") -> None:
    """Prints a line for each way to run one kernel."""
    import pyopencl.array as cl_array

    cl, n = opencl(), int(elements)
    x, y = el.array("x", el.f32, n), el.array("y", el.f32, n)
    kernel = el.optimize(2.5 * x + y, device, measure="none", cache=False)
    queue = cl.CommandQueue(kernel.device.context)
    a, b = (cl_array.to_device(queue, np.arange(n, dtype=np.float32)) for _ in range(2))
    c = cl_array.empty_like(a)
    (step,), ((_, order),) = kernel.plan.kernels, kernel.plan.steps
    own = cl.Kernel(cl.Program(kernel.device.context, kernel.source).build(), step.name)
    of = {kernel.plan.inputs["x"][0]: a, kernel.plan.inputs["y"][0]: b, kernel.plan.outputs[0]: c}
    own.set_args(*[of[buffer].base_data for buffer in order])
    launch, sizes = kernel.bind(x=a, y=b, out=c), (step.global_size, step.local_size)
    raw = cl.enqueue_nd_range_kernel
    print(f"{kernel.device.name}, saxpy of {n}: microseconds of a call, median and best of {ROUNDS} rounds of {CALLS}")
    for name, call in (
        ("pyopencl, arguments set before", lambda: raw(queue, own, *sizes)),
        ("pyopencl, and flush", lambda: (raw(queue, own, *sizes), queue.flush())),
        ("kernel.bind(x, y, out=z)()", launch),
        ("kernel(x, y, out=z)", lambda: kernel(x=a, y=b, out=c)),
        ("kernel(x, y)", lambda: kernel(x=a, y=b)),
    ):
        median, best = microseconds(call, queue)
        print(f"  {name:32} {median:8.1f} {best:8.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
