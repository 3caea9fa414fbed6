"""Text in PTX, and the instructions in it that its compiler did not see."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from egglift.codegen.device import device as devices
from egglift.codegen.device.device import open_device
from egglift.codegen.opencl.own_target import DEFINED, GUARD, MARK, for_own_target, needs_own_target
from egglift.ir.errors import BuildError


def test_marked_instructions_are_in_force_for_the_own_target() -> None:
    text = ".version 9.0\n.target sm_90, texmode_independent\n\t//@wgmma.fence.sync.aligned;\n\t// a comment\n"
    assert for_own_target(text) == (
        ".version 9.0\n.target sm_90a, texmode_independent\n\twgmma.fence.sync.aligned;\n\t// a comment\n"
    )


def test_only_marks_ask_for_it() -> None:
    assert needs_own_target(f'asm("{MARK}wgmma.fence;");')
    assert not needs_own_target("// @ here\nkernel void k() {}")


def test_a_source_that_is_compiled_alone_says_what_to_do() -> None:
    """Without the instructions it would compute nothing."""
    device = open_device("pocl")
    source = f"{GUARD}\nkernel void k(global int* x) {{ x[0] = 1; }}"
    with pytest.raises(BuildError, match="comments in this kernel are instructions: compile it with egglift"):
        device.compile(source)
    device.compile(source, [f"-D{DEFINED}"])


def test_of_several_devices_the_own_ones_text_is_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    device, made = open_device("pocl"), list[Any]()

    class Program:
        def __init__(self, *given: Any) -> None:
            made.append(given)

        def build(self, *_: Any, **__: Any) -> Program:
            return self

        def get_info(self, what: str) -> Any:
            return {"BINARIES": [b"", b".target sm_90, x\n//@wgmma;"], "DEVICES": [None, device.device]}[what]

    info = SimpleNamespace(BINARIES="BINARIES", DEVICES="DEVICES")
    fake = SimpleNamespace(Program=Program, program_info=info, Error=RuntimeError)
    monkeypatch.setattr(devices, "opencl", lambda: fake)
    device.compile(f"{MARK}wgmma;")
    assert made == [
        (device.context, f"{MARK}wgmma;"),
        (device.context, [device.device], [b".target sm_90a, x\nwgmma;"]),
    ]
