"""mri_q: how scanner samples add up at the voxels of an image (MRI-Q of Parboil): complex sums over k-space."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.blocks import by_rows

__all__ = ["SHAPES", "inputs", "operations", "program", "reference"]

SHAPES = ((1, 1), (3, 17), (17, 31), (127, 257), (257, 64), (1000, 1003), (32768, 3072))
SAMPLE, VOXEL = ("kx", "ky", "kz", "phi_r", "phi_i"), ("x", "y", "z")
#: cosine and sine parts
add_parts = el.operator(
    lambda a, b: (a[0] + b[0], a[1] + b[1]), associative=True, commutative=True, neutral=(0.0, 0.0), name="add_parts"
)


def program(n: int, k: int) -> Any:
    """`map (\\v. reduce (+) 0 (map (\\s. |phi|^2 * <cos (2 pi s.v), sin (2 pi s.v)>) samples)) voxels`"""
    kx, ky, kz, phi_r, phi_i = (el.array(name, el.f32, k) for name in SAMPLE)
    samples = el.zip(kx, ky, kz, phi_r * phi_r + phi_i * phi_i)
    voxels = el.zip(*(el.array(name, el.f32, n) for name in VOXEL))
    return voxels.map(lambda v: samples.map(lambda s: part(v, s)).reduce(add_parts))


def part(voxel: Any, sample: Any) -> Any:
    """What one sample adds at one voxel."""
    angle = 2 * np.pi * (sample[0] * voxel[0] + sample[1] * voxel[1] + sample[2] * voxel[2])
    return sample[3] * el.cos(angle), sample[3] * el.sin(angle)


def inputs(n: int, k: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n, k)`."""
    lengths = {**dict.fromkeys(SAMPLE, k), **dict.fromkeys(VOXEL, n)}
    return {name: rng.random(length, np.float32) - np.float32(0.5) for name, length in lengths.items()}


def reference(kx: Any, ky: Any, kz: Any, phi_r: Any, phi_i: Any, x: Any, y: Any, z: Any) -> Any:
    """The program in NumPy."""
    weight = phi_r * phi_r + phi_i * phi_i
    samples, voxels = np.stack([kx, ky, kz]).astype(np.float64), np.stack([x, y, z], axis=1).astype(np.float64)

    def parts(rows: slice) -> Any:
        angle = 2 * np.pi * (voxels[rows] @ samples)
        return np.stack([np.cos(angle) @ weight, np.sin(angle) @ weight])

    return tuple(by_rows(parts, len(x), len(kx)).astype(np.float32))


def operations(n: int, k: int) -> int:
    """As Parboil counts: 14 for a pair, sine and cosine as one each."""
    return 14 * n * k
