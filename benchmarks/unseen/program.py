"""A program that was written by somebody who had not seen the compiler, and what it means in NumPy and in torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.brought.program import Inputs, Scale
from benchmarks.programs.catalogue import Size
from egglift.costmodel.measurement.expected_results import flatten


@dataclass(frozen=True)
class Unseen:
    """A program for every size: `program(*size)` takes the inputs that `numpy(**inputs)` and `torch` take, by name.

    small, large: sizes for tests and for a GPU.  torch: a function of torch and tensors.  draw: the inputs of a size.
    rtol, atol: how near floats must be, of each and of the largest or 1; integers must be the same.
    """

    name: str
    program: Callable[..., Any]
    small: Size
    large: Size
    numpy: Callable[..., Any]
    torch: Callable[..., Any]
    draw: Callable[..., Inputs]
    rtol: float = 1e-3
    atol: float = 1e-4

    def size(self, scale: Scale) -> Size:
        """The lengths that the program is made for: a CPU has the small ones."""
        return self.large if scale == "gpu" else self.small

    def inputs(self, scale: Scale, seed: int = 0) -> Inputs:
        """Random arguments at a scale, the same for the same seed."""
        return self.draw(np.random.default_rng(seed), *self.size(scale))

    def in_torch(self, torch: Any, **inputs: Any) -> Any:
        """What the program means, in torch."""
        return self.torch(torch, **inputs)

    def difference(self, program: Any, expected: Any, actual: Any) -> str | None:
        """None where results are as expected, else where and how the first of them differs."""
        parts = enumerate(zip(flatten(expected), flatten(actual), strict=True))
        found = (self._difference(want, got, f"result {place}") for place, (want, got) in parts)
        return next((problem for problem in found if problem), None)

    def _difference(self, want: Any, got: Any, which: str) -> str | None:
        if want.shape != got.shape:
            return f"{which} has the shape {got.shape} instead of {want.shape}"
        wrong = ~self._same(want, got)
        if not wrong.any():
            return None
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        return f"{which}: {wrong.sum()} of {wrong.size} differ, first at {at}: {got[at]} instead of {want[at]}"

    def _same(self, want: Any, got: Any) -> Any:
        if want.dtype.kind in "biu" and got.dtype.kind in "biu":
            return want == got
        finite = np.abs(want[np.isfinite(want)])
        return np.isclose(got, want, self.rtol, self.atol * max(1.0, finite.max(initial=0.0)), equal_nan=True)
