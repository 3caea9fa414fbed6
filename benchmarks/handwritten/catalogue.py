"""All kernels by hand, by name."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.handwritten import bodies, convolutions, reductions, stencils
from benchmarks.handwritten.kernel import ByHand

KERNELS: tuple[ByHand, ...] = (
    *reductions.KERNELS,
    *bodies.KERNELS,
    *stencils.KERNELS,
    *convolutions.KERNELS,
)


def chosen(names: Sequence[str]) -> tuple[ByHand, ...]:
    """Those of these names, or whose names begin so (`reduce`); all where none is given.  ValueError: there is none."""
    for name in names:
        if not any(k.name.startswith(name) for k in KERNELS):
            raise ValueError(f"there is no kernel {name}; there are {', '.join(k.name for k in KERNELS)}")
    return tuple(k for k in KERNELS if not names or k.name.startswith(tuple(names)))
