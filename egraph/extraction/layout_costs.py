"""How the value of a layout pattern follows from those of its parts; and bodies that only rearrange."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from egglift.egraph.extraction import access_costs
from egglift.egraph.extraction.access_costs import Both, Row, ViewPrice, worst
from egglift.egraph.extraction.nominal_sizes import Nominal
from egglift.egraph.graph.graph import ENode, Graph, build
from egglift.egraph.rules.constructors import CONSTRUCTORS
from egglift.ir.patterns import REARRANGING, Drop, Expr
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.traverse import subterms
from egglift.ir.types import Array

DEAR, DEAR_OPS = 8, ("exp", "exp2", "log", "log2", "sin", "cos", "tan", "tanh", "erf", "pow", "atan2")
#: what may stand between a loop and its result: the inverse view says where elements go.  Laws move drop inside, such
#: that what is dropped is not computed.
LAYOUT = tuple(cls.__name__ for cls in REARRANGING if cls is not Drop)


def made(node: ENode, nominal: Nominal, op: float) -> Callable[..., ViewPrice]:
    """The value of arithmetic or layout `node`, as a function of those of its parts.  op: what an operation costs."""
    if node.op in ("Op1", "Op2", "Op3", "Cast"):
        more = DEAR * op if node.data[0] in DEAR_OPS else op
        return lambda *vs: access_costs.combine(vs, more)
    return shape(node, nominal)


def shape(node: ENode, nominal: Nominal) -> Callable[..., ViewPrice]:
    """The value of layout pattern `node`, as a function of the values of its parts."""
    num = nominal.number
    match node.op:
        case "Tup":
            return Both
        case "Fst":
            return lambda v: v.a
        case "Snd":
            return lambda v: v.b
        case "Fill":
            n = num(node.data[0])
            return lambda v: Row(n, access_costs.spread(v))
        case "Zip":
            return lambda a, b: Row(a.n, Both(a.each, b.each))
        case "Distl":
            return lambda a, b: Row(b.n, Both(access_costs.spread(a), b.each))
        case "Cross":
            return lambda a, b: Row(a.n, Row(b.n, Both(access_costs.spread(a.each), b.each)))
        case "Split":
            k = num(node.data[0])
            return lambda x: access_costs.split(x, k)
        case "Join":
            return access_costs.join
        case "Transpose":
            return access_costs.transpose
        case "Concat":
            return lambda a, b: Row(a.n + b.n, access_costs.mixed(a.each, b.each, a.n / max(1, a.n + b.n)))
        case "Gather":
            return lambda i, x: Row(i.n, access_costs.gathered(access_costs.dearer(x.each, worst(i))))
        case "At":
            return lambda x: x.each
        case "Slide":
            k, step = map(num, node.data[:2])
            return lambda x: access_costs.windows(x, k, step)
    return _resized(node, nominal)


def _resized(node: ENode, nominal: Nominal) -> Callable[..., ViewPrice]:
    """`shape` of every pattern that gives elements of one array, near each other as they were: more, fewer or moved."""
    constructor = CONSTRUCTORS[node.op]
    match constructor.takes, constructor.gives:
        case [(_, Array(Sym(n), element)), *_], Array(length, same) if element == same:
            sizes = zip(constructor.lengths, (d for d in node.data if isinstance(d, int | Sym | SizeOp)), strict=True)
            known = {name: nominal.number(size) for name, size in sizes}
            return lambda x, *_: Row(max(0, _number(length, {**known, n: x.n})), x.each)
    raise AssertionError(f"no view for {node.op}")


def _number(n: Size, known: Mapping[str, int]) -> int:
    """A length of a type scheme."""
    match n:
        case Sym(name):
            return known[name]
        case SizeOp(op, a, b):
            x, y = _number(a, known), _number(b, known)
            return {"+": x + y, "-": x - y, "*": x * y, "/": x // max(1, y)}[op]
    return n


def layouts(graph: Graph) -> Callable[[int], Expr | None]:
    """`layouts(graph)(c)`: the body of class `c` if it only rearranges its Arg."""
    known: dict[int, Expr | None] = {}

    def of(c: int) -> Expr | None:
        if c not in known:
            known[c] = None  # a cycle is no layout
            views = [e for node in graph.classes.get(c, ()) if (e := rearranged(node)) is not None]
            known[c] = min(views, key=lambda e: sum(1 for _ in subterms(e)), default=None)
        return known[c]

    def rearranged(node: ENode) -> Expr | None:
        if node.op == "Arg":
            return build(node, [])
        if node.op in LAYOUT or node.op == "Map":
            parts = [of(k) for k in node.children]
            return None if None in parts else build(node, [part for part in parts if part is not None])
        return None

    return of
