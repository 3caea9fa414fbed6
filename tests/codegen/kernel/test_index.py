"""Index arithmetic agrees with Python's integers, and simplifies what the views of the patterns produce."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from egglift.codegen.kernel.index import (
    Atom,
    Choice,
    Clamp,
    Data,
    Index,
    Quotient,
    Remainder,
    Var,
    assuming,
    choose,
    index,
)

I, J, K = Var("i", 12, "loop"), Var("j", 4, "local"), Var("k", 7, "loop")
VARS = (I, J, K)


def value(x: Index, at: dict[Var, int]) -> int:
    """The number that `x` is when its variables have the values `at`."""

    def atom(a: Atom) -> int:
        match a:
            case Var():
                return at[a]
            case Quotient(y, d):
                assert value(y, at) >= 0
                return value(y, at) // d
            case Remainder(y, d):
                assert value(y, at) >= 0
                return value(y, at) % d
            case Clamp(y, high):
                return min(max(value(y, at), 0), high)
            case Choice(test, n, inside, outside):
                return value(inside if 0 <= value(test, at) < n else outside, at)
            case Data():
                raise AssertionError

    return x.constant + sum(k * atom(a) for a, k in x.terms)


Meaning = Callable[[dict[Var, int]], int]
leaf = st.one_of(
    st.sampled_from(VARS).map(lambda v: (index(v), lambda at: at[v])),
    st.integers(-9, 9).map(lambda c: (index(c), lambda at: c)),
)


def grown(parts: st.SearchStrategy[tuple[Index, Meaning]]) -> st.SearchStrategy[tuple[Index, Meaning]]:
    divisor = st.integers(1, 12)
    return st.one_of(
        st.tuples(parts, parts).map(lambda t: (t[0][0] + t[1][0], lambda at: t[0][1](at) + t[1][1](at))),
        st.tuples(parts, parts).map(lambda t: (t[0][0] - t[1][0], lambda at: t[0][1](at) - t[1][1](at))),
        st.tuples(parts, st.integers(-8, 8)).map(lambda t: (t[0][0] * t[1], lambda at: t[0][1](at) * t[1])),
        st.tuples(parts, divisor).map(lambda t: (t[0][0] // t[1], lambda at: t[0][1](at) // t[1])),
        st.tuples(parts, divisor).map(lambda t: (t[0][0] % t[1], lambda at: t[0][1](at) % t[1])),
        st.tuples(parts, divisor).map(lambda t: (t[0][0].clamp(t[1]), lambda at: min(max(t[0][1](at), 0), t[1] - 1))),
        st.tuples(parts, divisor, parts, parts).map(
            lambda t: (
                choose(t[0][0], t[1], t[2][0], t[3][0]),
                lambda at: t[2][1](at) if 0 <= t[0][1](at) < t[1] else t[3][1](at),
            )
        ),
    )


points = st.fixed_dictionaries({v: st.integers(0, v.count - 1) for v in VARS})


@given(st.recursive(leaf, grown, max_leaves=8), points)
def test_simplified_indices_keep_their_value_and_their_range(x: tuple[Index, Meaning], at: dict[Var, int]) -> None:
    simplified, meaning = x
    expected = meaning(at)
    assert value(simplified, at) == expected
    low, high = simplified.range
    assert low <= expected <= high


many = st.lists(st.tuples(st.recursive(leaf, grown, max_leaves=6), st.integers(0, 5), st.integers(0, 5)), max_size=4)


@given(st.recursive(leaf, grown, max_leaves=6), many, points)
def test_ranges_under_any_guards_in_force_are_found_and_hold(
    x: tuple[Index, Meaning], guards: list[tuple[tuple[Index, Meaning], int, int]], at: dict[Var, int]
) -> None:
    """Guards hold quotients and choices of what they bound, and of each other."""
    with assuming(*((e, meaning(at) - below, meaning(at) + above) for (e, meaning), below, above in guards)):
        low, high = x[0].range
    assert low <= x[1](at) <= high


def test_a_guard_may_hold_a_quotient_or_a_choice() -> None:
    half = index(I) // 2
    for other in (choose(half - 2, 3, half * 2, index(I)), (half + K).clamp(5), (half * 3 + K) % 4):
        guard = half + other
        with assuming((guard, 1, 9)):
            low, high = half.range
        held = [value(half, {I: i, K: k}) for i in range(12) for k in range(7) if 1 <= value(guard, {I: i, K: k}) <= 9]
        assert low <= min(held) <= max(held) <= high <= 5


@given(st.recursive(leaf, grown, max_leaves=6), points, st.sampled_from(VARS))
def test_substitution_is_evaluation(x: tuple[Index, Meaning], at: dict[Var, int], v: Var) -> None:
    assert value(x[0].substitute({v: at[v]}), at) == x[1](at)


def test_join_of_split_is_the_identity() -> None:
    assert (index(I) * 4 + J) // 4 == index(I)
    assert (index(I) * 4 + J) % 4 == index(J)


def test_quotient_and_remainder_are_put_together_again() -> None:
    x = index(I) * 5 + K
    assert (x // 7) * 7 + x % 7 == x
    assert ((x // 7) * 7 + x % 7) * 3 + J == x * 3 + J


def test_strided_chunks_stay_linear() -> None:
    worker, step, lane = Var("w", 64, "global"), Var("s", 100, "loop"), Var("e", 4, "lane")
    row = index(step) * 4 + lane
    at = (row // 4) * 64 * 4 + index(worker) * 4 + row % 4
    assert at == index(step) * 256 + index(worker) * 4 + lane
    assert (at.coefficient(lane), at.coefficient(worker)) == (1, 4)


def test_a_variable_inside_a_quotient_has_no_coefficient() -> None:
    x = (index(K) * 3 + 1) // 2
    assert x.coefficient(K) is None
    assert x.coefficient(I) == 0
    assert x.variables() == {K}


def test_guards_in_force_narrow_ranges() -> None:
    x = index(J) + index(I) * 4
    assert x.range == (0, 47)
    with assuming((x, 0, 9)):
        assert x.range == (0, 9)
        assert (x * 2 + K).range == (0, 24)
        assert x // 10 == index(0)
        assert (index(9) - x).range == (0, 9)
    assert x.range == (0, 47)


def test_clamps_vanish_where_bounds_allow() -> None:
    assert index(I).clamp(12) == index(I)
    assert (index(I) - 20).clamp(5) == index(0)
    assert (index(I) + 20).clamp(5) == index(4)
    assert (index(I) - 1).clamp(12).range == (0, 10)
