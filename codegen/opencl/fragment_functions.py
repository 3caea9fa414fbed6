"""Fragments as functions over one lane's parts, which are instructions of NVIDIA's matrix units."""

from __future__ import annotations

from collections.abc import Sequence

from egglift.codegen.kernel.distribution import WARP
from egglift.codegen.kernel.imperative import Unit
from egglift.codegen.opencl.scalar_functions import memory_type
from egglift.ir.types import F32, F64, I32, TF32

#: what PTX calls a register of totals, and one of factors, in an instruction's operands, by the type of totals
REGISTERS = {F64: ("d", "d"), F32: ("f", "r"), I32: ("r", "r")}
#: to the nearest number of 11 bits, of two the larger one: half a unit in the 11th place is added, and the unit leaves
#: out what is behind it.  The instruction for it (cvt.rna.tf32) takes four times as long as the products of its results
_TF32 = "uint tf32(float a) {\n  return as_uint(fma(as_float(as_uint(a) & 0xff800000), 0x1p-11f, a));\n}"


def fragment_product(unit: Unit, helpers: dict[str, str]) -> str:
    """A function of our own over pointers to totals, and a lane's registers of factors: PTX's instruction for it."""
    total = memory_type(unit.total)
    factor = "uint" if unit.packed > 1 else memory_type(unit.scalar)
    names = REGISTERS[unit.total]
    sizes = [unit.rows * unit.columns, unit.rows * unit.steps // unit.packed, unit.steps * unit.columns // unit.packed]
    c, a, b = ([f"{name}{i}" for i in range(n // WARP)] for name, n in zip("cab", sizes, strict=True))
    places = iter(f"%{i}" for i in range(sum(sizes) // WARP))
    totals, rows, columns = (f"{{{', '.join(next(places) for _ in xs)}}}" for xs in (c, a, b))
    name = f"multiply_{unit.name.replace(' ', '_')}_{unit.rows}x{unit.columns}x{unit.steps}"
    parameters = ", ".join([*(f"{total}* {x}" for x in c), *(f"{factor} {x}" for x in (*a, *b))])
    outputs = ", ".join(f'"+{names[0]}"(*{x})' for x in c)
    bits = {F32: "tf32({})", TF32: "as_uint({})"}.get(unit.scalar, "{}")
    inputs = ", ".join(f'"{names[1]}"({bits.format(x)})' for x in (*a, *b))
    if unit.scalar == F32:
        helpers["tf32"] = _TF32
    helpers[name] = (
        f"void {name}({parameters}) {{\n"
        f'  asm volatile("mma.sync.aligned.{unit.isa} {totals}, {rows}, {columns}, {totals};"\n'
        f"    : {outputs} : {inputs});\n}}"
    )
    return name


def registers(unit: Unit, factors: Sequence[str], loaded: bool) -> list[str]:
    """What the function is given for some factors: doubles, floats, or several of fewer bits as one, the first lowest.

    loaded: are they registers that a fragment was loaded into?
    """
    if loaded:
        return list(factors) if unit.packed > 1 else [f"as_float({x})" for x in factors]
    if unit.packed == 1:
        return list(factors)
    bits, unsigned = 8 * unit.scalar.size, "uchar" if unit.scalar.size == 1 else "ushort"
    parts = [[f"(uint)({unsigned}){x} << {bits * i}" for x in factors[i :: unit.packed]] for i in range(unit.packed)]
    return [" | ".join(each).replace(" << 0", "") for each in zip(*parts, strict=True)]


def fragment_load(count: int, transposed: bool, helpers: dict[str, str]) -> str:
    """A function of our own over pointers to registers, and the address of a lane's row: PTX's instruction for it."""
    name, how = f"load_matrices_{count}{'_transposed' if transposed else ''}", ".trans" if transposed else ""
    parameters = ", ".join(f"uint* r{i}" for i in range(count))
    places = ", ".join(f"%{i}" for i in range(count))
    outputs = ", ".join(f'"=r"(*r{i})' for i in range(count))
    helpers[name] = (
        f"void {name}({parameters}, uint row) {{\n"
        f'  asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{how}.shared.b16 {{{places}}}, [%{count}];"\n'
        f'    : {outputs} : "r"(row) : "memory");\n}}'
    )
    return name
