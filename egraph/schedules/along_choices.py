"""Choices of stages that go along an axis as a whole: scans, and counts, of whole rows or of parts of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf

from egglift.egraph.schedules.again import placed
from egglift.egraph.schedules.bounds import traffic_seconds
from egglift.egraph.schedules.choice import KEPT, Choice, counting, of_all_kinds, scanning
from egglift.egraph.schedules.combined import Combining
from egglift.egraph.schedules.count_choices import lengths_of_parts, whole_counts
from egglift.egraph.schedules.scan_choices import ScanSearch, in_order
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.counts import counted_in_parts
from egglift.egraph.stages.scans import Chunks, of_chunks
from egglift.egraph.stages.stage import Stage
from egglift.ir import patterns as p


@dataclass
class AlongAxes(Combining):
    """several: are choices wanted that measuring chooses from, or the model's alone?"""

    reassociate: bool
    several: bool

    @abstractmethod
    def of_stage(self, stage: Stage, alone: bool) -> list[Choice]:
        """The cheapest choices of any stage, as parts of one that goes along an axis are.  alone: is it the program?"""

    def of_scan(self, stage: Stage, thorough: bool = True) -> list[Choice]:
        """The cheapest choices of a stage that scans: of whole rows, and of chunks of them."""
        search = ScanSearch(self.profile, self.limits, self.reassociate, thorough and self.several)
        found = [scanning(stage, x) for x in search.whole(stage)]
        best = min((c.seconds for c in found), default=inf)
        for length, chunks in search.cut(stage):
            read = chunks.totals, chunks.chunks  # each goes through what is scanned
            if sum(traffic_seconds(as_pattern(s), self.profile) for s in read) < best:
                found += self._in_chunks(stage, length, chunks, search)
        for length, chunks in search.cut(stage, linked=True):
            found += self._linked(stage, length, chunks, search)
        return of_all_kinds(sorted(found, key=lambda c: c.seconds))[:KEPT]

    def _in_chunks(self, stage: Stage, length: int, chunks: Chunks, search: ScanSearch) -> Iterator[Choice]:
        totals, carries = self.of_stage(chunks.totals, alone=False), self.of_scan(chunks.carries, thorough=False)
        found = search.whole(chunks.chunks, lambda array: of_chunks(stage, chunks, array))
        wholes = [] if chunks.whole is None else self.of_stage(chunks.whole, alone=False)[:1]
        for x in found[:2] if totals and carries else ():
            parts = (totals[0], carries[0], scanning(chunks.chunks, x), *wholes)
            term = in_order(chunks, [c.term for c in parts], placed)
            sign = f"chunks of {length}: {'; '.join(c.sign for c in parts)}"
            yield from self.priced(sign, term, parts)

    def _linked(self, stage: Stage, length: int, chunks: Chunks, search: ScanSearch) -> Iterator[Choice]:
        """Chunks by groups that look back, which need no carries; and what reduces their parts."""
        for x in search.linked(stage, chunks)[:2]:
            first = scanning(stage, replace(x, sign=(sign := f"linked chunks of {length}")))
            if chunks.whole is None:
                yield first
                continue
            for last in self.of_stage(chunks.whole, alone=False)[:1]:
                term = placed(last.term, {chunks.chunks.name: p.To("global", first.term)})
                yield from self.priced(f"{sign}; {last.sign}", term, (first, last))

    def of_counts(self, stage: Stage) -> list[Choice]:
        """The cheapest choices of a stage that counts: of whole rows, and of parts of them, which are added."""
        found = [counting(stage, x) for x in whole_counts(stage, self.profile, self.limits)]
        for length in lengths_of_parts(stage, self.profile):
            parts, added = counted_in_parts(stage, length)
            firsts = [counting(parts, x) for x in whole_counts(parts, self.profile, self.limits)]
            for last in self.of_stage(added, alone=False)[:1] if firsts else ():
                term = placed(last.term, {parts.name: p.To("global", firsts[0].term)})
                found += self.priced(f"parts of {length}: {firsts[0].sign}; {last.sign}", term, (firsts[0], last))
        return of_all_kinds(sorted(found, key=lambda c: c.seconds))[:KEPT] if found else []
