"""`from_c`: a function or a loop nest of C as a program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from egglift.ir.errors import ProgramError, TypeMismatch
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
        from egglift.frontend.translation import translated  # a parser and integer sets, which not everybody installs
    except ImportError as error:
        raise ProgramError(f"loop nests need a parser and integer sets ({error}): pip install 'egglift[c]'") from None
    if not isinstance(path_or_text, str | os.PathLike):
        raise TypeMismatch(f"from_c takes the name of a file of C, or a text, and not {path_or_text!r}")
    return translated(path_or_text, function, sizes or {}).value
