"""Programs over lengths that are known when they are called, declared by `size`.

n = el.size("n");  x = el.array("x", el.f32, n)   ->   an input of any length; a call with 1000 elements says n = 1000
"""

from __future__ import annotations

from collections.abc import Iterator

from egglift.ir.bounds import MOST
from egglift.ir.errors import ProgramError, ShapeError
from egglift.ir.forms import SLOTS
from egglift.ir.length_forms import Form, Lengths, RunTimeLength
from egglift.ir.lengths import DECLARED, Length, Tracing
from egglift.ir.patterns import Expr
from egglift.ir.syntax import NAME
from egglift.ir.traverse import resized, subterms
from egglift.ir.types import Array, Tuple, leaves


def size(
    name: str, min: int = 1, max: int | None = None, multiple: int = 1, like: int | tuple[int, ...] = 1 << 20
) -> int:
    """A length that is known when the kernel is called: usable wherever a length is, and in arithmetic.

    name: for messages, and for the kernels' argument.  It is a multiple of `multiple` in min..max (None: as long as
    memory allows); kernels are chosen for the length nearest to `like`: for each of several, and a call takes those
    that were chosen for lengths near its own.  ShapeError where there is no such length.
    """
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ProgramError(f"{name!r} cannot name a length: use letters, digits and _")
    likes = like if isinstance(like, tuple) and like else (like,)
    limits = [("min", min, 0), ("max", max, 0), ("multiple", multiple, 1), *(("like", n, 0) for n in likes)]
    for what, n, least in limits:
        if not (n is None and what == "max") and (isinstance(n, bool | Length) or not isinstance(n, int)):
            raise ProgramError(f"{name}: {what} must be a whole number, not {n!r}")
        if n is not None and not least <= n <= MOST:
            raise ShapeError(f"{name}: {what} is {n}; it must be in {least}..2^62")
    length = RunTimeLength(name, min, max, multiple, like)
    if not length.has(length.liked):
        raise ShapeError(f"{name}: there is no multiple of {multiple} in {min}..{max}")
    return DECLARED.length(length)


def lengths_of(e: Expr) -> tuple[RunTimeLength, ...]:
    """The run-time lengths of a program, by name; ProgramError where two of them have one name."""
    found: dict[str, RunTimeLength] = {}
    for form in _forms(e):
        for n in form.lengths:
            if found.setdefault(n.name, n) != n:
                raise ProgramError(f"two lengths are named {n.name}, {said(found[n.name])} and {said(n)}; rename one")
    return tuple(found[name] for name in sorted(found))


def said(n: RunTimeLength) -> str:
    """`n = 1, 2, ...`, `n = 4, 8, ..., 64`: which lengths there are."""
    least = n.nearest(n.min)
    most = "" if n.max is None else f", {n.nearest(n.max)}"
    return f"{n.name} = {least}, {least + n.multiple}, ...{most}"


#: the slots of each pattern that may hold lengths, or types of them
_HOLD = {cls: tuple(name for name, kind in slots if kind in ("size", "type", "number")) for cls, slots in SLOTS.items()}


def _forms(e: Expr) -> Iterator[Form]:
    """The expressions over lengths in a program."""
    known: set[int] = set()
    for t in subterms(e):
        for name in _HOLD[type(t)]:
            v = t.__dict__[name]
            if isinstance(v, Length):
                yield v.form
            elif isinstance(v, Array | Tuple) and id(v) not in known:
                known.add(id(v))
                yield from (n.form for shape, _ in leaves(v) for n in shape if isinstance(n, Length))


def at_lengths(e: Expr, values: Lengths) -> Expr:
    """The program for these lengths, as plain numbers."""
    return resized(e, Length, lambda n: n.form.number(values))


def liked(e: Expr) -> Expr:
    """The program for the lengths that kernels are chosen for; a program without run-time lengths as it is."""
    lengths = lengths_of(e)
    return at_lengths(e, {n: n.liked for n in lengths}) if lengths else e


def traced(e: Expr, tracing: Tracing) -> Expr:
    """The program over the lengths of a tracing."""
    return resized(e, Length, lambda n: tracing.of(n.form))
