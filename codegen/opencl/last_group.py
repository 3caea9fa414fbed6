"""How the last group of a kernel to be done goes on with what would be a kernel of one group: one launch less.

k0: tmp0[w0] = f(...);    k1, of one group: out[0] = g(tmp0);
->
k0: tmp0[w0] = f(...);    if (all other groups are done) out[0] = g(tmp0);

source: NVIDIA's CUDA samples, threadFenceReduction: each group makes known what it wrote before it counts itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import TypeAlias

from egglift.codegen.kernel.distribution import DIMENSIONS, Shape
from egglift.codegen.kernel.imperative import Buffer
from egglift.codegen.opencl.natives import NVIDIAS
from egglift.codegen.opencl.statements import INDENT

WAIT = f"{INDENT}barrier(CLK_LOCAL_MEM_FENCE);"
WAIT_FOR_ALL = f"{INDENT}barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
#: the lines of a kernel of one group, and how it is executed
Body: TypeAlias = tuple[Shape, Sequence[str]]
FENCE = "device_fence"
#: what a work-item wrote before it is there for every group that an atomic operation after it tells so
FENCE_FUNCTION = (
    f"void {FENCE}(void) {{\n#if {NVIDIAS}\n"
    '  asm volatile("fence.acq_rel.gpu;" ::: "memory");\n'
    "#elif defined(__opencl_c_atomic_scope_device)\n"
    "  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);\n"
    "#else\n  mem_fence(CLK_GLOBAL_MEM_FENCE);\n#endif\n}"
)


def last_group(
    bodies: Sequence[Body], shape: Shape, counter: Buffer | None, words: set[str], helpers: dict[str, str]
) -> list[str]:
    """The lines with which the last group goes on, one body after the other.

    shape: how the kernel is launched.  counter: of the groups that are done, 0 before and after a launch; None: there
    is one group.  words: those of the kernel's lines, of which none is the new name.
    """
    if counter is None:
        return [line for body in bodies for line in (WAIT_FOR_ALL, *_block("{", _body(shape, body)))]
    helpers[FENCE] = FENCE_FUNCTION
    last = "last"
    while last in words:
        last += "_"
    first = " && ".join(f"get_local_id({d}) == 0" for d in sorted(DIMENSIONS) if shape.local[d] > 1)
    inside = [f"{INDENT}{FENCE}();", f"{INDENT}if ({first}) {counter.name}[0] = 0;", *_body(shape, bodies[0])]
    for body in bodies[1:]:
        inside += [WAIT_FOR_ALL, *_block("{", _body(shape, body))]
    return [
        f"{INDENT}// the last group to be done goes on",
        f"{INDENT}local int {last};",
        f"{INDENT}{FENCE}();",
        WAIT,
        f"{INDENT}if ({first}) {last} = atomic_inc(&{counter.name}[0]) == {prod(shape.groups) - 1};",
        WAIT,
        *_block(f"if ({last}) {{", inside),
    ]


def _block(head: str, lines: Sequence[str]) -> list[str]:
    return [INDENT + head, *(INDENT + line for line in lines), INDENT + "}"]


def _body(launched: Shape, body: Body) -> list[str]:
    """Lines of a kernel of one group, behind its ids."""
    shape, lines = body
    ids = _ids(launched, flat=shape.local != launched.local)
    return [*(f"{INDENT}const int {name} = {e};" for name, e in ids.items() if _has(lines, name)), *lines]


def _ids(shape: Shape, flat: bool) -> Mapping[str, str]:
    """What the ids of a kernel of one group are.  flat: are its items in one dimension, however they are launched?"""
    x, y, _ = shape.local
    number = "get_local_id(0)"
    if flat and prod(shape.local) > x:
        number = f"{x} * (get_local_id(1) + {y} * get_local_id(2)) + {number}"
    ids = {f"{kind}{d}": f"get_local_id({d})" for kind in "lg" for d in sorted(DIMENSIONS)}
    return ids | {f"w{d}": "0" for d in sorted(DIMENSIONS)} | {"l0": number, "g0": number}


def _has(lines: Sequence[str], name: str) -> bool:
    return any(re.search(rf"\b{name}\b", line) for line in lines)
