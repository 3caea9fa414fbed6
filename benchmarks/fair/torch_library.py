"""What programs of the catalogue are in torch's library, with the very results: stencils with their own weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.baselines import STENCILS, TORCH, window_of
from benchmarks.programs.convolution_17 import bell, weights


def _given(torch: Any, x: Any, weights: Any) -> Any:
    r = weights.shape[0] // 2
    padded = torch.nn.functional.pad(x[None, None], (r, r, r, r), "replicate")
    return torch.nn.functional.conv2d(padded, weights[None, None])[0, 0]


#: as numbers, which torch.compile need not follow
GENERAL, BELL = weights("general"), np.asarray(bell())[None]


def _in_two(torch: Any, x: Any) -> Any:
    return window_of(torch, window_of(torch, x, [BELL])[0, 0], [BELL.T])[0, 0]


#: stencils whose windows the library has
CONVOLUTIONS: dict[str, Callable[..., Any]] = {
    "convolution_17-general": lambda torch, x: window_of(torch, x, [GENERAL])[0, 0],
    "convolution_17-given": _given,
    "convolution_17-gaussian": _in_two,
    "convolution_17-separable": _in_two,
}


def library(name: str) -> Callable[..., Any] | None:
    """torch's way of a program, None where its library has none: other stencils are sums of slices, as in NumPy."""
    if name == "mean_variance":
        return lambda torch, x: torch.var_mean(x, correction=0)[::-1]
    if name in STENCILS:
        return CONVOLUTIONS.get(name)
    return TORCH.get(name)
