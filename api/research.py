"""The rule book and what is done with it, for those who study it: laws, saturation, proofs.

egglog is loaded by the first call: a process that is forked later cannot use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from egglift.egraph.rules.limits import Limits
from egglift.ir.errors import ArgumentError
from egglift.ir.inner_program import inner
from egglift.ir.lifting import as_program
from egglift.options import SCHEDULES

if TYPE_CHECKING:
    from egglift.egraph.rules.book import Book, Law
    from egglift.egraph.saturation.saturate import Saturated


def laws() -> tuple[Law, ...]:
    """The laws of the rule book, in its order: each with `name`, `equation`, `phases`, `source` and `text`."""
    return book().laws


def book() -> Book:
    """The rule book: `book()["deal"]` is a law, `book().extended([text])` one with laws of your own."""
    from egglift.egraph.rules import book as rules

    return rules.book()


def saturate(
    program: Any,
    *,
    rules: Iterable[Law | str] = (),
    without: Iterable[str] = (),
    only: Iterable[str] | None = None,
    limits: Limits = Limits(),
    reassociate: bool = True,
) -> Saturated:
    """All programs that the laws show equal to `program`, as plain data: `graph`, and what each law did.

    rules: laws of your own; without: names of laws that are left out; only: of those that are used; limits: when it
    stops.  reassociate=False leaves out laws that change the order of floating-point operations.  `print` shows the
    laws by the number of their matches; `egglift.egraph.graph.networkx_view` draws the graph.
    """
    from egglift.egraph.saturation import saturate as saturation

    chosen = {"laws": only, "disabled": without, "limits": limits, "reassociate": reassociate}
    return saturation.saturate(inner(as_program(program)), rules=rules, **chosen)  # type: ignore[arg-type]


def prove(
    a: Any,
    b: Any,
    *,
    rules: Iterable[Law | str] = (),
    without: Iterable[str] = (),
    only: Iterable[str] | None = None,
    limits: Limits = Limits(20_000, 10.0),
    reassociate: bool = True,
) -> bool:
    """Do the laws show the programs `a` and `b` equal?  False: no proof was found within the limits.

    prove(x.map(f).map(g), x.map(lambda v: g(f(v)))) -> True, by map-fusion; options as of `saturate`.
    """
    from egglift.egraph.explanation import prove as proofs

    chosen = {"disabled": without, "limits": limits, "reassociate": reassociate}
    return proofs.prove(inner(as_program(a)), inner(as_program(b)), only, rules=rules, **chosen)  # type: ignore[arg-type]


def left_out(rules: Sequence[str], without: Sequence[str], only: Sequence[str] | None) -> tuple[str, ...]:
    """The names of laws that `without` and `only` leave out; RuleError where there is no such law.

    Laws that lower a program are always used, unless `without` names them: else nothing would run.
    """
    if isinstance(without, str) or isinstance(only, str):
        raise ArgumentError('without and only are sequences of names: write without=["deal"]')
    whole = book().extended(rules)
    named = [n for n in (*without, *(only or ())) if n != SCHEDULES]
    known = {n: whole[n] for n in named}  # RuleError lists the laws
    others = (
        [] if only is None else [law.name for law in whole.laws if law.name not in only and "lower" not in law.phases]
    )
    if only is not None and SCHEDULES not in only:
        others.append(SCHEDULES)
    return tuple(dict.fromkeys([*(n for n in without if n in known or n == SCHEDULES), *others]))
