"""What single laws make of a program, and where: the choices of who derives a kernel by hand, step by step.

map f (map g x)   ->   map-fusion at (map f (map g x)) makes (map (f . g) x)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from egglift.egraph.explanation.abbreviate import outline
from egglift.egraph.explanation.ablation import enter
from egglift.egraph.explanation.embedding import Embedding, Host, length_value
from egglift.egraph.graph.encode import Encoder, binary
from egglift.egraph.graph.engine import Engine, engine
from egglift.egraph.graph.graph import ENode, Graph, build, freeze
from egglift.egraph.rules.book import Book, Law
from egglift.egraph.rules.limits import Limits
from egglift.egraph.saturation.saturate import Run
from egglift.ir.check import type_of
from egglift.ir.errors import EggliftError, RuleError
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.traverse import rebuild, resized, subterms, tile_symbols
from egglift.ir.types import Array, Tuple

SHOWN = 70  # letters of a part of a program in a line


@dataclass(frozen=True)
class Tile:
    """A length that a law left open.  kind: a letter of ir/tile_kinds.py; array: what it cuts; length: of that."""

    kind: str
    array: Expr
    length: Size


@dataclass(frozen=True)
class Rewriting:
    """A law at one place of a program: `before`, which stands there, becomes `after`; program: the whole, afterwards.

    tiles: the program's open lengths by name, those that were there and those that the law brings.
    """

    law: str
    before: Expr
    after: Expr
    program: Expr
    tiles: Mapping[str, Tile]

    def __str__(self) -> str:
        return f"{outline(self.before, SHOWN)} -> {outline(self.after, SHOWN)}"


def rewritings(
    program: Expr, tiles: Mapping[str, Tile], book: Book, laws: Iterable[str], limits: Limits = Limits()
) -> list[Rewriting]:
    """All that these laws make of a closed program in one step, law by law, from the outside of the program inwards.

    The program is taken, and given back, over binary tuples; tiles: its open lengths.
    """
    program = binary(program)
    run, found = Run(book, frozenset(), limits), list[Rewriting]()
    encoder = Encoder(tiles={name: (tile.kind, tile.array) for name, tile in tiles.items()})
    with engine(book) as e:
        enter(e, encoder, program)
        run.prepare(e)
        before = freeze(e, encoder)
        for law in laws:
            e.run("(push)")
            after = _applied(e, run, encoder, book[law])
            e.run("(pop)")
            if after is not None:
                found += _Differences(program, tiles, before, after, law).found()
    return found


def _applied(e: Engine, run: Run, encoder: Encoder, law: Law) -> Graph | None:
    """The e-graph after one run of a law; None where it changes nothing, or what it makes is no program."""
    try:
        (out,) = e.run(f"(run-schedule (run {law.name}))")
        if not out.report.updated:
            return None
        run.settle(e)
        return freeze(e, encoder)
    except RuleError:
        return None


@dataclass
class _Differences:
    """What an e-graph has that another one, without the law, had not.

    ours: our names of its tile lengths: those of the program stay as they are.
    """

    program: Expr
    tiles: Mapping[str, Tile]
    before: Graph
    after: Graph
    law: str
    host: Host = field(init=False)
    ours: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.host = Host(self.after)
        self._values: dict[str, int] = {}
        for name, tile in sorted(self.tiles.items(), key=lambda item: len(list(subterms(item[1].array)))):
            place = self.host.find(tile.array, self._values).get(tile.array)
            cut: object = place.c if place else ("length", length_value(tile.length, self._values))
            known = self.host.cuts.get((tile.kind, cut))
            if known is not None:
                self._values[name], self.ours[known] = self.host.values[known], name
        taken = set(self.tiles)
        for name, symbol in self.after.symbols.items():
            if name not in self.ours:
                self.ours[name] = next(n for k in range(len(taken) + 1) if (n := f"{symbol.kind}{k}") not in taken)
                taken.add(self.ours[name])

    def found(self) -> list[Rewriting]:
        """Each new program of a part, in the place of that part."""
        known = Embedding(self.before, self.host)
        nodes = (node for nodes in self.before.classes.values() for node in nodes)
        old = {key for node in nodes if (key := known.key(node)) is not None}
        places = {t: place.c for t, place in self.host.find(self.program, self._values).items()}
        originals = {c: t for t, c in reversed(places.items())}
        seen, made, found = {self.program}, dict[int, Expr](), list[Rewriting]()
        for t in subterms(self.program):  # parts come before what they are parts of
            for node in self.after.classes[places[t]] if t in places else ():
                if self.host.key(node) not in old:
                    for new in self._programs(node, places[t], originals, made):
                        whole = _with(self.program, t, new)
                        tiles = self._tiles_in(whole)
                        if whole not in seen and tiles is not None and self._is_right(whole):
                            seen.add(whole)
                            found.append(Rewriting(self.law, t, new, whole, tiles))
        return found[::-1]

    def _programs(self, node: ENode, c: int, originals: Mapping[int, Expr], made: dict[int, Expr]) -> list[Expr]:
        """A node with parts of the program itself; and with what the law made of these, as levels go together."""
        own = [originals.get(k) or self._named(self.after.term(k)) for k in node.children]
        found = [self._built(node, own)]
        if any(k in made for k in node.children):
            found.append(self._built(node, [made.get(k) or x for k, x in zip(node.children, own, strict=True)]))
        made.setdefault(c, found[-1])
        return found

    def _built(self, node: ENode, kids: list[Expr]) -> Expr:
        marks = {f"{name}'": ours for name, ours in self.ours.items()}  # the node's own names, not those of its parts
        alone = ENode(node.op, node.children, tuple(map(_marked, node.data)))
        return resized(build(alone, kids), Sym | SizeOp, lambda s: _renamed(s, marks))

    def _named(self, e: Expr) -> Expr:
        return resized(e, Sym | SizeOp, lambda s: _renamed(s, self.ours))

    def _tiles_in(self, whole: Expr) -> dict[str, Tile] | None:
        """The open lengths of a program; None where one cuts what no program of the e-graph holds."""
        theirs = {ours: name for name, ours in self.ours.items()}
        found = dict[str, Tile]()
        for name in sorted(tile_symbols(whole)):
            if name in self.tiles:
                found[name] = self.tiles[name]
            else:
                s = self.after.symbols[theirs[name]]
                if s.array not in self.after.classes:
                    return None
                array = self._named(self.after.term(s.array))
                found[name] = Tile(s.kind, array, _renamed(s.length, self.ours))
        return found

    def _is_right(self, whole: Expr) -> bool:
        """Has it the program's type, as far as its lengths are known?"""
        try:
            return bool(tile_symbols(whole)) or type_of(whole) == type_of(self.program)
        except EggliftError:
            return False


def _renamed(size: Size, names: Mapping[str, str]) -> Size:
    match size:
        case Sym(name):
            return Sym(names.get(name, name))
        case SizeOp(op, a, b):
            return SizeOp(op, _renamed(a, names), _renamed(b, names))
    return size


def _marked(data: Any) -> Any:
    """Lengths and types with other names of their tile lengths."""
    match data:
        case Sym(name):
            return Sym(f"{name}'")
        case SizeOp(op, a, b):
            return SizeOp(op, _marked(a), _marked(b))
        case Array(n, element):
            return Array(_marked(n), _marked(element))
        case Tuple(items):
            return Tuple(tuple(map(_marked, items)))
    return data


def _with(program: Expr, old: Expr, new: Expr) -> Expr:
    memo: dict[Expr, Expr] = {old: new}
    for t in subterms(program):
        if t not in memo:
            memo[t] = rebuild(t, memo.__getitem__, memo.__getitem__)
    return memo[program]
