"""Expressions over run-time lengths, in normal form: sums of products, with quotients and remainders as atoms.

Equal expressions have (nearly always) equal forms: `(n + 1) - 1` is `n`, and `(4*n + 3) // 4` is `n`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, inf
from typing import Any, TypeAlias

#: lowest and highest value, both included
Bounds: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class RunTimeLength:
    """A length that is known when a kernel is called: a multiple of `multiple` in min..max (None: as far as memory
    goes).  like: the lengths that kernels are chosen for: a call takes that for the nearest."""

    name: str
    min: int = 1
    max: int | None = None
    multiple: int = 1
    like: int | tuple[int, ...] = 1 << 20

    @property
    def text(self) -> str:
        """The atom's name: of a multiple of 4, it stands for a quarter."""
        return self.name if self.multiple == 1 else f"({self.name}//{self.multiple})"

    @cached_property
    def bounds(self) -> Bounds:
        """Bounds of the atom."""
        return -(-self.min // self.multiple), inf if self.max is None else self.max // self.multiple

    def number(self, values: Lengths) -> int:
        """The atom's number."""
        return values[self] // self.multiple

    def nearest(self, n: int) -> int:
        """A length near `n`."""
        below = (inf if self.max is None else self.max) // self.multiple
        return int(min(max(n // self.multiple, -(-self.min // self.multiple)), below)) * self.multiple

    @property
    def liked(self) -> int:
        """The length that kernels are chosen for; the first of several."""
        return self.likes[0]

    @property
    def likes(self) -> tuple[int, ...]:
        """All lengths that kernels are chosen for."""
        return tuple(map(self.nearest, self.like if isinstance(self.like, tuple) else (self.like,)))

    def has(self, n: int) -> bool:
        """Is `n` such a length?"""
        return n % self.multiple == 0 and self.min <= n <= (inf if self.max is None else self.max)


@dataclass(frozen=True)
class Operation:
    """`a // b`, `a % b` or `gcd(a, b)` that could not be simplified away."""

    op: str
    a: Form
    b: Form

    @cached_property
    def text(self) -> str:
        if self.op == "gcd":
            return f"gcd({self.a.text}, {self.b.text})"
        return f"({self.a.text} {self.op} {self.b.text})"

    @cached_property
    def bounds(self) -> Bounds:
        """What is known: a remainder is below its divisor, a quotient of what is not negative is no more than that."""
        low, high = self.a.bounds
        most = self.b.bounds[1]
        if self.op == "gcd":
            return 1, most
        if self.op == "%":
            return 0, min(most - 1, high) if low >= 0 else most - 1
        least = max(self.b.bounds[0], 1)
        if low < 0:
            return low, high if high >= 0 else -1
        return (low // most if most < inf else 0), (high // least if high < inf else inf)

    def number(self, values: Lengths) -> int:
        """Its number; a divisor of zero divides as 1, as there is nothing to be divided then."""
        return OPERATIONS[self.op](self.a.number(values), self.b.number(values))


#: a divisor of zero divides nothing: there is nothing to be divided then
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "//": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "gcd": math.gcd,
}

Atom: TypeAlias = RunTimeLength | Operation
#: numbers for lengths
Lengths: TypeAlias = Mapping[RunTimeLength, int]
Product: TypeAlias = tuple[Atom, ...]


@dataclass(frozen=True)
class Form:
    """A sum of products of atoms, each with its coefficient; the product of nothing is the constant."""

    terms: tuple[tuple[Product, int], ...]

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    def __hash__(self) -> int:
        return self._hash

    @property
    def constant(self) -> int | None:
        """The number that the form is, if it is one."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    @cached_property
    def bounds(self) -> Bounds:
        """Bounds of the sum, each product for itself."""
        low, high = _sum_bounds(self.terms)
        if any(_quotient(product) for product, _ in self.terms):
            low = max(low, ceil_of(_sum_bounds(self._relaxed(1))[0]))
            high = min(high, -ceil_of(-_sum_bounds(self._relaxed(-1))[1]))
        return low, high

    def _relaxed(self, sign: int) -> list[tuple[Product, Fraction]]:
        """The sum with `(a - d + 1) / d <= a // d <= a / d` for quotients: no more than it (sign 1), or no less."""
        sums: dict[Product, Fraction] = {}

        def add(terms: Sequence[tuple[Product, int]], times: Fraction) -> None:
            for product, k in terms:
                sums[product] = sums.get(product, Fraction(0)) + times * k

        for product, k in self.terms:
            if (q := _quotient(product)) is None:
                add([(product, k)], Fraction(1))
                continue
            a, d = q
            add(a.terms, Fraction(k, d))
            if (k > 0) == (sign > 0):
                add([((), 1 - d)], Fraction(k, d))
        return [(product, k) for product, k in sums.items() if k]

    def number(self, values: Lengths) -> int:
        """Its number, given those of the lengths."""
        return sum(k * math.prod(a.number(values) for a in product) for product, k in self.terms)

    @cached_property
    def lengths(self) -> frozenset[RunTimeLength]:
        """The lengths in it."""
        found: set[RunTimeLength] = set()
        for product, _ in self.terms:
            for a in product:
                found |= {a} if isinstance(a, RunTimeLength) else a.a.lengths | a.b.lengths
        return frozenset(found)

    @cached_property
    def primitive(self) -> tuple[Form, int, int]:
        """(rest, k, c) with self == k*rest + c: rest has no constant, no common divisor, and begins with a plus."""
        c = next((k for product, k in self.terms if not product), 0)
        rest = [(product, k) for product, k in self.terms if product]
        k = math.gcd(*(k for _, k in rest)) * (1 if rest[0][1] > 0 else -1)
        return Form(tuple((product, x // k) for product, x in rest)), k, c

    # ------------------------------------------------------------------------------------ text

    @cached_property
    def text(self) -> str:
        """The form as an expression of Python; a sum in parentheses."""
        return f"({self.inner})" if len(self.terms) > 1 or "-" in self.inner[:1] else self.inner

    @cached_property
    def inner(self) -> str:
        """The form as an expression of Python, a sum without parentheses."""
        found = ""
        for product, k in sorted(self.terms, key=lambda t: (not t[0], t[1] < 0)):
            text = _product_text(product, abs(k))
            sign = "-" if k < 0 else "+"
            found += f" {sign} {text}" if found else f"-{text}" if k < 0 else text
        return found or "0"

    # ------------------------------------------------------------------------------------ arithmetic

    def __add__(self, other: Form) -> Form:
        return _form([*self.terms, *other.terms])

    def __neg__(self) -> Form:
        return Form(tuple((product, -k) for product, k in self.terms))

    def __sub__(self, other: Form) -> Form:
        return self + -other

    def __mul__(self, other: Form) -> Form:
        return _form([(_sorted((*a, *b)), k * c) for a, k in self.terms for b, c in other.terms])

    def divided(self, other: Form) -> tuple[Form, Form]:
        """(q, r) with self == other*q + r, and no term in r that `other` divides, if it is a product."""
        if len(other.terms) != 1:
            return (ONE, ZERO) if self == other else (ZERO, self)
        ((by, d),) = other.terms
        whole, rest = list[tuple[Product, int]](), list[tuple[Product, int]]()
        for product, k in self.terms:
            left = _without(product, by)
            if left is None:
                rest.append((product, k))
                continue
            q = k // d if k * d >= 0 else -(-k // d)  # towards 0: what is smaller than `other` stays
            whole.append((left, q))
            rest.append((product, k - q * d))
        return _form(whole), _form(rest)


def constant(n: int) -> Form:
    """A number as a form."""
    return Form((((), n),) if n else ())


def length_form(n: RunTimeLength) -> Form:
    """A length as a form."""
    return Form((((n,), n.multiple),))


def operation(op: str, a: Form, b: Form) -> Form:
    """`a op b` as an atom; of what is negative, as of what is not: -a // d = -((a + d - 1) // d)."""
    if op == "//" and a.terms and all(k < 0 for _, k in a.terms):
        return -operation(op, b - a - ONE, b)
    return Form((((Operation(op, a, b),), 1),))


ZERO, ONE = Form(()), constant(1)


def _form(terms: list[tuple[Product, int]]) -> Form:
    sums: dict[Product, int] = {}
    for product, k in terms:
        sums[product] = sums.get(product, 0) + k
    return Form(tuple(sorted(((p, k) for p, k in sums.items() if k), key=lambda t: [a.text for a in t[0]])))


def _sorted(product: Product) -> Product:
    return tuple(sorted(product, key=lambda a: a.text))


def _without(product: Product, by: Product) -> Product | None:
    """A product without the atoms of another; None if they are not all in it."""
    left = list(product)
    for a in by:
        if a not in left:
            return None
        left.remove(a)
    return tuple(left)


def _quotient(product: Product) -> tuple[Form, int] | None:
    """(a, d) of a product that is `a // d`, for a number d."""
    match product:
        case (Operation("//", a, b),) if (d := b.constant) is not None:
            return a, d
    return None


def _sum_bounds(terms: Iterable[tuple[Product, int | Fraction]]) -> tuple[Any, Any]:
    low: Any = 0
    high: Any = 0
    for product, k in terms:
        least, most = _product_bounds(product)
        ends = (k * least if least else 0, k * most if most else 0)
        low, high = low + min(ends), high + max(ends)
    return low, high


def ceil_of(x: Any) -> Any:
    """`x` rounded up, unless it is infinite."""
    return x if abs(x) == inf else ceil(x)


def _product_bounds(product: Product) -> Bounds:
    low: float = 1
    high: float = 1
    for a in product:
        least, most = a.bounds
        ends = [x * y if x and y else 0 for x in (low, high) for y in (least, most)]
        low, high = min(ends), max(ends)
    return low, high


def _product_text(product: Product, k: int) -> str:
    """`3*n*m`; of lengths that are multiples, what is in `k` of these is in the lengths."""
    names = []
    for a in product:
        multiple = a.multiple if isinstance(a, RunTimeLength) else 1
        if k % multiple == 0:
            k //= multiple
            names.append(a.name if isinstance(a, RunTimeLength) else a.text)
        else:
            names.append(a.text)
    return "*".join([*([str(k)] if k != 1 or not names else []), *names])


_WORDS = {"//": "by", "%": "mod"}


def named(form: Form, names: Mapping[str, str]) -> str:
    """A form as an identifier, its lengths by their names: `n_minus_1`, `n_by_64_x64`, `n_plus_3_by_4`."""
    found = ""
    for product, k in sorted(form.terms, key=lambda t: (not t[0], t[1] < 0)):
        multiple = math.prod(a.multiple for a in product if isinstance(a, RunTimeLength))
        whole = k % multiple == 0  # n*m is 16 quarters of both
        times = abs(k) // multiple if whole else abs(k)
        parts = [_atom_name(a, names, whole) for a in product]
        text = "_".join([*parts, *([f"x{times}"] if times != 1 else [])]) if product else str(times)
        sign = "minus" if k < 0 else "plus"
        found += f"_{sign}_{text}" if found else f"minus_{text}" if k < 0 else text
    return found


def _atom_name(a: Atom, names: Mapping[str, str], whole: bool) -> str:
    if isinstance(a, Operation):
        first, second = named(a.a, names), named(a.b, names)
        return f"gcd_{first}_{second}" if a.op == "gcd" else f"{first}_{_WORDS[a.op]}_{second}"
    name = names.get(a.name, a.name)
    return name if whole or a.multiple == 1 else f"{name}_by_{a.multiple}"


def atoms(form: Form) -> Iterator[Atom]:
    """The atoms of a form, without those within them."""
    for product, _ in form.terms:
        yield from product
