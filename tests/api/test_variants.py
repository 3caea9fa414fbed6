"""What is traced at some lengths holds for all that meet its conditions: traced anew at those, it is the same text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import Device
from egglift.codegen.device.execute import build
from egglift.codegen.kernel.at_lengths import at_lengths as plan_at
from egglift.codegen.kernel.imperative import DeviceLimits, Launch, Plan
from egglift.egraph.schedules.again import made_again
from egglift.ir.length_forms import Lengths
from egglift.ir.lengths import Length
from egglift.ir.run_time_lengths import at_lengths, lengths_of
from egglift.variants import Variant, Way, general, variant_at
from tests.deep import every
from tests.run_time_programs import PROGRAMS, Program, pocl

GOLDEN = Path(__file__).with_name("golden")
#: lengths that are seldom a multiple of anything, and those at the edges of tiles
NUMBERS = st.one_of(st.integers(0, 20), st.integers(0, 300), st.integers(0, 10**4), st.sampled_from([64, 128, 1024]))
GPU = DeviceLimits(branch_barriers=True, warp=32, compute_units=132)


class Unopened:
    """Stands for a GPU: to trace, nothing but its limits is asked for."""

    limits = GPU


def way(p: Program, kind: str) -> tuple[Way, Any]:
    """How a program is made for a kind of device, and such a device."""
    cpu = kind == "cpu"
    device = pocl() if cpu else Unopened()
    return Way(p.cpu if cpu else p.gpu, Launch(16) if cpu else Launch(256), kind, True), device


@cache
def variants(name: str, kind: str) -> list[Variant]:
    """A few variants of a program: for most lengths, for multiples of tiles, for short ones."""
    p = PROGRAMS[name]
    by, device = way(p, kind)
    wanted: list[Lengths] = [general(lengths_of(p.expr))]
    wanted += [p.lengths({"n": a, "m": b, "k": c}) for a, b, c in ((2048, 1024, 512), (50, 30, 20), (9, 700, 3))]
    return [variant_at(p.expr, by, values, device) for values in wanted]


def text(n: int) -> str:
    """A size, by its expression."""
    return n.form.text if isinstance(n, Length) else str(n)


def told(plan: Plan) -> list[object]:
    """All that a plan over lengths is: texts, sizes and arguments as expressions."""
    kernels = [
        (k.source, [*map(text, k.global_size)], k.local_size, [(a.name, text(a.value), a.type) for a in k.lengths])
        for k in plan.kernels
    ]
    return [kernels, [text(b.size) for b in (*plan.temporaries, *plan.outputs)], [i for i, _ in plan.steps]]


MANY_LENGTHS = [pytest.param(name, kind, 12, marks=pytest.mark.deep) for name in PROGRAMS for kind in ("cpu", "gpu")]


def check_what_is_traced_anew(name: str, kind: str, numbers: tuple[int, int, int]) -> None:
    p = PROGRAMS[name]
    values = p.lengths(dict(zip("nmk", numbers, strict=True)))
    by, device = way(p, kind)
    held = [v for v in variants(name, kind) if v.tracing.hold(values)]
    anew = told(variant_at(p.expr, by, values, device).plan) if held else []
    assert all(told(v.plan) == anew for v in held)


@pytest.mark.parametrize(("name", "kind", "count"), [*every(2, PROGRAMS, ("cpu", "gpu"), (1,)), *MANY_LENGTHS])
def test_what_is_traced_anew_is_the_same(name: str, kind: str, count: int) -> None:
    rng = np.random.default_rng(5)
    for top in (70, 3000) * count:
        a, b, c = (int(n) for n in rng.integers(1, top, 3))
        check_what_is_traced_anew(name, kind, (a, b, c))


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@pytest.mark.parametrize("name", PROGRAMS)
@settings(max_examples=20)
@given(numbers=st.tuples(NUMBERS, NUMBERS, NUMBERS))
def test_what_is_traced_anew_is_the_same_anywhere(name: str, kind: str, numbers: tuple[int, int, int]) -> None:
    check_what_is_traced_anew(name, kind, numbers)


def hits(name: str, kind: str, lengths: Callable[[np.random.Generator], int]) -> float:
    """The part of random lengths for which the variant for most of them is right."""
    p, rng = PROGRAMS[name], np.random.default_rng(0)
    found = [variants(name, kind)[0].tracing.hold(p.lengths({n: lengths(rng) for n in "nmk"})) for _ in range(200)]
    return float(np.mean(found))


#: of lengths of 300 to 5000, at least: the others are multiples of tiles, or of vectors, and have faster variants
WIDE = {
    "cpu": {"scal": 0.75, "sum": 1, "dot in pieces": 0.85, "gemv": 0.8, "product": 0.3, "softmax": 0.45}
    | {"jacobi": 0.45, "n-body": 0.9, "transpose": 0.5},
    "gpu": {"scal": 0.95, "sum": 1, "dot in pieces": 0.25, "gemv": 0.35, "product": 0.2, "softmax": 0.45}
    | {"jacobi": 0.4, "n-body": 0.7, "transpose": 0.4},
}
FEW = 16  # variants for 40 shapes, at most


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_one_variant_serves_most_lengths(name: str, kind: str) -> None:
    assert hits(name, kind, lambda rng: int(rng.integers(300, 5000))) >= WIDE[kind][name]


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@pytest.mark.parametrize("name", ["scal", "gemv", "transpose"])
def test_few_variants_serve_all_lengths(name: str, kind: str) -> None:
    p, rng = PROGRAMS[name], np.random.default_rng(2)
    by, device = way(p, kind)
    known: list[Variant] = []
    for _ in range(40):
        values = p.lengths({n: int(rng.integers(300, 5000)) for n in "nmk"})
        if not any(v.tracing.hold(values) for v in known):
            known.append(variant_at(p.expr, by, values, device))
    assert len(known) <= FEW


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_variant_for_most_lengths_is_for_one_length(name: str, kind: str) -> None:
    v = variants(name, kind)[0]
    pinned = [c for c in v.tracing.conditions if c.relation == "==" and len(c.form.lengths) and "//" not in c.form.text]
    assert not pinned


def checked(name: str) -> Iterator[tuple[Program, Variant, dict[str, int]]]:
    p, rng = PROGRAMS[name], np.random.default_rng(1)
    for v in variants(name, "cpu"):
        drawn = ({n: int(rng.integers(1, top)) for n in "nmk"} for top in (80, 400, 1500))
        yield from ((p, v, numbers) for numbers in drawn if v.tracing.hold(p.lengths(numbers)))


@pytest.mark.parametrize("name", every(2, PROGRAMS))
def test_the_plan_of_plain_numbers_agrees(name: str) -> None:
    for p, v, numbers in checked(name):
        values = p.lengths(numbers)
        mine, theirs = plan_at(v.plan, values), plain(p, values)
        assert [b.size for b in mine.outputs] == [b.size for b in theirs.outputs]
        assert {k: [b.size for b in bs] for k, bs in mine.inputs.items()} == {
            k: [b.size for b in bs] for k, bs in theirs.inputs.items()
        }
        for a, b in zip(mine.kernels, theirs.kernels, strict=True):
            if a.local_size == b.local_size:
                assert a.global_size == b.global_size
        data = p.data(numbers)
        found, wanted = (run(pocl(), plan, data) for plan in (mine, theirs))
        assert all(np.array_equal(f, w) for f, w in zip(found, wanted, strict=True))


def plain(p: Program, values: Lengths) -> Plan:
    """The plan by the same steps, of numbers."""
    term = made_again(at_lengths(p.expr, values), p.cpu, "cpu", reassociate=True)
    return compile_term(term, Launch(16), pocl().limits)


def run(device: Device, plan: Plan, data: dict[str, np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """What a plan computes."""
    return build(device, plan).run({name: [data[name].reshape(-1)] for name in plan.inputs}, poison=True)


def test_long_lengths_have_wide_indices() -> None:
    p = PROGRAMS["gemv"]
    by, device = way(p, "gpu")
    short, long = (
        variant_at(p.expr, by, p.lengths({"n": n, "m": m}), device) for n, m in ((3001, 5003), (70001, 80021))
    )
    assert "(long)" not in short.plan.source and "(long)" in long.plan.source
    assert not short.tracing.hold(p.lengths({"n": 70001, "m": 80021}))
    huge = variant_at(p.expr, by, p.lengths({"n": 3, "m": 3 << 31}), device)
    assert "const long m" in huge.plan.source


def test_steps_that_make_nothing_leave_the_program_as_it_stands() -> None:
    p = PROGRAMS["product"]
    by, device = way(p, "cpu")
    empty = p.lengths({"n": 5, "m": 0, "k": 7})
    v = variant_at(p.expr, by, empty, device)
    assert v.tracing.hold(p.lengths({"n": 5, "m": 0, "k": 7})) and not v.tracing.hold(
        p.lengths({"n": 5, "m": 9, "k": 7})
    )
    assert not run(
        pocl(), plan_at(v.plan, empty), {"A": np.zeros((5, 0), np.float32), "B": np.zeros((0, 7), np.float32)}
    )[0].any()


def test_the_products_source_names_its_lengths(request: pytest.FixtureRequest) -> None:
    source = variants("product", "cpu")[0].plan.source
    path = GOLDEN / "product_over_lengths.cl"
    if request.config.getoption("--update-golden"):
        path.write_text(source)
    assert source == path.read_text(), "pytest --update-golden writes what it looks like now"
