"""The rule book: laws, read from rules/*.egg.

A section of a file starts with `;;; name` and a header (headers.py); its rules go into the ruleset `name`, or
`name/back` for the equation read from right to left (used by proofs).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from egglift.egraph.rules.egglog_core import EggSmolError, Rewrite, RewriteCommand, Rule, RuleCommand
from egglift.egraph.rules.empty import empty, run
from egglift.egraph.rules.headers import Variant, header_of, rules_alone, sections
from egglift.egraph.rules.language import CORE, administrative, core_text
from egglift.ir.errors import RuleError

#: The groups of the book, in the order in which a reader meets them.
GROUPS = ("algorithmic", "reduction", "scan", "layout", "tiling", "stencil", "vector", "lowering", "memory", "devices")


@dataclass(frozen=True)
class Law:
    """An equation and the rules that encode it.

    `text` holds the rules alone; `group` is its file's name, or "user"; `line` is where the section starts.
    `macro`: is it a bigger step, which smaller laws may make too?  `phases`: where it runs, () for in proofs only.
    `variants`: what its header says, of all its rules and of some.
    """

    name: str
    equation: str
    source: str
    reassociating: bool
    text: str
    group: str = "user"
    line: int = 1
    macro: bool = False
    phases: tuple[str, ...] = ("user",)
    variants: tuple[Variant, ...] = ()

    @property
    def cited(self) -> str:
        """Its source by key, without what is said besides: `[Hagedorn2018] (25)`, or `[egglift]` for a law of ours."""
        own = re.match(r"\w+(?=;|$)", self.source)
        return f"[{own[0]}]" if own else self.source.partition(": ")[0]

    @property
    def has_back(self) -> bool:
        """Does it also have rules from right to left?"""
        return f"{self.name}/back" in self.text

    def __str__(self) -> str:
        return f"{self.name}: {self.equation}  {self.cited}"


@dataclass(frozen=True)
class Book:
    """Laws by name, in order."""

    laws: tuple[Law, ...]

    def __getitem__(self, name: str) -> Law:
        """The law called `name`; RuleError lists what there is."""
        for law in self.laws:
            if law.name == name:
                return law
        raise RuleError(f"no law {name!r}; there are {', '.join(self.names)}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(law.name for law in self.laws)

    @property
    def version(self) -> str:
        """A hash of everything that saturation depends on: part of the key of records."""
        text = "\0".join([core_text(), administrative(), *(law.name + law.text for law in self.laws)])
        return sha256(_uncommented(text).encode()).hexdigest()[:16]

    def extended(self, more: Iterable[Law | str]) -> Book:
        """The book with a user's laws, or .egg text, added; RuleError if one does not parse."""
        laws = list(self.laws)
        for item in more:
            for law in parse(item, "user") if isinstance(item, str) else [item]:
                if law.name in {known.name for known in laws}:
                    raise RuleError(f"there is a law {law.name!r} already; give the new one another name")
                commands_of(law)
                laws.append(law)
        return Book(tuple(laws))


@cache
def book() -> Book:
    """The rule book of egglift."""
    folder = files("egglift.egraph.rules")
    return Book(tuple(law for g in GROUPS for law in parse(folder.joinpath(f"{g}.egg").read_text(), g)))


def laws_of_file(path: Path) -> list[Law]:
    """A user's laws; RuleError names file, line and column where egglog does not take the text."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise RuleError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    tried = empty()
    run(tried, *preamble())
    try:
        for command in tried.parse_program(text, path.name):
            run(tried, _unbound(command))
    except EggSmolError as error:
        raise RuleError(_placed(str(error), path.name)) from None
    return list(parse(text, "user"))


def _unbound(command: Any) -> Any:
    """A rule that is in no ruleset."""
    if isinstance(command, RewriteCommand):
        return RewriteCommand("", command.rewrite, command.subsume)
    if isinstance(command, RuleCommand):
        rule = command.rule
        return RuleCommand(Rule(rule.span, rule.head, rule.body, "", ""))
    return command


def _placed(message: str, name: str) -> str:
    """egglog's message behind the place in the file that it is about, the innermost that it names."""
    places = re.findall(rf"In (\d+):(\d+)[\d:-]* of {re.escape(name)}", message)
    what = [line for line in message.strip().splitlines() if line.strip() and not line.startswith("In ")]
    line, column = places[-1] if places else ("1", "1")
    return f"{name}, line {line}, column {column}: {' '.join(what) or message.strip()}"


def parse(text: str, group: str = "user") -> Iterator[Law]:
    """The laws in .egg text.  Text without `;;; name` lines is one law called `group`."""
    parts = list(sections(text))
    if not parts:
        bare = re.sub(r":ruleset\s+\S+?(?=[\s)])", "", text)
        yield Law(group, _equation_of(bare), "user", False, _into_ruleset(bare, group), group)
    for name, line, lines in parts:
        yield _law(name, line, lines, group)


def _law(name: str, line: int, lines: Sequence[str], group: str) -> Law:
    header, rules = header_of(lines), rules_alone(lines)
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise RuleError(f"{group}.egg, line {line}: {name!r} is not a name of a law; use letters, digits and -")
    return Law(
        name,
        header.equation,
        header.source or "user",
        header.reassociating,
        rules if group != "user" else _into_ruleset(rules, name, line),
        group,
        line,
        header.macro,
        ("user",) if group == "user" else header.phases,
        header.variants,
    )


def _uncommented(text: str) -> str:
    """egglog text without comments and empty lines: what only explains is no part of a version."""
    lines = (re.sub(r";[^\"]*$", "", line).rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _equation_of(text: str) -> str:
    """A user's rule without a header is its own equation."""
    return " ".join(re.sub(r";.*", "", text).split())


def _into_ruleset(text: str, name: str, line: int = 1) -> str:
    """Rules that name no ruleset go into the law's."""
    placed = []
    for command in _parsed(text, f"law {name}", line):
        rule = command.rule if isinstance(command, RuleCommand) else None
        if isinstance(command, RewriteCommand):
            if command.name in ("", name, f"{name}/back"):
                placed.append((command, command.name or name))
                continue
        elif rule is not None and rule.ruleset in ("", name, f"{name}/back"):
            placed.append((command, rule.ruleset or name))
            continue
        raise RuleError(f"law {name}: only (rule ...) and (rewrite ...) belong into a law, in ruleset {name}")
    if not placed:
        raise RuleError(f"law {name}: it has no rule")
    return "\n".join(_printed(command, ruleset) for command, ruleset in placed)


def _printed(command: Any, ruleset: str) -> str:
    """The text of a command, moved into `ruleset`."""
    if isinstance(command, RewriteCommand):
        return str(RewriteCommand(ruleset, command.rewrite, command.subsume))
    rule = command.rule
    return str(RuleCommand(Rule(rule.span, rule.head, rule.body, "", ruleset)))


# ---------------------------------------------------------------------------------------- egglog


def _parsed(text: str, where: str, line: int = 1, reader: Any = None) -> list[Any]:
    """The commands in `text`; RuleError with file and line where egglog cannot read it.

    reader: an e-graph that reads several texts: to make one takes as long as to read a rule.
    """
    try:
        return list((reader or empty()).parse_program(text, where))
    except EggSmolError as error:
        raise RuleError(located(str(error), where, line)) from None


def located(message: str, where: str, line: int) -> str:
    """egglog's message with its line counted from the start of the file rather than of the section."""

    def shifted(match: re.Match[str]) -> str:
        return f"{where}, line {int(match[1]) + line - 1}: "

    return re.sub(r"^In (\d+):[\d:-]+ of [^:\n]*: ?", shifted, message.strip())


@cache
def commands_of(law: Law, trace: bool = False) -> tuple[Any, ...]:
    """A law's rules as egglog commands, each named `law#i` so that reports count its matches.

    With `trace`, each also notes what it rewrote: `(applied "law" e)`.
    """
    where = f"{law.group}.egg" if law.group != "user" else f"law {law.name}"
    found: list[Any] = []
    for command in _parsed(law.text, where, law.line):
        rule = as_rule(command)
        if rule is None or rule.ruleset not in (law.name, f"{law.name}/back"):
            raise RuleError(f"{where}, law {law.name}: only rules of ruleset {law.name} belong here")
        head = [*rule.head, *_subsumed(command), *(_note(law.name, rule) if trace else [])]
        found.append(RuleCommand(Rule(rule.span, head, rule.body, f"{law.name}#{len(found)}", rule.ruleset)))
    return tuple(found)


def rules_of(law: Law) -> tuple[Rule, ...]:
    """A law's rules, rewrites written out."""
    return tuple(command.rule for command in commands_of(law))


def as_rule(command: Any) -> Rule | None:
    """A rule command, or a rewrite written out: `(rewrite l r)` -> `(rule ((= e l)) ((union e r)))`."""
    if isinstance(command, RuleCommand):
        return command.rule
    if not isinstance(command, RewriteCommand):
        return None
    from egglift.egraph.rules.egglog_core import Eq, Union, Var

    r: Rewrite = command.rewrite
    e = Var(r.span, "rewritten-")
    return Rule(r.span, [Union(r.span, e, r.rhs)], [Eq(r.span, e, r.lhs), *r.conditions], "", command.name)


def _note(name: str, rule: Rule) -> list[Any]:
    from egglift.egraph.rules.egglog_core import Call, Expr_, Lit, String, Union, Var

    # unions of types, which some rules add, have a call on the left
    unions = [action for action in rule.head if isinstance(action, Union) and isinstance(action.lhs, Var)]
    return [Expr_(u.span, Call(u.span, "applied", [Lit(u.span, String(name)), u.lhs])) for u in unions]


def _subsumed(command: Any) -> list[Any]:
    """What `:subsume` on a rewrite means, as an action of the rule that it becomes."""
    from egglift.egraph.rules.egglog_core import Call, Change, Subsume

    if isinstance(command, RewriteCommand) and command.subsume:
        lhs = command.rewrite.lhs
        assert isinstance(lhs, Call), "only a pattern can be subsumed"
        return [Change(lhs.span, Subsume(), lhs.name, lhs.args)]
    return []


@cache
def preamble() -> tuple[Any, ...]:
    """The commands before any law: language, typing and administrative rules."""
    texts = [*((f"{name}.egg", core_text(name)) for name in CORE), ("administrative rules", administrative())]
    reader = empty()
    return tuple(c for where, text in texts for part in _parts(text) for c in _parsed(part, where, reader=reader))


def _parts(text: str) -> Iterator[str]:
    """Text cut where a line begins a new command.

    Every parsed node carries the text that it came from: parsing piece by piece is ten times faster.
    """
    return iter(re.split(r"\n(?=\()", text))
