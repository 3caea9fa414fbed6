"""Scalar functions by NumPy's names.  On scalars and, element by element, on arrays of one shape."""

from __future__ import annotations

from egglift.ir.axes import scalar_of_elements
from egglift.ir.keywords import explain
from egglift.ir.lifting import adapt
from egglift.ir.type_names import TypeLike
from egglift.ir.types import U8
from egglift.ir.value import Like, Value, as_value, elementwise


def subtract(a: Like, b: Like) -> Value:
    """a - b."""
    return elementwise("sub", a, b)


def divide(a: Like, b: Like) -> Value:
    """a / b; of integers, in f64."""
    return elementwise("div", a, b)


def floor_divide(a: Like, b: Like) -> Value:
    """a // b, rounded towards minus infinity."""
    return elementwise("floordiv", a, b)


def remainder(a: Like, b: Like) -> Value:
    """a % b, with the sign of b."""
    return elementwise("mod", a, b)


def negative(x: Like) -> Value:
    """-x."""
    return elementwise("neg", x)


def abs(x: Like) -> Value:
    """The absolute value."""
    return elementwise("abs", x)


def sign(x: Like) -> Value:
    """-1, 0 or 1."""
    return elementwise("sign", x)


def fma(a: Like, b: Like, c: Like) -> Value:
    """a * b + c."""
    return elementwise("fma", a, b, c)


def exp(x: Like) -> Value:
    """e to the power of x."""
    return elementwise("exp", x)


def exp2(x: Like) -> Value:
    """2 to the power of x."""
    return elementwise("exp2", x)


def log(x: Like) -> Value:
    """The natural logarithm."""
    return elementwise("log", x)


def log2(x: Like) -> Value:
    """The logarithm to base 2."""
    return elementwise("log2", x)


def sqrt(x: Like) -> Value:
    """The square root."""
    return elementwise("sqrt", x)


def rsqrt(x: Like) -> Value:
    """1 / sqrt(x)."""
    return elementwise("rsqrt", x)


def sin(x: Like) -> Value:
    """The sine of x in radians."""
    return elementwise("sin", x)


def cos(x: Like) -> Value:
    """The cosine of x in radians."""
    return elementwise("cos", x)


def tan(x: Like) -> Value:
    """The tangent of x in radians."""
    return elementwise("tan", x)


def tanh(x: Like) -> Value:
    """The hyperbolic tangent."""
    return elementwise("tanh", x)


def arctan2(y: Like, x: Like) -> Value:
    """The angle of the point (x, y)."""
    return elementwise("atan2", y, x)


def erf(x: Like) -> Value:
    """The error function."""
    return elementwise("erf", x)


def floor(x: Like) -> Value:
    """The greatest whole number that is not above x."""
    return elementwise("floor", x)


def ceil(x: Like) -> Value:
    """The least whole number that is not below x."""
    return elementwise("ceil", x)


def power(x: Like, y: Like) -> Value:
    """x to the power of y; whole numbers up to 16 become multiplications.

    Integers wrap around, as in NumPy.  A negative power of integers is refused where it is written in the program
    (TypeMismatch), and where it is only known when a kernel is called, the result is 1 / x ** -y without its fraction:
    1 or -1 of those, else 0.
    """
    return elementwise("pow", x, y)


def equal(a: Like, b: Like) -> Value:
    """a == b."""
    return elementwise("eq", a, b)


def not_equal(a: Like, b: Like) -> Value:
    """a != b."""
    return elementwise("ne", a, b)


def less(a: Like, b: Like) -> Value:
    """a < b."""
    return elementwise("lt", a, b)


def less_equal(a: Like, b: Like) -> Value:
    """a <= b."""
    return elementwise("le", a, b)


def greater(a: Like, b: Like) -> Value:
    """a > b."""
    return elementwise("gt", a, b)


def greater_equal(a: Like, b: Like) -> Value:
    """a >= b."""
    return elementwise("ge", a, b)


def logical_not(x: Like) -> Value:
    """Whether x is false (or zero)."""
    return elementwise("logical_not", x)


def invert(x: Like) -> Value:
    """All bits flipped; of a bool: its opposite."""
    return elementwise("invert", x)


def left_shift(x: Like, bits: Like) -> Value:
    """x << bits."""
    return elementwise("left_shift", x, bits)


def right_shift(x: Like, bits: Like) -> Value:
    """x >> bits."""
    return elementwise("right_shift", x, bits)


def bitwise_count(x: Like) -> Value:
    """How many bits of |x| are 1, as u8: of -1, one.  Of two's complements: `bitwise_count(x.astype(el.u32))`."""
    x = as_value(x)
    t = scalar_of_elements(x.expr)
    size = elementwise("abs", x) if t.is_integer and t.is_signed else x
    return elementwise("popcount", size).cast(U8)


def where(condition: Like, a: Like, b: Like) -> Value:
    """`a` where the condition holds, else `b`.  Both are evaluated.  Works on tuples, too."""
    if isinstance(a, tuple | list) and isinstance(b, Value):
        a = Value(adapt(a, b.type))  # numbers in a written tuple take the other side's types
    elif isinstance(b, tuple | list) and isinstance(a, Value):
        b = Value(adapt(b, a.type))
    return elementwise("where", condition, a, b)


def cast(x: Like, dtype: TypeLike) -> Value:
    """x, or each of its elements, converted to a scalar type: `el.f32`, "f32", or one of NumPy's.

    Integers wrap around.  Of floats, integers keep the whole part, as in NumPy; what is out of the type's range (C, and
    with it NumPy's astype, leave that open) becomes its nearest integer, and NaN becomes 0.  Of numbers, bools are
    whether they are not 0.
    """
    return as_value(x).cast(dtype)


pow = power
absolute = abs
mod = remainder
sub = subtract
div = divide

explain(globals())
