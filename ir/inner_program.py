"""The program that laws, schedules and kernels know, of the one that a user wrote.

It has pairs of floats for complex numbers (pairs.py), and inputs for its large constants: arrays that are no numbers in
a kernel's text, but buffers that a kernel holds on its device.

    map (\\row. ...) (constant [[f32]257]512)  ->  map (\\row. ...) (input "constant 0" [[f32]257]512)

Such a name has a space, which the names of users' inputs never have.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from egglift.ir.outer_product import factors
from egglift.ir.pairs import paired
from egglift.ir.patterns import Constant, Expr, Input
from egglift.ir.sizes import evaluate
from egglift.ir.traverse import exchanged, subterms
from egglift.ir.types import leaves

#: numbers of a constant, from which on it is a buffer: GPUs give the lanes that read constants of a kernel's text at
#: several addresses one after the other.  Not so of an outer product, of which laws make two passes
LONG = 128
#: bytes of all others that are written into a program's OpenCL; where it has more, the largest are buffers
WRITTEN = 32 << 10


def inner(program: Expr) -> Expr:
    """`program` without complex numbers and large constants; itself where it has none.  Kept with the node."""
    found, _ = _parts(program)
    return program if found is None else found


def held_constants(program: Expr) -> Mapping[str, Constant]:
    """The large constants of `program`, by the names of the inputs that `inner` has for them."""
    return _parts(program)[1]


def _parts(program: Expr) -> tuple[Expr | None, Mapping[str, Constant]]:
    memo = program.__dict__
    if "_inner" not in memo:
        pairs = paired(program)
        large = _named(pairs)
        found = exchanged(pairs, {c: Input(name, c.type) for name, c in large.items()}) if large else pairs
        memo["_inner"] = None if found is program else found, large
    parts: tuple[Expr | None, Mapping[str, Constant]] = memo["_inner"]
    return parts


def _named(program: Expr) -> dict[str, Constant]:
    """The large constants, in the order in which the program has them, by names that none of its inputs has."""
    constants = [t for t in subterms(program) if isinstance(t, Constant)]
    written, room = set[Constant](), WRITTEN
    for c in sorted((c for c in constants if _numbers(c) < LONG or factors(c)), key=lambda c: len(c.data)):
        room -= len(c.data)
        if room >= 0:
            written.add(c)
    if len(written) == len(constants):
        return {}
    taken = {t.name for t in subterms(program) if isinstance(t, Input)}
    names = (name for k in range(len(taken) + len(constants)) if (name := f"constant {k}") not in taken)
    return dict(zip(names, (c for c in constants if c not in written)))


def _numbers(c: Constant) -> int:
    """How many numbers it has."""
    return sum(prod(map(evaluate, shape)) for shape, _ in leaves(c.type))
