"""Products of warp groups as functions over a lane's totals and places in local memory: NVIDIA's `wgmma`."""

from __future__ import annotations

from collections.abc import Sequence

from egglift.codegen.kernel.distribution import WARP
from egglift.codegen.kernel.imperative import Lying, Unit
from egglift.codegen.kernel.views import CHUNK, LINE, PATTERN
from egglift.codegen.kernel.warp_groups import TURNED, WARPS
from egglift.codegen.opencl.own_target import GUARD, MARK

STEP_BYTES = 32  # of a line, which one instruction multiplies
LANES = WARPS * WARP  # of a warp group


def group_product(unit: Unit, lying: tuple[Lying, Lying], helpers: dict[str, str]) -> str:
    """A function of our own over pointers to the totals of a lane's two rows, and where rows and columns begin.

    It is done when `await_products` is.
    """
    helpers["own target"] = GUARD
    size = unit.scalar.size
    own = unit.rows * unit.columns // LANES
    totals = [f"{row}[{2 * (i // 4) + i % 2}]" for i, row in ((i, "cd"[i // 2 % 2]) for i in range(own))]
    places = ", ".join(f"%{i}" for i in range(own))
    helpers[f"totals {own}"] = f'#define TOTALS_{own} "{{{places}}}"'
    steps = STEP_BYTES // size
    shape = f"m{unit.rows}n{unit.columns}k{steps}.{unit.isa}"
    across = "".join(f", {int(not x.along)}" for x in lying) if size == TURNED else ""
    lines, inputs = ["wgmma.fence.sync.aligned;"], list[str]()
    for step in range(0, unit.steps, steps):
        first = own + len(inputs)
        operands = f"%{first}, %{first + 1}, 1, 1, 1{across}"
        lines.append(f'wgmma.mma_async.sync.aligned.{shape} " TOTALS_{own} ", {operands};')
        inputs += [f'"l"({name} + {_ahead(x, step, size)})' for name, x in zip(("rows", "columns"), lying, strict=True)]
    lines.append("wgmma.commit_group.sync.aligned;")
    name = "_".join(["multiply", *unit.name.split(), f"{unit.rows}x{unit.columns}x{unit.steps}", *map(_named, lying)])
    helpers[name] = (
        f"void {name}(float* c, float* d, ulong rows, ulong columns) {{\n"
        f"  asm volatile(\n{_text(lines)}\n"
        f'    : {_outputs(totals)}\n    : {", ".join(inputs)} : "memory");\n}}'
    )
    return name


def tile_place(x: Lying, address: str, helpers: dict[str, str]) -> str:
    """Where lines begin, as units are told: the address in pieces of 16 bytes, and how far apart patterns are."""
    helpers["tile_place"] = (
        "ulong tile_place(uint at, uint far) {\n"
        f"  return (ulong)(at / {CHUNK} & 0x3fff) | (ulong)(far / {CHUNK}) << 16"
        f" | {PATTERN // CHUNK}ul << 32 | 1ul << 62;\n}}"
    )
    return f"tile_place({address}, {CHUNK if x.along else x.far or CHUNK})"


def await_products(totals: int, helpers: dict[str, str]) -> str:
    """The function that waits for the products of so many totals of a row, of two rows: nothing reads them before."""
    name = f"await_products_{totals}"
    names = [f"{row}[{i}]" for row in "cd" for i in range(totals)]
    helpers[name] = (
        f"void {name}(float* c, float* d) {{\n"
        f'  asm volatile(\n{_text(["wgmma.wait_group.sync.aligned 0;"])}\n    : {_outputs(names)} : : "memory");\n}}'
    )
    return name


def show_units(helpers: dict[str, str]) -> str:
    """The function that makes known to the units of warp groups what a work-item has written to local memory."""
    helpers["show_units"] = 'void show_units() {\n  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");\n}'
    return "show_units"


def _ahead(x: Lying, step: int, size: int) -> int:
    """Pieces of 16 bytes from the first step to this one."""
    line = LINE // size
    if x.along:
        return (step // line * x.far + step % line * size) // CHUNK
    return step * LINE // CHUNK


def _named(x: Lying) -> str:
    return f"{'along' if x.along else 'across'}{x.far or ''}"


def _text(lines: Sequence[str]) -> str:
    return "\n".join(f'    "{MARK}{line}\\n"' for line in lines)


def _outputs(names: Sequence[str]) -> str:
    return ", ".join(f'"+f"({x})' for x in names)
