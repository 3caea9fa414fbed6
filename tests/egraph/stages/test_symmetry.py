"""Which stages are symmetric: what is said to be so is so, and the usual ones are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import egglift as el
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.stage import Dim, Read
from egglift.egraph.stages.symmetry import plain_read, symmetric_dims
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, result
from tests.egraph.stages.programs import add_up, arr, dot
from tests.fuzz.data import random_inputs

N, K = 6, 5


def points() -> Any:
    return arr("X", N, K)


def pairs(f: Callable[[Any, Any], Any]) -> Any:
    """`f` of all pairs of one set of points."""
    return el.allpairs(f, points(), points())


def sums(f: Callable[[Any, Any], Any]) -> Any:
    return pairs(lambda a, b: add_up(el.zip(a, b).map(lambda v: f(v[0], v[1]))))


def weighted(f: Callable[[Any, Any, Any], Any]) -> Any:
    """`f` of a product and a weight of each of its two rows."""
    rows = el.zip(points(), arr("d", N))
    return el.allpairs(lambda a, b: f(dot(a[0], b[0]), a[1], b[1]), rows, rows)


def covariance() -> Any:
    rows = points().map(lambda r: (r, add_up(r) / K))
    return el.allpairs(
        lambda a, b: add_up(el.zip(a[0], b[0]).map(lambda v: (v[0] - a[1]) * (v[1] - b[1]))) / (K - 1), rows, rows
    )


def batch() -> Any:
    return el.map(lambda a: a @ a.T, arr("A", 3, N, K))


SYMMETRIC: dict[str, Callable[[], Any]] = {
    "A A^T": lambda: points() @ points().T,
    "A^T A": lambda: points().T @ points(),
    "of i64": lambda: arr("I", N, K, t=el.i64) @ arr("I", N, K, t=el.i64).T,
    "a batch": batch,
    "covariance": covariance,
    "distances": lambda: sums(lambda a, b: (a - b) * (a - b)),
    "distances by abs": lambda: sums(lambda a, b: abs(a - b)),
    "an rbf kernel": lambda: sums(lambda a, b: (a - b) * (a - b)).map(lambda r: r.map(lambda v: el.exp(-0.5 * v))),
    "minima": lambda: sums(el.minimum),
    "weights of both": lambda: weighted(lambda s, x, y: s * (x * y)),
    "cosines": lambda: weighted(lambda s, x, y: s / (el.sqrt(x) * el.sqrt(y))),
    "norms before": lambda: weighted(lambda s, x, y: (x + y) - 2 * s),
    "the same place": lambda: weighted(lambda s, x, y: el.where(x == y, s, 0.0)),
}
#: those for which the order of additions or multiplications must change
REGROUPED: dict[str, Callable[[], Any]] = {
    "norms around": lambda: weighted(lambda s, x, y: (x - 2 * s) + y),
    "two quotients": lambda: weighted(lambda s, x, y: s / x / y),
    "two factors": lambda: weighted(lambda s, x, y: s * x * y),
}
OTHERS: dict[str, Callable[[], Any]] = {
    "A B^T": lambda: points() @ arr("B", N, K).T,
    "of two lengths": lambda: points() @ arr("B", N + 1, K).T,
    "differences": lambda: sums(lambda a, b: a - b),
    "squares of one": lambda: sums(lambda a, b: (a - b) * (a - 1)),
    "cubes": lambda: sums(lambda a, b: (a - b) * (a - b) * (a - b)),
    "a weight of one": lambda: weighted(lambda s, x, y: s * x),
    "a quotient": lambda: weighted(lambda s, x, y: s * (x / y)),
    "a comparison": lambda: weighted(lambda s, x, y: el.where(x < y, s, 0.0)),
    "unsigned abs": lambda: el.allpairs(lambda a, b: abs(a - b), arr("u", N, t=el.u8), arr("u", N, t=el.u8)),
    "the order of a fold": lambda: pairs(lambda a, b: el.fold(lambda s, v: s * v[0] + v[1], 0.0, el.zip(a, b))),
    "two gathered": lambda: el.gather([0, 1, 2, 3, 4, 0], points()) @ points().T,
}


def claimed(program: Any, reassociate: bool = True) -> bool:
    """Is the stage of the result said to be symmetric?"""
    return symmetric_dims(stages_of(as_program(program), reassociate).stages[-1], reassociate) is not None


def is_symmetric(program: Any, draw: str = "exact", tolerance: float = 0.0) -> bool:
    e = as_program(program)
    (found,) = result(e, random_inputs(e, draw, 1))
    return bool(np.allclose(found, np.swapaxes(found, -1, -2), tolerance, tolerance, equal_nan=True))


@pytest.mark.parametrize("reassociate", [False, True])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_results_are_found_in_either_order(name: str, reassociate: bool) -> None:
    program = SYMMETRIC[name]()
    assert claimed(program, reassociate)
    assert is_symmetric(program, "smooth")


@pytest.mark.parametrize("name", REGROUPED)
def test_chains_may_be_regrouped_where_sums_may(name: str) -> None:
    program = REGROUPED[name]()
    assert claimed(program, True) and not claimed(program, False)
    assert is_symmetric(program, "smooth", 1e-4)


@pytest.mark.parametrize("reassociate", [False, True])
@pytest.mark.parametrize("name", OTHERS)
def test_nothing_else_is_said_to_be_symmetric(name: str, reassociate: bool) -> None:
    assert not claimed(OTHERS[name](), reassociate)


def test_any_two_dimensions_may_be_those() -> None:
    a = arr("A", N, 3, K)
    rows = a.map(lambda x: a.map(lambda y: el.map(dot, x, y)))
    stage = stages_of(as_program(rows)).stages[-1]
    assert symmetric_dims(stage, True) == (stage.dims[0], stage.dims[1])


def test_transposed_reads_are_reads_at_other_dimensions() -> None:
    x, (i, j, k) = arr("x", 2, 3, 4), (Dim(n, n + 2) for n in range(3))
    plain = as_program(x)
    assert plain_read(Read(as_program(el.transpose(x)), (j, i, k))) == Read(plain, (i, j, k))
    assert plain_read(Read(as_program(x.map(lambda m: m.T)), (i, k, j))) == Read(plain, (i, j, k))
    assert plain_read(Read(as_program(el.transpose(x).map(lambda m: m.T)), (j, k, i))) == Read(plain, (i, j, k))


#: bodies over <x, y, d, e>: elements of two rows, and the rows' weights, by which operator joins what
TWO = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "min": el.minimum,
    "max": el.maximum,
    "abs": lambda a, b: abs(a - b),
    "square": lambda a, b: (a - b) * (a - b),
    "less": lambda a, b: el.where(a < b, a, b),
    "same": lambda a, b: el.where(a == b, a * b, a + b),
    "div": lambda a, b: a / b,
}
SWAPPED = {"x": "y", "y": "x", "d": "e", "e": "d"}


def swapped(tree: Any) -> Any:
    return SWAPPED.get(tree, tree) if isinstance(tree, str) else (tree[0], *map(swapped, tree[1:]))


TREES = st.recursive(
    st.sampled_from(("x", "y", "d", "e", "two")),
    lambda inner: st.tuples(st.sampled_from(sorted(TWO)), inner, inner),
    max_leaves=4,
)
#: those that are nearly symmetric: a body, and it with the rows exchanged, joined by an operator
BODIES = st.tuples(st.sampled_from(sorted(TWO)), TREES).map(lambda b: (b[0], b[1], swapped(b[1])))


def body(tree: Any, leaves: dict[str, Any]) -> Any:
    match tree:
        case str():
            return leaves[tree]
        case (op, a, b):
            return TWO[op](body(a, leaves), body(b, leaves))


def program_of(inner: Any, outer: Any) -> Any:
    """All pairs of rows: sums of one body, and another one of these sums."""
    rows = el.zip(points(), arr("d", N))

    def pair(a: Any, b: Any) -> Any:
        weights = {"d": a[1], "e": b[1], "two": el.literal(2.0, el.f32)}
        total = add_up(
            el.zip(a[0], b[0]).map(lambda v: v[0] * v[1] * 0 + body(inner, {"x": v[0], "y": v[1], **weights}))
        )
        return total + (weights["d"] * weights["e"]) * 0 + body(outer, {"x": total, "y": total, **weights})

    return el.allpairs(pair, rows, rows)


@settings(deadline=None, max_examples=120)
@given(BODIES, BODIES, st.booleans())
@example(("square", "x", "y"), ("mul", "d", "e"), False)
@example(("add", ("sub", "d", "x"), ("sub", "e", "y")), ("div", ("div", "x", "d"), "e"), True)
@example(("mul", ("sub", "x", "y"), ("sub", "y", "x")), ("abs", "d", "e"), True)
def test_what_is_said_to_be_symmetric_is_so(inner: Any, outer: Any, reassociate: bool) -> None:
    program = program_of(inner, outer)
    stage = stages_of(as_program(program), reassociate).stages[-1]
    if len(stage.dims) == 2 and symmetric_dims(stage, reassociate):
        for draw in ("smooth", "extreme") if not reassociate else ("smooth",):
            with np.errstate(all="ignore"):
                assert is_symmetric(program, draw, 1e-3 if reassociate else 0.0)


def test_inputs_of_symmetric_programs_tell_rows_apart() -> None:
    """What is claimed of other programs would be seen: their results are not symmetric."""
    for name in ("A B^T", "differences", "a weight of one", "a comparison", "cubes"):
        program = OTHERS[name]()
        assert exact_inputs(as_program(program)) and not is_symmetric(program, "smooth"), name
