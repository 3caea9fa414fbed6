"""Kernels for matrix units on any device: each product of fragments as a macro that goes through local memory."""

from __future__ import annotations

import re
from dataclasses import replace

from egglift.codegen.kernel.imperative import Plan

#: PTX's layout of mma.m16n8k16 on doubles: lane l has rows l / 4 and l / 4 + 8 of A and C, column l / 4 of B
_MACRO = """
#define multiply_f64_16x8x16(c0, c1, c2, c3, a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3) {{ \\
  const int lane = (get_local_id(0) + {x} * get_local_id(1)) % 32; \\
  const int warp = (get_local_id(0) + {x} * get_local_id(1)) / 32; \\
  const double a[8] = {{a0, a1, a2, a3, a4, a5, a6, a7}}, b[4] = {{b0, b1, b2, b3}}; \\
  for (int i = 0; i < 8; ++i) A_[warp][lane / 4 + i % 2 * 8][i / 2 * 4 + lane % 4] = a[i]; \\
  for (int i = 0; i < 4; ++i) B_[warp][i * 4 + lane % 4][lane / 4] = b[i]; \\
  barrier(CLK_LOCAL_MEM_FENCE); \\
  for (int k = 0; k < 16; ++k) {{ \\
    *c0 += A_[warp][lane / 4][k] * B_[warp][k][lane % 4 * 2]; \\
    *c1 += A_[warp][lane / 4][k] * B_[warp][k][lane % 4 * 2 + 1]; \\
    *c2 += A_[warp][lane / 4 + 8][k] * B_[warp][k][lane % 4 * 2]; \\
    *c3 += A_[warp][lane / 4 + 8][k] * B_[warp][k][lane % 4 * 2 + 1]; \\
  }} \\
  barrier(CLK_LOCAL_MEM_FENCE); }}
"""
_FUNCTION = re.compile(r"^void multiply_f64_16x8x16\(.*?^}$", re.MULTILINE | re.DOTALL)


def emulated(plan: Plan) -> Plan:
    """The plan with no instruction of a matrix unit left in its kernels."""
    kernels = []
    for k in plan.kernels:
        x, y = (*k.local_size, 1)[:2]
        source = _FUNCTION.sub(_MACRO.format(x=x), k.source)
        if source != k.source:
            warps = x * y // 32
            staging = f"local double A_[{warps}][16][16], B_[{warps}][16][8];"
            source = source.replace(") {\n  const int", f") {{\n  {staging}\n  const int", 1)
            assert staging in source and "asm" not in source
        kernels.append(replace(k, source=source))
    return replace(plan, kernels=tuple(kernels))
