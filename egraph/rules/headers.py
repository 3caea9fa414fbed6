"""The headers of laws and analyses: what a reader who knows only the papers is told above each rule.

A section of a rules file starts with `;;; name`.  Lines `;; ...` below it are its header, up to the first rule:

    ;; map f x = ...                    the equation, as a paper would write it
    ;; when: closed y, ...; sentence    conditions that the law needs to hold
    ;; only: depth n < 1, ...; sentence conditions that only keep the search small
    ;; asks: wanted f, ...; sentence    what the rule wants to be found out by analyses
    ;; phase: tile, lower               where it runs; `none (proofs only)`
    ;; source: [Key] (25); sentence     where it comes from; `egglift; sentence` for a law of our own
    ;; reassociating                    it changes the order of floating-point operations
    ;; macro                            one bigger step, which cuts arrays or turns loops inside out

Lines indented further go on with the line before.  `;;` lines further down begin a variant: they speak of the rules
below them, up to the next such lines; without an equation, the law's is theirs.  `;; back: equation` begins the variant
of a rule from right to left that is not the equation reversed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_FIELD = re.compile(r"(when|only|asks|back|phase|source): *(.*)", re.DOTALL)


@dataclass(frozen=True)
class Condition:
    """Conditions that a header names, as in `closed y, depth n < 1`, and a sentence on them, which may be empty."""

    names: tuple[str, ...]
    sentence: str

    def __str__(self) -> str:
        return ", ".join(self.names) + (f"; {self.sentence}" if self.sentence else "")


@dataclass(frozen=True)
class Variant:
    """What the `;;` lines above some rules say of them.

    equation: "" where it is that of the law.  back: the equation of rules from right to left, where it is not the
    reverse.  text: the rules, as egglog reads them.
    """

    equation: str
    back: str
    when: tuple[Condition, ...]
    only: tuple[Condition, ...]
    asks: tuple[Condition, ...]
    text: str

    @property
    def needed(self) -> tuple[str, ...]:
        """The conditions that soundness needs."""
        return tuple(name for condition in self.when for name in condition.names)

    @property
    def pruning(self) -> tuple[str, ...]:
        """The conditions that only keep the search small."""
        return tuple(name for condition in self.only for name in condition.names)


@dataclass(frozen=True)
class Header:
    """A section's header.  phases: () where it runs in none.  source: "" where none is given."""

    variants: tuple[Variant, ...]
    phases: tuple[str, ...]
    source: str
    reassociating: bool
    macro: bool

    @property
    def equation(self) -> str:
        return self.variants[0].equation


def sections(text: str) -> Iterator[tuple[str, int, Sequence[str]]]:
    """Name, first line's number and lines of each `;;; name` section."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith(";;; ")]
    for start, stop in zip(starts, [*starts, len(lines)][1:], strict=True):
        yield lines[start][4:].strip(), start + 1, lines[start:stop]


def header_of(lines: Sequence[str]) -> Header:
    """The header of a section's lines."""
    blocks = [(tuple(_fields(notes)), "\n".join(rules)) for notes, rules in _blocks(lines[1:])]
    first = blocks[0][0]
    phase = next((value for key, value in first if key == "phase"), "none")
    return Header(
        tuple(_variant(fields, text) for fields, text in blocks),
        () if phase.startswith("none") else tuple(re.split(r", *", phase)),
        next((value for key, value in first if key == "source"), ""),
        ("flag", "reassociating") in first,
        ("flag", "macro") in first,
    )


def rules_alone(lines: Sequence[str]) -> str:
    """The rules of a section: comments become empty lines, so that errors name the right line."""
    return "\n".join("" if line.startswith(";") else line for line in lines)


def _blocks(lines: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Consecutive `;;` lines with what follows them; a line `;;` alone ends such lines too."""
    blocks: list[tuple[list[str], list[str]]] = [([], [])]
    for line in lines:
        if line.startswith(";; ") and (blocks[-1][1] or blocks[-1][0][-1:] == [""]):
            blocks.append(([line[3:]], []))
        elif line.startswith(";;"):
            blocks[-1][0].append(line[3:])
        elif not line.startswith(";") and line.strip():
            blocks[-1][1].append(line)
    return blocks


def _fields(notes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Key and value of each line of a header, lines that go on included; "" is the key of an equation's lines."""
    whole: list[str] = []
    for note in notes:
        if note.startswith("  ") and whole:
            whole[-1] += f" {note.strip()}"
        elif note.strip():
            whole.append(note.strip())
    for line in whole:
        if field := _FIELD.fullmatch(line):
            yield field[1], field[2]
        else:
            yield ("flag" if line in ("reassociating", "macro") else ""), line


def _variant(fields: Sequence[tuple[str, str]], text: str) -> Variant:
    def conditions(key: str) -> tuple[Condition, ...]:
        return tuple(_condition(value) for k, value in fields if k == key)

    return Variant(
        " ".join(value for key, value in fields if key == ""),
        " ".join(value for key, value in fields if key == "back"),
        conditions("when"),
        conditions("only"),
        conditions("asks"),
        text,
    )


def _condition(value: str) -> Condition:
    names, _, sentence = value.partition("; ")
    return Condition(tuple(_split(names)), sentence)


def _split(names: str) -> Iterator[str]:
    """Parts between the commas that are in no brackets."""
    depth, part = 0, ""
    for c in names:
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            yield part.strip()
            part = ""
        else:
            part += c
    if part.strip():
        yield part.strip()
