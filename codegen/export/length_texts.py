"""Sizes over run-time lengths as text of the host's languages: sums of products, quotients and remainders.

`64*((n + 63) // 64)`   ->   `times(64, over(plus(n, 63), 64))` by functions of an exported program, which know of no
overflow and no division by zero; `64 * ((n + 63) / 64)` as a user of C would write it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import TypeAlias

from egglift.ir.length_forms import Atom, Form, Operation, RunTimeLength
from egglift.ir.lengths import Condition, Length

#: a number, or an expression over lengths
Size: TypeAlias = int | Form
#: what lengths are called, by their names in the program
LengthNames: TypeAlias = Mapping[str, str]
#: writes `a op b`
Binary: TypeAlias = Callable[[str, str, str], str]

FUNCTIONS = {"+": "plus", "*": "times", "//": "over", "%": "rest", "gcd": "common"}


def size_of(n: int) -> Size:
    """A number of a plan or a type as a size."""
    return n.form if isinstance(n, Length) else int(n)


def times(n: Size, k: int) -> Size:
    """`n` times the number `k`."""
    return n * k if isinstance(n, int) else Form(tuple((product, c * k) for product, c in n.terms)) if k else 0


def linear(size: Size, n: RunTimeLength) -> tuple[int, int] | None:
    """(k, c) of a size that is `k * (n // multiple) + c`, or None."""
    if isinstance(size, int) or size.lengths != {n}:
        return None
    terms = dict(size.terms)
    k, c = terms.pop((n,), 0), terms.pop((), 0)
    return None if terms or not k else (k, c)


def by_functions(size: Size, names: LengthNames) -> str:
    """`plus(n, times(2, m))`: by functions that an exported program has, the same in C and in Python."""
    return _text(size, names, lambda op, a, b: f"{FUNCTIONS[op]}({a}, {b})")


def by_operators(size: Size, names: LengthNames) -> str:
    """`(n + (2 * m))`, of lengths that are a `size_t`."""
    return _text(size, names, _operators)


def condition(c: Condition, names: LengthNames) -> str:
    """`n >= 64`, the same in C and in Python."""
    return f"{by_functions(c.form, names)} {c.relation} {c.number}"


def _operators(op: str, a: str, b: str) -> str:
    if op in ("//", "%") and not b.isdigit():
        return f"({b} ? {a} {op[0]} {b} : 0)"
    return f"({a} {op[0]} {b})"


def _text(size: Size, names: LengthNames, binary: Binary) -> str:
    if isinstance(size, int):
        return str(size)
    ordered = sorted(size.terms, key=lambda t: (not t[0], t[1] < 0))  # as texts of forms: numbers last
    return reduce(lambda a, b: binary("+", a, b), (_product(t, names, binary) for t in ordered)) if ordered else "0"


def _product(term: tuple[tuple[Atom, ...], int], names: LengthNames, binary: Binary) -> str:
    atoms, k = term
    found = []
    for a in atoms:
        whole = isinstance(a, Operation) or k % a.multiple == 0  # 4 quarters of a length are the length
        if whole and isinstance(a, RunTimeLength):
            k //= a.multiple
        found.append(_atom(a, whole, names, binary))
    factors = [str(k)] if k != 1 or not found else []
    return reduce(lambda a, b: binary("*", a, b), [*factors, *found])


def _atom(a: Atom, whole: bool, names: LengthNames, binary: Binary) -> str:
    if isinstance(a, Operation):
        return binary(a.op, _text(a.a, names, binary), _text(a.b, names, binary))
    return names[a.name] if whole else binary("//", names[a.name], str(a.multiple))
