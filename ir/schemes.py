"""The types of patterns as schemes: what each of their slots takes, what they give, and what lengths must satisfy.

They are written beside the patterns, in the text form's notation of types: `(s -> t) -> [s]n -> [t]n`.  A name where
a type stands is a variable, or the field of that name; so are names where a length stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from egglift.ir.forms import SLOTS
from egglift.ir.reader import Reader
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.types import Array, Scalar, Tuple, Type


@dataclass(frozen=True)
class Variable(Scalar):
    """Any type, the same wherever the name stands."""


@dataclass(frozen=True)
class Function:
    """The type of a body: of what it is applied to, and of what it gives."""

    takes: Type
    gives: Type


@dataclass(frozen=True)
class Need:
    """A condition.  relation: `<=`, `<` or `divides` between two lengths; `integer` or `scalar` of the type `a`.

    message: what is said where it does not hold; `{n}` stands for a length or a type.
    """

    relation: str
    a: Any
    b: Size
    message: str


@dataclass(frozen=True)
class Scheme:
    """takes: the types of the slots that are programs, in order.  gives: the type of the result."""

    takes: tuple[Type | Function, ...]
    gives: Type
    needs: tuple[Need, ...] = ()


def scheme(text: str, needs: Mapping[str, str] = {}) -> Scheme:
    """The scheme that a text describes, and its conditions with their messages."""
    *takes, gives = _Reader(text).scheme()
    assert not isinstance(gives, Function)
    return Scheme(tuple(takes), gives, tuple(need for text in needs for need in _Reader(text).needs(needs[text])))


def variables(t: Type | Function) -> Iterator[str]:
    """The names in a type of a scheme: of types and of lengths, left to right."""
    match t:
        case Function(takes, gives):
            yield from variables(takes)
            yield from variables(gives)
        case Array(n, element):
            yield from _names(n)
            yield from variables(element)
        case Tuple(items):
            for item in items:
                yield from variables(item)
        case Scalar(name):
            yield name


def _names(n: Size) -> Iterator[str]:
    match n:
        case Sym(name):
            yield name
        case SizeOp(_, a, b):
            yield from _names(a)
            yield from _names(b)


def told(wanted: Type | Function, t: Type) -> dict[str, Type]:
    """What the type variables in a scheme's type stand for where it is a `t`."""
    match wanted, t:
        case Variable(name), _:
            return {name: t}
        case Array(_, element), Array(_, found):
            return told(element, found)
    return {}


def filled(t: Type, types: Mapping[str, Type], length: Callable[[Size], Size] = lambda n: n) -> Type:
    """A type of a scheme with what its variables and lengths stand for."""
    match t:
        case Array(n, element):
            return Array(length(n), filled(element, types, length))
        case Tuple(items):
            return Tuple(tuple(filled(item, types, length) for item in items))
        case Variable(name):
            return types[name]
    return t


class _Reader(Reader):
    """Reads types in which names that are no scalar types are variables."""

    def scalar(self) -> Scalar:
        return Variable(self.name("a type"))

    def scheme(self) -> Iterator[Type | Function]:
        yield self.part()
        while self.match(_ARROW):
            yield self.part()

    def part(self) -> Type | Function:
        start = self.pos
        if self.peek() == "(":
            self.pos += 1
            takes = self.type()
            if self.match(_ARROW):
                gives = self.type()
                self.expect(")", "after the type of a body")
                return Function(takes, gives)
            self.pos = start
        return self.type()

    def needs(self, message: str) -> Iterator[Need]:
        """`0 <= n < m`, `n divides m`, `t is integer`."""
        a = self.size()
        while relation := self.match(_RELATION):
            if relation == "is":
                assert isinstance(a, Sym)
                yield Need(self.name("what it must be"), Variable(a.name), 0, message)
            else:
                b = self.size()
                yield Need(relation, a, b, message)
                a = b


_ARROW, _RELATION = re.compile("->"), re.compile("<=|<|divides|is")
#: the scheme of every pattern that has one; of those with several programs in one slot, that for two
SCHEMES = {cls: scheme(*cls._scheme) for cls in SLOTS if cls._scheme[0]}
