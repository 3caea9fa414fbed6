"""What an element of an array takes."""

from __future__ import annotations

import numpy as np

import egglift as el
from egglift.costmodel.closed.traffic import ANYWHERE
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.elements import element_of
from egglift.egraph.stages.stage import Dim
from egglift.ir.lifting import as_program
from egglift.ir.value import as_value
from tests.egraph.stages.programs import Value, arr

GPU = presets()["nvidia_h200"]


def test_elements_of_gathered_rows_are_neighbours() -> None:
    rows = as_program(el.gather([3, 0, 2], arr("A", 5, 7)))
    place = next(x for x in element_of(rows, (Dim(0, 3), Dim(1, 7)), GPU).places if x.buffer == "A.0")
    assert place.strides == (ANYWHERE, 1)


def test_what_numbers_of_an_element_have_in_common_counts_once() -> None:
    x = arr("x", 8)
    one, three = (as_program(x.map(f)) for f in (lambda v: el.exp(v), lambda v: _multiples(el.exp(v))))
    dims = (Dim(0, 8),)
    exponential = element_of(one, dims, GPU).calls[0]
    found = element_of(three, dims, GPU)
    assert found.calls.count(exponential) == 1 and len(found.calls) == 3
    assert len(found.places) == 1


def test_parts_of_several_numbers_are_computed_apart() -> None:
    pair = as_program(arr("x", 8).map(lambda v: el.concat(el.fill(2, el.exp(v)), el.fill(1, el.exp(v)))))
    calls = element_of(pair, (Dim(0, 8),), GPU).calls
    assert len(calls) == 2 and calls[0] == (2 * calls[1][0], 4)


def _multiples(v: Value) -> Value:
    return el.concat(el.fill(1, v), el.concat(el.fill(1, v * 2), el.fill(1, v * 3)))


def test_what_nothing_is_left_of_reads_no_number_beyond() -> None:
    """A rest of no elements begins where its array ends."""
    rest = as_program(el.drop(2, as_value(np.float32([1, -1]))))
    assert element_of(rest, (Dim(0, 1),), GPU).calls == ()
