"""Programs as pictures: boxes for patterns, arrays flow from top to bottom, a body is drawn within its pattern."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from xml.etree.ElementTree import Element

from egglift.ir import patterns as p
from egglift.ir.boxes import Laid, laid
from egglift.ir.check import type_of
from egglift.ir.formulas import formula
from egglift.ir.markup import tag
from egglift.ir.patterns import Expr
from egglift.ir.printer import plain_name, size_text, type_text
from egglift.ir.syntax import head, parts
from egglift.ir.text import brief
from egglift.ir.traverse import bodies, children, is_expr, subterms
from egglift.ir.types import Type

MOST = 160  # patterns of a program that is drawn
LETTER, LINE = 7.3, 17.0  # width and height of a letter, in pixels
EDGE = 10.0  # around what is in a box

#: of pictures, wherever they stand: the page's own colour for text and lines, so that they suit light and dark
STYLE = """
.el-picture { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; max-width: none; }
.el-picture text { fill: currentColor; }
.el-picture .kind { font-weight: 600; }
.el-picture .type { opacity: .72; font-size: 11px; }
.el-picture rect { fill-opacity: .1; stroke-opacity: .75; }
.el-picture .data { fill: #0d9488; stroke: #0d9488; }
.el-picture .computes { fill: #6366f1; stroke: #6366f1; }
.el-picture .moves { fill: #8b8b97; stroke: #8b8b97; }
.el-picture .keeps { fill: #d97706; stroke: #d97706; }
.el-picture path { fill: none; stroke: currentColor; stroke-opacity: .5; stroke-width: 1.3; }
"""
_KINDS = {
    "data": (p.Input, p.Arg, p.Literal, p.Constant, p.Iota, p.Fill),
    "keeps": (p.To,),
    "computes": (
        *(p.Map, p.Reduce, p.Fold, p.Tree, p.Scan, p.ScanSeq, p.ScanDoubling, p.ScanLinked),
        *(p.Count, p.Sums, p.Iterate, p.Apply, p.Cast),
    ),
}


@dataclass(frozen=True)
class _Box:
    """What a box shows: a heading, lines, the diagram of a body, a type."""

    kind: str
    title: str
    lines: tuple[str, ...]
    inside: tuple[_Diagram, ...]
    type: str
    says: str

    @property
    def size(self) -> tuple[float, float]:
        texts = [self.title, *self.lines, *([self.type] if self.type else [])]
        inner_w = sum(d.laid.width + EDGE for d in self.inside) - (EDGE if self.inside else 0)
        inner_h = max((d.laid.height + EDGE for d in self.inside), default=0.0)
        width = max(inner_w, *(LETTER * len(t) for t in texts))
        return width + 2 * EDGE, LINE * len(texts) + inner_h + EDGE


@dataclass(frozen=True)
class _Diagram:
    """The boxes of one scope with their places."""

    boxes: dict[Expr, _Box]
    laid: Laid[Expr]


def picture(program: Expr) -> Element | None:
    """The program as SVG; None where it has more than MOST patterns, and a text says more."""
    if sum(1 for _, _ in zip(range(MOST + 1), subterms(program), strict=False)) > MOST:
        return None
    whole = _diagram(program)
    width, height = whole.laid.width + 2, whole.laid.height + 2
    says = f"Data flow of the program {brief(program, 160)}"
    return tag(
        "svg",
        tag("title", says),
        tag("g", *_drawn(whole), transform="translate(1 1)"),
        class_="el-picture",
        role="img",
        width=width,
        height=height,
        viewbox=f"0 0 {width:.0f} {height:.0f}",
    )


# ---------------------------------------------------------------------------------------- what is drawn


def _diagram(e: Expr) -> _Diagram:
    """The boxes of `e` in the scope of one argument."""
    order, stack = dict[Expr, None](), [e]
    while stack:
        t = stack[-1]
        todo = [c for c in _shown_parts(t) if c not in order]
        if todo:
            stack += todo
        else:
            order[stack.pop()] = None
    boxes = {t: _box(t) for t in order}
    return _Diagram(boxes, laid({t: b.size for t, b in boxes.items()}, {t: _shown_parts(t) for t in order}))


def _shown_parts(e: Expr) -> tuple[Expr, ...]:
    """What has a box of its own above that of `e`: not what is a word in it."""
    return () if _word(e) is not None else tuple(c for c in children(e) if not isinstance(c, p.Literal))


def _word(e: Expr) -> str | None:
    """What is read off the argument or an input alone, in a word: `arg[0]`."""
    match e:
        case p.Arg() | p.Input() | p.Literal():
            return formula(e)
        case p.Get(i, x) if (inner := _word(x)) is not None:
            return f"{inner}[{i}]"
    return None


def _box(e: Expr) -> _Box:
    t = _type(type_of(e))
    if (word := _word(e)) is not None:
        return _Box("data", word, (), (), t, brief(e))
    inside, lines = list[_Diagram](), list[str]()
    for body in () if isinstance(e, p.Reduce | p.Scan) else bodies(e):
        if (text := formula(body)) is not None:
            lines.append(text)
        else:
            inside.append(_diagram(body))
    kind = next((name for name, classes in _KINDS.items() if isinstance(e, classes)), "moves")
    return _Box(kind, _title(e), tuple(lines), tuple(inside), t, brief(e))


def _title(e: Expr) -> str:
    """The pattern's name, with its lengths, and with literals that it is given."""
    if isinstance(e, p.Constant):
        return "constant"
    words = [f"{head(e)} {e.op.name}" if isinstance(e, p.Reduce | p.Scan) else head(e)]
    for v in parts(e):
        match v:
            case p.Literal() if hasattr(e, "init"):
                words.append(f"from {formula(v)}")
            case p.Literal():
                words.append(formula(v) or "")
            case bool() | None | p.Operator():
                pass
            case str() if not isinstance(e, p.Apply):
                words.append(plain_name(v))
            case int():
                words.append(str(v))
            case _ if not is_expr(v) and not isinstance(v, str | bytes) and not isinstance(v, Type):
                words.append(size_text(v))
    return " ".join(w for w in words if w)


def _type(t: Type) -> str:
    text = type_text(t)
    return text if len(text) <= 34 else f"{text[:31]}..."


# ---------------------------------------------------------------------------------------- drawing


def _drawn(d: _Diagram) -> list[Element]:
    ways = [tag("path", d=_curve(points)) for points in d.laid.ways.values()]
    return [*ways, *(_drawn_box(b, d.laid.places[t].x, d.laid.places[t].y) for t, b in d.boxes.items())]


def _curve(points: list[tuple[float, float]]) -> str:
    """A line that leaves and arrives straight down."""
    text = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = (y0 + y1) / 2
        text += f"C{x0:.1f} {bend:.1f} {x1:.1f} {bend:.1f} {x1:.1f} {y1:.1f}"
    return text


def _drawn_box(b: _Box, x: float, y: float) -> Element:
    width, height = b.size
    shape = tag("rect", class_=b.kind, width=width, height=height, rx=height / 2 if _is_pill(b) else 5)
    rows, down = [shape, tag("title", b.says)], LINE
    for i, text in enumerate((b.title, *b.lines)):
        rows.append(_text(text, width / 2, down, "kind" if i == 0 else None))
        down += LINE
    left = (width - sum(d.laid.width + EDGE for d in b.inside) + EDGE) / 2
    for d in b.inside:
        rows.append(tag("g", *_drawn(d), transform=f"translate({left:.1f} {down - LINE + EDGE:.1f})"))
        left += d.laid.width + EDGE
    if b.type:
        rows.append(_text(b.type, width / 2, height - EDGE / 2 - 3, "type"))
    return tag("g", *rows, transform=f"translate({x:.1f} {y:.1f})")


def _is_pill(b: _Box) -> bool:
    return b.kind == "data" and not b.inside and not b.lines


def _text(text: str, x: float, y: float, kind: str | None) -> Element:
    return tag("text", text, x=x, y=y, text_anchor="middle", class_=kind)
