"""Programs that write a class: loops, folds, trees and copies, each where its executor allows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, log2

from egglift.egraph.extraction import access_costs
from egglift.egraph.extraction.access_costs import Both, Row, ViewPrice, argument, price, priced, rounded, size, worst
from egglift.egraph.extraction.context import AGAIN, FOLDS, SCANS, TINY, Context
from egglift.egraph.extraction.layout_costs import LAYOUT
from egglift.egraph.extraction.nesting import (
    GRID,
    GRID_LEVELS,
    GROUP,
    ITEM,
    LANES,
    UNROLLED,
    Executor,
    below,
    element,
    iterations,
)
from egglift.egraph.extraction.solutions import KEPT, MAIN, SPREAD, Found, Seen, Term, letter, main_part
from egglift.egraph.extraction.weights import Weights
from egglift.egraph.graph.graph import ENode
from egglift.ir import patterns as p
from egglift.ir.patterns import Level

COMPUTED = ("To", "Increase", *FOLDS, *SCANS, "Tree", "Iterate")  # written directly, not elsewhere and copied
COMPUTING = ("Op1", "Op2", "Op3", "Cast", *FOLDS, *SCANS, "Tree", "Iterate")
AHEAD = 0.95  # of the price of a step that fetches what the next one needs
REST = 4  # the same for a rest of the elements
HELD = 256  # accumulators that a work-item of a group may have


def programs(x: Context, c: int, who: Executor, arg: ViewPrice | None) -> Iterator[Found]:
    """All programs that write class `c`."""
    for node in x.graph.classes.get(c, ()):
        match node.op:
            case "MapL":
                yield from _loop(x, c, node, who, arg)
            case "Map":
                yield from _rearranged(x, node, who, arg)
            case "Fold" | "FoldUnroll" | "FoldAhead" | "Tree" | "ScanSeq" | "ScanDoubling" | "Iterate":
                yield from computed(x, c, node, who, arg)
            case op if op in LAYOUT:
                for f in x.result(node.children[0], who, arg):
                    if f.sign != "c" or op != "Take":
                        yield Found(f.cost + TINY, f.once, f.sign, Term(node, (f.how,)), f.spread)
            case "Concat" | "Tup" | "Zip":
                yield from _both(x, node, who, arg)
            case "To" if node.data[0] == "global" and who is GRID:
                yield from x.result(node.children[0], who, arg)
    yield from _copied(x, c, who, arg)
    yield from _descended(x, c, who, arg)


# ---------------------------------------------------------------------------------------- loops


def _loop(x: Context, c: int, node: ENode, who: Executor, arg: ViewPrice | None) -> Iterator[Found]:
    """A low-level map whose level may follow `who`."""
    level: Level = node.data[0]
    inner = below(level, who)
    if inner is None or (x.levels is not None and level.kind not in x.levels):
        return
    body, over = node.children
    name = letter(level) + x.tiles(over)
    sharing = x.weights.group if level.kind == "local" else 1
    for s in x.view(over, LANES if level.kind == "vec" else who, arg):
        assert isinstance(s.value, Row)
        n = s.value.n
        if (level.kind == "vec" and not 2 <= n <= 128) or (over == c and s.how.node.op == "To"):
            continue  # no vector; a copy of the result that was computed elsewhere
        if level.kind == "local" and SPREAD[0] in s.sign and name not in s.sign:
            continue  # what is spread over work-items is read as it was spread
        for f in x.result(body, inner, element(s.value, level, x.weights)):
            cost, spread = iterations(level, n, f.cost, f.spread, who, x.weights)
            sign = _after(s, n * f.cost / sharing, who) or _named(name, level, s, f)
            yield Found(s.setup + cost, s.once | f.once, sign, Term(node, (f.how, s.how)), spread)


def _named(name: str, level: Level, s: Seen, f: Found) -> str:
    """The signature of a loop; copying in a loop is still a copy."""
    if level.kind in ("seq", "unroll") and f.sign.startswith("c"):
        return "c" + s.sign + f.sign[1:]
    return f"{name}{s.sign}({f.sign})"


def _after(s: Seen, cost: float, who: Executor) -> str | None:
    """The structure of what is computed first, where what follows it is short; else None."""
    if "<" not in s.sign or s.setup < MAIN * cost or who.kind not in ("group", "item", "lane"):
        return None
    return main_part(s.sign, SPREAD if who.kind == "group" else KEPT)


def _rearranged(x: Context, node: ENode, who: Executor, arg: ViewPrice | None) -> Iterator[Found]:
    """`map layout x` in result position: the inverse layout of what is written."""
    body, over = node.children
    layout = x.layout(body)
    if layout is None or isinstance(layout, p.Arg):
        return
    for f in x.result(over, who, arg):
        if not f.sign.startswith("c"):
            yield Found(f.cost + TINY, f.once, f.sign, Term(node, (layout, f.how)), f.spread)


def _both(x: Context, node: ENode, who: Executor, arg: ViewPrice | None) -> Iterator[Found]:
    """Two results, one after the other."""
    if who.kind not in ("grid", "group", "item", "lane"):
        return
    a, b = node.children
    rest = x.result(b, who, arg)[: 1 if node.op == "Concat" else 3]
    for f in x.result(a, who, arg):
        for g in rest:
            # the same structure twice is one choice, not two; how a short rest is done is none
            plain = node.op == "Concat" and REST * g.total < f.total
            sign = f.sign if f.sign == g.sign or plain else f"{f.sign}+{g.sign}"
            yield Found(f.cost + g.cost, f.once | g.once, sign, Term(node, (f.how, g.how)))


def _copied(x: Context, c: int, who: Executor, arg: ViewPrice | None) -> Iterator[Found]:
    """A copy of a view: by one work-item or lane, or shared out over the group."""
    if who.kind not in ("item", "lane", "group"):
        return
    w = x.weights
    write = {"local": w.local, "private": w.private}.get(who.into, w.global_lane if who.kind == "lane" else w.global_)
    for s in x.view(c, who, arg):
        if s.how.node.op in COMPUTED or (who.kind == "group" and _evaluated(x, s.how)):
            continue
        n = size(s.value)
        n = ceil(n / w.group) if who.kind == "group" else n
        lazy = AGAIN if s.how.node.op == "Map" and n > 1 else 1.0
        vectors = w.vector_ops if who is ITEM.writing("private") and _moved(x, s) else 1.0
        cost = n * (price(s.value) / access_costs.width(s.value) + write) * lazy * vectors
        yield Found(s.setup + cost, s.once, (n > 1 and _after(s, cost, who)) or "c" + s.sign, s.how)


def _moved(x: Context, s: Seen) -> bool:
    """Is nothing computed for a copy of consecutive elements?  Compilers load such into registers by vectors."""
    return access_costs.consecutive(s.value) and worst(s.value) <= rounded(x.weights.global_) and not _computes(s.how)


def _computes(how: Term) -> bool:
    return any(part.node.op in COMPUTING for part in _reached(how, lambda part: True))


def _reached(how: Term, beyond: Callable[[Term], bool]) -> Iterator[Term]:
    """`how` and its parts, each once; of a part that is not gone `beyond`, the part alone."""
    stack, seen = [how], set[int]()
    while stack:
        part = stack.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            if beyond(part):
                stack.extend(inner for inner in part.parts if isinstance(inner, Term))


def _evaluated(x: Context, how: Term) -> bool:
    """Is what is copied computed on the way?  Code generation makes that a loop, of one work-item in a group."""
    spine = _reached(how, lambda part: part.node.op in ("Map", "Zip", "Tup", "Concat", *LAYOUT))
    return any(part.node.op == "Map" and x.layout(part.node.children[0]) is None for part in spine)


def _descended(x: Context, c: int, who: Executor, arg: ViewPrice | None) -> Iterator[Found]:
    """Enter the next kind of executor without a loop, or end a nest of parallel maps."""
    if who.kind == "grid":
        if any(n.op == "MapL" and n.data[0].kind in GRID_LEVELS for n in x.graph.classes.get(c, ())):
            return  # one group alone is never better than a map over the grid
        for f in x.result(c, GROUP.writing(who.into), arg):
            yield Found(f.cost, f.once, "1" + f.sign, f.how)
    if who.kind == "group":
        for f in x.result(c, ITEM.writing(who.into), arg):
            if f.sign[0] not in "cF":  # those a group has by itself
                yield Found(AGAIN * f.cost + x.weights.barrier, f.once, "1" + f.sign, f.how)


# ---------------------------------------------------------------------------------------- reductions


def computed(x: Context, c: int, node: ENode, who: Executor, arg: ViewPrice | None) -> Iterator[Found]:
    """A fold, a tree or an iteration, by whoever may execute it."""
    match node.op, who.kind:
        case ("Fold" | "FoldUnroll" | "FoldAhead", "group") if x.is_array(c):
            yield from shared_fold(x, node, arg)
        case ("Fold" | "FoldUnroll", "item" | "lane" | "group"):
            yield from _fold(x, node, who, arg)
        case "Tree", "item" | "group":
            yield from _tree(x, node, who, arg)
        case "ScanSeq", "item" | "lane":
            yield from _scan(x, node, who, arg)
        case "ScanDoubling", "group":
            yield from _doubling(x, node, arg)
        case "Iterate", "item":
            yield from _iterate(x, node, who, arg)


def _fold(x: Context, node: ENode, who: Executor, arg: ViewPrice | None) -> Iterator[Found]:
    """A fold by one work-item, or by each lane."""
    body, init, over = node.children
    w, one = x.weights, ITEM if who.kind == "group" else who
    for z in x.view(init, one, arg)[:1]:
        acc = priced(z.value, w.private)
        if size(acc) > w.kept:
            continue
        for s in x.view(over, who, arg):
            assert isinstance(s.value, Row)
            for f in x.result(body, one.writing("private"), Both(acc, argument(s.value.each))):
                unrolled = node.op == "FoldUnroll" and s.value.n <= UNROLLED
                steps = s.value.n * (f.cost + (0.0 if unrolled else w.loop))
                cost = s.setup + z.setup + size(z.value) * price(z.value) + steps
                sign = _after(z, steps, who) or f"F{s.sign}({f.sign})"
                yield Found(cost, s.once | z.once | f.once, sign, Term(node, (f.how, z.how, s.how)))


def shared_fold(x: Context, node: ENode, arg: ViewPrice | None) -> Iterator[Found]:
    """A fold by a whole group: every work-item keeps the accumulators of its part of the array."""
    body, init, over = node.children
    w, ahead = x.weights, node.op == "FoldAhead"
    for z in x.view(init, GROUP, arg)[:2]:
        acc = priced(z.value, w.private)
        if size(acc) > HELD * w.group:
            continue
        for s in x.view(over, GROUP, arg)[:2]:
            assert isinstance(s.value, Row)
            for f in x.result(body, GROUP.writing("private"), Both(acc, argument(s.value.each))):
                if "L" not in f.sign or (ahead and "[l" not in f.sign):
                    continue
                steps = s.value.n * (f.cost * (AHEAD if ahead else 1.0) + w.loop + w.barrier)
                sign = _after(z, steps, GROUP) or f"F{s.sign}{z.sign}({f.sign})"
                cost = s.setup + z.setup + steps
                yield Found(cost, s.once | z.once | f.once, sign, Term(node, (f.how, z.how, s.how)))


def _tree(x: Context, node: ENode, who: Executor, arg: ViewPrice | None) -> Iterator[Found]:
    """A tree by a work-group or a work-item.  It halves an array in place, in local or private memory."""
    body, init, over = node.children
    w = x.weights
    memory = w.local if who.kind == "group" else w.private
    for z in x.view(init, who, arg)[:1]:
        for s in x.view(over, who, arg):
            assert isinstance(s.value, Row)
            if worst(s.value) > rounded(memory) or "[" not in s.sign:
                continue
            pair = priced(Both(s.value.each, s.value.each), memory)
            for f in x.result(body, ITEM.writing("private"), argument(pair))[:1]:
                cost = s.setup + _halving(w, s.value.n, f.cost, who)
                yield Found(cost, s.once | z.once, f"T{s.sign}", Term(node, (f.how, z.how, s.how)))


def _halving(w: Weights, n: int, cost: float, who: Executor) -> float:
    """The price of a tree over `n` elements: n - 1 combinations in about log n steps."""
    steps = max(1, ceil(log2(max(2, n))))
    if who.kind == "group":
        return (steps + n / w.group) * cost + steps * w.barrier
    return n * cost * w.vector_ops + steps * cost


def _scan(x: Context, node: ENode, who: Executor, arg: ViewPrice | None) -> Iterator[Found]:
    """A scan by one work-item, or by each lane: what is kept of each step is written at once."""
    body, init, over = node.children
    w = x.weights
    write = w.private if who.into == "private" else w.local if who.into == "local" else w.global_
    for z in x.view(init, who, arg)[:1]:
        acc = priced(z.value, w.private)
        for s in x.view(over, who, arg):
            assert isinstance(s.value, Row)
            for f in x.result(body, who.writing("private"), Both(acc, argument(s.value.each))):
                cost = s.setup + z.setup + s.value.n * (f.cost + w.loop + write)
                yield Found(cost, s.once | z.once | f.once, f"S{s.sign}({f.sign})", Term(node, (f.how, z.how, s.how)))


def _doubling(x: Context, node: ENode, arg: ViewPrice | None) -> Iterator[Found]:
    """A scan by a work-group, of what is in local memory."""
    body, init, over = node.children
    w = x.weights
    for z in x.view(init, GROUP, arg)[:1]:
        for s in x.view(over, GROUP, arg):
            assert isinstance(s.value, Row)
            if worst(s.value) > rounded(w.local) or "[" not in s.sign:
                continue
            pair = priced(Both(s.value.each, s.value.each), w.local)
            for f in x.result(body, ITEM.writing("private"), argument(pair))[:1]:
                steps = max(1, ceil(log2(max(2, s.value.n))))
                cost = s.setup + steps * (ceil(s.value.n / w.group) * f.cost + w.barrier)
                yield Found(cost, s.once | z.once, f"D{s.sign}", Term(node, (f.how, z.how, s.how)))


def _iterate(x: Context, node: ENode, who: Executor, arg: ViewPrice | None) -> Iterator[Found]:
    """So many steps of one work-item."""
    body, over = node.children
    count = x.nominal.number(node.data[0])
    for s in x.view(over, who, arg)[:1]:
        for f in x.result(body, who.writing("private"), argument(priced(s.value, x.weights.private))):
            cost = s.setup + size(s.value) * price(s.value) + count * f.cost
            yield Found(cost, s.once | f.once, f"I{s.sign}({f.sign})", Term(node, (f.how, s.how)))
