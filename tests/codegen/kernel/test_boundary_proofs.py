"""Padding's index functions give, for every length and every offset, an index within the array: the mathematical one.

The functions themselves run, on numbers that stand for all integers (Symbol): a comparison asks the solver which ways
it can go, and each way that is possible is followed and proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import z3

from egglift.codegen.kernel.index import Index, Var, index
from egglift.codegen.kernel.views import mirrored, reflected, wrapped
from tests.smt import STEPS, integer, meaning

N, COUNT, START = z3.Ints("n count start")
AT = z3.Int("i")


class Symbol(int):
    """An integer that stands for all that the path's conditions allow."""

    term: z3.ArithRef
    path: Path

    def __new__(cls, path: Path, term: z3.ArithRef) -> Symbol:
        self = super().__new__(cls, 0)
        self.term, self.path = z3.simplify(term), path
        return self

    def _of(self, term: z3.ArithRef) -> Symbol:
        return Symbol(self.path, term)

    def __add__(self, other: int) -> Symbol:  # type: ignore[override]
        return self._of(self.term + integer(other)) if isinstance(other, int) else NotImplemented

    def __sub__(self, other: int) -> Symbol:  # type: ignore[override]
        return self._of(self.term - integer(other)) if isinstance(other, int) else NotImplemented

    def __rsub__(self, other: int) -> Symbol:  # type: ignore[override]
        return self._of(integer(other) - self.term)

    def __mul__(self, other: int) -> Symbol:  # type: ignore[override]
        return self._of(self.term * integer(other)) if isinstance(other, int) else NotImplemented

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Symbol:
        return self._of(-self.term)

    def __lt__(self, other: int) -> bool:
        return self.path.goes(self.term < integer(other))

    def __le__(self, other: int) -> bool:
        return self.path.goes(self.term <= integer(other))

    def __gt__(self, other: int) -> bool:
        return self.path.goes(self.term > integer(other))

    def __ge__(self, other: int) -> bool:
        return self.path.goes(self.term >= integer(other))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and self.path.goes(self.term == integer(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return self.path.goes(self.term != 0)

    def __hash__(self) -> int:
        return int(self.term.hash())

    def __format__(self, spec: str) -> str:
        return str(self.term)

    __str__ = __repr__ = lambda self: str(self.term)  # type: ignore[assignment]


class Path:
    """One way through the code: which way each comparison goes, among those that are possible."""

    def __init__(self, given: list[z3.BoolRef], turns: list[bool]) -> None:
        self.solver = z3.Solver()
        self.solver.add(*given)
        self.turns, self.taken, self.open = turns, 0, list[list[bool]]()

    def goes(self, condition: z3.BoolRef) -> bool:
        if self.taken < len(self.turns):
            way = self.turns[self.taken]
        else:
            yes, no = (self.solver.check(c) != z3.unsat for c in (condition, z3.Not(condition)))
            way = yes
            if yes and no:
                self.open.append([*self.turns, False])
            self.turns = [*self.turns, way]
        self.taken += 1
        self.solver.add(condition if way else z3.Not(condition))
        return way


def paths(given: list[z3.BoolRef]) -> Iterator[Path]:
    """All ways; the code is to run on each before the next is asked for."""
    waiting: list[list[bool]] = [[]]
    while waiting:
        path = Path(given, waiting.pop())
        yield path
        waiting += path.open


def reflection(i: z3.ArithRef) -> z3.ArithRef:
    """Between mirrors at both ends, no further than a length away."""
    return z3.If(i < 0, -1 - i, z3.If(i < N, i, 2 * N - 1 - i))


MODES: dict[str, tuple[Callable[[Index, int], Index], Callable[[z3.ArithRef], z3.ArithRef]]] = {
    "clamp": (Index.clamp, lambda i: z3.If(i < 0, 0, z3.If(i >= N, N - 1, i))),
    "mirror": (mirrored, reflection),
    "reflect": (reflected, lambda i: z3.If(i < 0, -i, z3.If(i < N, i, 2 * N - 2 - i))),
    "wrap": (wrapped, lambda i: z3.If(i < 0, i + N, z3.If(i < N, i, i - N))),
}


def proved(mode: str, given: list[z3.BoolRef], wanted: Callable[[z3.ArithRef], z3.ArithRef]) -> int:
    """On how many ways the function gives `wanted`, within 0..n-1, and states bounds that hold."""
    count = 0
    for path in paths([N >= 1, COUNT >= 1, *given]):
        at = index(Var("i", Symbol(path, COUNT), "loop")) + Symbol(path, START)
        result = MODES[mode][0](at, Symbol(path, N))
        low, high = result.range
        value, right = meaning(result), wanted(AT + START)
        claims = [value == right, value >= 0, value < N, value >= integer(low), value <= integer(high)]
        path.solver.set("rlimit", STEPS)
        path.solver.add(AT >= 0, AT < COUNT, z3.Not(z3.And(*claims)))
        answer = path.solver.check()
        assert answer == z3.unsat, f"{result} is not {mode} ({answer}): {path.solver}"
        count += 1
    return count


NEAR = [START >= -N, START + COUNT <= 2 * N]  # what is padded is at most as much as there is
CLOSER = [START > -N, START + COUNT < 2 * N]  # and less, where the edge is not repeated


def near(mode: str) -> list[z3.BoolRef]:
    """How much is padded at most where an index is moved once."""
    return CLOSER if mode == "reflect" else NEAR


@pytest.mark.parametrize("mode", MODES)
def test_padding_by_at_most_its_length_gives_the_right_index(mode: str) -> None:
    assert proved(mode, near(mode), MODES[mode][1]) >= 5


def test_clamping_has_no_limit() -> None:
    assert proved("clamp", [], MODES["clamp"][1]) >= 5


@pytest.mark.parametrize("mode", MODES)
def test_a_wrong_boundary_is_refuted(mode: str) -> None:
    with pytest.raises(AssertionError, match="is not"):
        proved(mode, near(mode), lambda i: z3.If(i < 0, 0, z3.If(i < N, i, N - 2)))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 16, 100])
@pytest.mark.parametrize("mode", ["mirror", "reflect", "wrap"])
def test_padding_by_more_goes_round_and_round(mode: str, n: int) -> None:
    """For each of these lengths, at all offsets: the remainder by n, or by 2 n reflected."""
    rest, inner = (AT + START) % (2 * n), (AT + START) % max(2 * n - 2, 1)
    right = {
        "mirror": z3.If(rest < n, rest, 2 * n - 1 - rest),
        "reflect": z3.If(inner < n, inner, 2 * n - 2 - inner),
        "wrap": (AT + START) % n,
    }[mode]
    for low, count in ((-5 * n, 9 * n), (-n - 1, 1), (2 * n, 3 * n), (-(10**6), 3 * 10**6)):
        at = index(Var("i", count, "loop")) + low
        value = meaning(MODES[mode][0](at, n))
        solver = z3.Solver()
        solver.set("rlimit", STEPS)
        claim = z3.And(value == z3.substitute(right, (START, z3.IntVal(low))), value >= 0, value < n)
        solver.add(AT >= 0, count > AT, z3.Not(claim))
        assert solver.check() == z3.unsat
