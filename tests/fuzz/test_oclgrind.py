"""Candidates of random programs, shaped for a CPU and for a GPU, run clean under Oclgrind and compute the program."""

from __future__ import annotations

import random

import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.measurement.expected_results import flatten
from tests.deep import sampled
from tests.fuzz.case import Case
from tests.fuzz.check import Candidate, candidates
from tests.fuzz.generator import random_program
from tests.fuzz.style import Room, style_of
from tests.oclgrind import LIMITS, examine

#: small values: Oclgrind interprets
SMALL = Room(elements=300, serial=60)


def case_of(seed: int) -> Case:
    rng = random.Random(seed)
    style = style_of(rng)
    return Case(random_program(rng, style, SMALL), style.name, seed)


@pytest.mark.parametrize(
    "seeds",
    sampled((range(k, k + 6) for k in range(50_001, 50_061, 6)), lambda seeds: seeds.start < 50_013),
    ids=lambda seeds: str(seeds.start),
)
def test_the_candidates_of_random_programs_run_clean(seeds: range) -> None:
    jobs: list[tuple[Case, Candidate]] = []
    for case in map(case_of, seeds):
        jobs.append((case, Candidate("naive", "", compile_term(case.program, Launch(16), LIMITS))))
        for name in ("pocl_cpu", "nvidia_h200"):
            jobs.extend((case, c) for c in candidates(case, name, LIMITS))
    assert len(jobs) > 2 * len(seeds)
    inputs = [{name: flatten(v) for name, v in case.inputs.items()} for case, _ in jobs]
    reports = examine([(c.plan, given) for (_, c), given in zip(jobs, inputs)])
    for (case, c), report in zip(jobs, reports, strict=True):
        problem = str(report) if not report.clean else case.disagreement(list(report.outputs))
        assert problem is None, f"seed {case.seed}: {problem}\n{c.how}\n{c.plan.source}"
