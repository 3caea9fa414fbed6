"""Exported kernels whose comments are instructions: hosts build the text that they become again."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from egglift.codegen.export.folder import texts, write_folder
from egglift.codegen.export.host_program import HostProgram, host_program
from egglift.codegen.opencl.own_target import DEFINED
from egglift.costmodel.search.sizes import Point
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.ir.check import type_of
from egglift.ir.signature import inputs_of
from egglift.ir.types import F16
from tests.codegen.export.c_compiler import STRICT, compiled
from tests.codegen.export.test_c99 import exported
from tests.codegen.samples.book import SAMPLES
from tests.egraph.schedules.test_fragments import H200, arr, point
from tests.egraph.schedules.test_warp_groups import ONE, in_groups


@pytest.fixture(scope="module")
def product() -> HostProgram:
    (s,) = in_groups(arr("A", 128, 256, t=F16) @ arr("B", 256, 128, t=F16))
    found = point(s, H200.limits, **ONE)
    assert isinstance(found, Point)
    program = as_pattern(s.stage)
    return host_program("product", found.plan, inputs_of(program), type_of(program))


def test_in_c_it_compiles_without_a_warning(product: HostProgram, tmp_path: Path) -> None:
    made = texts(product, "c99")
    assert f"-w -D{DEFINED}" in made["product.c"] and "result = build_again(self, &program);" in made["product.c"]
    write_folder(tmp_path / "made", made)
    compiled(tmp_path / "product.o", tmp_path / "made" / "product.c", strict=(*STRICT, "-c"))


def test_in_python_it_is_built_of_its_own_text(product: HostProgram) -> None:
    text = texts(product, "python")["product.py"]
    assert f"-D{DEFINED}" in text
    built: list[Any] = []

    class Program:
        def __init__(self, *given: Any) -> None:
            built.append(given)

        def build(self, options: Any) -> Program:
            return self

        def get_info(self, what: str) -> Any:
            return {"BINARIES": [b".target sm_90, x\n\t//@wgmma.fence;\n"], "DEVICES": ["device"]}[what]

    info = SimpleNamespace(BINARIES="BINARIES", DEVICES="DEVICES")
    start = text.index("def _built_again")
    scope: dict[str, Any] = {"cl": SimpleNamespace(Program=Program, program_info=info), "OPTIONS": []}
    exec(text[start : text.index("class Program")], scope)
    scope["_built_again"]("context", "source")
    assert built == [("context", "source"), ("context", ["device"], [b".target sm_90a, x\n\twgmma.fence;\n"])]


def test_other_programs_have_no_word_of_it() -> None:
    p = exported(SAMPLES["two kernels"], "two_kernels")
    for language in ("c99", "python"):
        assert not any(name in text for text in texts(p, language).values() for name in ("build_again", "_built_again"))
