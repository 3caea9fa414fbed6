"""Programs whose kernels are chosen for several lengths: one program for each of these."""

from __future__ import annotations

from dataclasses import replace

from egglift.ir.errors import ShapeError
from egglift.ir.parser import loads
from egglift.ir.patterns import Expr
from egglift.ir.printer import declared
from egglift.ir.run_time_lengths import lengths_of
from egglift.ir.text import dumps


def choices_of_lengths(e: Expr) -> int:
    """For how many lengths the kernels of a program are chosen; ShapeError where its lengths like different numbers."""
    several = {n.name: len(n.likes) for n in lengths_of(e) if len(n.likes) > 1}
    if len(set(several.values())) > 1:
        counts = " and ".join(f"{count} of {name}" for name, count in several.items())
        raise ShapeError(f"kernels are chosen for {counts}: give like= as many lengths for each, or one")
    return next(iter(several.values()), 1)


def with_like(e: Expr, choice: int) -> Expr:
    """The program whose lengths like one number each, those of a choice; as it is where they do already.

    (lengths ((n 1 none 1 64/1000)) ..), 1  ->  (lengths ((n 1 none 1 1000)) ..)
    """
    several = [n for n in lengths_of(e) if isinstance(n.like, tuple)]
    if not several:
        return e
    text = dumps(e)
    for n in several:
        one = replace(n, like=n.likes[choice if len(n.likes) > 1 else 0])
        text = text.replace(declared(n), declared(one), 1)
    return loads(text)
