"""Generated kernels compute what the interpreter says: on PoCL, and under Oclgrind without a race."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Plan
from tests.codegen.low import NdArray, flat, meaning
from tests.codegen.samples.book import SAMPLES, Sample
from tests.deep import every, sampled
from tests.fuzz.guarded import outputs_of
from tests.oclgrind import LIMITS, examine


def agree(expected: list[NdArray], actual: list[NdArray]) -> None:
    for e, a in zip(expected, actual, strict=True):
        if e.dtype.kind == "f":
            np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(a, e)


#: of so many samples, one on every run, also on PoCL
PART = 3
#: samples whose kernels are built together
TOGETHER = 16


@cache
def outputs(first: int) -> dict[str, list[NdArray]]:
    """What the kernels of every `PART`th sample give, by name."""
    names = list(SAMPLES)[first::PART][:TOGETHER]
    return dict(zip(names, outputs_of([job(SAMPLES[name], DeviceLimits()) for name in names]), strict=True))


def job(s: Sample, limits: DeviceLimits) -> tuple[Plan, dict[str, list[NdArray]]]:
    """The kernels of a sample, and what they are given."""
    return compile_term(s.term, s.launch, limits), {name: flat(v) for name, v in s.inputs().items()}


@pytest.mark.parametrize("name", every(PART, SAMPLES))
def test_the_kernels_compute_the_programs_meaning(name: str) -> None:
    s, i = SAMPLES[name], list(SAMPLES).index(name)
    first = i - i // PART % TOGETHER * PART
    agree(meaning(s.term, **s.inputs()), outputs(first)[name])


@pytest.mark.parametrize("first", sampled(range(2), lambda first: first == 0))
def test_no_kernel_races_or_leaves_its_buffers(first: int) -> None:
    jobs = {name: job(SAMPLES[name], LIMITS) for name in list(SAMPLES)[first::2]}
    named = [name for name, (plan, _) in jobs.items() if plan.kernels]
    reports = examine([jobs[name] for name in named])
    unclean = {name: str(r) for name, r in zip(named, reports, strict=True) if not r.clean}
    assert not unclean
    for name, r in zip(named, reports, strict=True):
        s = SAMPLES[name]
        expected = meaning(s.term, **s.inputs())
        # Oclgrind takes LLVM's vectors of one bit for -1 where they are 1
        agree(expected, [a & 1 if e.dtype == bool else np.asarray(a) for e, a in zip(expected, r.outputs)])
