"""Kernels for matrix units on any device: each product of fragments as a macro that goes through local memory."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from egglift.codegen.kernel.fragments import UNITS
from egglift.codegen.kernel.imperative import Plan


@dataclass(frozen=True)
class Layout:
    """PTX's layout of a unit's fragments, whose totals are alike: lane l has rows l / 4 and l / 4 + 8 of A and C, and
    column l / 4 of B.

    low: is the i-th of a lane's elements of A in its first row?  a, b: the step of its i-th elements of A and B.
    number: a factor, as the unit takes it.
    """

    low: str
    a: str
    b: str
    number: str = "x"


_OF_HALVES = Layout("i / 2 % 2 * 8", "lane % 4 * 2 + i % 2 + i / 4 * 8", "lane % 4 * 2 + i % 2 + i / 2 * 8")
_OF_ONES = Layout("i % 2 * 8", "i / 2 * 4 + lane % 4", "i * 4 + lane % 4")
LAYOUTS = {
    "f64": _OF_ONES,
    "f16": replace(
        _OF_HALVES, number="copysign(as_float((uint)((x) & 0x7fff) << 13) * 0x1p112f, as_float((uint)(x) << 16))"
    ),
    "bf16": replace(_OF_HALVES, number="as_float((uint)(x) << 16)"),
    "tf32": replace(_OF_ONES, number="as_float((as_uint(x) + 0x1000) & ~0x1fffu)"),
}
_MACRO = """
#define unit_value(x) ({number})
#define {name}({parameters}) {{ \\
  const int lane = (get_local_id(0) + {x} * get_local_id(1)) % 32; \\
  const int warp = (get_local_id(0) + {x} * get_local_id(1)) / 32; \\
  const {total} a[{m}] = {{ {rows} }}, b[{n}] = {{ {columns} }}; \\
  for (int i = 0; i < {m}; ++i) A_[warp][lane / 4 + {layout.low}][{layout.a}] = a[i]; \\
  for (int i = 0; i < {n}; ++i) B_[warp][{layout.b}][lane / 4] = b[i]; \\
  barrier(CLK_LOCAL_MEM_FENCE); \\
  for (int k = 0; k < {steps}; ++k) {{ \\
    *c0 += A_[warp][lane / 4][k] * B_[warp][k][lane % 4 * 2]; \\
    *c1 += A_[warp][lane / 4][k] * B_[warp][k][lane % 4 * 2 + 1]; \\
    *c2 += A_[warp][lane / 4 + 8][k] * B_[warp][k][lane % 4 * 2]; \\
    *c3 += A_[warp][lane / 4 + 8][k] * B_[warp][k][lane % 4 * 2 + 1]; \\
  }} \\
  barrier(CLK_LOCAL_MEM_FENCE); }}
"""
_FUNCTION = re.compile(r"^void (multiply_(\w+?)_\d+x\d+x\d+)\(.*?^}$", re.MULTILINE | re.DOTALL)
_ROUNDING = re.compile(r"^uint tf32\(.*?^}$", re.MULTILINE | re.DOTALL)


def emulated(plan: Plan) -> Plan:
    """The plan with no instruction of a matrix unit left in its kernels."""
    kernels = []
    for k in plan.kernels:
        x, y = (*k.local_size, 1)[:2]
        source, found = k.source, _FUNCTION.search(k.source)
        if found is not None:
            unit = UNITS[found[2]]
            total = "double" if unit.name == "f64" else "float"
            macro = _macro(found[1], unit.name, x, total)
            source = _FUNCTION.sub(lambda _, text=macro: text, _ROUNDING.sub("", source))  # type: ignore[misc]
            warps = x * y // 32
            staging = f"local {total} A_[{warps}][16][{unit.steps}], B_[{warps}][{unit.steps}][8];"
            source = source.replace(") {\n  const int", f") {{\n  {staging}\n  const int", 1)
            assert staging in source and "asm" not in source
        kernels.append(replace(k, source=source))
    return replace(plan, kernels=tuple(kernels))


def _macro(name: str, unit: str, x: int, total: str) -> str:
    steps = UNITS[unit].steps
    m, n = steps // 2, steps // 4
    a, b = [f"a{i}" for i in range(m)], [f"b{i}" for i in range(n)]
    rows, columns = (", ".join(f"unit_value({v})" for v in xs) for xs in (a, b))
    parameters = ", ".join(["c0", "c1", "c2", "c3", *a, *b])
    layout = LAYOUTS[unit]
    return _MACRO.format(
        **{"number": layout.number, "name": name, "parameters": parameters, "x": x, "total": total, "m": m, "n": n},
        **{"rows": rows, "columns": columns, "layout": layout, "steps": steps},
    )
