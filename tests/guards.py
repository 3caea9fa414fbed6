"""What a rule of the book asks for besides its pattern, in the words of headers: `closed y`, `x : [n][32]t`.

A pattern says by itself which of its variables are arrays, and of how many dimensions: a type that only says this
again is no condition.  One that fixes a length, or says more dimensions, is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from egglift.egraph.rules.egglog_core import Call, Eq, Let, Lit, Rule, Union, Var
from egglift.egraph.rules.language import declarations, signatures

COMPARISONS = ("<", ">", "<=", ">=", "!=")
ARITHMETIC = ("+", "-", "*", "/", "%")
#: the dimensions that each pattern shows of its Exprs, in their order; none of those that are not here
DIMENSIONS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("Map", "MapL"), (0, 1)),
    **dict.fromkeys(("Reduce", "Fold", "FoldUnroll", "FoldAhead", "Tree"), (0, 0, 1)),
    **dict.fromkeys(("Scan", "ScanSeq", "ScanDoubling"), (0, 0, 1)),
    "ScanLinked": (0, 0, 0, 1),
    **dict.fromkeys(("Zip", "Cross", "Concat", "Gather"), (1, 1)),
    **dict.fromkeys(("Join", "Transpose"), (2,)),
    **dict.fromkeys(("Split", "Stride", "Slide", "Pad", "PadUp", "Take", "Drop", "At"), (1,)),
    **dict.fromkeys(("PadConst", "PadUpConst"), (1, 0)),
    "Distl": (0, 1),
}
#: patterns of as many dimensions as their argument
SAME = ("Stride", "Pad", "PadConst", "PadUp", "PadUpConst", "Take", "Drop", "Concat", "Gather", "To", "Transpose")


def guards(rule: Rule) -> tuple[str, ...]:
    """The conditions of a rule, in the order of its text."""
    return tuple(dict.fromkeys(_Reader(rule).conditions()))


def without(rule: Rule, condition: str) -> Rule:
    """The rule without a fact or a comparison that it asks for."""
    kept = [fact for fact in rule.body if isinstance(fact, Eq) or _atom(fact.expr) != condition]
    return Rule(rule.span, rule.head, kept, "", rule.ruleset)


@dataclass
class _Reader:
    rule: Rule
    types: dict[str, Any] = field(default_factory=dict)  # what variables of types, and of lengths, stand for
    arguments: set[str] = field(default_factory=set)  # the types of arguments, as text
    lengths: Counter[str] = field(default_factory=Counter)  # how often each is in a pattern or a type
    dimensions: dict[str, int] = field(default_factory=dict)  # that patterns show of a variable, at least
    patterns: dict[str, Any] = field(default_factory=dict)  # what a variable must be
    asked: set[str] = field(default_factory=set)  # variables of which a relation or a comparison holds

    def __post_init__(self) -> None:
        for fact in self.rule.body:
            if not isinstance(fact, Eq):
                self.asked |= set(_variables(fact.expr))
                continue
            for part in (fact.left, fact.right):
                self._count(part, "")
            if isinstance(fact.left, Var) and _named(fact.right, "Arr", "Pair", "Tile"):
                self.types[fact.left.name] = fact.right
            elif isinstance(fact.left, Var):
                self.patterns[fact.left.name] = fact.right
        for _ in range(4):  # from one equality to the next
            for fact in self.rule.body:
                self._spread(fact)

    def conditions(self) -> Iterator[str]:
        yield from self._beside()
        for fact in self.rule.body:
            if not isinstance(fact, Eq):
                yield _atom(fact.expr)
            elif _named(fact.left, "type-of"):
                yield from self._typed(fact.left.args[0], fact.right)
            elif _named(fact.right, "type-of"):
                yield from self._typed(fact.right.args[0], fact.left)
            elif not _named(fact.right, "depth", *signatures()) and not self._read_elsewhere(fact.left):
                yield f"{_number(fact.left)} = {_number(fact.right)}"

    def _typed(self, of: Any, type_: Any) -> Iterator[str]:
        text, whole = self._type(type_), self._resolved(type_)
        more = (_depth(whole) > self._shown(of) or self._fixes(whole)) and text not in self.arguments
        asked = self.asked & set(_variables(whole))
        if not more and _named(whole, "Arr") and asked == {_text(whole.args[0])}:
            yield f"{_text(whole.args[0])} = length {_text(of, inner=True)}"
        elif more or asked:
            yield f"{_text(of)} : {text}"

    def _read_elsewhere(self, part: Any) -> bool:
        """Is it a name for a part of a type, which is written out where that is?"""
        return isinstance(part, Var) and part.name in self.types

    def _beside(self) -> Iterator[str]:
        """Patterns that are no part of what is rewritten: they must only be there."""
        lets = {action.lhs: action.rhs for action in self.rule.head if isinstance(action, Let)}
        written = [action.lhs for action in self.rule.head if isinstance(action, Union) and isinstance(action.lhs, Var)]
        if not written:
            return
        seen = {name for part in written for name in _variables(lets.get(part.name, part))}
        seen |= self.asked
        while more := {v for name in seen & set(self.patterns) for v in _variables(self.patterns[name])} - seen:
            seen |= more
        beside = {name: pattern for name, pattern in self.patterns.items() if name not in seen and _is_pattern(pattern)}
        inner = {v for pattern in beside.values() for v in _variables(pattern)}
        for name in beside.keys() - inner:
            yield f"exists {_text(_written_out(beside[name], beside))}"

    # ------------------------------------------------------------------------------------- types

    def _resolved(self, part: Any) -> Any:
        while isinstance(part, Var) and part.name in self.types:
            part = self.types[part.name]
        if _named(part, "Arr", "Pair"):
            return Call(part.span, part.name, [self._resolved(a) for a in part.args])
        return part

    def _type(self, part: Any) -> str:
        match self._resolved(part):
            case Call(name="Arr", args=[n, t]):
                return f"[{_length(n)}]{self._type(t)}"
            case Call(name="Pair", args=[a, b]):
                return f"({self._type(a)}, {self._type(b)})"
        return _text(part)

    def _fixes(self, part: Any) -> bool:
        """Does a type fix a length, or say that it is one of the pattern's, or that elements are pairs?"""
        match part:
            case Call(name="Arr", args=[n, t]):
                return isinstance(n, Call) or self.lengths[n.name] > 1 or self._fixes(t)
            case Call(name="Pair"):
                return True
        return False

    def _count(self, part: Any, sort: str) -> None:
        if isinstance(part, Var):
            self.lengths[part.name] += sort == "Nat"
        elif isinstance(part, Call):
            if part.name == "Arg":
                self.arguments.add(self._type(part.args[0]))
            for argument, s in zip(part.args, _sorts(part.name, len(part.args)), strict=True):
                self._count(argument, s)

    # ------------------------------------------------------------------- what patterns say of types

    def _spread(self, fact: Any) -> None:
        if not isinstance(fact, Eq):
            match fact.expr:
                case Call(name="over", args=[Var(name=a), _, Var(name=u)]):
                    self._least(u, self.dimensions.get(a, 0))
                case Call(name=name, args=[*_, Var(name=tiles), _]) if name.startswith("tile") and name[-1:].isdigit():
                    self._least(tiles, int(name[-1]))
            return
        for part in (fact.left, fact.right):
            self._visit(part, 0)
        if isinstance(fact.left, Var) and not _named(fact.right, "type-of", "depth"):
            self._least(fact.left.name, self._shown(fact.right))
            self._visit(fact.right, self.dimensions[fact.left.name])

    def _least(self, name: str, dimensions: int) -> None:
        self.dimensions[name] = max(self.dimensions.get(name, 0), dimensions)

    def _visit(self, part: Any, dimensions: int) -> None:
        """A pattern of so many dimensions: what that says of its variables."""
        if isinstance(part, Var):
            self._least(part.name, dimensions)
        if not isinstance(part, Call) or part.name not in signatures():
            return
        inner = _inner(part)
        for argument, least in zip(inner, DIMENSIONS.get(part.name, (0,) * len(inner)), strict=True):
            self._visit(argument, dimensions if part.name in SAME and least else least)
        if part.name in ("Map", "MapL"):
            body, array = inner
            self._visit(body, dimensions - 1)
            self._visit(array, 1 + _taken(body, ()))
            array = self.patterns.get(array.name) if isinstance(array, Var) else array
            if _named(array, "Zip"):
                for argument, projection in zip(_inner(array), ("Fst", "Snd"), strict=True):
                    self._visit(argument, 1 + _taken(body, (projection,)))

    def _shown(self, part: Any) -> int:
        """The dimensions of what a pattern makes, as far as they show."""
        if isinstance(part, Var):
            return self.dimensions.get(part.name, 0)
        if not isinstance(part, Call):
            return 0
        inner = _inner(part)
        match part.name:
            case "Map" | "MapL":
                return 1 + self._shown(inner[0])
            case "Split" | "Slide" | "Cross":
                return 2
            case "Join":
                return max(1, self._shown(inner[0]) - 1)
            case "Zip" | "Distl" | "Iota":
                return 1
            case name if name in SAME:
                return max(DIMENSIONS.get(name, (0,))[0], self._shown(inner[0]))
        return 0


def _inner(part: Call) -> list[Any]:
    """The Exprs among the arguments of a pattern."""
    kinds = signatures().get(part.name, ())
    return [a for a, kind in zip(part.args, kinds, strict=False) if kind in ("expr", "body")]


def _taken(body: Any, projections: tuple[str, ...]) -> int:
    """The dimensions of the argument of a body, or of a part of it, as far as they show."""
    if not isinstance(body, Call) or body.name not in DIMENSIONS:
        return 0
    inner, found = _inner(body), 0
    for argument, least in zip(inner, DIMENSIONS[body.name], strict=True):
        if _is_part(argument, projections):
            found = max(found, least + (_taken(inner[0], ()) if body.name in ("Map", "MapL") else 0))
        elif least:
            found = max(found, _taken(argument, projections))
    return found


def _is_part(part: Any, projections: tuple[str, ...]) -> bool:
    for projection in projections:
        if not _named(part, projection):
            return False
        part = part.args[0]
    return _named(part, "Arg")


# --------------------------------------------------------------------------------------- text


def _atom(call: Call) -> str:
    if call.name in COMPARISONS:
        return f"{_number(call.args[0])} {call.name} {_number(call.args[1])}"
    return " ".join([call.name, *(_text(a, inner=True) for a in call.args)])


def _length(part: Any) -> str:
    match part:
        case Call(name="Num", args=[Var(name=name)]):
            return f"number {name}"
        case Call(name="Tile", args=[kind, _]):
            return f"tile {kind.value.value}"
    return _text(part)


def _depth(part: Any) -> int:
    return 1 + _depth(part.args[1]) if _named(part, "Arr") else 0


def _number(part: Any) -> str:
    if isinstance(part, Call) and part.name in ARITHMETIC:
        left, right = part.args
        first = f"({_number(left)})" if _named(left, "+", "-") and part.name not in "+-" else _number(left)
        return f"{first} {part.name} " + (f"({_number(right)})" if _named(right, *ARITHMETIC) else _number(right))
    return f"depth {_text(part.args[0])}" if _named(part, "depth") else _text(part)


def _text(part: Any, inner: bool = False) -> str:
    match part:
        case Var(name=name):
            return str(name)
        case Lit(value=value):
            return str(value.value)
        case Call(name="Num", args=[n]):
            return _text(n)
        case Call(name=name, args=args):
            words = [name.lower(), *(_text(a, inner=True) for a in args if not _named(a, "Arg"))]
            return f"({' '.join(words)})" if inner and len(words) > 1 else " ".join(words)
    raise AssertionError(part)


def _is_pattern(part: Any) -> bool:
    return isinstance(part, Call) and part.name in signatures()


def _written_out(part: Any, patterns: Mapping[str, Any]) -> Any:
    if isinstance(part, Var) and part.name in patterns:
        return _written_out(patterns[part.name], patterns)
    if isinstance(part, Call):
        return Call(part.span, part.name, [_written_out(a, patterns) for a in part.args])
    return part


def _variables(part: Any) -> Iterator[str]:
    if isinstance(part, Var):
        yield part.name
    for argument in part.args if isinstance(part, Call) else ():
        yield from _variables(argument)


def _named(part: Any, *names: str) -> bool:
    return isinstance(part, Call) and part.name in names


def _sorts(name: str, count: int) -> tuple[str, ...]:
    sorts = next((sort[name] for sort in declarations().values() if name in sort), None)
    return sorts or ("",) * count
