"""Expressions that read a class: layout and arithmetic that cost nothing until they are read, and what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from egglift.egraph.extraction import access_costs
from egglift.egraph.extraction.access_costs import Row, ViewPrice, priced, size
from egglift.egraph.extraction.context import AGAIN, FOLDS, TINY, Context
from egglift.egraph.extraction.nesting import GRID, GROUP, ITEM, LANE, LANES, NOBODY, Executor
from egglift.egraph.extraction.programs import REST, computed, shared_fold
from egglift.egraph.extraction.solutions import KEPT, NONE, SPREAD, Seen, Term, best, different, marked, merge
from egglift.egraph.graph.graph import ENode

STRIDED = 3.0
FIRST_CACHE = 4096  # bytes of an input that stay in the cache next to the work-items
REGISTERS = 256  # scalars that a work-item copies into private memory at most


def views(x: Context, c: int, who: Executor, arg: ViewPrice | None) -> Iterator[Seen]:
    """All expressions that read class `c`."""
    for node in x.graph.classes.get(c, ()):
        match node.op:
            case "To" | "Increase":
                yield from _staged(x, c, node, who, arg)
            case "Fold" | "FoldUnroll" | "FoldAhead" | "Tree" | "ScanSeq" | "ScanDoubling" | "Iterate":
                yield from _kept(x, c, node, who, arg)
            case "MapL" | "Reduce" | "Scan" | "Count" | "Sums":
                pass
            case "Map":
                yield from _lazy(x, node, who, arg)
            case _:
                yield from _plain(x, c, node, who, arg)


def _plain(x: Context, c: int, node: ENode, who: Executor, arg: ViewPrice | None) -> Iterable[Seen]:
    """Leaves, arithmetic and layout."""
    match node.op:
        case "Arg":
            return [] if arg is None else [Seen(0, NONE, arg, "", Term(node, ()))]
        case "Input" | "Constant":
            w = x.weights
            each = w.global_lane if who.kind in ("lane", "lanes") else w.global_
            if node.op == "Constant":
                each = min(each, w.op)  # the same for all, in a cache of its own or in the instructions
            elif x.is_array(c) and 4 * size(x.filled(c, 0.0)) <= FIRST_CACHE:
                each = min(each, max(w.local, w.op))
            return [Seen(TINY, NONE, x.filled(c, each), "", Term(node, ()))]
        case "Lit" | "Iota":
            return [Seen(TINY, NONE, x.filled(c, 0.0), "", Term(node, ()))]
    return _combined(x, node, who, arg, x.made(node))


def _combined(
    x: Context, node: ENode, who: Executor, arg: ViewPrice | None, value: Callable[..., ViewPrice]
) -> Iterator[Seen]:
    """The combinations of the views of the parts, best first in each, of which some can be the best."""
    for chosen in _chosen([x.view(k, who, arg) for k in node.children], x.most_views):
        if len(chosen) == 1:
            (s,) = chosen
            yield Seen(s.setup + TINY, s.once, value(s.value), s.sign, Term(node, (s.how,)))
        else:
            yield Seen(
                sum(s.setup for s in chosen) + TINY,
                NONE.union(*(s.once for s in chosen)),
                value(*(s.value for s in chosen)),
                merge(*(s.sign for s in _main(node, chosen))),
                Term(node, tuple(s.how for s in chosen)),
            )


def _chosen(rows: list[list[Seen]], most: int) -> list[tuple[Seen, ...]]:
    """One of each row: all that fewer than `most` others beat in every row."""
    found: list[tuple[tuple[Seen, ...], int]] = [((), 1)]
    for row in rows:
        found = [((*parts, s), n * i) for parts, n in found for i, s in enumerate(row, 1) if n * i <= most]
    return [parts for parts, _ in found]


def _main(node: ENode, parts: tuple[Seen, ...]) -> tuple[Seen, ...]:
    """The parts that make the structure: how a short rest is computed is no choice of its own."""
    match node.op, [s.value for s in parts]:
        case "Concat", [Row(n, _), Row(m, _)] if REST * m <= n:
            return parts[:1]
    return parts


def _lazy(x: Context, node: ENode, who: Executor, arg: ViewPrice | None) -> Iterator[Seen]:
    """A map that is evaluated element by element, where one is read."""
    body, over = node.children
    inside = LANE if who is LANES else who if who.kind in ("item", "lane") else NOBODY
    for s in x.view(over, who, arg):
        assert isinstance(s.value, Row)
        for b in x.read_again(body, inside, s.value.each):
            value = Row(s.value.n, _again(b, who))
            yield Seen(s.setup + TINY, s.once | b.once, value, merge(s.sign, b.sign), Term(node, (b.how, s.how)))


def _again(b: Seen, who: Executor) -> ViewPrice:
    """What is computed at every access, by a work-item or by all lanes at once."""
    if b.setup <= 1:
        return b.value
    if who is LANES:  # each lane walks through a chunk of its own
        return priced(b.value, access_costs.rounded(b.setup * STRIDED))
    return access_costs.dearer(b.value, b.setup * AGAIN)


# ---------------------------------------------------------------------------------------- computed beforehand


def _kept(x: Context, c: int, node: ENode, who: Executor, arg: ViewPrice | None) -> Iterator[Seen]:
    """A reduction read as a view: evaluated once, where the enclosing body starts."""
    who = ITEM if who is LANES else who
    if who.kind == "group" and node.op in FOLDS:
        if x.is_array(c):
            for f in best(shared_fold(x, node, arg), 2):
                yield Seen(f.cost, f.once, x.filled(c, x.weights.private), marked(f.sign, SPREAD), f.how)
    elif who.kind in ("item", "lane", "group"):
        memory = x.weights.local if who.kind == "group" else x.weights.private
        for f in best(computed(x, c, node, who, arg), 2):
            yield Seen(f.cost, f.once, x.filled(c, memory), marked(f.sign, KEPT), f.how)


def _staged(x: Context, c: int, node: ENode, who: Executor, arg: ViewPrice | None) -> Iterator[Seen]:
    """The class kept in a memory: evaluated where the body starts."""
    w, part = x.weights, node.children[0]
    who = ITEM if who is LANES else who
    space = "local" if node.op == "Increase" else node.data[0]
    if space == "global" and c in x.graph.closed:
        yield from _before(x, c, node)
    elif space == "local" and who is GROUP and 4 * size(x.filled(c, 0.0)) <= w.local_bytes:
        few = (f for f in x.result(part, GROUP.writing("local"), arg)[:4] if not f.sign.startswith("c[l"))
        for f in few:  # none that copies what is there already
            cost = (f.cost + w.barrier) * (0.99 if node.op == "Increase" else 1.0)  # fewer conflicts
            yield Seen(cost, f.once, x.filled(c, w.local), f"[l{f.sign}]", Term(node, (f.how,)))
    elif space == "private" and who.kind in ("item", "lane") and size(x.filled(c, 0.0)) <= REGISTERS:
        for f in x.result(part, who.writing("private"), arg)[:2]:
            yield Seen(f.cost, f.once, x.filled(c, w.private), f"[p{f.sign}]", Term(node, (f.how,)))


def _before(x: Context, c: int, node: ENode) -> Iterator[Seen]:
    """What kernels of their own have computed before."""
    for f in different(x.result(node.children[0], GRID, None), 3):
        if all(k != c for k, _, _ in f.once):  # a copy of what is there already
            once = f.once | {(c, f.sign, f.cost * f.spread + x.weights.launch)}
            yield Seen(TINY, once, x.filled(c, x.weights.global_), f"[g{{{f.sign}}}]", Term(node, (f.how,)))
