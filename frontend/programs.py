"""`from_c`: a function or a loop nest of C as a program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from egglift.frontend.dependence import is_empty
from egglift.frontend.lower import RETURNED, Lowering
from egglift.frontend.private import privatized
from egglift.frontend.schedule import Schedule
from egglift.frontend.shapes import shaped
from egglift.frontend.source import Source, read_source
from egglift.frontend.stages import Stages
from egglift.ir import notation
from egglift.ir.errors import ProgramError
from egglift.ir.value import Value


def from_c(
    path_or_text: str | os.PathLike[str], function: str | None = None, sizes: Mapping[str, Any] | None = None
) -> Value:
    """A loop nest of C as a program: `el.from_c("gemm.c", sizes={"n": 1024})`.

    path_or_text: a file, or a text; either with functions, or with declarations and a nest.  function: which one, if
    there are several that no other one calls.  sizes: whole numbers for parameters and undeclared names that lengths
    and bounds depend on, and lengths of arrays that are given as pointers, as a tuple.

    The program's inputs are the arrays and numbers that are read before they are written, under their names; a pointer
    whose subscripts are `i*w + k` is an array of rows.  Its result is what is written, in the order of the parameters,
    and then what the function returns; a tuple, if that is several things.  Elements that are not written stay.
    Parameters must not overlap in memory.

    ProgramError names file, line and column of what is not taken, why, and what to do.
    """
    try:
        import pycparser  # noqa: F401
    except ImportError as error:
        raise ProgramError(f"loop nests need pycparser ({error}): pip install 'egglift[c]'") from None
    source = read_source(path_or_text)
    lowering = Lowering(source, dict(sizes or {}))
    if source.bare is not None:
        lowering.nest(source.bare)
    else:
        lowering.function(_chosen(source, function))
    statements = [s for s in lowering.statements if not is_empty(s)]
    written = {s.target.array for s in lowering.statements}
    statements, shapes = shaped(statements, lowering.variables, lowering.sizes, source.file)
    statements, variables, shapes = privatized(statements, lowering.variables, shapes)
    stages = Stages(variables, shapes, source.file)
    Schedule(stages).run(statements)
    names = [n for n, v in lowering.variables.items() if v.given and n in written]
    results = [stages.array(n) for n in sorted(names, key=lambda n: n == RETURNED)]
    if not results:
        raise ProgramError(f"{source.file}: nothing is written that the caller sees, and nothing is returned")
    return results[0] if len(results) == 1 else notation.tuple(*results)


def _chosen(source: Source, name: str | None) -> Any:
    """The function of a name, or the only one that no other one calls."""
    from egglift.frontend.variables import all_nodes

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
