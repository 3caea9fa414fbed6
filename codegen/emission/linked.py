"""Scans whose elements a work-group each computes: it adds up the totals of those before it, as they become known."""

from __future__ import annotations

from egglift.codegen.emission import assign
from egglift.codegen.emission.builder import Target
from egglift.codegen.emission.translator import Scope, Translator
from egglift.codegen.kernel.imperative import Buffer, Comment, Load, LookBack, ScalarValue
from egglift.codegen.kernel.views import Arr, View, Where, element, length
from egglift.codegen.terms import analysis
from egglift.ir import patterns as p
from egglift.ir.axes import element_type
from egglift.ir.check import type_of
from egglift.ir.errors import CodegenError
from egglift.ir.linked import kept_of, total_of
from egglift.ir.text import brief
from egglift.ir.traverse import subterms
from egglift.ir.types import I32, U64, Tuple

WORD = 4  # bytes of a value that a word carries, beside what says how far it goes


def into(em: Translator, t: p.ScanLinked, target: Target, scope: Scope) -> None:
    """Compute each element by a group, that which it takes from a counter when it starts."""
    n, total, kept = length(type_of(t.x)), total_of(t.body), kept_of(t.body)
    _require(em, t, n)
    em.put(Comment(f"scanLinked over {n}"))
    group = em.group_id(0)
    with em.running(groups=em.distribution.groups | {0}):
        carried = em.allocate(type_of(t.init), "local", "s", t)
        inside = em.entered((carried.view, element(em.view(t.x, scope), group)))
        em.prepare(analysis.read_nodes(total), inside)
        _look_back(em, t, n, (em.view(total, inside), carried.view), scope)
        em.prepare(analysis.entry_nodes(kept, target.space), inside)
        em.emit(kept, Target(element(target.view, group), target.space), inside)


def _require(em: Translator, t: p.ScanLinked, n: int) -> None:
    if not em.limits.progress:
        raise CodegenError(
            f"{brief(t)}: its groups wait for those that started before, which this device may not go on with; "
            "use several kernels"
        )
    if em.shape.groups != (n, 1, 1) or em.shape.local[1:] != (1, 1) or em.shape.warps:
        raise CodegenError(f"{brief(t)}: it takes {n} groups of one dimension, not {em.shape.groups}")
    before = p.Get(0, p.Arg(Tuple((type_of(t.init), element_type(t.x)))))
    if before in subterms(total_of(t.body)):
        raise CodegenError(f"{brief(t)}: the total of an element depends on what precedes it")


def _look_back(em: Translator, t: p.ScanLinked, n: int, views: tuple[View, View], scope: Scope) -> None:
    init = _scalars(em.view(t.init, scope))
    total, carried = map(_scalars, views)
    if any(v.type.size % WORD for v in init):
        raise CodegenError(f"{brief(t)}: groups tell each other values of 4 and 8 bytes; cast what is scanned")
    left, right = (em.allocate(type_of(t.init), "private", stem, t) for stem in ("before", "after"))
    with em.block() as combine, em.running(inside=True):
        assign.assign(em, right.view, em.value(t.op, (left.view, right.view)))
    words = sum(v.type.size // WORD for v in init)
    items = min(LookBack.MOST, em.shape.local[0])
    window, going = (Buffer(em.names.numbered("s"), "local", s, k) for s, k in ((U64, items * words), (I32, 1)))
    for buffer in (window, going):
        em.keep(buffer, t)
    em.put(
        LookBack(
            em.state(1 + n * words),
            em.group_id(0),
            tuple(total),
            _places(carried),
            tuple(init),
            (_buffers(left.view), _buffers(right.view)),
            tuple(combine),
            window,
            going,
            items,
        )
    )


def _scalars(v: View) -> list[ScalarValue]:
    if isinstance(v, tuple):
        return [s for item in v for s in _scalars(item)]
    assert not isinstance(v, Arr | Where)
    return [v]


def _places(values: list[ScalarValue]) -> tuple[Load, ...]:
    return tuple(v for v in values if isinstance(v, Load))


def _buffers(v: View) -> tuple[Buffer, ...]:
    return tuple(place.buffer for place in _places(_scalars(v)))
