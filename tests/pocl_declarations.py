"""PoCL in the environment of the tests declares what kernels call, and not all that OpenCL has.

PoCL (3.0) reads 15,000 declarations before every kernel, which is 0.07 of the 0.1 s that it takes to build a small one;
the tests build thousands.  Those of what no kernel here calls are put between `#if 0` and `#endif`.  What is
left is as it was; a call of anything else is an error when the kernel is built.  `make` does it, and does it anew after
this list was changed.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

#: names of functions that no kernel of ours calls
UNCALLED = re.compile(
    r"convert_\w+_(sat|rt[enpz])\w*"  # conversions are our own functions, or plain
    r"|v(load|store)a_half\w*|v(load|store)_half\d*_rt[npz]"
    r"|\w*image\w*|\w*pipe\w*|\w*sub_group\w*|intel_\w+|async_\w+|work_group_(all|any|broadcast|reduce|scan)\w*"
    r"|atomic_\w+_explicit|atomic_(fetch|flag|compare|load|store|init|exchange)\w*|prefetch|shuffle2?|half_\w+"
    r"|bitfield_\w+|bit_reverse|bitselect|(add|sub|mad)_sat|r?hadd|mad_hi|mul_hi|m(ul|ad)24|abs_diff|c[lt]z|upsample|amd_\w+"
    r"|lgamma_r|remquo|sincos|fract|frexp|modf|\w+pi|mix|smoothstep"
)
BEGIN, END = "#if 0 // called by no kernel of egglift", "#endif // called by no kernel of egglift"
_NAME = re.compile(r"(\w+)\s*\(")


def leaner(header: str) -> str:
    """The header `opencl-c.h` without what is not called.  Of what this has made before it makes the same."""
    lines: list[str] = []
    for uncalled, some in _runs(x for x in header.splitlines() if x not in (BEGIN, END)):
        lines += [BEGIN, *some, END] if uncalled else some
    return "\n".join(lines) + "\n"


def _runs(lines: Iterable[str]) -> Iterator[tuple[bool, list[str]]]:
    """Declarations and what is between them, in order: neighbours that are not called, and the others."""
    held: list[str] = []
    was = False
    for declaration in _declarations(lines):
        uncalled = _is_uncalled(declaration)
        if uncalled != was and held:
            yield was, held
            held = []
        was, held = uncalled, held + declaration
    yield was, held


def _declarations(lines: Iterable[str]) -> Iterator[list[str]]:
    """Lines that belong together: a declaration goes on until its semicolon, and begins with its type."""
    held: list[str] = []
    for line in lines:
        held.append(line)
        if ";" in line or not _goes_on(held):
            yield held
            held = []
    yield held


def _goes_on(held: list[str]) -> bool:
    return "__ovld" in "".join(held) and not held[0].lstrip().startswith(("#", "/", "*"))


def _is_uncalled(declaration: list[str]) -> bool:
    text = " ".join(declaration)
    found = _NAME.search(text.partition("__ovld")[2].replace("__attribute__((", " "))
    return _goes_on(declaration) and found is not None and UNCALLED.fullmatch(found[1]) is not None


def header() -> Path | None:
    """Where PoCL of this environment has its declarations, if it is here."""
    package = importlib.util.find_spec("pocl_binary_distribution")
    for folder in (package and package.submodule_search_locations) or ():
        for found in Path(folder).glob(".libs/share/pocl/include/opencl-c.h"):
            return found
    return None


if __name__ == "__main__" and (file := header()):
    made = file.with_suffix(f".{os.getpid()}")  # kernels that are built meanwhile see the one or the other
    made.write_text(leaner(file.read_text()))
    made.replace(file)
