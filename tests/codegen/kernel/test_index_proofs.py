"""The simplified index and the C printed for it are proved equal to what they stand for, for all values of variables.

An SMT solver validates every translation: of all expressions below, what the simplifier makes of them has the same
value, lies within the bounds that it states, divides nothing negative, and the text printed for it has that value
in C, where division truncates and 32 bits are not exceeded wherever `int` was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import TypeAlias

import pytest
import z3

from egglift.codegen.emission.edge_tiles import _passing
from egglift.codegen.kernel.index import Index, Var, assuming, choose, index
from egglift.codegen.kernel.ownership import layout_of
from egglift.codegen.kernel.views import mirrored, wrapped
from egglift.codegen.opencl.expressions import Text
from egglift.codegen.opencl.natives import Natives
from tests.c_text import CText
from tests.deep import sampled
from tests.smt import (
    Proofs,
    clamped,
    counterexample,
    floored,
    meaning,
    promises,
    ranges,
    reflected,
    truncated,
    variable,
    within,
)

I, J, K = Var("i", 12, "loop"), Var("j", 4, "local"), Var("k", 7, "loop")
G, W = Var("g", 1 << 22, "global"), Var("w", 1 << 33, "global")


@dataclass(frozen=True)
class Both:
    """An index as the simplifier keeps it, and what it stands for by the definitions of the operations."""

    x: Index
    z: z3.ArithRef

    def __add__(self, other: Both | int) -> Both:
        o = other if isinstance(other, Both) else number(other)
        return Both(self.x + o.x, self.z + o.z)

    def __sub__(self, other: Both | int) -> Both:
        o = other if isinstance(other, Both) else number(other)
        return Both(self.x - o.x, self.z - o.z)

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


Fact: TypeAlias = "tuple[Both, int, int]"


def number(c: int) -> Both:
    return Both(index(c), z3.IntVal(c))


def of(v: Var) -> Both:
    return Both(index(v), variable(v))


i, j, k, g, w = map(of, (I, J, K, G, W))

#: sums over variables, with negative offsets and coefficients, whose bounds decide divisions in all ways
SUMS = (
    number(5),
    number(-3),
    i,
    i * 4 + j,
    i * 4 + j - 1,
    i * 5 + k - 3,
    j - 2,
    j * -1 + 1,
    k * 3 + 1,
    k * 2 - i * 3,
    i * 8 + j * 2 + 1,
    i * 12 + j * 3 - 7,
    i * -4 - j - 5,
    i * 24 + k * 6 + j,
    g * 4 + j - 1,
    g * 1024 + k,
    w * 4 + j - 9,
)
Operation: TypeAlias = Callable[[Both, int], Both]
OPERATIONS: tuple[Operation, ...] = (Both.__floordiv__, Both.__mod__, Both.clamp, Both.mirror, Both.wrap)
SIZES = (1, 2, 3, 4, 5, 12, 40)


def once() -> Iterator[Both]:
    """One operation on a sum."""
    return (op(x, n) for op, x, n in product(OPERATIONS, SUMS, SIZES))


def twice() -> Iterator[Both]:
    """An operation on a sum that holds the result of another one."""
    insides = ((i * 4 + j - 1, 3), (i * 12 + k, 4), (k * 3 - i, 12), (i * 8 + k - 2, 40))
    for first, second, (x, n), m in product(OPERATIONS, OPERATIONS, insides, (4, 6)):
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
VARIABLES = (I, J, K, G, W)
IN_RANGE = ranges(frozenset(VARIABLES))


def check(x: Both, *facts: Fact) -> None:
    """All that `x` must satisfy; where guards are in force, the text still stands inside of them."""
    with assuming(*((f.x, a, b) for f, a, b in facts)):
        low, high = x.x.range
    c = CText(VARIABLES)
    _, printed = c.value(Text(True, Natives()).index(x.x))
    given = [*IN_RANGE, *(z3.And(f.z >= a, f.z <= b) for f, a, b in facts)]
    claims = [meaning(x.x) == x.z, x.z >= low, x.z <= high, *promises(x.x), printed == x.z, *c.obligations]
    PROOFS.prove(claims, *given)


SHAPES = {once: 595, twice: 400, put_together: 408, chosen: 153, views: 36}
#: parts of the shapes, drawn by lot: one is proved on every run
PARTS = 3


@pytest.mark.parametrize("part", sampled(range(PARTS), lambda part: part == 0))
@pytest.mark.parametrize("shapes", SHAPES, ids=lambda f: f.__name__)
def test_indices_keep_their_value_for_all_variables(shapes: Callable[[], Iterator[Both]], part: int) -> None:
    before, made = PROOFS.count, [*shapes()]
    Random(shapes.__name__).shuffle(made)
    made = made[part::PARTS]
    for x in made:
        check(x)
    assert len(made) >= SHAPES[shapes] // PARTS
    assert PROOFS.count - before >= 4 * len(made)


@pytest.mark.parametrize("guard", [(i * 4 + j, 0, 9), (i * 4 + j - 5, 0, 30), (k * -2 + i, 1, 3), (g * 4 + j, 7, 999)])
def test_what_guards_in_force_simplify_holds_inside_of_them(guard: Fact) -> None:
    fact, low, high = guard
    with assuming((fact.x, low, high)):
        sums = [fact * c + y for c, y in product((1, 2, -1), (number(-low), k - 3))]
        made = [op(x, n) for op, x, n in product(OPERATIONS, sums, (4, 10, 30))]
    for x in made:
        check(x, guard)


def test_two_guards_in_force_hold_together() -> None:
    guards = ((i * 4 + j, 3, 20), (k - j, 0, 2))
    with assuming(*((f.x, a, b) for f, a, b in guards)):
        made = [op(x, n) for op, x, n in product(OPERATIONS, (i * 4 + k, i * 4 + j * 2 - k), (4, 18))]
    for x in made:
        check(x, *guards)


def test_substituted_indices_are_those_of_the_values() -> None:
    values = {I: j.x * 3 - 2, K: index(4)}
    z_values = ((variable(I), j.z * 3 - 2), (variable(K), z3.IntVal(4)))
    given = [variable(J) >= 1]  # where the values are in the range of what they replace
    for op, x, n in product(OPERATIONS, SUMS, (3, 12)):
        y = op(x, n)
        into, wanted = y.x.substitute(values), z3.substitute(y.z, *z_values)
        PROOFS.prove([meaning(into) == wanted, *promises(into)], *IN_RANGE, *given)


# ---------------------------------------------------------------------------------------- where tiles lie inside


def test_only_the_tiles_called_inside_pass_their_test() -> None:
    for (e, n), bottom, c in product(((i * 3 + j - 2, 20), (j - i * 2 + 5, 9), (i * 4 + 3, 30)), (None, 0, -1), (1, 2)):
        at = i * c
        low, high = _passing(e.x, bottom, n, at.x, (0, 22))
        passes = z3.And(e.z < n, e.z >= bottom) if bottom is not None else e.z < n
        inside = z3.And(at.z >= low, at.z <= high)
        others = z3.ForAll([variable(J)], z3.Implies(z3.And(variable(J) >= 0, variable(J) < J.count), passes))
        if (e.x.coefficient(I) or 0) % c == 0:
            PROOFS.prove([z3.Implies(inside, passes), z3.Implies(others, inside)], *IN_RANGE)
        else:
            assert (low, high) == (0, 22), "what is not linear in the tile leaves all of them"


# ---------------------------------------------------------------------------------------- shared-out accumulators


def test_work_items_share_an_accumulator_out_one_to_one() -> None:
    x, y = Var("x", 8, "local"), Var("y", 4, "local", 1)
    a, b, c = Var("a", 3, "loop"), Var("b", 5, "loop"), Var("c", 4, "lane")
    for order in ((c, x, a, y, b), (x, c, y, b, a), (c, a, x, b, y), (b, a, c, y, x)):
        at, size = index(0), 1
        for v in order:
            at, size = at + index(v) * size, size * v.count
        layout = layout_of(at, size, frozenset((x, y)))
        assert layout is not None
        slot = layout.slot(at)
        assert slot is not None and layout.size == 60
        mine, place = meaning(at), meaning(slot)
        others = [(variable(v), z3.Int(v.name + "2")) for v in order]
        theirs, place2 = z3.substitute(mine, *others), z3.substitute(place, *others)
        given = ranges(frozenset(order))
        given += [z3.substitute(g, *others) for g in given]
        same_item = z3.And(variable(x) == z3.Int("x2"), variable(y) == z3.Int("y2"))
        claims = [within(place, 60), z3.Implies(mine == theirs, same_item)]
        PROOFS.prove([*claims, z3.Implies(z3.And(same_item, place == place2), mine == theirs)], *given)
        assert layout.slot(at + index(x)) is None  # another one's


# ---------------------------------------------------------------------------------------- what must be refuted


def test_wrong_rules_are_refuted_with_a_counterexample() -> None:
    a, b = z3.Ints("a b")
    assert counterexample((a + b) / 4 == a / 4 + b / 4, a >= 0, b >= 0) is not None
    assert counterexample((a * 3) / 6 == a / 3, a >= 0) is not None
    assert counterexample(truncated(a, z3.IntVal(4)) == a / 4) is not None
    assert counterexample(truncated(a, b) == floored(a, b), a < 0, b > 0) is not None
    assert counterexample((a % 6) % 4 == a % 4, a >= 0) is not None
    assert counterexample(clamped(a + 1, 9) == clamped(a, 9) + 1) is not None
    assert counterexample(reflected(a, 5) == a % 5) is not None
    assert counterexample(truncated(a, z3.IntVal(7)) == a / 7, a >= 0) is None


def test_a_wrong_index_bound_or_text_is_refuted() -> None:
    x = i * 4 + j - 1
    with pytest.raises(AssertionError, match="fails for"):
        Proofs().prove([meaning(x.x // 4) == x.z / 4 + 1], *IN_RANGE)
    c = CText(VARIABLES)
    c.value("(4*i + j - 1) / 4")  # divides -1
    assert counterexample(z3.And(*c.obligations), *IN_RANGE) is not None
    c = CText(VARIABLES)
    c.value("1024*g + 4*g")  # no long
    assert counterexample(z3.And(*c.obligations), *IN_RANGE) is not None


@pytest.mark.parametrize("cpu", [False, True])
@pytest.mark.parametrize("name", ["int", "long"])
def test_the_clamp_that_kernels_call_is_the_clamp(name: str, cpu: bool) -> None:
    """Comparisons, or what OpenCL defines as `min(max(i, 0), last)`."""
    text = Text(cpu, Natives())
    text.index((i * 4 + j - 9).x.clamp(12) if name == "int" else (w * 4 - 9).x.clamp(12))
    ((_, helper),) = text.helpers.items()
    value = "i < 0 ? 0 : i < last ? i : last" if cpu else f"clamp(i, ({name})0, last)"
    assert helper.endswith(f"({name} i, {name} last) {{ return {value}; }}")
    assert helper.startswith(f"{name} clamp_index")
    at, last = z3.Ints("at last")
    above = z3.If(at < 0, 0, at)
    printed = z3.If(at < 0, 0, z3.If(at < last, at, last)) if cpu else z3.If(last < above, last, above)
    PROOFS.prove([printed == z3.If(at < 0, 0, z3.If(at > last, last, at))], last >= 0)
