"""Lengths that are known when a kernel is called, as numbers that know where they come from.

A `Length` is a Python number, one that a length may have, with the expression that it is the value of.  Arithmetic on
it gives Lengths; a comparison is decided by the numbers, and *recorded*: what a program over Lengths makes holds for
exactly those lengths for which all its recorded comparisons have the same outcome (its `Conditions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from math import ceil, floor, inf
from operator import eq, ge, le, ne
from random import Random
from typing import Any, TypeAlias

from egglift.ir.errors import ShapeError
from egglift.ir.length_forms import Form, Lengths, RunTimeLength, constant, length_form, named, operation

#: what a Length is to code that takes it for a plain number, and so would lose what it is: no place, size or float
ANY = 1 << 1100
LONG = 40  # characters of a name
SAMPLES = 16  # of lengths for which an equation must hold
#: of an expression with 0
RELATIONS: dict[str, Callable[[float], bool]] = {
    "==": lambda x: x == 0,
    "!=": lambda x: x != 0,
    "<": lambda x: x < 0,
    ">=": lambda x: x >= 0,
}


@dataclass(frozen=True)
class Condition:
    """`form relation number`, a condition on lengths; relation: `==`, `!=`, `<=` or `>=`."""

    form: Form
    relation: str
    number: int

    def holds(self, values: Lengths) -> bool:
        """Does it hold for these lengths?"""
        return COMPARED[self.relation](self.form.number(values), self.number)

    def __str__(self) -> str:
        return f"{self.form.inner} {self.relation} {self.number}"


COMPARED: dict[str, Callable[[int, int], bool]] = {"==": eq, "!=": ne, "<=": le, ">=": ge}


@dataclass
class Known:
    """What was found out about an expression: low <= it <= high, and which numbers it is not."""

    low: float = -inf
    high: float = inf
    excluded: set[int] = field(default_factory=set)

    def conditions(self, form: Form) -> Iterator[Condition]:
        """The same, one by one."""
        if self.low == self.high:
            yield Condition(form, "==", int(self.low))
            return
        if self.low > -inf:
            yield Condition(form, ">=", int(self.low))
        if self.high < inf:
            yield Condition(form, "<=", int(self.high))
        yield from (Condition(form, "!=", n) for n in sorted(self.excluded) if self.low <= n <= self.high)


_recorded: ContextVar[bool] = ContextVar("recorded", default=True)


@contextmanager
def unrecorded() -> Iterator[None]:
    """What is asked inside decides nothing of what is made, and is no condition."""
    token = _recorded.set(False)
    try:
        yield
    finally:
        _recorded.reset(token)


@dataclass(eq=False)
class Tracing:
    """Lengths at some numbers, and what was found out about them.

    names: what each length is called in text; taken: names of others; known: by expression without constant; written:
    the expressions that were written, by the name of each.
    """

    values: Lengths
    names: Mapping[str, str] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()
    known: dict[Form, Known] = field(default_factory=dict)
    written: dict[str, Form] = field(default_factory=dict)

    @property
    def conditions(self) -> list[Condition]:
        """Conditions under which everything that was decided is decided so."""
        return [c for form, known in self.known.items() for c in known.conditions(form)]

    def length(self, n: RunTimeLength) -> int:
        """A length at its number."""
        return self.of(length_form(n))

    def of(self, form: Form) -> int:
        """An expression over lengths; a plain number where it is one."""
        number = form.constant
        return Length(self, form) if number is None else number

    def decided(self, form: Form, relation: str) -> bool:
        """Is `form relation 0`?  What no bounds say is recorded."""
        outcome = by_bounds(form, relation)
        return self._asked(form, relation) if outcome is None else outcome

    def _asked(self, form: Form, relation: str) -> bool:
        rest, k, c = form.primitive  # form == k * rest + c
        known = self.known.setdefault(rest, Known()) if _recorded.get() else Known()
        n = rest.number(self.values)
        if relation in ("==", "!="):
            equal, place = k * n + c == 0, -c // k
            if equal:
                known.low = known.high = n
            elif c % k == 0 and known.low <= place <= known.high:
                known.excluded.add(place)
            return equal == (relation == "==")
        below = k * n + c < 0
        if (k > 0) == below:  # n <= the last one of which this is so
            known.high = min(known.high, (-c - 1) // k if below else -c // k if k > 0 else c // -k)
        else:
            known.low = max(known.low, c // -k + 1 if below else -(c // k))
        return below == (relation == "<")

    def surely(self, form: Form, relation: str) -> bool:
        """Is `form relation 0`, `<` or `>=`, as far as it is known already?  Nothing is recorded."""
        outcome = by_bounds(form, relation)
        if outcome is None:
            rest, k, c = form.primitive
            known = self.known.get(rest, Known())
            ends = (k * known.low + c, k * known.high + c)
            outcome = max(ends) < 0 if relation == "<" else min(ends) >= 0
        return outcome

    def fix(self, form: Form, number: int) -> None:
        """Something holds for this number only."""
        self.decided(form - constant(number), "==")

    def share(self, n: Length) -> int:
        """A length within a ratio, which is an estimate: no code may depend on it, and nothing is recorded."""
        return n.number

    def hold(self, values: Lengths) -> bool:
        """Do other lengths meet all conditions?"""
        return all(c.holds(values) for c in self.conditions)

    def text(self, form: Form) -> str:
        """A name for an expression: `n_minus_1`, `n_plus_3_by_4`."""
        name = named(form, self.names)
        name = f"size_{name}" if name[0].isdigit() else name
        if len(name) > LONG or name in self.taken or self.written.setdefault(name, form) != form:
            name = next(n for n in map("length{}".format, count()) if self.written.setdefault(n, form) == form)
        return name


class Declared(Tracing):
    """Lengths in the programs of users, which are to hold for all lengths: equal is what is equal for all.

    Other comparisons are decided by the length that kernels are chosen for.
    """

    def decided(self, form: Form, relation: str) -> bool:
        """Is `form relation 0`?  An equation: for all lengths."""
        outcome = by_bounds(form, relation)
        if outcome is None and relation in ("==", "!="):
            equal = all(form.number(Sample(i)) == 0 for i in range(SAMPLES))
            return equal == (relation == "==")
        return RELATIONS[relation](form.number(self.values)) if outcome is None else outcome

    def fix(self, form: Form, number: int) -> None:
        """A program holds for all lengths, and not for one number only."""
        raise ShapeError(f"{form.text} is known when the kernel is called, and is no number here; give a number")

    def share(self, n: Length) -> int:
        """As for `fix`."""
        self.fix(n.form, n.number)
        return n.number

    def text(self, form: Form) -> str:
        """As an expression of Python."""
        return form.text


class Liked(dict[RunTimeLength, int]):
    """The lengths that kernels are chosen for."""

    def __missing__(self, n: RunTimeLength) -> int:
        return n.liked


@dataclass(frozen=True)
class Sample(Mapping[RunTimeLength, int]):
    """Any lengths; the same number gives the same."""

    number: int

    def __getitem__(self, n: RunTimeLength) -> int:
        places = 1 << 20 if n.max is None else n.max - n.min + 1
        return n.nearest(n.min + Random(f"{n.name} {self.number}").randrange(places))

    def __iter__(self) -> Iterator[RunTimeLength]:
        return iter(())

    def __len__(self) -> int:
        return 0


#: what all programs of users are written over
DECLARED = Declared(Liked())


def by_bounds(form: Form, relation: str) -> bool | None:
    """Is `form relation 0`, as far as bounds say?"""
    low, high = form.bounds
    if relation in ("==", "!="):
        return (relation == "==") == (low == 0) if low == high or not low <= 0 <= high else None
    outcomes = {RELATIONS[relation](x) for x in (low, high)}
    return outcomes.pop() if len(outcomes) == 1 else None


Plain: TypeAlias = int | float


class Length(int):
    """A number with its expression over lengths; see above.

    Equal by number, which is recorded; as keys, Lengths of one expression and one tracing are the same, and differ from
    numbers.  `int(n)`, and whatever needs a number of this length only, records that it is this number.
    """

    tracing: Tracing
    form: Form
    number: int

    def __new__(cls, tracing: Tracing, form: Form) -> Length:
        made = int.__new__(cls, ANY)
        made.tracing, made.form, made.number = tracing, form, form.number(tracing.values)
        return made

    # ------------------------------------------------------------------------------------ arithmetic

    def _with(self, other: object, f: Callable[[Form, Form], Form]) -> Any:
        if isinstance(other, float):
            self.tracing.fix(self.form, self.number)
        form = _form_of(other)
        return NotImplemented if form is None else self.tracing.of(f(self.form, form))

    def __add__(self, other: int) -> Any:
        return self._with(other, lambda a, b: a + b)

    def __radd__(self, other: int) -> Any:
        return self._with(other, lambda a, b: b + a)

    def __sub__(self, other: int) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: int) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: int) -> Any:
        return self._with(other, lambda a, b: a * b)

    def __rmul__(self, other: int) -> Any:
        return self._with(other, lambda a, b: b * a)

    def __floordiv__(self, other: int) -> Any:
        return self._with(other, lambda a, b: self._quotient(a, b)[0])

    def __rfloordiv__(self, other: int) -> Any:
        return self._with(other, lambda a, b: self._quotient(b, a)[0])

    def __mod__(self, other: int) -> Any:
        return self._with(other, lambda a, b: self._quotient(a, b)[1])

    def __rmod__(self, other: int) -> Any:
        return self._with(other, lambda a, b: self._quotient(b, a)[1])

    def __divmod__(self, other: int) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: int) -> Any:
        return other // self, other % self

    def _quotient(self, a: Form, b: Form) -> tuple[Form, Form]:
        """Quotient and remainder: what divides, as a sum; of the rest, a number where its bounds say which."""
        if self.tracing.decided(b, "=="):
            raise ZeroDivisionError(f"{a.text} // {b.text}")
        whole, rest = a.divided(b)
        if (n := rest.constant) is not None and b.constant is None:  # of a number by a longer length: 0, recorded
            q = n // b.number(self.tracing.values)
            left = rest - constant(q) * b
            if q in (0, -1) and self.tracing.decided(left, ">=") and self.tracing.decided(left - b, "<"):
                return whole + constant(q), left
        low, high = rest.bounds
        if low >= 0 and self._is_below(rest, b):
            return whole, rest
        if (d := b.constant) is not None and d > 0 and low > float("-inf") and low // d == high // d:
            q = int(low // d)
            return whole + constant(q), rest - constant(q) * b
        return whole + operation("//", rest, b), operation("%", rest, b)

    def _is_below(self, a: Form, b: Form) -> bool:
        return (b - a).bounds[0] > 0

    def __neg__(self) -> Any:
        return self.tracing.of(-self.form)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def __lshift__(self, bits: int) -> Any:
        return self * (1 << bits)

    def __rshift__(self, bits: int) -> Any:
        return self // (1 << bits)

    def __truediv__(self, other: Plain) -> float:
        return self.tracing.share(self) / about(other)

    def __rtruediv__(self, other: Plain) -> float:
        return about(other) / self.tracing.share(self)

    def __round__(self, digits: object = None) -> Any:
        return self

    __floor__ = __ceil__ = __round__

    # ------------------------------------------------------------------------------------ comparisons

    def _is(self, other: object, relation: str, swapped: bool = False) -> Any:
        if isinstance(other, float):
            return _with_float(self, other, relation, swapped)
        form = _form_of(other)
        if form is None:
            return NotImplemented
        return self.tracing.decided(form - self.form if swapped else self.form - form, relation)

    def __lt__(self, other: Plain) -> Any:
        return self._is(other, "<")

    def __ge__(self, other: Plain) -> Any:
        return self._is(other, ">=")

    def __gt__(self, other: Plain) -> Any:
        return self._is(other, "<", swapped=True)

    def __le__(self, other: Plain) -> Any:
        return self._is(other, ">=", swapped=True)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Length) and other.tracing is not self.tracing:
            return False
        return self._is(other, "==")

    def __ne__(self, other: object) -> Any:
        if isinstance(other, Length) and other.tracing is not self.tracing:
            return True
        return self._is(other, "!=")

    def __hash__(self) -> int:
        return hash((id(self.tracing), self.form))

    def __bool__(self) -> bool:
        return self.tracing.decided(self.form, "!=")

    # ------------------------------------------------------------------------------------ as a number, as text

    def __int__(self) -> int:
        self.tracing.fix(self.form, self.number)
        return self.number

    __index__ = __int__
    __trunc__ = __int__

    def __float__(self) -> float:
        return float(int(self))

    def bit_length(self) -> int:
        """As of a number; that there are so many bits is recorded."""
        bits = self.number.bit_length()
        _ = abs(self) < 1 << bits and (not bits or abs(self) >= 1 << (bits - 1))
        return bits

    def __str__(self) -> str:
        return self.tracing.text(self.form)

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __reduce__(self) -> tuple[Any, ...]:
        return int, (int(self),)


def _form_of(x: object) -> Form | None:
    if isinstance(x, Length):
        return x.form
    return constant(int(x)) if isinstance(x, int) else None


def _with_float(n: Length, other: float, relation: str, swapped: bool) -> bool:
    """A comparison with a number that need not be whole, as one with a whole number."""
    if abs(other) == inf or other != other or (relation in ("==", "!=") and other != floor(other)):
        return RELATIONS[relation](other - n.number if swapped else n.number - other)
    return bool(n._is(floor(other) if swapped else ceil(other), relation, swapped))


def surely_less(a: int, b: int) -> bool:
    """Is `a < b`?  Of lengths, as far as it is known: nothing is recorded, and the answer may be no both ways."""
    difference = a - b
    return difference.tracing.surely(difference.form, "<") if isinstance(difference, Length) else difference < 0


def surely_equal(a: int, b: int) -> bool:
    """Is `a == b`?  Of lengths, for all of them: nothing is recorded."""
    if type(a) is type(b) is int:  # nearly always
        return a == b
    difference = a - b
    return by_bounds(difference.form, "==") is True if isinstance(difference, Length) else difference == 0


def upper(a: int, b: int) -> int:
    """The smaller of two upper bounds, as far as it is known which is; else the first.  Nothing is recorded."""
    return b if (b < a if type(a) is type(b) is int else surely_less(b, a)) else a


def lower(a: int, b: int) -> int:
    """The greater of two lower bounds, as far as it is known which is; else the first.  Nothing is recorded."""
    return b if (a < b if type(a) is type(b) is int else surely_less(a, b)) else a


def about(n: Plain) -> Plain:
    """A number for estimates: a length's, where it is traced.  Nothing is recorded: no code may depend on it."""
    return n.number if isinstance(n, Length) else n


def content(k: int) -> int:
    """The number that every length's expression `k` is a multiple of; 0 for numbers."""
    return abs(k.form.primitive[1]) if isinstance(k, Length) else 0


def by_size(k: int) -> tuple[bool, str, int]:
    """A key that sorts numbers by falling size, Lengths before them and by their text: it asks nothing of lengths."""
    return (False, str(k), 0) if isinstance(k, Length) else (True, "", -abs(k))


def divides(d: int, n: int, ask: bool) -> bool:
    """Does `d` divide `n`?  Of a Length that is not known to be such, it is asked, and recorded, if `ask`."""
    rest = n % d
    return rest == 0 if ask or not isinstance(rest, Length) else False


def gcd(a: int, b: int) -> int:
    """The greatest common divisor, as a number: which it is, is recorded."""
    lengths = [x for x in (a, b) if isinstance(x, Length)]
    while b and not lengths:
        a, b = b, a % b
    if not lengths:
        return abs(a)
    forms = [f for x in (a, b) if (f := _form_of(x)) is not None]
    form = operation("gcd", *forms)
    found = form.number(lengths[0].tracing.values)
    lengths[0].tracing.decided(form - constant(found), "==")
    return found
