"""From what users write to expressions: numbers, arrays, tuples, and scalar functions of arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from egglift.ir import patterns as p
from egglift.ir import promotion, trace
from egglift.ir.check import type_of
from egglift.ir.errors import ProgramError, ShapeError, TypeMismatch
from egglift.ir.patterns import Expr
from egglift.ir.text import brief
from egglift.ir.traverse import is_closed, is_expr
from egglift.ir.types import FACTS, GIVEN, Array, Scalar, Tuple, Type, array_of, dims, scalar_of, zero_or_one


def as_expr(value: Any) -> Expr:
    """The expression of a Value, a number, an ndarray, a list of numbers (an array), or a tuple of these (a tuple).

    Python numbers have NumPy's default types.  TypeMismatch for anything else.
    """
    match value:
        case list() if value and _are_numbers(value):
            return constant(numbers(value))
        case tuple() | list():
            if len(value) < 2:
                raise TypeMismatch(f"a tuple of {len(value)}: programs have tuples of two or more")
            return p.Tup(tuple(as_expr(v) for v in value))
        case np.ndarray() | np.generic():
            return constant(np.asarray(value))
        case bool() | int() | float() | complex():
            return promotion.literal(value, promotion.default_type(value))
    found: Expr = getattr(value, "expr", value)
    if is_expr(found):
        return found
    raise TypeMismatch(f"{value!r} ({type(value).__name__}) is not a value of a program")


def as_program(value: Any) -> Expr:
    """The whole program that a Value (or a tuple of Values: several outputs) describes, type-checked.

    ProgramError where it uses the parameter of a lambda, or the argument of a body, outside of that.
    """
    e = trace.require_closed(as_expr(value), "the program")
    type_of(e)
    if not is_closed(e):
        raise ProgramError(f"{brief(e)} depends on the argument of a body: map it over an array, or give it an input")
    return e


def is_number(value: Any) -> bool:
    """Is this a number of Python's own, whose type is weak?  (np.float64 is a float, but NumPy's.)"""
    return isinstance(value, promotion.Number) and not isinstance(value, np.generic)


def numbers(value: Any) -> Any:
    """Nested lists or tuples of numbers as an array; anything else as it is.  ShapeError: rows of several lengths."""
    if not isinstance(value, list | tuple) or not _are_numbers(value):
        return value
    try:
        return np.asarray(value)
    except ValueError:
        raise ShapeError(f"{value!r} is no array: its rows have several lengths") from None


def _are_numbers(x: Any) -> bool:
    return all(map(_are_numbers, x)) if isinstance(x, list | tuple) else isinstance(x, int | float | np.number)


def constant(data: np.ndarray[Any, Any]) -> Expr:
    """The elements of an ndarray as part of the program."""
    try:
        scalar = scalar_of(data.dtype)
    except KeyError:
        names = ", ".join(FACTS[t].numpy for t in GIVEN)
        raise TypeMismatch(f"arrays of {data.dtype} have no place in a program; it takes {names}") from None
    if scalar.is_complex:
        return _complex_constant(data, scalar)
    if data.ndim == 0:
        value = data.item()
        with np.printoptions(legacy=False):  # older ways to print leave digits out
            return p.Literal(float(str(data[()])) if scalar.is_float else value, scalar)
    native = zero_or_one(np.ascontiguousarray(data, scalar.dtype))
    return p.Constant(array_of(scalar, data.shape), native.tobytes())


def _complex_constant(data: np.ndarray[Any, Any], t: Scalar) -> Expr:
    """The elements of an array of complex numbers, made of constants of their parts."""
    parts = np.ascontiguousarray(data, t.dtype).view(t.part.dtype).reshape(*data.shape, 2)
    return _made_complex(constant(parts)) if data.ndim else promotion.literal(complex(data[()]), t)


def _made_complex(parts: Expr) -> Expr:
    """An array of complex numbers from one of arrays of their two parts."""
    if isinstance(type_of(p.At(0, parts)), Scalar):
        return p.Apply("complex", (p.At(0, parts), p.At(1, parts)))
    return trace.map_body(_made_complex, parts)


def adapt(value: Any, t: Type) -> Expr:
    """`value` where a `t` is wanted: numbers take its type, and are repeated if it is an array or a tuple."""
    if isinstance(value, promotion.Number):
        match t:
            case Scalar():
                return promotion.literal(value, t)
            case Array(n, element):
                return p.Fill(n, adapt(value, element))
            case Tuple(items):
                return p.Tup(tuple(adapt(value, item) for item in items))
    if isinstance(value, tuple | list) and isinstance(t, Tuple) and len(value) == len(t.items):
        return p.Tup(tuple(adapt(v, item) for v, item in zip(value, t.items)))
    return as_expr(value)


def filled(value: Any, t: Type) -> Expr:
    """`adapt`; and a value of the program that is an element of a `t`, or an element's element, is repeated."""
    e = adapt(value, t)
    own, inner, lengths = type_of(e), t, []
    while isinstance(inner, Array) and inner != own:
        lengths.append(inner.length)
        inner = inner.element
    for n in reversed(lengths if inner == own else []):
        e = p.Fill(n, e)
    return e


def seed(init: Any, scalar: Scalar | None) -> Expr:
    """An initial value whose numbers are of type `scalar` where they can be, else of NumPy's default type."""
    if isinstance(init, tuple | list) and len(init) > 1:
        return p.Tup(tuple(seed(i, scalar) for i in init))
    if isinstance(init, promotion.Number) and scalar is not None:
        try:
            return promotion.literal(init, scalar)
        except TypeMismatch:
            return as_expr(init)
    return as_expr(init)


def scalars_in(t: Type) -> Scalar:
    """The scalar type at which all scalars in `t` meet."""
    match t:
        case Scalar():
            return t
        case Array(_, element):
            return scalars_in(element)
    return reduce(promotion.promote, map(scalars_in, t.items))


def arity(f: Callable[..., Any]) -> int | None:
    """How many positional arguments `f` needs, or None where that is not known."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return None
    positional = [q for q in parameters if q.kind in (q.POSITIONAL_ONLY, q.POSITIONAL_OR_KEYWORD)]
    return len([q for q in positional if q.default is q.empty])


def parameter_names(f: Callable[..., Any], count: int) -> tuple[str, ...]:
    """The names of the first parameters of `f`, for messages."""
    try:
        names = [name for name in inspect.signature(f).parameters if name.isidentifier()]
    except (TypeError, ValueError):
        names = []
    return tuple((names + ["arg"] * count)[:count])


def component(x: Expr, i: int) -> Expr:
    """Component `i` of a tuple: of a tuple that is written out, the item itself."""
    return x.items[i] if isinstance(x, p.Tup) and 0 <= i < len(x.items) else p.Get(i, x)


# ---------------------------------------------------------------------------------------- element-wise


def lifted(op: str, operands: Sequence[promotion.Operand]) -> Expr:
    """Scalar function `op` on scalars, and element by element on arrays; what has fewer dimensions is repeated."""
    if op == "pow":
        promotion.require_no_negative_powers(*operands)
    types = {o: type_of(o) for o in operands if not isinstance(o, promotion.Number)}
    arrays = [o for o, t in types.items() if isinstance(t, Array)]
    if not arrays:
        if op == "where" and any(isinstance(t, Tuple) for t in types.values()):
            return _where(operands[0], operands[1], operands[2])
        return promotion.apply(op, *operands)
    arrays, spread = _deepest(op, {a: types[a] for a in arrays})
    operands = [o if isinstance(o, promotion.Number) else spread.get(o, o) for o in operands]
    if len(arrays) == 1:
        return trace.map_body(lambda v: lifted(op, [v if o is arrays[0] else o for o in operands]), arrays[0])

    def body(v: Expr) -> Expr:
        parts = {a: p.Get(i, v) for i, a in enumerate(arrays)}
        return lifted(op, [o if isinstance(o, promotion.Number) else parts.get(o, o) for o in operands])

    return trace.map_body(body, p.Zip(tuple(arrays)))


def _deepest(op: str, arrays: Mapping[Expr, Type]) -> tuple[list[Expr], dict[Expr, Expr]]:
    """Those of the most dimensions, as long as the result; and the only elements of those that have but one, by array.

    NumPy's broadcasting: shapes are compared from the last length on, and what is 1, or missing, is repeated.
    """
    shapes = {a: dims(t) for a, t in arrays.items()}
    most = max(map(len, shapes.values()))
    for k in range(most):
        if len({shape[-1 - k] for shape in shapes.values() if len(shape) > k} - {1}) > 1:
            both = " and ".join(f"{t} ({brief(a, 40)})" for a, t in arrays.items())
            raise ShapeError(
                f"{op} of {both}: shapes must agree from the last length on; only lengths of 1, scalars, and vectors "
                "as long as rows are repeated (fill does it)"
            )
    deepest = [a for a, shape in shapes.items() if len(shape) == most]
    lengths = {shapes[a][0] for a in deepest}
    single = {a: _only(a) for a in deepest if shapes[a][0] == 1 and lengths != {1}}
    return [a for a in deepest if a not in single], single


def _only(x: Expr) -> Expr:
    """The element of an array that has one."""
    return x.x if isinstance(x, p.Fill) else p.At(0, x)


def _where(condition: promotion.Operand, yes: promotion.Operand, no: promotion.Operand) -> Expr:
    """`where` of tuples: of their components."""
    sides = [as_expr(s) for s in (yes, no)]
    a, b = (type_of(s) for s in sides)
    if not (isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items)):
        raise TypeMismatch(f"where chooses between {a} and {b}; both sides must be tuples of one length")
    return p.Tup(tuple(lifted("where", [condition, *(component(s, i) for s in sides)]) for i in range(len(a.items))))
