"""Kernels of programs over run-time lengths: right at all of them, called, bound, saved and specialised like others."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.batch import run_batch
from egglift.cli import main
from egglift.codegen.kernel.at_lengths import at_lengths as plan_at
from egglift.codegen.kernel.imperative import Launch
from egglift.length_kernel import LengthKernel
from egglift.variants import Way, variant_at
from tests.deep import sampled
from tests.oclgrind import LIMITS, examine
from tests.run_time_programs import PROGRAMS, Program

pytestmark = pytest.mark.short

#: of one length; of several, the edges of tiles, with and without what is left over
SHORT, SOME_SHORT = range(71), (*range(18), 31, 32, 33, 47, 48, 49, 63, 64, 65, 70)
EDGES = [(0, 1, 2), (1, 1, 1), (2, 0, 3), (3, 5, 0), (4, 8, 8), (5, 7, 9), (15, 17, 16), (16, 16, 16), (33, 70, 31)]
ONE = [name for name, p in PROGRAMS.items() if len(p.letters) == 1]
SEVERAL = [name for name, p in PROGRAMS.items() if len(p.letters) > 1]


def wrong(p: Program, numbers: list[dict[str, int]]) -> list[dict[str, int]]:
    """The lengths at which the kernel's result is not NumPy's."""
    kernel = p.kernel()
    return [of for of in numbers if not p.is_right(kernel, of)]


def numbered(rows: list[tuple[int, int, int]]) -> list[dict[str, int]]:
    return [dict(zip("nmk", row, strict=True)) for row in rows]


def meant(name: str, rows: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Lengths at which a program means something: no window of 3 fits into a grid of nothing and its edges."""
    return [row for row in rows if name != "jacobi" or row[0] * row[1]]


@pytest.mark.parametrize("lengths", sampled((SOME_SHORT, SHORT), lambda lengths: lengths is SOME_SHORT), ids=len)
@pytest.mark.parametrize("name", ONE)
def test_kernels_are_right_at_every_short_length(name: str, lengths: Sequence[int]) -> None:
    assert not wrong(PROGRAMS[name], [{"n": n} for n in lengths])


@pytest.mark.parametrize("name", SEVERAL)
def test_kernels_are_right_at_the_edges_of_tiles(name: str) -> None:
    assert not wrong(PROGRAMS[name], numbered(meant(name, EDGES)))


@pytest.mark.deep
@pytest.mark.parametrize("name", SEVERAL)
def test_kernels_are_right_at_every_short_shape(name: str) -> None:
    rows = [(n, 7 * n % 71, 5 * n % 37) for n in SHORT]
    assert not wrong(PROGRAMS[name], numbered(meant(name, rows)))


@pytest.mark.deep
@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_are_right_at_long_lengths(name: str) -> None:
    p, rng = PROGRAMS[name], np.random.default_rng(3)
    top = 10**4 if len(p.letters) == 1 and name != "n-body" else 700
    numbers = [{n: int(rng.integers(1, top)) for n in "nmk"} for _ in range(12)]
    assert not wrong(p, [*numbers, {"n": 512, "m": 256, "k": 128}])


class Simulated:
    """Stands for the simulated device: to trace, its limits are all that is asked for."""

    limits = LIMITS


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_kernels_over_lengths_run_clean(kind: str) -> None:
    rows = {"scal": (37, 0, 0), "sum": (101, 0, 0), "gemv": (5, 35, 0), "product": (7, 9, 10), "transpose": (9, 21, 0)}
    plans, wanted = [], []
    for name, row in rows.items():
        p, numbers = PROGRAMS[name], dict(zip("nmk", row, strict=True))
        values, data = p.lengths(numbers), p.data(numbers)
        way = Way(p.cpu if kind == "cpu" else p.gpu, Launch(64), kind, True)
        plan = plan_at(variant_at(p.expr, way, values, Simulated(), strict=True).plan, values)  # type: ignore[arg-type]
        plans.append((plan, {key: [value.reshape(-1)] for key, value in data.items()}))
        wanted.append(np.asarray(p.meaning(*data.values())).reshape(-1))
    for report, result in zip(examine(plans), wanted, strict=True):
        assert report.clean, str(report)
        np.testing.assert_allclose(report.outputs[0].reshape(-1), result, rtol=1e-4)


def _of_all_kinds() -> dict[str, Any]:
    n, m = el.size("n", like=600), el.size("m", like=400)
    x, b = el.array("x", el.f32, n), el.array("b", el.bool_, n)
    a, i = el.array("a", el.f32, (n, m)), el.array("i", el.i32, n)
    return {
        "places": el.argmax(x),
        "variances": a.var(axis=1),
        "convolution": el.convolution1d([1.0, 2.0, 1.0], "clamp", x),
        "mirrors": x.pad(2, 3, "mirror"),
        "around": x.pad(2, 3, "wrap"),
        "backwards": x[::-1].concat(x * 2),
        "gathers": x.gather(i).roll(n // 2),
        "products": (a @ a.T) @ a,
        "any": b.any(),
        "columns": a.mean(axis=0),
        "outer": el.outer(x, x),
        "several": (x.sum(), a.max(axis=1)),
        "thirds": x[::3],
        "halves": a.map(lambda row: row.take((m + 1) // 2).sum()),
        "flat": a.join(),
        "places of all": el.iota(n) + i.map(lambda v: v.cast(el.i64)),
    }


SHAPES = ((1, 1), (2, 3), (5, 1), (7, 8), (16, 16), (17, 64), (33, 31), (100, 129))
QUICK = ("any", "mirrors", "flat", "products")


@pytest.mark.parametrize(
    "name", [pytest.param(k, marks=() if k in QUICK else pytest.mark.deep) for k in _of_all_kinds()]
)
def test_programs_of_all_kinds_take_any_length(name: str) -> None:
    e, rng = el.as_program(_of_all_kinds()[name]), np.random.default_rng(4)
    kernel = el.optimize(e, "pocl", measure="none", cache=False)
    for n, m in SHAPES[:5] if name in QUICK else SHAPES:
        x, a = rng.random(n, dtype=np.float32), rng.random((n, m), dtype=np.float32)
        given = {"x": x, "a": a, "i": rng.integers(-2, n + 2, n).astype(np.int32), "b": rng.random(n) < 0.01}
        given = {key: given[key] for key in kernel.inputs}
        found, wanted = kernel(**given), el.interpret(e, **given)
        for f, w in zip(*([v] if not isinstance(v, tuple) else v for v in (found, wanted)), strict=True):
            np.testing.assert_allclose(f, w, rtol=1e-3, atol=1e-3)


# ---------------------------------------------------------------------------------------- as other kernels


@pytest.fixture(scope="module")
def scal() -> LengthKernel:
    n = el.size("n", min=0, max=10**6, like=1000)
    x, y = el.array("x", el.f32, n), el.array("y", el.f32, n)
    found = el.optimize(2 * x + y, "pocl", measurements=2)
    assert isinstance(found, LengthKernel)
    return found


def pair(n: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return np.arange(n, dtype=np.float32), np.ones(n, np.float32)


def test_optimised_kernels_were_measured_and_are_remembered(scal: LengthKernel) -> None:
    assert scal.chosen.status == "ok" and scal.chosen.measured
    again = el.optimize(scal.program, "pocl", measurements=2)
    assert isinstance(again, LengthKernel) and again.chosen.term is scal.chosen.term
    assert [c.steps for c in again.candidates] == [c.steps for c in scal.candidates]
    assert again.chosen.measured == scal.chosen.measured


def test_one_compiled_kernel_serves_most_lengths(scal: LengthKernel) -> None:
    for n in (701, 777, 901):
        x, y = pair(n)
        assert np.array_equal(scal(x, y=y), 2 * x + y)
    assert len({id(v.built.kernels[0]) for v in scal.variants if v.built}) == len(
        {scal.at(n=n).source for n in (701, 777)}
    )
    assert "const int n" in scal.source and "701" not in scal.source


def test_results_go_where_out_says(scal: LengthKernel) -> None:
    x, y = pair(50)
    out = np.empty(50, np.float32)
    assert scal(x, y, out=out) is out and np.array_equal(out, 2 * x + y)
    with pytest.raises(
        el.ArgumentError, match=r"out is float32 of shape \(50,\), but the result is .* of shape \(20,\)"
    ):
        scal(*pair(20), out=out)


def test_bound_calls_keep_their_lengths(scal: LengthKernel) -> None:
    x, y = pair(60)
    launch = scal.bind(x, y)
    x[:] = 5
    assert np.array_equal(launch(), 10 + y)


def test_arrays_on_the_device_say_lengths_too(scal: LengthKernel) -> None:
    from pyopencl import array

    x, y = pair(70)
    there = [array.to_device(scal.device.queue, a) for a in (x, y)]
    assert np.array_equal(scal(*there).get(), 2 * x + y)
    with pytest.raises(el.ArgumentError, match="input x is a buffer without a shape"):
        scal(there[0].data, there[1].data)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda k: k(pair(5)[0], pair(4)[1]),
            "n is 5 where axis 0 of input x has 5 elements, and 4 where axis 0 of input y has 4 elements",
        ),
        (lambda k: k(*pair(10**6 + 1)), r"n is 1000001; it may be n = 0, 1, \.\.\., 1000000"),
        (lambda k: k(pair(5)[0]), "missing: y; the program takes x, y"),
        (lambda k: k.bind(pair(5)[0], pair(4)[1]), "n is 5 where"),
        (lambda k: k.at(m=5), "give each length a number: n; got m"),
        (lambda k: k.at(n=-1), "n is -1; it may be n = 0, 1"),
        (lambda k: k.specialise(), "give each length a number: n; got none"),
        (lambda k: k.with_constants(a=2.0), r"kernel.specialise\(n=1000\).with_constants\(a=2.0\)"),
        (lambda k: k.kernels, r"launches depend on n: take kernel.at\(n=1000\).kernels"),
    ],
)
def test_calls_that_do_not_fit_are_refused(scal: LengthKernel, call: Any, message: str) -> None:
    with pytest.raises(el.ArgumentError, match=message):
        call(scal)


def test_a_kernel_for_one_length_is_optimised_for_it(scal: LengthKernel) -> None:
    special = scal.specialise(n=96)
    plain = el.optimize(2 * el.array("x", el.f32, 96) + el.array("y", el.f32, 96), "pocl", measurements=2)
    assert special.program is plain.program and special.source == plain.source
    assert np.array_equal(special(*pair(96)), 2 * pair(96)[0] + 1)
    assert not isinstance(special, LengthKernel)


def test_launches_of_one_length_have_its_numbers(scal: LengthKernel) -> None:
    (launch,) = scal.at(n=1000).kernels
    told = {a.name: a.value for a in launch.arguments if a.role == "length"}
    assert told["n"] == 1000 and [a.shape for a in launch.arguments if a.role == "output"] == [(1000,)]
    assert all(f"const int {name}" in launch.source for name in told)


def test_saved_and_pickled_kernels_take_all_lengths(
    scal: LengthKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EGGLIFT_DEVICE", "pocl")
    scal.save(tmp_path / "scal.kernel")
    for found in (el.load(tmp_path / "scal.kernel"), pickle.loads(pickle.dumps(scal))):
        assert isinstance(found, LengthKernel) and found.program is scal.program
        for n in (0, 1, 31, 800):
            x, y = pair(n)
            assert np.array_equal(found(x, y), 2 * x + y)


def test_it_says_what_it_is_and_how_fast(scal: LengthKernel) -> None:
    assert "n = 0, 1, ..., 1000000" in repr(scal)
    told = [scal.use(i).explain() for i, c in enumerate(scal.candidates) if c.status == "ok"]
    assert scal.explain() in told and any("tile 0" in text for text in told)
    assert scal.profile().seconds > 0 and scal.profile(*pair(100)).bytes == 1200


def test_a_program_without_schedules_is_taken_as_it_stands() -> None:
    n = el.size("n", min=0, like=100)
    steps = el.iterate(3, lambda v: v.map(lambda e: e * e), el.array("x", el.f32, n))
    kernel = el.optimize(steps, "pocl", measure="none", cache=False)
    for k in (0, 1, 7, 50):
        x = np.linspace(0, 1, k, dtype=np.float32)
        assert np.allclose(kernel(x), x**8)


def test_inputs_and_lengths_may_have_the_same_names() -> None:
    n, half = el.size("n", min=0, like=100), el.size("half", min=0, like=100)
    a, b = el.array("n", el.f32, n), el.array("n_minus_1", el.f32, n)
    c = el.array("half", el.f32, half)
    kernel = el.optimize(((a + b)[::-1][1:], c * 2), "pocl", measure="none", cache=False)
    x = np.arange(9, dtype=np.float32)
    first, second = kernel(n=x, n_minus_1=x, half=x[:4])
    assert first.tolist() == (2 * x)[::-1][1:].tolist() and second.tolist() == [0, 2, 4, 6]


def test_laws_of_ones_own_are_for_numbers_alone() -> None:
    with pytest.raises(el.ArgumentError, match="rules= are for programs whose lengths are numbers"):
        el.optimize(2 * el.array("x", el.f32, el.size("n")), "pocl", rules=[";;; none"], cache=False)


def test_where_lengths_have_no_meaning_the_numbers_are_named() -> None:
    kernel = PROGRAMS["jacobi"].kernel()
    with pytest.raises(el.ShapeError, match="windows of 3 over an array of 2"):
        kernel(np.zeros((3, 0), np.float32))


def test_jit_takes_names_for_axes() -> None:
    @el.jit(lengths={"a": "n m", "v": "m"}, device="pocl", measure="none")
    def product(a: Any, v: Any) -> Any:
        return a @ v

    for n, m in ((3, 5), (40, 33), (0, 3), (1, 1)):
        a, v = np.ones((n, m), np.float32), np.arange(m, dtype=np.float32)
        assert np.allclose(product(a, v), a @ v)
    assert len(product.kernels) == 1
    with pytest.raises(el.ArgumentError, match="m is 5 where axis 1 of input a has 5 elements, and 4 where"):
        product(np.ones((3, 5), np.float32), np.ones(4, np.float32))
    with pytest.raises(el.ArgumentError, match="a has 1 axes, and lengths names 2: n m"):
        product(np.ones(3, np.float32), np.ones(4, np.float32))
    with pytest.raises(el.ArgumentError, match="has no array b, which lengths names"):
        el.jit(lengths={"b": "n"})(lambda a: a)


PROGRAM = "import egglift as el\nx = el.array('x', el.f32, el.size('n', like=500))\nprogram = x.reduce(el.add, 0.0)\n"


def test_the_command_line_checks_what_a_program_likes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "sum.py").write_text(PROGRAM)
    options = ("--device", "pocl", "--measurements", "1", "--no-isolate")
    assert main(["optimize", f"{tmp_path / 'sum.py'}:program", *options]) == 0
    assert "agrees with NumPy" in capsys.readouterr().out


def test_a_batch_takes_numbers_alone(tmp_path: Path) -> None:
    (tmp_path / "sum.py").write_text(PROGRAM)
    summary = run_batch([f"{tmp_path / 'sum.py'}:program"], "pocl", tmp_path / "out.jsonl")
    assert summary.failed == 1
    assert "its lengths n are known when it is called" in (tmp_path / "out.jsonl").read_text()


def several_likes() -> el.Kernel:
    n, m = el.size("n", min=0, like=(64, 1 << 14)), el.size("m", like=8)
    sums = el.array("A", el.f32, (n, m)).map(lambda row: row.reduce(el.add, 0.0))
    return el.optimize(sums, "pocl", measure="none", cache=False)


def is_sum(kernel: el.Kernel, n: int, m: int) -> bool:
    a = np.arange(n * m, dtype=np.float32).reshape(n, m) % 7
    return bool(np.allclose(kernel(a), a.sum(1)))


def test_kernels_are_chosen_for_each_length_that_is_liked() -> None:
    kernel = several_likes()
    assert isinstance(kernel, LengthKernel)
    (long,) = kernel.others
    assert (kernel.liked.program, long.liked.program) != (long.liked.program, kernel.liked.program)
    assert all(is_sum(kernel, n, m) for n, m in ((0, 3), (5, 8), (63, 1), (9000, 8), (1 << 14, 5)))
    for n, of in ((100, kernel), (9000, long)):
        assert kernel.at(n=n, m=8).chosen.launch == of.at(n=n, m=8).chosen.launch
    assert [k.at(n=9000, m=8) is kernel.at(n=9000, m=8) for k in (kernel, long)] == [True, True]


def test_what_was_chosen_for_each_length_is_saved(tmp_path: Path) -> None:
    kernel = several_likes()
    kernel.save(tmp_path / "sums")
    for again in (el.load(tmp_path / "sums", "pocl"), pickle.loads(pickle.dumps(kernel))):
        assert isinstance(again, LengthKernel) and isinstance(kernel, LengthKernel)
        assert [k.chosen.structure for k in again.others] == [k.chosen.structure for k in kernel.others]
        assert is_sum(again, 20, 3) and is_sum(again, 1 << 14, 3)


def test_lengths_like_as_many_numbers_each() -> None:
    n, m = el.size("n", like=(64, 128)), el.size("m", like=(8, 16, 32))
    with pytest.raises(el.ShapeError, match="chosen for 3 of m and 2 of n: give like= as many"):
        el.optimize(el.array("A", el.f32, (n, m)), "pocl", measure="none")
