"""molecular_dynamics: the forces of atoms on each other, of the neighbours that a list names (MD of SHOC and Lift)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.nbody import add_vectors

__all__ = ["SHAPES", "inputs", "operations", "program", "reference"]

CUTOFF, REPULSION, ATTRACTION = 4.0, 1.5, 2.0  # of the square of a distance; of the Lennard-Jones potential
SHAPES = ((1, 1), (2, 3), (17, 5), (127, 17), (1000, 128), (12288, 128))


def program(n: int, k: int) -> Any:
    """`map (\\(p, near). reduce (+) 0 (map (force p) (gather near atoms))) (zip atoms neighbours)`: k for each of n"""
    atoms = el.array("atoms", (el.f32, el.f32, el.f32), n)
    neighbours = el.array("neighbours", el.i32, (n, k))

    def force(atom: Any, near: Any) -> Any:
        return atoms.gather(near).map(lambda other: lennard_jones(atom, other)).reduce(add_vectors)

    return el.map(force, atoms, neighbours)


def lennard_jones(atom: Any, other: Any) -> Any:
    """The force of one atom on another that is near and not itself, else none."""
    d = [atom[i] - other[i] for i in range(3)]
    square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    inverse = 1 / square
    sixth = inverse * inverse * inverse
    strength = el.where((square > 0) & (square < CUTOFF), inverse * sixth * (REPULSION * sixth - ATTRACTION), 0.0)
    return d[0] * strength, d[1] * strength, d[2] * strength


def inputs(n: int, k: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n, k)`: some neighbours are too far away, or the atom itself."""
    side = 2 * n ** (1 / 3)
    atoms = tuple((side * rng.random(n)).astype(np.float32) for _ in range(3))
    near = np.arange(n)[:, None] + rng.integers(-k, k, (n, k), endpoint=True)
    return {"atoms": atoms, "neighbours": np.clip(near, 0, n - 1).astype(np.int32)}


def reference(atoms: Any, neighbours: Any) -> Any:
    """The program in NumPy."""
    at = np.stack(atoms).astype(np.float64)
    d = at[:, :, None] - at[:, neighbours]
    square = (d * d).sum(axis=0)
    near = (square > 0) & (square < CUTOFF)
    inverse = 1 / np.where(near, square, 1)
    strength = np.where(near, inverse**4 * (REPULSION * inverse**3 - ATTRACTION), 0)
    return tuple((d * strength).sum(axis=2).astype(np.float32))


def operations(n: int, k: int) -> int:
    """Arithmetic of every pair of neighbours, comparisons left out."""
    return 24 * n * k
