"""What griffe, which reads docstrings for the reference, calls: names of parameters and fields begin items of lists."""

from __future__ import annotations

from typing import Any

import griffe

from docs.site.docstrings import as_list


class Parameters(griffe.Extension):
    """Names of parameters, and of fields, at the beginning of sentences."""

    def on_function(self, *, func: Any, **_: Any) -> None:
        """Of a function, its parameters."""
        _listed(func, {parameter.name for parameter in func.parameters})

    def on_class(self, *, cls: Any, **_: Any) -> None:
        """Of a class, its fields, and what it is made from."""
        made_from = cls.members["__init__"].parameters if "__init__" in cls.members else ()
        _listed(cls, {*cls.members, *(parameter.name for parameter in made_from)})


def _listed(thing: Any, names: set[str]) -> None:
    if thing.docstring:
        thing.docstring.value = as_list(thing.docstring.value, names)
