"""Where kernels end: the parts of a term that kernels of their own compute, and what a kernel computes first."""

from __future__ import annotations

from egglift.codegen.kernel.views import number, volume
from egglift.codegen.terms import analysis
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.named_states import states_in
from egglift.ir.patterns import Expr
from egglift.ir.traverse import bodies, children, is_closed, subterms

#: closed values that are read and take more steps than this are computed once, in a kernel of their own
SMALL = 256


def is_launched(t: Expr) -> bool:
    """Is `t` a loop whose steps are launched: an iteration of the whole grid, or one with names for its state?"""
    if isinstance(t, p.Iterate):
        return analysis.shares_grid(t.body)
    return isinstance(t, p.Fold | p.ScanSeq) and bool(states_in(t.body))


def boundaries(term: Expr) -> list[Expr]:
    """The closed parts of a kernel's term that kernels of their own compute, outermost ones only."""
    if not _holds_steps(term):
        return []
    parallel = analysis.shares_grid(term)
    found: dict[Expr, None] = {}
    seen: set[tuple[Expr, bool, bool]] = set()
    stack = [(term, True, False)]  # a term, is it in result position, is it in a body
    while stack:
        t, result, inside = stack.pop()
        if (t, result, inside) in seen:
            continue
        seen.add((t, result, inside))
        if is_closed(t) and (is_launched(t) or (not result and _is_boundary(t, parallel, inside))):
            found[t] = None
            continue
        parts = analysis.result_parts(t, "global") if result and analysis.computes(t) else ()
        stack.extend([(b, False, True) for b in reversed(bodies(t)) if _holds_steps(b)])
        stack.extend([(c, c in parts, inside) for c in reversed(children(t)) if _holds_steps(c)])
    return list(found)


def _holds_steps(t: Expr) -> bool:
    """Is there something closed in `t`, bodies included, that may take steps?  Kept with it."""
    stack = [t]
    while stack:
        e = stack[-1]
        parts = (*children(e), *bodies(e))
        if todo := [c for c in parts if "_holds_steps" not in c.__dict__]:
            stack.extend(todo)
        else:
            own = isinstance(e, analysis.STEPS) and is_closed(e)
            e.__dict__["_holds_steps"] = own or any(c.__dict__["_holds_steps"] for c in parts)
            stack.pop()
    found: bool = t.__dict__["_holds_steps"]
    return found


def _is_boundary(t: Expr, parallel: bool, inside: bool) -> bool:
    """Is the closed `t`, which is read, computed in a kernel of its own?  inside: it is read again and again."""
    match t:
        case p.To(space, _):
            return space == "global"
        case p.ScanLinked():
            return True
        case p.Map(_, _, level) if level is not None and level.kind in analysis.GRID:
            return True
        case p.Map(body, x, None):
            loops = any(analysis.is_computing(e) for e in subterms(body))
            return inside and loops and volume(type_of(x)) > SMALL
        case p.Map():
            return volume(type_of(t)) > SMALL and not analysis.shares_items(t)
        case p.Fold() | p.Tree() | p.ScanSeq() | p.ScanDoubling() | p.Count() | p.Iterate():
            return volume(type_of(t)) > SMALL or (parallel and _work(t) > SMALL)
        case _:
            return False


def _work(t: Expr) -> int:
    """How many scalars a loop reads, roughly."""
    assert isinstance(t, analysis.LOOPS)
    n = number(t.count) if isinstance(t, p.Iterate) else 1
    return max(n, 1) * volume(type_of(t.x))


def closed_nodes(term: Expr) -> tuple[Expr, ...]:
    """What the kernel's term and its bodies compute without any argument, in order: evaluated once, at the start."""
    found: dict[Expr, None] = dict.fromkeys(analysis.entry_nodes(term, "global"))
    for t in subterms(term):
        for body in filter(_holds_steps, bodies(t)):
            for part in _closed_parts(body):
                found.update(dict.fromkeys(analysis.read_nodes(part)))
    return tuple(found)


def _closed_parts(body: Expr) -> list[Expr]:
    """The largest closed sub-terms in the scope of a body."""
    found, seen, stack = [], set(), [body]
    while stack:
        t = stack.pop()
        if t in seen:
            continue
        seen.add(t)
        if is_closed(t):
            found.append(t)
        else:
            stack.extend(children(t))
    return found
