"""Hash-consing: building an equal pattern again gives the same object.

A program is a graph with much sharing (`y = x*x; z = y*y; ...`); as trees its comparison, hashing and
traversal would take exponential time.  Here equality is identity, and every memo table is keyed by the node.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary


class Node:
    """Base of all patterns.  Subclasses are frozen dataclasses with `eq=False` and `repr=False`.

    How they are shown is said in text.py, how they are pickled in parser.py: both know all patterns.
    """

    _interned: ClassVar[WeakValueDictionary[Any, Any]] = WeakValueDictionary()
    _scheme: ClassVar[tuple[str, Mapping[str, str]]]

    def __init_subclass__(cls, type: str = "", needs: Mapping[str, str] = {}) -> None:
        cls._scheme = type, needs

    def __new__(cls, *args: Any, **named: Any) -> Self:
        fields = cls.__dataclass_fields__  # type: ignore[attr-defined]
        values = args
        if len(args) < len(fields):
            values += tuple(named.get(name, field.default) for name, field in list(fields.items())[len(args) :])
        # floats by their bits: 0.0 == -0.0, and a NaN equals nothing
        key = (cls, *(v.hex() if isinstance(v, float) else (type(v), v) for v in values))
        known: Self | None = Node._interned.get(key)
        if known is None:
            known = object.__new__(cls)
            Node._interned[key] = known
        return known
