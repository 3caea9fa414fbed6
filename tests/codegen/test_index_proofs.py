"""The simplified index and the C printed for it are proved equal to what they stand for, for all values of variables.

An SMT solver validates every translation: of all expressions below, what the simplifier makes of them has the same
value, lies within the bounds that it states, divides nothing negative, and the text printed for it has that value
in C, where division truncates and 32 bits are not exceeded wherever `int` was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import pytest
import z3

from egglift.codegen.index import Index, Var, assuming, choose, index
from egglift.codegen.text import Text
from egglift.codegen.views import mirrored, wrapped
from tests.c_text import CText
from tests.smt import Proofs, clamped, counterexample, meaning, promises, ranges, reflected, truncated, variable, within

I, J, K = Var("i", 12, "loop"), Var("j", 4, "local"), Var("k", 7, "loop")
G, W = Var("g", 1 << 22, "global"), Var("w", 1 << 33, "global")


@dataclass(frozen=True)
class Both:
    """An index as the simplifier keeps it, and what it stands for by the definitions of the operations."""

    x: Index
    z: z3.ArithRef

    def __add__(self, other: Both | int) -> Both:
        return Both(self.x + other.x, self.z + other.z) if isinstance(other, Both) else Both(self.x + other, self.z + other)

    def __sub__(self, other: Both | int) -> Both:
        return Both(self.x - other.x, self.z - other.z) if isinstance(other, Both) else Both(self.x - other, self.z - other)

    def __mul__(self, k: int) -> Both:
        return Both(self.x * k, self.z * k)

    def __floordiv__(self, d: int) -> Both:
        return Both(self.x // d, self.z / d)  # for d > 0, z3's division is the floor

    def __mod__(self, d: int) -> Both:
        return Both(self.x % d, self.z % d)

    def clamp(self, n: int) -> Both:
        return Both(self.x.clamp(n), clamped(self.z, n))

    def mirror(self, n: int) -> Both:
        return Both(mirrored(self.x, n), reflected(self.z, n))

    def wrap(self, n: int) -> Both:
        return Both(wrapped(self.x, n), self.z % n)

    def choose(self, n: int, inside: Both, outside: Both) -> Both:
        return Both(choose(self.x, n, inside.x, outside.x), z3.If(within(self.z, n), inside.z, outside.z))


def number(c: int) -> Both:
    return Both(index(c), z3.IntVal(c))


def of(v: Var) -> Both:
    return Both(index(v), variable(v))


i, j, k, g, w = map(of, (I, J, K, G, W))

#: sums over variables, with negative offsets and coefficients, whose bounds decide divisions in all ways
SUMS = (
    number(5), number(-3), i, i * 4 + j, i * 4 + j - 1, i * 5 + k - 3, j - 2, j * -1 + 1, k * 3 + 1, k * 2 - i * 3,
    i * 8 + j * 2 + 1, i * 12 + j * 3 - 7, i * -4 - j - 5, i * 24 + k * 6 + j, g * 4 + j - 1, g * 1024 + k, w * 4 + j - 9,
)  # fmt: skip
OPERATIONS: tuple[Callable[[Both, int], Both], ...] = (Both.__floordiv__, Both.__mod__, Both.clamp, Both.mirror, Both.wrap)
SIZES = (1, 2, 3, 4, 5, 12, 40)


def once() -> Iterator[Both]:
    """One operation on a sum."""
    return (op(x, n) for op, x, n in product(OPERATIONS, SUMS, SIZES))


def twice() -> Iterator[Both]:
    """An operation on a sum that holds the result of another one."""
    insides = ((i * 4 + j - 1, 3), (i * 12 + k, 4), (k * 3 - i, 12), (g * 8 + k, 40))
    for first, second, (x, n), m in product(OPERATIONS, OPERATIONS, insides, (2, 4, 12)):
        yield second(first(x, n) * 4 + j, m)
        yield second(first(x, n) - 2, m)


def put_together() -> Iterator[Both]:
    """Quotients and remainders of one sum added up, whole or in part."""
    for x, d, c in product(SUMS, (2, 5, 12, 28), (1, -3)):
        yield ((x // d) * d + x % d) * c + j
        yield ((x // d) * (d + 1) + x % d) * c
        yield (x // d) * d * c + (x % d) * c * 2 + x


def chosen() -> Iterator[Both]:
    """Choices by sums, of sums, and what is made of them."""
    for x, n in product(SUMS, (1, 4, 30)):
        yield x.choose(n, x, number(n) - j)
        yield x.choose(n, x // 3, x * -1 - 1) * 2 + i
        yield (x.choose(n, x * 3 + j, number(7)) % 5).clamp(4)


def views() -> Iterator[Both]:
    """Strides, joins and splits one after the other, as views make them."""
    for n, s in product((24, 12, 60), (1, 2, 3, 4)):
        at = i * 4 + j
        turned = at // (n // s) + (at % (n // s)) * s
        yield turned
        yield turned // s + (turned % s) * (n // s)
        yield (at // n) * n + (at % n) // s * s + at % s


PROOFS = Proofs()


def check(x: Both, *facts: tuple[Both, int, int]) -> None:
    """All that `x` must satisfy, where `facts` hold."""
    low, high = x.x.range
    c = CText((I, J, K, G, W))
    _, printed = c.value(Text().index(x.x))
    given = [*ranges(frozenset((I, J, K, G, W))), *(z3.And(f.z >= a, f.z <= b) for f, a, b in facts)]
    claims = [meaning(x.x) == x.z, x.z >= low, x.z <= high, *promises(x.x), printed == x.z, *c.obligations]
    PROOFS.prove(claims, *given)


@pytest.mark.parametrize("shapes", [once, twice, put_together, chosen, views], ids=lambda f: f.__name__)
def test_indices_keep_their_value_for_all_values_of_their_variables(shapes: Callable[[], Iterator[Both]]) -> None:
    before, count = PROOFS.count, 0
    for x in shapes():
        check(x)
        count += 1
    assert count >= {"once": 595, "twice": 600, "put_together": 408, "chosen": 153, "views": 36}[shapes.__name__]
    assert PROOFS.count - before >= 4 * count
