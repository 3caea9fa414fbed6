"""Hash-consing: building an equal pattern again gives the same object.

A program is a graph with much sharing (`y = x*x; z = y*y; ...`); as trees its comparison, hashing and
traversal would take exponential time.  Here equality is identity, and every memo table is keyed by the node.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary


class Node:
    """Base of all patterns.  Subclasses are frozen dataclasses with `eq=False` and `repr=False`."""

    _interned: ClassVar[WeakValueDictionary[Any, Any]] = WeakValueDictionary()

    def __new__(cls, *args: Any, **named: Any) -> Self:
        fields = cls.__dataclass_fields__  # type: ignore[attr-defined]
        values = args + tuple(named.get(name, field.default) for name, field in list(fields.items())[len(args) :])
        # floats by their bits: 0.0 == -0.0, and a NaN equals nothing
        key = (cls, *(v.hex() if isinstance(v, float) else (type(v), v) for v in values))
        found: Self | None = Node._interned.get(key)
        if found is None:
            found = object.__new__(cls)
            Node._interned[key] = found
        return found

    def __repr__(self) -> str:
        """A short text, for a full one would be as long as the program's tree."""
        from egglift.ir.text import brief  # the printer knows the patterns

        return f"<{brief(self)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """As text: node by node, pickle would need a frame of its own for each level."""
        from egglift.ir.text import dumps

        return _loaded, (dumps(self),)


def _loaded(text: str) -> Node:
    from egglift.ir.parser import parse

    found: Node = parse(text, check=False)
    return found
