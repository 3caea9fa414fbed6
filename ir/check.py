"""The checker: the type of a program, or an error naming the sub-expression, both sides and the remedy."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.bounds import MOST, require_bounded, shown
from egglift.ir.errors import ProgramError, ShapeError, TypeMismatch
from egglift.ir.patterns import Expr
from egglift.ir.scalars import result_type
from egglift.ir.sizes import Size, SizeOp
from egglift.ir.text import brief
from egglift.ir.traverse import bodies, children
from egglift.ir.types import SCALARS, Array, Scalar, Tuple, Type

PAD_MODES = ("clamp", "mirror", "wrap", "constant")
SPACES = ("global", "local", "private")
PREFETCH = (0, 1, 2)


def type_of(e: Expr) -> Type:
    """The type of `e`; ShapeError or TypeMismatch if it has none.  Computed once per node, and kept with it."""
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
            raise ShapeError(f"{_at(e)}: {error}") from None
    return t


def _rule(e: Expr) -> Type:
    """The type of `e` when its parts have theirs."""
    match e:
        case p.Arg(t) | p.Input(_, t) | p.Constant(t):
            return t
        case p.Literal(value, t):
            return _literal(e, value, t)
        case p.Iota(n, t):
            return Array(_natural(e, n, "elements"), _integer(e, t))
        case p.Fill(n, x):
            return Array(_natural(e, n, "elements"), _known(x))
        case p.Apply(op, args):
            return _apply(e, op, tuple(_known(a) for a in args))
        case p.Cast(t, x):
            _scalar(e, x, "the value to cast")
            return t
        case p.Tup(items):
            return Tuple(tuple(_known(i) for i in _two(e, items)))
        case p.Get(i, x):
            return _component(e, i, x)
        case p.To(space, x):
            if space not in SPACES:
                raise ProgramError(f"{_at(e)}: no memory space {space!r}; choose one of {', '.join(SPACES)}")
            return _padded_rows(e, _known(x))
        case p.Map() | p.Reduce() | p.Fold() | p.Tree() | p.Iterate():
            return _computing(e)
        case _:
            return _view(e)


def _computing(e: Expr) -> Type:
    match e:
        case p.Map(body, x, level):
            a = _array(e, x)
            if level is not None and (level.kind not in p.LEVELS or level.dim not in (0, 1, 2)):
                raise ProgramError(f"{_at(e)}: no level {level}; there are {', '.join(p.LEVELS)} 0 to 2")
            _domain(e, body, a.element)
            return Array(a.length, _known(body))
        case p.Reduce(op, init, x):
            a = _array(e, x)
            _same(e, "the initial value", _known(init), "the elements", a.element)
            _domain(e, op.body, Tuple((a.element, a.element)))
            _same(e, f"the result of operator {op.name}", _known(op.body), "its operands", a.element)
            if op.neutral is not None:
                neutral = type_of(op.neutral)
                _same(e, f"the neutral element of {op.name}", neutral, "its operands", a.element)
            return a.element
        case p.Tree(body, init, x):
            a = _array(e, x)
            _same(e, "the initial value", _known(init), "the elements", a.element)
            _domain(e, body, Tuple((a.element, a.element)))
            _same(e, "the body's result", _known(body), "its operands", a.element)
            return a.element
        case p.Fold(body, init, x):
            a = _array(e, x)
            _domain(e, body, Tuple((_known(init), a.element)))
            _same(e, "the body's result", _known(body), "the accumulator", _known(init))
            if e.prefetch not in PREFETCH and isinstance(e.prefetch, int):
                raise ProgramError(
                    f"{_at(e)}: no prefetch {e.prefetch}; choose 0, 1 (registers) or 2 (registers and two buffers)"
                )
            return _known(init)
        case p.Iterate(n, body, x):
            _natural(e, n, "iterations")
            _domain(e, body, _known(x))
            _same(e, "the body's result", _known(body), "its argument", _known(x))
            return _known(x)
    raise AssertionError(e)


def _padded_rows(e: p.To, t: Type) -> Type:
    """`t`, if its rows can be padded as `e` asks for."""
    _natural(e, e.pad, "elements of padding")
    rows = isinstance(t, Array) and isinstance(t.element, Array)
    if not (e.pad == 0 or (rows and e.space == "local")):
        raise ProgramError(
            f"{_at(e)}: rows are padded in local memory only, of arrays of arrays, but this is {t} in "
            f"{e.space} memory; leave the padding out"
        )
    return t


def _view(e: Expr) -> Type:
    match e:
        case p.Zip(arrays):
            first, *rest = [_array(e, a) for a in _two(e, arrays)]
            for other in rest:
                _lengths(e, first.length, other.length, "zip takes arrays of one length; take or pad one")
            return Array(first.length, Tuple((first.element, *(o.element for o in rest))))
        case p.Distl(a, b):
            right = _array(e, b)
            return Array(right.length, Tuple((_known(a), right.element)))
        case p.Cross(a, b):
            left, right = _array(e, a), _array(e, b)
            return Array(left.length, Array(right.length, Tuple((left.element, right.element))))
        case p.Split(n, x):
            xs = _array(e, x)
            _divides(e, n, xs.length)
            return Array(_div(xs.length, n), Array(n, xs.element))
        case p.Join(x):
            xs, inner = _matrix(e, x)
            return Array(_mul(xs.length, inner.length), inner.element)
        case p.Transpose(x):
            xs, inner = _matrix(e, x)
            return Array(inner.length, Array(xs.length, inner.element))
        case p.Stride(s, x):
            xs = _array(e, x)
            _divides(e, s, xs.length)
            return xs
        case p.Slide(size, step, x):
            xs = _array(e, x)
            return Array(_windows(e, xs.length, size, step), Array(size, xs.element))
        case _:
            return _resizing(e)


def _resizing(e: Expr) -> Type:
    match e:
        case p.Pad(left, right, mode, x, value):
            xs = _array(e, x)
            _natural(e, left, "elements of padding")
            _natural(e, right, "elements of padding")
            _pad(e, mode, xs, value)
            return Array(_add(_add(xs.length, left), right), xs.element)
        case p.PadUp(k, x, value):
            xs = _array(e, x)
            _natural(e, k, "as the multiple", least=1)
            if value is not None:
                _same(e, "the padding", _known(value), "the elements", xs.element)
            return Array(_mul(_div(_add(xs.length, _sub(k, 1)), k), k), xs.element)
        case p.Take(n, x):
            xs = _array(e, x)
            _at_most(e, n, xs.length, "elements are taken")
            return Array(n, xs.element)
        case p.Drop(n, x):
            xs = _array(e, x)
            _at_most(e, n, xs.length, "elements are dropped")
            return Array(_sub(xs.length, n), xs.element)
        case p.Concat(a, b):
            front, back = _array(e, a), _array(e, b)
            _same(e, "the first array's elements", front.element, "the second's", back.element)
            return Array(_add(front.length, back.length), front.element)
        case p.Gather(indices, x):
            at, xs = _array(e, indices), _array(e, x)
            if not (isinstance(at.element, Scalar) and at.element.is_integer):
                raise TypeMismatch(f"{_at(e)}: indices are {at.element}; gather takes integers: cast them")
            if xs.length == 0 and at.length != 0:
                raise ShapeError(f"{_at(e)}: gathers from an empty array")
            return Array(at.length, xs.element)
        case p.At(i, x):
            xs = _array(e, x)
            if isinstance(i, int) and isinstance(xs.length, int) and not 0 <= i < xs.length:
                raise ShapeError(f"{_at(e)}: index {i} is outside 0..{xs.length - 1}")
            return xs.element
    raise AssertionError(e)


# ---------------------------------------------------------------------------------------- parts


def _literal(e: Expr, value: bool | int | float, t: Scalar) -> Scalar:
    fits = (
        isinstance(value, bool)
        if t.name == "bool"
        else isinstance(value, int) and not isinstance(value, bool) and _in_range(value, t)
        if t.is_integer
        else isinstance(value, int | float) and not isinstance(value, bool)
    )
    if t.name not in SCALARS or not fits:
        raise TypeMismatch(f"{_at(e)}: {value!r} is not a value of {t}; write it as one, or cast")
    return t


def _in_range(value: int, t: Scalar) -> bool:
    bits = 8 * t.size
    return -(1 << bits - 1) <= value < 1 << bits - 1 if t.is_signed else 0 <= value < 1 << bits


def _apply(e: Expr, op: str, args: tuple[Type, ...]) -> Scalar:
    scalars = tuple(a for a in args if isinstance(a, Scalar))
    if len(scalars) < len(args):
        raise TypeMismatch(
            f"{_at(e)}: {op} works on scalars, got {', '.join(map(str, args))}; map it over the array, "
            "or take the tuple's components"
        )
    try:
        return result_type(op, scalars)
    except TypeMismatch as error:
        raise TypeMismatch(f"{_at(e)}: {error}") from None


def _component(e: Expr, i: int, x: Expr) -> Type:
    t = _known(x)
    if not isinstance(t, Tuple):
        raise TypeMismatch(f"{_at(e)}: component {i} of {t}, which is not a tuple")
    if not 0 <= i < len(t.items):
        raise ShapeError(f"{_at(e)}: component {i} of a tuple of {len(t.items)}: {t}")
    return t.items[i]


def _array(e: Expr, x: Expr) -> Array:
    t = _known(x)
    if not isinstance(t, Array):
        raise TypeMismatch(f"{_at(e)}: takes an array, got {t} from {_at(x)}")
    return t


def _matrix(e: Expr, x: Expr) -> tuple[Array, Array]:
    a = _array(e, x)
    if not isinstance(a.element, Array):
        raise TypeMismatch(f"{_at(e)}: takes an array of arrays, got {a}; split it first")
    return a, a.element


def _scalar(e: Expr, x: Expr, what: str) -> Scalar:
    t = _known(x)
    if not isinstance(t, Scalar):
        raise TypeMismatch(f"{_at(e)}: {what} is {t}, not a scalar")
    return t


def _integer(e: Expr, t: Scalar) -> Scalar:
    if not t.is_integer:
        raise TypeMismatch(f"{_at(e)}: iota counts in integers, not in {t}; cast it afterwards")
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
        raise TypeMismatch(f"{_at(e)}: {what} is {a}, but {other} is {b}; cast or reshape one of them")


def _flexible(a: Type, b: Type) -> bool:
    """Equal but for lengths that are not numbers yet: decided once the tiles have their sizes."""
    match a, b:
        case Array(n, s), Array(m, t):
            return (n == m or not (isinstance(n, int) and isinstance(m, int))) and _flexible(s, t)
        case Tuple(s), Tuple(t):
            return len(s) == len(t) and all(map(_flexible, s, t))
    return a == b


def _natural(e: Expr, n: Size, what: str, least: int = 0) -> Size:
    if isinstance(n, int) and n < least:
        raise ShapeError(f"{_at(e)}: {shown(n)} {what}; it must be {least} or more")
    return _countable(e, n, what)


def _countable(e: Expr, n: Size, what: str) -> Size:
    if isinstance(n, int) and n > MOST:
        raise ShapeError(f"{_at(e)}: {shown(n)} {what}; more than 2^62 cannot be counted")
    return n


def _two(e: Expr, parts: tuple[Expr, ...]) -> tuple[Expr, ...]:
    if len(parts) < 2:
        raise ProgramError(f"{_at(e)}: takes two or more, got {len(parts)}")
    return parts


def _lengths(e: Expr, n: Size, m: Size, remedy: str) -> None:
    if n != m and isinstance(n, int) and isinstance(m, int):
        raise ShapeError(f"{_at(e)}: lengths {n} and {m} differ; {remedy}")


def _divides(e: Expr, n: Size, length: Size) -> None:
    if isinstance(n, int) and n < 1:
        raise ShapeError(f"{_at(e)}: {n} is not a chunk length; it must be 1 or more")
    if isinstance(n, int) and isinstance(length, int) and length % n:
        raise ShapeError(f"{_at(e)}: {n} does not divide {length}; use pad_up({n}, ...) or take a part")


def _at_most(e: Expr, n: Size, length: Size, what: str) -> None:
    if isinstance(n, int) and isinstance(length, int) and not 0 <= n <= length:
        raise ShapeError(f"{_at(e)}: {n} {what} of {length}")


def _windows(e: Expr, length: Size, size: Size, step: Size) -> Size:
    if isinstance(size, int) and isinstance(step, int) and (size < 1 or step < 1):
        raise ShapeError(f"{_at(e)}: window {size} and step {step} must be 1 or more")
    if isinstance(length, int) and isinstance(size, int) and length < size:
        raise ShapeError(f"{_at(e)}: windows of {shown(size)} over an array of {length}; pad it first")
    _countable(e, step, "elements to the next window")
    return _add(_div(_sub(length, size), step), 1)


def _pad(e: Expr, mode: str, a: Array, value: Expr | None) -> None:
    if mode not in PAD_MODES:
        raise ProgramError(f"{_at(e)}: no boundary mode {mode!r}; choose one of {', '.join(PAD_MODES)}")
    if (mode == "constant") != (value is not None):
        raise ProgramError(f'{_at(e)}: a value goes with mode "constant" and only with it: ("constant", v)')
    if value is not None:
        _same(e, "the padding", _known(value), "the elements", a.element)
    elif a.length == 0:
        raise ShapeError(f"{_at(e)}: an empty array has no edge to pad with; use a constant")


def _arith(op: str, a: Size, b: Size) -> Size:
    if isinstance(a, int) and isinstance(b, int):
        return {"+": a + b, "-": a - b, "*": a * b, "/": a // b if b else 0}[op]
    return SizeOp(op, a, b)


def _add(a: Size, b: Size) -> Size:
    return _arith("+", a, b)


def _sub(a: Size, b: Size) -> Size:
    return _arith("-", a, b)


def _mul(a: Size, b: Size) -> Size:
    return _arith("*", a, b)


def _div(a: Size, b: Size) -> Size:
    return _arith("/", a, b)


def _at(e: Expr) -> str:
    """A short text of `e` for messages."""
    return brief(e)
