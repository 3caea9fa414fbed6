"""Lines that begin with `#`, as far as a nest needs them: constants, macros, types, and what is compiled at all."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NoReturn

from egglift.ir.errors import ProgramError

_DEFINE = re.compile(r"#\s*define\s+(\w+)(\(([^)]*)\))?[ \t]*(.*)")
_TEST = re.compile(r"#\s*(?:(ifdef|ifndef)\s+(\w+)|if\s+(!?)\s*defined\s*\(?\s*(\w+)\s*\)?|if\s+([01]))\s*$")
_TYPE = re.compile(r"(?:(?:unsigned|signed|char|short|int|long|float|double|\w+_t)\s*)+")
#: what may stand before a declaration, and says nothing about what is computed
_QUALIFIERS = re.compile(r"(?:(?:static|inline|const|register|restrict|__\w+__|__restrict|__inline)\s*)*")
_WORDS = re.compile(r"\b(__restrict__|__restrict|__inline__|__inline|__extension__)\b")


@dataclass(frozen=True)
class Macro:
    """`#define name(parameters) text`; parameters: None where it takes none; place: `nest.c:3:1`."""

    name: str
    parameters: tuple[str, ...] | None
    text: str
    place: str


@dataclass
class Directives:
    """A text without its directives, which are empty lines there; what they define."""

    file: str
    text: str = ""
    macros: dict[str, Macro] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    _open: list[bool] = field(default_factory=list)
    _words: list[str] = field(default_factory=list)

    def read(self, text: str, given: Collection[str]) -> None:
        """Goes through a text.  given: names that have a value already, as a compiler's -DN=4096 gives one."""
        lines = text.replace("\\\n", "  ").split("\n")
        for number, line in enumerate(lines, 1):
            if line.strip().startswith("#"):
                self._directive(line.strip(), f"{self.file}:{number}:1", given)
                lines[number - 1] = ""
            elif not all(self._open):
                lines[number - 1] = ""
        if self._open:
            self._refuse(f"{self.file}:{len(lines)}:1", "an #if has no #endif")
        self.text = "\n".join(lines)
        for word in self._words:
            self.text = re.sub(rf"\b{word}\b", " " * len(word), self.text)
        self.text = _WORDS.sub(lambda m: "".ljust(len(m[0])), self.text)

    def _directive(self, line: str, place: str, given: Collection[str]) -> None:
        if test := _TEST.match(line):
            known = {*self.macros, *self.types, *self._words, *given}
            name, is_not = test[2] or test[4], test[1] == "ifndef" or test[3] == "!"
            self._open.append((name in known) != is_not if name else test[5] == "1")
        elif re.match(r"#\s*else\b", line) and self._open:
            self._open[-1] = not self._open[-1]
        elif re.match(r"#\s*endif\b", line) and self._open:
            self._open.pop()
        elif not all(self._open) and not re.match(r"#\s*(if|elif|else|endif)\b", line):
            return
        elif found := _DEFINE.match(line):
            self._define(found, place, given)
        elif not re.match(r"#\s*(include|pragma)\b", line) and not self._is_harmless(line):
            self._refuse(place, f"`{line}` is not followed; preprocess the file first (cc -E)")

    def _is_harmless(self, line: str) -> bool:
        undefined = re.match(r"#\s*undef\s+(\w+)", line)
        return undefined is not None and undefined[1] not in {*self.macros, *self.types, *self._words}

    def _define(self, found: re.Match[str], place: str, given: Collection[str]) -> None:
        name, text = found[1], found[4].strip()
        if name in given:
            self._refuse(
                place, f"{name} is defined here: leave it out of sizes={{{name!r}: ...}}, or guard it: #ifndef"
            )
        if name in self.macros or name in self.types:
            self._refuse(place, f"{name} is defined twice; give each its own name")
        if found[2] is None and _QUALIFIERS.fullmatch(text):
            self._words.append(name)
        elif found[2] is None and _TYPE.fullmatch(text):
            self.types[name] = text
        else:
            parameters = tuple(p.strip() for p in found[3].split(",") if p.strip()) if found[2] else None
            self.macros[name] = Macro(name, parameters, text, place)

    def _refuse(self, place: str, why: str) -> NoReturn:
        raise ProgramError(f"{place}: {why}")
