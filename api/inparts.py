"""How a program that was searched in parts follows: one derivation for all parts of a structure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from egglift.candidate import Part
from egglift.egraph.explanation.derivation import Derivation
from egglift.egraph.explanation.derive import derive
from egglift.egraph.explanation.marked import in_notebook
from egglift.ir.errors import RuleError
from egglift.ir.markup import tag
from egglift.options import Laws

SECONDS = 10.0  # in which laws are tried, for all parts together


@dataclass(frozen=True)
class InParts:
    """The structures of a program's parts, in order, and how the first part of each follows, where that was found."""

    structures: tuple[str, ...]
    derivations: Mapping[str, Derivation]

    @property
    def laws(self) -> tuple[str, ...]:
        """Names of the laws, each once, in reading order."""
        told = (self.derivations[s].laws for s in dict.fromkeys(self.structures) if s in self.derivations)
        return tuple(dict.fromkeys(law for laws in told for law in laws))

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def markup(self) -> Element:
        """The same as HTML: the derivations one after the other."""
        rows = [tag("p", " ".join(self._intro()))]
        for structure in dict.fromkeys(self.structures):
            numbers = [i for i, s in enumerate(self.structures, 1) if s == structure]
            derivation = self.derivations.get(structure)
            rows.append(tag("h3", f"Part{'s' if len(numbers) > 1 else ''} {_ranges(numbers)}: {structure}"))
            rows.append(derivation.markup() if derivation else tag("p", "No derivation was found."))
        return tag("div", *rows)

    def _repr_html_(self) -> str:
        return in_notebook(self.markup())

    def _intro(self) -> Iterator[str]:
        count = len(self.structures)
        yield f"In {count} part{'s' if count > 1 else ''}, for what is read at several places is computed once."
        yield "Each reads x1, x2, ...: inputs of the program, and results of the parts before it."

    def _lines(self) -> Iterator[str]:
        yield from self._intro()
        for structure in dict.fromkeys(self.structures):
            numbers = [i for i, s in enumerate(self.structures, 1) if s == structure]
            derivation = self.derivations.get(structure)
            how = f"part {numbers[0]}:" if derivation else "no derivation was found."
            yield f"Part{'s' if len(numbers) > 1 else ''} {_ranges(numbers)}, {structure}; {how}"
            if derivation:
                yield str(derivation)


def _ranges(numbers: Sequence[int]) -> str:
    """`_ranges([1, 2, 3, 5]) == "1-3, 5"`."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and runs[-1][-1] == n - 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def explained(parts: Sequence[Part], laws: Laws) -> InParts:
    """The derivations, by these laws, of the first parts of all structures."""
    firsts = {part.structure: part for part in reversed(parts)}
    found: dict[str, Derivation] = {}
    for structure, part in firsts.items():
        with suppress(RuleError):
            target = part.program if part.form is None else part.form
            seconds = SECONDS / len(firsts)
            found[structure] = derive(part.program, target, sizes=part.parameters, seconds=seconds, **laws.of_book)
    return InParts(tuple(part.structure for part in parts), found)
