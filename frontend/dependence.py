"""Which iterations touch the same element, exactly: integer sets, asked whether they are empty."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import islpy

from egglift.frontend.nest import Affine, Loop, Read, Statement, form_of


def common(a: Statement, b: Statement) -> tuple[Loop, ...]:
    """The loops around both."""
    found = []
    for x, y in zip(a.loops, b.loops, strict=False):
        if x is not y:
            break
        found.append(x)
    return tuple(found)


def conflict(a: Statement, ra: Read, b: Statement, rb: Read, fixed: Iterable[Loop], carrier: Loop | None) -> bool:
    """Does `a`, at some iteration, touch by `ra` an element that `b` touches by `rb` at a later one?

    carrier: the loop that says that it is later: those around it have the same count.  None: all common loops have, and
    `a` stands before `b`.  fixed: loops that have the same count in any case.
    """
    if ra.array != rb.array:
        return False
    both = common(a, b)
    if carrier is None:
        if a.order[: len(both) + 1] >= b.order[: len(both) + 1]:
            return False
        relations = [f"a{k} = b{k}" for k in range(len(both))]
    else:
        at = both.index(carrier)
        relations = [f"a{k} = b{k}" for k in range(at)] + [f"a{at} < b{at}"]
        relations += [f"a{k} = b{k}" for k in range(len(both)) if both[k] in set(fixed)]
    for x, y in zip(ra.at, rb.at, strict=True):
        f, g = form_of(x), form_of(y)
        if f is not None and g is not None:  # others may be any element
            relations.append(f"{_text(f, a, 'a')} = {_text(g, b, 'b')}")
    names = [f"a{k}" for k in range(len(a.loops))] + [f"b{k}" for k in range(len(b.loops))]
    return not _is_empty(names, [*_domain(a, "a"), *_domain(b, "b"), *relations])


def is_covered(s: Statement, read: Read, writes: Sequence[Statement], loop: Loop | None) -> bool:
    """Has each element, when `s` reads it, been written before in the same iteration of a loop?  None: at all."""
    if any(form_of(e) is None for e in (*read.at, *(e for w in writes for e in w.target.at))):
        return loop is None  # which elements these are is not known
    left = islpy.Set(_set_text(s, []))
    for w in writes:
        both = common(s, w)
        first = 0 if loop is None else both.index(loop) + 1
        for level in range(first, len(both) + 1):
            if level == len(both) and w.order[: level + 1] >= s.order[: level + 1]:
                continue
            relations = [f"a{k} = b{k}" for k in range(level)] + ([f"b{level} < a{level}"] if level < len(both) else [])
            for x, y in zip(read.at, w.target.at, strict=True):
                f, g = form_of(x), form_of(y)
                assert f is not None and g is not None
                relations.append(f"{_text(f, s, 'a')} = {_text(g, w, 'b')}")
            names = ", ".join(f"b{k}" for k in range(len(w.loops)))
            inner = " and ".join([*_domain(w, "b"), *relations]) or "true"
            left = left.subtract(islpy.Set(_set_text(s, [f"exists ({names} : {inner})"] if names else [inner])))
    return bool(left.is_empty())


def _set_text(s: Statement, more: Sequence[str]) -> str:
    names = ", ".join(f"a{k}" for k in range(len(s.loops)))
    return f"{{ [{names}] : {' and '.join([*_domain(s, 'a'), *more]) or 'true'} }}"


def is_later(a: Statement, b: Statement, fixed: Iterable[Loop]) -> list[Loop | None]:
    """What may make `b` later than `a`: a common loop that is not fixed, or the text (None)."""
    return [*(d for d in common(a, b) if d not in set(fixed)), None]


@cache
def _is_empty_set(text: str) -> bool:
    return bool(islpy.BasicSet(text).is_empty())


def _is_empty(names: Sequence[str], constraints: Sequence[str]) -> bool:
    return _is_empty_set(f"{{ [{', '.join(names)}] : {' and '.join(constraints) or 'true'} }}")


def _domain(s: Statement, letter: str) -> list[str]:
    ranges = [f"0 <= {letter}{k} < {d.extent}" for k, d in enumerate(s.loops)]
    return ranges + [f"{_text(g, s, letter)} >= 0" for g in s.guards]


def _text(form: Affine, s: Statement, letter: str) -> str:
    terms = [f"{c}*{letter}{s.loops.index(d)}" for d, c in form.terms]
    return " + ".join([str(form.constant), *terms])


def extremes(s: Statement, form: Affine) -> tuple[int, int] | None:
    """The least and the largest value of a form over the iterations of a statement; None if there are none."""
    if not s.guards:
        return form.range
    names = [f"a{k}" for k in range(len(s.loops))]
    text = f"{{ [{', '.join(names)}] : {' and '.join(_domain(s, 'a')) or 'true'} }}"
    if _is_empty_set(text):
        return None
    values = (
        islpy.Map(f"{{ [{', '.join(names)}] -> [{_text(form, s, 'a')}] }}").intersect_domain(islpy.Set(text)).range()
    )
    return values.dim_min_val(0).to_python(), values.dim_max_val(0).to_python()


def is_empty(s: Statement) -> bool:
    """Does a statement never run?"""
    return extremes(s, Affine(0)) is None
