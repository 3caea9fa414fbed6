"""Neighbours of the catalogue's programs mean what their kind says, and their floors count what they add."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import egglift as el
from benchmarks import neighbours as module
from benchmarks.changes import CHANGES, MORE, THIRD, Case, largest
from benchmarks.floor import floor
from benchmarks.neighbours import KINDS, LONGER, SHORTER, Comparison, Price, compared, main, neighbours, summary
from benchmarks.programs.catalogue import Entry, Size, entries, entry
from egglift import search
from egglift.costmodel.measurement.expected_results import flatten, sample_inputs
from egglift.costmodel.profiles.profile import presets
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.types import F64, Array
from tests.deep import sampled

pytestmark = pytest.mark.short

GPU = presets()["nvidia_h200"]
#: programs of every kind, whose neighbours are looked at on every run
OFTEN = ("axpy", "dot", "arg_max", "gemv", "softmax_rows", "gemm-nt", "pair_distances-squared", "nearest")
OFTEN += ("batched_matmul", "jacobi_2d-5", "integer_sums-u8", "kmeans")
#: neighbours that are searched, of which few on every run
SEARCHED = [(name, kind) for name in ("scal", *OFTEN) for kind in ("third operand", "transposed", "batch of 4")]
QUICK = {("axpy", "third operand"), ("scal", "batch of 4"), ("jacobi_2d-5", "third operand")}


def small(e: Entry) -> Size:
    """The smallest of a program's sizes with some elements to tell apart."""
    return min((s for s in e.sizes if min(s) > 2), key=lambda s: int(np.prod(s)))


def case_of(e: Entry, size: Size) -> Case:
    return Case(el.as_program(e.program(*size)), e.operations(*size) if e.operations else None)


def each(f: Callable[..., Any], *values: Any) -> Any:
    """A function of arrays, of all arrays of values of one form."""
    if isinstance(values[0], tuple):
        return tuple(each(f, *parts) for parts in zip(*values, strict=True))
    return f(*map(np.asarray, values))


def square(y: Any) -> Any:
    return y & y if y.dtype == bool else y * y


def add(y: Any, z: Any) -> Any:
    return y | z if y.dtype == bool else y + z


def meaning(kind: str, program: Expr, given: Mapping[str, Any]) -> Any:
    """What a neighbour of a program gives for its inputs, by NumPy and by what the program itself gives."""
    types = inputs_of(program)

    def value(**other: Any) -> Any:
        return el.interpret(program, **{name: {**given, **other}[name] for name in types})

    match kind:
        case "squared":
            return each(square, value())
        case "two results":
            return value(), each(square, value())
        case "third operand":
            return each(add, value(), given[THIRD])
        case "transposed":
            x = largest(program, 2)
            assert x is not None
            return value(**{x.name: each(lambda a: np.swapaxes(a, 0, 1), given[x.name])})
        case "computed":
            x = largest(program, 1)
            assert x is not None
            return value(**{x.name: each(add, given[x.name], given[MORE])})
        case "batch of 1" | "batch of 4":
            arrays = [name for name, t in types.items() if isinstance(t, Array)]
            rows = [value(**{n: each(lambda a, i=i: a[i], given[n]) for n in arrays}) for i in range(int(kind[-1]))]
            return each(lambda *parts: np.stack(parts), *rows)
        case "f64":
            return value(**{n: each(lambda a: a.astype(np.float32), v) if _wide(v) else v for n, v in given.items()})
    return value()


def _wide(v: Any) -> bool:
    return all(a.dtype == np.float64 for a in flatten(v))


def close(a: Any, b: Any) -> bool:
    pairs = zip(flatten(a), flatten(b), strict=True)
    return all(x.shape == y.shape and np.allclose(x, y, rtol=2e-3, atol=2e-3, equal_nan=True) for x, y in pairs)


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("e", sampled(entries(), lambda e: e.name in OFTEN), ids=lambda e: e.name)
def test_a_neighbour_means_what_its_kind_says(e: Entry, kind: str) -> None:
    case = case_of(e, small(e))
    other = CHANGES[kind](case)
    if other is None:
        pytest.skip("there is nothing to change so")
    assert el.dumps(other.program) != el.dumps(case.program)
    given = sample_inputs(other.program, positive=True)
    assert close(el.interpret(other.program, **given), meaning(kind, case.program, given))


@pytest.mark.parametrize("kind", CHANGES)
def test_there_are_neighbours_of_every_kind(kind: str) -> None:
    cases = [case_of(e, small(e)) for e in entries() if e.name in OFTEN]
    assert sum(CHANGES[kind](case) is not None for case in cases) > len(cases) / 4


@pytest.mark.parametrize(("kind", "size"), [(LONGER, (8, 6, 10)), (SHORTER, (6, 4, 8))])
def test_lengths_are_one_more_or_one_less(kind: str, size: Size) -> None:
    e = entry("matmul")
    ((found, case),) = neighbours(e, (7, 5, 9), [kind])
    given = e.inputs(*size, np.random.default_rng(0))
    assert found == kind and close(el.interpret(case.program, **given), e.reference(**given))
    assert e.operations is not None and case.operations == e.operations(*size)


def test_a_program_without_such_lengths_has_no_neighbour() -> None:
    e = entry("batched_matmul")
    assert list(neighbours(e, (0, 0, 0, 0), [SHORTER])) == []


#: bytes and operations of a product of 64 x 48 and 48 x 32, and the elements of what its neighbours add
BYTES, OPERATIONS, A, C = 4 * (64 * 48 + 48 * 32 + 64 * 32), 2 * 64 * 32 * 48, 64 * 48, 64 * 32
FLOORS = {
    "squared": (BYTES, OPERATIONS + C),
    "two results": (BYTES + 4 * C, OPERATIONS + C),
    "third operand": (BYTES + 4 * C, OPERATIONS + C),
    "transposed": (BYTES, OPERATIONS),
    "computed": (BYTES + 4 * A, OPERATIONS + A),
    "batch of 1": (BYTES, OPERATIONS),
    "batch of 4": (4 * BYTES, 4 * OPERATIONS),
    "swapped": (BYTES, OPERATIONS),
    "zipped": (BYTES, OPERATIONS),
    "f64": (2 * BYTES, OPERATIONS),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_the_floor_of_a_neighbour_counts_what_it_adds(kind: str) -> None:
    other = CHANGES[kind](case_of(entry("matmul"), (64, 32, 48)))
    assert other is not None
    moved, operations = FLOORS[kind]
    assert other.operations == operations
    assert floor(other.program, GPU, None).seconds == pytest.approx(moved / GPU.caches[-1].bandwidth)
    assert (F64 in inputs_of(other.program).values() or "f64" in el.dumps(other.program)) == (kind == "f64")


def test_a_body_that_reads_an_input_captures_it_in_a_batch() -> None:
    A, b = el.array("A", el.f32, (3, 5)), el.array("b", el.f32, 5)
    program = el.as_program(A.map(lambda row: row * b + b))
    other = CHANGES["batch of 4"](Case(program, None))
    assert other is not None and str(type_of(other.program)) == "[[[f32]5]3]4"
    given = sample_inputs(other.program)
    assert close(el.interpret(other.program, **given), given["A"] * given["b"][:, None] + given["b"][:, None])


@pytest.mark.parametrize("n", [3, 300])
def test_constants_long_or_short_are_the_same_numbers_in_f64(n: int) -> None:
    numbers = np.random.default_rng(0).random(n, np.float32)
    other = CHANGES["f64"](Case(el.as_program(el.array("x", el.f32, n) * numbers), None))
    assert other is not None
    given = sample_inputs(other.program)
    assert np.array_equal(el.interpret(other.program, **given), given["x"] * numbers.astype(np.float64))


@pytest.mark.parametrize("pair", sampled(SEARCHED, QUICK.__contains__), ids=" ".join)
def test_a_neighbour_is_compared_by_its_floor(pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    name, kind = pair
    monkeypatch.setattr(search, "TRIES", 4)
    monkeypatch.setattr(search, "REFINED", 1)
    e = entry(name)
    size = tuple(64 for _ in e.sizes[0])
    found = next(compared(e, size, GPU, [kind]), None)
    if found is None:
        pytest.skip("there is nothing to change so")
    assert (found.name, found.size, found.kind) == (e.name, size, kind)
    assert found.neighbour.best >= found.neighbour.floor > 0 and found.program.best >= found.program.floor > 0
    assert found.ratio == pytest.approx(
        found.neighbour.best / found.program.best / (found.neighbour.floor / found.program.floor)
    )


def comparison(kind: str, best: float) -> Comparison:
    return Comparison("dot", (8,), kind, Price(2.0, 1.0, "A"), Price(best, 1.5, f"B{best}"))


def test_the_summary_lists_what_is_above_by_kind() -> None:
    found = [comparison("squared", 3.0), comparison("squared", 6.0), comparison("batch of 1", 9.0)]
    lines = summary(found, 1.3).splitlines()
    assert lines[0] == "2 of 3 neighbours are above 1.3"
    assert [line.split()[0] for line in lines[1:]] == ["3.00", "B9.0", "A", "2.00", "B6.0", "A"]


def test_the_command_line_takes_programs_kinds_and_a_preset(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    prices = iter([Price(1.0, 1.0, "A"), Price(2.0, 1.0, "B"), Price(1.2, 1.0, "C")])
    monkeypatch.setattr(module, "price", lambda *_: next(prices))
    main(["dot:1000", "--device", "pocl_cpu", "--kind", "squared", "--kind", "f64"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines[:2]] == [["2.00", "dot:1000", "squared"], ["1.20", "dot:1000", "f64"]]
    assert lines[2] == "1 of 2 neighbours are above 1.3" and len(lines) == 6
    with pytest.raises(SystemExit):
        main(["dott"])


def test_kinds_are_those_of_changes_and_lengths() -> None:
    assert set(KINDS) == {*CHANGES, LONGER, SHORTER}
