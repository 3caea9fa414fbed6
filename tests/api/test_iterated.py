"""Time steps of one array or of several: what is found for a step is taken again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.candidate import Candidate
from egglift.costmodel.profiles.profile import presets
from egglift.ir import patterns as p
from egglift.ir.inner_program import inner
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from egglift.ir.named_states import is_state, states_in
from egglift.ir.parser import loads
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.text import dumps
from egglift.ir.traverse import inputs_in, subterms
from egglift.ir.types import I32, dims
from egglift.iterated import iterated, plain_loops
from egglift.options import Laws, useful
from egglift.search import naive, searched
from egglift.steps import time_steps

pytestmark = pytest.mark.short

M = 13
A = np.random.default_rng(1).random((M, M)).astype(np.float32) / M
Step = Callable[..., Any]


def neighbours(u: Any) -> Any:
    near = np.pad(u, 1, mode="edge")
    return near[:-2] + near[2:] - 2 * u


def wave(u: Any, v: Any) -> Any:
    faster = 0.99 * (v + 0.1 * neighbours(u))
    return u + 0.1 * faster, faster


def normalised(m: Any, v: Any) -> Any:
    w = m @ v
    return w / np.sqrt((w * w).sum())


def bodies_move(x: Any, v: Any) -> Any:
    apart = x[None, :] - x[:, None]
    faster = v + 0.01 * (apart / (apart * apart + 1)).sum(1)
    return x + 0.1 * faster, faster


def conjugate(m: Any, x: Any, r: Any, d: Any) -> Any:
    along, square = m @ d, (r * r).sum()
    far = square / (d * along).sum()
    left = r - far * along
    return x + far * d, left, left + (left * left).sum() / square * d


#: of each program a step over the state, how many arrays that has, and is there a matrix
PROGRAMS: dict[str, tuple[Step, int, bool]] = {
    "neighbours": (lambda u: u + 0.1 * neighbours(u), 1, False),
    "a wave": (wave, 2, False),
    "the power method": (normalised, 1, True),
    "bodies": (bodies_move, 2, False),
    "conjugate gradients": (conjugate, 3, True),
}
#: what follows the steps, of an iteration's result and, by NumPy, of all its arrays
ENDS: dict[str, tuple[Callable[[Any, int], Any], Callable[[Sequence[Any]], Any]]] = {
    "all": (lambda it, count: it, lambda state: tuple(state) if len(state) > 1 else state[0]),
    "the first": (lambda it, count: it[0] if count > 1 else it * 2, lambda s: s[0] if len(s) > 1 else s[0] * 2),
    "a sum": (lambda it, count: (it[1] if count > 1 else it).sum(), lambda s: s[min(1, len(s) - 1)].sum()),
}


def step_of(name: str, matrix: Any) -> Step:
    step, _, has_matrix = PROGRAMS[name]
    return (lambda *state: step(matrix, *state)) if has_matrix else step


def program(name: str, steps: int, end: str = "all") -> Any:
    count = PROGRAMS[name][1]
    step = step_of(name, el.array("A", el.f32, (M, M)) * 1.0)
    arrays = [el.array(f"x{k}", el.f32, M) for k in range(count)]
    if count == 1:
        return ENDS[end][0](el.iterate(steps, step, arrays[0]), 1)
    taken = el.iterate(steps, lambda s: el.tuple(*step(*[s[k] for k in range(count)])), el.tuple(*arrays))
    return ENDS[end][0](taken, count)


def expected(name: str, steps: int, end: str, given: dict[str, Any]) -> Any:
    step, count = step_of(name, A.astype(np.float64)), PROGRAMS[name][1]
    state: tuple[Any, ...] = tuple(given[f"x{k}"].astype(np.float64) for k in range(count))
    for _ in range(steps):
        new = step(*state)
        state = new if isinstance(new, tuple) else (new,)
    return ENDS[end][1](state)


def inputs(name: str) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    given = {f"x{k}": rng.random(M).astype(np.float32) for k in range(PROGRAMS[name][1])}
    return given | ({"A": A} if PROGRAMS[name][2] else {})


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_take_all_steps(name: str, end: str) -> None:
    kernel, given = el.optimize(program(name, 5, end), "pocl", measure="none", cache=False), inputs(name)
    wanted = np.atleast_1d(expected(name, 5, end, given))
    launched = [i for i, c in enumerate(kernel.candidates) if len(c.plan.steps) >= 5]
    assert launched
    for i in (kernel.candidates.index(kernel.chosen), *launched[:4]):
        for mine, own in zip(np.atleast_1d(kernel.use(i)(**given)), wanted, strict=True):
            np.testing.assert_allclose(mine, own, 2e-3, 1e-4)


def solved(m: Any, u: Any) -> Any:
    """A time step whose own equation is solved by steps of Jacobi's method, which read the array of that time."""
    return el.iterate(6, lambda x: 0.5 * (u - m @ x), u)


def test_steps_may_be_iterations_too() -> None:
    m = el.array("A", el.f32, (M, M)) * 1.0
    start = el.array("B", el.f32, (M, M)) @ el.array("x0", el.f32, M)
    whole = el.iterate(3, lambda u: solved(m, u), start).sum()
    b = np.random.default_rng(3).random((M, M)).astype(np.float32)
    given = {"A": A, "B": b, "x0": inputs("neighbours")["x0"]}
    expected = (b @ given["x0"]).astype(np.float64)
    for _ in range(3):
        x = expected
        for _ in range(6):
            x = 0.5 * (expected - A @ x)
        expected = x
    kernel = el.optimize(whole, "pocl", measure="none", cache=False)
    launched = [i for i, c in enumerate(kernel.candidates) if len(c.plan.steps) >= 18]
    assert launched
    for i in launched[:3]:
        np.testing.assert_allclose(kernel.use(i)(**given), expected.sum(), 1e-4)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_step_of_many_costs_what_one_costs(name: str) -> None:
    """By the model, on a GPU: iterations were a work-item's loops, thousands of times as slow."""
    gpu = presets()["nvidia_h200"]

    def seconds(e: Any) -> float:
        whole = inner(as_program(e))
        return min(c.estimate for c in searched(whole, gpu, gpu.limits, useful(Laws(), gpu)))

    state = [el.array(f"x{k}", el.f32, M) for k in range(PROGRAMS[name][1])]
    step = step_of(name, el.array("A", el.f32, (M, M)) * 1.0)(*state)
    one = seconds(el.tuple(*step) if isinstance(step, tuple) else step)
    assert seconds(program(name, 40)) < 40 * (1.1 * one + gpu.launch)


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_are_put_together_again(name: str) -> None:
    whole = as_program(program(name, 4))
    steps = time_steps(whole)
    assert steps is not None and len(steps.states) == PROGRAMS[name][1]
    again = steps.again(steps.program)
    assert isinstance(again, p.Iterate) and steps.of(again) == steps.program
    assert inputs_of(again) == inputs_of(whole) and evaluate_alike(again, whole, inputs(name))
    assert loads(dumps(again)) == again


def test_a_state_that_bodies_read_has_a_name_there() -> None:
    steps = time_steps(as_program(program("the power method", 4)))
    assert steps is not None
    state = steps.state
    rows = p.Map(p.At(0, state), p.Iota(M, I32))
    again = steps.again(rows)
    assert isinstance(again, p.Iterate) and [*states_in(again.body).values()] == [0]
    assert not any(isinstance(t, p.Arg) and t.type == state.type for t in subterms(again.body))
    assert state.name not in inputs_of(again) and any(map(is_state, inputs_in(again)))
    assert steps.of(again) == rows
    x = np.arange(1, M + 1, dtype=np.float32)
    np.testing.assert_allclose(evaluate(again, {"x0": x}), np.ones(M))


def evaluate_alike(one: Any, other: Any, given: dict[str, Any]) -> bool:
    a, b = evaluate(one, given), evaluate(other, given)
    return all(np.allclose(x, y) for x, y in zip(np.atleast_1d(a), np.atleast_1d(b), strict=True))


def test_inputs_are_not_named_like_states() -> None:
    with pytest.raises(el.ProgramError, match="step_state_ begins names of iterations' states"):
        el.array("step_state_0_0", el.f32, 3)


def test_gates_that_differ_in_names_are_searched_once() -> None:
    """What a step computes of an element alone, for each gate; and the step."""
    x, h = el.array("x", el.f32, (7, 4, 5)), el.array("h", el.f32, (4, 6))
    forget, take = (el.array(name, el.f32, (5, 6)) for name in ("forget", "take"))
    own = el.array("own", el.f32, (6, 6))
    net = el.accumulate(lambda h, v: el.tanh(v @ forget) * (h @ own) + el.tanh(v @ take), h, x)
    asked, profile = list[Expr](), presets()["pocl_cpu"]

    def find(e: Expr, several: bool) -> list[Candidate]:
        asked.append(e)
        return naive(e, profile, profile.limits)

    (found,) = iterated(plain_loops(as_program(net)), find, profile)
    assert len(asked) == 2
    rng = np.random.default_rng(2)
    given = {name: rng.normal(size=dims(t)).astype("f4") for name, t in inputs_of(as_program(net)).items()}
    np.testing.assert_allclose(evaluate(found.term, given), evaluate(as_program(net), given), 1e-4, 1e-5)
