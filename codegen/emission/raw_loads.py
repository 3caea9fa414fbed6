"""What is loaded of a computed value, by its place in the computation: it can wait in a register as it was loaded.

    exp(S[i, k] - m[i])   ->   r = S[i, k];  ...;  exp(r - m[i])

A value that is computed at once waits for its load; what is only loaded does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from egglift.codegen.kernel.imperative import Call, Load, ScalarValue
from egglift.codegen.kernel.views import View

#: which argument of which function, from the outside in
Path: TypeAlias = tuple[int, ...]


def main_load(value: View) -> Path | None:
    """Where the load is that depends on most of what a computed value's loads depend on; None where there is none, or
    where it is the value itself, or happens under a condition."""
    if not isinstance(value, Call):
        return None
    found = {path: load for path, load in _loads(value) if load.buffer.space == "global"}
    return max(found, key=lambda path: len(found[path].at.variables()), default=None)


def load_at(value: View, path: Path) -> Load | None:
    """The load at a path; None where another computation stands there."""
    for i in path:
        if not isinstance(value, Call) or i >= len(value.args):
            return None
        value = value.args[i]
    return value if isinstance(value, Load) and value.buffer.space == "global" else None


def with_load(value: View, path: Path, loaded: View) -> ScalarValue:
    """A scalar value with what was loaded for the load at a path."""
    if not path:
        assert isinstance(loaded, Load)
        return loaded
    assert isinstance(value, Call)
    i = path[0]
    args = (*value.args[:i], with_load(value.args[i], path[1:], loaded), *value.args[i + 1 :])
    return replace(value, args=args)


def _loads(value: ScalarValue, path: Path = ()) -> Iterator[tuple[Path, Load]]:
    match value:
        case Load():
            yield path, value
        case Call(_, args):
            for i, x in enumerate(args):
                yield from _loads(x, (*path, i))
