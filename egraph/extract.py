"""Extraction: the k best low-level programs of an e-graph, structurally different, every nesting legal.

A dynamic program over (e-class, executor, prices of the argument).  The executor says who is running here and so
which levels may follow (seed 000, figure 5): the grid, a work-group, a work-item, the lanes of a vector.  The
prices of the argument (egraph/values.py) give closed bodies their context without substitution.  A class is asked
for in two ways: for its *result* (code that writes it) and as a *view* (an expression that reads it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import ceil, log2

from egglift.egraph import values
from egglift.egraph.fixpoint import Fixpoint
from egglift.egraph.found import NONE, Found, Seen, Term, best, best_views, letter, merge, same
from egglift.egraph.frozen import ENode, Graph, build
from egglift.egraph.nominal import Nominal
from egglift.egraph.values import Both, Row, Value, price, priced, size, worst
from egglift.egraph.weights import Weights
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr, Level
from egglift.ir.sizes import symbols
from egglift.ir.traverse import subterms
from egglift.ir.types import Array, Tuple, Type

FOLDS = ("Fold", "FoldUnroll", "FoldAhead")
COMPUTED = ("To", "Increase", *FOLDS, "Tree", "Iterate")  # written directly, not elsewhere and copied
GRID_LEVELS = ("global", "workgroup")
LAYOUT = ("Split", "Join", "Transpose", "Stride", "Take")
DEAR, DEAR_OPS = 8, ("exp", "exp2", "log", "log2", "sin", "cos", "tan", "tanh", "erf", "pow", "atan2")
AGAIN = 1.05  # what is computed element by element, where it is read, is rarely better than a loop of its own
STRIDED = 3.0
SPREAD = "<<", ">>"  # around the signature of what the work-items of a group keep, each its own part
UNROLLED = 32  # loops over registers so long are unrolled
AHEAD = 0.95  # of the price of a step that fetches what the next one needs
TINY = 1e-3  # a price for every node, so that no view loops


@dataclass(frozen=True)
class Executor:
    """Who executes.  kind: grid, workgroup, global, group, local, item, lane; `dim` levels are still to come.

    into: the memory that results go to.
    """

    kind: str
    dim: int = 0
    into: str = "global"

    def writing(self, space: str) -> Executor:
        """The same executor, its results going elsewhere."""
        return self if self.into == space else replace(self, into=space)


GRID, GROUP, ITEM, LANE = Executor("grid"), Executor("group"), Executor("item"), Executor("lane")
LANES = Executor("lanes")  # reads for the lanes of a vector what its work-item has staged


@dataclass
class Extractor:
    """The k best programs of `graph` for a device of `weights`.  `levels`: those that may be used (None: all)."""

    graph: Graph
    weights: Weights
    k: int = 10
    views: int = 4
    levels: frozenset[str] | None = None
    nominal: Nominal = field(init=False)
    results: Fixpoint[tuple[int, Executor, Value | None], list[Found]] = field(init=False)
    seen: Fixpoint[tuple[int, Executor, Value | None], list[Seen]] = field(init=False)

    def __post_init__(self) -> None:
        self.nominal = Nominal(self.graph.symbols, self.weights)
        # one table for both kinds of state: they call each other
        table: Fixpoint[object, list[Found | Seen]] = Fixpoint([], same)
        self.results = self.seen = table  # type: ignore[assignment]
        self._layouts: dict[int, Expr | None] = {}

    def run(self) -> list[Found]:
        """The best programs of the root, cheapest first."""
        return self.result(self.graph.root, GRID, None)

    # ------------------------------------------------------------------------------------ the table

    def result(self, c: int, who: Executor, arg: Value | None) -> list[Found]:
        """Programs that write class `c`."""
        arg = None if c in self.graph.closed else arg
        return self.results.get(("r", c, who, arg), lambda: best(self._results(c, who, arg), self.k))  # type: ignore[arg-type]

    def view(self, c: int, who: Executor, arg: Value | None) -> list[Seen]:
        """Expressions that read class `c`."""
        arg = None if c in self.graph.closed else arg
        who = who.writing("global")
        return self.seen.get(("v", c, who, arg), lambda: best_views(self._views(c, who, arg), self.views))  # type: ignore[arg-type]

    # ------------------------------------------------------------------------------------ results

    def _results(self, c: int, who: Executor, arg: Value | None) -> Iterator[Found]:
        for node in self.graph.classes.get(c, ()):
            match node.op:
                case "MapL":
                    yield from self._loop(c, node, who, arg)
                case "Map":
                    yield from self._layout_map(node, who, arg)
                case "Fold" | "FoldUnroll" | "FoldAhead" if who.kind == "group" and self._is_array(c):
                    yield from self._shared_fold(node, arg)
                case "Fold" | "FoldUnroll" | "Tree":
                    yield from self._reduction(node, who, arg)
                case "Iterate":
                    yield from self._iterate(node, who, arg)
                case "Split" | "Join" | "Transpose" | "Stride" | "Take":
                    for f in self.result(node.children[0], who, arg):
                        if f.sign != "c" or node.op != "Take":
                            yield Found(f.cost + TINY, f.once, f.sign, Term(node, (f.how,)), f.spread)
                case "Concat" | "Tup" | "Zip":
                    yield from self._both(node, who, arg)
                case "To":
                    if node.data[0] == "global" and who == GRID:
                        for f in self.result(node.children[0], who, arg):
                            yield f
                case _:
                    pass
        yield from self._expression(c, who, arg)
        yield from self._descend(c, who, arg)

    def _loop(self, c: int, node: ENode, who: Executor, arg: Value | None) -> Iterator[Found]:
        """A low-level map whose level may follow `who`."""
        level: Level = node.data[0]
        below = self._below(level, who)
        if below is None or (self.levels is not None and level.kind not in self.levels):
            return
        body, x = node.children
        tiles, w = self._tiles(x), self.weights
        for s in self.view(x, LANES if level.kind == "vec" else who, arg):
            assert isinstance(s.value, Row)
            if (level.kind == "vec" and not 2 <= s.value.n <= 128) or (x == c and s.how.node.op == "To"):
                continue  # no vector; a copy of the result that was computed elsewhere
            if level.kind == "local" and SPREAD[0] in s.sign and letter(level) + tiles not in s.sign:
                continue  # what is spread over work-items is read as it was spread
            for f in self.result(body, below, self._element(s.value, level)):
                sign = f"{letter(level)}{tiles}{s.sign}({f.sign})"
                if SPREAD[0] in s.sign and s.setup > 10 * f.cost * s.value.n / w.group:
                    sign = _spread(s.sign)  # what follows a long computation is no structure of its own
                if level.kind in ("seq", "unroll") and f.sign.startswith("c"):
                    sign = "c" + s.sign + f.sign[1:]
                cost, spread = self._trips(level, s.value.n, f, below.into)
                cost, spread = self._close(cost, spread, level, who)
                yield Found(s.setup + cost, s.once | f.once, sign, Term(node, (f.how, s.how)), spread)

    def _element(self, v: Value, level: Level) -> Value:
        """What the body is given.  Neighbouring lanes and work-items should read neighbouring elements."""
        w = self.weights
        if level.kind == "vec":
            plain = 2 * max(w.global_lane, w.global_)
            return values.across(v, lambda p: p / w.vector_ops if p > plain else p * w.apart, near=False)
        if w.warp > 1 and level.dim == 0 and level.kind in ("global", "local", "lane"):
            return values.across(v, lambda p: p * w.apart if p >= w.global_lane / 2 else p, near=True)
        assert isinstance(v, Row)
        return v.each

    def _below(self, level: Level, who: Executor) -> Executor | None:
        """The executor of the bodies of a map at `level` under `who`; None where it may not stand."""
        match who.kind, level.kind:
            case "grid", "workgroup" | "global":
                pass
            case ("workgroup", "workgroup") | ("global", "global") | ("local", "local"):
                if level.dim != who.dim - 1:
                    return None
            case "group", "local":
                pass
            case "group", "warp":
                return Executor("warp", 0, who.into)
            case "warp", "lane":
                return ITEM.writing(who.into)
            case "item", "seq" | "unroll":
                return ITEM.writing(who.into)
            case "lane", "seq" | "unroll":
                return LANE.writing(who.into)
            case "item", "vec":
                return LANE.writing(who.into)
            case _:
                return None
        if level.dim:
            return Executor(level.kind, level.dim, who.into)
        return (GROUP if level.kind == "workgroup" else ITEM).writing(who.into)

    def _trips(self, level: Level, n: int, f: Found, into: str) -> tuple[float, float]:
        """Cost and spread of `n` iterations: parallel ones are spread out, sequential ones add up."""
        w = self.weights
        match level.kind:
            case "workgroup" | "global" | "local" | "warp" | "lane":
                return f.cost, f.spread * n
            case "vec":
                return f.cost * max(1.0, n * w.vector_ops), 1.0
            case "unroll":
                return n * f.cost, 1.0
            case "seq" if into == "private" and n <= UNROLLED:
                return n * f.cost, 1.0
            case _:
                return n * (f.cost + w.loop), 1.0

    def _close(self, cost: float, spread: float, level: Level, who: Executor) -> tuple[float, float]:
        """Where a nest of parallel maps ends, what was spread over executors becomes time."""
        w = self.weights
        width = {"workgroup": w.groups, "global": w.items, "local": w.group, "warp": w.group}.get(level.kind)
        if width is None or who.kind not in ("grid", "group"):
            return cost, spread
        if w.warp > 1:  # what is there shares the device: an eighth of what fills it keeps it busy
            return cost * max(spread, width / 8) / width, 1.0
        return cost * ceil(spread / width), 1.0

    def _layout_map(self, node: ENode, who: Executor, arg: Value | None) -> Iterator[Found]:
        """`map layout x` in result position: the inverse layout of what is written."""
        body, x = node.children
        layout = self.layout(body)
        if layout is None or isinstance(layout, p.Arg):
            return
        for f in self.result(x, who, arg):
            if not f.sign.startswith("c"):
                yield Found(f.cost + TINY, f.once, f.sign, Term(node, (layout, f.how)), f.spread)

    def layout(self, c: int) -> Expr | None:
        """The body of class `c` if it only rearranges its Arg."""
        if c not in self._layouts:
            self._layouts[c] = None
            found: list[Expr] = []
            for node in self.graph.classes.get(c, ()):
                if node.op == "Arg":
                    found.append(build(node, []))
                elif node.op in LAYOUT and (x := self.layout(node.children[0])) is not None:
                    found.append(build(node, [x]))
                elif node.op == "Map":
                    f, y = (self.layout(k) for k in node.children)
                    if f is not None and y is not None:
                        found.append(build(node, [f, y]))
            if found:
                self._layouts[c] = min(found, key=_nodes)
        return self._layouts[c]

    def _reduction(self, node: ENode, who: Executor, arg: Value | None) -> Iterator[Found]:
        """Fold by one work-item (or each lane); tree by a work-group or a work-item."""
        if who.kind not in ("item", "lane", "group") or (node.op, who.kind) == ("Tree", "lane"):
            return
        body, init, x = node.children
        w = self.weights
        reader = who if node.op == "Tree" or who.kind != "group" else ITEM
        zs = self.view(init, reader, arg)[:1]
        for s in self.view(x, who, arg):
            assert isinstance(s.value, Row)
            n = s.value.n
            for z in zs:
                acc = priced(z.value, w.private)
                if node.op == "Tree":
                    memory = w.local if who.kind == "group" else w.private
                    if worst(s.value) > memory + TINY or "[" not in s.sign:
                        continue  # a tree halves an array in place: it must be in local or private memory
                    pair = Both(priced(s.value.each, memory), priced(s.value.each, memory))
                    for f in self.result(body, ITEM.writing("private"), pair)[:1]:
                        work = self._halving(n, f.cost, who)
                        yield Found(
                            s.setup + work, s.once | z.once, f"T{s.sign}", Term(node, (f.how, z.how, s.how))
                        )
                else:
                    below = ITEM if who.kind == "group" else who
                    for f in self.result(body, below.writing("private"), Both(acc, s.value.each)):
                        cost = s.setup + z.setup + size(z.value) * price(z.value) + n * (f.cost + w.loop)
                        sign = f"F{s.sign}({f.sign})"
                        yield Found(
                            cost, s.once | z.once | f.once, sign, Term(node, (f.how, z.how, s.how))
                        )

    def _shared_fold(self, node: ENode, arg: Value | None) -> Iterator[Found]:
        """A fold by a whole group: every work-item keeps the accumulators of its part of the array."""
        body, init, x = node.children
        w = self.weights
        for z in self.view(init, GROUP, arg)[:2]:
            acc = priced(z.value, w.private)
            if size(acc) > 256 * w.group:
                continue
            for s in self.view(x, GROUP, arg)[:2]:
                assert isinstance(s.value, Row)
                steps = [f for f in self.result(body, GROUP.writing("private"), Both(acc, s.value.each)) if "L" in f.sign]
                if node.op == "FoldAhead":
                    steps = [f for f in steps if "[l" in f.sign]
                for f in steps:
                    each = f.cost * (AHEAD if node.op == "FoldAhead" else 1.0) + w.loop + w.barrier
                    cost, sign = s.setup + z.setup + s.value.n * each, f"F{s.sign}{z.sign}({f.sign})"
                    if z.setup > 10 * s.value.n * each:  # how the last few are added is no structure of its own
                        sign = _spread(z.sign)
                    yield Found(cost, s.once | z.once | f.once, sign, Term(node, (f.how, z.how, s.how)))

    def _halving(self, n: int, cost: float, who: Executor) -> float:
        """The price of a tree over `n` elements: n - 1 combinations in about log n steps."""
        w, steps = self.weights, max(1, ceil(log2(max(2, n))))
        if who.kind == "group":
            return (steps + n / w.group) * cost + steps * w.barrier
        return n * cost * w.vector_ops + steps * cost

    def _iterate(self, node: ENode, who: Executor, arg: Value | None) -> Iterator[Found]:
        if who.kind != "item":
            return
        body, x = node.children
        count = self.nominal.number(node.data[0])
        for s in self.view(x, who, arg)[:1]:
            for f in self.result(body, who.writing("private"), priced(s.value, self.weights.private)):
                cost = s.setup + size(s.value) * price(s.value) + count * f.cost
                yield Found(cost, s.once | f.once, f"I{s.sign}({f.sign})", Term(node, (f.how, s.how)))

    def _both(self, node: ENode, who: Executor, arg: Value | None) -> Iterator[Found]:
        """Two results, one after the other."""
        if who.kind not in ("grid", "group", "item", "lane"):
            return
        a, b = node.children
        rest = self.result(b, who, arg)
        for f in self.result(a, who, arg):
            for g in rest[: 1 if node.op == "Concat" else 3]:
                # the same structure twice is one choice, not two; how a short rest is done is none
                plain = node.op == "Concat" and 4 * g.total < f.total
                sign = f.sign if f.sign == g.sign or plain else f"{f.sign}+{g.sign}"
                yield Found(f.cost + g.cost, f.once | g.once, sign, Term(node, (f.how, g.how)))

    def _expression(self, c: int, who: Executor, arg: Value | None) -> Iterator[Found]:
        """A copy of a view: by one work-item or lane, or shared out over the group."""
        if who.kind not in ("item", "lane", "group"):
            return
        w = self.weights
        write = {"local": w.local, "private": w.private}.get(who.into, w.global_lane if who.kind == "lane" else w.global_)
        for s in self.view(c, who, arg):
            if s.how.node.op in COMPUTED:
                continue
            n = size(s.value)
            each = price(s.value) / values.width(s.value) + write
            n = ceil(n / self.weights.group) if who.kind == "group" else n
            lazy = AGAIN if s.how.node.op == "Map" and n > 1 else 1.0
            yield Found(s.setup + n * each * lazy, s.once, "c" + s.sign, s.how)

    def _descend(self, c: int, who: Executor, arg: Value | None) -> Iterator[Found]:
        """Enter the next kind of executor without a loop, or end a nest of parallel maps."""
        w = self.weights
        if who.kind == "grid":
            if any(n.op == "MapL" and n.data[0].kind in GRID_LEVELS for n in self.graph.classes.get(c, ())):
                return  # one group alone is never better than a map over the grid
            for f in self.result(c, GROUP.writing(who.into), arg):
                yield Found(f.cost, f.once, "1" + f.sign, f.how)
        if who.kind == "group":
            for f in self.result(c, ITEM.writing(who.into), arg):
                if f.sign[0] not in "cF":  # those a group has by itself
                    yield Found(AGAIN * f.cost + w.barrier, f.once, "1" + f.sign, f.how)

    # ------------------------------------------------------------------------------------ views

    def _views(self, c: int, who: Executor, arg: Value | None) -> Iterator[Seen]:
        found: list[Seen] = []
        for node in self.graph.classes.get(c, ()):
            found.extend(self._view(c, node, who, arg))
        yield from found
        yield from self._staged(c, who, arg, found)

    def _view(self, c: int, node: ENode, who: Executor, arg: Value | None) -> Iterable[Seen]:
        w = self.weights
        lane, op = who.kind in ("lane", "lanes"), w.op
        match node.op:
            case "Arg":
                return [] if arg is None else [Seen(0, NONE, arg, "", Term(node, ()))]
            case "Input" | "Constant":
                return [Seen(TINY, NONE, self._filled(c, w.global_lane if lane else w.global_), "", Term(node, ()))]
            case "Lit" | "Iota":
                return [Seen(TINY, NONE, self._filled(c, 0.0), "", Term(node, ()))]
            case "Op1" | "Op2" | "Op3" | "Cast":
                more = DEAR * op if node.data[0] in DEAR_OPS else op
                return list(self._combine(node, who, arg, lambda *vs: values.combine(vs, more)))
            case "Fst" | "Snd":
                return list(self._combine(node, who, arg, lambda v: v.a if node.op == "Fst" else v.b))
            case "Fill":
                n = self.nominal.number(node.data[0])
                return list(self._combine(node, who, arg, lambda v: Row(n, values.spread(v))))
            case "Map":
                return self._lazy_map(node, who, arg)
            case "Fold" | "FoldUnroll" | "FoldAhead" | "Tree" | "Iterate":
                return self._computed(c, node, who, arg)
            case "MapL" | "Reduce" | "To" | "Increase":
                return []
            case _:
                return list(self._combine(node, who, arg, self._shape(node)))

    def _shape(self, node: ENode) -> Callable[..., Value]:
        """How a layout pattern's value follows from those of its parts."""
        num = self.nominal.number
        match node.op:
            case "Tup":
                return lambda a, b: Both(a, b)
            case "Zip":
                return lambda a, b: Row(a.n, Both(a.each, b.each))
            case "Distl":
                return lambda a, b: Row(b.n, Both(values.spread(a), b.each))
            case "Cross":
                return lambda a, b: Row(a.n, Row(b.n, Both(values.spread(a.each), b.each)))
            case "Split":
                k = num(node.data[0])
                return lambda x: values.split(x, k)
            case "Join":
                return values.join
            case "Transpose":
                return values.transpose
            case "Stride":
                return lambda x: x
            case "Slide":
                k, step = map(num, node.data[:2])
                return lambda x: _windows(x, k, step)
            case "Pad" | "PadConst":
                more = num(node.data[0]) + num(node.data[1])
                return lambda x, *_: Row(x.n + more, x.each)
            case "PadUp" | "PadUpConst":
                k = max(1, num(node.data[0]))
                return lambda x, *_: Row(-(-x.n // k) * k, x.each)
            case "Take":
                n = num(node.data[0])
                return lambda x: Row(n, x.each)
            case "Drop":
                n = num(node.data[0])
                return lambda x: Row(max(0, x.n - n), x.each)
            case "Concat":
                return lambda a, b: Row(a.n + b.n, values.mixed(a.each, b.each, a.n / max(1, a.n + b.n)))
            case "Gather":
                return lambda i, x: Row(i.n, values.gathered(values.dearer(x.each, worst(i))))
            case "At":
                return lambda x: x.each
        raise AssertionError(f"no view for {node.op}")

    def _combine(
        self, node: ENode, who: Executor, arg: Value | None, value: Callable[..., Value]
    ) -> Iterator[Seen]:
        """All combinations of the views of the parts."""
        rows = [self.view(k, who, arg) for k in node.children]
        parts: list[list[Seen]] = [[]]
        for row in rows:
            parts = [[*chosen, s] for chosen in parts for s in row]
        for chosen in parts:
            yield Seen(
                sum(s.setup for s in chosen) + TINY, NONE.union(*(s.once for s in chosen)),
                value(*(s.value for s in chosen)),
                merge(*(s.sign for s in _main(node, chosen))), Term(node, tuple(s.how for s in chosen)),
            )  # fmt: skip

    def _lazy_map(self, node: ENode, who: Executor, arg: Value | None) -> Iterator[Seen]:
        """A map that is evaluated element by element, where one is read."""
        body, x = node.children
        inside = LANE if who == LANES else who if who.kind in ("item", "lane") else Executor("pure")
        for s in self.view(x, who, arg):
            assert isinstance(s.value, Row)
            for b in self.view(body, inside, s.value.each):
                value = self._computed_again(b, who)
                yield Seen(
                    s.setup + TINY, s.once | b.once, Row(s.value.n, value), merge(s.sign, b.sign),
                    Term(node, (b.how, s.how)),
                )  # fmt: skip

    def _computed_again(self, b: Seen, who: Executor) -> Value:
        """What is computed at every access, by a work-item or by all lanes at once."""
        if b.setup <= 1:
            return b.value
        if who == LANES:  # each lane walks through a chunk of its own
            return priced(b.value, values.rounded(b.setup * STRIDED))
        return values.dearer(b.value, b.setup * AGAIN)

    def _computed(self, c: int, node: ENode, who: Executor, arg: Value | None) -> Iterator[Seen]:
        """A reduction read as a view: evaluated once, where the enclosing body starts."""
        who = ITEM if who == LANES else who
        if who.kind not in ("item", "lane", "group"):
            return
        shared = who.kind == "group" and node.op in FOLDS and self._is_array(c)
        found = best(self._shared_fold(node, arg), 2) if shared else self._results_of(node, who, arg)[:2]
        for f in found:
            memory = self.weights.local if who.kind == "group" and not shared else self.weights.private
            sign = f"{SPREAD[0]}{f.sign}{SPREAD[1]}" if shared else f"<{f.sign}>"
            yield Seen(f.cost, f.once, self._filled(c, memory), sign, f.how)

    def _results_of(self, node: ENode, who: Executor, arg: Value | None) -> list[Found]:
        if node.op == "Iterate":
            return best(self._iterate(node, who, arg), 2)
        if node.op != "Tree" and who.kind == "group":
            return []
        return best(self._reduction(node, who, arg), 3)

    def _staged(self, c: int, who: Executor, arg: Value | None, views: list[Seen]) -> Iterator[Seen]:
        """The class kept in a memory: a `To` node of its own, evaluated where the body starts."""
        w = self.weights
        who = ITEM if who == LANES else who
        for node in self.graph.classes.get(c, ()):
            if node.op not in ("To", "Increase"):
                continue
            space, x = "local" if node.op == "Increase" else node.data[0], node.children[0]
            if space == "global" and c in self.graph.closed:
                for f in self.result(x, GRID, None)[:3]:
                    if any(k == c for k, _, _ in f.once):
                        continue  # a copy of what is there already
                    once = f.once | {(c, f.sign, f.cost * f.spread + w.launch)}
                    yield Seen(
                        TINY, once, self._filled(c, w.global_), f"[g{{{f.sign}}}]", Term(node, (f.how,))
                    )
            elif space == "local" and who == GROUP and 4 * size(self._filled(c, 0.0)) <= w.local_bytes:
                for f in self.result(x, GROUP.writing("local"), arg)[:4]:
                    if f.sign.startswith("c[l"):
                        continue  # a copy of what is there already
                    cost = (f.cost + w.barrier) * (0.99 if node.op == "Increase" else 1.0)  # fewer conflicts
                    yield Seen(cost, f.once, self._filled(c, w.local), f"[l{f.sign}]", Term(node, (f.how,)))
            elif space == "private" and who.kind in ("item", "lane") and size(self._filled(c, 0.0)) <= 128:
                for f in self.result(x, who.writing("private"), arg)[:2]:
                    yield Seen(f.cost, f.once, self._filled(c, w.private), f"[p{f.sign}]", Term(node, (f.how,)))

    # ------------------------------------------------------------------------------------ small things

    def _tiles(self, c: int) -> str:
        """The tile symbols in the length of array class `c`: part of a loop's signature."""
        t = self.graph.types[c]
        return "".join(sorted(symbols(t.length))) if isinstance(t, Array) else ""

    def _is_array(self, c: int) -> bool:
        """Is the value of class `c` made of arrays?"""
        return _holds_arrays(self.graph.types[c])

    def _filled(self, c: int, each: float) -> Value:
        return values.fill(self.graph.types[c], values.rounded(each), self.nominal.number, unit=0)


def _main(node: ENode, parts: list[Seen]) -> list[Seen]:
    """The parts that make the structure: how a short rest is computed is no choice of its own."""
    match node.op, [s.value for s in parts]:
        case "Concat", [Row(n, _), Row(m, _)] if 4 * m <= n:
            return parts[:1]
    return parts


def _holds_arrays(t: Type) -> bool:
    return isinstance(t, Array) or (isinstance(t, Tuple) and any(map(_holds_arrays, t.items)))


def _spread(sign: str) -> str:
    """The signature between the marks of SPREAD."""
    return sign[sign.index(SPREAD[0]) + 2 : sign.rindex(SPREAD[1])]


def _windows(v: Row, k: int, step: int) -> Row:
    """`[n] -> [windows][k]`."""
    chunks = values.split(v, k)
    assert isinstance(chunks, Row)
    return Row(max(0, v.n - k) // max(1, step) + 1, chunks.each)


def _nodes(e: Expr) -> int:
    return sum(1 for _ in subterms(e))
