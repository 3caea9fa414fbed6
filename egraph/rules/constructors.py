"""How the e-graph calls patterns, over binary tuples; declarations and typing rules follow from this table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from egglift.ir import patterns as p
from egglift.ir.forms import BODIES, IN_SCOPE, SLOTS, Form, Language
from egglift.ir.schemes import SCHEMES, Function, Scheme, Variable, scheme, variables
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.types import Array, Tuple, Type

_OTHERS = {"matrix": False, "buffers": 0, "ends": None}  # of folds, what schedules have and no law
#: what is called otherwise than its class, or told apart
SPELLINGS = Language(
    [
        Form("Lit", p.Literal),
        Form("Constant", p.Constant, ("data", "type")),
        *(Form(f"Op{n}", p.Apply, width=n) for n in (1, 2, 3)),
        Form("Tup", p.Tup, width=2),
        *(Form(name, p.Get, fixed={"index": i}) for i, name in enumerate(("Fst", "Snd"))),
        Form("Map", p.Map, fixed={"level": None}),
        Form("MapL", p.Map, ("level", "body", "x")),
        Form("Fold", p.Fold, ("body", "init", "x"), {"unroll": False, "prefetch": 0, **_OTHERS}),
        Form("FoldAhead", p.Fold, ("prefetch", "body", "init", "x"), {"unroll": False, **_OTHERS}),
        Form("FoldUnroll", p.Fold, ("body", "init", "x"), {"unroll": True, **_OTHERS}),
        Form("Zip", p.Zip, width=2),
        Form("Pad", p.Pad, fixed={"value": None}),
        Form("PadConst", p.Pad, fixed={"mode": "constant"}),
        Form("PadUp", p.PadUp, fixed={"value": None}),
        Form("PadUpConst", p.PadUp),
        Form("To", p.To, fixed={"pad": 0, "swizzle": 0}),
        Form("Increase", p.To, ("pad", "x"), {"space": "local", "swizzle": 0}),
    ]
)
_SCHEMES = {"Fst": scheme("(s, t) -> s"), "Snd": scheme("(s, t) -> t")}
#: what an argument of a constructor is, by the kind of the slot; and its sort
KINDS = {
    "optional": "expr",
    "exprs": "expr",
    "operator": "body",
    "scalar": "type",
    "name": "text",
    "number": "text",
    "data": "text",
}
SORTS = {"expr": "Expr", "body": "Expr", "size": "Nat", "type": "Ty", "level": "Level", "text": "String"}
#: constructors of lengths by operator
ARITHMETIC = {"+": "NAdd", "-": "NSub", "*": "NMul", "/": "NDiv"}


@dataclass(frozen=True)
class Constructor:
    """A constructor of the sort Expr."""

    form: Form

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Of each argument: `expr` (in the scope of the same Arg), `body`, `size`, `type`, `level` or `text`."""
        slots = ((KINDS.get(kind, kind), self.form.width if kind == "exprs" else 1) for _, kind in self.form.slots)
        return tuple(kind for kind, times in slots for _ in range(times or 0))

    @property
    def variables(self) -> list[str]:
        """A variable for each argument."""
        return [f"x{i}" for i in range(len(self.kinds))]

    @property
    def call(self) -> str:
        """The constructor applied to its variables."""
        return f"({self.form.head} {' '.join(self.variables)})"

    def of(self, *kinds: str) -> list[str]:
        """The variables of arguments of some kinds."""
        return [x for x, kind in zip(self.variables, self.kinds, strict=True) if kind in kinds]

    @property
    def computes(self) -> bool:
        """Does it compute something for every element that is read?"""
        return self.is_scalar or ("body" in self.kinds and self.form.cls is not p.Map)

    @property
    def is_scalar(self) -> bool:
        """Is it a function of scalars?"""
        return self.form.cls in (p.Apply, p.Cast)

    @property
    def scheme(self) -> Scheme | None:
        """Its type, of the arguments that are programs in order; None of functions of scalars: see typing.egg."""
        if self.form.head in _SCHEMES or self.form.cls not in SCHEMES:
            return _SCHEMES.get(self.form.head)
        known = SCHEMES[self.form.cls]
        if self.form.width:
            return known
        programs = [name for name, kind in SLOTS[self.form.cls] if kind in (*IN_SCOPE, *BODIES)]
        takes = dict(zip(programs, known.takes, strict=True))
        return Scheme(tuple(takes[name] for name, _ in self.form.slots if name in takes), known.gives, known.needs)

    @property
    def takes(self) -> list[tuple[str, Type | Function]]:
        """The arguments that are programs, by their variables, with their types."""
        return [] if self.scheme is None else list(zip(self.of("expr", "body"), self.scheme.takes, strict=True))

    @property
    def gives(self) -> Type | None:
        """The type of what it gives."""
        return self.scheme.gives if self.scheme else None

    @property
    def lengths(self) -> dict[str, str]:
        """The variables of lengths, by the names that they have in the scheme."""
        return self._named("size")

    @property
    def names(self) -> dict[str, str]:
        """The variables of lengths and types, by the names that they have in the scheme."""
        return self._named("size", "type")

    def _named(self, *kinds: str) -> dict[str, str]:
        names = [name for name, kind in self.form.slots if KINDS.get(kind, kind) in kinds]
        return dict(zip(names, self.of(*kinds), strict=True))


#: all of them, by what they are called
CONSTRUCTORS = {head: Constructor(form) for head, form in SPELLINGS.forms.items()}


def declared() -> str:
    """Their declarations."""
    rows = ((c.form.head, " ".join(SORTS[kind] for kind in c.kinds)) for c in CONSTRUCTORS.values())
    return "\n".join(f"(constructor {head} ({sorts}) Expr)" for head, sorts in rows)


def typed() -> str:
    """A rule for the type of each."""
    return "\n".join(_typing(c, c.scheme) for c in CONSTRUCTORS.values() if c.scheme)


def given() -> Iterator[str]:
    """Rules for layout patterns: their elements are read, not computed, if so are those of the arrays they are of."""
    for c in CONSTRUCTORS.values():
        arrays = [(x, t) for x, t in c.takes if isinstance(t, Array)]
        if c.scheme and "body" not in c.kinds and (arrays or isinstance(c.scheme.gives, Array)):
            result = {*variables(c.scheme.gives)}
            when = [f"(given {x})" for x, t in arrays if result & {*variables(t.element)}]
            yield f"(rule ({' '.join([f'(= e {c.call})', *when])}) ((given e)) :ruleset typing)"


def _typing(c: Constructor, scheme: Scheme) -> str:
    known = dict(c.names)
    facts = []
    for x, t in _telling(c, set(variables(scheme.gives)) - known.keys()):
        # a name that stands twice is one length or type, which need not be known yet: the first tells it
        own = {name: f"{name}_{x}" if name in known else name for name in variables(t)}
        facts.append(f"(= {type_text(t, own)} (type-of {x}))")
        known |= {name: name for name in variables(t) if name not in known}
    union = f"(union (type-of e) {type_text(scheme.gives, known)})"
    return f"(rule ({' '.join([f'(= e {c.call})', *facts])}) ({union}) :ruleset typing)"


def _telling(c: Constructor, needed: set[str]) -> Iterator[tuple[str, Type]]:
    """The fewest arguments whose types tell the names that are needed; bodies only where no other does."""
    parts = [(x, t) for x, t in c.takes if not isinstance(t, Function) and needed & {*variables(t)}]
    for part in reversed(parts):
        others = {name for other in parts if other is not part for name in variables(other[1])}
        if needed & {*variables(part[1])} <= others:
            parts.remove(part)
    told = {name for _, t in parts for name in variables(t)}
    yield from parts
    yield from ((x, t.gives) for x, t in c.takes if isinstance(t, Function) and needed - told & {*variables(t.gives)})


def type_text(t: Type, names: dict[str, str]) -> str:
    """A type of a scheme in the e-graph's words."""
    match t:
        case Array(n, element):
            return f"(Arr {size_text(n, names)} {type_text(element, names)})"
        case Tuple((a, b)):
            return f"(Pair {type_text(a, names)} {type_text(b, names)})"
        case Variable(name):
            return names[name]
    raise AssertionError(t)


def size_text(n: Size, names: dict[str, str]) -> str:
    """A length of a scheme in the e-graph's words."""
    match n:
        case int():
            return f"(Num {n})"
        case Sym(name):
            return names[name]
        case SizeOp(op, a, b):
            return f"({ARITHMETIC[op]} {size_text(a, names)} {size_text(b, names)})"
