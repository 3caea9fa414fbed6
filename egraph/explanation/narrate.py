"""Rewrites as texts: what a law made of what, with large parts named after the law's own variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from egglift.egraph.explanation.abbreviate import outline
from egglift.egraph.explanation.replay import Replay, Rewrite
from egglift.egraph.graph.graph import ENode, Graph, build
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr, Input
from egglift.ir.syntax import head
from egglift.ir.traverse import subterms
from egglift.ir.types import F32

NAMED = 4  # parts of at least so many nodes get a name


@dataclass(frozen=True)
class Change:
    """One place where a law applied.  where: what the names in both texts stand for."""

    before: str
    after: str
    where: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        after = self.after.replace("\n", "\n       ")
        rows = [f"       {self.before}".replace("\n", "\n       "), f"    -> {after}"]
        heads = ("where", *("     " for _ in self.where))
        rows += [f"       {head} {name} = {text}" for head, (name, text) in zip(heads, self.where, strict=False)]
        return "\n".join(rows)


@dataclass
class Teller:
    """Puts the rewrites of a replay into words.  names: the target's names for tile lengths of the replay."""

    replay: Replay
    names: Mapping[str, str]
    inputs: frozenset[str]

    def change(self, rewrite: Rewrite) -> Change:
        """What the rewrite's left side was, and what it became."""
        c, when = rewrite.made.c, rewrite.when
        new = self.replay.smallest(when)
        old = {**new, **self.replay.smallest(when - 1)}
        letters = self._letters(rewrite, old)
        named: dict[int, Expr] = {k: Input(name, F32) for name, k in letters.items()}
        fixed: dict[int, list[ENode]] = {}
        for place in rewrite.match.nodes:
            fixed.setdefault(place.c, []).append(place.node)
        before = self._taken(c, fixed, old, named)
        after = self._built(rewrite.made.node, new, named)
        texts = (outline(before, 240, self.names), outline(after, 560, self.names))
        used = set(" ".join(texts).replace("(", " ").replace(")", " ").split())
        parts = {name: _term(self._graph, old, k) for name, k in letters.items() if name in used}
        where = [(name, outline(part, 84, self.names)) for name, part in parts.items()]
        return Change(*texts, tuple(where))

    def _letters(self, rewrite: Rewrite, best: Mapping[int, ENode]) -> dict[str, int]:
        """Names for the classes of the law's variables whose programs are long."""
        inner = {place.c for place in rewrite.match.nodes} | {rewrite.made.c}
        letters: dict[str, int] = {}
        for name, c in rewrite.match.classes.items():
            if c in inner or c in letters.values() or c not in best:
                continue
            if sum(1 for _ in subterms(_term(self._graph, best, c))) >= NAMED:
                letter = name.rstrip("0123456789") or name
                while letter in self.inputs or letter in letters:
                    letter += "'"
                letters[letter] = c
        return letters

    def _taken(
        self, c: int, fixed: dict[int, list[ENode]], best: Mapping[int, ENode], named: Mapping[int, Expr]
    ) -> Expr:
        """The program that the left side matched: its own nodes at the top, the smallest below."""
        if not fixed.get(c):
            return named[c] if c in named else _term(self._graph, best, c, named)
        node, *rest = fixed[c]
        inner = {**fixed, c: rest}
        return build(node, [self._taken(k, inner, best, named) for k in node.children])

    def _built(self, node: ENode, best: Mapping[int, ENode], named: Mapping[int, Expr]) -> Expr:
        return build(node, [_term(self._graph, best, k, named) for k in node.children])

    @property
    def _graph(self) -> Graph:
        return self.replay.host.graph


def _term(graph: Graph, best: Mapping[int, ENode], c: int, named: Mapping[int, Expr] = {}) -> Expr:
    """The smallest program of class `c`, with names for some classes."""
    memo = dict(named)
    stack = [c]
    while stack:
        node = best[stack[-1]]
        todo = [k for k in node.children if k not in memo]
        if stack[-1] in memo:
            stack.pop()
        elif todo:
            stack.extend(todo)
        else:
            memo[stack.pop()] = build(node, [memo[k] for k in node.children])
    return memo[c]


def placement(e: Expr) -> str:
    """Which iterations or values a level or a memory is for: `mapLocal0 over ...`, `toLocal of ...`."""
    match e:
        case p.Map(_, x) | p.Fold(_, _, x):
            return f"{head(e)} over {outline(x, 80)}"
        case p.To(_, x):
            return f"{head(e)} of {outline(x, 80)}"
    return outline(e, 90)
