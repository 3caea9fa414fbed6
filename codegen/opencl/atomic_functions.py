"""Additions to places that other work-items add to at the same time."""

from __future__ import annotations

from egglift.codegen.opencl.scalar_functions import C_NAMES
from egglift.ir.types import Scalar


def atomic_addition(t: Scalar, space: str, helpers: dict[str, str]) -> str:
    """The function that adds a number to a place of that type: OpenCL's own for integers.

    OpenCL 1.2 has none for floats: a function of our own writes the sum where the place is what is thought of it, at
    first 0, and else thinks anew.  Numbers of 8 bytes need the extension cl_khr_int64_base_atomics.
    """
    wide = t.size > 4
    if not t.is_float:
        return "atom_add" if wide else "atomic_add"
    name, c, word = f"add_{t.name}", C_NAMES[t.name], "ulong" if wide else "uint"
    exchange = "atom_cmpxchg" if wide else "atomic_cmpxchg"
    helpers[name] = (
        f"void {name}(volatile {space} {c}* to, {c} x) {{\n"
        f"  volatile {space} {word}* bits = (volatile {space} {word}*)to;\n"
        f"  {word} old = 0, found;\n"
        f"  while ((found = {exchange}(bits, old, as_{word}(as_{c}(old) + x))) != old) old = found;\n}}"
    )
    return name
