"""Bools whose bytes are neither 0 nor 1, as views of other arrays have them: all but 0 are true, as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.ir import patterns as p
from egglift.ir.signature import inputs_of
from egglift.ir.types import BOOL
from tests.codegen.low import fmap, lit, op, vector
from tests.deep import every
from tests.fuzz.guarded import outputs_of

pytestmark = pytest.mark.short

N = 64
RNG = np.random.default_rng(0)
NdArray = np.ndarray[Any, Any]


def odd(*shape: int) -> NdArray:
    return np.array([0, 0, 1, 2, 4, 128, 255], np.uint8)[RNG.integers(0, 7, shape)].view(bool)


def whole(array: NdArray) -> NdArray:
    """The same bools, 0 and 1."""
    return np.asarray(array.view(np.uint8) != 0) if array.dtype == bool else array


b, c, m = el.array("b", el.bool_, N), el.array("c", el.bool_, N), el.array("m", el.bool_, (16, 16))
s, x = el.scalar("s", el.bool_), el.array("x", el.f32, N)
GIVEN = {"b": odd(N), "c": odd(N), "m": odd(16, 16), "s": np.array(4, np.uint8).view(bool)}
GIVEN["x"] = RNG.random(N, np.float32)


def count(bools: el.Value) -> el.Value:
    return el.reduce(el.add, 0, el.cast(bools, el.i32))


def pairs(f: Any) -> el.Value:
    return el.zip(b, c).map(lambda pair: f(pair[0], pair[1]))


PROGRAMS: dict[str, Any] = {
    "as they are": b,
    "reversed": b.reorder(lambda i: N - 1 - i),
    "transposed": m.T,
    "together": el.zip(b, c),
    "cast": b.map(lambda v: el.cast(v, el.f32)),
    "sum": count(b),
    "of rows": m.map(count),
    "of columns": m.T.map(count),
    "equal": b == c,
    "not equal": b != c,
    "less": b < c,
    "greater equal": b >= c,
    "to True": b == True,  # noqa: E712
    "to s": b == s,
    "and": b & c,
    "or": b | c,
    "xor": b ^ c,
    "not": ~b,
    "add": b + c,
    "times": b * c,
    "maximum": el.maximum(b, c),
    "where": pairs(lambda v, w: el.where(v, w, v)),
    "numbers where": el.zip(b, x).map(lambda t: el.where(t[0], t[1], -t[1])),
    "all": el.reduce(el.logical_and, True, b),
    "parity": el.reduce(el.bitwise_xor, False, b),
    "parities of rows": m.map(lambda row: el.reduce(el.bitwise_xor, False, row)),
    "folded": el.fold(lambda a, v: a == v, True, b),
    "all pairs": el.allpairs(lambda v, w: v == w, b, c),
    "windows": el.slide(3, 1, el.pad(1, 1, "clamp", b)).map(lambda w: w[0] ^ w[1] ^ w[2]),
    "steps": el.iterate(3, lambda v: el.slide(3, 1, el.pad(1, 1, "clamp", v)).map(lambda w: w[0] ^ w[2]), b),
    "as an index": x.gather(b.map(lambda v: el.cast(v, el.i64))),
    "two results": el.tuple(b, count(b)),
    "one": s,
    "one as a number": el.cast(s, el.i32) + 1,
    "written in the program": c == odd(N),
}


def leaves(value: Any) -> list[NdArray]:
    return [np.asarray(part).reshape(-1) for part in (value if isinstance(value, tuple) else (value,))]


def same(expected: Any, actual: Any) -> bool:
    """To the byte: results are 0 and 1."""
    return [a.tobytes() for a in leaves(expected)] == [a.tobytes() for a in leaves(actual)]


def cases(name: str) -> tuple[dict[str, NdArray], Any]:
    """The inputs of a program, and what it gives where all bytes are 0 and 1."""
    given = {n: GIVEN[n] for n in inputs_of(el.as_program(PROGRAMS[name]))}
    return given, el.interpret(PROGRAMS[name], **{n: whole(array) for n, array in given.items()})


@pytest.mark.parametrize("name", PROGRAMS)
def test_any_byte_but_0_is_true_to_the_interpreter(name: str) -> None:
    given, expected = cases(name)
    assert same(expected, el.interpret(PROGRAMS[name], **given))


def test_any_byte_but_0_is_true_to_kernels() -> None:
    jobs, wanted = [], []
    for name, program in PROGRAMS.items():
        given, expected = cases(name)
        jobs.append((compile_term(el.as_program(program)), {n: [a] for n, a in given.items()}))
        wanted.append(expected)
    found = outputs_of(jobs)
    assert [name for name, e, f in zip(PROGRAMS, wanted, found, strict=True) if not same(e, tuple(f))] == []


@pytest.mark.parametrize("name", every(3, PROGRAMS))
def test_any_byte_but_0_is_true_to_all_candidates(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("egglift.search.TRIES", 4)  # which candidates there are is not asked
    kernel = el.optimize(PROGRAMS[name], "pocl", measure="none", cache=False)
    given, expected = cases(name)
    assert same(expected, kernel(**given))
    some = kernel.candidates[:4]
    for c, found in zip(some, outputs_of([(c.plan, {n: [a] for n, a in given.items()}) for c in some]), strict=True):
        assert same(expected, tuple(found)), c.structure


def test_bools_on_a_device_may_be_any_byte_too() -> None:
    import pyopencl.array as cla

    program = el.tuple(count(b), b, b == c, b & s)
    kernel = el.optimize(program, "pocl", measure="none", cache=False)
    given = {name: GIVEN[name] for name in kernel.inputs}
    there = {name: cla.to_device(kernel.device.queue, array) for name, array in given.items()}
    found = kernel(**there)
    assert same(el.interpret(program, **given), tuple(part.get() for part in found))


def test_bytes_are_looked_at_only_where_bools_come_from_a_caller() -> None:
    assert "!= 0" not in el.optimize(x * 2, "pocl", measure="none", cache=False).source
    positive = p.To("global", fmap(lambda v: op("gt", v, lit(0.0)), vector("x", N), "global"))
    plan = compile_term(fmap(lambda v: op("logical_not", v), positive, "global"))
    assert [t.scalar for t in plan.temporaries] == [BOOL]
    assert "!= 0" not in plan.source
