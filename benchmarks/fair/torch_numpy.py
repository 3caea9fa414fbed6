"""NumPy's names that stencils use, by torch: what torch has not, or has with other arguments."""

from __future__ import annotations

from math import pi
from typing import Any

#: torch's names for how an array goes on
MODES = {
    "edge": "replicate",
    "symmetric": "replicate",
    "wrap": "circular",
    "constant": "constant",
    "reflect": "reflect",
}


class TorchNumpy:
    """torch, for functions of NumPy and arrays that are given tensors."""

    pi = pi

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def __getattr__(self, name: str) -> Any:
        return getattr(self.torch, name)

    def float32(self, value: Any) -> Any:
        """A number that leaves f32 what it is."""
        return float(value)

    def pad(self, x: Any, width: int, mode: str = "constant") -> Any:
        """An array continued by `width` on all sides; symmetric by 1 repeats the edge."""
        if mode == "symmetric" and width > 1:
            raise NotImplementedError("torch pads no mirror image by more than 1")
        whole = self.torch.nn.functional.pad(x[None, None], (width,) * (2 * x.ndim), MODES[mode])
        return whole[0, 0]

    def clip(self, x: Any, low: Any, high: Any) -> Any:
        """torch's, with numbers."""
        return x.clip(low, high)

    def maximum(self, a: Any, b: Any) -> Any:
        """Of tensors and numbers."""
        return a.clip(min=b) if isinstance(b, float | int) else self.torch.maximum(a, b)

    def minimum(self, a: Any, b: Any) -> Any:
        """Of tensors and numbers."""
        return a.clip(max=b) if isinstance(b, float | int) else self.torch.minimum(a, b)
