"""What scalar functions of complex numbers are as functions of their parts: `(a + bi)(c + di)` = `(ac - bd, ad + bc)`.

They are NumPy's up to rounding wherever numbers are finite.  Where a part is written as 0, as those of 2.0 and 1j and
of real numbers are, products with it are left out: with infinities, NaN and the sign of 0 NumPy differs there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from egglift.ir.composed import cosh, hypot, sinh
from egglift.ir.patterns import Expr, Literal, Tup
from egglift.ir.value import Value, elementwise


@dataclass(frozen=True, eq=False)
class Pair:
    """A complex number: its real and its imaginary part, scalars of one type."""

    re: Value
    im: Value

    @property
    def expr(self) -> Expr:
        """The pair as a tuple."""
        return Tup((self.re.expr, self.im.expr))


def _is_written(x: Value, number: float) -> bool:
    return isinstance(x.expr, Literal) and x.expr.value == number


def _times(x: Value, y: Value) -> Value:
    """x * y; what is written as 0 makes it 0, what is written as 1 is left out."""
    if _is_written(x, 0) or _is_written(y, 1):
        return x
    return y if _is_written(y, 0) or _is_written(x, 1) else x * y


def _plus(x: Value, y: Value) -> Value:
    return y if _is_written(x, 0) else x if _is_written(y, 0) else x + y


def _minus(x: Value, y: Value) -> Value:
    return -y if _is_written(x, 0) else x if _is_written(y, 0) else x - y


def _scaled(z: Pair, by: Value) -> Pair:
    return Pair(_times(z.re, by), _times(z.im, by))


def _add(a: Pair, b: Pair) -> Pair:
    return Pair(_plus(a.re, b.re), _plus(a.im, b.im))


def _sub(a: Pair, b: Pair) -> Pair:
    return Pair(_minus(a.re, b.re), _minus(a.im, b.im))


def _neg(a: Pair) -> Pair:
    return Pair(-a.re, -a.im)


def _mul(a: Pair, b: Pair) -> Pair:
    real = _minus(_times(a.re, b.re), _times(a.im, b.im))
    return Pair(real, _plus(_times(a.re, b.im), _times(a.im, b.re)))


def _div(a: Pair, b: Pair) -> Pair:
    """By Smith's way, as NumPy: with the smaller part of b divided by the larger one, nothing is out of range."""
    if _is_written(b.im, 0):
        return Pair(a.re / b.re, a.im / b.re)
    is_real = elementwise("abs", b.re) >= elementwise("abs", b.im)
    large, small = elementwise("where", is_real, b.re, b.im), elementwise("where", is_real, b.im, b.re)
    ratio = elementwise("where", large == 0, 0.0, small / large)
    below = large + small * ratio
    first, second = elementwise("where", is_real, a.re, a.im), elementwise("where", is_real, a.im, a.re)
    other = (second - first * ratio) / below
    return Pair((first + second * ratio) / below, elementwise("where", is_real, other, -other))


def _abs(a: Pair) -> Value:
    return elementwise("abs", a.re) if _is_written(a.im, 0) else hypot(a.re, a.im)


def _exp(a: Pair) -> Pair:
    turned = Pair(elementwise("cos", a.im), elementwise("sin", a.im))
    if _is_written(a.re, 0):
        return turned
    size = elementwise("exp", a.re)
    return Pair(size * turned.re, elementwise("where", a.im == 0, a.im, size * turned.im))


def _log(a: Pair) -> Pair:
    return Pair(elementwise("log", hypot(a.re, a.im)), elementwise("atan2", a.im, a.re))


def _sqrt(a: Pair) -> Pair:
    """The root whose real part is not negative: half of the sum of |re| and the length is a square."""
    root = elementwise("sqrt", elementwise("abs", a.re) / 2 + hypot(a.re, a.im) / 2)
    other = elementwise("where", root == 0, 0.0, elementwise("abs", a.im) / (root * 2))
    is_right = a.re >= 0
    real, imag = elementwise("where", is_right, root, other), elementwise("where", is_right, other, root)
    is_below = (a.im < 0) | ((a.im == 0) & (elementwise("div", 1, a.im) < 0))
    return Pair(real, elementwise("where", is_below, -imag, imag))


def _sin(a: Pair) -> Pair:
    return Pair(elementwise("sin", a.re) * cosh(a.im), elementwise("cos", a.re) * sinh(a.im))


def _cos(a: Pair) -> Pair:
    return Pair(elementwise("cos", a.re) * cosh(a.im), -(elementwise("sin", a.re) * sinh(a.im)))


def _pow(a: Pair, b: Pair) -> Pair:
    """exp(b log a); of 0: 1 for b = 0, 0 for b > 0, else NaN, which is 0 / 0."""
    power = _exp(_mul(b, _log(a)))
    of_zero = elementwise("where", (b.im == 0) & (b.re > 0), a.re, a.re / a.re)
    is_zero, is_one = (a.re == 0) & (a.im == 0), (b.re == 0) & (b.im == 0)
    real = elementwise("where", is_zero, of_zero, power.re)
    imag = elementwise("where", is_zero, of_zero, power.im)
    return Pair(elementwise("where", is_one, 1.0, real), elementwise("where", is_one, 0.0, imag))


def _eq(a: Pair, b: Pair) -> Value:
    return (a.re == b.re) & (a.im == b.im)


def _ne(a: Pair, b: Pair) -> Value:
    return (a.re != b.re) | (a.im != b.im)


#: by the name of a function: what it is of pairs
OF_PAIRS: Mapping[str, Callable[..., Pair | Value]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "abs": _abs,
    "exp": _exp,
    "log": _log,
    "sqrt": _sqrt,
    "sin": _sin,
    "cos": _cos,
    "pow": _pow,
    "eq": _eq,
    "ne": _ne,
    "conj": lambda a: Pair(a.re, -a.im),
    "real": lambda a: a.re,
    "imag": lambda a: a.im,
    "complex": Pair,
}


def where(condition: Value, a: Pair, b: Pair) -> Pair:
    """One of two complex numbers."""
    return Pair(elementwise("where", condition, a.re, b.re), elementwise("where", condition, a.im, b.im))
