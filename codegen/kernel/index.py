"""Index arithmetic: linear forms over variables of known range, simplified on construction.

Lengths are numbers by the time code is generated, so an index is `constant + sum(coefficient * atom)`.  An atom is
a variable, or a quotient, remainder, clamp, choice or loaded number that could not be simplified away.  Division
and remainder have floor semantics; their operands are kept non-negative, so that the printer may use `/` and `%`.
Equal indices are (nearly always) equal objects, which is what makes accesses comparable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

from egglift.ir.kept import hashed_once, kept
from egglift.ir.lengths import Length, gcd, lower, surely_equal, surely_less, upper

ROLES = ("workgroup", "local", "global", "lane", "warp", "loop", "data", "launch")
#: those of variables that differ between the work-items of a group
OWN = ("local", "global", "warp", "lane")


@hashed_once
@dataclass(frozen=True)
class Var:
    """A variable with `0 <= value < count`.  role: who gives it its value, one of ROLES; dim: of an OpenCL id."""

    name: str
    count: int
    role: str
    dim: int = 0

    @property
    def key(self) -> str:
        return self.name

    @property
    def range(self) -> tuple[int, int]:
        # of no values none is used; a plain number is asked for most
        return 0, max(self.count - 1, 0) if type(self.count) is int else lower(self.count - 1, 0)

    def variables(self) -> frozenset[Var]:
        return frozenset((self,))


@hashed_once
@dataclass(frozen=True)
class Quotient:
    """`x / divisor` for an x >= 0."""

    x: Index
    divisor: int

    @kept
    def key(self) -> str:
        return f"({self.x.key}/{self.divisor})"

    @property
    def range(self) -> tuple[int, int]:
        low, high = self.x.range
        return low // self.divisor, high // self.divisor

    def variables(self) -> frozenset[Var]:
        return self.x.variables()


@hashed_once
@dataclass(frozen=True)
class Remainder:
    """`x % divisor` for an x >= 0."""

    x: Index
    divisor: int

    @kept
    def key(self) -> str:
        return f"({self.x.key}%{self.divisor})"

    @property
    def range(self) -> tuple[int, int]:
        return 0, upper(self.divisor - 1, lower(self.x.range[1], 0))

    def variables(self) -> frozenset[Var]:
        return self.x.variables()


@hashed_once
@dataclass(frozen=True)
class Clamp:
    """x moved into 0..high."""

    x: Index
    high: int

    @kept
    def key(self) -> str:
        return f"clamp({self.x.key},{self.high})"

    @property
    def range(self) -> tuple[int, int]:
        low, high = self.x.range
        return lower(0, upper(low, self.high)) if low > 0 else 0, upper(self.high, max(high, 0))

    def variables(self) -> frozenset[Var]:
        return self.x.variables()


@hashed_once
@dataclass(frozen=True)
class Choice:
    """`0 <= test < n ? inside : outside`.  limit: if given, the result is known to be in 0..limit-1."""

    test: Index
    n: int
    inside: Index
    outside: Index
    limit: int | None = None

    @kept
    def key(self) -> str:
        return f"choice({self.test.key},{self.n},{self.inside.key},{self.outside.key})"

    @property
    def range(self) -> tuple[int, int]:
        with assuming((self.test, 0, self.n - 1)):
            a = self.inside.range
        b = self.outside.range
        low, high = min(a[0], b[0]), max(a[1], b[1])
        return (low, high) if self.limit is None else (max(low, 0), upper(self.limit - 1, high))

    def variables(self) -> frozenset[Var]:
        return self.test.variables() | self.inside.variables() | self.outside.variables()


@dataclass(frozen=True, eq=False)
class Data:
    """An integer computed from memory (a `Value` of kernel/imperative.py), in low..high.  Compared by identity."""

    value: object
    low: int
    high: int
    depends: frozenset[Var] = frozenset()
    serial: int = 0

    @property
    def key(self) -> str:
        return f"data{self.serial}"

    @property
    def range(self) -> tuple[int, int]:
        return self.low, self.high

    def variables(self) -> frozenset[Var]:
        return self.depends


Atom: TypeAlias = Var | Quotient | Remainder | Clamp | Choice | Data
#: a guard in force: low <= index <= high holds where code is being generated
Fact: TypeAlias = "tuple[Index, int, int]"

_facts: ContextVar[tuple[Fact, ...]] = ContextVar("facts", default=())


@contextmanager
def assuming(*facts: Fact) -> Iterator[None]:
    """Indices built or bounded inside may use that `low <= index <= high` for each of `facts`."""
    known = _facts.get()
    with _knowing(known + tuple(f for f in facts if f[0].terms and f not in known)):
        yield


def guards_in_force() -> int:
    """How many facts are assumed here."""
    return len(_facts.get())


def regardless() -> AbstractContextManager[None]:
    """What is computed inside holds whatever guards are in force."""
    return _knowing(())


@contextmanager
def _knowing(facts: tuple[Fact, ...]) -> Iterator[None]:
    """These facts and no others are used inside."""
    token = _facts.set(facts)
    try:
        yield
    finally:
        _facts.reset(token)


_as_written: ContextVar[bool] = ContextVar("as_written", default=False)


@contextmanager
def as_written() -> Iterator[None]:
    """Quotients and remainders that are built inside stay as they are written: it shows what simplifying is worth."""
    token = _as_written.set(True)
    try:
        yield
    finally:
        _as_written.reset(token)


def is_simplifying() -> bool:
    """Are indices simplified here?"""
    return not _as_written.get()


@hashed_once
@dataclass(frozen=True)
class Index:
    """`constant + sum(coefficient * atom for atom, coefficient in terms)`; terms in the order of their keys."""

    terms: tuple[tuple[Atom, int], ...] = ()
    constant: int = 0

    def __init__(self, terms: tuple[tuple[Atom, int], ...] = (), constant: int = 0) -> None:
        own = self.__dict__  # as dataclasses do, in half the time: hundreds of thousands are made in a search
        own["terms"], own["constant"] = terms, constant

    @kept
    def key(self) -> str:
        """A text that identifies this index."""
        return "+".join([*(f"{k}*{a.key}" for a, k in self.terms), str(self.constant)])

    @kept
    def _coefficients(self) -> dict[Atom, int]:
        return dict(self.terms)

    @property
    def range(self) -> tuple[int, int]:
        """Bounds (low, high), both included, under the guards in force."""
        return _bounds(self) if _facts.get() else self.widest

    @kept
    def widest(self) -> tuple[int, int]:
        """Bounds (low, high), both included, whatever guards are in force."""
        if not _facts.get():
            return _bounds(self)
        with _knowing(()):
            return _bounds(self)

    def coefficient(self, var: Var) -> int | None:
        """How much the index grows with `var`; None if that is not linear (var inside a quotient, ...)."""
        if any(var in a.variables() for a, _ in self.terms if not isinstance(a, Var)):
            return None
        return self._coefficients.get(var, 0)

    def variables(self) -> frozenset[Var]:
        """All variables that the index depends on."""
        return self._variables

    @kept
    def _variables(self) -> frozenset[Var]:
        return frozenset([v for a, _ in self.terms for v in a.variables()])

    @kept
    def has_lane(self) -> bool:
        """Does it differ between the lanes of a vector?"""
        return any(v.role == "lane" for v in self._variables)

    @kept
    def data(self) -> tuple[Data, ...]:
        """The loaded numbers in it, in order."""
        return tuple([d for a, _ in self.terms for d in _data_of(a)])

    # ------------------------------------------------------------------------------------ arithmetic

    def __add__(self, other: Index | Atom | int) -> Index:
        if isinstance(other, int):
            return self if surely_equal(other, 0) else Index(self.terms, self.constant + other)
        o = other if type(other) is Index else index(other)
        if not (self.terms and o.terms):
            return Index(self.terms or o.terms, self.constant + o.constant)
        sums = dict(self.terms)
        for a, k in o.terms:
            sums[a] = sums.get(a, 0) + k
        return _make(sums, self.constant + o.constant)

    __radd__ = __add__

    def __mul__(self, k: int) -> Index:
        if surely_equal(k, 1):
            return self
        return ZERO if surely_equal(k, 0) else Index(tuple([(a, c * k) for a, c in self.terms]), self.constant * k)

    __rmul__ = __mul__

    def __sub__(self, other: Index | Atom | int) -> Index:
        return self + (-other if isinstance(other, int) else index(other) * -1)

    def __rsub__(self, other: int) -> Index:
        return self * -1 + other

    def __floordiv__(self, d: int) -> Index:
        """Floor of self / d, for d > 0."""
        if d == 1:
            return self
        if self.terms and not is_simplifying():
            lift = -(min(self.range[0], 0) // d)
            return Index(((Quotient(self + lift * d, d), 1),)) - lift
        q, r = self._split(d)
        if not r.terms:
            return q
        low, high = r.range
        if low // d == high // d:
            return q + low // d
        if low < 0:
            lift = -(low // d)
            return q + Index(((Quotient(r + lift * d, d), 1),)) - lift
        if grouped := r._groups(d):
            g, outer, _ = grouped
            return q + outer // (d // g)
        if single := r._single():
            if isinstance(single, Quotient):
                return q + single.x // (single.divisor * d)
            if isinstance(single, Remainder) and single.divisor % d == 0:
                return q + (single.x // d) % (single.divisor // d)
        return q + Index(((Quotient(r, d), 1),))

    def __mod__(self, d: int) -> Index:
        """self - d * (self // d), for d > 0."""
        if d == 1:
            return ZERO
        if self.terms and not is_simplifying():
            lift = -(min(self.range[0], 0) // d)
            return Index(((Remainder(self + lift * d, d), 1),))
        _, r = self._split(d)
        if not r.terms:
            return r
        low, high = r.range
        if low // d == high // d:
            return r - (low // d) * d
        if low < 0:
            return Index(((Remainder(r - (low // d) * d, d), 1),))
        if grouped := r._groups(d):
            g, outer, inner = grouped
            return (outer % (d // g)) * g + inner
        single = r._single()
        if isinstance(single, Remainder) and single.divisor % d == 0:
            return single.x % d
        return Index(((Remainder(r, d), 1),))

    def clamp(self, n: int, ask: bool = True) -> Index:
        """self moved into 0..n-1 (n >= 1).  ask: of lengths, decide whether it is there anyway if that is not known."""
        low, high = self.range
        if low >= 0 and (surely_less(high, n) or (ask and high < n)):
            return self
        if not ask and any(isinstance(x, Length) for x in (low, high, n)):
            return Index(((Clamp(self, n - 1), 1),))
        if high <= 0:
            return ZERO
        if low >= n - 1:
            return Index((), n - 1)
        return Index(((Clamp(self, n - 1), 1),))

    def substitute(self, values: Mapping[Var, Index | int]) -> Index:
        """self with variables replaced, simplified again; loaded numbers (Data) are left as they are."""
        if self._variables.isdisjoint(values):
            return self
        kept, constant, changed = [], self.constant, []
        for a, k in self.terms:
            if a.variables().isdisjoint(values):
                kept.append((a, k))
            elif isinstance(a, Var) and isinstance(number := values[a], int):
                constant += number * k
            else:
                changed.append((a, k))
        result = Index(tuple(kept), constant)
        for a, k in changed:
            result = result + _substituted(a, values) * k
        return result

    # ------------------------------------------------------------------------------------ parts

    def _split(self, d: int) -> tuple[Index, Index]:
        """(q, r) with self == d*q + r, no coefficient of r divisible by d and 0 <= r.constant < d."""
        whole = tuple([(a, k // d) for a, k in self.terms if k % d == 0])
        rest = tuple([(a, k) for a, k in self.terms if k % d])
        return Index(whole, self.constant // d), Index(rest, self.constant % d)

    def _groups(self, d: int) -> tuple[int, Index, Index] | None:
        """The largest g | d with self == g*outer + inner and 0 <= inner < g."""
        for g in sorted({gcd(k, d) for _, k in self.terms} - {1}, reverse=True):
            outer, inner = self._split(g)
            low, high = inner.range
            if outer.terms and low >= 0 and high < g:
                return g, outer, inner
        return None

    def _single(self) -> Atom | None:
        """The atom that this index consists of, if it does."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and self.constant == 0:
            return self.terms[0][0]
        return None


ZERO = Index()


def index(x: Index | Atom | int) -> Index:
    """`x` as an index."""
    if isinstance(x, Index):
        return x
    return Index((), x) if isinstance(x, int) else Index(((x, 1),))


def choose(test: Index, n: int, inside: Index, outside: Index, limit: int | None = None, ask: bool = True) -> Index:
    """`0 <= test < n ? inside : outside`, decided here if the bounds of `test` allow it.

    limit: if given, the result is known to be in 0..limit-1.  ask: of lengths, decide what is not known.
    """
    low, high = test.range
    if not ask and any(isinstance(x, Length) for x in (low, high, n)):
        return Index(((Choice(test, n, inside, outside, limit), 1),))
    if low >= 0 and high < n:
        return inside
    if high < 0 or low >= n or inside == outside:
        return outside
    return Index(((Choice(test, n, inside, outside, limit), 1),))


def _data_of(a: Atom) -> tuple[Data, ...]:
    match a:
        case Var():
            return ()
        case Data():
            return (a,)
        case Choice(test, _, inside, outside):
            return *test.data, *inside.data, *outside.data
        case _:
            return a.x.data


def _substituted(a: Atom, values: Mapping[Var, Index | int]) -> Index:
    match a:
        case Var():
            return index(values[a]) if a in values else index(a)
        case Data():
            return index(a)
        case Choice(test, n, inside, outside, limit):
            test, inside, outside = (x.substitute(values) for x in (test, inside, outside))
            return choose(test, n, inside, outside, limit, ask=False)
        case _:
            x = a.x.substitute(values)
            if isinstance(a, Clamp):
                return x.clamp(a.high + 1, ask=False)
            return x // a.divisor if isinstance(a, Quotient) else x % a.divisor


def _make(sums: dict[Atom, int], constant: int) -> Index:
    """Normal form, with d*(x/d) + x%d put together to x."""
    for a in [a for a in sums if type(a) is Remainder and is_simplifying()]:
        k = sums.get(a, 0)
        if not k:
            continue
        whole = a.x // a.divisor
        parts = [(b, c * k * a.divisor) for b, c in whole.terms]
        if parts and all(sums.get(b) == c for b, c in parts):
            for b in (a, *(b for b, _ in parts)):
                del sums[b]
            rest = _make(sums, constant - whole.constant * k * a.divisor)
            return rest + a.x * k
    terms = [(a, k) for a, k in sums.items() if (k if type(k) is int else not surely_equal(k, 0))]
    if len(terms) > 1:
        terms.sort(key=lambda t: t[0].key)
    return Index(tuple(terms), constant)


def _bounds(x: Index) -> tuple[int, int]:
    low = high = x.constant
    if not x.terms:
        return low, high
    for a, k in x.terms:
        first, last = a.range
        low += k * (first if k > 0 else last)
        high += k * (last if k > 0 else first)
    facts = _facts.get()
    for position, (e, at_least, at_most) in enumerate(facts):
        a, c = e.terms[0]
        k = x._coefficients.get(a, 0)
        if not k or k % c:
            continue
        m = k // c  # x == m*e + rest
        # what is within the rest must not use the fact again: `e` may hold a quotient or a choice of what it bounds
        with _knowing(facts[:position] + facts[position + 1 :]):
            first, last = _bounds(_difference(x, e, m))
        low = lower(low, first + (m * at_least if m > 0 else m * at_most))
        high = upper(high, last + (m * at_most if m > 0 else m * at_least))
    return low, max(low, high)


def _difference(x: Index, e: Index, m: int) -> Index:
    sums = dict(x.terms)
    for a, k in e.terms:
        sums[a] = sums.get(a, 0) - m * k
    return Index(tuple((a, k) for a, k in sums.items() if not surely_equal(k, 0)), x.constant - m * e.constant)
