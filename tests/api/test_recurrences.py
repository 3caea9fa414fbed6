"""Loops over time whose state is arrays: steps that are launched, loops side by side, and loops of groups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import egglift as el
from egglift.costmodel.profiles.profile import presets
from egglift.ir import patterns as p
from egglift.ir.inner_program import inner
from egglift.ir.lifting import as_program
from egglift.ir.named_states import states_in_loop
from egglift.ir.traverse import subterms
from egglift.options import Laws, useful
from egglift.search import searched
from tests.codegen.export.c_compiler import results

pytestmark = pytest.mark.short

NdArray = npt.NDArray[Any]
B, D, H = 3, 5, 4
RNG = np.random.default_rng(1)
W, U = (RNG.random((n, H)).astype(np.float32) / n for n in (D, H))


def net(h: Any, x: Any, w: Any = W, u: Any = U) -> Any:
    return np.tanh(x @ w + h @ u)


def lstm(s: Any, x: Any) -> Any:
    h, c = s[0], s[1]
    g = x @ W + h @ U
    c = 0.5 * c + g * h
    return np.tanh(c), c


def running(s: Any, x: Any) -> Any:
    """A mean that fades, and the number of its steps."""
    return 0.9 * s + 0.1 * x


def orbit(s: Any, k: Any) -> Any:
    x, v = s[0], s[1]
    r = (x * x).sum(axis=1, keepdims=True) + 1
    v = v - np.float32(0.01) * x / r
    return x + np.float32(0.1) * v, v


def shortest(m: Any, k: Any) -> Any:
    """One step of Floyd and Warshall's: paths over k."""
    if isinstance(m, np.ndarray):
        return np.minimum(m, m[:, k : k + 1] + m[k : k + 1, :])
    at = el.fill(1, k)
    return np.minimum(m, m.T.gather(at)[0][:, None] + m.gather(at)[0][None, :])


def forward(q: Any, x: Any) -> Any:
    """One step of a hidden Markov model's."""
    q = (q @ U) * x
    return q / q.sum(axis=1, keepdims=True)


#: of each loop a step, the shape of an element ((): a number of a step), and those of its state
LOOPS: dict[str, tuple[Callable[..., Any], tuple[int, ...], tuple[tuple[int, ...], ...]]] = {
    "a net": (net, (B, D), ((B, H),)),
    "an LSTM": (lstm, (B, D), ((B, H), (B, H))),
    "a running mean": (running, (17,), ((17,),)),
    "orbits": (orbit, (), ((12, 2), (12, 2))),
    "shortest paths": (shortest, (), ((9, 9),)),
    "a hidden Markov model": (forward, (B, H), ((B, H),)),
}


def lifted(step: Callable[..., Any]) -> Callable[..., Any]:
    def called(s: Any, x: Any) -> Any:
        new = step(s, x)
        return el.tuple(*new) if isinstance(new, tuple) else new

    return called


def program(name: str, steps: int, scans: bool = False) -> Any:
    step, element, shapes = LOOPS[name]
    starts = [el.array(f"s{k}", el.f32, shape) for k, shape in enumerate(shapes)]
    start = el.tuple(*starts) if len(starts) > 1 else starts[0]
    over = el.array("x", el.f32, (steps, *element)) if element else el.iota(steps, el.i32)
    if not scans:
        found = el.fold(lifted(step), start, over)
        return found[0] if len(starts) > 1 else found
    found = el.accumulate(lifted(step), start, over)
    return found.map(lambda s: s[0]) if len(starts) > 1 else found


def given(name: str, steps: int) -> dict[str, NdArray]:
    _, element, shapes = LOOPS[name]
    rng = np.random.default_rng(2)
    found = {f"s{k}": rng.random(shape).astype(np.float32) for k, shape in enumerate(shapes)}
    return found | ({"x": rng.random((steps, *element)).astype(np.float32)} if element else {})


def expected(name: str, steps: int, scans: bool = False) -> NdArray:
    step, element, shapes = LOOPS[name]
    values = given(name, steps)
    state: Any = tuple(values[f"s{k}"] for k in range(len(shapes)))
    state, rows = state if len(shapes) > 1 else state[0], []
    for k in range(steps):
        state = step(state, values["x"][k] if element else k)
        rows.append(state[0] if len(shapes) > 1 else state)
    last: NdArray = state[0] if len(shapes) > 1 else state
    return np.array(rows, np.float32).reshape(steps, *shapes[0]) if scans else last


def launched(c: Any) -> bool:
    """Are the steps of a loop launched one by one?"""
    return any(states_in_loop(t) and not isinstance(t, p.Iterate) for t in subterms(c.term))


@pytest.mark.parametrize("steps", [1, 2, 7])
@pytest.mark.parametrize("scans", [False, True], ids=["the last state", "all states"])
@pytest.mark.parametrize("name", LOOPS)
def test_every_candidate_takes_all_steps(name: str, scans: bool, steps: int) -> None:
    kernel = el.optimize(program(name, steps, scans), "pocl", measure="none", cache=False)
    chosen = kernel.candidates.index(kernel.chosen)
    stepping = [i for i, c in enumerate(kernel.candidates) if launched(c)]
    beside = [i for i, c in enumerate(kernel.candidates) if c.structure.startswith("side by side")]
    assert stepping and bool(beside) == (name in ("a running mean", "orbits"))
    for i in {chosen, *stepping[:3], *beside[:3]}:
        found = kernel.use(i)(**given(name, steps))
        np.testing.assert_allclose(found, expected(name, steps, scans), 1e-4, 1e-5)


@pytest.mark.parametrize("scans", [False, True])
@pytest.mark.parametrize("name", LOOPS)
def test_no_steps_leave_the_state_as_it_is(name: str, scans: bool) -> None:
    kernel = el.optimize(program(name, 0, scans), "pocl", measure="none", cache=False)
    assert not any(map(launched, kernel.candidates)) or name in ("orbits", "shortest paths")
    np.testing.assert_array_equal(kernel(**given(name, 0)), expected(name, 0, scans))


def test_what_a_step_computes_of_its_input_is_hoisted() -> None:
    kernel = el.optimize(program("a net", 6), "pocl", measure="none", cache=False)
    plan = next(c.plan for c in kernel.candidates if launched(c))
    before, *steps = [k for k, _ in plan.steps]
    assert len(steps) == 6 and before not in steps
    assert "x" in [b.name for b in plan.kernels[before].params]
    assert "x" not in [b.name for k in steps for b in plan.kernels[k].params]


def test_all_states_are_written_where_they_belong() -> None:
    kernel = el.optimize(program("a net", 6, scans=True), "pocl", measure="none", cache=False)
    plan = next(c.plan for c in kernel.candidates if launched(c))
    assert sum(b.size for b in plan.temporaries) <= 6 * B * H  # of what is computed before the steps
    assert all(plan.outputs[0] in given for _, given in plan.steps[-6:])


def best(e: Any) -> list[Any]:
    """What is found for a GPU, the best first by the model."""
    gpu = presets()["nvidia_h200"]
    whole = inner(as_program(e))
    return sorted(searched(whole, gpu, gpu.limits, useful(Laws(), gpu)), key=lambda c: c.estimate)


def test_steps_of_many_operations_are_launched() -> None:
    x, h = el.array("x", el.f32, (32, 64, 256)), el.array("h", el.f32, (64, 512))
    w, u = el.array("w", el.f32, (256, 512)), el.array("u", el.f32, (512, 512))
    first = best(el.fold(lambda s, v: np.tanh(v @ w + s @ u), h, x))[0]
    assert launched(first) and first.estimate < 32 * 20e-6


def test_elements_that_never_meet_are_one_kernel() -> None:
    x = el.array("x", el.f32, (512, 4096))
    first = best(el.fold(running, np.zeros(4096, np.float32), x))[0]
    assert not launched(first) and len(first.plan.steps) == 1 and first.estimate < 60e-6


def test_what_follows_loops_side_by_side_reads_their_results() -> None:
    """Else each of its elements would take all steps of its loop."""

    def changes(states: Any) -> Any:
        return states[1:] - states[:-1]

    x = el.array("x", el.f32, (256, 4096))
    first = best(changes(el.accumulate(running, np.zeros(4096, np.float32), x)))[0]
    assert first.structure.startswith("side by side") and len(first.plan.steps) == 2 and first.estimate < 60e-6
    small = el.accumulate(running, np.zeros(12, np.float32), el.array("x", el.f32, (9, 12)))
    kernel, rows = el.optimize(changes(small), "pocl", measure="none", cache=False), RNG.random((9, 12), np.float32)
    states = [np.zeros(12, np.float32)]
    for row in rows:
        states.append(running(states[-1], row))
    beside = [i for i, c in enumerate(kernel.candidates) if c.structure.startswith("side by side")]
    for i in {kernel.candidates.index(kernel.chosen), *beside[:3]}:
        np.testing.assert_allclose(kernel.use(i)(x=rows), changes(np.array(states[1:])), 1e-4, 1e-5)


def test_small_rows_that_never_meet_are_loops_of_groups() -> None:
    x, q, t = el.array("x", el.f32, (64, 64, 64)), el.array("q", el.f32, (64, 64)), el.array("t", el.f32, (64, 64))

    def step(s: Any, v: Any) -> Any:
        new = (s @ t) * v
        return new / new.sum(axis=1, keepdims=True)

    first = best(el.fold(step, q, x))[0]
    assert first.structure.startswith("steps of groups") and len(first.plan.steps) == 1


def test_large_states_are_no_loops_of_groups() -> None:
    m = el.array("m", el.f32, (512, 512))
    found = best(el.fold(shortest, m, el.iota(16, el.i32)))
    assert launched(found[0]) and not any(c.structure.startswith("steps of groups") for c in found)


def test_an_iteration_that_counts_is_a_fold() -> None:
    x, h = el.array("x", el.f32, (6, B, D)), el.array("s0", el.f32, (B, H))

    def step(s: Any) -> Any:
        return el.tuple(net(s[0], x.gather(el.fill(1, s[1]))[0]), s[1] + 1)

    whole = el.iterate(6, step, el.tuple(h, el.literal(0, el.i32)))[0]
    kernel = el.optimize(whole, "pocl", measure="none", cache=False)
    stepping = [i for i, c in enumerate(kernel.candidates) if launched(c)]
    for i in stepping[:2]:
        np.testing.assert_allclose(kernel.use(i)(**given("a net", 6)), expected("a net", 6), 1e-4)
    assert stepping


def test_numbers_beside_arrays_are_carried() -> None:
    def step(s: Any, x: Any) -> Any:
        return el.tuple(running(s[0], x) / s[1], s[1] * 0.5)

    x, h = el.array("x", el.f32, (5, 17)), el.array("s0", el.f32, 17)
    kernel = el.optimize(el.fold(step, el.tuple(h, el.literal(1.0, el.f32)), x)[0], "pocl", measure="none", cache=False)
    values = given("a running mean", 5)
    state, fades = values["s0"], np.float32(1)
    for row in values["x"]:
        state, fades = running(state, row) / fades, fades / 2
    stepping = [i for i, c in enumerate(kernel.candidates) if launched(c)]
    for i in stepping[:2]:
        np.testing.assert_allclose(kernel.use(i)(**values), state, 1e-4)
    assert stepping


def test_loops_may_follow_each_other_and_nest() -> None:
    x, h = el.array("x", el.f32, (4, B, D)), el.array("s0", el.f32, (B, H))
    hidden = el.accumulate(net, h, x)
    whole = el.fold(lambda s, y: hidden.fold(lambda t, z: np.tanh(t @ U + z * y), s), h, hidden)
    kernel = el.optimize(whole, "pocl", measure="none", cache=False)
    values = given("a net", 4)
    rows = expected("a net", 4, scans=True)
    state = values["s0"]
    for y in rows:
        for z in rows:
            state = np.tanh(state @ U + z * y)
    stepping = [i for i, c in enumerate(kernel.candidates) if launched(c)]
    for i in stepping[:2]:
        np.testing.assert_allclose(kernel.use(i)(**values), state, 1e-3, 1e-5)
    assert stepping


def test_steps_are_bound_explained_and_listed() -> None:
    kernel = el.optimize(program("a net", 5, scans=True), "pocl", measure="none", cache=False)
    kernel = kernel.use(next(i for i, c in enumerate(kernel.candidates) if launched(c)))
    values, wanted = given("a net", 5), expected("a net", 5, scans=True)
    np.testing.assert_allclose(kernel.bind(**values)(), wanted, 1e-4)
    assert "Each of 5 steps" in kernel.explain() or kernel.chosen.account is None
    numbers = [a.value for k in kernel.kernels for a in k.arguments if a.role == "number" and a.name == "step0"]
    assert numbers == [0, 1, 2, 3, 4]


def test_exported_loops_give_launches_their_numbers(tmp_path: Path) -> None:
    kernel = el.optimize(program("a net", 5, scans=True), "pocl", measure="none", cache=False)
    kernel = kernel.use(next(i for i, c in enumerate(kernel.candidates) if launched(c)))
    kernel.export(tmp_path / "made", name="program")
    values = given("a net", 5)
    outputs = [(b.size, b.scalar.dtype) for b in kernel.plan.outputs]
    (found,) = results(tmp_path / "made", "program", [values[n] for n in kernel.inputs], outputs)
    np.testing.assert_allclose(found.reshape(5, B, H), expected("a net", 5, scans=True), 1e-4)
