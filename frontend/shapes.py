"""Lengths of arrays that a pointer leaves open, and rows that a subscript such as `i*w + k` hides (delinearisation).

float *A;  A[i*w + k]  with 0 <= k < w for all iterations   ->   A[i][k], of rows of w
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from egglift.frontend.accesses import Access, accesses
from egglift.frontend.dependence import extremes
from egglift.frontend.nest import Affine, CExpr, Index, Read, Statement, form_of, rewritten
from egglift.frontend.places import refused
from egglift.frontend.variables import Variable
from egglift.ir.types import I64


def shaped(
    statements: Sequence[Statement], variables: Mapping[str, Variable], sizes: Mapping[str, Any], file: str
) -> tuple[list[Statement], dict[str, tuple[int, ...]]]:
    """The statements over arrays whose lengths are known, and these; an error where an access is outside of one."""
    found = list(statements)
    shapes: dict[str, tuple[int, ...]] = {}
    for name, v in variables.items():
        mine = [a for a in accesses(found) if a.read.array == name]
        own = tuple(d.extent for d in v.loops)
        given = sizes.get(v.title) if v.given and v.shape else None
        declared = _declared(v, given)
        if len(v.shape) == 1 and not v.loops and mine and (rows := _rows(mine, v, declared)):
            found = [_split(s, name, rows) for s in found]
            mine = [a for a in accesses(found) if a.read.array == name]
            declared = (None if declared[0] is None else declared[0] // _volume(rows), *rows)
        shapes[name] = own + _lengths(mine, v, declared, len(own), file)
    return found, shapes


def _declared(v: Variable, given: Any) -> tuple[int | None, ...]:
    """What the declaration says, or `sizes={"A": (m, k)}`."""
    if given is None:
        return v.shape
    lengths = tuple(given) if isinstance(given, tuple | list) else (given,)
    if len(lengths) != len(v.shape):
        if len(v.shape) == 1 and None not in lengths:
            return (_volume(lengths),)
        refused(v.at, f"sizes has {len(lengths)} lengths for {v.title}, which has {len(v.shape)} subscripts")
    return lengths


def _lengths(mine: list[Access], v: Variable, declared: tuple[int | None, ...], own: int, file: str) -> tuple[int, ...]:
    """Each length that is open is as small as the accesses allow; all accesses are checked."""
    found = []
    for axis, length in enumerate(declared):
        ends = [(a, extremes(a.statement, form)) for a in mine if (form := form_of(a.read.at[own + axis])) is not None]
        most = max((e[1] for _, e in ends if e), default=0)
        if length is None and any(form_of(a.read.at[own + axis]) is None for a in mine):
            refused(v.at, f"how long {v.title} is, is not known: give sizes={{{v.title!r}: ...}}", file)
        found.append(most + 1 if length is None else length)
        for a, e in ends:
            if e and not (e[0] >= 0 and e[1] < found[-1]):
                refused(
                    a.read.place,
                    f"{a.read} reaches from {e[0]} to {e[1]}, but {v.title} has {found[-1]} elements there",
                    file,
                )
    return tuple(found)


# ---------------------------------------------------------------------------------------- delinearisation


def _rows(mine: list[Access], v: Variable, declared: tuple[int | None, ...]) -> tuple[int, ...]:
    """The lengths of the inner axes that all subscripts show, outermost first; none if they show no rows."""
    forms = [form_of(a.read.at[0]) for a in mine]
    if any(f is None for f in forms):
        return ()
    kept = [f for f in forms if f is not None]
    strides = sorted({abs(c // d.step) for f in kept for d, c in f.terms if c % d.step == 0} - {0, 1}, reverse=True)
    while strides:
        chained = all(a % b == 0 for a, b in pairwise(strides))
        fits = declared[0] is None or declared[0] % strides[0] == 0
        if chained and fits and all(_digits(f, strides) is not None for f in kept):
            return tuple(a // b for a, b in zip(strides, [*strides[1:], 1], strict=True))
        strides.pop()
    return ()


def _digits(form: Affine, strides: Sequence[int]) -> list[Affine] | None:
    """A subscript as one for each axis, all but the first within its row; None if it leaves one."""
    found = []
    rest = form
    for k, stride in enumerate(strides):
        mine = tuple((d, c) for d, c in rest.terms if c % stride == 0)
        others = Affine(0, tuple((d, c) for d, c in rest.terms if c % stride))
        low, _ = others.range
        whole = (rest.constant + low) // stride
        found.append(Affine(whole, tuple((d, c // stride) for d, c in mine)))
        rest = Affine(rest.constant - whole * stride, others.terms)
        if k + 1 == len(strides) and not 0 <= rest.range[0] <= rest.range[1] < stride:
            return None
        if not 0 <= rest.range[0] <= rest.range[1] < stride:
            return None
    return [*found, rest]


def _split(s: Statement, name: str, rows: tuple[int, ...]) -> Statement:
    strides = [_volume(rows[k:]) for k in range(len(rows))]

    def change(e: CExpr) -> CExpr | None:
        if not isinstance(e, Read) or e.array != name:
            return None
        form = form_of(e.at[0])
        digits = _digits(form, strides) if form is not None else None
        assert digits is not None
        return Read(name, tuple(Index(d, I64) for d in digits), e.type, e.place)

    memo: dict[int, CExpr] = {}
    target = rewritten(s.target, change, memo)
    assert isinstance(target, Read)
    return replace(s, target=target, value=rewritten(s.value, change, memo))


def _volume(lengths: Sequence[int]) -> int:
    product = 1
    for n in lengths:
        product *= n
    return product
