"""What a call with NumPy arrays costs beside its kernel: elementwise programs of three sizes, and a matrix product.

    python benchmarks/numpy_calls.py [DEVICE]

The device is a part of a name.  Arrays are NumPy's own, which begin anywhere; the results are new ones.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script: benchmarks is not installed

import egglift as el

TRIES = 200


def programs() -> Iterator[tuple[str, Any, list[Any], Callable[..., Any]]]:
    """Name, program, inputs, and the same by NumPy."""
    random = np.random.default_rng(1)
    for bits in (12, 18, 22):
        x = random.random(1 << bits, np.float32)
        yield f"x * 2, 2^{bits} elements", el.array("x", el.f32, x.shape) * 2.0, [x], lambda x: x * np.float32(2)
    a, b = (random.random((512, 512), np.float32) for _ in range(2))
    product = el.array("A", el.f32, a.shape) @ el.array("B", el.f32, b.shape)
    yield "A @ B, 512 x 512", product, [a, b], np.matmul


def microseconds(call: Callable[[], object]) -> float:
    """The median of several calls, after some."""
    seconds = []
    for i in range(TRIES + 10):
        start = time.perf_counter()
        call()
        if i >= 10:
            seconds.append(time.perf_counter() - start)
    return 1e6 * statistics.median(seconds)


def main(device: str | None = None) -> None:
    """Prints a line for each program."""
    print(f"{'microseconds':<26}{'kernel':>10}{'call':>10}{'out=':>10}{'NumPy':>10}")
    for name, program, inputs, by_numpy in programs():
        kernel = el.optimize(program, device, measure="none", cache=False)
        out = kernel(*inputs)
        alone = 1e6 * kernel.profile(*inputs).seconds
        whole = microseconds(lambda k=kernel, given=inputs: k(*given))
        into = microseconds(lambda k=kernel, given=inputs, out=out: k(*given, out=out))
        numpys = microseconds(lambda f=by_numpy, given=inputs: f(*given))
        print(f"{name:<26}{alone:>10.0f}{whole:>10.0f}{into:>10.0f}{numpys:>10.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
