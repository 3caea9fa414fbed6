"""The text of a whole kernel: extensions, literal arrays, helper functions, parameters, ids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from egglift.codegen.kernel.accesses import accesses
from egglift.codegen.kernel.distribution import Shape
from egglift.codegen.kernel.imperative import Buffer, LengthArgument, Statement
from egglift.codegen.opencl.expressions import INT, int_type
from egglift.codegen.opencl.last_group import last_group
from egglift.codegen.opencl.look_back import TICKET, taken
from egglift.codegen.opencl.natives import Natives
from egglift.codegen.opencl.scalar_functions import C_NAMES, initializer, memory_type
from egglift.codegen.opencl.statements import INDENT, KernelText
from egglift.ir.conversions import loaded
from egglift.ir.lengths import Tracing
from egglift.ir.types import I32, I64

#: by name, what words that need it begin with, and what the rest of them is
EXTENSIONS = {"cl_khr_fp64": ("double", r"(\d+)?"), "cl_khr_int64_base_atomics": ("atom_", r"\w+")}


@dataclass(frozen=True)
class Part:
    """What all groups of a kernel do; or what the last of them goes on with.  shape: by how many it is executed."""

    shape: Shape
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class KernelTexts:
    """The OpenCL C of one kernel: beside the plan's earlier kernels, as a program of its own, and beside the earlier
    ones as it is given numbers by value ("" where it is given none).
    """

    source: str
    whole: str
    by_value: str


def kernel_source(
    name: str,
    parts: Sequence[Part],
    params: tuple[Buffer, ...],
    outputs: frozenset[Buffer],
    defined: set[str],
    cpu: bool,
    natives: Natives,
    tracing: Tracing | None = None,
) -> tuple[KernelTexts, tuple[LengthArgument, ...]]:
    """The OpenCL C of one kernel, and the lengths it takes.

    parts: what all its groups do, then what the last one goes on with (opencl/last_group.py).
    cpu: is it for a CPU?  natives: what its compiler has.
    defined: the lines before kernels that the plan's earlier kernels brought (functions, extensions); those that
    this one needs and brings are added.
    """
    texts = [KernelText(part.body, cpu, natives) for part in parts]
    for text, part in zip(texts, parts, strict=True):
        text.statements(part.body)
    first, shape = texts[0], parts[0].shape
    starts = taken(parts[0].body)
    inside = [*starts, *_ids(shape, "\n".join(first.lines), cpu, bool(starts)), *_locals(texts), *first.lines]
    if len(parts) > 1:
        counter = next((b for b in params if b.zeroed), None)
        words = set(re.findall(r"\w+", "\n".join([*inside, *(line for text in texts[1:] for line in text.lines)])))
        bodies = [(part.shape, text.lines) for part, text in zip(parts[1:], texts[1:], strict=True)]
        inside += last_group(bodies, shape, counter, words, first.helpers)
    x, y, z = map(int, shape.local)
    lengths = length_arguments("\n".join(inside), tracing) if tracing is not None else ()
    handed_on = {b for text in texts[1:] for b in text.used} & first.used & outputs
    arguments = [_parameter(b, b in outputs, b in handed_on) for b in params]

    def function(arguments: list[str], first: list[str]) -> list[str]:
        head = f"void {name}({', '.join([*arguments, *map(_length, lengths)])}) {{"
        return [f"kernel __attribute__((reqd_work_group_size({x}, {y}, {z})))", head, *first, *inside, "}"]

    lines = function(arguments, [])
    constants = {b: _constant(b, text) for text in texts for b in _of_space(text, "constant")}
    before = [*constants.values(), *dict.fromkeys(line for text in texts for line in text.helpers.values())]
    all_text = "\n".join([*before, *lines])
    pragmas = [f"#pragma OPENCL EXTENSION {e} : enable" for e, word in EXTENSIONS.items() if _has(all_text, *word)]
    new = [line for line in (*pragmas, *before) if line not in defined]
    defined.update(new)
    by_value = function(*_by_value(params, arguments, all_text)) if any(b.is_number for b in params) else []
    found = KernelTexts(
        _joined(new, lines), _joined([*pragmas, *before], lines), _joined(new, by_value) if by_value else ""
    )
    return found, lengths


def _by_value(params: tuple[Buffer, ...], arguments: list[str], text: str) -> tuple[list[str], list[str]]:
    """The parameters where numbers are given by value, and arrays of one element that stand for them inside."""
    words, found, first = set(re.findall(r"\w+", text)), list[str](), list[str]()
    for b, argument in zip(params, arguments, strict=True):
        if b.is_number:
            own = f"{b.name}_value"
            while own in words:
                own += "_"
            argument = f"const {memory_type(b.scalar)} {own}"
            first.append(f"{INDENT}const {memory_type(b.scalar)} {b.name}[1] = {{{own}}};")
        found.append(argument)
    return found, first


def _joined(before: list[str], lines: list[str]) -> str:
    return "\n".join([*before, *([""] if before else []), *lines, ""])


def _parameter(b: Buffer, written: bool, handed_on: bool) -> str:
    """handed_on: do some groups write it and another one reads it?  Then its compiler must not think it unchanged."""
    if b.space == "number":
        return f"const {memory_type(b.scalar)} {b.name}"
    promise = "" if handed_on else "restrict "
    return f"{'' if written else 'const '}global {memory_type(b.scalar)}* {promise}{b.name}"


def length_arguments(text: str, tracing: Tracing) -> tuple[LengthArgument, ...]:
    """The expressions over lengths that stand in a text, by name: ints where they are small enough, else longs."""
    words = set(re.findall(r"\w+", text))
    named = [(name, tracing.of(form)) for name, form in tracing.written.items() if name in words]
    return tuple(LengthArgument(name, n, I32 if -INT <= n < INT else I64) for name, n in sorted(named))


def _length(a: LengthArgument) -> str:
    return f"const {C_NAMES[a.type.name]} {a.name}"


def _ids(shape: Shape, text: str, cpu: bool, is_taken: bool = False) -> list[str]:
    """Declarations of the ids that the kernel uses.

    On a CPU they are as wide as an address: its compiler would extend every index in a loop that it cannot prove small.
    """
    ids: list[tuple[str, str, int]] = []
    for d in range(3):
        ids.append((f"g{d}", f"get_global_id({d})", shape.groups[d] * shape.local[d]))
        ids.append((f"w{d}", TICKET if is_taken and d == 0 else _group_id(shape, d), shape.groups[d]))
        ids.append((f"l{d}", f"get_local_id({d})", shape.local[d]))
    ids += [("warp", "get_local_id(0) / 32", 1), ("lane", "get_local_id(0) % 32", 32)]
    return [
        f"{INDENT}const {'long' if cpu else int_type(count)} {name} = {e};"
        for name, e, count in ids
        if _has(text, name)
    ]


def _has(text: str, start: str, rest: str = "") -> bool:
    """Is there a word in a text that begins so?  Most have not even its letters, which is found at once."""
    return start in text and re.search(rf"\b{start}{rest}\b", text) is not None


def _group_id(shape: Shape, d: int) -> str:
    """A work-group's place in dimension `d`: OpenCL's, or within blocks of rows that are walked column by column."""
    if shape.swizzle == 1 or d == 2:
        return f"get_group_id({d})"
    rows, columns = shape.swizzle, shape.groups[0]
    number = f"({columns} * (int)get_group_id(1) + (int)get_group_id(0))"
    block = rows * columns
    return f"{number} % {block} / {rows}" if d == 0 else f"{number} / {block} * {rows} + {number} % {rows}"


def _of_space(text: KernelText, space: str) -> list[Buffer]:
    return list(dict.fromkeys(a.buffer for a in text.seen if a.buffer.space == space))


def _locals(texts: Sequence[KernelText]) -> list[str]:
    return [
        f"{INDENT}local {memory_type(b.scalar)} {b.name}[{int(b.size)}]{text.aligned(b)};"
        for text in texts
        for b in _of_space(text, "local")
    ]


def _constant(b: Buffer, text: KernelText) -> str:
    assert b.values is not None
    numbers = loaded(np.frombuffer(b.values, b.scalar.dtype), b.scalar)
    items = ", ".join(initializer(v.item(), b.scalar) for v in numbers)
    return f"constant {memory_type(b.scalar)} {b.name}[{b.size}]{text.aligned(b)} = {{{items}}};"


def used_params(params: list[Buffer], body: tuple[Statement, ...]) -> tuple[Buffer, ...]:
    """The parameters that the kernel's statements access."""
    seen = {a.buffer for a in accesses(body)}
    return tuple(b for b in params if b in seen)
