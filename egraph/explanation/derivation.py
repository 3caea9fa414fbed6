"""A derivation as data and as a text to be read aloud: numbered laws, each with what it changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from egglift.egraph.explanation.abbreviate import outline
from egglift.egraph.explanation.marked import in_notebook, listed, marked_law, shown
from egglift.egraph.explanation.narrate import Change
from egglift.egraph.graph.encode import binary
from egglift.egraph.rules.book import Law
from egglift.ir.markup import tag
from egglift.ir.patterns import Expr
from egglift.ir.shown import shortened
from egglift.ir.text import pretty


@dataclass(frozen=True)
class Tile:
    """A tile length of a derivation: its number, if one is known, what it is for, and what it cuts."""

    name: str
    value: int | None
    meaning: str
    cuts: str

    def __str__(self) -> str:
        number = "" if self.value is None else f" = {self.value}"
        return f"{self.name}{number}: {self.meaning}; {self.cuts}"


@dataclass(frozen=True)
class Step:
    """One law at one point of a derivation, and what it changed: the first few of `count` places."""

    law: Law
    changes: tuple[Change | str, ...]
    count: int

    def text(self, again: bool = False) -> str:
        """The step in lines.  again: the law's equation was shown before."""
        shown = [str(c) if isinstance(c, Change) else f"       {c}" for c in self.changes]
        more = [f"       and {self.count - len(shown)} more"] if self.count > len(shown) else []
        head = f"{self.law.name}, again" if again else f"{self.law.name}  {self.law.cited}\n     {self.law.equation}"
        return "\n".join([head, *shown, *more])


@dataclass(frozen=True)
class Derivation:
    """Laws that lead from `source` to `target`, in order, each with what it changed.

    steps: laws that restructure.  placing: laws that choose executors and memories.  passing: laws of which nothing
    is left to see.  minimal: without any one law the exploration does not hold the target; False: not every law was
    tried in time.
    """

    source: Expr
    target: Expr
    tiles: tuple[Tile, ...]
    steps: tuple[Step, ...]
    placing: tuple[Step, ...]
    passing: tuple[Law, ...]
    minimal: bool

    @property
    def laws(self) -> tuple[str, ...]:
        """Names of the laws, each once, in reading order."""
        read = (*(s.law for s in self.steps), *self.passing, *(s.law for s in self.placing))
        return tuple(dict.fromkeys(law.name for law in read))

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"The source program:\n{_indented(outline(binary(self.source), 400))}"
        if self.tiles:
            yield "Tile lengths:"
            yield from (f"  {tile}" for tile in self.tiles)
        seen: set[str] = set()
        for i, step in enumerate(self.steps, 1):
            yield f"{i}. {step.text(step.law.name in seen)}"
            seen.add(step.law.name)
        if self.placing:
            yield f"{len(self.steps) + 1}. Who executes what, and where values are kept:"
            yield from (f"   {step.text()}" for step in self.placing)
        if self.passing:
            yield "In passing, where views cancel or meet:"
            yield from (f"   {law}" for law in self.passing)
        yield self._claim()
        if self.laws:
            yield "`egglift laws NAME` says what a law asks for, and gives its source in full."
        yield f"The low-level program:\n{_indented(pretty(self.target))}"

    def markup(self) -> Element:
        """The same as HTML, with what each law changed marked."""
        seen: set[str] = set()
        steps = []
        for step in (*self.steps, *self.placing):
            steps.append(marked_law(step.law, step.changes, step.count, step.law.name in seen))
            seen.add(step.law.name)
        passing = f"In passing, where views cancel or meet: {', '.join(law.name for law in self.passing)}."
        return shown(
            tag("p", "The source program:"),
            tag("pre", outline(binary(self.source), 400)),
            tag("ul", *(tag("li", str(tile)) for tile in self.tiles)) if self.tiles else None,
            listed(steps),
            tag("p", passing) if self.passing else None,
            tag("p", self._claim()),
            tag("pre", shortened(pretty(self.target))),
        )

    def _repr_html_(self) -> str:
        return in_notebook(self.markup())

    def _claim(self) -> str:
        if not self.laws:
            return "It is the source program: no law was needed."
        several = len(self.laws) > 1
        made = f"what {f'these {len(self.laws)} laws' if several else 'this law'} alone make{'' if several else 's'}"
        checked = f"Checked: {made} of the source holds the program below"
        if self.minimal:
            return f"{checked}; without {'any one of them' if several else 'it'} it does not."
        return f"{checked}.  Not every law was tried in time: some may not be needed."


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
