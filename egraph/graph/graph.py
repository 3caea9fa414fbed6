"""The e-graph as plain Python data: classes of nodes, types with symbolic lengths, tile symbols.

Everything is numbered by content, so that the same program gives the same graph in every process.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from egglift.egraph.graph.encode import LEVELS, Encoder, literal_value
from egglift.egraph.graph.engine import Engine
from egglift.egraph.rules.constructors import ARITHMETIC, CONSTRUCTORS
from egglift.egraph.rules.language import declarations, signatures
from egglift.ir.check import type_of
from egglift.ir.errors import RuleError
from egglift.ir.patterns import Expr, Level, Operator
from egglift.ir.sizes import Size, SizeOp, Sym, symbols
from egglift.ir.types import Array, Scalar, Tuple, Type


@dataclass(frozen=True)
class ENode:
    """One way to compute a class.

    children: classes of the Expr arguments, bodies included, in the order of the pattern (body, init, x).
    data: everything else in plain values: lengths as ir.sizes, Level, names, ir types, literals; for Reduce
    and Scan its Operator.
    """

    op: str
    children: tuple[int, ...]
    data: tuple[Any, ...] = ()


@dataclass(frozen=True)
class TileSymbol:
    """A tile length to choose.  kind: the letter of one of ir/tile_kinds.py's, or of a user's law.

    length: what it cuts.  depth: how often that was cut already, plus one.  array: the class that it cuts.
    """

    name: str
    kind: str
    length: Size
    depth: int
    array: int


@dataclass(frozen=True)
class Graph:
    """A frozen e-graph.  Classes are numbered from 0; `root` is the program's."""

    classes: dict[int, tuple[ENode, ...]]
    root: int
    types: dict[int, Type]
    closed: frozenset[int]
    symbols: dict[str, TileSymbol]
    smallest: dict[int, ENode] = field(repr=False)
    applied: tuple[tuple[str, int], ...] = ()  # with tracing: which law rewrote which class

    @property
    def size(self) -> int:
        """The number of nodes."""
        return sum(map(len, self.classes.values()))

    def term(self, c: int) -> Expr:
        """The smallest program of class `c`."""
        memo: dict[int, Expr] = {}
        stack = [c]
        while stack:
            node = self.smallest[stack[-1]]
            todo = [k for k in node.children if k not in memo]
            if todo:
                stack.extend(todo)
            else:
                memo[stack.pop()] = build(node, [memo[k] for k in node.children])
        return memo[c]


def build(node: ENode, kids: list[Expr]) -> Expr:
    """The pattern of a node, given programs for its children."""
    form = CONSTRUCTORS[node.op].form
    values, parts, data = dict(form.fixed), iter(kids), iter(node.data)
    for name, kind in form.slots:
        if kind == "exprs":
            values[name] = tuple(parts)
        elif kind in ("expr", "optional", "body"):
            values[name] = next(parts)
        else:
            if kind == "operator":
                next(parts)  # its body, which it knows
            values[name] = next(data)
    return form.cls(**values)  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------ reading egglog's tables

_OPERATORS = {constructor: op for op, constructor in ARITHMETIC.items()}

Row = tuple[str, tuple[Any, ...]]  # operator, arguments (classes as egglog's values, the rest as Python values)


@dataclass
class Tables:
    """egglog's rows by class, for one sort."""

    rows: dict[Any, list[Row]]
    sorts: dict[str, tuple[str, ...]]  # operator -> sorts of its arguments
    best: dict[Any, tuple[int, int, Row]] = field(default_factory=dict)


def freeze(e: Engine, encoder: Encoder) -> Graph:
    """Everything reachable from the root; without administrative nodes, and subsumed ones where there are others."""
    reader = _Reader(e)
    ((root,), _) = next(iter(reader.read("root", ("Expr",))))
    return _Builder(reader, encoder).graph(root)


class Frozen:
    """An e-graph with several programs in it: the tables are read once, a graph is made of each slot's program."""

    def __init__(self, e: Engine, encoder: Encoder) -> None:
        self._reader = _Reader(e)
        self._builder = _Builder(self._reader, encoder)
        self._slots = dict(self._reader.outputs("slot"))
        self._types = dict(self._reader.outputs("slot-type"))
        self._noted: dict[str, set[tuple[Any, ...]]] = {}

    def graph(self, slot: int) -> Graph:
        """Everything reachable from a slot."""
        return self._builder.graph(self._slots[slot])

    def type(self, slot: int) -> Type:
        """The type in a slot of types, with the names that tile symbols have in the graphs."""
        return self._builder.type(self._types[slot])

    def noted(self, relation: str, number: int, slots: Iterable[int]) -> bool:
        """Does a `(relation number e)` hold of one of these slots?"""
        if relation not in self._noted:
            self._noted[relation] = {args for args, _ in self._reader.read(relation, ("i64", "Expr"))}
        return any((number, self._slots[slot]) in self._noted[relation] for slot in slots)


class _Reader:
    """The tables of an engine."""

    def __init__(self, e: Engine) -> None:
        self.egraph = e.egraph
        self.functions = e.egraph.freeze().functions
        self.closed = {v for (v,), _ in self.read("closed", ("Expr",))}
        self.tables = {sort: self._table(ops) for sort, ops in declarations().items()}
        settle_smallest(self.tables)
        self.revived = self._revive(self.tables["Expr"])
        if self.revived:
            settle_smallest(self.tables)

    def _table(self, ops: dict[str, tuple[str, ...]], subsumed: bool = False) -> Tables:
        rows: dict[Any, list[Row]] = defaultdict(list)
        for op, sorts in ops.items():
            if op != "Subst":
                for args, output in self.read(op, sorts, subsumed):
                    if output not in self.closed or self._is_closed(op, args):
                        rows[output].append((op, args))
        return Tables(rows, ops)

    def _revive(self, table: Tables) -> bool:
        """Gives classes without a finite term their subsumed rows back; are there any?  Laws have passed them over.

        In `join (split n (join y))` the outer join is subsumed, as it is `join y`; once `split n (join y)` is found
        to be y, it is the same row.
        """
        lost = self._table(table.sorts, subsumed=True).rows
        found = [c for c in lost if c not in table.best]
        for c in found:
            table.rows[c].extend(lost[c])
        return bool(found)

    def _is_closed(self, op: str, args: tuple[Any, ...]) -> bool:
        """Does a node not depend on its scope's Arg?

        A law that drops something, `0 * x = 0`, puts nodes of any scope into a closed class.  Elsewhere they
        would have another argument: a closed class keeps its closed nodes only.
        """
        kinds = signatures().get(op, ())
        return op != "Arg" and all(v in self.closed for k, v in zip(kinds, args, strict=False) if k == "expr")

    def outputs(self, name: str) -> Iterable[tuple[int, Any]]:
        """The rows of a table that is numbered."""
        return ((number, output) for (number,), output in self.read(name, ("i64",)))

    def read(self, name: str, sorts: tuple[str, ...], subsumed: bool = False) -> Iterable[tuple[tuple[Any, ...], Any]]:
        """The rows of one table that are not subsumed, or those that are."""
        text, number = self.egraph.value_to_string, self.egraph.value_to_i64
        convert = [text if s == "String" else number if s == "i64" else None for s in sorts]
        for row in self.functions[name].rows:
            if row.subsumed == subsumed:
                yield tuple(c(v) if c else v for c, v in zip(convert, row.inputs, strict=True)), row.output


def settle_smallest(tables: dict[str, Tables]) -> None:
    """The smallest term of every class: its size, a digest of its text (which breaks ties), its row.

    Sizes do not grow, so a worklist over parents reaches the fixpoint; terms are finite, so cycles lose.
    """
    parents: dict[Any, list[tuple[str, Any, Row]]] = defaultdict(list)
    work: list[tuple[str, Any, Row]] = []
    for sort, table in tables.items():
        for c, rows in table.rows.items():
            for row in rows:
                work.append((sort, c, row))
                for s, v in zip(table.sorts[row[0]], row[1], strict=True):
                    if s in tables:
                        parents[s, v].append((sort, c, row))
    while work:
        again: dict[Any, None] = {}
        for sort, c, row in work:
            smaller = _weigh(tables, sort, row)
            known = tables[sort].best.get(c)
            if smaller and (known is None or smaller < known[:2]):
                tables[sort].best[c] = (*smaller, row)
                again[sort, c] = None
        work = [item for key in again for item in parents[key]]


def _weigh(tables: dict[str, Tables], sort: str, row: Row) -> tuple[int, int] | None:
    """Size and digest of the smallest term of a row, or None if an argument has none yet."""
    op, args = row
    total, digest = 1, _digest(op)
    for s, v in zip(tables[sort].sorts[op], args, strict=True):
        if s in tables:
            part = tables[s].best.get(v)
            if part is None:
                return None
            total += part[0]
            digest = (digest * _MIX + part[1]) % _PRIME
        else:
            digest = (digest * _MIX + _digest(v)) % _PRIME
    return min(total, 1 << 60), digest


_PRIME, _MIX = (1 << 89) - 1, 0x5DEECE66D1CE4E5B9


@lru_cache(1 << 16)
def _digest(text: str | int) -> int:
    """A number for a name, the same in every process."""
    return int.from_bytes(blake2b(repr(text).encode(), digest_size=11).digest(), "little")


# ---------------------------------------------------------------------------------------- building the graph


class _Builder:
    """Turns egglog's values into numbers and plain data, from the root on."""

    def __init__(self, reader: _Reader, encoder: Encoder) -> None:
        self.reader, self.encoder = reader, encoder
        self.exprs, self.nats, self.tys, self.levels = (reader.tables[s] for s in ("Expr", "Nat", "Ty", "Level"))
        self.type_of = {args[0]: ty for args, ty in reader.read("type-of", ("Expr",))}
        self.operators = self._operators()
        self.ids: dict[Any, int] = {}
        self.order: list[Any] = []
        self.tiles = self._tiles()
        self.sizes: dict[Any, Size] = {}
        self.types: dict[Any, Type] = {}
        self._resolve_sizes()

    def graph(self, root: Any) -> Graph:
        """The graph of all that is reachable from a class."""
        self.ids, self.order = {}, []
        if root not in self.exprs.best:
            raise RuleError("no finite program is left: some law subsumes the only node that its class is made of")
        self._number(root)
        classes: dict[int, tuple[ENode, ...]] = {}
        smallest: dict[int, ENode] = {}
        for value in self.order:  # grows while it is walked
            nodes = {row: self._node(row) for row in self._live(value)}
            classes[self.ids[value]] = tuple(nodes.values())
            smallest[self.ids[value]] = nodes[self.exprs.best[value][2]]
        closed = frozenset(self.ids[v] for v in self.reader.closed if v in self.ids)
        types = {i: self.type(self.type_of[v]) for v, i in self.ids.items() if v in self.type_of}
        applied = sorted(
            (law, self.ids[v]) for (law, v), _ in self.reader.read("applied", ("String", "Expr")) if v in self.ids
        )
        graph = Graph(classes, 0, types, closed, self._symbols(classes), smallest, tuple(applied))
        if not self.reader.revived:
            return graph
        return replace(graph, types={i: types.get(i) or type_of(graph.term(i)) for i in classes})

    def _number(self, value: Any) -> int:
        if value not in self.ids:
            self.ids[value] = len(self.order)
            self.order.append(value)
        return self.ids[value]

    def _live(self, value: Any) -> list[Row]:
        """The rows of a class whose arguments have finite terms, in an order by content."""
        weighed = [(w, row) for row in self.exprs.rows[value] if (w := _weigh(self.reader.tables, "Expr", row))]
        return [row for _, row in sorted(weighed, key=lambda pair: pair[0])]

    def _node(self, row: Row) -> ENode:
        op, args = row
        children, data = [], []
        for kind, sort, v in zip(signatures()[op], self.exprs.sorts[op], args, strict=True):
            if sort == "Expr":
                children.append(self._number(v))
            else:
                data.append(self._plain(kind, v))
        match op:
            case "Lit":
                data[0] = literal_value(data[0], data[1])
            case "Constant":
                data[0] = self.encoder.constants[data[0]].data
            case "Reduce" | "Scan":
                data = [self._operator(args[0])]
        return ENode(op, tuple(children), tuple(data))

    def _operator(self, body: Any) -> Operator:
        """The operator of a body; RuleError where a law reduces by what is none."""
        if body not in self.operators:
            raise RuleError(
                f"a law makes a reduction by {self._smallest(body)}, which is no operator of the program: reductions "
                "are by its operators, which are associative; let the law ask for (associative f), or make a Fold"
            )
        return self.operators[body]

    def _smallest(self, value: Any) -> Expr:
        """The smallest program of a class."""
        op, args = row = self.exprs.best[value][2]
        kids = [self._smallest(v) for sort, v in zip(self.exprs.sorts[op], args, strict=True) if sort == "Expr"]
        return build(self._node(row), kids)

    def _plain(self, kind: str, v: Any) -> Any:
        match kind:
            case "size":
                return self.sizes[v]
            case "type":
                return self.type(v)
            case "level":
                ((op, args),) = self.levels.rows[v]
                return Level(next(k for k, n in LEVELS.items() if n == op), *args)
        return v

    def type(self, v: Any) -> Type:
        """The smallest type of a class of types."""
        if v not in self.types:
            op, args = self.tys.best[v][2]
            self.types[v] = (
                Scalar(args[0])
                if op == "Scalar"
                else Array(self.sizes[args[0]], self.type(args[1]))
                if op == "Arr"
                else Tuple((self.type(args[0]), self.type(args[1])))
            )
        return self.types[v]

    def _operators(self) -> dict[Any, Operator]:
        found: dict[Any, int] = {}
        for (body, number), _ in self.reader.read("operator", ("Expr", "i64")):
            found[body] = min(number, found.get(body, number))
        return {body: self.encoder.operators[number] for body, number in found.items()}

    # ------------------------------------------------------------------------------------ lengths

    def _tiles(self) -> dict[Any, tuple[str, str, Any]]:
        """Every tile symbol's length class: its name (kind and number), kind, and the array that it cuts."""
        tiles = [
            (self.exprs.best[args[1]][:2], args[0], value, args[1])
            for value, rows in self.nats.rows.items()
            for op, args in rows
            if op == "Tile" and args[1] in self.exprs.best
        ]
        tiles.sort(key=lambda t: t[:2])
        count: dict[str, int] = defaultdict(int)
        named: dict[Any, tuple[str, str, Any]] = {}
        for _, kind, value, array in tiles:
            if value not in named:
                named[value] = (f"{kind}{count[kind]}", kind, array)
                count[kind] += 1
        return named

    def _resolve_sizes(self) -> None:
        """The shortest expression of every length, over numbers and symbols."""
        weight: dict[Any, int] = {}
        changed = True
        while changed:
            changed = False
            for value, rows in self.nats.rows.items():
                for op, args in rows:
                    length = self._length(value, op, args, weight)
                    if length is not None and self._shorter(length, weight.get(value), self.sizes.get(value)):
                        weight[value], self.sizes[value] = length
                        changed = True

    def _shorter(self, found: tuple[int, Size], weight: int | None, known: Size | None) -> bool:
        """Is a length's expression better than the one that is known?  Ties go by text."""
        if weight is None or found[0] != weight:
            return weight is None or found[0] < weight
        return found[1] != known and str(found[1]) < str(known)

    def _length(self, value: Any, op: str, args: tuple[Any, ...], weight: dict[Any, int]) -> tuple[int, Size] | None:
        match op:
            case "Num":
                return 0, args[0]
            case "Tile":
                named = self.tiles.get(value)
                return (1, Sym(named[0])) if named else None
            case "Size":
                return 1, Sym(args[0])
        if args[0] not in weight or args[1] not in weight:
            return None
        made = SizeOp(_OPERATORS[op], self.sizes[args[0]], self.sizes[args[1]])
        return 1 + weight[args[0]] + weight[args[1]], made

    def _symbols(self, classes: dict[int, tuple[ENode, ...]]) -> dict[str, TileSymbol]:
        """The symbols that the graph mentions."""
        used: set[str] = set()
        for nodes in classes.values():
            for node in nodes:
                for d in node.data:
                    if isinstance(d, Sym | SizeOp):
                        used |= symbols(d)
        found: dict[str, TileSymbol] = {}
        cut = {name: (kind, array) for name, kind, array in self.tiles.values()}
        for name in sorted(used & cut.keys(), key=lambda n: (n[0], int(n[1:]))):
            kind, array = cut[name]
            length = self._length_of(array)
            found[name] = TileSymbol(name, kind, length, self._depth(length, cut), self.ids.get(array, -1))
        return found

    def _length_of(self, array: Any) -> Size:
        t = self.type(self.type_of[array])
        assert isinstance(t, Array)
        return t.length

    def _depth(self, length: Size, cut: dict[str, tuple[str, Any]]) -> int:
        inner = [self._depth(self._length_of(cut[s][1]), cut) for s in symbols(length) if s in cut]
        return 1 + max(inner, default=0)
