"""Every program of the catalogue equals NumPy on PoCL, in all candidates that would be measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
import pytest

import egglift as el
from benchmarks.programs.catalogue import Entry, Size, entries, size_text
from egglift.codegen.device.execute import Executable, Timing
from egglift.costmodel.measurement.expected_results import agree, flatten
from egglift.ir.check import type_of
from egglift.ir.lifting import as_program
from egglift.ir.types import leaves
from egglift.optimize import SAMPLE
from egglift.search import AT_BEST

pytestmark = pytest.mark.short

SHAPES = 3
#: elements of a large program that is not a product
MOST = (1 << 24) + 1
#: candidates of each, and assignments of sizes that are priced for the best structures; with `-m deep` as many as usual
MEASURED, TRIES = 3, 4
#: programs whose stages are those of another program of the catalogue: they are run with `-m deep` only
LIKE_OTHERS = {"scal", "vec_sum", "asum", "nrm2", "gesummv", "gaussian_kernels", "record_distances", "laplace"}
LIKE_OTHERS |= {"heat_1d", "gradient", "hotspot_2d", "poisson", "heat_3d", "hotspot_3d", "linear_relu", "syrk", "sobel"}
#: what a candidate's status may be; all others say that egglift made a kernel that does not work
HARMLESS = ("ok", "model", "skipped", "inaccurate")


def small(e: Entry) -> Sequence[Size]:
    """The first shapes; and a length that tiles leave a rest of, which is less where it is that of a square."""
    long = () if len(e.sizes[0]) > 1 else ((4097,),) if (1 << 20,) in e.sizes else ((1000,),)
    return (*e.sizes[:SHAPES], *long)


def often(i: int, e: Entry) -> Sequence[Size]:
    """The last of the small sizes, whose tiles leave a rest; of variants (types, weights) that of every sixth one."""
    return () if e.name in LIKE_OTHERS or ("-" in e.name and i % 6) else small(e)[-1:]


def large(i: int, e: Entry) -> Sequence[Size]:
    """Of the sizes that take long two, which differ between programs; no more elements than take a few seconds."""
    rest = [s for s in e.sizes if s not in small(e) and (prod(s) <= MOST or e.operations)]
    return tuple(dict.fromkeys(rest[(2 * i + k) % len(rest)] for k in (0, len(rest) // 2)))


def cases(sizes: Callable[[int, Entry], Iterable[Size]]) -> list[Any]:
    """A parameter for every program at some of its sizes."""
    return [
        pytest.param(e, size, id=f"{e.name}-{size_text(size)}") for i, e in enumerate(entries()) for size in sizes(i, e)
    ]


@pytest.fixture(autouse=True)
def alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates are built, run and checked; which is the fastest is not asked."""
    monkeypatch.setattr(Executable, "time", lambda *_, **options: Timing(1.0, (1.0,), ()))


def check(entry: Entry, size: Size, measurements: int = SAMPLE) -> None:
    program = entry.program(*size)
    kernel = el.optimize(program, "pocl", cache=False, isolate=False, measurements=measurements)
    failed = [
        f"{c.structure} {c.parameters}: {c.status}: {c.reason}" for c in kernel.candidates if c.status not in HARMLESS
    ]
    assert not failed, "\n".join(failed)
    assert kernel.chosen.status == "ok"
    inputs = entry.inputs(*size, np.random.default_rng(size))
    scalars = [scalar for _, scalar in leaves(type_of(as_program(program)))]
    expected, actual = flatten(entry.reference(**inputs)), flatten(kernel(**inputs))
    for want, got, scalar in zip(expected, actual, scalars, strict=True):
        assert got.shape == want.shape
        assert got.dtype == scalar.dtype
        assert agree(want, got, scalar) is None


@pytest.mark.parametrize(("entry", "size"), cases(often))
def test_a_program_equals_numpy_and_no_candidate_fails(
    entry: Entry, size: Size, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("egglift.search.TRIES", TRIES)
    monkeypatch.setattr("egglift.search.AT_BEST", AT_BEST)  # laws are searched as well, also by short searches
    check(entry, size, MEASURED)


@pytest.mark.deep
@pytest.mark.parametrize(("entry", "size"), cases(lambda i, e: [s for s in small(e) if s not in often(i, e)]))
def test_as_many_candidates_as_usual_equal_numpy(entry: Entry, size: Size) -> None:
    check(entry, size)


@pytest.mark.deep
@pytest.mark.parametrize(("entry", "size"), cases(large))
def test_a_large_program_equals_numpy_and_no_candidate_fails(entry: Entry, size: Size) -> None:
    check(entry, size, MEASURED)
