"""C's arithmetic: which type an operation has, what is converted to it, and what is known before the program runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from egglift.frontend.nest import Affine, Apply, Cast, CExpr, Index, Number, form_of
from egglift.ir.conversions import converted, integers
from egglift.ir.types import BOOL, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Scalar

#: the words of a type, sorted, without `signed` beside others, `const` and the like
TYPES = {
    ("_Bool",): BOOL,
    ("bool",): BOOL,
    ("char",): I8,
    ("char", "unsigned"): U8,
    ("short",): I16,
    ("short", "unsigned"): U16,
    ("int",): I32,
    ("unsigned",): U32,
    ("long",): I64,
    ("long", "unsigned"): U64,
    ("float",): F32,
    ("double",): F64,
}
SYMBOLS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "%": "cmod",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "==": "eq",
    "!=": "ne",
    "&": "bitwise_and",
    "|": "bitwise_or",
    "^": "bitwise_xor",
    "<<": "left_shift",
    ">>": "right_shift",
}
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
SHIFTS = ("left_shift", "right_shift")
#: functions of math.h: egglift's name and how many arguments; each has an `f` behind its name for floats
MATH = {name: (name, 1) for name in ("sqrt", "exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "tanh", "erf")}
MATH |= {name: (name, 1) for name in ("floor", "ceil", "trunc", "expm1", "log1p", "sinh", "cosh")}
MATH |= {"fabs": ("abs", 1), "pow": ("pow", 2), "atan2": ("atan2", 2), "hypot": ("hypot", 2), "fma": ("fma", 3)}
MATH |= {"fmin": ("cfmin", 2), "fmax": ("cfmax", 2)}


def type_of_words(words: list[str]) -> Scalar | None:
    """`unsigned long int` -> u64; None for what is no number."""
    kept = [w for w in words if w not in ("signed", "const", "volatile")]
    if "int" in kept and len(kept) > 1:
        kept.remove("int")
    if kept.count("long") > 1:
        kept.remove("long")
    return TYPES.get(tuple(sorted(kept)) if kept else ("int",))


def promoted(t: Scalar) -> Scalar:
    """Integers that are smaller than int become int."""
    return I32 if t in (BOOL, I8, I16, U8, U16) else t


def common(a: Scalar, b: Scalar) -> Scalar:
    """The type of `a + b`."""
    for t in (F64, F32):
        if t in (a, b):
            return t
    a, b = promoted(a), promoted(b)
    if a.is_signed == b.is_signed:
        return max(a, b, key=lambda t: t.size)
    signed, unsigned = (a, b) if a.is_signed else (b, a)
    return signed if signed.size > unsigned.size else unsigned


def number(value: bool | int | float, t: Scalar) -> Number:
    """A number of a type, rounded or wrapped to it."""
    with np.errstate(over="ignore"):
        wide = np.array(value, np.float64 if isinstance(value, float) else object)
        if t == BOOL:
            return Number(bool(value), t)
        if isinstance(value, float):
            return Number(converted(wide, t.dtype).item(), t)
    if t.is_float:
        return Number(float(t.dtype.type(value)), t)
    bits = 8 * t.size
    wrapped = int(value) % (1 << bits)
    return Number(wrapped - (1 << bits) if t.is_signed and wrapped >> (bits - 1) else wrapped, t)


def cast(x: CExpr, t: Scalar) -> CExpr:
    """`(t) x`."""
    if x.type == t:
        return x
    if t == BOOL:
        return condition(x)
    match x:
        case Number(value, _):
            return number(value, t)
        case Index(form, own) if t.is_integer and fits(form, own) and fits(form, t):
            return Index(form, t)
    return Cast(x, t)


def fits(form: Affine, t: Scalar) -> bool:
    """Has an affine form no value that its type would wrap around?"""
    least, most = integers(t)
    low, high = form.range
    return least <= low and high <= most


def condition(x: CExpr) -> CExpr:
    """`x != 0` as a truth."""
    return x if x.type == BOOL else comparison("ne", x, number(0, x.type))


def comparison(op: str, a: CExpr, b: CExpr) -> CExpr:
    """`a < b`, a truth."""
    t = common(a.type, b.type)
    a, b = cast(a, t), cast(b, t)
    if isinstance(a, Number) and isinstance(b, Number):
        tests = {"lt": a.value < b.value, "le": a.value <= b.value, "gt": a.value > b.value}
        return Number({**tests, "ge": a.value >= b.value, "eq": a.value == b.value, "ne": a.value != b.value}[op], BOOL)
    return Apply(op, (a, b), BOOL)


def arithmetic(op: str, a: CExpr, b: CExpr) -> CExpr:
    """`a + b`, ... by egglift's name of the operator."""
    if op in COMPARISONS:
        return comparison(op, a, b)
    t = promoted(a.type) if op in SHIFTS else common(a.type, b.type)
    a, b = cast(a, t), cast(b, t)
    if t.is_integer and (known := _known(op, a, b, t)) is not None:
        return known
    if isinstance(a, Number) and isinstance(b, Number) and t.is_float and op in ("add", "sub", "mul", "div"):
        with np.errstate(all="ignore"):
            x, y = np.array(a.value, t.dtype), np.array(b.value, t.dtype)
            results: dict[str, Any] = {"add": x + y, "sub": x - y, "mul": x * y, "div": x / y}
        return Number(float(results[op]), t)
    if t.is_integer and op == "div":
        op = "cdiv"
    return Apply(op, (a, b), t)


def _known(op: str, a: CExpr, b: CExpr, t: Scalar) -> CExpr | None:
    """Integer arithmetic on what is affine."""
    f, g = form_of(a), form_of(b)
    if f is None or g is None:
        return None
    if not f.terms and not g.terms:
        x, y = f.constant, g.constant
        exact = {"add": x + y, "sub": x - y, "mul": x * y}
        if op in ("div", "cmod") and y:
            quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
            exact |= {"div": quotient, "cmod": x - quotient * y}
        if op in SHIFTS and 0 <= y < 8 * t.size:
            exact |= {"left_shift": x << y, "right_shift": x >> y}
        return number(exact[op], t) if op in exact else None
    match op:
        case "add":
            return _index(f + g, t)
        case "sub":
            return _index(f - g, t)
        case "mul" if not f.terms or not g.terms:
            return _index(f.scaled(g.constant) if not g.terms else g.scaled(f.constant), t)
    return None


def _index(form: Affine, t: Scalar) -> CExpr:
    return Index(form, t) if form.terms else number(form.constant, t)


def negative(x: CExpr) -> CExpr:
    """`-x`."""
    t = promoted(x.type)
    x = cast(x, t)
    match x:
        case Number(value, _):
            return Number(-value, t) if t.is_float else number(-int(value), t)
        case Index(form, _):
            return Index(form.scaled(-1), t)
    return Apply("neg", (x,), t)


def choice(test: CExpr, yes: CExpr, no: CExpr) -> CExpr:
    """`test ? yes : no`; both sides have one type by now."""
    if isinstance(test, Number):
        return yes if test.value else no
    return Apply("where", (condition(test), yes, no), yes.type)


def truth(op: str, a: CExpr, b: CExpr) -> CExpr:
    """`a && b` and `a || b`, as truths: neither side does anything but compute."""
    a, b = condition(a), condition(b)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Number):
            return (y if x.value else x) if op == "logical_and" else (x if x.value else y)
    return Apply(op, (a, b), BOOL)


def opposite(x: CExpr) -> CExpr:
    """`!x`, as a truth."""
    x = condition(x)
    return Number(not x.value, BOOL) if isinstance(x, Number) else Apply("logical_not", (x,), BOOL)


def guards_of(test: CExpr) -> tuple[Affine, ...] | None:
    """A condition on iterators as affine forms that are 0 or more where it holds; None where it is not such."""
    match test:
        case Apply("logical_and", (a, b)):
            left, right = guards_of(a), guards_of(b)
            return None if left is None or right is None else left + right
        case Apply("logical_not", (Apply(op, (a, b)),)) if op in ("lt", "le", "gt", "ge"):
            return guards_of(Apply({"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}[op], (a, b), BOOL))
        case Apply(op, (a, b)) if op in COMPARISONS and op != "ne":
            f, g = form_of(a), form_of(b)
            if f is None or g is None or not (fits(f, a.type) and fits(g, b.type)):
                return None
            one = Affine(1)
            forms = {"lt": (g - f - one,), "le": (g - f,), "gt": (f - g - one,), "ge": (f - g,), "eq": (f - g, g - f)}
            return forms[op]
    return None
