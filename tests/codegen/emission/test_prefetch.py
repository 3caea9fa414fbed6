"""What is loaded ahead waits as it was loaded, and only as much as registers hold."""

from __future__ import annotations

import re

import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.emission.raw_loads import load_at, main_load, with_load
from egglift.codegen.kernel.imperative import Buffer, Call, Load
from egglift.codegen.kernel.index import Var, index
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.structures import structures
from egglift.ir.lifting import as_program
from egglift.ir.traverse import instantiate
from egglift.ir.types import F32
from tests.egraph.staged import only_stage
from tests.egraph.stages.programs import arr

H200 = presets()["nvidia_h200"]
BLOCKS = {"m0": 32, "n1": 32, "q0": 1, "q1": 1, "c0": 4, "c1": 4, "a0": 4, "a1": 4}
i, k = (index(Var(name, 64, "loop")) for name in "ik")


def source(k2: int, ahead: int) -> str:
    A, B, m = arr("A", 64, 256), arr("B", 256, 64), arr("m", 64)
    weights = el.exp(A - m[:, None])
    stage = only_stage(as_program(weights @ B))
    (x,) = (x for x in structures(stage, "gpu", True) if x.sign == "tile 01 chunks")
    sizes = {name: {**BLOCKS, "k2": k2, "f0": ahead}[name] for name in x.tiles}
    (kernel,) = compile_term(instantiate(x.term, sizes), limits=H200.limits).kernels
    return kernel.source


def test_what_is_computed_of_a_load_is_computed_where_it_is_kept() -> None:
    text = source(16, 1)
    loaded = re.findall(r"r\d+\[i\d+\] = .*", text)
    assert loaded and not any("exp" in line for line in loaded)
    assert re.search(r"s\d+\[.*\] = exp\(.*r\d+\[i\d+\]", text)


def test_more_than_registers_hold_is_not_loaded_ahead() -> None:
    assert "// prefetch" in source(64, 1)
    assert "// prefetch" not in source(160, 1)  # 80 elements of each operand for a work-item


def test_the_load_that_moves_most_is_the_one_that_waits() -> None:
    x, y, near = (Buffer(name, space, F32, 4096) for name, space in (("x", "global"), ("y", "global"), ("n", "local")))
    value = Call("sub", (Call("mul", (Load(near, i), Load(x, 64 * i + k)), F32), Load(y, i)), F32)
    assert (path := main_load(value)) == (0, 1)
    assert load_at(value, path) == Load(x, 64 * i + k)
    assert with_load(value, path, Load(near, k)) == Call(
        "sub", (Call("mul", (Load(near, i), Load(near, k)), F32), Load(y, i)), F32
    )


@pytest.mark.parametrize("place", ((1,), (0, 5), (0, 0, 0)))
def test_where_no_load_is_none_is_found(place: tuple[int, ...]) -> None:
    near = Buffer("n", "local", F32, 64)
    value = Call("neg", (Load(near, i),), F32)
    assert load_at(value, place) is None
    assert main_load(value) is None
    assert main_load(Load(near, i)) is None
