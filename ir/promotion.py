"""The types that scalar functions give: NumPy's rules, in which Python's numbers adapt to what they meet.

A Python number takes the type of the value that it meets.  A Python int that meets floats becomes a float; a Python
float that meets integers makes the result f64; a Python complex number makes it complex.  Two values of the program
meet at `np.promote_types`; but a comparison of a signed integer with a u64 is exact, as in NumPy 2, although they meet
at f64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np

from egglift.ir.check import type_of
from egglift.ir.conversions import rounded
from egglift.ir.errors import TypeMismatch
from egglift.ir.lengths import Length
from egglift.ir.operators import number
from egglift.ir.patterns import Apply, Cast, Constant, Expr, Literal
from egglift.ir.scalars import FUNCTIONS, PARTS
from egglift.ir.text import brief
from egglift.ir.types import BF16, BOOL, C64, C128, F16, F32, F64, I8, I64, U64, Scalar, leaves, scalar_of

Number = bool | int | float | complex
Operand = Expr | Number

#: arithmetic on two bools, as NumPy has it; and the same for bits, so that bools have one form
_ON_BOOLS = {
    "add": "logical_or",
    "mul": "logical_and",
    "maximum": "logical_or",
    "minimum": "logical_and",
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "invert": "logical_not",
    "bitwise_xor": "ne",
}


#: a comparison of a with b, as one of b with a
_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def literal(value: Number, t: Scalar) -> Expr:
    """`value` written as a `t`; TypeMismatch where `t` has no such value."""
    if t.is_complex and not isinstance(value, Length):
        z = complex(value)
        return Apply("complex", (literal(z.real, t.part), literal(z.imag, t.part)))
    if isinstance(value, complex):
        raise TypeMismatch(
            f"{value!r} is not a value of {t}; cast the other operand to a complex type, {complex_of(t)}"
        )
    if isinstance(value, Length) and t.is_inexact:
        raise TypeMismatch(f"{value}, known when a kernel is called, is no number of type {t} as it stands; cast it")
    if t == BOOL and isinstance(value, bool):
        return Literal(value, t)
    if t.is_float:
        try:
            given = float(value)
        except OverflowError:
            given = math.inf
        with np.errstate(over="ignore"):
            overflows = bool(np.isinf(rounded(np.asarray(given), t)))
        if overflows and not (isinstance(value, float) and math.isinf(value)):
            raise TypeMismatch(f"{value} is too large for {t}")
        return Literal(given, t)
    if t.is_integer and not isinstance(value, float):
        bits = 8 * t.size - t.is_signed
        value = value if isinstance(value, Length) else int(value)
        if (-(1 << bits) if t.is_signed else 0) <= value < 1 << bits:
            return Literal(value, t)
        raise TypeMismatch(f"{value} does not fit into {t}; cast the other operand to a wider type")
    raise TypeMismatch(f"{value!r} is not a value of {t}; write one that is, or cast the other operand")


def default_type(value: Number) -> Scalar:
    """The type of a Python number that meets nothing: NumPy's."""
    if isinstance(value, complex):
        return C128
    return BOOL if isinstance(value, bool) else I64 if isinstance(value, int) else F64


def complex_of(t: Scalar) -> Scalar:
    """The complex type whose parts hold numbers of type `t` as NumPy has it: c64 of floats up to f32, else c128."""
    return C64 if t == C64 or (t.is_float and t.size <= 4) else C128


def common(operands: Sequence[Operand]) -> Scalar:
    """The type at which scalars and Python numbers meet."""
    strong = [_scalar(o) for o in operands if not isinstance(o, Number)]
    strong += [BOOL for o in operands if isinstance(o, bool)]
    weak = [o for o in operands if isinstance(o, Number) and not isinstance(o, bool)]
    if not strong:
        kinds = [default_type(w) for w in weak]
        return C128 if C128 in kinds else F64 if F64 in kinds else I64
    t = reduce(promote, strong)
    if any(isinstance(w, complex) for w in weak):
        return complex_of(t)
    if any(isinstance(w, float) for w in weak) and not t.is_inexact:
        return F64
    return I64 if weak and t == BOOL else t


def common_float(operands: Sequence[Operand]) -> Scalar:
    """The type in which NumPy computes a float function of scalars and Python numbers: where those of each meet.

    i8 and u8 meet at i16, but atan2 of them is computed in f16, as of each.
    """
    weak = any(isinstance(o, Number) for o in operands)
    types = [common(operands)] if weak else [_scalar(o) for o in operands if not isinstance(o, Number)]
    return reduce(promote, (t if t.is_inexact else float_of(t) for t in types))


def promote(a: Scalar, b: Scalar) -> Scalar:
    """`np.promote_types`; bf16 meets the others as f16 does, and f16 at f32."""
    if a == b:
        return a
    if BF16 in (a, b):
        other = a if b == BF16 else b
        met = F32 if other == F16 else promote(F16, other)
        return BF16 if met == F16 else met
    return scalar_of(np.promote_types(a.dtype, b.dtype))


def cast(x: Operand, t: Scalar) -> Expr:
    """`x` as a `t`: a literal where it is one, the expression itself where it has that type.

    TypeMismatch of complex numbers as others, which would lose their imaginary parts; but as bools they are whether
    they are not 0.
    """
    if isinstance(x, Length) and t.is_inexact:
        x = Literal(x, I64)
    if isinstance(x, Number):
        return literal(x, t)
    if _scalar(x) == t:
        return x
    if t.is_complex or _scalar(x).is_complex:
        return _complex_cast(x, t)
    if isinstance(x, Literal) and not isinstance(x.value, Length):
        with np.errstate(all="ignore"):
            return Literal(rounded(rounded(np.asarray(x.value), x.type), t).item(), t)
    return Cast(t, x)


def _complex_cast(x: Expr, t: Scalar) -> Expr:
    """`x` as a `t`, of which one is complex."""
    source = _scalar(x)
    if source.is_complex and t == BOOL:
        return Apply("ne", (x, number(0, source)))
    if not t.is_complex:
        raise TypeMismatch(
            f"{brief(x)} is {source}, and as {t} it would lose its imaginary part: take x.real, x.imag or abs(x)"
        )
    if source.is_complex:
        return Apply("complex", (cast(Apply("real", (x,)), t.part), cast(Apply("imag", (x,)), t.part)))
    return Apply("complex", (cast(x, t.part), literal(0, t.part)))


def apply(op: str, *operands: Operand) -> Expr:
    """Scalar function `op` on scalars and Python numbers, converted to the type at which they meet."""
    if op in PARTS:
        return _parts(op, *operands)
    kind = FUNCTIONS[op].kind
    if kind == "logical":
        return Apply(op, tuple(truth(o) for o in operands))
    if kind == "where":
        t = common(operands[1:])
        return Apply(op, (truth(operands[0]), *(cast(o, t) for o in operands[1:])))
    if op == "pow":
        return _power(operands[0], operands[1])
    if kind == "compare" and (exact := _compared_exactly(op, *operands)) is not None:
        return exact
    t = common(operands)
    if kind == "float" and not t.is_inexact:
        if op in ("floor", "ceil", "trunc"):
            return cast(operands[0], t)
        t = F64 if op == "div" else common_float(operands)
    if t == BOOL and op in _ON_BOOLS:
        op = _ON_BOOLS[op]
    elif t == BOOL and kind == "arithmetic":
        raise TypeMismatch(f"{op} does not take bools; cast them to a number type, or use & | ^ ~")
    if t == BOOL and op in ("left_shift", "right_shift"):
        t = I8
    if kind == "bits" and t.is_inexact:
        raise TypeMismatch(f"{op} takes integers and bools, not {t}; compare first, or cast")
    e = Apply(op, tuple(cast(o, t) for o in operands))
    type_of(e)
    return e


def _parts(op: str, *operands: Operand) -> Expr:
    """What only complex numbers have, and a complex number of two floats; what is written so has the parts written."""
    if op != "complex":
        t = common(operands)
        z = cast(operands[0], t if t.is_complex else complex_of(t))
        if isinstance(z, Apply) and z.op == "complex" and op != "conj":
            return z.args[op == "imag"]
        return Apply(op, (z,))
    t = complex_of(common(operands)).part
    return Apply(op, tuple(cast(o, t) for o in operands))


def _compared_exactly(op: str, a: Operand, b: Operand) -> Expr | None:
    """The comparison of a signed integer with a u64 in u64, where that is no less than 0; None: they are no such."""
    if isinstance(a, Number) or isinstance(b, Number):
        return None
    s, t = _scalar(a), _scalar(b)
    if s == U64 and t.is_integer and t.is_signed:
        return _compared_exactly(_TURNED[op], b, a)
    if not (t == U64 and s.is_integer and s.is_signed):
        return None
    same = Apply(op, (cast(a, U64), b))
    if op in ("lt", "le", "ne"):
        return Apply("logical_or", (Apply("lt", (a, literal(0, s))), same))
    return Apply("logical_and", (Apply("ge", (a, literal(0, s))), same))


def truth(x: Operand) -> Expr:
    """`x` as a bool: whether it is not zero."""
    return literal(bool(x), BOOL) if isinstance(x, Number) else cast(x, BOOL)


def float_of(t: Scalar) -> Scalar:
    """The type in which NumPy computes e.g. `exp` of an integer."""
    return F16 if t.size == 1 else F32 if t.size == 2 else F64


def _power(x: Operand, exponent: Operand) -> Expr:
    """`x ** exponent`; small whole exponents become multiplications."""
    t = common((x, exponent))
    if not t.is_inexact:
        return _integer_power(x, exponent, I8 if t == BOOL else t)
    whole = _whole(exponent)
    if whole is None:
        return apply("sqrt", cast(x, t)) if exponent == 0.5 else Apply("pow", (cast(x, t), cast(exponent, t)))
    if whole < 0:
        return Apply("div", (literal(1, t), _product(cast(x, t), -whole)))
    return _product(cast(x, t), whole) if whole else literal(1, t)


def _integer_power(x: Operand, exponent: Operand, t: Scalar) -> Expr:
    """`x ** exponent` of integers, which wraps around.

    x ** 3 -> x * x * x;   2 ** k -> 1 << k;   (-1) ** k -> 1 - ((k & 1) << 1)
    """
    whole, k = _whole(exponent), cast(exponent, t)
    if whole is not None:
        return _product(cast(x, t), whole) if whole else literal(1, t)
    base = x.value if isinstance(x, Literal) else x
    if isinstance(base, int) and base == 2:
        return Apply("left_shift", (literal(1, t), k))
    if isinstance(base, int) and base == -1:
        odd = Apply("bitwise_and", (k, literal(1, t)))
        return Apply("sub", (literal(1, t), Apply("left_shift", (odd, literal(1, t)))))
    return Apply("pow", (cast(x, t), k))


def require_no_negative_powers(x: Operand, exponent: Operand) -> None:
    """TypeMismatch where integers are raised to a power that is written in the program and negative, as in NumPy."""
    values = [o for o in (x, exponent) if not isinstance(o, Number)]
    if any(t.is_inexact for o in values for _, t in leaves(type_of(o))):
        return
    match exponent:
        case Constant(t, data):
            (_, scalar), *_ = leaves(t)
            least = np.frombuffer(data, scalar.dtype).min(initial=0)
        case Literal(value):
            least = value
        case _:
            least = exponent
    if isinstance(least, int | np.integer) and not isinstance(least, Length) and least < 0:
        raise TypeMismatch(
            f"integers to the power of {least} are no integers, and refused as by NumPy: cast the base to a float type"
        )


def _whole(exponent: Operand) -> int | None:
    value = exponent.value if isinstance(exponent, Literal) else exponent
    return int(value) if isinstance(value, int | float) and value in range(-16, 17) else None


def _product(x: Expr, n: int) -> Expr:
    """`x` multiplied n times with itself, by squaring."""
    if n == 1:
        return x
    half = _product(x, n // 2)
    square = Apply("mul", (half, half))
    return Apply("mul", (square, x)) if n % 2 else square


def _scalar(x: Operand) -> Scalar:
    assert not isinstance(x, Number)
    t = type_of(x)
    if not isinstance(t, Scalar):
        raise TypeMismatch(f"{brief(x)} is {t}, not a scalar")
    return t
