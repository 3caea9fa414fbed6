"""Associative operators without a neutral element are shared out all the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages.absence import LONG, with_absence
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.scans import in_chunks
from egglift.egraph.stages.sharing import can_share
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, same, whole

pytestmark = pytest.mark.short

N = 3 * LONG + 7
x, few = el.array("x", el.i64, N), el.array("x", el.i64, 7)


def later(a: Any, b: Any) -> Any:
    """The last of the even numbers, else of all: no number leaves each other as it is."""
    return el.where(b % 2 == 0, b, el.where(a % 2 == 0, a, b))


LATER = el.operator(later, associative=True, commutative=False)
PAIRS = el.operator(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), associative=True, commutative=False)


def pairs() -> Any:
    return el.zip(x % 97, x % 89)


@pytest.mark.parametrize(
    "program",
    [lambda: el.reduce(LATER, 5, x), lambda: el.reduce(PAIRS, (1, 0), pairs()), lambda: el.scan(LATER, 5, x)],
)
def test_reductions_and_scans_mean_the_same(program: Any) -> None:
    e = as_program(program())
    (reduced,) = {t for t in [e] if isinstance(t, p.Reduce | p.Scan)}
    lifted, inputs = with_absence(reduced), exact_inputs(e)
    assert lifted is not None and same(e, lifted, inputs)
    stages = stages_of(e)
    assert same(e, whole(stages), inputs)
    (stage, *_) = stages.stages
    assert in_chunks(stage, 64) if stage.scan else can_share(stage)


@pytest.mark.parametrize("program", [el.reduce(LATER, 5, few), el.reduce(el.add, 0, x), el.scan(el.maximum, 0, x)])
def test_what_is_short_or_has_a_neutral_element_stays(program: Any) -> None:
    e = as_program(program)
    assert isinstance(e, p.Reduce | p.Scan) and with_absence(e) is None


def test_a_kernel_of_such_a_reduction_is_right() -> None:
    kernel = el.optimize((el.reduce(PAIRS, (1, 0), pairs()), el.scan(LATER, 5, x)), "pocl", measure="none", cache=False)
    values = np.arange(N)
    (first, second), scanned = kernel(values)
    expected = el.interpret(kernel.program, x=values)
    assert ((first, second), list(scanned)) == (expected[0], list(expected[1]))
