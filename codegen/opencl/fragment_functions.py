"""Products of fragments as functions over one lane's parts, which are instructions of NVIDIA's matrix units."""

from __future__ import annotations

from egglift.codegen.kernel.distribution import WARP
from egglift.codegen.kernel.imperative import Unit
from egglift.codegen.opencl.scalar_functions import memory_type

#: what PTX calls a register of a type in an instruction's operands
REGISTERS = {"f64": "d"}


def fragment_product(unit: Unit, helpers: dict[str, str]) -> str:
    """A function of our own over pointers to totals, and a lane's parts of both factors: PTX's instruction for it."""
    t, registers = memory_type(unit.scalar), REGISTERS[unit.scalar.name]
    counts = [unit.rows * unit.columns // WARP, unit.rows * unit.steps // WARP, unit.steps * unit.columns // WARP]
    c, a, b = ([f"{name}{i}" for i in range(n)] for name, n in zip("cab", counts, strict=True))
    places = iter(f"%{i}" for i in range(sum(counts)))
    totals, rows, columns = (f"{{{', '.join(next(places) for _ in xs)}}}" for xs in (c, a, b))
    name = f"multiply_{unit.scalar.name}_{unit.rows}x{unit.columns}x{unit.steps}"
    parameters = ", ".join([*(f"{t}* {x}" for x in c), *(f"{t} {x}" for x in (*a, *b))])
    outputs = ", ".join(f'"+{registers}"(*{x})' for x in c)
    inputs = ", ".join(f'"{registers}"({x})' for x in (*a, *b))
    helpers[name] = (
        f"void {name}({parameters}) {{\n"
        f'  asm volatile("mma.sync.aligned.{unit.isa} {totals}, {rows}, {columns}, {totals};"\n'
        f"    : {outputs} : {inputs});\n}}"
    )
    return name
