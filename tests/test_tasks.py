"""The tasks of docs/tasks.md by kernels too: the page itself runs them by the interpreter."""

from __future__ import annotations

import re
from typing import Any

import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.arguments import host_value, operands, result
from egglift.codegen.device.device import open_device
from egglift.codegen.device.execute import build
from egglift.ir.check import type_of
from egglift.ir.signature import inputs_of
from tests.documents import ROOT, blocks

TEXT = "\n".join(block.code for block in blocks((ROOT / "docs/tasks.md").read_text()))
BEGIN, *TASKS = re.split(r"(?m)^(?=# \d+ )", TEXT)
#: a sample; the others with -m deep
USUAL = (3, 10, 29, 34)


def by_kernel(program: Any, **inputs: Any) -> Any:
    """The program as it stands, compiled."""
    e, device = el.as_program(program), open_device("pocl")
    given = operands(device, inputs_of(e), inputs)
    return result(type_of(e), build(device, compile_term(e, limits=device.limits)).run(given), host_value)


def test_there_are_forty_tasks() -> None:
    assert [int(task.split()[1]) for task in TASKS] == list(range(1, 41))


@pytest.mark.parametrize("number", [i if i in USUAL else pytest.param(i, marks=pytest.mark.deep) for i in range(1, 41)])
def test_a_task_is_right_by_a_kernel(number: int) -> None:
    session: dict[str, Any] = {}
    exec(BEGIN, session)
    for before in TASKS[: number - 1] if number in (34, 35, 36) else ():
        exec(before, session)
    session["run"] = by_kernel
    exec(TASKS[number - 1], session)
