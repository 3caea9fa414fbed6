"""Programs of thousands of nodes: they work, or an error of ours names their size, the limit and what to do."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

import egglift as el
from egglift.admission import MOST_NODES
from egglift.codegen.compile import compile_term
from egglift.ir.check import type_of
from egglift.ir.errors import CodegenError, ProgramError, ShapeError
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms

pytestmark = pytest.mark.short

X = np.linspace(-1, 1, 64, dtype=np.float32)
x = el.array("x", el.f32, 64)


def halved(parts: list[str], how: str) -> str:
    """The text of all parts put together by `how`, in pairs of pairs."""
    while len(parts) > 1:
        pairs = [f"({how} {a} {b})" for a, b in zip(parts[::2], parts[1::2])]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


def let(count: int) -> str:
    names = "".join(f"(a{i} (map (fn f32 (add arg {i}.5:f32)) a{i - 1}))" for i in range(1, count))
    return f"(let ((a0 (input x [f32]64)){names}) a{count - 1})"


def doubled(count: int) -> str:
    """As a tree, of 2^count nodes."""
    pair = "(map (fn (f32, f32) (mul 0.5:f32 (add (get 0 arg) (get 1 arg))))"
    names = "".join(f"(a{i} {pair} (zip a{i - 1} a{i - 1})))" for i in range(1, count))
    return f"(let ((a0 (input x [f32]64)){names}) a{count - 1})"


def concats(count: int, n: int = 64) -> str:
    return "(concat " * count + f"(input x [f32]{n})" + f" (map (fn f32 (neg arg)) (input x [f32]{n})))" * count


WIDE: dict[str, tuple[Callable[[int], str], int]] = {
    "a let of 10,000 names": (let, 10_000),
    "arrays read twice, 3,000 deep": (doubled, 3_000),
    "a sum of 5,000 inputs": (lambda n: halved([f"(input x{i} f32)" for i in range(n)], "add"), 5_000),
    "3,000 arrays one after another": (concats, 3_000),
    "a constant of 100,000 numbers": (
        lambda n: f"(map (fn f32 (neg arg)) (constant [f32]{n} {' '.join(f'{i}.5' for i in range(n))}))",
        100_000,
    ),
}


@pytest.mark.parametrize("name", WIDE)
def test_megabytes_of_program_are_read_typed_and_interpreted(name: str) -> None:
    make, count = WIDE[name]
    program = el.loads(make(count))
    assert el.loads(el.dumps(program)) is program
    assert el.pretty(program)
    inputs = {t.name: X if t.name == "x" else np.float32(1) for t in subterms(program) if hasattr(t, "name")}
    found = el.interpret(program, **inputs)
    assert found.shape == (() if found.ndim == 0 else (type_of(program).length,))  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["(tuple {})", "(zip {})"])
def test_thousands_of_components_are_refused(text: str) -> None:
    parts = " ".join(f"(input x{i} [f32]8)" for i in range(3000))
    with pytest.raises(ShapeError, match="more than 256 numbers and arrays; use an array"):
        el.loads(text.format(parts))


def test_beyond_so_many_nodes_a_program_is_refused_with_its_size() -> None:
    program = el.loads(let(MOST_NODES // 3 + 10))
    with pytest.raises(ProgramError, match=rf"has 20\d\d\d nodes, and no more than {MOST_NODES} .* in parts"):
        el.optimize(program, "pocl", measure="none", cache=False)


def test_thousands_of_nodes_are_optimised() -> None:
    kernel = el.optimize(el.loads(let(120)), "pocl", measure="none", cache=False)
    np.testing.assert_allclose(kernel(X), el.interpret(kernel.program, x=X), rtol=1e-5)


@pytest.mark.parametrize("budget", ["EXTRACTION", "PRICING"])
def test_what_is_not_searched_in_time_is_compiled_as_it_is(budget: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["egglift.search"], budget, 0.0)
    program = (x * 2 + 1).reduce(el.add, 0.0)
    if budget == "EXTRACTION":
        with pytest.warns(RuntimeWarning, match=r"too large to be searched: \d+ nodes .*compiled as it stands"):
            kernel = el.optimize(program, "pocl", measure="none", cache=False, without=["schedules"])
    else:
        kernel = el.optimize(program, "pocl", measure="none", cache=False)
    assert {c.structure for c in kernel.candidates if c.account is None} <= {"naive"}
    np.testing.assert_allclose(kernel(X), (X * 2 + 1).sum(), rtol=1e-5)


def test_an_element_in_hundreds_of_parts_is_refused_when_read() -> None:
    def total(count: int) -> Expr:
        turned = f"(join (transpose (split 3 {concats(count, 1)})))"  # not part by part
        return el.loads(f"(reduce add:f32 0.0:f32 {turned})")

    assert compile_term(total(20)).kernels
    with pytest.raises(CodegenError, match="more than 128 parts or edges; give them as one input"):
        compile_term(total(200))
