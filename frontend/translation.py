"""A function or a loop nest of C, step by step to a value of a program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from egglift.frontend.accesses import refuse_unwritten
from egglift.frontend.dependence import is_empty
from egglift.frontend.lower import RETURNED, Lowering
from egglift.frontend.private import privatized
from egglift.frontend.schedule import Schedule
from egglift.frontend.shapes import shaped
from egglift.frontend.source import Source, read_source
from egglift.frontend.stages import Stages
from egglift.frontend.variables import Variable, all_nodes
from egglift.ir import notation
from egglift.ir.errors import ProgramError
from egglift.ir.value import Value


@dataclass(frozen=True)
class Translation:
    """A function or a nest as a program.

    value: the program; variables: what the caller gives, in order; results: those that are written, in the order of
    the program's results, and RETURNED for what the function returns; function: its tree, None for a nest.
    """

    value: Value
    variables: tuple[Variable, ...]
    results: tuple[str, ...]
    source: Source
    function: Any


def translated(path_or_text: str | os.PathLike[str], function: str | None, sizes: Mapping[str, Any]) -> Translation:
    """What `from_c` gives, and how it belongs to the text.

    A loop such as `for (j = i; j < i + 4; j++)` is counted from `i` on; where that leads to no program, from 0 on.
    """
    source = read_source(path_or_text, sizes)
    try:
        return _program(source, function, Lowering(source, dict(sizes)))
    except ProgramError:
        with suppress(ProgramError):
            return _program(source, function, Lowering(source, dict(sizes), shifted=False))
        raise


def _program(source: Source, name: str | None, lowering: Lowering) -> Translation:
    function = None if source.bare is not None else _chosen(source, name)
    if function is None:
        lowering.nest(source.bare)
    else:
        lowering.function(function)
    statements = [s for s in lowering.statements if not is_empty(s)]
    written = {s.target.array for s in lowering.statements}
    statements, shapes = shaped(statements, lowering.variables, lowering.sizes, source.file)
    refuse_unwritten(statements, lowering.variables, source.file)
    statements, variables, shapes = privatized(statements, lowering.variables, shapes)
    stages = Stages(variables, shapes, source.file)
    Schedule(stages).run(statements)
    given = {n: v for n, v in lowering.variables.items() if v.given}
    names = sorted((n for n in given if n in written), key=lambda n: n == RETURNED)
    results = [stages.array(n) for n in names]
    if not results:
        raise ProgramError(f"{source.file}: nothing is written that the caller sees, and nothing is returned")
    value = results[0] if len(results) == 1 else notation.tuple(*results)
    return Translation(value, tuple(v for n, v in given.items() if n != RETURNED), tuple(names), source, function)


def _chosen(source: Source, name: str | None) -> Any:
    """The function of a name, or the only one that no other one calls."""
    if name is not None:
        if name not in source.functions:
            raise ProgramError(f"{source.file} has no function {name}; it has {', '.join(source.functions) or 'none'}")
        return source.functions[name]
    called = {
        getattr(n.name, "name", "") for f in source.functions.values() for n in all_nodes(f.body) if hasattr(n, "args")
    }
    found = [n for n in source.functions if n not in called]
    if len(found) != 1:
        raise ProgramError(
            f"{source.file} has the functions {', '.join(found)}: name one, function={(found or ['...'])[0]!r}"
        )
    return source.functions[found[0]]
