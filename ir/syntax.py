"""The grammar of the text form: one list for every pattern, `(head slot slot ...)`.

The printer and the parser both read this, so that they cannot disagree.
"""

from __future__ import annotations

import re
from typing import Any

from egglift.ir import patterns as p
from egglift.ir.forms import SLOTS, Form, Language
from egglift.ir.patterns import LEVELS, Expr, Level
from egglift.ir.scalars import FUNCTIONS, PARTS


def _level_head(level: Level) -> str:
    name = "SeqUnroll" if level.kind == "unroll" else level.kind.capitalize()
    indexed = level.kind in ("global", "workgroup", "local")
    return f"map{name}{level.dim if indexed or level.dim else ''}"


_LEVELS = [Level(kind, dim) for kind in LEVELS for dim in range(3)]
_PLAIN: dict[str, Any] = {"unroll": False, "prefetch": 0, "matrix": False, "buffers": 0, "ends": None}  # of folds
_AHEAD = ("prefetch", "body", "init", "x")
_BUFFERS = ("buffers", "body", "init", "x")


def _without(*names: str) -> dict[str, Any]:
    return {name: value for name, value in _PLAIN.items() if name not in names}


_TEXT = Language(
    [
        Form("tuple", p.Tup),
        Form("map", p.Map, fixed={"level": None}),
        *(Form(_level_head(level), p.Map, fixed={"level": level}) for level in _LEVELS),
        Form("reduceSeq", p.Fold, fixed=_PLAIN),
        Form("reduceSeqUnroll", p.Fold, fixed=_PLAIN | {"unroll": True}),
        Form("reduceSeqPrefetch", p.Fold, _AHEAD, _without("prefetch")),
        Form("reduceSeqUnrollPrefetch", p.Fold, _AHEAD, _without("prefetch") | {"unroll": True}),
        Form("reduceSeqMatrix", p.Fold, fixed=_PLAIN | {"matrix": True}),
        Form("reduceSeqBuffers", p.Fold, _BUFFERS, _without("buffers")),
        Form("reduceSeqEnds", p.Fold, ("prefetch", "ends", "body", "init", "x"), _without("prefetch", "ends")),
        Form("pad", p.Pad, ("left", "right", "mode", "value", "x")),
        Form("padUp", p.PadUp, ("multiple", "value", "x")),
        *(Form(f"to{s.capitalize()}", p.To, fixed={"space": s, "pad": 0, "swizzle": 0}) for s in p.SPACES),
        Form("toLocalPadded", p.To, ("pad", "x"), {"space": "local", "swizzle": 0}),
        Form("toLocalSwizzled", p.To, ("swizzle", "x"), {"space": "local", "pad": 0}),
        *(Form(op, p.Apply, fixed={"op": op}) for op in (*FUNCTIONS, *PARTS)),
    ],
    named=lambda name: name[0].lower() + name[1:],
    without=frozenset({p.Literal, p.Constant}),
)
#: every form by its head
FORMS = _TEXT.forms
#: the form that prints an expression; KeyError for literals, constants and what the grammar has no word for
form_of = _TEXT.form_of
#: heads that the parser reads besides the forms' own
ALIASES = {"fold": "reduceSeq", "foldUnroll": "reduceSeqUnroll"}
#: words that cannot name a `let`
RESERVED = frozenset({"arg", "fn", "let", "true", "false", "inf", "nan", "constant", "operator"})
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def head(e: Expr) -> str:
    """The name of a pattern: `mapLocal0`, `toPrivate`, `add`; of its class where the grammar has no word for it."""
    try:
        return form_of(e).head
    except KeyError:
        return type(e).__name__.lower()


def parts(e: Expr) -> list[Any]:
    """What a pattern consists of, in the order of the text form; None for what may be left out."""
    try:
        names = [name for name, _ in form_of(e).slots]
    except KeyError:
        names = [name for name, _ in SLOTS[type(e)]]
    values = [getattr(e, name) for name in names]
    return [v for value in values for v in (value if isinstance(value, tuple) else (value,))]
