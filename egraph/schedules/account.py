"""How a low-level program was made of stages and schedules, to be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from egglift.codegen.kernel import views
from egglift.codegen.kernel.imperative import Unit
from egglift.egraph.explanation.marked import in_notebook, marked_account
from egglift.egraph.schedules.schedule import RESULT, Keep, Loop, Schedule
from egglift.egraph.stages.matrix_products import unit_of
from egglift.egraph.stages.stage import Stage
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.types import F32, TF32


@dataclass(frozen=True)
class Account:
    """text: a paragraph for each stage; laws: those of rules/schedule.egg that it took, each once."""

    text: str
    laws: tuple[str, ...]

    def __str__(self) -> str:
        return self.text

    def markup(self) -> Element:
        """The same as HTML, with what the laws made of plain loops marked."""
        return marked_account(self.text, self.laws)

    def _repr_html_(self) -> str:
        return in_notebook(self.markup())


def account_of(
    stage: Stage, sign: str, schedule: Schedule, sizes: Mapping[str, int], text: str | None = None
) -> Account:
    """The stage, and its loops from the outside in, with the numbers that were chosen for their blocks.

    text: of the stage, where it is known.
    """
    order = {d: i for i, d in enumerate(dict.fromkeys(loop.dim for loop in schedule.loops))}
    lines = [text_of(stage) if text is None else text, f"  {sign}{said_sizes(sizes.items())}"]
    depth, unit = 2, unit_of(stage)
    for step in schedule.steps:
        match step:
            case Loop():
                digit = f"{order[step.dim]}{_digit(step, schedule)}"
                lines.append(f"{'  ' * depth}for {digit}: {_executor(step, unit)}")
                depth += 1
            case Keep(operand, space, swizzle=by):
                what = "results" if operand == RESULT else f"operand {operand}"
                lines.append(f"{'  ' * depth}keep {what} in {space} memory{_lying(by)}")
    return Account("\n".join(lines), laws_of(schedule))


def _lying(swizzle: int) -> str:
    """How rows lie in local memory, where not one after the other."""
    match swizzle:
        case 0:
            return ""
        case views.EXCHANGED:
            return ", as warp groups read it"
    return f", each row rotated by {16 * swizzle} bytes more"


def laws_of(schedule: Schedule) -> tuple[str, ...]:
    """The laws that lead from the plain loops to a schedule."""
    kept = {s.operand == RESULT for s in schedule.steps if isinstance(s, Keep)}
    cut = any(blocks for _, blocks in schedule.cuts)
    return (
        *(("split", "interchange") if cut else ()),
        *(("keep",) if False in kept else ()),
        *(("keep-result",) if True in kept else ()),
    )


def joined(accounts: Iterable[Account]) -> Account:
    """The accounts of several stages, in order."""
    parts = list(accounts)
    laws = dict.fromkeys(law for a in parts for law in a.laws)
    return Account("\n".join(a.text for a in parts), tuple(laws))


def _executor(loop: Loop, unit: Unit | None) -> str:
    if loop.level is not None or loop.kind != "matrix":
        ahead = f", copied ahead into {loop.buffers} buffers" if loop.buffers else ""
        return f"{loop.level or loop.kind}{ahead}"
    rounded = {F32: ", factors rounded to tf32, 11 bits", TF32: ", factors were rounded to tf32, 11 bits"}
    return f"on matrix units{rounded.get(unit.scalar, '') if unit is not None else ''}"


def _digit(loop: Loop, schedule: Schedule) -> str:
    blocks = schedule.blocks(loop.dim)
    if not blocks:
        return ""
    if loop.digit < len(blocks):
        return f" by {blocks[loop.digit]}"
    return " inside"


def said_sizes(sizes: Iterable[tuple[str, int]]) -> str:
    """The numbers that were chosen, behind the name of a way."""
    found = ", ".join(f"{k} = {v}" for k, v in sorted(sizes))
    return f": {found}" if found else ""
