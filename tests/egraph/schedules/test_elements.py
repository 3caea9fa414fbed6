"""What an element of an array takes."""

from __future__ import annotations

import egglift as el
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.elements import ANYWHERE, element_of
from egglift.egraph.stages.stage import Dim
from egglift.ir.lifting import as_program
from tests.egraph.stages.programs import arr

GPU = presets()["nvidia_h200"]


def test_elements_of_gathered_rows_are_neighbours() -> None:
    rows = as_program(el.gather([3, 0, 2], arr("A", 5, 7)))
    place = next(x for x in element_of(rows, (Dim(0, 3), Dim(1, 7)), GPU).places if x.buffer == "A.0")
    assert place.strides == (ANYWHERE, 1)
