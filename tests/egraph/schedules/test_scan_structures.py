"""Programs of stages that scan: every structure, and chunks of it, computes what the stage means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import DeviceLimits, Launch, Plan
from egglift.costmodel.measurement.expected_results import flatten
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.again import placed
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.scan_choices import in_order
from egglift.egraph.schedules.scan_structures import ALONE, Rows, ScanStructure, scan_structures
from egglift.egraph.schedules.structures import structures
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import Stages, stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.scans import can_link, in_chunks, of_chunks
from egglift.egraph.stages.stage import Stage
from egglift.ir import patterns as p
from egglift.ir.errors import CodegenError, EggliftError
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.traverse import instantiate
from tests.deep import every, sampled
from tests.egraph.staged import composed, exact_inputs, result, same, sized, whole
from tests.egraph.stages.programs import arr
from tests.egraph.stages.test_side_by_side import selective
from tests.fuzz.guarded import run_all
from tests.oclgrind import LIMITS, examine

pytestmark = pytest.mark.short

#: scans of scans are one
IN_ORDER = Partitioning(chained=True)
GPU, CPU = presets()["nvidia_h200"], presets()["pocl_cpu"]
APART = replace(GPU, name="a GPU whose groups may stand still")


def weighted(m: int, n: int) -> Any:
    """Rows that begin with numbers of their own, and what follows reads another array."""
    a, w = arr("A", m, n), arr("w", m)
    scanned = el.map(lambda row, v: el.scan(el.add, v, row.map(lambda e: e * v)), a, w)
    return scanned + arr("B", m, n)


def of_segments(n: int) -> Any:
    return el.segmented_scan(el.add, 1, el.array("flags", el.bool_, n), arr("x", n))


def of_maps(n: int) -> Any:
    """Compositions, which do not commute."""
    return el.scan(composed, (1, 2), el.zip(arr("a", n, t=el.i32), arr("b", n, t=el.i32)))


def columns_of_maps(n: int, m: int) -> Any:
    """Compositions down columns, of which one component each is wanted."""
    pairs = arr("A", n, m, t=el.i32).zip(arr("B", n, m, t=el.i32)).map(lambda rows: el.zip(rows[0], rows[1]))
    return el.scan(composed, (1, 2), pairs, axis=0).map(lambda row: row.map(lambda p: p[1]))


def advantages(t: int, n: int) -> Any:
    """Of steps and players: a recurrence backwards down columns, and the returns that follow of it."""
    r, v, alive = arr("r", t, n), arr("v", t + 1, n), arr("alive", t, n)
    found = el.linear_recurrence(0.5 * alive, r + v[1:] * alive - v[:-1], reverse=True, axis=0)
    return el.tuple(found, found + v[:-1])


def stacked(t: int, n: int, axis: int) -> Any:
    """Sums down columns, and what is made of them, side by side."""
    sums = el.cumsum(arr("A", t, n), axis=0)
    return el.stack([sums, sums * arr("B", t, n)], axis=axis)


def moments(t: int, n: int) -> Any:
    """Two moving averages down columns, and their ratio."""
    a = arr("A", t, n)
    return el.linear_recurrence(0.5, a, axis=0) / (el.linear_recurrence(0.25, a * a, axis=0) + 100)


def own_maps(t: int, n: int) -> Any:
    """Compositions down columns by a function that names no neutral element."""
    return el.associative_scan(lambda s, u: (s[0] * u[0], u[0] * s[1] + u[1]), (arr("A", t, n), arr("B", t, n)), axis=0)


def falls(t: int, n: int) -> Any:
    """The largest falls of running sums, down columns."""
    sums = el.cumsum(arr("A", t, n), axis=0)
    return (el.cummax(sums, axis=0) - sums).max(axis=0)


SMALL: dict[str, Callable[[], Any]] = {
    "one": lambda: el.cumsum(arr("x", 1)),
    "two": lambda: el.cumsum(arr("x", 2)),
    "a prime": lambda: el.cumsum(arr("x", 101)),
    "a power of two": lambda: el.cummax(arr("x", 64, t=el.i32)),
    "and what follows": lambda: el.cumsum(arr("x", 37)) / (arr("y", 37) + 9),
    "rows": lambda: el.cumsum(arr("A", 5, 33), axis=1),
    "columns": lambda: el.cumsum(arr("A", 12, 7), axis=0) * 2,
    "columns that are computed": lambda: el.cumsum(arr("A", 9, 6, t=el.u8).cast(el.i32), axis=0),
    "columns of pairs": lambda: columns_of_maps(8, 5),
    "a sum of a scan": lambda: (el.cumsum(arr("x", 53)) * arr("y", 53)).sum(),
    "falls from the greatest in rows": lambda: (lambda x: (el.cummax(x, axis=1) - x).max(axis=1))(arr("A", 6, 26)),
    "three axes": lambda: el.cumsum(arr("A", 3, 5, 4), axis=1),
    "rows with beginnings": lambda: weighted(6, 19),
    "segments": lambda: of_segments(45),
    "compositions": lambda: of_maps(23),
    "columns backwards": lambda: advantages(19, 5),
    "averages of rows": lambda: el.linear_recurrence(0.5, arr("A", 5, 21), axis=1, reverse=True),
    "rows backwards": lambda: el.scan(el.add, 3, arr("A", 5, 21), reverse=True, axis=1),
    "planes": lambda: stacked(9, 5, 0),
    "planes of rows": lambda: stacked(9, 5, 1),
    "states": lambda: selective(2, 9, 3, 4),
    "states, and what follows": lambda: selective(2, 9, 3, 4) * arr("z", 2, 9, 3) + arr("skip", 3),
    "states backwards": lambda: el.cumsum(arr("A", 4, 9)[:, ::-1], axis=1)[:, ::-1].sum(axis=0),
    "two averages": lambda: moments(19, 5),
    "maps of one's own": lambda: own_maps(9, 5)[1],
    "falls of sums": lambda: falls(37, 5),
    "two results": lambda: (lambda x: el.tuple(el.cumsum(x), el.cummax(x)))(arr("x", 41)),
    "backwards": lambda: el.scan(el.add, 3, arr("x", 29), reverse=True),
    "without an element's own": lambda: el.scan(el.add, 3, arr("x", 29), exclusive=True),
}


def scan_of(stages: Stages) -> Stage:
    (stage,) = (s for s in stages.stages if s.scan is not None)
    return stage


def all_structures(stage: Stage, kind: str) -> list[ScanStructure]:
    """Those of any number of rows: a device with much to do would not try all."""
    assert stage.scan is not None
    return list(scan_structures(stage, kind, DeviceLimits(), stage.scan.op.associative))


def terms(stage: Stage, kind: str, rng: Random) -> Iterator[Expr]:
    """Low-level programs of whole rows, and of chunks of some lengths, sizes at random."""
    for s in all_structures(stage, kind):
        yield sized(s, rng)
    for length in (1, 4, 7):
        chunks = in_chunks(stage, length)
        if chunks is None:
            assert stage.scan is not None and (stage.scan.across is not None or not stage.scan.op.associative)
            return
        parts = [as_pattern(chunks.totals), as_pattern(chunks.carries)]
        end = [] if chunks.whole is None else [as_pattern(chunks.whole)]
        for s in all_structures(chunks.chunks, kind):
            yield of_chunks(stage, chunks, in_order(chunks, [*parts, sized(s, rng), *end], placed))
        if stage.scan is not None and can_link(stage.scan) and kind == "gpu":
            linked = of_chunks(stage, chunks, sized(Rows(chunks.chunks).linked(stage.scan.init), rng))
            yield placed(end[0], {chunks.chunks.name: p.To("global", linked)}) if end else linked


@pytest.fixture(autouse=True)
def few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """All structures are tried, whatever the number of rows."""
    monkeypatch.setattr("egglift.egraph.schedules.scan_structures.FEWEST", 1)


@pytest.mark.parametrize("kind", ["gpu", "cpu"])
@pytest.mark.parametrize("name", SMALL)
def test_structures_mean_what_their_stage_means(name: str, kind: str) -> None:
    program = as_program(SMALL[name]())
    stages, inputs = stages_of(program, by=IN_ORDER), exact_inputs(program)
    stage = scan_of(stages)
    assert same(program, whole(stages), inputs)
    for term in terms(stage, kind, Random(name + kind)):
        assert same(program, whole(stages, {stage.name: term}), inputs, 1e-5)


def warps_of(kind: str, limits: DeviceLimits) -> DeviceLimits:
    """A GPU's work-item loads some elements before it scans them."""
    return replace(limits, warp=32) if kind == "gpu" else limits


def plans(name: str, kind: str, limits: DeviceLimits, first: int = 0, of: int = 1) -> list[Plan]:
    """Kernels of one in `of` terms, beginning with the `first`."""
    stages, found = stages_of(as_program(SMALL[name]()), by=IN_ORDER), list[Plan]()
    stage = scan_of(stages)
    for term in islice(terms(stage, kind, Random(name)), first, None, of):
        try:
            found.append(compile_term(whole(stages, {stage.name: term}), Launch(group_size=16), warps_of(kind, limits)))
        except CodegenError as error:
            assert "branch of a loop" in str(error)  # what PoCL compiles wrongly
    assert found or of > 1
    return found


#: of most programs the kernels of one kind of device, of one third of its terms, are built on every run
THIRDS = 3


@pytest.mark.parametrize(("name", "part"), every(8 * THIRDS, SMALL, [*product(("gpu", "cpu"), range(THIRDS))]), ids=str)
def test_kernels_of_scans_compute_them(name: str, part: tuple[str, int]) -> None:
    kind, first = part
    device, program = open_device("pocl"), as_program(SMALL[name]())
    inputs = exact_inputs(program)
    expected = result(program, inputs)
    made = plans(name, kind, device.limits, first, THIRDS)
    for plan, actual in zip(made, run_all(device, made, {k: flatten(v) for k, v in inputs.items()}), strict=True):
        assert not isinstance(actual, EggliftError), f"{actual}\n{plan.source}"
        for e, a in zip(expected, actual, strict=True):
            np.testing.assert_allclose(a.reshape(e.shape), e, 1e-5, 1e-5, err_msg=plan.source)


@pytest.mark.parametrize(
    "name", ["a prime", "rows with beginnings", "segments", "a sum of a scan", "columns backwards", "states"]
)
def test_kernels_of_scans_have_no_races(name: str) -> None:
    program = as_program(SMALL[name]())
    inputs = {k: flatten(v) for k, v in exact_inputs(program).items()}
    expected = result(program, exact_inputs(program))
    made = plans(name, "gpu", replace(LIMITS, progress=True))
    for plan, report in zip(made, examine([(x, inputs) for x in made]), strict=True):
        assert report.clean, f"{report}\n{plan.source}"
        for e, a in zip(expected, report.outputs, strict=True):
            np.testing.assert_allclose(a.reshape(e.shape), e, 1e-5, 1e-5)


# ---------------------------------------------------------------------------------------- what is chosen


def signs(program: Any, profile: Any = GPU, reassociate: bool = True) -> list[str]:
    limits = profile.limits if profile.kind == "gpu" else DeviceLimits(compute_units=2)
    return [c.sign for c in scheduled(as_program(program), profile, limits, reassociate)]


def test_a_long_scan_goes_in_chunks_of_three_kernels() -> None:
    for profile in (APART, CPU):
        assert signs(el.cumsum(arr("x", 1 << 18)), profile)[0].startswith("chunks of ")


@pytest.mark.deep
def test_very_many_chunks_have_carries_in_chunks_too() -> None:
    best = signs(el.cumsum(arr("x", 1 << 26)), APART)[0]
    assert best.count("chunks of ") == 2


def test_groups_that_go_on_read_a_long_scan_once() -> None:
    best = scheduled(as_program(el.cumsum(arr("x", 1 << 26))), GPU, GPU.limits, True)[0]
    assert best.sign.startswith("linked chunks of ")
    assert sum(k.bytes for k in best.estimate.kernels) < 1.05 * 8 * (1 << 26)
    assert "%" not in str(best.account) and "carries" not in str(best.account)


@pytest.mark.parametrize("t", sampled((el.u8, el.bool_, el.f16), lambda t: t == el.u8), ids=str)
def test_groups_do_not_look_back_at_short_types(t: Any) -> None:
    best = signs(el.cummax(arr("x", 1 << 20, t=t)))
    assert best and not any(s.startswith("linked") for s in best)


def test_many_short_rows_go_through_local_memory_in_blocks() -> None:
    assert signs(el.cumsum(arr("A", 1 << 16, 32), axis=1))[0] == "rows in blocks"


def test_a_factor_that_is_the_same_for_all_is_not_kept_of_a_row() -> None:
    averages, varied = (
        Rows(scan_of(stages_of(as_program(el.linear_recurrence(a, arr("A", 300, 64), axis=1)))))
        for a in (0.5, arr("B", 300, 64))
    )
    assert averages.read_bytes == 4 * 64 and varied.read_bytes == 8 * 64


def test_rows_are_scanned_backwards_at_the_speed_of_memory() -> None:
    program = el.linear_recurrence(0.9, arr("A", 1 << 17, 64), axis=1, reverse=True)
    best = scheduled(as_program(program), GPU, GPU.limits, True)[0]
    assert best.sign == "rows in blocks" and best.seconds < 2 * 2 * 4 * 64 * (1 << 17) / GPU.bandwidth


def test_a_row_that_a_group_can_hold_is_not_cut() -> None:
    assert signs(el.cumsum(arr("A", 1 << 13, 2048), axis=1))[0] == "runs of rows"


def test_columns_are_cut_for_all_work_items_and_read_together() -> None:
    best = scheduled(as_program(el.cumsum(arr("A", 1 << 12, 1 << 12), axis=0)), GPU, GPU.limits, True)[0]
    assert best.sign.startswith("chunks of 32: ")
    least = 3 * 4 * (1 << 24) / GPU.bandwidth  # seconds to read all twice, and to write it
    assert best.seconds < 2 * least


COLUMNS: dict[str, tuple[Callable[[int, int], Any], int]] = {  # of steps and players; arrays that are read or written
    "sums": (lambda t, n: el.cumsum(arr("A", t, n), axis=0), 2),
    "by columns": (lambda t, n: arr("A", t, n).T.map(el.cumsum).T, 2),
    "and what follows": (lambda t, n: el.cumsum(arr("A", t, n), axis=0) * arr("B", t, n), 3),
    "backwards": (lambda t, n: el.linear_recurrence(0.9, arr("A", t, n), axis=0, reverse=True), 2),
    "backwards, of what is turned": (lambda t, n: el.cumsum(arr("A", t, n)[::-1], axis=0), 2),
    "two results": (advantages, 5),
    "planes": (lambda t, n: stacked(t, n, 0), 4),
    "two averages": (moments, 2),
    "by a function of one's own": (lambda t, n: own_maps(t, n)[1], 3),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_many_columns_are_scanned_in_place_by_one_kernel(name: str) -> None:
    make, arrays = COLUMNS[name]
    best = scheduled(as_program(make(64, 1 << 19)), GPU, GPU.limits, True)[0]
    assert best.sign == "rows" and len(best.estimate.kernels) == 1
    assert best.seconds < 1.3 * arrays * 64 * 4 * (1 << 19) / GPU.bandwidth


def test_the_largest_fall_of_many_sums_is_found_in_one_pass() -> None:
    best = scheduled(as_program(falls(512, 1 << 16)), GPU, GPU.limits, True)[0]
    assert best.sign == "rows ahead" and len(best.estimate.kernels) == 1
    assert best.seconds < 2 * 512 * 4 * (1 << 16) / GPU.bandwidth


def test_a_state_space_model_keeps_its_states_in_registers() -> None:
    best = scheduled(as_program(selective(8, 64, 1024, 16)), GPU, GPU.limits, True)[0]
    assert best.sign == "side by side" and len(best.estimate.kernels) == 1
    assert best.seconds < 1e-4 / 2


def test_a_few_long_scans_side_by_side_are_tried_apart_too() -> None:
    found = signs(selective(1, 1 << 12, 16, 8))
    assert "side by side" in found and len({*found}) > 1


def test_several_elements_are_loaded_before_they_are_scanned() -> None:
    stage = scan_of(stages_of(as_program(el.cumsum(arr("A", 67, 40), axis=0) * arr("B", 67, 40))))
    (s,) = (s for s in all_structures(stage, "gpu") if s.sign == "rows")
    gpu, cpu = (compile_term(s.term, Launch(), DeviceLimits(warp=w)).source for w in (32, 1))
    steps = gpu.split("{")[-1]
    assert steps.index("= B[") < steps.index("out[")  # all loads come first
    assert "i0 < 4" in gpu and gpu.count("out[") == 16 + 67 % 16  # few work-items: as many loads as there may be
    assert "i0 < 67" in cpu and cpu.count("out[") == 1


@pytest.mark.deep
@pytest.mark.parametrize(("t", "columns"), [(el.f32, 4), (el.f32, 16), (el.u8, 64)], ids=str)
def test_a_few_long_columns_are_cut_too(t: Any, columns: int) -> None:
    n = (1 << 22) // columns
    best = scheduled(as_program(el.cumsum(arr("A", n, columns, t=t).cast(el.i32), axis=0)), GPU, GPU.limits, True)[0]
    assert best.sign.startswith("chunks of ")
    assert best.seconds < 8 * 8 * (1 << 22) / GPU.bandwidth  # a work-item a column takes a thousand times as long


def test_sums_of_floats_keep_their_order_where_asked() -> None:
    assert set(signs(el.cumsum(arr("x", 1 << 13)), reassociate=False)) == {"rows"}


@pytest.mark.parametrize("case", sampled([(GPU, 1), (APART, 2)], lambda case: case[0] is GPU), ids=lambda c: c[0].name)
def test_the_greatest_fall_writes_no_array(case: tuple[Any, int]) -> None:
    (profile, readings), x = case, arr("x", 1 << 24)
    best = scheduled(as_program((el.cummax(x) - x).max()), profile, profile.limits, True)[0]
    assert sum(k.bytes for k in best.estimate.kernels) < 1.1 * readings * 4 * (1 << 24)


def test_short_rows_of_floats_keep_their_order_where_asked() -> None:
    assert {*signs(el.cumsum(arr("A", 1 << 16, 32), axis=1), reassociate=False)} <= {"rows", "rows in registers"}


def runs(n: int) -> Any:
    """Of equal neighbours: which run each element is in, and its place in it."""
    x, places = arr("x", n, t=el.i32), el.arange(n, dtype=el.i32)
    new = el.concat(el.zeros(1, dtype=el.i32), (x[1:] != x[:-1]).astype(el.i32))
    return el.tuple(el.cumsum(new, dtype=el.i32), places - el.cummax(el.where(new != 0, places, 0)))


def test_runs_and_places_in_them_are_found_in_one_scan() -> None:
    best = scheduled(as_program(runs(1 << 22)), GPU, GPU.limits, True)[0]
    assert best.sign.startswith("linked chunks of ") and " | " not in best.sign


def test_integers_and_maxima_may_be_combined_in_any_order() -> None:
    for x in (el.cumsum(arr("x", 1 << 18, t=el.i32)), el.cummax(arr("x", 1 << 18))):
        assert "chunks of " in signs(x, reassociate=False)[0]


def test_an_operator_without_neutral_element_is_cut_too() -> None:
    first = el.operator(lambda a, b: a, commutative=False)
    assert any(sign.startswith("linked chunks") for sign in signs(el.scan(first, 0, arr("x", ALONE))))
    assert set(signs(el.scan(first, 0, arr("x", ALONE)), reassociate=False)) <= {"rows", "runs of rows"}


def test_a_scan_has_no_structures_of_other_stages() -> None:
    stage = scan_of(stages_of(as_program(SMALL["rows"]())))
    assert not list(structures(stage, "gpu", True))


def test_the_kernel_of_rows_that_groups_scan(request: pytest.FixtureRequest) -> None:
    stage = scan_of(stages_of(as_program(el.cumsum(arr("A", 300, 512), axis=1) * 2)))
    (s,) = (s for s in all_structures(stage, "gpu") if s.sign == "runs of rows")
    source = compile_term(instantiate(s.term, {"U0": 8}), Launch(256), GPU.limits).source
    path = Path(__file__).with_name("rows_that_groups_scan.cl")
    if request.config.getoption("--update-golden"):
        path.write_text(source)
    assert source == path.read_text(), "pytest --update-golden writes what it looks like now"
