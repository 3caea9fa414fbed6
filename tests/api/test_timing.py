"""Which candidates are in the race."""

from __future__ import annotations

from collections.abc import Sequence

import egglift as el
from egglift.candidate import Candidate
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.egraph.schedules.account import Account
from egglift.ir.lifting import as_program
from egglift.timing import _different

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
    assert places(_different(of, 3), of) == [0, 1, 2, 4]


def test_equal_kernels_are_in_the_race_once() -> None:
    of = candidates(1, None) * 3 + candidates(3, None)[1:]
    assert places(_different(of, 2), of) == [0, 3]
