"""What is kept of a candidate comes back whole."""

from __future__ import annotations

from egglift.candidate import Candidate
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import Launch
from egglift.ir.patterns import Arg
from egglift.ir.types import F32
from egglift.memory import _from_json, _to_json


def test_a_recalled_candidate_launches_as_it_was_measured() -> None:
    device, launch = open_device(), Launch(128, 1 << 10, swizzle=8)
    kept = Candidate("x", Arg(F32), {}, launch, device.limits, 1.0, "memory", 1.0, "measured", "", None)
    assert _from_json(_to_json(kept), device).launch == launch
