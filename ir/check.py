"""The checker: the type of a program, or an error naming the sub-expression, both sides and the remedy.

What a pattern takes and gives is said by its scheme; here is how it is compared, and what no scheme says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from egglift.ir import patterns as p
from egglift.ir.bounds import MOST, require_bounded, shown
from egglift.ir.errors import ProgramError, ShapeError, TypeMismatch
from egglift.ir.forms import BODIES, IN_SCOPE, SLOTS
from egglift.ir.patterns import Expr, Operator
from egglift.ir.reader import Reader
from egglift.ir.scalars import result_type
from egglift.ir.schemes import SCHEMES, Function, Need, Scheme, Variable, filled
from egglift.ir.sizes import Size, SizeOp, Sym, computed
from egglift.ir.text import brief
from egglift.ir.traverse import bodies, children
from egglift.ir.types import BOOL, F32, F64, I32, I64, U32, U64, Array, Scalar, Tuple, Type, leaves

PAD_MODES = ("clamp", "mirror", "reflect", "wrap", "constant")
#: what NumPy and SciPy call these, and what is none of them
_ELSEWHERE = {
    "edge": "clamp is that",
    "nearest": "clamp is that",
    "symmetric": "mirror is that",
}
PREFETCH = (0, 1, 2)
#: what may be added by numbers: what devices add to at the same time
SUMMED = (I32, U32, I64, U64, F32, F64)
#: what the slots of patterns are called in messages
WORDS = {
    "init": "the initial value",
    "value": "the padding",
    "a": "the first array's elements",
    "b": "the second array's elements",
    "body": "the body's result",
}


def type_of(e: Expr) -> Type:
    """The type of `e`; ShapeError or TypeMismatch if it has none.  Computed once per node, and kept with it."""
    if (known := e.__dict__.get("_type")) is not None:
        found: Type = known
        return found
    stack = [e]
    while stack:  # iterative: programs may be deeper than Python's recursion limit
        t = stack[-1]
        if "_type" in t.__dict__:
            stack.pop()
            continue
        todo = [c for c in (*children(t), *bodies(t)) if "_type" not in c.__dict__]
        if todo:
            stack.extend(todo)
        else:
            t.__dict__["_type"] = _bounded(t, _rule(t))
            stack.pop()
    return _known(e)


def _known(e: Expr) -> Type:
    """The type of a node that has been checked."""
    t: Type = e.__dict__["_type"]
    return t


def _bounded(e: Expr, t: Type) -> Type:
    """`t`, the type of `e`, if there can be such values."""
    if not isinstance(t, Scalar):
        try:
            require_bounded(t)
        except ShapeError as error:
            raise ShapeError(f"{brief(e)}: {error}") from None
    return t


def _rule(e: Expr) -> Type:
    """The type of `e` when its parts have theirs."""
    match e:
        case p.Arg(t) | p.Input(_, t) | p.Constant(t):
            return t
        case p.Literal(value, t):
            return _literal(e, value, t)
        case p.Apply(op, args):
            return _apply(e, op, tuple(_known(a) for a in args))
        case p.Tup(items):
            return Tuple(tuple(_known(i) for i in _two(e, items)))
        case p.Get(i, x):
            return _component(e, i, x)
        case p.Zip(arrays):
            return _zip(e, [_array(e, a) for a in _two(e, arrays)])
    t = _Checked(e).by_scheme()
    _besides(e, t)
    return t


def _is_summed(t: Type) -> bool:
    """May numbers of that type, or tuples of such, be added by numbers?"""
    return all(map(_is_summed, t.items)) if isinstance(t, Tuple) else t in SUMMED


def _besides(e: Expr, t: Type) -> None:
    """What a pattern of type `t` asks for besides its scheme."""
    match e:
        case p.Map(_, _, level) if level is not None and (level.kind not in p.LEVELS or level.dim not in (0, 1, 2)):
            raise ProgramError(f"{brief(e)}: no level {level}; there are {', '.join(p.LEVELS)} 0 to 2")
        case p.Reduce(op, _, _) if op.neutral is not None:
            _same(e, f"the neutral element of {op.name}", type_of(op.neutral), "its operands", t)
        case p.Sums(type=added) if not _is_summed(added):
            known = ", ".join(map(str, SUMMED))
            raise TypeMismatch(f"{brief(e)}: {added} is not added by numbers; cast it to one of {known}")
        case p.Sums():
            pass
        case p.Count(type=counts) if counts not in (I32, U32):
            raise TypeMismatch(f"{brief(e)}: counts are i32 or u32, not {counts}; cast them afterwards")
        case p.Scan(_, init) | p.ScanDoubling(_, init):
            _scan(e, type_of(init))
        case p.Fold(prefetch=int() as n) if n not in PREFETCH:
            raise ProgramError(f"{brief(e)}: no prefetch {n}; choose 0, 1 (registers) or 2 (registers and two buffers)")
        case p.Fold(ends=ends) if ends is not None and not _is_of_bools(_known(ends)):
            raise TypeMismatch(f"{brief(e)}: where its steps end, bools say; {brief(ends)} is {_known(ends)}")
        case p.Fold(prefetch=ahead, buffers=int() as n) if n == 1 or (n and ahead != 0):
            raise ProgramError(
                f"{brief(e)}: {n} buffers of asynchronous copies and prefetch {ahead}; choose 2 or more buffers and no "
                "prefetch, or no buffers"
            )
        case p.Pad(_, _, mode, x, value):
            _pad(e, mode, _array(e, x), value)
        case p.Gather(indices, x) if _array(e, x).length == 0 and _array(e, indices).length != 0:
            raise ShapeError(f"{brief(e)}: gathers from an empty array")
        case p.To(space, _, pad, swizzle):
            if space not in p.SPACES:
                raise ProgramError(f"{brief(e)}: no memory space {space!r}; choose one of {', '.join(p.SPACES)}")
            rows = isinstance(t, Array) and isinstance(t.element, Array)
            if not (pad == 0 or (rows and space == "local")):
                raise ProgramError(
                    f"{brief(e)}: rows are padded in local memory only, of arrays of arrays, but this is {t} in "
                    f"{space} memory; leave the padding out"
                )
            if isinstance(swizzle, int) and swizzle < 0:
                raise ProgramError(f"{brief(e)}: rows rotated by {swizzle}; it must be 0 or more")
            if swizzle != 0 and not (rows and space == "local" and pad == 0 and len(leaves(t)) == 1):
                raise ProgramError(
                    f"{brief(e)}: rows of scalars are rotated, in local memory and without padding, but this is {t} in "
                    f"{space} memory, padded by {pad}; leave the swizzle out"
                )


# ---------------------------------------------------------------------------------------- by scheme


@dataclass(frozen=True)
class _Plan:
    """The slots of a class by what is compared: arrays first, as they tell of elements, which others agree with."""

    scheme: Scheme
    lengths: tuple[str, ...]
    types: tuple[str, ...]
    parts: tuple[tuple[str, Type, str], ...]
    bodies: tuple[tuple[str, Function], ...]


def _plan(cls: type[Any], scheme: Scheme) -> _Plan:
    def of(*kinds: str) -> tuple[str, ...]:
        return tuple(name for name, kind in SLOTS[cls] if kind in kinds)

    slots = [*zip(of(*IN_SCOPE, *BODIES), scheme.takes, strict=True)]
    arrays = [(name, t, WORDS.get(name, "the elements")) for name, t in slots if isinstance(t, Array)]
    others = [(name, t, WORDS.get(name, "its argument")) for name, t in slots if isinstance(t, Variable)]
    functions = tuple((name, t) for name, t in slots if isinstance(t, Function))
    return _Plan(scheme, of("size"), of("type", "scalar"), (*arrays, *others), functions)


_PLANS = {cls: _plan(cls, scheme) for cls, scheme in SCHEMES.items() if cls not in (p.Tup, p.Zip)}


@dataclass
class _Checked:
    """A pattern whose parts are compared with what its scheme takes.

    types, lengths: what the names in the scheme stand for; sources: which slot says so of a type.
    """

    e: Expr
    types: dict[str, Type] = field(default_factory=dict)
    lengths: dict[str, Size] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)

    def by_scheme(self) -> Type:
        """The type of the result."""
        e, plan = self.e, _PLANS[type(self.e)]
        for name in plan.lengths:
            self.lengths[name] = _countable(e, name, getattr(e, name))
        for name in plan.types:
            self.types[name], self.sources[name] = getattr(e, name), "the type that it is in"
        for name, wanted, what in plan.parts:
            part = getattr(e, name)
            if part is not None:
                self.match(part, wanted, _known(part), what)
        for name, function in plan.bodies:
            self.body(name, getattr(e, name), function)
        for need in plan.scheme.needs:
            self.require(need)
        return self.filled(plan.scheme.gives)

    def match(self, part: Expr, wanted: Type, t: Type, what: str) -> None:
        """Compare the type `t` of (the elements of) a part with what is wanted."""
        match wanted, t:
            case Array(Sym(n), element), Array(m, inner):
                self.lengths.setdefault(n, m)
                self.match(part, element, inner, what)
            case Array(), _ if t is _known(part):
                raise TypeMismatch(f"{brief(self.e)}: takes an array, got {t} from {brief(part)}")
            case Array(), _:
                raise TypeMismatch(f"{brief(self.e)}: takes an array of arrays, got {_known(part)}; split it first")
            case Tuple(wanteds), Tuple(items) if len(wanteds) == len(items):
                for each, item in zip(wanteds, items, strict=True):
                    self.match(part, each, item, what)
            case Tuple(wanteds), _:
                raise TypeMismatch(f"{brief(self.e)}: {what} is {t}, not a tuple of {len(wanteds)}")
            case Variable(v), _ if v not in self.types:
                self.types[v], self.sources[v] = t, what
            case Variable(v), _:
                _same(self.e, what, t, self.sources[v], self.types[v])

    def body(self, name: str, body: Expr | Operator, wanted: Function) -> None:
        """Compare the argument and the result of a body with what they should be."""
        what = WORDS.get(name, "")
        if isinstance(body, Operator):
            what, body = f"the result of operator {body.name}", body.body
        _domain(self.e, body, self.filled(wanted.takes))
        self.match(body, wanted.gives, _known(body), what)

    def filled(self, t: Type) -> Type:
        """A type of the scheme with what its names stand for."""
        return filled(t, self.types, self.length)

    def length(self, n: Size) -> Size:
        """A length of the scheme, computed as far as it is known."""
        match n:
            case Sym(name):
                return self.lengths[name]
            case SizeOp(op, a, b):
                x, y = self.length(a), self.length(b)
                if isinstance(x, int) and isinstance(y, int):
                    return computed(op, x, y)
                return SizeOp(op, x, y)
        return n

    def require(self, need: Need) -> None:
        """ShapeError or TypeMismatch where a condition does not hold; lengths that are no numbers yet do."""
        if isinstance(need.a, Variable):
            t = self.types[need.a.name]
            if not (isinstance(t, Scalar) and (t.is_integer or need.relation == "scalar")):
                raise TypeMismatch(self.said(need.message))
            return
        a, b = self.length(need.a), self.length(need.b)
        if isinstance(a, int) and isinstance(b, int):
            holds = b % a == 0 if need.relation == "divides" else a < b if need.relation == "<" else a <= b
            if not holds:
                raise ShapeError(self.said(need.message))

    def said(self, message: str) -> str:
        """A message about this pattern, with the values of the lengths and types in it."""

        def value(found: re.Match[str]) -> str:
            if found[1] in self.types:
                return str(self.types[found[1]])
            n = self.length(Reader(found[1]).size())
            return shown(n) if isinstance(n, int) else str(n)

        return f"{brief(self.e)}: {re.sub(r'{(.*?)}', value, message)}"


# ---------------------------------------------------------------------------------------- parts


def _literal(e: Expr, value: bool | int | float, t: Scalar) -> Scalar:
    fits = (
        isinstance(value, bool)
        if t.name == "bool"
        else isinstance(value, int) and not isinstance(value, bool) and _in_range(value, t)
        if t.is_integer
        else isinstance(value, int | float) and not isinstance(value, bool)
    )
    if t.is_complex or not fits:
        raise TypeMismatch(f"{brief(e)}: {value!r} is not a value of {t}; write it as one, or cast")
    return t


def _in_range(value: int, t: Scalar) -> bool:
    bits = 8 * t.size
    return -(1 << bits - 1) <= value < 1 << bits - 1 if t.is_signed else 0 <= value < 1 << bits


def _apply(e: Expr, op: str, args: tuple[Type, ...]) -> Scalar:
    scalars = tuple(a for a in args if isinstance(a, Scalar))
    if len(scalars) < len(args):
        raise TypeMismatch(
            f"{brief(e)}: {op} works on scalars, got {', '.join(map(str, args))}; map it over the array, "
            "or take the tuple's components"
        )
    try:
        return result_type(op, scalars)
    except TypeMismatch as error:
        raise TypeMismatch(f"{brief(e)}: {error}") from None


def _component(e: Expr, i: int, x: Expr) -> Type:
    t = _known(x)
    if not isinstance(t, Tuple):
        raise TypeMismatch(f"{brief(e)}: component {i} of {t}, which is not a tuple")
    if not 0 <= i < len(t.items):
        raise ShapeError(f"{brief(e)}: component {i} of a tuple of {len(t.items)}: {t}")
    return t.items[i]


def _array(e: Expr, x: Expr) -> Array:
    t = _known(x)
    if not isinstance(t, Array):
        raise TypeMismatch(f"{brief(e)}: takes an array, got {t} from {brief(x)}")
    return t


def _domain(e: Expr, body: Expr, element: Type) -> None:
    """The body's Arg must have the type of what the body is applied to."""
    stack, seen = [body], set()
    while stack:
        t = stack.pop()
        if isinstance(t, p.Arg):
            _same(e, "its body's argument", t.type, "what it is applied to", element)
        if t not in seen:
            seen.add(t)
            stack.extend(children(t))


def _same(e: Expr, what: str, a: Type, other: str, b: Type) -> None:
    if a != b and not _flexible(a, b):
        raise TypeMismatch(f"{brief(e)}: {what} is {a}, but {other} is {b}; cast or reshape one of them")


def _flexible(a: Type, b: Type) -> bool:
    """Equal but for lengths that are not numbers yet: decided once the tiles have their sizes."""
    match a, b:
        case Array(n, s), Array(m, t):
            return (n == m or not (isinstance(n, int) and isinstance(m, int))) and _flexible(s, t)
        case Tuple(s), Tuple(t):
            return len(s) == len(t) and all(map(_flexible, s, t))
    return a == b


def _countable(e: Expr, name: str, n: Size) -> Size:
    if isinstance(n, int) and n > MOST:
        raise ShapeError(f"{brief(e)}: {name} is {shown(n)}; more than 2^62 cannot be counted")
    return n


def _scan(e: Expr, carried: Type) -> None:
    if any(shape for shape, _ in leaves(carried)):
        raise TypeMismatch(
            f"{brief(e)}: an element is {carried}; a scan carries scalars, or tuples of scalars, from element "
            "to element: map it over the rows, or transpose first to go along another axis"
        )
    if isinstance(e, p.Scan) and e.op.neutral is not None:
        what = f"the neutral element of {e.op.name}"
        _same(e, what, type_of(e.op.neutral), "its operands", carried)


def _is_of_bools(t: Type) -> bool:
    return isinstance(t, Array) and t.element == BOOL


def _zip(e: Expr, arrays: list[Array]) -> Type:
    first, *rest = arrays
    for other in rest:
        if first.length != other.length and isinstance(first.length, int) and isinstance(other.length, int):
            lengths = f"lengths {first.length} and {other.length} differ"
            raise ShapeError(f"{brief(e)}: {lengths}; zip takes arrays of one length; take or pad one")
    return Array(first.length, Tuple((first.element, *(o.element for o in rest))))


def _two(e: Expr, parts: tuple[Expr, ...]) -> tuple[Expr, ...]:
    if len(parts) < 2:
        raise ProgramError(f"{brief(e)}: takes two or more, got {len(parts)}")
    return parts


def _pad(e: Expr, mode: str, a: Array, value: Expr | None) -> None:
    if mode not in PAD_MODES:
        hint = _ELSEWHERE.get(mode, f"choose one of {', '.join(PAD_MODES)}")
        raise ProgramError(f"{brief(e)}: no boundary mode {mode!r}; {hint}")
    if (mode == "constant") != (value is not None):
        raise ProgramError(f'{brief(e)}: a value goes with mode "constant" and only with it: ("constant", v)')
    if value is None and a.length == 0:
        raise ShapeError(f"{brief(e)}: an empty array has no edge to pad with; use a constant")
