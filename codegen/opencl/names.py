"""Names in generated OpenCL: the program's own where possible, numbered ones elsewhere."""

from __future__ import annotations

import re

KEYWORDS = frozenset(
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "bool",
        "half",
        "quad",
        "complex",
        "imaginary",
        "uchar",
        "ushort",
        "uint",
        "ulong",
        "kernel",
        "global",
        "local",
        "constant",
        "private",
        "generic",
        "pipe",
        "read_only",
        "write_only",
        "read_write",
        "true",
        "false",
        "main",
        "printf",
        "barrier",
        "select",
        "clamp",
        "min",
        "max",
    ]
)
_VECTOR = re.compile(r"(char|uchar|short|ushort|int|uint|long|ulong|float|double|half)(2|3|4|8|16)")
_RESERVED = re.compile(
    r"(__.*|get_.*|convert_.*|as_.*|vload.*|vstore.*|native_.*|half_.*|work_group_.*|CL.*|cl_.*|.*_t"
    # capitals are macros' (NULL, M_PI_F, INT_MAX, a driver's own), and these two are Clang's
    r"|[^a-z]*[A-Z][^a-z]*[A-Z][^a-z]*|linux|unix)"
)
#: work-item ids, whose meaning is fixed
IDS = tuple(f"{kind}{d}" for kind in "gwl" for d in range(3)) + ("warp", "lane")


def identifier(name: str) -> str:
    """`name` as an OpenCL identifier: other characters become `_`, and what OpenCL reserves gets a `_` behind."""
    from egglift.codegen.opencl.scalar_functions import BUILTINS

    clean = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
    if clean[0].isdigit():
        clean = f"v{clean}"
    taken = clean in KEYWORDS or clean in BUILTINS or _VECTOR.fullmatch(clean) or _RESERVED.fullmatch(clean)
    return f"{clean}_" if taken else clean


class Names:
    """Hands out names, each once; the same requests in the same order give the same names."""

    def __init__(self, taken: tuple[str, ...] = ()) -> None:
        self._taken = {*IDS, *taken}
        self._next: dict[str, int] = {}

    def numbered(self, stem: str) -> str:
        """`stem0`, `stem1`, ... : the next one that is free."""
        while True:
            n = self._next.get(stem, 0)
            self._next[stem] = n + 1
            if f"{stem}{n}" not in self._taken:
                self._taken.add(f"{stem}{n}")
                return f"{stem}{n}"

    def own(self, name: str) -> str:
        """`name` as an identifier, with a number behind if it is taken."""
        clean = identifier(name)
        if clean in self._taken:
            return self.numbered(f"{clean}_")
        self._taken.add(clean)
        return clean
