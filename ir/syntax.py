"""The grammar of the text form as a table: what each head builds, and its slots in order.

The printer and the parser both read this table, so that they cannot disagree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from egglift.ir import patterns as p
from egglift.ir.patterns import LEVELS, Expr, Level
from egglift.ir.scalars import FUNCTIONS


@dataclass(frozen=True)
class Form:
    """`(head slot slot ...)` builds `cls(**fixed, **slots)`.

    A slot is (field, kind); kinds: expr, exprs (the rest), optional (an expr that may be missing), body,
    operator, size, index, type, name, mode.
    """

    head: str
    cls: type[Any]
    slots: tuple[tuple[str, str], ...]
    fixed: dict[str, Any] = field(default_factory=dict)


def _level_head(level: Level) -> str:
    name = "SeqUnroll" if level.kind == "unroll" else level.kind.capitalize()
    indexed = level.kind in ("global", "workgroup", "local")
    return f"map{name}{level.dim if indexed or level.dim else ''}"


_LEVELS = [Level(kind, dim) for kind in LEVELS for dim in range(3)]
SPACES = ("global", "local", "private")
_MAP = (("body", "body"), ("x", "expr"))
_FOLD = (("body", "body"), ("init", "expr"), ("x", "expr"))
_WIDTHS = (("left", "size"), ("right", "size"))
_FORMS = [
    Form("arg", p.Arg, (("type", "type"),)),
    Form("input", p.Input, (("name", "name"), ("type", "type"))),
    Form("iota", p.Iota, (("length", "size"), ("type", "scalar"))),
    Form("fill", p.Fill, (("length", "size"), ("x", "expr"))),
    Form("cast", p.Cast, (("type", "scalar"), ("x", "expr"))),
    Form("tuple", p.Tup, (("items", "exprs"),)),
    Form("get", p.Get, (("index", "index"), ("x", "expr"))),
    Form("map", p.Map, _MAP, {"level": None}),
    *(Form(_level_head(level), p.Map, _MAP, {"level": level}) for level in _LEVELS),
    Form("reduce", p.Reduce, (("op", "operator"), ("init", "expr"), ("x", "expr"))),
    Form("reduceSeq", p.Fold, _FOLD, {"unroll": False}),
    Form("reduceSeqUnroll", p.Fold, _FOLD, {"unroll": True}),
    Form("reduceSeqPrefetch", p.Fold, (("prefetch", "size"), *_FOLD), {"unroll": False}),
    Form("reduceSeqUnrollPrefetch", p.Fold, (("prefetch", "size"), *_FOLD), {"unroll": True}),
    Form("tree", p.Tree, _FOLD),
    Form("iterate", p.Iterate, (("count", "size"), ("body", "body"), ("x", "expr"))),
    Form("zip", p.Zip, (("arrays", "exprs"),)),
    Form("distl", p.Distl, (("a", "expr"), ("b", "expr"))),
    Form("cross", p.Cross, (("a", "expr"), ("b", "expr"))),
    Form("split", p.Split, (("n", "size"), ("x", "expr"))),
    Form("join", p.Join, (("x", "expr"),)),
    Form("transpose", p.Transpose, (("x", "expr"),)),
    Form("stride", p.Stride, (("s", "size"), ("x", "expr"))),
    Form("slide", p.Slide, (("size", "size"), ("step", "size"), ("x", "expr"))),
    Form("pad", p.Pad, (*_WIDTHS, ("mode", "mode"), ("value", "optional"), ("x", "expr"))),
    Form("padUp", p.PadUp, (("multiple", "size"), ("value", "optional"), ("x", "expr"))),
    Form("take", p.Take, (("n", "size"), ("x", "expr"))),
    Form("drop", p.Drop, (("n", "size"), ("x", "expr"))),
    Form("concat", p.Concat, (("a", "expr"), ("b", "expr"))),
    Form("gather", p.Gather, (("indices", "expr"), ("x", "expr"))),
    Form("at", p.At, (("index", "size"), ("x", "expr"))),
    *(Form(f"to{s.capitalize()}", p.To, (("x", "expr"),), {"space": s}) for s in SPACES),
    Form("toLocalPadded", p.To, (("pad", "size"), ("x", "expr")), {"space": "local"}),
    *(Form(op, p.Apply, (("args", "exprs"),), {"op": op}) for op in FUNCTIONS),
]
#: every form by its head
FORMS = {form.head: form for form in _FORMS}
#: heads that the parser reads besides the forms' own
ALIASES = {"fold": "reduceSeq", "foldUnroll": "reduceSeqUnroll"}
#: the fields that have a word of their own only where they are not zero
SCHEDULES = ("prefetch", "pad")
_VARIANTS: dict[tuple[type[Any], Any, bool], str] = {
    (form.cls, next(iter(form.fixed.values()), None), form.slots[0][0] in SCHEDULES): form.head for form in _FORMS
}
#: words that cannot name a `let`
RESERVED = frozenset({"arg", "fn", "let", "true", "false", "inf", "nan", "constant", "operator"})
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def form_of(e: Expr) -> Form:
    """The form that prints `e`; KeyError for literals, constants and what the grammar has no word for."""
    match e:
        case p.Map():
            key: Any = e.level
        case p.Fold():
            key = e.unroll
        case p.To():
            key = e.space
        case p.Apply():
            key = e.op
        case _:
            key = None
    return FORMS[_VARIANTS[type(e), key, any(getattr(e, name, 0) != 0 for name in SCHEDULES)]]
