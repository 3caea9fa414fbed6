"""What the equation of a law names, and what its rules take and make: by their patterns, of any lengths and types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from egglift.egraph.rules.egglog_core import Call, Eq, Expr_, Let, Lit, Rule, Union, Var
from egglift.egraph.rules.language import signatures

NOTATION = Path(__file__).parent.parent / "docs" / "laws.md"
#: what functions, tuples and numbers are made of: an equation writes them otherwise
UNNAMED = {"Arg", "Tup", "Fst", "Snd", "Subst", "Op1", "Op2", "Op3", "Lit", "Iota"}
LEVELS = {"Seq": "mapSeq", "Unroll": "mapSeqUnroll", "Device": "mapDevice"}


@dataclass(frozen=True)
class Sides:
    """The patterns that are named on the left and on the right of an equation, and in the definitions behind it."""

    left: frozenset[str]
    right: frozenset[str]
    beside: frozenset[str]


def sides(equation: str) -> Sides:
    """`map f x = mapSeq f x, x = zip a b` names map on the left, mapSeq on the right, and zip beside."""
    left, right = _cut(equation.rpartition(": ")[2], " = ")
    right, beside = _cut(right, ", ")
    return Sides(named(left), named(right), named(beside))


def named(text: str) -> frozenset[str]:
    """The patterns that a text names; abbreviations stand for what they are short for."""
    words = re.findall(r"[A-Za-z]\w*", text)
    return frozenset(w for word in words for w in abbreviations().get(word, {word} & {*_names()}))


@cache
def abbreviations() -> Mapping[str, frozenset[str]]:
    """The patterns that each abbreviation of docs/laws.md is short for."""
    found: dict[str, frozenset[str]] = {}
    for short, long in re.findall(r"^\| (`[^|]*`) \| (.*) \|$", NOTATION.read_text(), re.MULTILINE):
        code = " ".join(re.findall(r"`([^`]*)`", long))
        words = re.findall(r"[A-Za-z]\w*", code)
        patterns = frozenset(w for word in words for w in found.get(word, {word} & {*_names()}))
        found |= dict.fromkeys(re.findall(r"`(\w+)", short), patterns)
    return found


# ----------------------------------------------------------------------------------------- rules


@dataclass(frozen=True)
class Rewriting:
    """One union of a rule, its left and its right side with all names written out."""

    left: Any
    right: Any


def rewritings(rule: Rule) -> Iterator[Rewriting]:
    """What a rule says is equal to what."""
    patterns = {f.left.name: f.right for f in rule.body if isinstance(f, Eq) and _is_pattern(f.right)}
    lets = {action.lhs: action.rhs for action in rule.head if isinstance(action, Let)}
    names = {**patterns, **lets}
    for action in rule.head:
        if isinstance(action, Union) and isinstance(action.lhs, Var):
            yield Rewriting(_written_out(action.lhs, patterns), _written_out(action.rhs, names))


def asked(rule: Rule) -> tuple[str, ...]:
    """The facts that a rule wants to be derived: `ask1 g (tile x)`."""
    facts = [a.expr for a in rule.head if isinstance(a, Expr_)]
    return tuple(" ".join([f.name, *map(_word, f.args)]) for f in facts)


def made(part: Any) -> frozenset[str]:
    """The patterns of a side, by the names that equations give them."""
    return frozenset(_made(part))


def undoes(back: Rewriting, law: Rewriting) -> bool:
    """Does `back` make the left side of `law` of its right side?"""
    found: dict[str, Any] = {}
    return _matches(back.left, law.right, found) and _same(_put_in(back.right, found), law.left)


def _made(part: Any) -> Iterator[str]:
    if not isinstance(part, Call):
        return
    if part.name == "MapL":
        level = part.args[0]
        yield LEVELS.get(level.name) or f"map{level.name}{''.join(_word(a) for a in level.args)}"
    elif part.name == "To":
        yield f"to{part.args[0].value.value.capitalize()}"
    elif part.name in signatures() and part.name not in UNNAMED:
        yield part.name[0].lower() + part.name[1:]
    for argument, kind in zip(part.args, signatures().get(part.name, ()), strict=False):
        if kind in ("expr", "body"):
            yield from _made(argument)


@cache
def _names() -> tuple[str, ...]:
    plain = [name[0].lower() + name[1:] for name in signatures() if name not in {*UNNAMED, "MapL", "To"}]
    levels = [f"map{name}{d}" for name in ("Global", "Workgroup", "Local") for d in range(3)]
    return (*plain, *levels, *LEVELS.values(), "mapWarp", "mapLane", "mapVec", "toGlobal", "toLocal", "toPrivate")


# -------------------------------------------------------------------------------- matching of sides


def _matches(pattern: Any, term: Any, found: dict[str, Any]) -> bool:
    if isinstance(pattern, Var):
        return _same(found.setdefault(pattern.name, term), term)
    if isinstance(pattern, Lit) or not isinstance(term, Call) or pattern.name != term.name:
        return isinstance(pattern, Lit) and isinstance(term, Lit) and _word(pattern) == _word(term)
    return all(_matches(p, t, found) for p, t in zip(_compared(pattern), _compared(term), strict=True))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Call) and isinstance(b, Call):
        return a.name == b.name and all(map(_same, _compared(a), _compared(b)))
    return not isinstance(a, Call) and not isinstance(b, Call) and _word(a) == _word(b)


def _compared(part: Call) -> list[Any]:
    """The arguments that are no lengths or types."""
    kinds = signatures().get(part.name, ("number",) * len(part.args))
    return [a for a, kind in zip(part.args, kinds, strict=True) if kind not in ("size", "type")]


def _put_in(part: Any, found: Mapping[str, Any]) -> Any:
    if isinstance(part, Var):
        return found.get(part.name, part)
    if isinstance(part, Call):
        return Call(part.span, part.name, [_put_in(a, found) for a in part.args])
    return part


def _written_out(part: Any, names: Mapping[str, Any]) -> Any:
    if isinstance(part, Var) and part.name in names:
        return _written_out(names[part.name], {n: p for n, p in names.items() if n != part.name})
    if isinstance(part, Call):
        return Call(part.span, part.name, [_written_out(a, names) for a in part.args])
    return part


def _is_pattern(part: Any) -> bool:
    return isinstance(part, Call) and part.name in signatures()


def _word(part: Any) -> str:
    match part:
        case Var(name=name):
            return str(name)
        case Lit(value=value):
            return str(value.value)
        case Call(name="Num", args=[n]):
            return _word(n)
        case Call(name="Tile", args=[kind, _]):
            return f"(tile {_word(kind)})"
        case Call(name="Pair", args=[a, b]):
            return f"({_word(a)}, {_word(b)})"
    raise AssertionError(part)


def _cut(text: str, mark: str) -> tuple[str, str]:
    """A text before and after a mark that is in no brackets."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if not depth and text.startswith(mark, i):
            return text[:i], text[i + len(mark) :]
    return text, ""
