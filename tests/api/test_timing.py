"""Which candidates are in the race."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import egglift as el
from egglift.candidate import Candidate
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.measurement.bench import Subject
from egglift.costmodel.measurement.measuring import Measuring
from egglift.egraph.schedules.account import Account
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from egglift.ir.text import dumps
from egglift.timing import _different, measured

x = el.array("x", el.f32, 64)


def candidates(count: int, account: Account | None) -> list[Candidate]:
    return [
        Candidate("", as_program(x * float(i + 2)), {}, Launch(), DeviceLimits(), 1.0, account=account)
        for i in range(count)
    ]


def places(found: Sequence[Candidate], of: Sequence[Candidate]) -> list[int]:
    return [of.index(c) for c in found]


def test_the_best_that_was_found_in_another_way_is_in_the_race() -> None:
    of = [*candidates(4, None), *candidates(2, Account("", ()))]
    of[4:] = candidates(6, Account("", ()))[4:]
    assert places(_different(of, 3)[0], of) == [0, 1, 2, 4]


def test_equal_kernels_are_in_the_race_once() -> None:
    of = candidates(1, None) * 3 + candidates(3, None)[1:]
    assert places(_different(of, 2)[0], of) == [0, 3]


def test_a_candidate_of_which_no_kernel_can_be_made_is_given_up() -> None:
    broken = replace(candidates(1, None)[0], term=p.Drop(65, x.expr), estimate=0.5)
    of = [broken, *candidates(2, None)]
    found, unmade = _different(of, 3)
    assert places(found, of) == [1, 2]
    assert [(c.status, c.term) for c in unmade] == [("build", broken.term)]
    assert "65 elements are dropped of 64" in unmade[0].reason
    device = open_device("pocl")
    chosen = measured(of, Subject(dumps(as_program(x * 2.0))), device, Measuring(measurements=2), None)
    assert chosen[0].status == "ok" and chosen[0].term == of[1].term
    assert any(c.status == "build" for c in chosen)
