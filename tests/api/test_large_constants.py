"""Arrays of the program that are too large for a kernel's text: buffers that kernels hold on their device."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl.array as there
import pytest

import egglift as el
from egglift.batch import run_batch
from egglift.cli import check
from egglift.ir.inner_program import LONG, WRITTEN, held_constants, inner
from tests.api.distribution.conftest import three as three
from tests.codegen.export.c_compiler import results

pytestmark = pytest.mark.short

RNG = np.random.default_rng(5)
W = RNG.random((128, 80), np.float32)  # 40,960 bytes
V = RNG.random((80, 128), np.float32)
A = RNG.random((16, 128), np.float32)
NEAR = {"rtol": 1e-4}
UNSEARCHED: dict[str, Any] = {"measure": "none", "cache": False}


def x(n: Any = 16) -> el.Value:
    return el.array("x", el.f32, (n, 128))


def optimized(program: Any, **more: Any) -> Any:
    return el.optimize(program, "pocl", **(UNSEARCHED | more))


@pytest.fixture(scope="module", autouse=True)
def few_tries() -> Iterator[None]:
    """Whatever is chosen holds its constants."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("egglift.search.TRIES", 4)
        yield


@pytest.fixture(scope="module")
def product(few_tries: None) -> el.Kernel:
    kernel: el.Kernel = optimized(x() @ W)
    return kernel


def test_it_is_no_argument_of_calls(product: el.Kernel) -> None:
    assert product.inputs == ("x",) and "constant" not in repr(product)
    out = np.empty((16, 80), np.float32)
    assert product(A, out=out) is out
    for found in (product(A), product(x=A), out, product.bind(A)()):
        assert np.allclose(found, A @ W, **NEAR)
    for wrong in ((A, W), ()):
        with pytest.raises(el.ArgumentError, match="the program takes"):
            product(*wrong)
    with pytest.raises(el.ArgumentError, match="constant 0"):
        product(A, **{"constant 0": W})


def test_arrays_on_the_device_meet_it(product: el.Kernel) -> None:
    given = there.to_device(product.device.queue, A)
    out = there.empty(product.device.queue, (16, 80), np.float32)
    launch = product.bind(given, out=out)
    for found in (product(given), launch(), launch()):
        assert np.allclose(found.get(), A @ W, **NEAR)


def test_it_is_uploaded_once_for_all_kernels(product: el.Kernel) -> None:
    other = optimized((x() @ W) + 1)
    product(A), other(A)
    ((mine,),), ((its,),) = product.executable.held.values(), other.executable.held.values()
    assert mine is its and mine.size == W.nbytes


def test_the_search_sees_an_input(product: el.Kernel) -> None:
    of_inputs = optimized(x() @ el.array("W", el.f32, W.shape))
    assert product.chosen.structure == of_inputs.chosen.structure
    assert product.chosen.estimate == of_inputs.chosen.estimate


def test_it_says_what_it_holds(product: el.Kernel, tmp_path: Path) -> None:
    assert "constant 0, [[f32]80]128, is a buffer of 40960 bytes on the device" in product.explain()
    assert product.profile().bytes == product.profile(A).bytes == A.nbytes + W.nbytes + 16 * 80 * 4
    product.report(tmp_path / "page.html")
    assert "constant 0" in (tmp_path / "page.html").read_text()


def test_launches_of_ones_own_have_its_elements(product: el.Kernel) -> None:
    (held,) = {a.name: a for k in product.kernels for a in k.arguments if a.role == "constant"}.values()
    assert held.data is not None and np.array_equal(held.data, W) and held.nbytes == W.nbytes


def test_kernels_are_kept_with_it(product: el.Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGGLIFT_DEVICE", "pocl")
    product.save(tmp_path / "product.kernel")
    for kernel in (el.load(tmp_path / "product.kernel", "pocl"), pickle.loads(pickle.dumps(product))):
        assert kernel.source == product.source and np.allclose(kernel(A), A @ W, **NEAR)
    assert copy.deepcopy(product) is product


def test_a_record_serves_other_elements(searches: list[Any]) -> None:
    assert np.allclose(optimized(x() @ W, cache=True)(A), A @ W, **NEAR)
    count = len(searches)
    assert np.allclose(optimized(x() @ (2 * W), cache=True)(A), 2 * A @ W, **NEAR)
    assert len(searches) == count


def test_candidates_are_measured_with_it() -> None:
    kernel = optimized(x() @ W, measure="sample", measurements=2, isolate=False)
    assert kernel.chosen.measured and np.allclose(kernel(A), A @ W, **NEAR) and check(kernel) is None


@pytest.mark.usefixtures("searched_here")
def test_batches_take_it(tmp_path: Path) -> None:
    (tmp_path / "p.egglift").write_text(el.dumps(x() @ W))
    done = run_batch([str(tmp_path / "p.egglift")], "pocl", tmp_path / "out", measure="none", jobs=1)
    assert (done.done, done.failed) == (1, 0)
    assert "error" not in json.loads((tmp_path / "out").read_text())


def test_exported_programs_hold_it(product: el.Kernel, tmp_path: Path) -> None:
    product.export(tmp_path / "made", name="product")
    (found,) = results(tmp_path / "made", "product", [A], [(16 * 80, np.float32)])
    assert np.allclose(found.reshape(16, 80), A @ W, **NEAR)
    product.export(tmp_path / "python", "python", name="product")
    module: dict[str, Any] = {}
    exec((tmp_path / "python" / "product.py").read_text(), module)
    assert np.allclose(module["Program"](product.device.queue)(A), A @ W, **NEAR)


def test_no_source_file_holds_megabytes(tmp_path: Path) -> None:
    table = np.zeros(5 << 20, np.float32)
    kernel = optimized(el.array("x", el.f32, 5 << 20) + table, candidates=1)
    with pytest.raises(el.ArgumentError, match="constants of 16777216 at most; make them inputs"):
        kernel.export(tmp_path / "made")


def test_functions_close_over_it() -> None:
    @el.jit(device="pocl", **UNSEARCHED)
    def hidden(rows: Any) -> Any:
        return np.maximum(rows @ W, 0) @ V

    assert np.allclose(hidden(A), np.maximum(A @ W, 0) @ V, **NEAR)


def test_lengths_may_be_open() -> None:
    kernel = optimized(x(el.size("n", like=64)) @ W)
    for n in (5, 16, 70):
        rows = RNG.random((n, 128), np.float32)
        assert np.allclose(kernel(rows), rows @ W, **NEAR)
        assert np.allclose(kernel.bind(rows)(), rows @ W, **NEAR)
    assert np.allclose(kernel.specialise(n=16)(A), A @ W, **NEAR)


def distributed() -> bool:
    found = el.optimize(x(48) @ W, devices="all", distribution={"x": "block"}, **UNSEARCHED)
    rows = RNG.random((48, 128), np.float32)
    return bool(np.allclose(found(rows), rows @ W, **NEAR))


def test_each_of_several_devices_holds_it(three: Callable[..., Any]) -> None:
    assert three(distributed)


def test_derivations_by_hand_take_it() -> None:
    session = el.session((x() @ W).map(lambda row: row.map(lambda v: -v)), "pocl")
    possible = session.possible()
    session.apply(possible[0].step.law)
    assert np.allclose(session.kernel()(A), -(A @ W), **NEAR) and session.measure() > 0


def test_it_may_be_all_that_there_is() -> None:
    assert np.array_equal(optimized(el.literal(W))(), W)
    assert np.array_equal(optimized(el.literal(W).T)(), W.T)


@pytest.mark.parametrize("dtype", ["bool", "i1", "u2", "f2", "f8", "i8", "c8"])
def test_elements_of_every_type_reach_it(dtype: str) -> None:
    table = (RNG.random((300, 200)) * 100 - 50).astype(dtype)
    kernel = optimized(el.array("x", el.f32, 3).sum() * 0 + el.literal(table).T)
    found = kernel(np.ones(3, np.float32))
    assert np.array_equal(found, np.ones(3, np.float32).sum() * 0 + table.T)


def test_places_in_a_table_are_held() -> None:
    places = RNG.integers(0, 1000, 10_000)
    kernel = optimized(el.array("x", el.f32, 1000).gather(places) * 2)
    values = RNG.random(1000, np.float32)
    assert np.array_equal(kernel(values), 2 * values[places])


def test_only_the_largest_constants_are_buffers() -> None:
    parts = [np.arange(1 + k, 1 + k + LONG - 1, dtype=np.float64) for k in range(34)]
    parts += [np.arange(n, dtype=np.float32) for n in (3, LONG - 1, LONG, 5000, 6000)]
    program = el.as_program(tuple(el.array(f"x{k}", a.dtype, len(a)) + a for k, a in enumerate(parts)))
    held = held_constants(program)
    assert [len(c.data) for c in held.values()] == [8 * (LONG - 1)] * 3 + [4 * LONG, 20000, 24000]
    assert WRITTEN - 8 * LONG < sum(a.nbytes for a in parts) - sum(len(c.data) for c in held.values()) <= WRITTEN
    assert inner(inner(program)) is inner(program) and held_constants(inner(program)) == {}
    assert inner(el.as_program(x() + 1)) is el.as_program(x() + 1)


def test_outer_products_of_any_length_are_seen_by_laws() -> None:
    separable = np.outer(np.arange(1, 14), np.arange(2, 15)).astype(np.float32)
    programs = [el.as_program(el.array("x", el.f32, (13, 13)) * w) for w in (separable, separable**2 + separable)]
    assert [len(held_constants(program)) for program in programs] == [0, 1]


def test_one_constant_in_two_places_is_one_buffer() -> None:
    w = el.literal(W)
    kernel = optimized((x() @ w) @ w.T)
    assert len(held_constants(kernel.program)) == 1
    assert np.allclose(kernel(A), A @ W @ W.T, rtol=1e-3)
