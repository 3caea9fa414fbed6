"""Particles: molecular dynamics with lists of neighbours as SHOC has it, and the pulls of all pairs of bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.brought.program import Inputs, Sizes
from benchmarks.handwritten.kernel import Arrays, ByHand, Call, Subject, Way, covering
from benchmarks.programs import molecular_dynamics as md
from benchmarks.programs import nbody
from benchmarks.programs.blocks import by_rows
from benchmarks.programs.catalogue import Size
from egglift.codegen.device.device import Device

FORCES = ("out_0", "out_1", "out_2")
ATOMS = Sizes((300, 20), (1000, 128), (73728, 128))
POTENTIAL: dict[str, int | str] = {
    "CUTOFF": f"{md.CUTOFF}f",
    "REPULSION": f"{md.REPULSION}f",
    "ATTRACTION": f"{md.ATTRACTION}f",
}


def md_bytes(n: int, k: int) -> int:
    """The lists, and positions and forces once."""
    return 4 * n * k + 24 * n


LISTS = Subject("molecular_dynamics", md.program, md.inputs, md.reference, ATOMS, md_bytes, md.operations)


def turned_program(n: int, k: int) -> Any:
    """The same of lists that lie turned, as SHOC keeps them: the j-th neighbours of all atoms side by side."""
    atoms = el.array("atoms", (el.f32, el.f32, el.f32), n)

    def force(atom: Any, near: Any) -> Any:
        return atoms.gather(near).map(lambda other: md.lennard_jones(atom, other)).reduce(nbody.add_vectors)

    return el.map(force, atoms, el.array("neighbours", el.i32, (k, n)).T)


def turned_inputs(n: int, k: int, rng: np.random.Generator) -> Inputs:
    """Those of `molecular_dynamics`, the lists turned."""
    found = md.inputs(n, k, rng)
    return found | {"neighbours": np.ascontiguousarray(found["neighbours"].T)}


TURNED = Subject(
    "molecular_dynamics, lists turned",
    turned_program,
    turned_inputs,
    lambda atoms, neighbours: md.reference(atoms, neighbours.T),
    ATOMS,
    md_bytes,
    md.operations,
)


def pulls_reference(x: Any, y: Any, z: Any, mass: Any) -> Any:
    """All pairs in doubles, by products of matrices: several times as fast as term by term."""
    at = np.stack([x, y, z], 1).astype(np.float64)
    lengths, weighted = (at * at).sum(1), np.concatenate([at, np.ones((len(x), 1))], 1) * mass[:, None]

    def pulls(rows: slice) -> Any:
        square = at[rows] @ (-2 * at.T)
        square += lengths + nbody.SOFTENING
        square += lengths[rows, None]
        square *= np.sqrt(square)
        sums = np.reciprocal(square, out=square) @ weighted
        return (sums[:, :3] - at[rows] * sums[:, 3:]).T

    return tuple(by_rows(pulls, len(x), 4 * len(x)).astype(np.float32))


PULLS = Subject(
    "nbody",
    nbody.program,
    nbody.inputs,
    pulls_reference,
    Sizes((300,), (1024,), (16384,)),
    lambda n: 28 * n,
    nbody.operations,
)


def packed(inputs: Inputs) -> Arrays:
    """Positions as float4, as SHOC has them."""
    return {"atoms": np.stack([*inputs["atoms"], np.zeros_like(inputs["atoms"][0])], 1), "near": inputs["neighbours"]}


def md_ways(size: Size, device: Device) -> list[Way]:
    """Groups of several sizes."""
    n = size[0]
    return [
        Way(POTENTIAL, (Call("forces", ("atoms", "near", *FORCES), size, (covering(n, group),), (group,)),))
        for group in (64, 128, 256)
    ]


def md_rows_ways(size: Size, device: Device) -> list[Way]:
    """Several numbers of work-items for an atom."""
    n, group, buffers = size[0], 128, ("atoms_0", "atoms_1", "atoms_2", "neighbours", *FORCES)
    return [
        Way(
            POTENTIAL | {"GROUP": group, "LANES": lanes},
            (Call("forces", buffers, size, (covering(n * lanes, group),), (group,)),),
        )
        for lanes in (8, 32)
    ]


def nbody_ways(size: Size, device: Device) -> list[Way]:
    """Tiles of several sizes, and one, two or four bodies for a work-item."""
    (n,) = size
    buffers = ("x", "y", "z", "mass", *FORCES)
    return [
        Way(
            {"GROUP": group, "EACH": each, "SOFTENING": f"{nbody.SOFTENING}f"},
            (Call("pulls", buffers, size, (covering(-(-n // each), group),), (group,)),),
        )
        for group in (64, 128, 256)
        for each in (1, 2, 4)
    ]


KERNELS = (
    ByHand("md", TURNED, ("md",), md_ways, packed),
    ByHand("md_rows", LISTS, ("md_rows",), md_rows_ways),
    ByHand("nbody", PULLS, ("nbody",), nbody_ways),
)
