"""What PoCL does not declare in the environment of the tests is called by no kernel."""

from __future__ import annotations

import re
from pathlib import Path

from tests.documents import ROOT
from tests.lean_pocl import HEADER, UNUSED, lean, make_lean

KEPT = """#define __ovld __attribute__((overloadable))
float __ovld __cnfn sin(float);
int4 __ovld __cnfn convert_int4(float4);
size_t __ovld vstore_half_rte(float, size_t, half *);
int __ovld atomic_add(volatile __global int *, int);
"""
TAKEN = """int4 __ovld __cnfn convert_int4_sat_rtz(float4);
float4 __purefn __ovld read_imagef(read_only image2d_t, sampler_t, int2);
void __ovld prefetch(const __global float *, size_t);
"""


def test_single_lines_are_taken_out_of_the_header(tmp_path: Path) -> None:
    assert lean(KEPT + TAKEN) == KEPT
    several = TAKEN.replace("int2);", "\n  int2);")  # a declaration of several lines stays as it is
    assert lean(several) == several.splitlines(keepends=True)[1] + "  int2);\n"
    header = tmp_path / HEADER
    header.parent.mkdir(parents=True)
    header.write_text(TAKEN + KEPT)
    for _ in range(2):
        make_lean(tmp_path)
        assert header.read_text() == KEPT and [f.name for f in header.parent.iterdir()] == [header.name]


def test_no_kernel_calls_what_is_taken_out() -> None:
    kernels = [*ROOT.glob("tests/**/*.cl"), *ROOT.glob("codegen/**/*.py"), *ROOT.glob("costmodel/calibration/*.py")]
    assert len(kernels) > 100
    called = re.compile(rf"\b(?:{UNUSED})\((?!\))")
    assert {m[0] for f in kernels for m in called.finditer(f.read_text())} == set()
