"""What is computed once for an object that never changes, and kept with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Generic, TypeVar, overload

C = TypeVar("C")
T = TypeVar("T")


class kept(Generic[T]):
    """An attribute that is computed when it is first asked for: functools.cached_property without its lock.

    Until Python 3.12 that takes longer than most of what is computed here.  Two threads may both compute it.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute, self.name, self.__doc__ = compute, compute.__name__, compute.__doc__

    @overload
    def __get__(self, of: None, owner: type[Any]) -> kept[T]: ...
    @overload
    def __get__(self, of: object, owner: type[Any]) -> T: ...
    def __get__(self, of: object | None, owner: type[Any]) -> kept[T] | T:
        if of is None:
            return self
        found: T = self.compute(of)
        of.__dict__[self.name] = found
        return found


def hashed_once(cls: type[C]) -> type[C]:
    """A frozen dataclass whose objects keep their hash, and equal themselves without being looked through.

    For what is a key again and again, and made of what is.  Only its fields are pickled: texts have other hashes in
    another process.
    """
    made: Any = cls
    whole_hash, whole_eq = made.__hash__, made.__eq__

    def __hash__(self: Any) -> int:
        memo = self.__dict__
        found: int | None = memo.get("_hash")
        if found is None:
            found = memo["_hash"] = whole_hash(self)
        return found

    def __eq__(self: Any, other: object) -> Any:
        return True if self is other else whole_eq(self, other)

    def __getstate__(self: Any) -> dict[str, Any]:
        return {f.name: self.__dict__[f.name] for f in fields(self)}

    made.__hash__, made.__eq__, made.__getstate__ = __hash__, __eq__, __getstate__
    return cls
