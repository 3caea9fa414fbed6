"""Products of fragments as functions over one lane's parts, which are instructions of NVIDIA's matrix units."""

from __future__ import annotations

from collections.abc import Sequence

from egglift.codegen.kernel.distribution import WARP
from egglift.codegen.kernel.imperative import Unit
from egglift.codegen.opencl.scalar_functions import memory_type

#: what PTX calls a register of totals, and one of factors, in an instruction's operands
REGISTERS = {"f64": ("d", "d"), "f16": ("f", "r"), "bf16": ("f", "r"), "tf32": ("f", "r")}
#: to the nearest number of 11 bits; of two, the larger one
_TF32 = 'uint tf32(float a) {\n  uint r;\n  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(a));\n  return r;\n}'


def fragment_product(unit: Unit, helpers: dict[str, str]) -> str:
    """A function of our own over pointers to totals, and a lane's parts of both factors: PTX's instruction for it."""
    total, factor = memory_type(unit.total), memory_type(unit.scalar)
    registers = REGISTERS[unit.name]
    counts = [unit.rows * unit.columns // WARP, unit.rows * unit.steps // WARP, unit.steps * unit.columns // WARP]
    c, a, b = ([f"{name}{i}" for i in range(n)] for name, n in zip("cab", counts, strict=True))
    given = [_registers(unit, x) for x in (a, b)]
    places = iter(f"%{i}" for i in range(sum(counts)))
    totals, rows, columns = (f"{{{', '.join(next(places) for _ in xs)}}}" for xs in (c, *given))
    name = f"multiply_{unit.name}_{unit.rows}x{unit.columns}x{unit.steps}"
    parameters = ", ".join([*(f"{total}* {x}" for x in c), *(f"{factor} {x}" for x in (*a, *b))])
    outputs = ", ".join(f'"+{registers[0]}"(*{x})' for x in c)
    inputs = ", ".join(f'"{registers[1]}"({x})' for xs in given for x in xs)
    if unit.name == "tf32":
        helpers["tf32"] = _TF32
    helpers[name] = (
        f"void {name}({parameters}) {{\n"
        f'  asm volatile("mma.sync.aligned.{unit.isa} {totals}, {rows}, {columns}, {totals};"\n'
        f"    : {outputs} : {inputs});\n}}"
    )
    return name


def _registers(unit: Unit, factors: Sequence[str]) -> list[str]:
    """What the instruction takes for some factors: doubles; f32s rounded; or two of 16 bits, the first one lower."""
    if unit.name == "tf32":
        return [f"tf32({x})" for x in factors]
    if unit.packed == 1:
        return list(factors)
    return [f"(uint){x} | (uint){y} << 16" for x, y in zip(factors[::2], factors[1::2], strict=True)]
