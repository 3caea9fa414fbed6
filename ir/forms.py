"""Slots: what a pattern consists of.  Forms: how a language outside, text or e-graph, spells a pattern by its slots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, get_args

from egglift.ir.patterns import Expr

#: what a slot holds, by its annotation
KINDS = {
    "Expr": "expr",
    "Expr | None": "optional",
    "tuple[Expr, ...]": "exprs",
    "Body": "body",
    "Operator": "operator",
    "Size": "size",
    "Type": "type",
    "Scalar": "scalar",
    "Level | None": "level",
    "str": "name",
    "int": "index",
    "bool": "flag",
    "bool | int | float": "number",
    "bytes": "data",
}
#: the kinds that hold programs in the scope of the same Arg, and in scopes of their own
IN_SCOPE, BODIES = ("expr", "optional", "exprs"), ("body", "operator")
#: (name, kind) of every slot of a pattern, in order
SLOTS: dict[type[Any], tuple[tuple[str, str], ...]] = {
    cls: tuple((f.name, KINDS[str(f.type)]) for f in fields(cls)) for cls in get_args(Expr)
}


@dataclass(frozen=True)
class Form:
    """`(head slot slot ...)` stands for `cls(**fixed, **slots)`.

    names: the slots in order; by default all that are not fixed.  Others have their defaults.  width: how many
    expressions a slot of several has; by default any number.
    """

    head: str
    cls: type[Any]
    names: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    width: int | None = None

    @cached_property
    def slots(self) -> tuple[tuple[str, str], ...]:
        """(name, kind) of each slot."""
        kinds = dict(SLOTS[self.cls])
        names = self.names or tuple(name for name in kinds if name not in self.fixed)
        return tuple((name, kinds[name]) for name in names)

    def spells(self, e: Any) -> bool:
        """Is `e`, of this class, such a pattern?"""
        if any(getattr(e, name) != value for name, value in self.fixed.items()):
            return False
        return self.width is None or any(len(getattr(e, n)) == self.width for n, kind in self.slots if kind == "exprs")


class Language:
    """Forms of all patterns: those `given`, and for every other class one by its own name.

    named: what becomes of a class' name.  without: classes that are spelled in another way.
    """

    def __init__(
        self, given: Iterable[Form], named: Callable[[str], str] = str, without: frozenset[type[Any]] = frozenset()
    ) -> None:
        special = [*given]
        known = {form.cls for form in special} | without
        plain = [Form(named(cls.__name__), cls) for cls in SLOTS if cls not in known]
        order = [*SLOTS]
        self.forms = {form.head: form for form in sorted((*plain, *special), key=lambda f: order.index(f.cls))}

    def form_of(self, e: Expr) -> Form:
        """The form that spells `e`; KeyError for what this language has no word for."""
        for form in self._by_class.get(type(e), ()):
            if form.spells(e):
                return form
        raise KeyError(e)

    @cached_property
    def _by_class(self) -> dict[type[Any], list[Form]]:
        found: dict[type[Any], list[Form]] = {}
        for form in self.forms.values():
            found.setdefault(form.cls, []).append(form)
        return found
