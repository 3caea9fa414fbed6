"""How a work-group tells others its total, and finds what precedes it, in words of 64 bits that are read and written
at once.

source: D. Merrill and M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, NVIDIA NVR-2016-002.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.imperative import Buffer, ScalarValue, Statement
from egglift.codegen.kernel.index import ZERO, Index
from egglift.codegen.kernel.walk import walk
from egglift.codegen.opencl.scalar_functions import value_type
from egglift.ir.types import Scalar

#: the group's number, among those that have started
TICKET = "ticket"


class Text(Protocol):
    """What prints the statements of a kernel."""

    depth: int

    def line(self, text: str) -> None:
        """Add a line at the present depth."""

    def statements(self, body: tuple[Statement, ...]) -> None:
        """Print a block."""

    def scalar(self, v: ScalarValue) -> str:
        """A value."""

    def index(self, e: Index) -> str:
        """An index."""

    def place(self, buffer: Buffer, at: Index) -> str:
        """An element of memory."""


def taken(body: Iterable[Statement]) -> list[str]:
    """What comes first in a kernel whose groups take their numbers from a counter."""
    found = next((s for s in walk(body) if isinstance(s, im.LookBack)), None)
    if found is None:
        return []
    return [
        f"  local int {TICKET};",
        f"  if (get_local_id(0) == 0) {TICKET} = atom_inc(&{found.state.name}[0]);",
        "  barrier(CLK_LOCAL_MEM_FENCE);",
    ]


def look_back(text: Text, s: im.LookBack) -> None:
    """Print the statement: item 0 adds up what so many items read of the groups before."""
    (left, right), chunk = s.operands, text.index(s.chunk)
    words = sum(_words(b.scalar) for b in left)
    window, going = s.window.name, text.place(s.going, ZERO)
    text.line("// lookBack")
    text.line("if (get_local_id(0) == 0) {")
    _set(text, left, [text.scalar(v) for v in s.init])
    _set(text, right, [text.scalar(v) for v in s.total])
    _publish(text, s, f"if ({chunk} != 0) ", 1)
    text.line(f"  {going} = {chunk} != 0;")
    text.line("}")
    text.line("barrier(CLK_LOCAL_MEM_FENCE);")
    text.line(f"int some_{window} = 0;")
    text.line(f"for (int top = {chunk} - 1; {going}; top -= {s.items}) {{")
    text.line(f"  if ((int)get_local_id(0) < {s.items} && (int)get_local_id(0) <= top) {{")
    text.line(f"    global ulong* p = &{s.state.name}[1 + {words} * (top - (int)get_local_id(0))];")
    text.line("    ulong " + ", ".join(f"q{k}" for k in range(words)) + ";")
    reads = " ".join(f"q{k} = atom_add(p + {k}, 0);" for k in range(words))
    unlike = "".join(f" || q{k} >> 32 != q0 >> 32" for k in range(1, words))
    text.line(f"    do {{ {reads} }} while (q0 >> 32 == 0{unlike});")
    for k in range(words):
        text.line(f"    {window}[{words} * get_local_id(0) + {k}] = q{k};")
    text.line("  }")
    text.line("  barrier(CLK_LOCAL_MEM_FENCE);")
    text.line("  if (get_local_id(0) == 0) {")
    text.line("    uint flag = 0;")
    text.line(f"    for (int k = 0; k < {s.items} && flag != 2; ++k) {{")
    text.line(f"      flag = {window}[{words} * k] >> 32;")
    for b, value in zip(left, _values(window, words, [b.scalar for b in left]), strict=True):
        text.line(f"      {b.name} = {value};")
    text.line(f"      if (some_{window}) {{")
    _nested(text, s.combine, 4)
    text.line("      } else {")
    for a, b in zip(left, right, strict=True):
        text.line(f"        {b.name} = {a.name};")
    text.line("      }")
    text.line(f"      some_{window} = 1;")
    text.line("    }")
    text.line(f"    {going} = flag != 2;")
    for a, b in zip(left, right, strict=True):
        text.line(f"    {a.name} = {b.name};")
    text.line("  }")
    text.line("  barrier(CLK_LOCAL_MEM_FENCE);")
    text.line("}")
    text.line("if (get_local_id(0) == 0) {")
    for place, b in zip(s.carried, left, strict=True):
        text.line(f"  {text.place(place.buffer, place.at)} = {b.name};")
    _set(text, right, [text.scalar(v) for v in s.total])
    _nested(text, s.combine, 1)
    _publish(text, s, "", 2)
    text.line("}")


def _set(text: Text, places: tuple[Buffer, ...], values: list[str]) -> None:
    for b, value in zip(places, values, strict=True):
        text.line(f"  {b.name} = {value};")


def _nested(text: Text, body: tuple[Statement, ...], depth: int) -> None:
    text.depth += depth
    text.statements(body)
    text.depth -= depth


def _publish(text: Text, s: im.LookBack, condition: str, flag: int) -> None:
    """Write the words of the right operand."""
    words = [w for b in s.operands[1] for w in _parts(b)]
    for k, word in enumerate(words):
        place = f"&{s.state.name}[{1 + k} + {len(words)} * {text.index(s.chunk)}]"
        text.line(f"  {condition}atom_xchg({place}, (ulong){flag} << 32 | {word});")


def _words(t: Scalar) -> int:
    return t.size // 4


def _parts(b: Buffer) -> list[str]:
    """The bits of a value, 4 bytes each."""
    if b.scalar.size == 4:
        return [f"as_uint({b.name})"]
    return [f"(uint)as_ulong({b.name})", f"(uint)(as_ulong({b.name}) >> 32)"]


def _values(window: str, words: int, types: list[Scalar]) -> list[str]:
    """The values in the words of group k of the window."""
    found, at = [], 0
    for t in types:
        parts = [f"(uint){window}[{words} * k + {at + j}]" for j in range(_words(t))]
        bits = parts[0] if len(parts) == 1 else f"((ulong){parts[1]} << 32 | {parts[0]})"
        found.append(f"as_{value_type(t)}({bits})")
        at += len(parts)
    return found
