"""What a reduction reads, as arrays: the largest parts of its element that depend on fewer dimensions than all of it.

    sum_2 exp(A[0,2] - m[0]) * B[1,2]   ->   sum_2 E[0,2] * B[1,2],   E = [exp(A[0,1] - m[0])]

What is computed of one operand is then computed where it is staged, once for each element, not once for each pair.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from egglift.egraph.stages.as_pattern import computed, ordered
from egglift.egraph.stages.stage import Dim, Names, substituted
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import children, subterms
from egglift.ir.types import Scalar


@dataclass(frozen=True)
class Operand:
    """A closed array over `dims`; `at` stands for its element in a body."""

    array: Expr
    dims: tuple[Dim, ...]
    at: Expr


def operands_of(
    names: Names,
    body: Expr,
    dims: Sequence[Dim],
    given: Collection[p.Input] = frozenset(),
    narrow: Collection[Scalar] = (),
) -> list[Operand]:
    """The operands of a body, without the results of its reductions; their dimensions in the order of `dims`.

    given: reads that are operands of their own, as what is computed of them is computed where they are.
    narrow: types whose numbers are operands as they are where they are cast to others, which take more.
    """
    operands: dict[Expr, Operand] = {}
    whole = names.free(body)
    stack, seen = [body], set[Expr]()
    while stack:
        e = stack.pop()
        if e in seen:  # what is shared is looked at once
            continue
        seen.add(e)
        if isinstance(e, p.Cast) and type_of(e.x) in narrow:
            stack.append(e.x)
            continue
        free, reduced = names.free(e), names.has_reductions(e)
        if not free or e in operands or (reduced and isinstance(e, p.Input)):
            continue
        if isinstance(e, p.Input) and e in given:
            read = names.reads[e.name]
            operands[e] = Operand(read.view, read.dims, e)
            continue
        reduced = reduced or any(t in given for t in subterms(e))
        if not reduced and isinstance(type_of(e), Scalar) and (free < whole or isinstance(e, p.Input)):
            order = tuple(d for d in dims if d in free)
            operands[e] = Operand(_array(names, order, e), order, e)
        else:
            stack.extend(reversed(children(e)))
    return list(operands.values())


def _array(names: Names, dims: Sequence[Dim], e: Expr) -> Expr:
    """The array of an element over its dimensions: what is read, as it is."""
    read = names.reads.get(e.name) if isinstance(e, p.Input) else None
    return ordered(read, dims)[0] if read is not None else computed(names, dims, e)


def bound(body: Expr, operands: Sequence[Operand], elements: Sequence[Expr]) -> Expr:
    """`body` with expressions for the elements of its operands."""
    return substituted(body, {o.at: e for o, e in zip(operands, elements, strict=True)})
