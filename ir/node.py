"""Hash-consing: building an equal pattern again gives the same object.

A program is a graph with much sharing (`y = x*x; z = y*y; ...`); as trees its comparison, hashing and
traversal would take exponential time.  Here equality is identity, and every memo table is keyed by the node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform
from weakref import WeakValueDictionary

N = TypeVar("N", bound="Node")


class Node:
    """Base of all patterns.  Subclasses are made by `pattern`.

    How they are shown is said in text.py, how they are pickled in parser.py: both know all patterns.
    """

    _interned: ClassVar[WeakValueDictionary[Any, Any]] = WeakValueDictionary()
    _scheme: ClassVar[tuple[str, Mapping[str, str]]]
    _defaults: ClassVar[dict[str, Any]]  # of all fields, in order; MISSING: there is none
    _filled: ClassVar[Callable[..., None]]

    def __init_subclass__(cls, type: str = "", needs: Mapping[str, str] = {}) -> None:
        cls._scheme = type, needs

    def __new__(cls, *args: Any, **named: Any) -> Self:
        if named or len(args) != len(cls._defaults):
            args = cls._all(args, named)
        kinds = tuple(map(type, args))
        # floats by their bits: 0.0 == -0.0, and a NaN equals nothing
        key = cls, kinds, tuple([v.hex() if isinstance(v, float) else v for v in args]) if float in kinds else args
        kept = Node._interned.data.get(key)  # type: ignore[attr-defined]  # its own `get`, in half the time
        known: Self | None = kept and kept()
        if known is None:
            known = object.__new__(cls)
            known._filled(*args)
            Node._interned[key] = known
        return known

    @classmethod
    def _all(cls, args: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """All fields in order; TypeError where these are not its fields."""
        values = (*args, *{**dict([*cls._defaults.items()][len(args) :]), **named}.values())
        if len(values) != len(cls._defaults) or any(v is MISSING for v in values):
            cls._filled(object.__new__(cls), *args, **named)
        return values


@dataclass_transform(frozen_default=True, eq_default=False)
def pattern(cls: type[N]) -> type[N]:
    """A frozen dataclass, whose fields are set when a node is made: not when it is found again."""
    made: Any = dataclass(frozen=True, eq=False, repr=False)(cls)
    made._defaults = {f.name: f.default for f in fields(made)}
    made._filled = made.__init__
    del made.__init__
    found: type[N] = made
    return found
