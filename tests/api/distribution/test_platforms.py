"""Devices of two platforms side by side: a simulated GPU, with memory of its own, and a CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device import rows, staging
from egglift.distribution.opening import open_devices
from egglift.ir.errors import DeviceLost
from egglift.kernel import Kernel
from tests import oclgrind, several
from tests.api.distribution.programs import PROGRAMS, agree, values
from tests.api.distribution.test_iterating import WIDE, heat
from tests.deep import every

Both = Callable[..., Any]
#: names of devices, the simulated one first
DEVICES = ("oclgrind", "pthread")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """Calls functions in a process with two platforms."""
    folder: Path = tmp_path_factory.mktemp("vendors")
    (folder / "oclgrind.icd").write_text(str(oclgrind.platform()))
    with several.process(OCL_ICD_VENDORS=str(folder), POCL_DEVICES="pthread") as call:
        yield call


def small_chunks(patch: pytest.MonkeyPatch) -> None:
    """Rows of a few bytes are large, and go through pinned memory where a device has memory of its own."""
    patch.setattr(rows, "LARGE", 64)
    patch.setattr(staging, "CHUNK", 256)


def differs(program: Any, contained: bool = False, edge: int | None = None, **more: Any) -> str:
    """What is wrong with a result of both devices, "" if nothing."""
    whole = el.as_program(program)
    with pytest.MonkeyPatch.context() as patch:
        small_chunks(patch)
        kernel = several.kernel(whole, 2, devices=list(DEVICES), **more)
        if edge is not None:
            assert kernel.windows is not None
            kernel.windows = replace(kernel.windows, edge=edge)
        given = values(whole)
        kinds = {1: el.Vector, 2: el.Matrix}
        taken = {n: kinds[v.ndim](v) if contained and v.ndim else v for n, v in given.items()}
        found = kernel(**taken)
        found = tuple(map(np.asarray, found)) if isinstance(found, tuple) else np.asarray(found)
    took_part = {s.place for of in kernel.shares.values() for s in of}
    return "" if agree(found, el.interpret(whole, **given)) and took_part == {0, 1} else kernel.explain()


def platforms() -> tuple[list[str], list[str]]:
    opened = open_devices(list(DEVICES))
    return [d.kind for d in opened], [d.platform for d in opened]


def test_the_devices_are_of_two_platforms(both: Both) -> None:
    kinds, names = both(platforms)
    assert kinds == ["gpu", "cpu"] and len(set(names)) == 2


@pytest.mark.parametrize(("name", "contained"), every(4, PROGRAMS, [False, True]))
def test_a_gpu_and_a_cpu_compute_what_one_does(both: Both, name: str, contained: bool) -> None:
    assert both(differs, PROGRAMS[name](41), contained) == ""


@pytest.mark.parametrize(("mode", "edge"), every(2, ["clamp", "mirror", "wrap", ("constant", 0.5)], [0, 1]), ids=str)
def test_they_exchange_borders(both: Both, mode: Any, edge: int) -> None:
    assert both(differs, heat(40, WIDE, mode, 4), edge=edge) == ""


@pytest.mark.parametrize(("name", "memory"), [("total", 4 * 20), ("black_scholes", 12 * 9), ("product", 600)])
def test_blocks_stream_through_both(both: Both, name: str, memory: int) -> None:
    assert both(differs, PROGRAMS[name](41), memory=memory) == ""


def lost(place: int) -> tuple[str, bool]:
    """What is said where one of them is lost; and does the other compute alone?"""
    kernel = several.kernel(PROGRAMS["dot"](40), 2, devices=list(DEVICES))
    x, whole = np.ones(40, np.float32), Kernel.__call__

    def call(self: Kernel, *args: Any, **named: Any) -> Any:
        if self.device is kernel.devices[place]:
            raise DeviceLost(f"{self.device.name} is gone")
        return whole(self, *args, **named)

    other = several.kernel(PROGRAMS["dot"](40), 1, devices=[DEVICES[1 - place]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "__call__", call)
        with pytest.raises(DeviceLost) as caught:
            kernel(x, x)
        return str(caught.value), bool(other(x, x) == 40)


@pytest.mark.parametrize("place", [0, 1])
def test_where_one_is_lost_the_other_still_computes(both: Both, place: int) -> None:
    said, alone = both(lost, place)
    assert said.startswith(f"device {place}: ") and said.endswith("is gone") and alone
