"""Generated kernels compute what the interpreter says: on PoCL, and under Oclgrind without a race."""

from __future__ import annotations

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from tests.codegen.low import NdArray, flat, meaning
from tests.codegen.samples.book import SAMPLES, Sample
from tests.harness import run
from tests.oclgrind import LIMITS, examine


def agree(expected: list[NdArray], actual: list[NdArray]) -> None:
    for e, a in zip(expected, actual, strict=True):
        if e.dtype.kind == "f":
            np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(a, e)


@pytest.mark.parametrize("s", SAMPLES.values(), ids=SAMPLES.keys())
def test_the_kernels_compute_the_programs_meaning(s: Sample) -> None:
    inputs = s.inputs()
    plan = compile_term(s.term, s.launch)
    actual = run(plan, {name: tuple(flat(v)) for name, v in inputs.items()})
    agree(meaning(s.term, **inputs), actual)


def test_no_kernel_races_or_leaves_its_buffers() -> None:
    jobs = []
    for s in SAMPLES.values():
        plan = compile_term(s.term, s.launch, LIMITS)
        if plan.kernels:
            jobs.append((s, plan, {name: tuple(flat(v)) for name, v in s.inputs().items()}))
    reports = examine([(plan, inputs) for _, plan, inputs in jobs])
    names = {id(s): name for name, s in SAMPLES.items()}
    unclean = {names[id(s)]: str(r) for (s, _, _), r in zip(jobs, reports, strict=True) if not r.clean}
    assert not unclean
    for (s, _, _), r in zip(jobs, reports, strict=True):
        expected = meaning(s.term, **s.inputs())
        # Oclgrind takes LLVM's vectors of one bit for -1 where they are 1
        agree(expected, [a & 1 if e.dtype == bool else np.asarray(a) for e, a in zip(expected, r.outputs)])
