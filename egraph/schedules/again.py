"""A program made again as it was made before: the same stages, loops and sizes of tiles, over other lengths.

What chooses (which stages, ways and sizes) looks at lengths as numbers.  What it has chosen is kept as *steps*; from
these and a program whose lengths are others, or are traced, the low-level program follows, and no price is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from egglift.egraph.schedules.rows import Row, row_structure_again, rows_of
from egglift.egraph.schedules.steps import Alone, InPieces, Made, Steps
from egglift.egraph.schedules.structures import Structure, structure_again
from egglift.egraph.stages.index_notation import NoStages
from egglift.egraph.stages.merging import merged_reductions
from egglift.egraph.stages.partition import Stages, stages_of
from egglift.egraph.stages.sharing import shared_out
from egglift.egraph.stages.stage import Stage
from egglift.ir import patterns as p
from egglift.ir.errors import CodegenError
from egglift.ir.patterns import Expr
from egglift.ir.traverse import exchanged, instantiate, subterms


def made_again(program: Expr, steps: Steps, kind: str, reassociate: bool) -> Expr:
    """The low-level program that these steps make of a program.  CodegenError where they make none."""
    whole, work = _stages_again(program, steps, kind, reassociate)
    return together(whole, [work.of_stage(s, made) for s, made in zip(whole.stages, steps.stages, strict=True)])


def structures_again(
    program: Expr, steps: Steps, kind: str, reassociate: bool
) -> list[tuple[Structure, dict[str, int]]]:
    """The structures of a program's stages that these steps chose, sizes still symbols, and the sizes they chose."""
    whole, work = _stages_again(program, steps, kind, reassociate)
    found = []
    for stage, made in zip(whole.stages, steps.stages, strict=True):
        for s, alone in work.pieces(stage, made):
            found.append((work.structure(s, alone.made), dict(alone.sizes)))
    return found


def _stages_again(program: Expr, steps: Steps, kind: str, reassociate: bool) -> tuple[Stages, _Again]:
    """The stages for which there are steps, in order."""
    try:
        whole = stages_of(program, reassociate, steps.by)
    except NoStages as error:
        raise _lost(str(error)) from None
    row = None
    if steps.row is not None:
        row = next((r for i, r in enumerate(rows_of(whole)) if i == steps.row), None)
        if row is None:
            raise _lost("no stages start within another")
        whole = Stages(row.left(whole.stages), whole.result)
    if len(whole.stages) != len(steps.stages):
        raise _lost(f"{len(whole.stages)} stages, and not {len(steps.stages)}")
    return whole, _Again(kind, reassociate, row)


def _lost(why: str) -> CodegenError:
    return CodegenError(f"the steps that were chosen make no program of these lengths: {why}")


@dataclass(frozen=True)
class _Again:
    kind: str
    reassociate: bool
    row: Row | None

    def of_stage(self, stage: Stage, made: Alone | InPieces) -> Expr:
        *before, (last, alone) = self.pieces(stage, made)
        terms = {parts.name: p.To("global", self._alone(parts, first)) for parts, first in before}
        return placed(self._alone(last, alone), terms) if before else self._alone(last, alone)

    def pieces(self, stage: Stage, made: Alone | InPieces) -> list[tuple[Stage, Alone]]:
        """A stage as it was made: itself, or its reductions in parts and what adds these."""
        match made:
            case InPieces(pieces, first, last):
                parts, added = shared_out(merged_reductions(stage), pieces)
                return [(parts, first), (added, last)]
            case Alone():
                return [(stage, made)]

    def _alone(self, stage: Stage, made: Alone) -> Expr:
        return instantiate(self.structure(stage, made.made).term, dict(made.sizes))

    def structure(self, stage: Stage, made: Made) -> Structure:
        """The structure of a stage that was made so; CodegenError where the laws make none."""
        if made.starts:
            found = row_structure_again(self.row, made) if self.row is not None else None
        else:
            found = structure_again(stage, made, self.kind, self.reassociate)
        if found is None:
            raise _lost(f"{stage.name} has no loops by the way of {made.way}")
        return found


def together(whole: Stages, terms: Sequence[Expr]) -> Expr:
    """Low-level programs of all stages as one program."""
    known: dict[str, Expr] = {}
    place(dict(zip((s.name for s in whole.stages), terms, strict=True)), known)
    result = placed(whole.result, known)
    return result.x if isinstance(result, p.To) else result


def place(terms: Mapping[str, Expr], known: dict[str, Expr]) -> None:
    """Adds the programs of stages, in order, to those of stages before."""
    for name, term in terms.items():
        known[name] = p.To("global", placed(term, known))


def arranged(whole: Stages, terms: Mapping[str, Expr], arrays: Mapping[str, Expr]) -> Expr:
    """Low-level programs of stages as one program, in whatever order they read each other.

    arrays: what is read of kernels that yield several arrays, by name; it is a view of what these yield.
    """
    known: dict[str, Expr] = {}

    def add(e: Expr) -> None:
        names = {t.name: None for t in subterms(e) if isinstance(t, p.Input)}
        for name in names:
            if name not in known and (name in arrays or name in terms):
                term = arrays.get(name) or terms[name]
                add(term)
                known[name] = placed(term, known) if name in arrays else p.To("global", placed(term, known))

    add(whole.result)
    result = placed(whole.result, known)
    return result.x if isinstance(result, p.To) else result


def beside(whole: Stages, terms: Mapping[str, Expr], name: str, wanted: Sequence[str]) -> Expr:
    """Low-level programs of stages as one program, where that of stage `name` yields a tuple: of its own array, and of
    those that are wanted, of other stages."""
    parts = terms[name]
    assert isinstance(parts, p.Tup)
    own, *arrays = parts.items
    return arranged(whole, {**terms, name: own}, dict(zip(wanted, arrays, strict=True)))


def placed(e: Expr, terms: Mapping[str, Expr]) -> Expr:
    """`e` with the programs of other stages for the inputs named after these."""
    inputs = (t for t in subterms(e) if isinstance(t, p.Input))
    return exchanged(e, {t: terms[t.name] for t in inputs if t.name in terms})
