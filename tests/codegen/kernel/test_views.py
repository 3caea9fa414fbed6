"""Views of arrays without elements: whatever reads them at a place that is not there, behind an edge say, finds one."""

from __future__ import annotations

from egglift.codegen.kernel import views
from egglift.codegen.kernel.index import Var, index
from egglift.codegen.kernel.views import Arr

I = index(Var("i0", 4, "loop"))
EMPTY = Arr(0, lambda i: i)


def test_every_third_of_no_elements() -> None:
    assert views.stride(EMPTY, 3, 0).length == 0
    assert views.stride(EMPTY, 3, 0).at(I) == I


def test_the_elements_of_rows_without_elements() -> None:
    rows = Arr(3, lambda i: Arr(0, lambda j: i * 10 + j))
    assert views.join(rows, 3, 0).length == 0
    assert views.join(rows, 3, 0).at(I) == I * 10
